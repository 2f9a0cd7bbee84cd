// A run in which copies between memories are made while operators run: what happens when.

#include "graph/run.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/latency.h"
#include "base/text.h"
#include "graph/edges.h"
#include "graph/plan.h"
#include "graph/uses.h"

namespace berth {
namespace internal {

std::int64_t AccessTime(const Memory& memory, const TensorUse& use) {
  Placing placing;
  placing.bytes_read = use.bytes_read;
  placing.bytes_written = use.bytes_written;
  placing.accesses = use.accesses;
  return CostOfUses(placing, memory).value_or(kMaxCost + 1);
}

std::int64_t TransferTime(const GraphMemories& memories, std::size_t from, std::size_t to,
                          Bytes bytes) {
  const std::int64_t read = AccessTime(memories.memories[from], {bytes, 0, 1});
  const std::int64_t write = AccessTime(memories.memories[to], {0, bytes, 1});
  return AddTime(memories.copy_latency, std::max(read, write));
}

Result<void> CheckOperatorTimes(const Graph& graph, std::string_view who) {
  const std::string needs = std::string(who) + " needs the time of every operator";
  for (const Operator& op : graph.operators) {
    if (op.cost) continue;
    return Fail(ErrorCode::kInvalidOptions, needs + ", but that of operator " + Quoted(op.name) +
                                                " is not known; a device or a profile gives it");
  }
  if (graph.cost_unit == "ns" || graph.operators.empty()) return {};
  return Fail(ErrorCode::kInvalidOptions,
              needs + " in ns, but the graph gives costs in " +
                  (graph.cost_unit.empty() ? std::string("no unit") : Quoted(graph.cost_unit)));
}

Result<void> CheckTimes(const Graph& graph, const GraphMemories& memories) {
  if (!memories.may_move) {
    return Fail(ErrorCode::kInvalidOptions,
                "prefetch makes copies while operators run, but tensors may not move: may_move is "
                "off");
  }
  if (!IsLatency(memories.copy_latency)) {
    return Fail(ErrorCode::kInvalidOptions, "the latency of copies is " +
                                                std::to_string(memories.copy_latency) +
                                                " ns, not " + kLatencyRange);
  }
  return CheckOperatorTimes(graph, "prefetch");
}

}  // namespace internal

namespace {

// What operators do where tensors are at that time: the sum for each step, added to `run` by memory.
std::vector<std::int64_t> AccessTimes(const Graph& graph, const GraphMemories& memories,
                                      const MemoryPlan& plan, TimedRun& run) {
  internal::Whereabouts whereabouts(graph, plan);
  std::vector<std::int64_t> times(plan.order.size(), 0);
  run.accessing.assign(memories.memories.size(), 0);
  std::vector<std::pair<TensorIndex, TensorUse>> uses;  // Of one operator, by base.
  for (std::size_t s = 0; s < plan.order.size(); ++s) {
    uses.clear();
    internal::ForEachUse(graph, plan.order[s], [&](TensorIndex base, Bytes read, Bytes written) {
      uses.push_back({base, {read, written, 1}});
    });
    std::sort(uses.begin(), uses.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    std::size_t kept = 0;
    for (std::size_t u = 1; u < uses.size(); ++u) {
      if (uses[u].first != uses[kept].first) {
        uses[++kept] = uses[u];
      } else {
        internal::AddUse(uses[u].second.bytes_read, uses[u].second.bytes_written,
                         uses[kept].second);
      }
    }
    uses.resize(std::min(uses.size(), kept + 1));
    for (const auto& [base, use] : uses) {
      const std::size_t i = whereabouts.At(base, static_cast<Step>(s));
      if (i == plan.residencies.size()) continue;  // Not placed or not counted.
      const auto m = static_cast<std::size_t>(plan.residencies[i].memory);
      const std::int64_t time = internal::AccessTime(memories.memories[m], use);
      times[s] = internal::AddTime(times[s], time);
      run.accessing[m] = internal::AddTime(run.accessing[m], time);
    }
  }
  return times;
}

}  // namespace

TimedRun RunOf(const Graph& graph, const GraphMemories& memories, const MemoryPlan& plan) {
  TimedRun run;
  const std::vector<std::int64_t> accesses = AccessTimes(graph, memories, plan, run);
  run.copies = CopiesOf(graph, memories, plan);
  // By the step that waits for it.
  std::vector<std::size_t> by_end(run.copies.size());
  for (std::size_t c = 0; c < by_end.size(); ++c) by_end[c] = c;
  std::stable_sort(by_end.begin(), by_end.end(), [&](std::size_t a, std::size_t b) {
    return run.copies[a].before < run.copies[b].before;
  });
  std::size_t begun = 0;
  std::size_t ended = 0;
  std::int64_t engine = 0;
  for (std::size_t s = 0; s < plan.order.size(); ++s) {
    const auto step = static_cast<Step>(s);
    // All that an operator waits for may begin by then.
    for (; begun < run.copies.size() && run.copies[begun].start <= step; ++begun) {
      const std::int64_t begin = std::max(run.time, engine);
      engine = internal::AddTime(begin, run.copies[begun].cost);
      run.transfers.push_back({begin, engine});
    }
    std::int64_t ready = run.time;
    for (; ended < by_end.size() && run.copies[by_end[ended]].before <= step; ++ended) {
      ready = std::max(ready, run.transfers[by_end[ended]].end);
    }
    run.stalled = internal::AddTime(run.stalled, ready - run.time);
    const std::int64_t computing = graph.operators[plan.order[s]].cost.value_or(0);
    run.computing = internal::AddTime(run.computing, computing);
    run.time = internal::AddTime(internal::AddTime(ready, computing), accesses[s]);
    run.operators.push_back({ready, run.time});
  }
  return run;
}

}  // namespace berth
