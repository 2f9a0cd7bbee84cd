#include "spill/conflicts.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "base/arithmetic.h"
#include "base/try.h"
#include "berth/prove.h"
#include "graph/plan.h"
#include "memories/gap_selection.h"

namespace berth::internal::spill {
namespace {

// What is live beside the residency that exceeds the memory most may be in conflict by itself, or with what
// is live beside that, and so on: so many times. Each such look has this part of the nodes of a proof.
constexpr int kLooks = 4;
constexpr std::int64_t kPartOfLook = 2;
// To leave out what a proof does not need takes this part of its nodes; each look has some nodes
// at least.
constexpr std::int64_t kPartOfShrinking = 2;
constexpr std::int64_t kNodesOfShortProof = 500;
// Without a limit: nodes of so many accesses take so many times as long.
constexpr std::size_t kManyAccesses = 4096;
// After a guess, placements and proofs get so many times the nodes.
constexpr std::int64_t kMoreNodes = 4;
constexpr std::int64_t kMostFactor = std::int64_t{1} << 20;

// The accesses before and after it are at the steps `from` and `to`.
struct Gap {
  std::size_t storage = 0;
  std::size_t access = 0;
  Step from = 0;
  Step to = 0;
};

using Gaps = std::vector<std::size_t>;  // By index, increasing.

struct Conflict {
  Gaps gaps;  // Not all of them stay. At least one.
  bool proved = false;
};

// The gaps of one order, and the cheapest choices of those that stay.
class Master {
 public:
  Master(Layout layout, Bytes capacity, std::size_t most_bytes)
      : layout_(std::move(layout)), capacity_(capacity), most_bytes_(most_bytes) {
    Bytes divisor = 0;
    for (const Stays& stays : layout_.storages) divisor = std::gcd(divisor, stays.size);
    divisor_ = std::max<Bytes>(divisor, 1);
    ListGaps();
    FindFullSteps();
  }

  [[nodiscard]] std::size_t num_gaps() const { return gaps_.size(); }
  // As chosen last.
  [[nodiscard]] const Layout& layout() const { return layout_; }
  [[nodiscard]] Bytes traffic() const { return AvoidableTraffic(layout_); }
  [[nodiscard]] bool proves() const {
    return std::all_of(conflicts_.begin(), conflicts_.end(),
                       [](const Conflict& conflict) { return conflict.proved; });
  }
  void Add(Conflict conflict) { conflicts_.push_back(std::move(conflict)); }
  void ForgetGuesses() {
    std::erase_if(conflicts_, [](const Conflict& conflict) { return !conflict.proved; });
  }

  // Makes the cheapest choice that is not in conflict, and returns a bound on its traffic, at most one more
  // than `most`; nothing: there are too many gaps. The choice may have more traffic than the bound, and if
  // `budget` ended, may not fit.
  std::optional<Bytes> Choose(Bytes most, Budget& budget);

  // The gaps in a residency of storage `s`.
  void AddGapsIn(const Residency& residency, Gaps& gaps) const;
  // `gaps` stay, and nothing else; only the accesses during these.
  [[nodiscard]] Layout Alone(const Gaps& gaps) const;
  // Bytes times steps.
  [[nodiscard]] double AreaOf(std::size_t g) const {
    return static_cast<double>(layout_.storages[gaps_[g].storage].size) *
           static_cast<double>(gaps_[g].to - gaps_[g].from);
  }

 private:
  // The gaps of one value of a storage: once any of them is dropped it is written out, which costs its
  // size.
  using Value = Gaps;

  void ListGaps();
  void FindFullSteps();
  void SetKept(const std::vector<char>& kept);
  // Whether it is there in a full step.
  [[nodiscard]] bool MayHaveToLeave(const Gap& gap) const {
    return full_[static_cast<std::size_t>(gap.to)] > full_[static_cast<std::size_t>(gap.from) + 1];
  }
  [[nodiscard]] Bytes SizeOf(std::size_t g) const {
    return layout_.storages[gaps_[g].storage].size;
  }
  // What Choose() is about. Gaps that are dropped in any case, and their costs, are not in it.
  struct Question {
    std::vector<char> open;     // By gap: it can stay or leave.
    std::vector<char> dropped;  // By gap.
    Bytes sunk = 0;
  };
  [[nodiscard]] Question Ask() const;
  // Twice the step, for full steps, and one more for the time between a step and the next one, where an
  // open gap is in no full step.
  [[nodiscard]] std::vector<Step> SectionsOf(const Question& question) const;
  [[nodiscard]] memories::GapSelection SelectionOf(Question& question) const;

