// Chains are grown from the tensors that are live at the peak.
//
// A tensor is never whole in memory if its maker and all its readers are computed in strips
// together, so these are the first chain. If several of them have outputs that others read, their
// readers join, until one output alone remains: the result. From there the chain grows in both
// directions, since it may be that the result is as large as the tensor was (then its readers must
// join) or that an input is (then its maker must). All chains on the way are looked at, each with
// several numbers of strips. The load that a chain would have is computed from the loads of the
// given order, without making the graph.

#include "plan/chains.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "graph/edges.h"

namespace berth::internal::plan {
namespace {

constexpr std::size_t kMostOperators = 40;  // In a chain.
constexpr std::size_t kMostInputs = 256;    // Of each.
constexpr int kMostGrowth = 10;             // Operators that join in one direction.
constexpr std::int64_t kMostStrips = 128;
constexpr std::size_t kMostTensors = 6;  // Of the peak.
// What saves less than this part of the peak is not worth a split, nor more work.
constexpr Bytes kPart = 100;

class ChainFinder {
 public:
  ChainFinder(const Graph& graph, const Order& order, const Counting& counting, Budget& budget)
      : graph_(graph),
        budget_(budget),
        makers_(Makers(graph)),
        is_output_(BasesOfOutputs(graph)),
        live_(Live(graph, order, counting)),
        readers_(graph.tensors.size()),
        fixed_(graph.tensors.size(), false),
        awaited_(graph.operators.size(), false),
        position_(graph.operators.size()),
        operator_at_(order),
        buffer_of_(graph.tensors.size(), live_.tensors.size()) {
    for (std::size_t s = 0; s < order.size(); ++s) position_[order[s]] = s;
    for (std::size_t b = 0; b < live_.tensors.size(); ++b) buffer_of_[live_.tensors[b]] = b;
    for (OperatorIndex v = 0; v < graph.operators.size(); ++v) {
      const Operator& op = graph.operators[v];
      for (const TensorIndex t : op.inputs) {
        if (readers_[t].empty() || readers_[t].back() != v) readers_[t].push_back(v);
      }
      for (const TensorIndex t : op.mutates) fixed_[t] = true;
      std::set<OperatorIndex> read;
      for (const TensorIndex t : op.inputs) read.insert(makers_[t]);
      for (const OperatorIndex u : op.after) {
        if (!read.contains(u)) awaited_[u] = true;
      }
    }
    for (const Tensor& tensor : graph.tensors) {
      if (tensor.alias_of) fixed_[*tensor.alias_of] = true;
    }
    highest_before_ = highest_after_ = live_.live;
    for (std::size_t s = 1; s < order.size(); ++s) {
      highest_before_[s] = std::max(highest_before_[s], highest_before_[s - 1]);
    }
    for (std::size_t s = order.size(); s-- > 1;) {
      highest_after_[s - 1] = std::max(highest_after_[s - 1], highest_after_[s]);
    }
  }

  std::optional<ChainInStrips> Find(const ChainGoal& goal) {
    std::vector<TensorIndex> tensors;
    for (std::size_t b = 0; b < live_.tensors.size(); ++b) {
      const Buffer& buffer = live_.problem.buffers[b];
      const bool at_peak = buffer.start <= live_.peak_step && live_.peak_step < buffer.end;
      if (at_peak && buffer.size > live_.peak / kPart) tensors.push_back(live_.tensors[b]);
    }
    std::stable_sort(tensors.begin(), tensors.end(), [&](TensorIndex x, TensorIndex y) {
      return graph_.tensors[x].bytes > graph_.tensors[y].bytes;
    });
    if (tensors.size() > kMostTensors) tensors.resize(kMostTensors);
    for (const TensorIndex t : tensors) {
      if (makers_[t] == kNoOperator) continue;
      for (const ReceptiveField& field : graph_.operators[makers_[t]].receptive_fields) {
        Grow(t, field.axis);
      }
    }
    return Choose(goal);
  }

 private:
  using Operators = std::set<OperatorIndex>;

  // Whether the operator can be computed in strips.
  [[nodiscard]] bool CanJoin(OperatorIndex v, std::int64_t axis) const {
    const Operator& op = graph_.operators[v];
    if (op.outputs.size() != 1 || !op.mutates.empty() || RowsAlong(op, axis) == 0) return false;
    if (op.inputs.size() > kMostInputs) return false;
    const Tensor& made = graph_.tensors[op.outputs[0]];
    return !made.alias_of && made.unplanned.empty() && made.bytes > 0;
  }

