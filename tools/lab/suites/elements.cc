#include "tools/lab/suites/elements.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "base/text.h"
#include "base/try.h"

namespace berth::lab {
namespace {

constexpr OperatorIndex kNobody = static_cast<OperatorIndex>(-1);

std::vector<OperatorIndex> MakersOf(const Graph& graph) {
  std::vector<OperatorIndex> makers(graph.tensors.size(), kNobody);
  for (OperatorIndex v = 0; v < graph.operators.size(); ++v) {
    for (const TensorIndex t : graph.operators[v].outputs) makers[t] = v;
  }
  return makers;
}

// An operator that another one waits for, and what its tensors take to another element.
struct Predecessor {
  OperatorIndex op = 0;
  std::int64_t copies = 0;
};

std::vector<std::vector<Predecessor>> PredecessorsOf(const Graph& graph, const Link& link) {
  const std::vector<OperatorIndex> makers = MakersOf(graph);
  std::vector<std::vector<Predecessor>> predecessors(graph.operators.size());
  for (OperatorIndex v = 0; v < graph.operators.size(); ++v) {
    const Operator& op = graph.operators[v];
    std::vector<TensorIndex> bases;
    for (const TensorIndex t : op.inputs) {
      bases.push_back(BaseOf(graph, t));
      if (makers[t] != kNobody && t != bases.back()) predecessors[v].push_back({makers[t], 0});
    }
    std::sort(bases.begin(), bases.end());
    bases.erase(std::unique(bases.begin(), bases.end()), bases.end());
    for (const TensorIndex base : bases) {
      if (makers[base] == kNobody) continue;
      const Bytes bytes = graph.tensors[base].bytes;
      predecessors[v].push_back({makers[base], bytes == 0 ? 0 : link.Out(bytes) + link.In(bytes)});
    }
    for (const OperatorIndex u : op.after) predecessors[v].push_back({u, 0});
  }
  return predecessors;
}

// When one element is busy, in order of time.
class Timeline {
 public:
  // The earliest time from `ready` on at which it is free for so long.
  [[nodiscard]] std::int64_t FreeFrom(std::int64_t ready, std::int64_t length) const {
    std::int64_t time = ready;
    for (const auto& [begin, end] : busy_) {
      if (time + length <= begin) break;
      time = std::max(time, end);
    }
    return time;
  }
  void Take(std::int64_t begin, std::int64_t length) {
    const std::pair<std::int64_t, std::int64_t> interval = {begin, begin + length};
    busy_.insert(std::upper_bound(busy_.begin(), busy_.end(), interval), interval);
  }

 private:
  std::vector<std::pair<std::int64_t, std::int64_t>> busy_;
};

// By the longest way to the end, copies included; of equal ones program order, which no operator's
// predecessors come behind.
std::vector<OperatorIndex> ByRank(const Graph& graph,
                                  const std::vector<std::vector<Predecessor>>& predecessors) {
  const std::size_t n = graph.operators.size();
  std::vector<std::int64_t> rank(n, 0);  // At first without the operator itself.
  for (OperatorIndex v = n; v-- > 0;) {
    rank[v] += graph.operators[v].cost.value_or(0);
    for (const Predecessor& each : predecessors[v]) {
      rank[each.op] = std::max(rank[each.op], rank[v] + each.copies);
    }
  }
  std::vector<OperatorIndex> ranked(n);
  std::iota(ranked.begin(), ranked.end(), OperatorIndex{0});
  std::stable_sort(ranked.begin(), ranked.end(),
                   [&](OperatorIndex a, OperatorIndex b) { return rank[a] > rank[b]; });
  return ranked;
}

// Makes an ElementGraph.
class Rewriter {
 public:
  Rewriter(const Graph& graph, const std::vector<std::size_t>& element, Crossing crossing)
      : graph_(graph), element_(element), crossing_(crossing), makers_(MakersOf(graph)) {}

  Result<ElementGraph> Run() {
    made_.graph.name = graph_.name;
    made_.graph.cost_unit = graph_.cost_unit;
    at_.resize(graph_.tensors.size());
    crosses_.assign(graph_.tensors.size(), 0);
    for (OperatorIndex v = 0; v < graph_.operators.size(); ++v) {
      if (!graph_.operators[v].mutates.empty()) {
        return Fail(ErrorCode::kUnsupported,
                    "operator " + internal::Quoted(graph_.operators[v].name) +
                        " writes in place, which is not known on elements");
      }
      AddOperator(v);
    }
    for (TensorIndex t = 0; t < graph_.tensors.size(); ++t) {
      const TensorIndex base = BaseOf(graph_, t);
      if (!graph_.tensors[t].output || makers_[base] == kNobody) continue;
      made_.graph.tensors[at_[base].at(element_[makers_[base]])].output = true;
    }
    if (crossing_ == Crossing::kOffChip) WriteWhatCrosses();
    BERTH_TRY(Validate(made_.graph));
    return std::move(made_);
  }

 private:
  TensorIndex AddTensor(TensorIndex base, std::size_t element, bool copy) {
    Tensor tensor = graph_.tensors[base];
    tensor.output = false;
    if (copy) {
      tensor.name += "@" + std::to_string(element);
      const bool given = makers_[base] == kNobody;
      if (!given && crossing_ == Crossing::kOffChip) tensor.kind = TensorKind::kInput;
    }
    const TensorIndex added = made_.graph.tensors.size();
    made_.graph.tensors.push_back(std::move(tensor));
    made_.allowed.push_back({element});
    made_.maker.emplace_back();
    at_[base][element] = added;
    return added;
  }

