// Why a problem does not fit: a set of buffers of which none can be left out.
//
// Pins that overlap fit no capacity at all. Otherwise most problems fail for a simple reason: at
// one step there are more live bytes than capacity. Of those buffers the largest, as many as it
// takes to exceed the capacity, are a conflict, and leaving out any one of them would end it, being
// at least as large as the last one taken. When no step is too full, exact search has to prove that
// nothing fits, and the deletion filter of infeasible subsystems (Chinneck and Dravnieks, ORSA
// Journal on Computing 3(2), 1991) cuts the proof down: leave buffers out, many at a time at first,
// for as long as what remains still cannot be placed. Every test is a proof; where the budget ends
// one, the buffer stays and the set is not called minimal.

#include <algorithm>
#include <chrono>
#include <limits>
#include <vector>

#include "base/check.h"
#include "base/keyed.h"
#include "base/try.h"
#include "berth/place.h"
#include "model/instance.h"
#include "place/options.h"

namespace berth {
namespace internal {
namespace {

enum class Fit { kYes, kNo, kOpen };

class Explainer {
 public:
  Explainer(const Problem& problem, const PlaceOptions& options, Budget& budget)
      : problem_(problem),
        options_(options),
        budget_(budget),
        capacity_(problem.capacity.value_or(kMaxBytes)) {
    options_.algorithm = Algorithm::kAuto;
    options_.minimize = false;
    options_.minimize_if_infeasible = false;
  }

  Result<Conflict> Run();

 private:
  [[nodiscard]] Problem Part(const std::vector<std::size_t>& buffers) const;
  [[nodiscard]] Result<PlanAnswer> WholeProblem();
  [[nodiscard]] Fit Fits(const std::vector<std::size_t>& buffers);
  [[nodiscard]] bool IsTall(std::size_t b) const;
  [[nodiscard]] std::vector<std::size_t> TallBuffer() const;
  [[nodiscard]] std::vector<std::size_t> TooManyBytes() const;
  void Shrink(Conflict& conflict);
  void Describe(Conflict& conflict);

