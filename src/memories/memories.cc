// Choice and placement by turns, as in logic-based Benders decomposition (Hooker and Ottosson,
// Mathematical Programming 96, 2003).
//
// The choice of memories counts bytes by their sum alone (choose.h), so its best profit bounds that of
// every plan. Each memory is then an ordinary table for Place(). If a memory's buffers cannot be
// placed, a small set of them that cannot is found, excluded from the choice, and the next choice is
// made. A choice that is proved best and can be placed is the optimum. Sums are hardly ever in the
// way of addresses: most first choices can be placed.
//
// Plans come early: one unit after another at first, then choices from narrow sweeps, each with what
// does not fit taken out.
#include "berth/memories.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/try.h"
#include "memories/answer.h"
#include "memories/asking.h"
#include "memories/assign.h"
#include "memories/choose.h"
#include "memories/fit.h"
#include "memories/improve.h"
#include "memories/layout.h"
#include "memories/model.h"

namespace berth {
namespace internal::memories {
namespace {

// Nodes of the rounds of the choice; the last repeats while there is budget.
constexpr std::int64_t kFirstEffort = 100'000;
constexpr std::int64_t kWider = 8;
constexpr std::size_t kEarlyWidth = 512;
// Without any limit the search ends after this many nodes: some seconds.
constexpr std::int64_t kDefaultEffort = 8'000'000;
// Nodes for questions to Place(): a first look by kAuto, and one by the search that learns, which is
// better at tables without any slack; each of those that reduce a conflict.
constexpr std::int64_t kAutoNodes = 20'000;
constexpr std::int64_t kGuidedNodes = 20'000;
// A node of the search that learns takes time in proportion to the units, one of kAuto does not: of more
// units than these, the first look is longer and the other shorter.
constexpr std::int64_t kManyUnits = 300;
constexpr std::int64_t kAutoNodesOfMany = 50'000;
constexpr std::int64_t kReduceNodes = 3'000;
// For questions of PlaceMost(), of which there are many.
constexpr std::array<Look, 2> kMostLooks = {
    {{Algorithm::kAuto, 4'000}, {Algorithm::kGuided, 2'000}}};
// The same of windows that kAuto leaves open, of which at most so many are asked again. Reducing what
// the search that learns has proved: its nodes cost ten times as much, and it has named the units that its
// proof needs already, so that little is left to be gained.
constexpr std::int64_t kWindowNodes = 5'000;
constexpr std::size_t kMostOpenWindows = 8;
constexpr std::size_t kFewOpenWindows = 2;  // Of a choice that may not be the best.
constexpr std::int64_t kReduceTimes = 2;
constexpr std::int64_t kGuidedWeight = 100;
constexpr std::int64_t kMostReduceNodes = 300'000;
constexpr std::int64_t kMostUnprovedReduceNodes = 100'000;  // Of a choice that may not be the best.
constexpr std::size_t kLeastRun = 8;                        // Of units in order of time.
// Of a choice that may not be the best.
constexpr int kUnprovedPart = 2;
// Of a choice that is proved best, which it is worth to know more of.
constexpr std::int64_t kProvedTimes = 8;
// Sections at a time that are searched for a conflict.
constexpr std::size_t kFirstWindow = 4;
constexpr std::size_t kLastWindow = 32;
// Of the time that is left, for better plans one unit at a time. Where the bound is near, by this part of
// the score, all of it is better spent on choices.
constexpr double kShareOfImprove = 0.5;
constexpr std::int64_t kNear = 50;
// Units are set aside if where they are matters by this part of the score at most, they are this part of
// all units, and the distance to the bound is this many times as large. The search without them has this
// share of the time and this part of the nodes, and so many choices are made.
constexpr std::int64_t kSmallPart = 10'000;
constexpr std::size_t kManySmall = 10;
constexpr std::int64_t kFarAway = 4;
constexpr double kShareOfLarge = 0.33;
constexpr std::int64_t kPartOfNodes = 3;
constexpr std::int64_t kLargeEffort = kDefaultEffort / 3;
constexpr int kLargeChoices = 4;
// Proved conflicts between two attempts to place most of a choice.
constexpr int kMostVain = 15;
constexpr std::int64_t kMorePatience = 8;
constexpr std::int64_t kMostPatience = 4096;

class Planner {
 public:
  Planner(const MemoryProblem& problem, const MemoriesOptions& options, const Model& model,
          Budget& budget)
      : problem_(problem),
        options_(options),
        model_(model),
        budget_(budget),
        assigner_(problem, model),
        asker_(problem, model, options.place, options.conflicts, budget) {}