  // Whether the output of `v` need not be whole if all its readers join.
  [[nodiscard]] bool CanBeBetween(OperatorIndex v, std::int64_t axis) const {
    const TensorIndex t = graph_.operators[v].outputs[0];
    const std::int64_t rows = RowsAlong(graph_.operators[v], axis);
    if (is_output_[t] || fixed_[t] || awaited_[v]) return false;
    if (readers_[t].empty() || readers_[t].size() > kMostOperators) return false;
    return std::all_of(readers_[t].begin(), readers_[t].end(), [&](OperatorIndex r) {
      const ReceptiveField* const field = FieldIn(graph_.operators[r], axis, t);
      return CanJoin(r, axis) && field != nullptr && field->input_rows == rows;
    });
  }

  [[nodiscard]] bool AllReadersIn(const Operators& chain, TensorIndex t) const {
    return std::all_of(readers_[t].begin(), readers_[t].end(),
                       [&](OperatorIndex r) { return chain.contains(r); });
  }

  // Readers join until one output alone is read outside; false if that cannot be.
  [[nodiscard]] bool Close(Operators& chain, std::int64_t axis) const {
    for (auto at = chain.begin(); std::next(at) != chain.end(); ++at) {
      if (!CanBeBetween(*at, axis)) return false;
      const auto& readers = readers_[graph_.operators[*at].outputs[0]];
      chain.insert(readers.begin(), readers.end());
      if (chain.size() > kMostOperators) return false;
    }
    return true;
  }

  [[nodiscard]] bool GrowDown(Operators& chain, std::int64_t axis) const {
    const OperatorIndex last = *chain.rbegin();
    if (!CanBeBetween(last, axis)) return false;
    const auto& readers = readers_[graph_.operators[last].outputs[0]];
    chain.insert(readers.begin(), readers.end());
    return Close(chain, axis);
  }

  // The last operator that makes an input joins.
  [[nodiscard]] bool GrowUp(Operators& chain, std::int64_t axis) const {
    OperatorIndex found = kNoOperator;
    for (const OperatorIndex v : chain) {
      for (const TensorIndex t : graph_.operators[v].inputs) {
        const OperatorIndex u = makers_[t];
        if (u == kNoOperator || chain.contains(u) || (found != kNoOperator && u < found)) continue;
        if (CanJoin(u, axis) && CanBeBetween(u, axis) && AllReadersIn(chain, t)) found = u;
      }
    }
    if (found == kNoOperator || chain.size() >= kMostOperators) return false;
    chain.insert(found);
    return true;
  }

  void Grow(TensorIndex t, std::int64_t axis) {
    const OperatorIndex maker = makers_[t];
    if (!CanJoin(maker, axis) || !CanBeBetween(maker, axis)) return;
    Operators chain = {maker};
    for (int down = 0; down <= kMostGrowth; ++down) {
      if (!GrowDown(chain, axis)) return;
      Operators longer = chain;
      for (int up = 0; up <= kMostGrowth; ++up) {
        if (!Try(longer, axis)) return;
        if (!GrowUp(longer, axis)) break;
      }
    }
  }

  // False at the end of the budget.
  [[nodiscard]] bool Try(const Operators& operators, std::int64_t axis) {
    const Chain chain{{operators.begin(), operators.end()}, axis};
    if (!tried_.insert({axis, chain.operators}).second) return true;
    const Frame frame = FrameOf(chain);
    const std::int64_t rows = RowsAlong(graph_.operators[chain.operators.back()], axis);
    std::int64_t height = 0;
    for (std::int64_t count = 2; count <= kMostStrips; count *= 2) {
      if (!budget_.SpendNode()) return false;
      Strips strips = StripsOf(graph_, chain, std::min(count, rows));
      if (strips.height == height) continue;
      height = strips.height;
      if (strips.recomputed > strips.made || !ComputesAll(strips)) break;
      const Bytes between = *std::max_element(strips.live.begin(), strips.live.end());
      const Bytes peak = std::max(frame.before, frame.last + between);
      if (peak < live_.peak - live_.peak / kPart) {
        choices_.push_back({{chain, std::move(strips), peak}, frame.other});
      }
      if (count >= rows) break;
    }
    return true;
  }

  // Whether each operator computes some rows in some strip.
  [[nodiscard]] static bool ComputesAll(const Strips& strips) {
    for (std::size_t i = 0; i < strips.rows.front().size(); ++i) {
      if (std::all_of(strips.rows.begin(), strips.rows.end(),
                      [&](const auto& rows) { return rows[i].empty(); })) {
        return false;
      }
    }
    return true;
  }