  Layout layout_;
  Bytes capacity_;
  std::size_t most_bytes_;
  Bytes divisor_ = 1;  // Of all sizes, so of all traffic.
  std::vector<Gap> gaps_;
  std::vector<std::size_t> first_gap_;   // By storage, and one past the last.
  std::vector<std::size_t> storage_of_;  // By tensor.
  std::vector<Value> values_;            // Those that cost anything.
  std::vector<Bytes> needs_;             // By step, if nothing stays.
  // Steps before each step in which not everything can stay, by bytes.
  std::vector<std::size_t> full_;
  std::vector<Conflict> conflicts_;
};

void Master::ListGaps() {
  first_gap_.reserve(layout_.storages.size() + 1);
  for (std::size_t s = 0; s < layout_.storages.size(); ++s) {
    const Stays& stays = layout_.storages[s];
    if (stays.tensor >= storage_of_.size()) storage_of_.resize(stays.tensor + 1, 0);
    storage_of_[stays.tensor] = s;
    first_gap_.push_back(gaps_.size());
    std::size_t last_write = 0;  // One past the last access that writes.
    for (std::size_t i = 0; i < stays.accesses.size(); ++i) {
      if (stays.accesses[i].writes) last_write = i + 1;
    }
    Value value;
    bool copied = stays.given;  // Its copy costs nothing more.
    const auto end_value = [&] {
      if (!value.empty() && !copied) values_.push_back(value);
      value.clear();
    };
    for (std::size_t i = 0; i + 1 < stays.accesses.size(); ++i) {
      if (stays.accesses[i].writes) {
        end_value();
        copied = stays.result && i + 1 >= last_write;
      }
      value.push_back(gaps_.size());
      gaps_.push_back({s, i, stays.accesses[i].step, stays.accesses[i + 1].step});
    }
    end_value();
  }
  first_gap_.push_back(gaps_.size());
}

void Master::FindFullSteps() {
  SetKept(std::vector<char>(gaps_.size(), 0));
  needs_ = LoadOf(layout_);
  SetKept(std::vector<char>(gaps_.size(), 1));
  const std::vector<Bytes> load = LoadOf(layout_);
  full_.assign(load.size() + 1, 0);
  for (std::size_t i = 0; i < load.size(); ++i) {
    full_[i + 1] = full_[i] + (load[i] > capacity_ ? 1 : 0);
  }
}

void Master::SetKept(const std::vector<char>& kept) {
  for (Stays& stays : layout_.storages) std::fill(stays.kept.begin(), stays.kept.end(), 0);
  for (std::size_t g = 0; g < gaps_.size(); ++g) {
    layout_.storages[gaps_[g].storage].kept[gaps_[g].access] = kept[g];
  }
}

std::optional<Bytes> Master::Choose(Bytes most, Budget& budget) {
  Question question = Ask();
  const memories::GapSelection selection = SelectionOf(question);
  if (selection.IsTooLarge()) return std::nullopt;
  std::vector<char> kept(gaps_.size(), 1);
  Bytes bound = question.sunk;
  if (question.sunk <= most && !selection.empty()) {
    memories::ChooseLimits limits;
    limits.most_bytes = most_bytes_;
    const auto chosen = selection.Choose(limits, most - question.sunk + 1, budget);
    bound += chosen.bound;
    // Without a choice everything leaves.
    kept = chosen.kept ? *chosen.kept : std::vector<char>(gaps_.size(), 0);
  }
  for (std::size_t g = 0; g < gaps_.size(); ++g) {
    if (question.dropped[g] != 0) kept[g] = 0;
  }
  SetKept(kept);
  return std::min(RoundUp(bound, divisor_), most + 1);
}

Master::Question Master::Ask() const {
  Question question;
  question.open.assign(gaps_.size(), 0);
  question.dropped.assign(gaps_.size(), 0);
  for (std::size_t g = 0; g < gaps_.size(); ++g) {
    question.open[g] = MayHaveToLeave(gaps_[g]) ? 1 : 0;
  }
  for (const Conflict& conflict : conflicts_) {
    for (const std::size_t g : conflict.gaps) question.open[g] = 1;
    if (conflict.gaps.size() == 1) question.dropped[conflict.gaps.front()] = 1;
  }
  for (std::size_t g = 0; g < gaps_.size(); ++g) {
    if (question.dropped[g] != 0) question.open[g] = 0;
  }
  return question;
}

std::vector<Step> Master::SectionsOf(const Question& question) const {
  std::vector<Step> sections;
  for (std::size_t i = 0; i + 1 < full_.size(); ++i) {
    if (full_[i + 1] > full_[i]) sections.push_back(2 * static_cast<Step>(i));
  }
  for (std::size_t g = 0; g < gaps_.size(); ++g) {
    if (question.open[g] != 0 && !MayHaveToLeave(gaps_[g])) {
      sections.push_back(2 * gaps_[g].from + 1);
    }
  }
  std::sort(sections.begin(), sections.end());
  sections.erase(std::unique(sections.begin(), sections.end()), sections.end());
  return sections;
}

memories::GapSelection Master::SelectionOf(Question& question) const {
  const std::vector<Step> sections = SectionsOf(question);
  std::vector<Bytes> room;
  room.reserve(sections.size());
  for (const Step at : sections) {
    const Bytes needs = at % 2 == 0 ? needs_[static_cast<std::size_t>(at / 2)] : 0;
    room.push_back(std::max<Bytes>(capacity_ - needs, 0));
  }
  const auto section = [&](Step at) {
    return static_cast<std::size_t>(std::lower_bound(sections.begin(), sections.end(), at) -
                                    sections.begin());
  };
  std::vector<memories::PricedGap> priced(gaps_.size());
  for (std::size_t g = 0; g < gaps_.size(); ++g) {
    if (question.dropped[g] != 0) question.sunk += SizeOf(g);
    if (question.open[g] == 0) continue;
    priced[g] = {section(2 * gaps_[g].from + 1), section(2 * gaps_[g].to), SizeOf(g), SizeOf(g)};
  }
  const auto is_dropped = [&](std::size_t g) { return question.dropped[g] != 0; };
  std::vector<memories::SharedPrice> shared;
  for (const Value& value : values_) {
    const Bytes size = SizeOf(value.front());
    if (std::any_of(value.begin(), value.end(), is_dropped)) {
      question.sunk += size;
    } else if (value.size() == 1) {
      priced[value.front()].price += size;
    } else if (size > 0) {
      shared.push_back({value, size});
    }
  }
  memories::GapSelection selection(std::move(priced), shared, std::move(room), /*tight=*/false);
  for (const Conflict& conflict : conflicts_) {
    if (std::none_of(conflict.gaps.begin(), conflict.gaps.end(), is_dropped)) {
      selection.Forbid(conflict.gaps);
    }
  }
  return selection;
}

void Master::AddGapsIn(const Residency& residency, Gaps& gaps) const {
  const std::size_t s = storage_of_[residency.tensor];
  for (std::size_t g = first_gap_[s]; g < first_gap_[s + 1]; ++g) {
    if (gaps_[g].from >= residency.start && gaps_[g].to < residency.end) gaps.push_back(g);
  }
}

Layout Master::Alone(const Gaps& gaps) const {
  Step begin = layout_.steps();
  Step end = 0;
  for (const std::size_t g : gaps) {
    begin = std::min(begin, gaps_[g].from);
    end = std::max(end, gaps_[g].to);
  }
  Layout alone;
  alone.order = layout_.order;
  for (std::size_t s = 0; s < layout_.storages.size(); ++s) {
    const Stays& stays = layout_.storages[s];
    Stays part = stays;
    part.accesses.clear();
    part.kept.clear();
    auto next = std::lower_bound(gaps.begin(), gaps.end(), first_gap_[s]);
    for (std::size_t i = 0; i < stays.accesses.size(); ++i) {
      if (stays.accesses[i].step < begin || stays.accesses[i].step > end) continue;
      const bool kept = next != gaps.end() && *next < first_gap_[s + 1] && gaps_[*next].access == i;
      if (kept) ++next;
      part.accesses.push_back(stays.accesses[i]);
      part.kept.push_back(kept ? 1 : 0);
    }
    if (!part.accesses.empty()) alone.storages.push_back(std::move(part));
  }
  return alone;
}

class ConflictSearch {
 public:
  // `budget`: of all of it.
  ConflictSearch(const Graph& graph, Layout layout, const AddressOptions& options,
                 const ConflictOptions& limits, const Placer& placer, Budget& budget)
      : graph_(graph),
        options_(options),
        limits_(limits),
        placer_(placer),
        budget_(budget),
        master_(std::move(layout), options.capacity, options.most_bytes),
        most_(std::min(options.limit, kMaxBytes)) {}

