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
#include <string>
#include <utility>

#include "base/check.h"
#include "base/try.h"
#include "memories/answer.h"
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
constexpr std::int64_t kReduceNodes = 3'000;
// Of a choice that is proved best, which it is worth to know more of.
constexpr std::int64_t kProvedTimes = 8;
// Sections at a time that are searched for a conflict.
constexpr std::size_t kFirstWindow = 4;
constexpr std::size_t kLastWindow = 32;
constexpr int kMostRepairs = 2;
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
        assigner_(problem, model) {
    options_.place.progress = nullptr;
    options_.place.minimize = false;
    options_.place.minimize_if_infeasible = false;
    options_.place.algorithm = Algorithm::kAuto;
  }

  void Run();
  void Finish(PlanAnswer& answer) const;

 private:
  enum class Fit { kYes, kNo, kUnknown };

  void FitGreedily();
  void ChooseEarly();
  void ImproveBest();
  void Search();
  [[nodiscard]] bool Round(std::int64_t effort);
  void Try(const Assignment& wanted, Wide left, bool proved);
  [[nodiscard]] Problem TableOf(std::size_t memory, const std::vector<std::size_t>& units,
                                const Assignment& assignment) const;
  [[nodiscard]] Fit Ask(const Problem& table, Algorithm algorithm, std::int64_t nodes,
                        std::vector<Bytes>* offsets);
  [[nodiscard]] Fit PlaceUnits(std::size_t memory, const std::vector<std::size_t>& units,
                               const Assignment& assignment, bool proved,
                               std::vector<Bytes>& offsets);
  [[nodiscard]] std::optional<std::vector<std::size_t>> FindConflict(
      std::size_t memory, const std::vector<std::size_t>& units, const Assignment& assignment);
  [[nodiscard]] std::vector<std::size_t> Reduce(std::size_t memory, std::vector<std::size_t> units,
                                                const Assignment& assignment);
  [[nodiscard]] std::vector<std::size_t> UnitsIn(std::size_t memory,
                                                 const Assignment& assignment) const;
  void Offer(const Placed& plan);
  [[nodiscard]] bool Known(std::size_t memory, const std::vector<std::size_t>& units,
                           const Assignment& assignment, Placed& plan) const;

  const MemoryProblem& problem_;
  MemoriesOptions options_;
  const Model& model_;
  Budget& budget_;
  Assigner assigner_;
  std::optional<Placed> best_;
  Wide best_score_ = 0;
  std::vector<Placed> placed_;  // By memory: the latest that could be placed.
  Wide bound_ = 0;              // No plan has a lower score.
  bool stopped_ = false;
  std::optional<Wide> improved_;  // The score of the plan that Improve() has seen.
  std::int64_t patience_ = 1;     // Times the nodes for a question to Place().
};

