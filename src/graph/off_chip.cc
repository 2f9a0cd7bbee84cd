// When the copies of a plan over a link are made, if one channel makes them while operators run.
//
// Each copy has a step that it waits for and a step that waits for it. The former is always earlier than the
// latter, so operators and copies never wait for each other in a circle.
//
// That copies wait for other copies follows from these steps. What is copied back waits for the copies out of
// its bytes and of itself: each of them waits for no later step than it does, and no later step waits for them.
// So they may begin no later, are no less urgent, and the channel makes them first. Likewise what comes in is
// copied before it is copied out again.

#include "berth/off_chip.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/try.h"
#include "graph/edges.h"
#include "graph/run.h"
#include "graph/versions.h"

namespace berth {

namespace {

using internal::AddTime;

constexpr Step kNever = -1;
constexpr std::int32_t kNoVersion = -1;

// What operators do with a residency.
struct Use {
  Step first = kNever;               // The first step at which one touches it,
  Step written = kNever;             // and the last at which one makes or writes it.
  std::int32_t leaves = kNoVersion;  // The version that it has in the end.
};

std::vector<Use> UsesOf(const Graph& graph, const MemoryPlan& plan,
                        const internal::Versions& versions) {
  const auto& all = plan.residencies;
  std::vector<Use> uses(all.size());
  std::vector<std::size_t> at(graph.tensors.size(), all.size());
  for (std::size_t i = all.size(); i-- > 0;) at[all[i].tensor] = i;
  std::vector<bool> has_run(graph.operators.size(), false);
  for (std::size_t s = 0; s < plan.order.size(); ++s) {
    const OperatorIndex v = plan.order[s];
    const auto step = static_cast<Step>(s);
    for (const internal::Touch& touch : versions.touches[v]) {
      std::size_t& i = at[touch.base];
      if (i == all.size() || (touch.only_first && has_run[v])) continue;
      while (i + 1 < all.size() && all[i + 1].tensor == touch.base && all[i + 1].start <= step) ++i;
      Use& use = uses[i];
      if (use.first == kNever) use.first = step;
      if (touch.finds != touch.leaves) use.written = step;
      use.leaves = touch.leaves;
    }
    has_run[v] = true;
  }
  return uses;
}

// Pairs of residencies of which the second is the next at some byte of the first.
std::vector<std::pair<std::size_t, std::size_t>> Successions(const Graph& graph,
                                                             const MemoryPlan& plan) {
  const auto& all = plan.residencies;
  std::vector<std::size_t> by_start(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) by_start[i] = i;
  std::stable_sort(by_start.begin(), by_start.end(),
                   [&](std::size_t a, std::size_t b) { return all[a].start < all[b].start; });
  struct Occupied {
    Bytes end;
    std::size_t owner;
  };
  std::map<Bytes, Occupied> last;  // By their first byte: ranges, and who was there last.
  std::vector<std::pair<std::size_t, std::size_t>> successions;
  for (const std::size_t i : by_start) {
    const Bytes lower = all[i].offset;
    const Bytes upper = lower + graph.tensors[all[i].tensor].bytes;
    auto range = last.upper_bound(lower);
    if (range != last.begin() && std::prev(range)->second.end > lower) --range;
    while (range != last.end() && range->first < upper) {
      const auto [end, owner] = range->second;
      successions.emplace_back(owner, i);
      if (end > upper) last.emplace(upper, Occupied{end, owner});
      if (range->first < lower) {
        range->second.end = lower;
        ++range;
      } else {
        range = last.erase(range);
      }
    }
    last.insert_or_assign(lower, Occupied{upper, i});
  }
  return successions;
}

// The copies of a plan, and what waits for what.
class Copies {
 public:
  Copies(const Graph& graph, const MemoryPlan& plan)
      : graph_(graph),
        plan_(plan),
        steps_(static_cast<Step>(plan.order.size())),
        makers_(internal::Makers(graph)),
        in_(plan.residencies.size()),
        out_(plan.residencies.size()) {
    const internal::Versions versions = internal::FindVersions(graph);
    uses_ = UsesOf(graph, plan, versions);
    std::vector<bool> results = internal::BasesOfOutputs(graph);
    for (const Operator& op : graph.operators) {
      for (const TensorIndex base : op.mutates) {
        if (makers_[base] == internal::kNoOperator) results[base] = true;
      }
    }
    const auto& all = plan.residencies;
    for (std::size_t begin = 0, end = 0; begin < all.size(); begin = end) {
      const TensorIndex t = all[begin].tensor;
      while (end < all.size() && all[end].tensor == t) ++end;
      AddTensor(begin, end, results[t], versions.last[t]);
    }
    for (const auto& [before, after] : Successions(graph, plan)) AddSuccession(before, after);
  }

