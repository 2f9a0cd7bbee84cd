// The algorithms by name: what --help, the documentation and the bindings say about them.

#include <algorithm>
#include <array>
#include <cstddef>

#include "base/check.h"
#include "berth/place.h"

namespace berth {
namespace {

constexpr std::array kAlgorithms = {
    AlgorithmInfo{Algorithm::kAuto, "auto",
                  "Greedy algorithms and exact search: cheap methods first, expensive ones last.",
                  "Berth", true},
    AlgorithmInfo{Algorithm::kCanonical, "canonical",
                  "Exact search through the plans in order of offset, with section inference.",
                  "MiniMalloc (Moffitt, ASPLOS 2023), sections 5 to 7", true},
    AlgorithmInfo{Algorithm::kNiche, "niche",
                  "Exact search in the hollows of the skyline, the one with the fewest choices "
                  "first, learning from conflicts.",
                  "Berth", true},
    AlgorithmInfo{
        Algorithm::kDisjunctive, "disjunctive",
        "Exact search that decides for two buffers which lies above, for gaps of any shape.",
        "Berth", true},
    AlgorithmInfo{Algorithm::kGuided, "guided",
                  "Exact search by heuristics over constraint propagation, learning from conflicts "
                  "with restarts.",
                  "Berth", true},
    AlgorithmInfo{Algorithm::kGreedy, "greedy",
                  "The lowest plan of several of the greedy algorithms below.", "Berth", false},
    AlgorithmInfo{Algorithm::kContention, "contention",
                  "On a skyline, row by row from the bottom: of the buffers that fit, the one that "
                  "meets the largest load.",
                  "TelaMalloc (Maas et al., ASPLOS 2023), section 3.1 and Figure 4", false},
    AlgorithmInfo{Algorithm::kFirstFitSize, "first-fit-size",
                  "Largest buffer first, each at its lowest free offset.",
                  "TFLite Micro, GreedyMemoryPlanner; the order is that of TFLite's ArenaPlanner",
                  false},
    AlgorithmInfo{Algorithm::kFirstFitArea, "first-fit-area",
                  "Largest size times lifetime first, each at its lowest free offset.",
                  "Berth; the order is common in strip packing", false},
    AlgorithmInfo{Algorithm::kFirstFitLifetime, "first-fit-lifetime",
                  "Longest lifetime first, each at its lowest free offset.",
                  "Berth; the order is XLA's temporal one", false},
    AlgorithmInfo{
        Algorithm::kFirstFitStart, "first-fit-start",
        "Earliest start first, each at its lowest free offset, as a first-fit allocator would.",
        "TelaMalloc (Maas et al., ASPLOS 2023), section 3.1", false},
    AlgorithmInfo{Algorithm::kFirstFitLowest, "first-fit-lowest",
                  "At each step the buffer that can lie lowest; of several, the largest.",
                  "Berth; bottom-up strip packing", false},
    AlgorithmInfo{
        Algorithm::kBestFitSize, "best-fit-size",
        "Largest buffer first, each in the smallest gap that is large enough.",
        "TFLite, ArenaPlanner and SimpleMemoryArena (Lee and Pisarchyk, arXiv 2001.03288)", false},
    AlgorithmInfo{
        Algorithm::kBestFitArea, "best-fit-area",
        "Largest size times lifetime first, each in the smallest gap that is large enough.",
        "Berth; the order is common in strip packing", false},
    AlgorithmInfo{Algorithm::kBestFitLifetime, "best-fit-lifetime",
                  "Longest lifetime first, each in the smallest gap that is large enough.",
                  "XLA, GlobalDecreasingSizeBestFitHeap, temporal order (here in steps)", false},
    AlgorithmInfo{Algorithm::kBestFitStart, "best-fit-start",
                  "Earliest start first, each in the smallest gap that is large enough, as a "
                  "best-fit allocator would.",
                  "TelaMalloc (Maas et al., ASPLOS 2023), section 3.1", false},
    AlgorithmInfo{Algorithm::kBestFitLowest, "best-fit-lowest",
                  "At each step the buffer that can lie lowest; of several, the longest lived: the "
                  "best fit to the gap.",
                  "Burke, Kendall and Whitwell, Operations Research 52(4), 2004", false},
    AlgorithmInfo{Algorithm::kXlaBestFit, "xla-best-fit",
                  "Largest buffer first, of equals the longest lived, each in the smallest gap "
                  "that is large enough.",
                  "XLA, GlobalDecreasingSizeBestFitHeap, spatial order", false},
};

// Info() finds an algorithm by its number.
constexpr bool InOrder() {
  for (std::size_t k = 0; k < kAlgorithms.size(); ++k) {
    if (kAlgorithms[k].algorithm != static_cast<Algorithm>(k)) return false;
  }
  return static_cast<std::size_t>(Algorithm::kXlaBestFit) + 1 == kAlgorithms.size();
}
static_assert(InOrder());

}  // namespace

std::span<const AlgorithmInfo> Algorithms() { return kAlgorithms; }

const AlgorithmInfo& Info(Algorithm algorithm) {
  const auto at = static_cast<std::size_t>(algorithm);
  BERTH_CHECK(at < kAlgorithms.size());
  return kAlgorithms[at];
}

std::optional<Algorithm> AlgorithmFromName(std::string_view name) {
  const auto* const found =
      std::find_if(kAlgorithms.begin(), kAlgorithms.end(),
                   [&](const AlgorithmInfo& info) { return info.name == name; });
  if (found == kAlgorithms.end()) return std::nullopt;
  return found->algorithm;
}

}  // namespace berth