  // The tensor on the element of operator v, which reads it; a copy where it is made on another one.
  TensorIndex Local(TensorIndex base, OperatorIndex v) {
    const std::size_t element = element_[v];
    const auto known = at_[base].find(element);
    if (known != at_[base].end()) return known->second;
    if (makers_[base] == kNobody) {  // What is given is read on every element that uses it.
      const bool copy = !at_[base].empty();
      const bool weight = graph_.tensors[base].kind != TensorKind::kInput;
      if (copy && !weight) made_.off_chip += graph_.tensors[base].bytes;
      return AddTensor(base, element, copy);
    }
    const TensorIndex source = at_[base].at(element_[makers_[base]]);
    const TensorIndex local = AddTensor(base, element, /*copy=*/true);
    const Bytes bytes = graph_.tensors[base].bytes;
    crosses_[base] = 1;
    if (crossing_ == Crossing::kOffChip) {
      made_.off_chip += bytes;
      made_.maker[local] = made_.operators[makers_[base]];
      return local;
    }
    made_.direct += bytes;
    Operator copy;
    copy.name = "copy " + made_.graph.tensors[local].name;
    copy.type = "Copy";
    copy.inputs = {source};
    copy.outputs = {local};
    copy_of_[local] = made_.graph.operators.size();
    made_.graph.operators.push_back(std::move(copy));
    return local;
  }

  void AddOperator(OperatorIndex v) {
    const Operator& op = graph_.operators[v];
    Operator added;
    added.name = op.name;
    added.type = op.type;
    added.cost = op.cost;
    std::vector<OperatorIndex> copies;
    std::vector<OperatorIndex> after;
    std::vector<TensorIndex> used = op.inputs;
    for (const TensorIndex t : op.outputs) {  // The base of a view is used where the view is made.
      if (graph_.tensors[t].alias_of && makers_[BaseOf(graph_, t)] != v) {
        used.push_back(BaseOf(graph_, t));
      }
    }
    for (const TensorIndex t : used) {
      const TensorIndex local = Local(BaseOf(graph_, t), v);
      added.inputs.push_back(local);
      if (const auto copy = copy_of_.find(local); copy != copy_of_.end()) {
        copies.push_back(copy->second);
      }
      if (made_.maker[local]) after.push_back(*made_.maker[local]);
      // Views are left out, but not that their makers come first.
      if (graph_.tensors[t].alias_of && makers_[t] != kNobody) {
        after.push_back(made_.operators[makers_[t]]);
      }
    }
    for (const OperatorIndex u : op.after) after.push_back(made_.operators[u]);
    for (const TensorIndex t : op.outputs) {
      if (graph_.tensors[t].alias_of) continue;
      added.outputs.push_back(AddTensor(t, element_[v], /*copy=*/false));
    }
    for (auto* const list : {&copies, &after, &added.inputs}) {
      std::sort(list->begin(), list->end());
      list->erase(std::unique(list->begin(), list->end()), list->end());
    }
    added.after = std::move(after);
    made_.operators.push_back(made_.graph.operators.size());
    made_.copies.push_back(std::move(copies));
    made_.graph.operators.push_back(std::move(added));
  }

  // Once, unless it is written as a result anyway.
  void WriteWhatCrosses() {
    for (TensorIndex base = 0; base < crosses_.size(); ++base) {
      if (crosses_[base] == 0) continue;
      Tensor& source = made_.graph.tensors[at_[base].at(element_[makers_[base]])];
      if (!source.output) made_.off_chip += source.bytes;
      source.output = true;
    }
  }

  const Graph& graph_;
  const std::vector<std::size_t>& element_;
  const Crossing crossing_;
  const std::vector<OperatorIndex> makers_;
  ElementGraph made_;
  std::vector<std::map<std::size_t, TensorIndex>> at_;  // By base, then by element.
  std::vector<char> crosses_;                           // By base.
  std::map<TensorIndex, OperatorIndex> copy_of_;        // By the copy.
};

}  // namespace

std::vector<std::size_t> AssignByHeft(const Graph& graph, std::size_t elements, const Link& link) {
  const std::vector<std::vector<Predecessor>> predecessors = PredecessorsOf(graph, link);
  std::vector<std::size_t> element(graph.operators.size(), 0);
  std::vector<std::int64_t> end(graph.operators.size(), 0);
  std::vector<Timeline> timelines(elements);
  for (const OperatorIndex v : ByRank(graph, predecessors)) {
    const std::int64_t length = graph.operators[v].cost.value_or(0);
    std::int64_t begin = 0;
    for (std::size_t e = 0; e < elements; ++e) {
      std::int64_t ready = 0;
      for (const Predecessor& each : predecessors[v]) {
        ready = std::max(ready, end[each.op] + (element[each.op] == e ? 0 : each.copies));
      }
      const std::int64_t time = timelines[e].FreeFrom(ready, length);
      if (e > 0 && time >= begin) continue;
      begin = time;
      element[v] = e;
    }
    end[v] = begin + length;
    timelines[element[v]].Take(begin, length);
  }
  return element;
}

Order ElementGraph::OrderOf(const Order& order) const {
  Order made;
  std::vector<char> copied(graph.operators.size(), 0);
  for (const OperatorIndex v : order) {
    for (const OperatorIndex copy : copies[v]) {
      if (std::exchange(copied[copy], 1) == 0) made.push_back(copy);
    }
    made.push_back(operators[v]);
  }
  return made;
}

Result<ElementGraph> OnElements(const Graph& graph, const std::vector<std::size_t>& element,
                                Crossing crossing) {
  return Rewriter(graph, element, crossing).Run();
}

}  // namespace berth::lab