  [[nodiscard]] std::vector<OffChipCopy>& copies() { return copies_; }
  [[nodiscard]] Bytes BytesOf(const OffChipCopy& copy) const {
    return graph_.tensors[plan_.residencies[copy.residency].tensor].bytes;
  }

 private:
  std::size_t Add(const OffChipCopy& copy) {
    copies_.push_back(copy);
    return copies_.size() - 1;
  }

  // Those of the residencies [begin, end), all of one tensor.
  void AddTensor(std::size_t begin, std::size_t end, bool result, std::int32_t last_version) {
    const bool given = makers_[plan_.residencies[begin].tensor] == internal::kNoOperator;
    std::optional<std::size_t> last_out;
    bool stored = false;  // The result.
    for (std::size_t i = begin; i < end; ++i) {
      const Residency& residency = plan_.residencies[i];
      const Use& use = uses_[i];
      const bool compulsory = i == begin && given;
      if (residency.comes_in || (compulsory && use.first != kNever)) {
        const Step before = use.first == kNever ? residency.start : use.first;
        in_[i] = Add({i, false, !compulsory, 0, before});
        if (last_out) {
          OffChipCopy& out = copies_[*last_out];
          out.before = std::min(out.before, before);
          copies_[*in_[i]].after = out.after;
        }
      }
      const bool final = result && use.leaves == last_version;
      const bool stays = final && !stored && i + 1 == end;
      if (!residency.written_out && !stays) continue;
      const Step after = use.written == kNever ? residency.start : use.written + 1;
      out_[i] = Add({i, true, !final || stored, after, steps_});
      stored = stored || final;
      last_out = out_[i];
    }
  }

  // Residency `b` takes bytes of `a`.
  void AddSuccession(std::size_t a, std::size_t b) {
    if (in_[b]) {
      Step& after = copies_[*in_[b]].after;
      after = std::max(after, plan_.residencies[a].end);
    }
    if (!out_[a]) return;
    Step& before = copies_[*out_[a]].before;
    before = std::min(before, in_[b] ? copies_[*in_[b]].before : plan_.residencies[b].start);
  }

  const Graph& graph_;
  const MemoryPlan& plan_;
  const Step steps_;
  std::vector<OperatorIndex> makers_;
  std::vector<Use> uses_;
  std::vector<std::optional<std::size_t>> in_, out_;  // By residency.
  std::vector<OffChipCopy> copies_;
};

// Lets operators and copies run.
class Simulation {
 public:
  Simulation(const Graph& graph, const Link& link, const MemoryPlan& plan)
      : graph_(graph), link_(link), plan_(plan), copies_(graph, plan) {
    const std::vector<OffChipCopy>& all = copies_.copies();
    const std::size_t steps = plan.order.size();
    by_after_.resize(steps + 1);
    open_.assign(steps + 1, 0);
    made_.assign(steps + 1, 0);
    for (std::size_t c = 0; c < all.size(); ++c) {
      by_after_[static_cast<std::size_t>(all[c].after)].push_back(c);
      ++open_[static_cast<std::size_t>(all[c].before)];
    }
  }

