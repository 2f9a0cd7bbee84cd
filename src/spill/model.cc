#include "spill/model.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/check.h"
#include "graph/edges.h"

namespace berth::internal::spill {
namespace {

// Fills the lists of edges and the rows of ancestors from `direct`, pairs (operator, predecessor)
// whose first is greater than its second.
void SetPrecedence(Model& model, const std::vector<std::vector<OpIndex>>& direct) {
  const std::size_t n = model.num_operators;
  const std::size_t words = model.operator_words();
  model.ancestors.assign(n * words, 0);
  std::vector<std::pair<OpIndex, OpIndex>> before;
  std::vector<std::pair<OpIndex, OpIndex>> after;
  std::vector<OpIndex> late_first;
  for (std::size_t v = 0; v < n; ++v) {
    Word* row = model.ancestors.data() + v * words;
    late_first = direct[v];
    std::sort(late_first.begin(), late_first.end());
    // From the latest: an edge is redundant if a later predecessor already waits for it.
    for (std::size_t i = late_first.size(); i-- > 0;) {
      const OpIndex u = late_first[i];
      if (TestBit(row, u.position())) continue;
      const Word* other = model.AncestorsOf(u);
      for (std::size_t w = 0; w < words; ++w) row[w] |= other[w];
      SetBit(row, u.position());
      before.emplace_back(OpIndex(v), u);
      after.emplace_back(u, OpIndex(v));
    }
  }
  model.predecessors = Lists<OpIndex, OpIndex>(n, std::move(before));
  model.successors = Lists<OpIndex, OpIndex>(n, std::move(after));
}

// Which operators create, use and write which tensors, before they are listed.
struct Accesses {
  std::vector<std::pair<OpIndex, StorageIndex>> made;
  std::vector<std::pair<OpIndex, StorageIndex>> used;
  std::vector<std::pair<OpIndex, StorageIndex>> written;

