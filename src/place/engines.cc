#include "place/engines.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "place/canonical/canonical.h"
#include "place/disjunctive/disjunctive.h"
#include "place/learning/guided.h"
#include "place/niche/niche.h"

namespace berth::internal {
namespace {

// Each pair counts twice and takes 24 bytes (disjunctive: 40).
constexpr std::int64_t kMostOverlaps = 100'000'000;
// Each piece takes 4 bytes in each section, twice with the beam.
constexpr std::int64_t kMostMembers = 250'000'000;
// As a prover the guided search is left out where there are more overlaps than this: its state is
// large then, and a node looks at many of them.
constexpr std::int64_t kMostProverOverlaps = 1'000'000;

bool FewMembers(const Subject& subject) {
  std::int64_t members = 0;
  for (const Piece& piece : subject.instance().pieces) {
    members += piece.last.value() - piece.first.value();
  }
  return members <= kMostMembers;
}

bool FewOverlaps(const Subject& subject) { return subject.num_overlaps() <= kMostOverlaps; }

bool Always(Subject&) { return true; }
bool WithWindows(Subject& subject) { return subject.instance().has_windows; }
// Buffers may interlock, so that neither lies wholly above the other.
bool WithInterlocking(Subject& subject) {
  return WithWindows(subject) && FewOverlaps(subject) && subject.overlaps() != nullptr &&
         !subject.overlaps()->stackable;
}
bool WithoutWindows(Subject& subject) {
  return !WithWindows(subject) && subject.num_overlaps() <= kMostProverOverlaps;
}

std::int64_t NumBuffers(const Subject& subject) {
  return static_cast<std::int64_t>(std::max<std::size_t>(subject.instance().num_buffers(), 1));
}
std::int64_t MeanOverlaps(const Subject& subject) {
  return subject.num_overlaps() / NumBuffers(subject) + 1;
}
// A node looks at every lane, some of them several times, and at many sections.
std::int64_t CostOfSections(const Subject& subject) {
  return 500 + 2 * static_cast<std::int64_t>(subject.instance().pieces.size()) +
         4 * static_cast<std::int64_t>(subject.instance().num_sections());
}
// A node looks at every unplaced buffer and, for each of some five children, at its neighbours.
std::int64_t CostOfChildren(const Subject& subject) {
  return NumBuffers(subject) + 5 * MeanOverlaps(subject);
}
std::int64_t CostOfPropagation(const Subject& subject) { return 10 * MeanOverlaps(subject); }

constexpr std::array kEngines = {
    EngineInfo{
        Algorithm::kNiche, FewMembers, Always, false, CostOfSections,
        [](Subject& s) { return niche::MakeSearch(s.instance(), s.options().niche, s.seed()); }},
    EngineInfo{Algorithm::kCanonical, FewOverlaps, WithWindows, false, CostOfChildren,
               [](Subject& s) -> std::unique_ptr<Search> {
                 if (s.overlaps() == nullptr) return nullptr;
                 return canonical::MakeSearch(s.instance(), *s.overlaps(), s.options().canonical);
               }},
    EngineInfo{Algorithm::kDisjunctive, FewOverlaps, WithInterlocking, false, CostOfChildren,
               [](Subject& s) -> std::unique_ptr<Search> {
                 if (s.overlaps() == nullptr) return nullptr;
                 return disjunctive::MakeSearch(s.instance(), *s.overlaps());
               }},
    EngineInfo{Algorithm::kGuided, FewOverlaps, WithoutWindows, true, CostOfPropagation,
               [](Subject& s) -> std::unique_ptr<Search> {
                 if (s.overlaps() == nullptr) return nullptr;
                 return learning::MakeSearch(s.instance(), *s.overlaps(), s.options().guided,
                                             s.seed());
               }},
};

}  // namespace

Subject::Subject(const Instance& instance, const EngineOptions& options, std::uint64_t seed,
                 const Budget& budget)
    : instance_(instance),
      options_(options),
      seed_(seed),
      budget_(budget),
      num_overlaps_(CountOverlaps(instance)) {}

const Overlaps* Subject::overlaps() {
  if (!overlaps_) overlaps_ = FindOverlaps(instance_, budget_);
  return overlaps_ ? &*overlaps_ : nullptr;
}

std::span<const EngineInfo> Engines() { return kEngines; }

const EngineInfo* FindEngine(Algorithm algorithm) {
  for (const EngineInfo& engine : kEngines) {
    if (engine.algorithm == algorithm) return &engine;
  }
  return nullptr;
}

}  // namespace berth::internal