  void Run();
  void Finish(PlanAnswer& answer) const;

 private:
  struct Proof {  // That these units cannot be placed.
    std::vector<std::size_t> units;
    Algorithm algorithm = Algorithm::kAuto;  // That proved it.
    std::int64_t nodes = 0;
    bool holds = true;           // Otherwise they are only not known to fit,
    bool asked_at_last = false;  // with all the nodes that a choice proved best is worth.
  };

  void FitGreedily();
  // Whether better plans can be little better than the best one.
  [[nodiscard]] bool IsNear() const { return (best_score_ - bound_) * Wide(kNear) < best_score_; }
  void ImproveBest();
  void Search();
  void SearchWithoutSmall();
  [[nodiscard]] bool Round(std::int64_t effort, std::size_t width);
  [[nodiscard]] Chosen ChooseFor(std::int64_t effort, std::size_t width);
  struct Open {
    std::size_t memory = 0;
    Assignment assignment;
    Proof proof;
  };
  void Try(const Assignment& wanted, Wide left, bool proved);
  [[nodiscard]] bool PlaceEach(Placed& plan, Wide left, bool proved, std::vector<Open>& open);
  [[nodiscard]] std::int64_t GuidedNodes(std::size_t units) const {
    const auto size = static_cast<std::int64_t>(units);
    return patience_ * kGuidedNodes * kManyUnits / std::max(kManyUnits, size);
  }
  [[nodiscard]] bool PlaceAtLast(std::size_t memory, const Assignment& assignment, Proof& proof);
  void Exclude(std::size_t memory, const Assignment& assignment, Wide left, bool proved,
               Proof& proof);
  [[nodiscard]] bool IsBetterWithoutOne(const Assignment& assignment,
                                        const std::vector<std::size_t>& units) const;
  [[nodiscard]] Fit PlaceUnits(std::size_t memory, const std::vector<std::size_t>& units,
                               const Assignment& assignment, bool proved,
                               std::vector<Bytes>& offsets, Proof& proof);
  [[nodiscard]] std::optional<Proof> FindConflict(std::size_t memory,
                                                  const std::vector<std::size_t>& units,
                                                  const Assignment& assignment,
                                                  std::size_t windows);
  [[nodiscard]] static std::vector<std::size_t> Named(const Asker::Answer& answer,
                                                      const std::vector<std::size_t>& units);
  void Reduce(std::size_t memory, const Assignment& assignment, bool proved, Proof& proof);
  [[nodiscard]] bool LeaveOut(std::size_t memory, const Assignment& assignment,
                              std::vector<std::size_t> tries, std::size_t run, std::size_t least,
                              std::int64_t& left, Proof& proof);
  [[nodiscard]] std::vector<std::size_t> Dispensable(const Assignment& assignment,
                                                     const std::vector<std::size_t>& units) const;
  void Offer(const Placed& plan);
  void RaiseBound(Wide bound);
  void Tell() const;
  [[nodiscard]] bool Known(std::size_t memory, const std::vector<std::size_t>& units,
                           const Assignment& assignment, Placed& plan) const;