  // False: something was left out, by the budget or other limits.
  Result<bool> Run() {
    if (master_.num_gaps() > limits_.max_gaps) return false;
    for (std::size_t round = 0; round < limits_.max_rounds; ++round) {
      if (most_ < options_.enough) return true;
      if (budget_.Exhausted()) return false;
      Budget part(budget_, 1);
      part.SetNodeLimit(std::min(limits_.nodes_of_choice * factor_, part.node_limit()));
      const std::optional<Bytes> bound = master_.Choose(most_, part);
      if (!bound) return false;
      if (master_.proves()) answer_.bound = std::max(answer_.bound, *bound);
      if (*bound > most_) {
        if (master_.proves()) return true;
        master_.ForgetGuesses();
      } else if (master_.traffic() > most_ || !BERTH_TRY(PlaceChoice())) {
        return false;  // The choice was cut short, or nothing can be placed.
      }
    }
    return false;
  }

  [[nodiscard]] AddressAnswer&& Take() { return std::move(answer_); }

 private:
  struct Refutation {
    std::optional<Gaps> conflict;
    std::vector<Bytes> offsets;  // Found instead.
    std::int64_t nodes = 0;
  };

  // Offsets for the choice, or a new conflict. False: though everything leaves, there are no offsets.
  Result<bool> PlaceChoice() {
    const MemoryPlan plan = PlanOf(master_.layout());
    Problem problem = ProblemOf(graph_, plan);
    problem.capacity = options_.capacity;
    const PlanAnswer placed = BERTH_TRY(Place(problem));
    if (Take(plan, placed)) return true;
    Window window = HighestOf(plan, placed);
    Gaps suspects = Widen(plan, window);
    const std::int64_t nodes = limits_.nodes_of_proof * factor_;
    Refutation refuted;
    Gaps looked_at = suspects;
    for (int look = 0; look < kLooks && !refuted.conflict; ++look) {
      refuted = RefuteAlone(looked_at, nodes / kPartOfLook);
      looked_at = Widen(plan, window);
    }
    if (!refuted.conflict) refuted = Refute(problem, plan, nodes);
    if (refuted.conflict) {
      Shrink(refuted);
      if (refuted.conflict->empty()) return false;
      master_.Add({std::move(*refuted.conflict), true});
      return true;
    }
    if (!refuted.offsets.empty()) {
      for (std::size_t i = 0; i < refuted.offsets.size(); ++i) {
        problem.buffers[i].hint = refuted.offsets[i];
      }
      const PlanAnswer again = BERTH_TRY(Place(problem));
      if (Take(plan, again)) return true;
    }
    if (suspects.empty()) return false;
    master_.Add({std::move(suspects), false});
    factor_ = std::min(kMoreNodes * factor_, kMostFactor);
    return true;
  }

