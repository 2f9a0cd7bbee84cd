// Which operators may run again, and what that costs.

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "base/latency.h"
#include "base/wide.h"
#include "berth/device.h"
#include "berth/graph.h"
#include "graph/edges.h"
#include "graph/types.h"

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
  // "c10d::allreduce_", "_c10d_functional.all_reduce.default".
  for (std::size_t begin = 0; begin <= type.size();) {
    const std::size_t end = std::min(type.find_first_of(".:", begin), type.size());
    const std::string_view space = type.substr(begin, end - begin);
    if (std::find(kCommunicates.begin(), kCommunicates.end(), space) != kCommunicates.end()) {
      return false;
    }
    begin = end + 1;
  }
  return !internal::IsOfType(type, kNotPure);
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
  for (OperatorIndex v = 0; v < graph.operators.size(); ++v) {
    costs.of.push_back(WorkOf(graph, v).bytes);
  }
  return costs;
}

namespace {

std::int64_t NanosecondsOf(Bytes bytes, Bytes bytes_per_second, std::int64_t latency) {
  constexpr std::int64_t kNanoseconds = 1'000'000'000;
  const internal::Wide product = internal::Wide{bytes} * kNanoseconds + (bytes_per_second - 1);
  const internal::Wide time = product / bytes_per_second + latency;
  return static_cast<std::int64_t>(std::min<internal::Wide>(time, kMaxBytes));
}

}  // namespace

std::int64_t Link::Out(Bytes bytes) const {
  return NanosecondsOf(bytes, out_bytes_per_second, latency_nanoseconds);
}

std::int64_t Link::In(Bytes bytes) const {
  return NanosecondsOf(bytes, in_bytes_per_second, latency_nanoseconds);
}

constexpr double kMostPicojoules = 1LL << 40;  // Per byte.

Result<void> Validate(const Link& link) {
  for (const Bytes rate : {link.out_bytes_per_second, link.in_bytes_per_second}) {
    if (rate >= 1 && rate <= kMaxBytes) continue;
    return Fail(ErrorCode::kInvalidOptions, "a link of " + std::to_string(rate) +
                                                " bytes per second: it must be from 1 to 2^60");
  }
  if (!internal::IsLatency(link.latency_nanoseconds)) {
    return Fail(ErrorCode::kInvalidOptions, "a link with a latency of " +
                                                std::to_string(link.latency_nanoseconds) +
                                                " ns: it must be " + internal::kLatencyRange);
  }
  const double energy = link.picojoules_per_byte.value_or(0);
  if (!(energy >= 0 && energy <= kMostPicojoules)) {
    return Fail(ErrorCode::kInvalidOptions, "a link with " + std::to_string(energy) +
                                                " pJ per byte: it must be from 0 to 2^40");
  }
  return {};
}

}  // namespace berth