void Planner::Offer(const Placed& plan) {
  const Wide score = assigner_.Score(plan.assignment);
  if (best_ && score >= best_score_) return;
  best_ = plan;
  best_score_ = score;
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

std::vector<std::size_t> Planner::UnitsIn(std::size_t memory, const Assignment& assignment) const {
  std::vector<std::size_t> units;
  for (std::size_t u = 0; u < assignment.size(); ++u) {
    if (assignment[u] == kOut) continue;
    const auto k = static_cast<std::size_t>(assignment[u]);
    if (model_.units[u].modes[k].memory == memory) units.push_back(u);
  }
  return units;
}

// The units first, in order; then the reserved ranges.
Problem Planner::TableOf(std::size_t memory, const std::vector<std::size_t>& units,
                         const Assignment& assignment) const {
  const std::vector<Buffer>& all = model_.tables[memory].problem.buffers;
  Problem table;
  table.capacity = problem_.memories[memory].capacity;
  for (const std::size_t u : units) {
    Buffer& buffer = table.buffers.emplace_back(all[u]);
    const Mode& mode = model_.units[u].modes[static_cast<std::size_t>(assignment[u])];
    if (mode.pin) buffer.offset = mode.pin;
    if (!problem_.placing.empty()) {
      const std::size_t b = model_.units[u].buffers.front();
      const std::optional<Previous>& previous = problem_.placing[b].previous;
      if (previous && previous->memory == memory) {
        const Bytes hint = previous->offset - model_.tables[memory].places[b].distance;
        if (hint >= 0 && hint <= kMaxBytes) buffer.hint = hint;
      }
    }
  }
  table.buffers.insert(table.buffers.end(),
                       all.begin() + static_cast<std::ptrdiff_t>(model_.units.size()), all.end());
  return table;
}

Planner::Fit Planner::Ask(const Problem& table, Algorithm algorithm, std::int64_t nodes,
                          std::vector<Bytes>* offsets) {
  Budget part(budget_, 1.0);
  part.SetNodeLimit(std::min(nodes, part.node_limit()));
  options_.place.algorithm = algorithm;
  const Result<PlanAnswer> answer = Place(table, options_.place, part);
  BERTH_CHECK(answer.has_value());
  if (answer->outcome == Outcome::kInfeasible) return Fit::kNo;
  const bool fits = answer->fits() || (answer->best && !table.capacity);
  if (!fits) return Fit::kUnknown;
  if (offsets != nullptr) *offsets = PlacementOf(*answer->best).offsets;
  return Fit::kYes;
}

Planner::Fit Planner::PlaceUnits(std::size_t memory, const std::vector<std::size_t>& units,
                                 const Assignment& assignment, bool proved,
                                 std::vector<Bytes>& offsets) {
  const Problem table = TableOf(memory, units, assignment);
  Fit fit = Ask(table, Algorithm::kAuto, kAutoNodes, &offsets);
  const std::int64_t nodes = patience_ * kGuidedNodes;
  if (fit == Fit::kUnknown) fit = Ask(table, Algorithm::kGuided, nodes, &offsets);
  if (fit == Fit::kUnknown && proved) {
    fit = Ask(table, Algorithm::kGuided, kProvedTimes * nodes, &offsets);
  }
  return fit;
}

// The units of a few sections in a row that cannot be placed, where no answer for all was found.
std::optional<std::vector<std::size_t>> Planner::FindConflict(std::size_t memory,
                                                              const std::vector<std::size_t>& units,
                                                              const Assignment& assignment) {
  const Problem table = TableOf(memory, units, assignment);
  const std::vector<Section> sections = Sections(table);
  for (std::size_t width = kFirstWindow; width <= kLastWindow; width *= 2) {
    for (std::size_t from = 0; from < sections.size(); from += width / 2) {
      const Step start = sections[from].start;
      const Step end = sections[std::min(from + width, sections.size()) - 1].end;
      std::vector<std::size_t> part;
      for (std::size_t k = 0; k < units.size(); ++k) {
        if (table.buffers[k].start < end && start < table.buffers[k].end) part.push_back(units[k]);
      }
      if (budget_.TimeIsUp()) return std::nullopt;
      if (part.size() < 2) continue;
      if (Ask(TableOf(memory, part, assignment), Algorithm::kAuto, kReduceNodes, nullptr) ==
          Fit::kNo) {
        return part;
      }
    }
  }
  return std::nullopt;
}

// Leaves units out, in runs of halving length, as long as it is proved that the others cannot be
// placed.
std::vector<std::size_t> Planner::Reduce(std::size_t memory, std::vector<std::size_t> units,
                                         const Assignment& assignment) {
  if (!options_.conflicts) return units;
  for (std::size_t run = std::max<std::size_t>(units.size() / 2, 1);; run /= 2) {
    for (std::size_t at = 0; at < units.size() && units.size() > 1;) {
      const std::size_t end = std::min(at + run, units.size());
      std::vector<std::size_t> rest(units.begin(), units.begin() + static_cast<std::ptrdiff_t>(at));
      rest.insert(rest.end(), units.begin() + static_cast<std::ptrdiff_t>(end), units.end());
      if (budget_.TimeIsUp()) return units;
      const bool no = !rest.empty() && Ask(TableOf(memory, rest, assignment), Algorithm::kAuto,
                                           kReduceNodes, nullptr) == Fit::kNo;
      if (no) {
        units = std::move(rest);
      } else {
        at = end;
      }
    }
    if (run == 1) return units;
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

// Places a choice. Where a memory does not fit, its conflict is excluded, the unit of it that is worth
// the least is taken out for now, and the rest is tried. `left`: no better score is known to be
// impossible.
void Planner::Try(const Assignment& wanted, Wide left, bool proved) {
  Placed plan{wanted, std::vector<Bytes>(wanted.size(), 0)};
  int repairs = 0;
  for (std::size_t m = 0; m < model_.tables.size(); ++m) {
    for (;;) {
      const std::vector<std::size_t> units = UnitsIn(m, plan.assignment);
      if (units.empty() || Known(m, units, plan.assignment, plan)) break;
      std::vector<Bytes> offsets;
      Fit fit = PlaceUnits(m, units, plan.assignment, proved && repairs == 0, offsets);
      if (fit == Fit::kYes) {
        for (std::size_t k = 0; k < units.size(); ++k) plan.offsets[units[k]] = offsets[k];
        placed_[m] = plan;
        break;
      }
      std::vector<std::size_t> conflict = units;
      if (fit == Fit::kUnknown) {
        if (auto found = FindConflict(m, units, plan.assignment)) {
          conflict = std::move(*found);
          fit = Fit::kNo;
        }
      }
      if (fit == Fit::kNo) conflict = Reduce(m, std::move(conflict), plan.assignment);
      Conflict excluded;
      for (const std::size_t u : conflict) {
        excluded.emplace_back(u, static_cast<std::size_t>(plan.assignment[u]));
      }
      if (fit == Fit::kNo) {
        assigner_.Exclude(std::move(excluded));
      } else {
        assigner_.Postpone(std::move(excluded), left);
      }
      if (++repairs > kMostRepairs || budget_.TimeIsUp()) return;
      // The one whose base costs the least more.
      const auto loss = [&](std::size_t u) {
        Assignment without = plan.assignment;
        without[u] = assigner_.BaseOf(u);
        return assigner_.Score(without);
      };
      std::size_t out = conflict.front();
      for (const std::size_t u : conflict) {
        if (loss(u) < loss(out)) out = u;
      }
      plan.assignment[out] = assigner_.BaseOf(out);
      // A memory that is done already is asked again if it gets the unit.
      if (plan.assignment[out] != kOut) m = static_cast<std::size_t>(-1);
      if (m == static_cast<std::size_t>(-1)) break;
      if (best_ && assigner_.Score(plan.assignment) >= best_score_) return;
    }
  }
  Offer(plan);
}

// One choice, and its placement. False: nothing is left to find out, or to be found in this way.
bool Planner::Round(std::int64_t effort) {
  const Selection& selection = assigner_.Build(options_.dominance);
  ChooseLimits limits;
  limits.covers = options_.covers;
  limits.width = static_cast<std::size_t>(options_.width);
  const std::int64_t floor = assigner_.ProfitOf(best_score_);
  Budget part(budget_, 1.0);
  part.SetNodeLimit(std::min(effort, part.node_limit()));
  const Chosen chosen = Choose(selection, floor, limits, part);
  const Wide bound = assigner_.ScoreOfBound(chosen.bound);
  bound_ = std::max(bound_, assigner_.left() ? std::min(bound, *assigner_.left()) : bound);
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

// The first choice, from a narrow sweep. Where it cannot be placed at once, choices that leave some bytes
// free are tried, and made better one unit at a time.
void Planner::ChooseEarly() {
  if (budget_.Exhausted()) return;
  const std::optional<Choice> choice = [&] {
    const Selection& selection = assigner_.Build(options_.dominance);
    ChooseLimits limits;
    limits.covers = options_.covers;
    limits.width = kEarlyWidth;
    Budget part(budget_, 1.0);
    part.SetNodeLimit(std::min(kFirstEffort, part.node_limit()));
    return Choose(selection, assigner_.ProfitOf(best_score_), limits, part).choice;
  }();
  if (!choice) return;
  Placed plan{assigner_.FromChoice(*choice), std::vector<Bytes>(model_.units.size(), 0)};
  for (std::size_t m = 0; m < model_.tables.size(); ++m) {
    const std::vector<std::size_t> units = UnitsIn(m, plan.assignment);
    if (units.empty()) continue;
    std::vector<Bytes> offsets;
    if (PlaceUnits(m, units, plan.assignment, false, offsets) != Fit::kYes) {
      ImproveBest();
      return;
    }
    for (std::size_t k = 0; k < units.size(); ++k) plan.offsets[units[k]] = offsets[k];
  }
  Offer(plan);
}

// The best plan, one unit at a time; not the same plan twice.
void Planner::ImproveBest() {
  if (improved_ && best_score_ >= *improved_) return;
  Offer(Improve(problem_, options_.place, model_, *best_, budget_));
  improved_ = best_score_;
}

void Planner::Search() {
  const bool unlimited = !budget_.has_time_limit() && !budget_.has_node_limit();
  const std::int64_t begin = budget_.nodes_spent();
  const auto spent = [&] { return budget_.nodes_spent() - begin; };
  for (std::int64_t effort = kFirstEffort;;) {
    const Wide before = best_score_;
    const bool goes_on = Round(effort);
    if (!goes_on || budget_.Exhausted()) return;
    if (unlimited && spent() >= kDefaultEffort) return;
    // The same effort again as long as it finds better plans, or conflicts.
    if (stopped_ && best_score_ >= before) {
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
  ChooseEarly();
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
  static_cast<void>(BERTH_TRY(Place(Problem(), options.place, none)));
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