  Result<PlanAnswer> Place(const Problem& problem) {
    Budget mine(budget_, 1);
    mine.SetNodeLimit(std::min(limits_.nodes_of_placement * factor_, mine.node_limit()));
    return placer_(problem, mine);
  }

  // Whether it fits; if so, it is the best plan so far.
  bool Take(MemoryPlan plan, const PlanAnswer& placed) {
    if (!placed.best || placed.best->height() > options_.capacity) return false;
    for (std::size_t i = 0; i < plan.residencies.size(); ++i) {
      plan.residencies[i].offset = placed.best->residencies[i].offset;
    }
    plan.addressed = true;
    StateUse(graph_, plan);
    most_ = plan.traffic.avoidable() - 1;
    answer_.best = Addressed{master_.layout(), std::move(plan)};
    return true;
  }

  // By a proof that the residencies of `plan` cannot be placed.
  [[nodiscard]] Refutation Refute(const Problem& problem, const MemoryPlan& plan,
                                  std::int64_t nodes) {
    Budget mine(budget_, 1);
    mine.SetNodeLimit(std::min(nodes, mine.node_limit()));
    PlaceOptions options;
    options.algorithm = Algorithm::kGuided;
    std::optional<std::vector<std::size_t>> core;
    const auto answer = PlaceWithCore(problem, options, mine, core);
    Refutation refuted;
    refuted.nodes = mine.nodes_spent();
    if (!answer) return refuted;
    if (answer->best && answer->best->height() <= options_.capacity) {
      refuted.offsets = PlacementOf(*answer->best).offsets;
    }
    if (answer->outcome != Outcome::kInfeasible) return refuted;
    Gaps& gaps = refuted.conflict.emplace();
    const std::size_t count = core ? core->size() : plan.residencies.size();
    for (std::size_t k = 0; k < count; ++k) {
      master_.AddGapsIn(plan.residencies[core ? (*core)[k] : k], gaps);
    }
    std::sort(gaps.begin(), gaps.end());
    return refuted;
  }