  OffChipRun Run() {
    Release(0);
    RunOperators();
    while (run_.copies.size() < copies_.copies().size()) {
      MakeCopy();
      RunOperators();
    }
    BERTH_CHECK(run_.operators.size() == plan_.order.size());
    run_.time = std::max(operators_end_, channel_);
    return std::move(run_);
  }

 private:
  // What an operator waits for first; of that copies out.
  using Urgency = std::tuple<Step, bool, std::size_t>;
  [[nodiscard]] Urgency UrgencyOf(std::size_t c) {
    const OffChipCopy& copy = copies_.copies()[c];
    return {copy.before, !copy.out, c};
  }

  // The operators before `step` have run.
  void Release(std::size_t step) {
    for (const std::size_t c : by_after_[step]) coming_.emplace(operators_end_, c);
  }

  void RunOperators() {
    for (std::size_t s = run_.operators.size(); s < plan_.order.size() && open_[s] == 0; ++s) {
      const std::int64_t begin = std::max(operators_end_, made_[s]);
      const std::int64_t time = graph_.operators[plan_.order[s]].cost.value_or(0);
      run_.stalled = AddTime(run_.stalled, begin - operators_end_);
      run_.computing = AddTime(run_.computing, time);
      operators_end_ = AddTime(begin, time);
      run_.operators.push_back({begin, operators_end_});
      Release(s + 1);
    }
  }

  void MakeCopy() {
    if (ready_.empty()) {
      BERTH_CHECK(!coming_.empty());
      channel_ = std::max(channel_, coming_.front().first);
    }
    for (; !coming_.empty() && coming_.front().first <= channel_; coming_.pop()) {
      ready_.push(UrgencyOf(coming_.front().second));
    }
    const std::size_t c = std::get<2>(ready_.top());
    ready_.pop();
    OffChipCopy& copy = copies_.copies()[c];
    const Bytes bytes = copies_.BytesOf(copy);
    const std::int64_t time = copy.out ? link_.Out(bytes) : link_.In(bytes);
    copy.transfer = {channel_, AddTime(channel_, time)};
    channel_ = copy.transfer.end;
    run_.copying = AddTime(run_.copying, time);
    run_.copies.push_back(copy);
    const auto before = static_cast<std::size_t>(copy.before);
    --open_[before];
    made_[before] = channel_;
  }

  const Graph& graph_;
  const Link& link_;
  const MemoryPlan& plan_;
  Copies copies_;
  std::vector<std::vector<std::size_t>> by_after_;  // Copies, by the step that they wait for.
  std::vector<std::size_t> open_;   // By step: copies that it waits for and that are not made,
  std::vector<std::int64_t> made_;  // and when the last of the others is.
  // Copies that wait for nothing any more but for the time that is the first of the pair, in this order.
  std::queue<std::pair<std::int64_t, std::size_t>> coming_;
  std::priority_queue<Urgency, std::vector<Urgency>, std::greater<>> ready_;  // At `channel_`.
  std::int64_t operators_end_ = 0;
  std::int64_t channel_ = 0;  // When it is free.
  OffChipRun run_;
};

}  // namespace

Result<OffChipRun> RunOffChip(const Graph& graph, const Link& link, const MemoryPlan& plan) {
  BERTH_TRY(Validate(link));
  BERTH_TRY(internal::CheckOperatorTimes(graph, "a run with copies off chip"));
  if (!plan.addressed) {
    return Fail(ErrorCode::kInvalidPlan,
                "the plan has no addresses, so it does not say which copies wait for which");
  }
  if (plan.memories.size() != 1) {
    return Fail(ErrorCode::kInvalidPlan, "the plan has " + std::to_string(plan.memories.size()) +
                                             " memories; copies off chip are timed for one");
  }
  return Simulation(graph, link, plan).Run();
}

}  // namespace berth
