#include "tools/verify/repeat.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "tools/verify/collector.h"
#include "tools/verify/wide.h"

namespace berth::verify {
namespace {

constexpr auto kRunOnce = std::to_array<std::string_view>({
    // Random numbers.
    "alphadropout",
    "bernoulli",
    "binomial",
    "cauchy",
    "dirichlet",
    "dropout",
    "exponential",
    "featurealphadropout",
    "featuredropout",
    "fuseddropout",
    "gaussian",
    "geometric",
    "lognormal",
    "multinomial",
    "nativedropout",
    "normal",
    "normalfunctional",
    "poisson",
    "rand",
    "randint",
    "randintlike",
    "randlike",
    "randn",
    "randnlike",
    "random",
    "randomnormal",
    "randomnormallike",
    "randomstandardnormal",
    "randomuniform",
    "randomuniformlike",
    "randperm",
    "rng",
    "rngbitgenerator",
    "rnggetandupdatestate",
    "rreluwithnoise",
    "scaleddotproductefficientattention",
    "scaleddotproductflashattention",
    "standardgamma",
    "uniform",
    // Communication.
    "allgather",
    "allgatherintotensor",
    "allgatherintotensorcoalesced",
    "allgatherv",
    "allreduce",
    "allreducecoalesced",
    "alltoall",
    "alltoallsingle",
    "barrier",
    "broadcast",
    "collectivebroadcast",
    "collectivepermute",
    "customcall",
    "infeed",
    "outfeed",
    "recv",
    "recvdone",
    "reducescatter",
    "reducescattertensor",
    "reducescattertensorcoalesced",
    "send",
    "senddone",
    "waittensor",
    // State, files, devices and messages.
    "assert",
    "assertasync",
    "assertscalar",
    "assertvariable",
    "assign",
    "assignvariable",
    "audiospectrogramstream",
    "callonce",
    "copystart",
    "fft2dstream",
    "fusedadam",
    "fusedadamw",
    "fusedsgd",
    "hashtable",
    "hashtablefind",
    "hashtableimport",
    "print",
    "readfile",
    "readvariable",
    "unidirectionalsequencelstm",
    "unidirectionalsequencernn",
    "varhandle",
    "varisinitialized",
    "writefile",
});

// Namespaces of PyTorch's collective operators.
constexpr auto kCollective = std::to_array<std::string_view>(
    {"c10d", "_c10d_functional", "_c10d_functional_autograd", "c10d_functional"});

template <typename Items, typename Item>
bool IsIn(const Items& items, const Item& item) {
  return std::find(items.begin(), items.end(), item) != items.end();
}

// The letters and digits of a name, in small letters.
std::string Plain(std::string_view name) {
  std::string plain;
  for (const char c : name) {
    if (c == '_' || c == '-') continue;
    plain += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return plain;
}

// Types are written "Dropout", "aten::native_dropout", "torch.ops.aten.rand_like.default".
bool TypeRunsOnce(std::string_view type) {
  const std::size_t colons = type.rfind("::");
  if (colons != std::string_view::npos) {
    if (IsIn(kCollective, type.substr(0, colons))) return true;
    type = type.substr(colons + 2);
  }
  while (true) {
    const std::size_t dot = type.find('.');
    const std::string_view part = type.substr(0, dot);
    if (IsIn(kCollective, part) || IsIn(kRunOnce, Plain(part))) return true;
    if (dot == std::string_view::npos) return false;
    type = type.substr(dot + 1);
  }
}

bool IsGiven(const Tensor& tensor) {
  return tensor.kind != TensorKind::kActivation && tensor.kind != TensorKind::kGradient;
}

// The bytes that an operator reads and writes, each of its tensors as often as it is listed.
Wide BytesMoved(const Graph& graph, const Operator& op) {
  Wide bytes = 0;
  for (const TensorIndex t : op.inputs) bytes += graph.tensors[t].bytes;
  for (const TensorIndex t : op.mutates) bytes += graph.tensors[t].bytes;
  for (const TensorIndex t : op.outputs) {
    if (!graph.tensors[t].alias_of) bytes += graph.tensors[t].bytes;
  }
  return std::min<Wide>(bytes, kMaxBytes);
}

}  // namespace

std::span<const std::string_view> NamesThatRunOnce() { return kRunOnce; }

bool MayRunAgain(const Graph& graph, OperatorIndex v) {
  const Operator& op = graph.operators[v];
  if (op.repeat != Repeat::kByType) return op.repeat == Repeat::kPure;
  if (op.update || op.random || TypeRunsOnce(op.type)) return false;
  return std::all_of(op.mutates.begin(), op.mutates.end(), [&](TensorIndex base) {
    return !IsGiven(graph.tensors[base]) || IsIn(op.skips, base);
  });
}

Recomputed CountRecomputed(const Graph& graph, const Order& order) {
  const bool stated = std::any_of(graph.operators.begin(), graph.operators.end(),
                                  [](const Operator& op) { return op.cost.has_value(); });
  std::vector<bool> seen(graph.operators.size(), false);
  Recomputed recomputed;
  Wide cost = 0;
  for (const OperatorIndex v : order) {
    const Operator& op = graph.operators[v];
    if (seen[v]) {
      ++recomputed.operators;
      cost += stated ? Wide{op.cost.value_or(0)} : BytesMoved(graph, op);
    }
    seen[v] = true;
  }
  recomputed.cost = Clamp(cost);
  return recomputed;
}

}  // namespace berth::verify
