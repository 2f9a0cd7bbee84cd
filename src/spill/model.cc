#include "spill/model.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "base/check.h"
#include "graph/edges.h"

namespace berth::internal::spill {
namespace {

using Edges = std::vector<std::pair<OpIndex, OpIndex>>;

// `before`: pairs (operator, predecessor).
void ListEdges(Model& model, const Edges& before) {
  Edges after;
  after.reserve(before.size());
  for (const auto& [v, u] : before) after.emplace_back(u, v);
  model.predecessors = Lists<OpIndex, OpIndex>(model.num_operators, before);
  model.successors = Lists<OpIndex, OpIndex>(model.num_operators, after);
}

// Fills the lists of edges and the rows of ancestors from direct(v), the predecessors of each
// operator v, which are less than it and in order. False, and the model unchanged, where
// may_go_on(work) is, in the units of Spending::SpendWork().
template <typename Direct, typename MayGoOn>
bool SetPrecedence(Model& model, Direct direct, MayGoOn may_go_on) {
  const std::size_t n = model.num_operators;
  const std::size_t words = model.operator_words();
  model.ancestors.reserve(n * words);
  Edges before;
  for (std::size_t v = 0; v < n; ++v) {
    model.ancestors.resize((v + 1) * words, 0);
    Word* row = model.ancestors.data() + v * words;
    const std::span<const OpIndex> early_first = direct(v);
    if (!may_go_on(static_cast<std::int64_t>((early_first.size() + 1) * words))) {
      model.ancestors = {};
      return false;
    }
    // From the latest: an edge is redundant if a later predecessor already waits for it.
    for (std::size_t i = early_first.size(); i-- > 0;) {
      const OpIndex u = early_first[i];
      if (TestBit(row, u.position())) continue;
      const Word* other = model.AncestorsOf(u);
      for (std::size_t w = 0; w < words; ++w) row[w] |= other[w];
      SetBit(row, u.position());
      before.emplace_back(OpIndex(v), u);
    }
  }
  ListEdges(model, before);
  return true;
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
    model.made = Lists<OpIndex, StorageIndex>(model.num_operators, made);
    model.used = Lists<OpIndex, StorageIndex>(model.num_operators, used);
    model.written = Lists<OpIndex, StorageIndex>(model.num_operators, written);
    model.users = Lists<StorageIndex, OpIndex>(model.storages.size(), users);
  }
};

// A graph on its way to a model.
struct Source {
  const Graph& graph;
  std::vector<OperatorIndex> makers;
  std::vector<TensorIndex> bases;        // That operators use, by operator.
  std::vector<std::size_t> begin;        // Of each operator's bases.
  std::vector<std::int32_t> storage_of;  // By tensor; -1: not in the model.

  [[nodiscard]] bool IsStored(TensorIndex t) const { return storage_of[t] >= 0; }
  [[nodiscard]] std::span<const TensorIndex> UsesOf(OperatorIndex v) const {
    return {bases.data() + begin[v], begin[v + 1] - begin[v]};
  }
};

void AddStorages(const Counting& counting, Source& source, Model& model) {
  const Graph& graph = source.graph;
  const std::vector<bool> is_output = BasesOfOutputs(graph);
  std::vector<bool> is_touched(graph.tensors.size(), false);
  std::vector<bool> is_written(graph.tensors.size(), false);
  for (OperatorIndex v = 0; v < graph.operators.size(); ++v) {
    for (const TensorIndex base : source.UsesOf(v)) is_touched[base] = true;
    for (const TensorIndex base : graph.operators[v].mutates) is_written[base] = true;
  }
  source.storage_of.assign(graph.tensors.size(), -1);
  for (TensorIndex t = 0; t < graph.tensors.size(); ++t) {
    const Tensor& tensor = graph.tensors[t];
    if (!IsCounted(tensor, counting)) continue;
    const bool made = source.makers[t] != kNoOperator;
    if (!made && !is_touched[t]) continue;  // No operator needs it in memory.
    const StorageIndex s(model.storages.size());
    source.storage_of[t] = s.value();
    Stored stored;
    stored.tensor = t;
    stored.size = tensor.bytes;
    // An input that is written in place must be written back: its new value is a result.
    stored.result = is_output[t] || (!made && is_written[t]);
    model.storages.push_back(stored);
  }
}

// Operators that touch no storage only pass on their predecessors.
void AddOperators(const Source& source, Model& model) {
  const Graph& graph = source.graph;
  const std::size_t n = graph.operators.size();
  std::vector<std::int32_t> kept(n, -1);
  for (OperatorIndex v = 0; v < n; ++v) {
    const auto stored = [&](TensorIndex t) { return source.IsStored(t); };
    const Operator& op = graph.operators[v];
    const auto uses = source.UsesOf(v);
    if (std::any_of(op.outputs.begin(), op.outputs.end(), stored) ||
        std::any_of(uses.begin(), uses.end(), stored)) {
      kept[v] = static_cast<std::int32_t>(model.operators.size());
      model.operators.push_back(v);
    }
  }
  model.num_operators = model.operators.size();
  Edges before;
  std::vector<std::vector<OpIndex>> waits(n);  // Of operators that are left out.
  std::vector<OpIndex> mine;
  for (OperatorIndex v = 0; v < n; ++v) {
    mine.clear();
    ForEachPredecessor(graph, source.makers, v, [&](OperatorIndex u) {
      if (kept[u] >= 0) {
        mine.emplace_back(kept[u]);
      } else {
        mine.insert(mine.end(), waits[u].begin(), waits[u].end());
      }
    });
    std::sort(mine.begin(), mine.end());
    mine.erase(std::unique(mine.begin(), mine.end()), mine.end());
    if (kept[v] < 0) {
      waits[v] = mine;
      continue;
    }
    for (const OpIndex u : mine) before.emplace_back(OpIndex(kept[v]), u);
  }
  ListEdges(model, before);
}

void AddAccesses(const Source& source, Model& model) {
  Accesses accesses;
  model.needs.assign(model.num_operators, 0);
  model.elsewhere.assign(model.num_operators, 0);
  for (std::size_t i = 0; i < model.num_operators; ++i) {
    const OperatorIndex v = model.operators[i];
    const Operator& op = source.graph.operators[v];
    const OpIndex here(i);
    for (const TensorIndex t : op.outputs) {
      if (!source.IsStored(t)) continue;
      const StorageIndex s(source.storage_of[t]);
      accesses.made.emplace_back(here, s);
      model.storages[s].creator = here;
      model.needs[here] += model.storages[s].size;
    }
    for (const TensorIndex t : source.UsesOf(v)) {
      if (!source.IsStored(t)) continue;
      const StorageIndex s(source.storage_of[t]);
      accesses.used.emplace_back(here, s);
      model.needs[here] += model.storages[s].size;
    }
    for (const TensorIndex t : op.mutates) {
      if (!source.IsStored(t)) continue;
      const StorageIndex s(source.storage_of[t]);
      if (model.storages[s].creator == here) continue;
      accesses.written.emplace_back(here, s);
      ++model.storages[s].writers;
    }
  }
  std::move(accesses).ListIn(model);
}

// The operators of PartOf(), by increasing index.
std::vector<OpIndex> OperatorsOfPart(const Model& model, const std::vector<char>& inside,
                                     Bytes capacity, std::size_t max_others) {
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
  std::vector<OpIndex> operators;
  for (std::size_t i = 0; i < model.num_operators; ++i) {
    if (touches[i] != 0) operators.emplace_back(i);
  }
  return operators;
}

}  // namespace

