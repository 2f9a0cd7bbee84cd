// Which operators may run again, and what that costs.

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>

#include "base/arithmetic.h"
#include "berth/graph.h"
#include "graph/edges.h"

namespace berth {
namespace {

// Names of operators without their namespaces, overloads, underscores and capitals: these draw
// random numbers, communicate, read or write files and devices, or keep state. In order.
constexpr auto kNotPure = std::to_array<std::string_view>({
    "allgather",
    "allgatherintotensor",
    "allgatherintotensorcoalesced",
    "allgatherv",
    "allreduce",
    "allreducecoalesced",
    "alltoall",
    "alltoallsingle",
    "alphadropout",
    "assert",
    "assertasync",
    "assertscalar",
    "assertvariable",
    "assign",
    "assignvariable",
    "audiospectrogramstream",
    "barrier",
    "bernoulli",
    "binomial",
    "broadcast",
    "callonce",
    "cauchy",
    "collectivebroadcast",
    "collectivepermute",
    "copystart",
    "customcall",
    "dirichlet",
    "dropout",
    "exponential",
    "featurealphadropout",
    "featuredropout",
    "fft2dstream",
    "fusedadam",
    "fusedadamw",
    "fuseddropout",
    "fusedsgd",
    "gaussian",
    "geometric",
    "hashtable",
    "hashtablefind",
    "hashtableimport",
    "infeed",
    "lognormal",
    "multinomial",
    "nativedropout",
    "normal",
    "normalfunctional",
    "outfeed",
    "poisson",
    "print",
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
    "readfile",
    "readvariable",
    "recv",
    "recvdone",
    "reducescatter",
    "reducescattertensor",
    "reducescattertensorcoalesced",
    "rng",
    "rngbitgenerator",
    "rnggetandupdatestate",
    "rreluwithnoise",
    "scaleddotproductefficientattention",
    "scaleddotproductflashattention",
    "send",
    "senddone",
    "standardgamma",
    "unidirectionalsequencelstm",
    "unidirectionalsequencernn",
    "uniform",
    "varhandle",
    "varisinitialized",
    "waittensor",
    "writefile",
});
static_assert(std::is_sorted(kNotPure.begin(), kNotPure.end()));

// Namespaces whose operators all communicate.
constexpr auto kCommunicates = std::to_array<std::string_view>(
    {"_c10d_functional", "_c10d_functional_autograd", "c10d", "c10d_functional"});

bool IsPureByName(std::string_view type) {
  // "torch.ops.aten.rand_like.default", "aten::rand_like", "RandomNormalLike", "custom-call".
  const auto separator = type.rfind("::");
  if (separator != std::string_view::npos) {
    const std::string_view space = type.substr(0, separator);
    if (std::find(kCommunicates.begin(), kCommunicates.end(), space) != kCommunicates.end()) {
      return false;
    }
    type.remove_prefix(separator + 2);
  }
  // Each part between dots may be the name; overloads such as "default" are no names of the table.
  for (std::size_t begin = 0; begin <= type.size();) {
    const std::size_t end = std::min(type.find('.', begin), type.size());
    const std::string_view part = type.substr(begin, end - begin);
    if (std::find(kCommunicates.begin(), kCommunicates.end(), part) != kCommunicates.end()) {
      return false;
    }
    std::string plain;
    for (const char c : part) {
      if (c != '_' && c != '-') {
        plain.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
      }
    }
    if (std::binary_search(kNotPure.begin(), kNotPure.end(), plain)) return false;
    begin = end + 1;
  }
  return true;
}

}  // namespace

bool MayRepeat(const Graph& graph, OperatorIndex v) {
  const Operator& op = graph.operators[v];
  switch (op.repeat) {
    case Repeat::kPure:
      return true;
    case Repeat::kNever:
      return false;
    case Repeat::kByType:
      break;
  }
  if (op.update || op.random) return false;
  for (const TensorIndex base : op.mutates) {
    const bool skipped = std::find(op.skips.begin(), op.skips.end(), base) != op.skips.end();
    if (!skipped && !internal::IsMade(graph.tensors[base].kind)) return false;
  }
  return IsPureByName(op.type);
}

OperatorCosts CostsOf(const Graph& graph) {
  OperatorCosts costs;
  costs.of.reserve(graph.operators.size());
  const bool given = std::any_of(graph.operators.begin(), graph.operators.end(),
                                 [](const Operator& op) { return op.cost.has_value(); });
  if (given) {
    for (const Operator& op : graph.operators) costs.of.push_back(op.cost.value_or(0));
    costs.unit = graph.cost_unit;
    return costs;
  }
  costs.unit = "bytes";
  for (const Operator& op : graph.operators) {
    std::int64_t bytes = 0;
    const auto add = [&](TensorIndex t) {
      bytes = std::min(internal::CheckedAdd(bytes, graph.tensors[t].bytes).value_or(kMaxBytes),
                       kMaxBytes);
    };
    for (const TensorIndex t : op.inputs) add(t);
    // A view is made without touching its bytes.
    for (const TensorIndex t : op.outputs) {
      if (!graph.tensors[t].alias_of) add(t);
    }
    for (const TensorIndex t : op.mutates) add(t);
    costs.of.push_back(bytes);
  }
  return costs;
}

}  // namespace berth