  // The loads around strips that run where the last operator of a chain was.
  struct Frame {
    Bytes before = 0;  // The highest of other operators from the first of the chain on.
    Bytes last = 0;    // At the last, without the tensors between.
    Bytes other = 0;   // Before the first and after the last.
  };

  [[nodiscard]] Frame FrameOf(const Chain& chain) const {
    std::size_t first = position_.size();
    const std::size_t last = position_[chain.operators.back()];
    for (const OperatorIndex v : chain.operators) first = std::min(first, position_[v]);
    std::vector<Bytes> change(last - first + 2, 0);  // At each step against the one before.
    const auto add = [&](std::size_t from, std::size_t to, Bytes bytes) {
      from = std::max(from, first);
      to = std::min(to, last + 1);
      if (from >= to) return;
      change[from - first] += bytes;
      change[to - first] -= bytes;
    };
    std::set<std::size_t> moved;  // Inputs from outside that have to stay until the last step.
    for (const OperatorIndex v : chain.operators) {
      if (v != chain.operators.back()) {
        const std::size_t made = buffer_of_[graph_.operators[v].outputs[0]];
        const Buffer& buffer = live_.problem.buffers[made];
        add(static_cast<std::size_t>(buffer.start), static_cast<std::size_t>(buffer.end),
            -buffer.size);
        moved.insert(made);  // Not again.
      }
      for (const TensorIndex t : graph_.operators[v].inputs) {
        const std::size_t b = buffer_of_[BaseOf(graph_, t)];
        if (b == live_.tensors.size() || !moved.insert(b).second) continue;
        const Buffer& buffer = live_.problem.buffers[b];
        add(static_cast<std::size_t>(buffer.end), last + 1, buffer.size);
      }
    }
    const std::set<OperatorIndex> inside(chain.operators.begin(), chain.operators.end());
    Frame frame;
    Bytes changed = 0;
    for (std::size_t s = first; s <= last; ++s) {
      changed += change[s - first];
      const Bytes load = live_.live[s] + changed;
      if (s == last) {
        frame.last = load;
      } else if (!inside.contains(operator_at_[s])) {
        frame.before = std::max(frame.before, load);
      }
    }
    if (first > 0) frame.other = highest_before_[first - 1];
    if (last + 1 < highest_after_.size()) {
      frame.other = std::max(frame.other, highest_after_[last + 1]);
    }
    return frame;
  }

  struct Choice {
    ChainInStrips split;
    Bytes other = 0;  // The peak of other steps.
  };

  std::optional<ChainInStrips> Choose(const ChainGoal& goal) {
    if (choices_.empty()) return std::nullopt;
    const auto counted = [&](const Choice& choice) {
      return goal.count_other_steps ? std::max(choice.split.peak, choice.other) : choice.split.peak;
    };
    Bytes least = kMaxBytes;
    for (const Choice& choice : choices_) least = std::min(least, counted(choice));
    least = std::max(least + least / kPart, goal.enough);
    std::erase_if(choices_, [&](const Choice& choice) { return counted(choice) > least; });
    const auto key = [](const Choice& choice) {
      const auto& [chain, strips, peak] = choice.split;
      return std::tuple(strips.recomputed, chain.operators.size(), strips.rows.size(), peak,
                        chain.axis);
    };
    return std::min_element(choices_.begin(), choices_.end(),
                            [&](const Choice& x, const Choice& y) { return key(x) < key(y); })
        ->split;
  }

  const Graph& graph_;
  Budget& budget_;
  std::vector<OperatorIndex> makers_;
  std::vector<bool> is_output_;
  Liveness live_;
  std::vector<std::vector<OperatorIndex>> readers_;  // Of each tensor, increasing.
  std::vector<bool> fixed_;                          // Has views or is written in place.
  std::vector<bool> awaited_;          // By operator: others wait for it, but not for a tensor.
  std::vector<std::size_t> position_;  // By operator, in the order.
  const Order& operator_at_;
  std::vector<std::size_t> buffer_of_;  // By tensor: in `live_`; past the end for none.
  std::vector<Bytes> highest_before_;   // Up to each step, included.
  std::vector<Bytes> highest_after_;    // From each step on.
  std::set<std::pair<std::int64_t, std::vector<OperatorIndex>>> tried_;
  std::vector<Choice> choices_;
};

}  // namespace

std::optional<ChainInStrips> FindChain(const Graph& graph, const Order& order,
                                       const Counting& counting, const ChainGoal& goal,
                                       Budget& budget) {
  return ChainFinder(graph, order, counting, budget).Find(goal);
}

}  // namespace berth::internal::plan