  const MemoryProblem& problem_;
  const MemoriesOptions& options_;
  const Model& model_;
  Budget& budget_;
  Assigner assigner_;
  Asker asker_;
  std::unique_ptr<ChoiceSearch> choosing_;
  std::int64_t chosen_for_ = 0;  // Assigner::changes() at its beginning.
  std::optional<Placed> best_;
  Wide best_score_ = 0;
  std::vector<Placed> placed_;  // By memory: the latest that could be placed.
  Wide bound_ = 0;              // No plan has a lower score.
  bool stopped_ = false;
  bool whole_ = false;            // The latest choice that was tried could be placed.
  bool asked_ = false;            // Whether a choice can be placed.
  bool wary_ = false;             // See ChoiceSearch.
  std::optional<Wide> improved_;  // The score of the plan that Improve() has seen.
  // Proved conflicts since most of a choice was placed, and after how many that is tried again: more
  // and more while it finds no better plan.
  int excluded_since_ = 0;
  int vain_ = 0;
  std::int64_t patience_ = 1;  // Times the nodes for a question to Place().
};

void Planner::Offer(const Placed& plan) {
  const Wide score = assigner_.Score(plan.assignment);
  if (best_ && score >= best_score_) return;
  best_ = plan;
  best_score_ = score;
  Tell();
}

void Planner::RaiseBound(Wide bound) {
  bound_ = std::max(bound_, assigner_.left() ? std::min(bound, *assigner_.left()) : bound);
  Tell();
}

// Costs, once everything that must be placed is.
void Planner::Tell() const {
  const auto& progress = options_.place.progress;
  if (!progress) return;
  const PlanCost best = assigner_.CostOfScore(best_score_);
  const PlanCost bound = assigner_.CostOfScore(std::min(bound_, best_score_));
  if (best.unplaced == 0) progress({best.cost, bound.cost, budget_.nodes_spent()});
}

// In several orders: profit for each byte and step, profit for the root of the bytes, as XLA has it,
// and the largest first.
void Planner::FitGreedily() {
  const std::size_t units = model_.units.size();
  std::vector<double> worth(units);
  std::vector<double> area(units);
  std::vector<double> bytes(units);
  for (std::size_t u = 0; u < units; ++u) {
    const Unit& unit = model_.units[u];
    const Buffer& buffer = model_.tables.front().problem.buffers[u];
    double most = 0;
    double least = 1e30;
    for (const Mode& mode : unit.modes) {
      most = std::max(most, static_cast<double>(mode.cost));
      least = std::min(least, static_cast<double>(mode.cost));
    }
    if (!unit.must) most = std::max(most, static_cast<double>(unit.cost_left_out));
    worth[u] = unit.modes.empty() ? 0 : most - least + (unit.must ? 1e18 : 0);
    bytes[u] = static_cast<double>(buffer.size);
    area[u] = bytes[u] * static_cast<double>(buffer.end - buffer.start);
  }
  const auto fit = [&](const std::vector<double>& by) {
    std::vector<std::size_t> order;
    for (std::size_t u = 0; u < units; ++u) order.push_back(u);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return worth[a] * by[b] > worth[b] * by[a];
    });
    Offer(FitInOrder(problem_, model_, order, nullptr, budget_));
  };
  fit(area);
  if (budget_.TimeIsUp()) return;
  fit(bytes);
}

// Of the units of a table that cannot be placed, those that the proof needs.
std::vector<std::size_t> Planner::Named(const Asker::Answer& answer,
                                        const std::vector<std::size_t>& units) {
  if (!answer.core) return units;
  std::vector<std::size_t> named;
  for (const std::size_t k : *answer.core) {
    if (k < units.size()) named.push_back(units[k]);
  }
  return named;
}

// `proof`: how it was proved, if it was, that they cannot be placed.
Fit Planner::PlaceUnits(std::size_t memory, const std::vector<std::size_t>& units,
                        const Assignment& assignment, bool proved, std::vector<Bytes>& offsets,
                        Proof& proof) {
  const Problem table = asker_.TableOf(memory, units, assignment);
  proof = {units, Algorithm::kAuto, 0, true, false};
  const auto size = static_cast<std::int64_t>(units.size());
  Asker::Answer answer = asker_.Ask(
      table, {proof.algorithm, size > kManyUnits ? kAutoNodesOfMany : kAutoNodes}, &offsets);
  // A choice that takes search to place, so that others may not fit at all.
  wary_ = wary_ || answer.fit != Fit::kYes || (!asked_ && 2 * answer.nodes > 3 * size);
  if (wary_ && !asked_) choosing_.reset();
  asked_ = true;
  if (answer.fit == Fit::kUnknown) {
    // Briefly, where a plan of most of the units is worth more than to know.
    proof.algorithm = Algorithm::kGuided;
    proof.asked_at_last = proved && IsNear();
    const std::int64_t nodes = GuidedNodes(units.size());
    answer = asker_.Ask(table,
                        {proof.algorithm, proof.asked_at_last ? kProvedTimes * nodes
                                          : proved            ? nodes
                                                              : nodes / kUnprovedPart},
                        &offsets);
  }
  proof.nodes = answer.nodes;
  proof.holds = answer.fit == Fit::kNo;
  if (proof.holds) proof.units = Named(answer, units);
  return answer.fit;
}

// The units of a few sections in a row that cannot be placed: by kAuto, which answers most windows at
// once, then by the search that learns for those that it leaves open, the smallest first.
std::optional<Planner::Proof> Planner::FindConflict(std::size_t memory,
                                                    const std::vector<std::size_t>& units,
                                                    const Assignment& assignment,
                                                    std::size_t windows) {
  const Problem table = asker_.TableOf(memory, units, assignment);
  const std::vector<Section> sections = Sections(table);
  std::vector<std::vector<std::size_t>> open;
  for (std::size_t width = kFirstWindow; width <= kLastWindow; width *= 2) {
    for (std::size_t from = 0; from < sections.size(); from += width / 2) {
      const Step start = sections[from].start;
      const Step end = sections[std::min(from + width, sections.size()) - 1].end;
      std::vector<std::size_t> part;
      for (std::size_t k = 0; k < units.size(); ++k) {
        if (table.buffers[k].start < end && start < table.buffers[k].end) part.push_back(units[k]);
      }
      if (budget_.TimeIsUp()) return std::nullopt;
      if (part.size() < 2 || part.size() == units.size()) continue;
      const Asker::Answer answer = asker_.Ask(asker_.TableOf(memory, part, assignment),
                                              {Algorithm::kAuto, kReduceNodes}, nullptr);
      if (answer.fit == Fit::kNo)
        return Proof{Named(answer, part), Algorithm::kAuto, answer.nodes, true, false};
      if (answer.fit == Fit::kUnknown && (open.empty() || part != open.back())) {
        open.push_back(std::move(part));
      }
    }
  }
  if (open.size() > windows) open.resize(windows);
  for (std::vector<std::size_t>& part : open) {
    if (budget_.TimeIsUp()) return std::nullopt;
    const Asker::Answer answer =
        asker_.Ask(asker_.TableOf(memory, part, assignment),
                   {Algorithm::kGuided, patience_ * kWindowNodes}, nullptr);
    if (answer.fit == Fit::kNo)
      return Proof{Named(answer, part), Algorithm::kGuided, answer.nodes, true, false};
  }
  return std::nullopt;
}

// Leaves units out as long as it is proved that the others cannot be placed. First in order of time,
// in long runs: most of what is far from the conflict goes at once. Then one by one those of which the
// choice can do without any, since what every better plan has costs a conflict nothing.
// `proved`: the choice is the best, so the next one depends on the conflict, and more is spent on it.
void Planner::Reduce(std::size_t memory, const Assignment& assignment, bool proved, Proof& proof) {
  if (!options_.conflicts) return;
  const std::vector<Buffer>& buffers = model_.tables[memory].problem.buffers;
  std::stable_sort(proof.units.begin(), proof.units.end(), [&](std::size_t a, std::size_t b) {
    return buffers[a].start < buffers[b].start;
  });
  std::int64_t left = proved ? kMostReduceNodes : kMostUnprovedReduceNodes;
  if (!LeaveOut(memory, assignment, proof.units, proof.units.size() / 2, kLeastRun, left, proof)) {
    return;
  }
  std::vector<std::size_t> tries = Dispensable(assignment, proof.units);
  const std::size_t run = tries.size() / 4;
  static_cast<void>(LeaveOut(memory, assignment, std::move(tries), run, 1, left, proof));
}

// Of these units those that a better plan than the best one may not have as they are, as far as prices
// tell: first those whose absence costs the least.
std::vector<std::size_t> Planner::Dispensable(const Assignment& assignment,
                                              const std::vector<std::size_t>& units) const {
  if (!choosing_) return units;
  const std::int64_t floor = assigner_.ProfitOf(best_score_);
  std::vector<std::pair<std::int64_t, std::size_t>> order;
  for (const std::size_t u : units) {
    const auto literal = assigner_.LiteralOf(u, static_cast<std::size_t>(assignment[u]));
    const std::int64_t without =
        literal ? choosing_->BoundWithout(*literal) : std::numeric_limits<std::int64_t>::max();
    if (without > floor) order.emplace_back(-without, u);
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::size_t> dispensable;
  dispensable.reserve(order.size());
  for (const auto& [key, u] : order) dispensable.push_back(u);
  return dispensable;
}

// Leaves `tries` out of the units of a proof, in runs from `run` to `least`, each half as long: by the
// search that proved it, with about as many nodes. False: no nodes are `left`, or no time.
bool Planner::LeaveOut(std::size_t memory, const Assignment& assignment,
                       std::vector<std::size_t> tries, std::size_t run, std::size_t least,
                       std::int64_t& left, Proof& proof) {
  const bool brief = proof.algorithm == Algorithm::kAuto;
  std::vector<bool> kept(model_.units.size());
  const auto keep = [&](const std::vector<std::size_t>& units) {
    kept.assign(kept.size(), false);
    for (const std::size_t u : units) kept[u] = true;
  };
  keep(proof.units);
  for (run = std::max(run, least);; run /= 2) {
    for (std::size_t at = 0; at < tries.size() && proof.units.size() > 1;) {
      if (budget_.TimeIsUp() || left < 0) return false;
      const std::size_t end = std::min(at + run, tries.size());
      for (std::size_t k = at; k < end; ++k) kept[tries[k]] = false;
      std::vector<std::size_t> rest;
      std::copy_if(proof.units.begin(), proof.units.end(), std::back_inserter(rest),
                   [&](std::size_t u) { return kept[u]; });
      const std::int64_t limit =
          brief ? kReduceNodes : kReduceTimes * proof.nodes + kReduceNodes / 10;
      const Asker::Answer answer = rest.empty()
                                       ? Asker::Answer{}
                                       : asker_.Ask(asker_.TableOf(memory, rest, assignment),
                                                    {proof.algorithm, limit}, nullptr);
      left -= answer.nodes * (brief ? 1 : kGuidedWeight);
      if (answer.fit != Fit::kNo) {
        keep(proof.units);
        at = end;
        continue;
      }
      proof.units = Named(answer, rest);
      proof.nodes = answer.nodes;
      keep(proof.units);
      // The proof may do without some of those that were tried in vain, too.
      const auto gone = [&](std::size_t u) { return !kept[u]; };
      const auto here = tries.begin() + static_cast<std::ptrdiff_t>(at);
      at -= static_cast<std::size_t>(std::count_if(tries.begin(), here, gone));
      std::erase_if(tries, gone);
    }
    if (run <= least) return true;
  }
}

// Whether the latest placement of this memory has all of these units, as they are to be.
bool Planner::Known(std::size_t memory, const std::vector<std::size_t>& units,
                    const Assignment& assignment, Placed& plan) const {
  const Placed& known = placed_[memory];
  for (const std::size_t u : units) {
    if (known.assignment[u] != assignment[u]) return false;
  }
  for (const std::size_t u : units) plan.offsets[u] = known.offsets[u];
  return true;
}

// Excludes units of a memory that cannot be placed or, without a proof, postpones them.
void Planner::Exclude(std::size_t memory, const Assignment& assignment, Wide left, bool proved,
                      Proof& proof) {
  // Even where all are proved not to fit, a conflict in a few sections is easier to reduce.
  const std::size_t windows = proof.holds ? 0 : proved ? kMostOpenWindows : kFewOpenWindows;
  if (auto found = FindConflict(memory, proof.units, assignment, windows)) {
    proof = std::move(*found);
  }
  if (proof.holds) Reduce(memory, assignment, proved, proof);
  Conflict excluded;
  for (const std::size_t u : proof.units) {
    excluded.emplace_back(u, static_cast<std::size_t>(assignment[u]));
  }
  if (proof.holds) {
    assigner_.Exclude(std::move(excluded));
  } else {
    assigner_.Postpone(std::move(excluded), left);
  }
}

// Whether a plan can be better than the best one that has one of these units less.
bool Planner::IsBetterWithoutOne(const Assignment& assignment,
                                 const std::vector<std::size_t>& units) const {
  Assignment without = assignment;
  return std::any_of(units.begin(), units.end(), [&](std::size_t u) {
    without[u] = assigner_.BaseOf(u);
    const bool better = assigner_.Score(without) < best_score_;
    without[u] = assignment[u];
    return better;
  });
}

// A memory's units of a choice that is proved best, after a first look: with more nodes, as that is
// worth to know. True: they can be placed, which is remembered.
bool Planner::PlaceAtLast(std::size_t memory, const Assignment& assignment, Proof& proof) {
  const std::vector<std::size_t> units = UnitsIn(model_, memory, assignment);
  std::vector<Bytes> offsets;
  const Asker::Answer answer =
      asker_.Ask(asker_.TableOf(memory, units, assignment),
                 {Algorithm::kGuided, kProvedTimes * GuidedNodes(units.size())}, &offsets);
  if (answer.fit == Fit::kNo) {
    proof = {Named(answer, units), Algorithm::kGuided, answer.nodes, true, true};
  }
  if (answer.fit != Fit::kYes) return false;
  placed_[memory] = {assignment, std::vector<Bytes>(assignment.size(), 0)};
  for (std::size_t k = 0; k < units.size(); ++k) placed_[memory].offsets[units[k]] = offsets[k];
  return true;
}

// Places a choice. Where a memory does not fit, its conflict is excluded, and as many units as can be
// are placed. `left`: no better score is known to be impossible.
void Planner::Try(const Assignment& wanted, Wide left, bool proved) {
  Placed plan{wanted, std::vector<Bytes>(wanted.size(), 0)};
  std::vector<Open> open;
  const bool better = PlaceEach(plan, left, proved, open);
  if (better) Offer(plan);
  whole_ = better && plan.assignment == wanted;
  // A good plan first: the questions that follow take long.
  if (proved && !open.empty()) ImproveBest();
  bool again = false;
  for (Open& each : open) {
    if (budget_.TimeIsUp()) return;
    if (proved && !each.proof.asked_at_last &&
        PlaceAtLast(each.memory, each.assignment, each.proof)) {
      again = true;
    } else {
      Exclude(each.memory, each.assignment, left, proved, each.proof);
    }
  }
  if (again) Try(wanted, left, false);
}

// One memory after another. False: the plan is no better than the best one. `open`: memories of which
// it is not known whether they fit, and what of them is to be excluded.
bool Planner::PlaceEach(Placed& plan, Wide left, bool proved, std::vector<Open>& open) {
  for (std::size_t m = 0; m < model_.tables.size(); ++m) {
    const std::vector<std::size_t> units = UnitsIn(model_, m, plan.assignment);
    if (units.empty() || Known(m, units, plan.assignment, plan)) continue;
    std::vector<Bytes> offsets;
    Proof proof;
    if (PlaceUnits(m, units, plan.assignment, proved, offsets, proof) == Fit::kYes) {
      for (std::size_t k = 0; k < units.size(); ++k) plan.offsets[units[k]] = offsets[k];
      placed_[m] = plan;
      continue;
    }
    if (budget_.TimeIsUp()) return false;
    const Assignment before = plan.assignment;
    if (proof.holds) Exclude(m, before, left, proved, proof);
    const bool hopes =
        IsBetterWithoutOne(before, proof.units) && (!proof.holds || ++excluded_since_ >= vain_);
    std::vector<std::size_t> conflict =
        hopes ? asker_.PlaceMost(assigner_, m, units, kMostLooks, best_score_, kMaxBytes, plan)
              : units;
    if (hopes) {
      const bool vain = assigner_.Score(plan.assignment) >= best_score_;
      vain_ = vain ? std::min(2 * vain_ + 1, kMostVain) : 0;
      excluded_since_ = 0;
    }
    if (!proof.holds && !conflict.empty()) {
      proof.units = std::move(conflict);
      open.push_back({m, before, std::move(proof)});
    }
    if (!hopes || budget_.TimeIsUp() || assigner_.Score(plan.assignment) >= best_score_) {
      return false;
    }
    placed_[m] = plan;
    // Memories that are done already are asked again if they get more units.
    const bool elsewhere = std::any_of(units.begin(), units.end(), [&](std::size_t u) {
      return plan.assignment[u] != before[u] && plan.assignment[u] != kOut;
    });
    if (elsewhere) m = static_cast<std::size_t>(-1);
  }
  return true;
}

// The best choice that is better than the best plan. Goes on with the search for it as long as nothing
// more is excluded.
Chosen Planner::ChooseFor(std::int64_t effort, std::size_t width) {
  if (!choosing_ || chosen_for_ != assigner_.changes()) {
    choosing_.reset();  // It refers to what Build() changes.
    chosen_for_ = assigner_.changes();
    choosing_ = std::make_unique<ChoiceSearch>(assigner_.Build(options_.dominance), true, wary_);
  }
  ChooseLimits limits;
  limits.covers = options_.covers;
  limits.width = width;
  Budget part(budget_, 1.0);
  part.SetNodeLimit(std::min(effort, part.node_limit()));
  return choosing_->Run(assigner_.ProfitOf(best_score_), limits, part);
}

// One choice, and its placement. False: nothing is left to find out, or to be found in this way.
bool Planner::Round(std::int64_t effort, std::size_t width) {
  whole_ = false;
  const Chosen chosen = ChooseFor(effort, width);
  const Wide bound = assigner_.ScoreOfBound(chosen.bound);
  RaiseBound(bound);
  stopped_ = chosen.stopped;
  if (bound_ >= best_score_) return false;
  if (!chosen.choice && !chosen.stopped) {
    // Nothing is left but what was postponed.
    if (patience_ >= kMostPatience) return false;
    patience_ *= kMorePatience;
    assigner_.Reopen();
    return true;
  }
  if (!chosen.choice) return true;
  Try(assigner_.FromChoice(*chosen.choice), bound, !chosen.stopped);
  return true;
}

// The best plan, one unit at a time; not the same plan twice.
void Planner::ImproveBest() {
  if (improved_ && best_score_ >= *improved_) return;
  if (IsNear()) return;  // Choices are better.
  Budget part(budget_, kShareOfImprove);
  Offer(Improve(problem_, options_.place, model_, *best_, part));
  improved_ = best_score_;
}

// Many small units, such as constants that are live throughout, multiply the states of a sweep, although
// it hardly matters where they are. Without them the choice is soon proved. Its bound holds for all, and
// with them the plan costs little more.
void Planner::SearchWithoutSmall() {
  const Wide cost = Wide(assigner_.CostOfScore(best_score_).cost);
  const std::size_t count = assigner_.SetAside(cost / Wide(kSmallPart));
  const bool many = count * kManySmall >= model_.units.size();
  if (many && best_score_ - bound_ > assigner_.spread_of_aside() * Wide(kFarAway)) {
    choosing_.reset();  // It refers to what Build() changes.
    ChooseLimits limits;
    limits.covers = options_.covers;
    limits.width = static_cast<std::size_t>(options_.width);
    for (int choice = 0; choice < kLargeChoices && !budget_.Exhausted(); ++choice) {
      const Selection& large = assigner_.Build(options_.dominance);
      Budget part(budget_, kShareOfLarge);
      part.SetNodeLimit(std::min(kLargeEffort, part.node_limit() / kPartOfNodes));
      const std::int64_t floor = assigner_.ProfitOf(best_score_);
      const Chosen chosen = Choose(large, std::max<std::int64_t>(floor, -1), limits, part);
      RaiseBound(assigner_.ScoreOfBound(chosen.bound));
      if (!chosen.choice || bound_ >= best_score_) break;
      const Wide before = best_score_;
      Try(assigner_.WithAside(assigner_.FromChoice(*chosen.choice)), bound_, false);
      if (chosen.stopped || best_score_ >= before || bound_ >= best_score_) break;
    }
  }
  assigner_.TakeBack();
}

void Planner::Search() {
  const bool unlimited = !budget_.has_time_limit() && !budget_.has_node_limit();
  const std::int64_t begin = budget_.nodes_spent();
  const auto spent = [&] { return budget_.nodes_spent() - begin; };
  if (stopped_) {
    SearchWithoutSmall();
    if (bound_ >= best_score_ || budget_.Exhausted()) return;
  }
  for (std::int64_t effort = kFirstEffort;;) {
    const Wide before = best_score_;
    const bool goes_on = Round(effort, static_cast<std::size_t>(options_.width));
    if (!goes_on || budget_.Exhausted()) return;
    if (unlimited && spent() >= kDefaultEffort) return;
    // The same effort again as long as its choices are better plans as they are. To place the others
    // takes longer than to choose better ones.
    if (stopped_ && (!whole_ || best_score_ >= before)) {
      // What is wanted now are better plans as well as better bounds.
      ImproveBest();
      effort = std::min(effort * kWider, kMaxBytes);
      assigner_.Reopen();  // What is known of it holds the bound down.
      if (unlimited) effort = std::min(effort, kDefaultEffort - spent());
    }
  }
}

void Planner::Run() {
  const Placed nothing{Assignment(model_.units.size(), kOut),
                       std::vector<Bytes>(model_.units.size(), 0)};
  placed_.assign(model_.tables.size(), nothing);
  Offer(nothing);
  if (budget_.cancelled()) return;
  // Sections one by one: not much, but at once.
  bound_ = Layout(problem_, model_).SumBound();
  FitGreedily();
  // The bases alone: in memories without a capacity there is room for everything.
  Assignment bases = nothing.assignment;
  for (std::size_t u = 0; u < bases.size(); ++u) bases[u] = assigner_.BaseOf(u);
  if (assigner_.Score(bases) < best_score_) Try(bases, Wide(0), true);
  // The first choice, from a narrow sweep.
  if (budget_.Exhausted() || !Round(kFirstEffort, kEarlyWidth)) return;
  Search();
}

void Planner::Finish(PlanAnswer& answer) const {
  const bool proved = bound_ >= best_score_;
  std::vector<Spot> spots(model_.units.size());
  for (std::size_t u = 0; u < spots.size(); ++u) {
    if (best_->assignment[u] == kOut) continue;
    const Mode& mode = model_.units[u].modes[static_cast<std::size_t>(best_->assignment[u])];
    spots[u] = {static_cast<int>(mode.memory), best_->offsets[u]};
  }
  MemoryPlan plan = PlanOf(problem_, model_, spots);
  answer.cost_bound = assigner_.CostOfScore(std::min(bound_, best_score_));
  // By luck a unit may lie where it costs less than its mode says.
  const bool best = proved || std::pair(plan.cost.unplaced, plan.cost.cost) <=
                                  std::pair(answer.cost_bound.unplaced, answer.cost_bound.cost);
  Conclude(std::move(plan), best,
           budget_.has_time_limit() || budget_.has_node_limit() || budget_.cancelled(), answer);
}

}  // namespace
}  // namespace internal::memories

Result<PlanAnswer> PlaceInMemories(const MemoryProblem& problem, const MemoriesOptions& options,
                                   Budget& budget) {
  namespace room = internal::memories;
  const auto begin = Budget::Clock::now();
  // Says what is wrong with the options, whether or not there will be anything to place.
  Budget none;
  PlaceOptions silent = options.place;
  silent.progress = nullptr;
  static_cast<void>(BERTH_TRY(Place(Problem(), silent, none)));
  if (options.width < 1 || options.width > (1 << 20)) {
    return Fail(ErrorCode::kInvalidOptions,
                "width is " + std::to_string(options.width) + " but must be from 1 to 1048576");
  }
  const room::Model model = BERTH_TRY(room::Compile(problem));
  const std::int64_t nodes_before = budget.nodes_spent();
  room::Planner planner(problem, options, model, budget);
  planner.Run();
  PlanAnswer answer;
  planner.Finish(answer);
  room::StateSearch("memories", budget.nodes_spent() - nodes_before, begin, answer);
  return answer;
}

}  // namespace berth