  [[nodiscard]] Refutation RefuteAlone(const Gaps& gaps, std::int64_t nodes) {
    const MemoryPlan plan = PlanOf(master_.Alone(gaps));
    Problem problem = ProblemOf(graph_, plan);
    problem.capacity = options_.capacity;
    return Refute(problem, plan, nodes);
  }

  // Leaves gaps out, the smallest first.
  void Shrink(Refutation& refuted) {
    Gaps& gaps = *refuted.conflict;
    std::int64_t nodes = refuted.nodes / kPartOfShrinking + kNodesOfShortProof;
    const auto leave_out = [&](const Gaps& rest) {
      const Refutation shorter = RefuteAlone(rest, nodes);
      nodes -= shorter.nodes + 1;
      if (shorter.conflict && shorter.conflict->size() < gaps.size()) gaps = *shorter.conflict;
    };
    leave_out(gaps);
    Gaps order = gaps;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return master_.AreaOf(a) < master_.AreaOf(b);
    });
    for (const std::size_t g : order) {
      if (nodes <= 0 || budget_.Exhausted()) break;
      const auto at = std::lower_bound(gaps.begin(), gaps.end(), g);
      if (at == gaps.end() || *at != g) continue;
      Gaps rest = gaps;
      rest.erase(rest.begin() + (at - gaps.begin()));
      leave_out(rest);
    }
  }

  // Steps [begin, end).
  struct Window {
    Step begin = 0;
    Step end = 0;
  };

  // When the residency is live that exceeds the memory most; if there is none, always.
  [[nodiscard]] Window HighestOf(const MemoryPlan& plan, const PlanAnswer& placed) const {
    Window window = {0, master_.layout().steps()};
    Bytes highest = options_.capacity;
    for (std::size_t i = 0; placed.best && i < plan.residencies.size(); ++i) {
      const Residency& residency = plan.residencies[i];
      const Bytes top = placed.best->residencies[i].offset + graph_.tensors[residency.tensor].bytes;
      if (top <= highest) continue;
      highest = top;
      window = {residency.start, residency.end};
    }
    return window;
  }

  // The gaps of what is live in `window`, which is then all of their time. All of them, if there are none.
  [[nodiscard]] Gaps Widen(const MemoryPlan& plan, Window& window) const {
    Gaps gaps;
    const Window before = window;
    for (const Residency& residency : plan.residencies) {
      if (residency.start >= before.end || before.begin >= residency.end) continue;
      master_.AddGapsIn(residency, gaps);
      window.begin = std::min(window.begin, residency.start);
      window.end = std::max(window.end, residency.end);
    }
    if (gaps.empty()) {
      for (const Residency& residency : plan.residencies) master_.AddGapsIn(residency, gaps);
    }
    std::sort(gaps.begin(), gaps.end());
    return gaps;
  }

  const Graph& graph_;
  const AddressOptions& options_;
  const ConflictOptions& limits_;
  const Placer& placer_;
  Budget& budget_;
  Master master_;
  Bytes most_;  // Of traffic: of plans with more there is one already, or no use.
  std::int64_t factor_ = 1;
  AddressAnswer answer_;
};

}  // namespace

Result<AddressAnswer> ChooseByConflicts(const Graph& graph, Layout layout,
                                        const AddressOptions& options,
                                        const ConflictOptions& limits, const Placer& placer,
                                        Budget& budget) {
  const bool limited = budget.has_time_limit() || budget.has_node_limit();
  Budget part(budget, 1);
  if (!limited) {
    std::size_t accesses = 0;
    for (const Stays& stays : layout.storages) accesses += stays.accesses.size();
    part.SetNodeLimit(limits.nodes / static_cast<std::int64_t>(1 + accesses / kManyAccesses));
  }
  ConflictSearch search(graph, std::move(layout), options, limits, placer, part);
  const bool complete = BERTH_TRY(search.Run());
  AddressAnswer answer = search.Take();
  answer.out_of_budget = !complete && (limited ? part.Exhausted() : budget.TimeIsUp());
  answer.out_of_nodes = !complete && !answer.out_of_budget;
  return answer;
}

}  // namespace berth::internal::spill