  const Problem& problem_;
  PlaceOptions options_;
  Budget& budget_;
  const Bytes capacity_;
};

Problem Explainer::Part(const std::vector<std::size_t>& buffers) const {
  Problem part;
  part.capacity = capacity_;
  for (const std::size_t b : buffers) part.buffers.push_back(problem_.buffers[b]);
  return part;
}

// Whether it fits, and if not, how much would be enough, in half of the limits.
Result<PlanAnswer> Explainer::WholeProblem() {
  PlaceOptions options = options_;
  options.minimize_if_infeasible = true;
  Budget half(budget_, 0.5);
  if (budget_.has_node_limit()) half.SetNodeLimit(budget_.node_limit() / 2);
  return Place(problem_, options, half);
}

Fit Explainer::Fits(const std::vector<std::size_t>& buffers) {
  PlaceOptions silent = options_;
  silent.progress = nullptr;
  const auto answer = Place(Part(buffers), silent, budget_);
  BERTH_CHECK(answer.has_value());
  switch (answer->outcome) {
    case Outcome::kOptimal:
    case Outcome::kFeasible:
      return Fit::kYes;
    case Outcome::kInfeasible:
      return Fit::kNo;
    case Outcome::kUnknown:
      break;
  }
  return Fit::kOpen;
}

// Whether the buffer reaches above the capacity all by itself.
bool Explainer::IsTall(std::size_t b) const {
  const Buffer& buffer = problem_.buffers[b];
  return buffer.offset.value_or(0) + buffer.size > capacity_;
}

// The first buffer that does.
std::vector<std::size_t> Explainer::TallBuffer() const {
  for (std::size_t b = 0; b < problem_.buffers.size(); ++b) {
    if (IsTall(b)) return {b};
  }
  return {};
}

// As many buffers of the fullest section, largest first, as exceed the capacity; none if none does.
std::vector<std::size_t> Explainer::TooManyBytes() const {
  const Instance instance = Compile(problem_);
  SectionIndex fullest;
  for (const SectionIndex s : instance.sections()) {
    if (instance.section_load[s] > instance.section_load[fullest]) fullest = s;
  }
  if (instance.num_sections() == 0 || instance.section_load[fullest] <= capacity_) return {};
  std::vector<Keyed> live;  // Largest first.
  for (const BufferIndex b : instance.buffers()) {
    for (const Piece& piece : instance.pieces_of(b)) {
      if (piece.first <= fullest && fullest < piece.last) {
        live.push_back({{piece.lower - piece.upper}, b.value()});
      }
    }
  }
  Sort(live);
  std::vector<std::size_t> buffers;
  Bytes load = 0;
  for (const Keyed& each : live) {
    if (load > capacity_) break;
    load -= each.key.front();
    buffers.push_back(static_cast<std::size_t>(each.index));
  }
  std::sort(buffers.begin(), buffers.end());
  return buffers;
}

// The deletion filter, in runs of halving length. Buffers far in time from the peak go first: they
// matter least often.
void Explainer::Shrink(Conflict& conflict) {
  const LoadBound bound = MaxLiveLoad(Part(conflict.buffers));
  const auto distance = [&](std::size_t b) {
    const Buffer& buffer = problem_.buffers[b];
    if (bound.bound_step < buffer.start) return buffer.start - bound.bound_step;
    return bound.bound_step >= buffer.end ? bound.bound_step - buffer.end + 1 : Step{0};
  };
  std::vector<Keyed> by_distance;
  for (const std::size_t b : conflict.buffers) {
    by_distance.push_back({{-distance(b), problem_.buffers[b].size}, static_cast<std::int64_t>(b)});
  }
  Sort(by_distance);
  std::vector<std::size_t> kept;
  kept.reserve(by_distance.size());
  for (const Keyed& each : by_distance) kept.push_back(static_cast<std::size_t>(each.index));
  conflict.minimal = true;
  const auto too_full = [&](const std::vector<std::size_t>& buffers) {
    return MaxLiveLoad(Part(buffers)).lower_bound > capacity_;
  };
  for (std::size_t run = std::max<std::size_t>(kept.size() / 2, 1);; run /= 2) {
    for (std::size_t at = 0; at < kept.size();) {
      const std::size_t end = std::min(at + run, kept.size());
      std::vector<std::size_t> rest(kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(at));
      rest.insert(rest.end(), kept.begin() + static_cast<std::ptrdiff_t>(end), kept.end());
      if (budget_.Exhausted()) {
        conflict.minimal = false;
        run = 1;  // No test would end: the set stays as it is.
        break;
      }
      const Fit fit = too_full(rest) ? Fit::kNo : Fits(rest);
      if (fit == Fit::kNo) {
        kept = std::move(rest);
        continue;
      }
      if (fit == Fit::kOpen && run == 1) conflict.minimal = false;
      at = end;
    }
    if (run == 1) break;
  }
  std::sort(kept.begin(), kept.end());
  conflict.buffers = std::move(kept);
}

void Explainer::Describe(Conflict& conflict) {
  const Problem part = Part(conflict.buffers);
  const LoadBound bound = MaxLiveLoad(part);
  for (const Section& section : Sections(part)) {
    if (section.load <= conflict.load) continue;
    conflict.load = section.load;
    conflict.step = section.start;
  }
  if (conflict.load == 0) conflict.step = bound.bound_step;
  conflict.short_by = std::max<Bytes>(1, bound.lower_bound - capacity_);
}

Result<Conflict> Explainer::Run() {
  Conflict conflict;
  conflict.capacity = problem_.capacity;
  if (const auto pins = CollidingPins(problem_)) {
    conflict.outcome = Outcome::kInfeasible;
    conflict.pins_collide = true;
    conflict.buffers = {pins->first, pins->second};
    // Of two pins that overlap, one may reach above the capacity by itself.
    conflict.minimal = !IsTall(pins->first) && !IsTall(pins->second);
    Describe(conflict);
    conflict.short_by = 0;
    return conflict;
  }
  if (!problem_.capacity) {
    conflict.outcome = Outcome::kFeasible;
    return conflict;
  }
  conflict.whole = BERTH_TRY(WholeProblem());
  const PlanAnswer& answer = *conflict.whole;
  conflict.outcome = answer.outcome;
  conflict.height_bound = answer.height_bound;
  if (answer.best) conflict.works_with = answer.best->height();
  conflict.buffers = TallBuffer();
  const bool tall = !conflict.buffers.empty();
  if (!tall) conflict.buffers = TooManyBytes();
  if (!conflict.buffers.empty()) {
    conflict.outcome = Outcome::kInfeasible;
    // Without windows, alignment and pins, buffers that are live together fit if their bytes do.
    const Instance instance = Compile(Part(conflict.buffers));
    if (tall || (!instance.has_gaps && !instance.has_alignment && !instance.has_pins)) {
      conflict.minimal = true;
    } else {
      Shrink(conflict);
    }
    Describe(conflict);
    return conflict;
  }
  if (answer.outcome != Outcome::kInfeasible) return conflict;
  for (std::size_t b = 0; b < problem_.buffers.size(); ++b) conflict.buffers.push_back(b);
  // One part of the problem that cannot be placed is enough.
  for (const auto& partition : Partitions(problem_)) {
    if (Fits(partition) == Fit::kNo) {
      conflict.buffers = partition;
      break;
    }
  }
  Shrink(conflict);
  Describe(conflict);
  return conflict;
}

}  // namespace
}  // namespace internal

Result<Conflict> Explain(const Problem& problem, const PlaceOptions& options, Budget& budget) {
  const auto begin = Budget::Clock::now();
  const std::int64_t nodes_before = budget.nodes_spent();
  if (auto valid = internal::ValidateOptions(options); !valid) return tl::unexpected(valid.error());
  if (auto valid = Validate(problem); !valid) return tl::unexpected(valid.error());
  auto conflict = internal::Explainer(problem, options, budget).Run();
  if (!conflict) return conflict;
  conflict->nodes = budget.nodes_spent() - nodes_before;
  conflict->seconds = std::chrono::duration<double>(Budget::Clock::now() - begin).count();
  return conflict;
}

}  // namespace berth
