// Which operators may run again, and what that costs.

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

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

}  // namespace berth
