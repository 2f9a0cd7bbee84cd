// The algorithms by name: what --help, the documentation and the bindings say about them.

#include <algorithm>
#include <array>
#include <cstddef>

#include "base/check.h"
#include "berth/place.h"

namespace berth {
namespace {

constexpr std::string_view kLeePisarchyk = "Lee and Pisarchyk, arXiv 2001.03288";
constexpr std::string_view kBurke = "Burke, Kendall and Whitwell, Operations Research 52(4), 2004";

constexpr std::array kAlgorithms = {
    AlgorithmInfo{Algorithm::kAuto, "auto",
                  "Bounds first, then several greedy algorithms, then exact search.", "Berth",
                  true},
    AlgorithmInfo{Algorithm::kCanonical, "canonical",
                  "Exact search through plans in order of offset, with section inference.",
                  "MiniMalloc (Moffitt, ASPLOS 2023), sections 5 to 7", true},
    AlgorithmInfo{Algorithm::kDisjunctive, "disjunctive",
                  "Exact search over which of two buffers lies above the other, for gaps of any "
                  "shape.",
                  "Berth", true},
    AlgorithmInfo{Algorithm::kGreedy, "greedy",
                  "The lowest plan of several of the greedy algorithms below.", "Berth", false},
    AlgorithmInfo{
        Algorithm::kContention, "contention",
        "On a skyline, row by row from the bottom: the buffer that meets the largest load "
        "first.",
        "TelaMalloc (Maas et al., ASPLOS 2023), section 3.1 and Figure 4", false},
    AlgorithmInfo{Algorithm::kFirstFitSize, "first-fit-size",
                  "Largest buffer first, each at its lowest free offset.",
                  "TFLite Micro, GreedyMemoryPlanner; order of TFLite, ArenaPlanner", false},
    AlgorithmInfo{Algorithm::kFirstFitArea, "first-fit-area",
                  "Largest size times lifetime first, each at its lowest free offset.",
                  "TVM, USMP greedy family", false},
    AlgorithmInfo{Algorithm::kFirstFitLifetime, "first-fit-lifetime",
                  "Longest lifetime first, each at its lowest free offset.",
                  "XLA, temporal order of GlobalDecreasingSizeBestFitHeap", false},
    AlgorithmInfo{Algorithm::kFirstFitStart, "first-fit-start",
                  "Earliest start first, each at its lowest free offset: an online first fit.",
                  "TelaMalloc (Maas et al., ASPLOS 2023), section 3.1", false},
    AlgorithmInfo{Algorithm::kFirstFitLowest, "first-fit-lowest",
                  "At each step the buffer that can lie lowest, of several the largest.", kBurke,
                  false},
    AlgorithmInfo{Algorithm::kBestFitSize, "best-fit-size",
                  "Largest buffer first, each in the smallest gap that is large enough.",
                  "TFLite, ArenaPlanner and SimpleMemoryArena; Lee and Pisarchyk, arXiv 2001.03288",
                  false},
    AlgorithmInfo{Algorithm::kBestFitArea, "best-fit-area",
                  "Largest size times lifetime first, each in the smallest gap that is large "
                  "enough.",
                  "", false},
    AlgorithmInfo{Algorithm::kBestFitLifetime, "best-fit-lifetime",
                  "Longest lifetime first, each in the smallest gap that is large enough.",
                  "XLA, GlobalDecreasingSizeBestFitHeap in temporal order", false},
    AlgorithmInfo{Algorithm::kBestFitStart, "best-fit-start",
                  "Earliest start first, each in the smallest gap that is large enough.", "",
                  false},
    AlgorithmInfo{Algorithm::kBestFitLowest, "best-fit-lowest", "", "", false},
    AlgorithmInfo{Algorithm::kXlaBestFit, "xla-best-fit",
                  "Largest buffer first, then longest lifetime in allocations and frees, each in "
                  "the smallest gap that is large enough.",
                  "XLA, GlobalDecreasingSizeBestFitHeap in spatial order", false},
    AlgorithmInfo{Algorithm::kBfc, "bfc", "", "", false},
    AlgorithmInfo{Algorithm::kPytorchCaching, "pytorch-caching", "", "", false},
};

}  // namespace

std::span<const AlgorithmInfo> Algorithms() { return kAlgorithms; }

const AlgorithmInfo& Info(Algorithm algorithm) {
  const auto at = static_cast<std::size_t>(algorithm);
  BERTH_CHECK(at < kAlgorithms.size() && kAlgorithms[at].algorithm == algorithm);
  return kAlgorithms[at];
}

std::optional<Algorithm> AlgorithmFromName(std::string_view name) {
  const auto found = std::find_if(kAlgorithms.begin(), kAlgorithms.end(),
                                  [&](const AlgorithmInfo& info) { return info.name == name; });
  if (found == kAlgorithms.end()) return std::nullopt;
  return found->algorithm;
}

std::string_view ToString(Outcome outcome) {
  switch (outcome) {
    case Outcome::kOptimal:
      return "optimal";
    case Outcome::kFeasible:
      return "feasible";
    case Outcome::kInfeasible:
      return "infeasible";
    case Outcome::kUnknown:
      break;
  }
  return "unknown";
}

}  // namespace berth