  // For a model whose operators and storages are counted.
  void ListIn(Model& model) && {
    std::vector<std::pair<StorageIndex, OpIndex>> users;
    users.reserve(used.size());
    for (const auto& [op, storage] : used) users.emplace_back(storage, op);
    model.made = Lists<OpIndex, StorageIndex>(model.num_operators, std::move(made));
    model.used = Lists<OpIndex, StorageIndex>(model.num_operators, std::move(used));
    model.written = Lists<OpIndex, StorageIndex>(model.num_operators, std::move(written));
    model.users = Lists<StorageIndex, OpIndex>(model.storages.size(), std::move(users));
  }
};

}  // namespace

Model CompileModel(const Graph& graph, const Counting& counting) {
  Model model;
  const std::size_t n = graph.operators.size();
  const std::vector<OperatorIndex> makers = Makers(graph);
  const std::vector<bool> is_output = BasesOfOutputs(graph);
  std::vector<bool> is_touched(graph.tensors.size(), false);
  std::vector<bool> is_written(graph.tensors.size(), false);
  std::vector<std::vector<TensorIndex>> uses(n);
  for (OperatorIndex v = 0; v < n; ++v) {
    BasesUsed(graph, makers, v, uses[v]);
    for (const TensorIndex base : uses[v]) is_touched[base] = true;
    for (const TensorIndex base : graph.operators[v].mutates) is_written[base] = true;
  }

  std::vector<std::int32_t> storage_of(graph.tensors.size(), -1);
  for (TensorIndex t = 0; t < graph.tensors.size(); ++t) {
    const Tensor& tensor = graph.tensors[t];
    if (!IsCounted(tensor, counting)) continue;
    const bool made = makers[t] != kNoOperator;
    if (!made && !is_touched[t]) continue;  // No operator needs it in memory.
    const StorageIndex s(model.storages.size());
    storage_of[t] = s.value();
    Stored stored;
    stored.tensor = t;
    stored.size = tensor.bytes;
    // An input that is written in place must be written back: its new value is a result.
    stored.result = is_output[t] || (!made && is_written[t]);
    model.storages.push_back(stored);
  }

  // Operators that touch no storage only pass on their predecessors.
  std::vector<std::int32_t> kept(n, -1);
  for (OperatorIndex v = 0; v < n; ++v) {
    const auto counted = [&](TensorIndex t) { return storage_of[t] >= 0; };
    const Operator& op = graph.operators[v];
    if (std::any_of(op.outputs.begin(), op.outputs.end(), counted) ||
        std::any_of(uses[v].begin(), uses[v].end(), counted)) {
      kept[v] = static_cast<std::int32_t>(model.operators.size());
      model.operators.push_back(v);
    }
  }
  model.num_operators = model.operators.size();
  std::vector<std::vector<OpIndex>> waits(n);
  std::vector<std::vector<OpIndex>> direct(model.num_operators);
  for (OperatorIndex v = 0; v < n; ++v) {
    std::vector<OpIndex>& mine = waits[v];
    ForEachPredecessor(graph, makers, v, [&](OperatorIndex u) {
      if (kept[u] >= 0) {
        mine.emplace_back(kept[u]);
      } else {
        mine.insert(mine.end(), waits[u].begin(), waits[u].end());
      }
    });
    std::sort(mine.begin(), mine.end());
    mine.erase(std::unique(mine.begin(), mine.end()), mine.end());
    if (kept[v] >= 0) direct[static_cast<std::size_t>(kept[v])] = std::move(mine);
  }
  SetPrecedence(model, direct);

  Accesses accesses;
  model.needs.assign(model.num_operators, 0);
  model.elsewhere.assign(model.num_operators, 0);
  for (std::size_t i = 0; i < model.num_operators; ++i) {
    const OperatorIndex v = model.operators[i];
    const OpIndex here(i);
    for (const TensorIndex t : graph.operators[v].outputs) {
      if (storage_of[t] < 0) continue;
      const StorageIndex s(storage_of[t]);
      accesses.made.emplace_back(here, s);
      model.storages[s].creator = here;
      model.needs[here] += model.storages[s].size;
    }
    for (const TensorIndex t : uses[v]) {
      if (storage_of[t] < 0) continue;
      const StorageIndex s(storage_of[t]);
      accesses.used.emplace_back(here, s);
      model.needs[here] += model.storages[s].size;
    }
    for (const TensorIndex t : graph.operators[v].mutates) {
      if (storage_of[t] < 0) continue;
      const StorageIndex s(storage_of[t]);
      if (model.storages[s].creator == here) continue;
      accesses.written.emplace_back(here, s);
      ++model.storages[s].writers;
    }
  }
  std::move(accesses).ListIn(model);
  return model;
}

Model WithOrder(const Model& model, std::span<const OpIndex> order) {
  const std::size_t n = model.num_operators;
  BERTH_CHECK(order.size() == n);
  Model fixed;
  fixed.num_operators = n;
  fixed.storages = model.storages;
  fixed.needs.assign(n, 0);
  fixed.elsewhere.assign(n, 0);
  std::vector<OpIndex> position(n, OpIndex(-1));
  std::vector<std::vector<OpIndex>> direct(n);
  Accesses accesses;
  for (std::size_t i = 0; i < n; ++i) {
    const OpIndex v = order[i];
    const OpIndex here(i);
    position[v.position()] = here;
    fixed.operators.push_back(model.operators[v.position()]);
    fixed.needs[here] = model.needs[v];
    fixed.elsewhere[here] = model.elsewhere[v];
    if (i > 0) direct[i].push_back(OpIndex(i - 1));
    for (const StorageIndex s : model.made[v]) accesses.made.emplace_back(here, s);
    for (const StorageIndex s : model.used[v]) accesses.used.emplace_back(here, s);
    for (const StorageIndex s : model.written[v]) accesses.written.emplace_back(here, s);
  }
  for (Stored& stored : fixed.storages.items()) {
    if (stored.creator.value() >= 0) stored.creator = position[stored.creator.position()];
  }
  SetPrecedence(fixed, direct);
  std::move(accesses).ListIn(fixed);
  return fixed;
}

Model PartOf(const Model& model, const std::vector<char>& inside, Bytes capacity,
             std::size_t max_others, std::vector<OpIndex>& operators) {
  Model part;
  const std::size_t words = model.operator_words();
  std::vector<char> touches(model.num_operators, 0);
  std::vector<Word> makers(words, 0);   // Creators of the part's storages.
  std::vector<Word> leading(words, 0);  // All predecessors of the part's operators.
  Bytes largest = 0;
  for (const StorageIndex s : model.storages.indices()) {
    if (inside[s.position()] == 0) continue;
    largest = std::max(largest, model.storages[s].size);
    const OpIndex creator = model.storages[s].creator;
    if (creator.value() >= 0) {
      touches[creator.position()] = 1;
      SetBit(makers.data(), creator.position());
    }
    for (const OpIndex u : model.users[s]) {
      touches[u.position()] = 1;
      const Word* row = model.AncestorsOf(u);
      for (std::size_t w = 0; w < words; ++w) leading[w] |= row[w];
    }
  }
  std::vector<std::pair<Bytes, std::size_t>> others;
  for (std::size_t i = 0; i < model.num_operators; ++i) {
    const OpIndex v(i);
    if (touches[i] != 0 || model.needs[v] + largest <= capacity || !TestBit(leading.data(), i)) {
      continue;
    }
    const Word* row = model.AncestorsOf(v);
    bool follows = false;
    for (std::size_t w = 0; w < words && !follows; ++w) follows = (row[w] & makers[w]) != 0;
    if (follows) others.emplace_back(-model.needs[v], i);
  }
  std::sort(others.begin(), others.end());
  if (others.size() > max_others) others.resize(max_others);
  for (const auto& [needs, i] : others) touches[i] = 1;
  std::vector<std::int32_t> here(model.num_operators, -1);
  operators.clear();
  for (std::size_t i = 0; i < model.num_operators; ++i) {
    if (touches[i] == 0) continue;
    here[i] = static_cast<std::int32_t>(operators.size());
    operators.emplace_back(i);
  }
  const std::size_t n = operators.size();
  part.num_operators = n;
  part.needs.assign(n, 0);
  part.elsewhere.assign(n, 0);
  std::vector<std::int32_t> storage_of(model.storages.size(), -1);
  for (const StorageIndex s : model.storages.indices()) {
    if (inside[s.position()] == 0) continue;
    storage_of[s.position()] = static_cast<std::int32_t>(part.storages.size());
    Stored stored = model.storages[s];
    if (stored.creator.value() >= 0) stored.creator = OpIndex(here[stored.creator.position()]);
    part.storages.push_back(stored);
  }
  std::vector<std::vector<OpIndex>> direct(n);
  Accesses accesses;
  for (std::size_t i = 0; i < n; ++i) {
    const OpIndex v = operators[i];
    const OpIndex mine(i);
    part.operators.push_back(model.operators[v.position()]);
    part.needs[mine] = model.needs[v];
    part.elsewhere[mine] = model.needs[v];
    const Word* ancestors = model.AncestorsOf(v);
    for (std::size_t j = 0; j < i; ++j) {
      if (TestBit(ancestors, operators[j].position())) direct[i].push_back(OpIndex(j));
    }
    for (const StorageIndex s : model.made[v]) {
      const StorageIndex t(storage_of[s.position()]);
      if (t.value() < 0) continue;
      accesses.made.emplace_back(mine, t);
      part.elsewhere[mine] -= model.storages[s].size;
    }
    for (const StorageIndex s : model.used[v]) {
      const StorageIndex t(storage_of[s.position()]);
      if (t.value() < 0) continue;
      accesses.used.emplace_back(mine, t);
      part.elsewhere[mine] -= model.storages[s].size;
    }
    for (const StorageIndex s : model.written[v]) {
      const StorageIndex t(storage_of[s.position()]);
      if (t.value() >= 0) accesses.written.emplace_back(mine, t);
    }
  }
  SetPrecedence(part, direct);
  std::move(accesses).ListIn(part);
  return part;
}

Order ExpandOrder(const Graph& graph, const Model& model, std::span<const OpIndex> order) {
  const std::vector<OperatorIndex> makers = Makers(graph);
  Order full;
  full.reserve(graph.operators.size());
  std::vector<bool> done(graph.operators.size(), false);
  std::vector<OperatorIndex> stack;
  // Depth first, without recursion: everything that an operator waits for, then the operator.
  const auto run = [&](OperatorIndex last) {
    stack.push_back(last);
    while (!stack.empty()) {
      const OperatorIndex v = stack.back();
      const std::size_t depth = stack.size();
      if (!done[v]) {
        ForEachPredecessor(graph, makers, v, [&](OperatorIndex u) {
          if (!done[u]) stack.push_back(u);
        });
      }
      if (stack.size() > depth) continue;
      stack.pop_back();
      if (done[v]) continue;
      done[v] = true;
      full.push_back(v);
    }
  };
  for (const OpIndex v : order) run(model.operators[v.position()]);
  for (OperatorIndex v = 0; v < graph.operators.size(); ++v) run(v);
  return full;
}

std::vector<OpIndex> ReduceOrder(const Model& model, const Order& order) {
  std::vector<std::int32_t> here(order.size(), -1);
  for (std::size_t i = 0; i < model.num_operators; ++i) {
    here[model.operators[i]] = static_cast<std::int32_t>(i);
  }
  std::vector<OpIndex> reduced;
  reduced.reserve(model.num_operators);
  for (const OperatorIndex v : order) {
    if (here[v] >= 0) reduced.emplace_back(here[v]);
  }
  return reduced;
}

}  // namespace berth::internal::spill