Model CompileModel(const Graph& graph, const Counting& counting, bool with_ancestors) {
  Model model;
  Source source{graph, Makers(graph), {}, {0}, {}};
  source.begin.reserve(graph.operators.size() + 1);
  std::vector<TensorIndex> bases;
  for (OperatorIndex v = 0; v < graph.operators.size(); ++v) {
    BasesUsed(graph, source.makers, v, bases);
    source.bases.insert(source.bases.end(), bases.begin(), bases.end());
    source.begin.push_back(source.bases.size());
  }
  AddStorages(counting, source, model);
  AddOperators(source, model);
  AddAccesses(source, model);
  if (with_ancestors) {
    Budget unlimited;
    BERTH_CHECK(AddAncestors(model, unlimited));
  }
  return model;
}

bool Model::IsUsedBetween(OpIndex v, OpIndex w, StorageIndex s) const {
  if (Precedes(w, v)) std::swap(v, w);
  const auto all = users[s];
  return std::any_of(all.begin(), all.end(),
                     [&](OpIndex u) { return Precedes(v, u) && Precedes(u, w); });
}

bool Model::Touches(OpIndex v, StorageIndex s) const {
  const auto all = users[s];
  return storages[s].creator == v || std::find(all.begin(), all.end(), v) != all.end();
}

Bytes DivisorOf(const Model& model) {
  Bytes divisor = 0;
  for (const Stored& stored : model.storages.items()) divisor = std::gcd(divisor, stored.size);
  return std::max<Bytes>(divisor, 1);
}

bool AddAncestors(Model& model, Budget& budget) {
  const Lists<OpIndex, OpIndex> direct = model.predecessors;
  return SetPrecedence(
      model, [&](std::size_t v) { return direct[OpIndex(v)]; },
      [&](std::int64_t work) { return budget.SpendWork(work); });
}

Model WithOrder(const Model& model, std::span<const OpIndex> order) {
  const std::size_t n = model.num_operators;
  BERTH_CHECK(order.size() == n);
  Model fixed;
  fixed.num_operators = n;
  fixed.ordered = true;
  fixed.storages = model.storages;
  fixed.needs.assign(n, 0);
  fixed.elsewhere.assign(n, 0);
  std::vector<OpIndex> position(n, OpIndex(-1));
  Edges before;
  Accesses accesses;
  for (std::size_t i = 0; i < n; ++i) {
    const OpIndex v = order[i];
    const OpIndex here(i);
    position[v.position()] = here;
    fixed.operators.push_back(model.operators[v.position()]);
    fixed.needs[here] = model.needs[v];
    fixed.elsewhere[here] = model.elsewhere[v];
    if (i > 0) before.emplace_back(OpIndex(i), OpIndex(i - 1));
    for (const StorageIndex s : model.made[v]) accesses.made.emplace_back(here, s);
    for (const StorageIndex s : model.used[v]) accesses.used.emplace_back(here, s);
    for (const StorageIndex s : model.written[v]) accesses.written.emplace_back(here, s);
  }
  for (Stored& stored : fixed.storages.items()) {
    if (stored.creator.value() >= 0) stored.creator = position[stored.creator.position()];
  }
  ListEdges(fixed, before);
  std::move(accesses).ListIn(fixed);
  return fixed;
}

Model PartOf(const Model& model, const std::vector<char>& inside, Bytes capacity,
             std::size_t max_others, std::vector<OpIndex>& operators) {
  operators = OperatorsOfPart(model, inside, capacity, max_others);
  std::vector<std::int32_t> here(model.num_operators, -1);
  for (std::size_t i = 0; i < operators.size(); ++i) {
    here[operators[i].position()] = static_cast<std::int32_t>(i);
  }
  Model part;
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
  SetPrecedence(
      part, [&](std::size_t v) { return std::span<const OpIndex>(direct[v]); },
      [](std::int64_t) { return true; });
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
