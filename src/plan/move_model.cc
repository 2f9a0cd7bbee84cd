#include "plan/move_model.h"

#include <algorithm>
#include <utility>

#include "base/wide.h"
#include "graph/edges.h"
#include "graph/plan.h"
#include "graph/uses.h"

namespace berth::internal::plan {
namespace {

constexpr int kMostBits = 20;
constexpr std::int64_t kMostScaled = std::int64_t{1} << 58;

// bytes * cost / rate.bytes in units of 2^-bits, rounded down.
std::int64_t ScaledCost(Bytes bytes, const Rate& rate, int bits) {
  const Wide product = Wide(bytes) * Wide(rate.cost);
  const Wide whole = product / Wide(rate.bytes);
  if (whole > Wide(kTooMuch >> bits)) return kTooMuch;
  const Wide rest = product - whole * Wide(rate.bytes);
  const Wide part = (rest << bits) / Wide(rate.bytes);
  return std::min(kTooMuch,
                  (static_cast<std::int64_t>(whole) << bits) + static_cast<std::int64_t>(part));
}

std::int64_t ChargeBytes(Bytes bytes, const Rate& rate, std::int64_t& rest) {
  if (bytes == 0 || rate.cost == 0) return 0;
  // `rest` was rounded up already: it is what is paid for and not used.
  const Wide due = Wide(bytes) * Wide(rate.cost) - Wide(rest);
  if (due <= Wide(0)) {
    rest = static_cast<std::int64_t>(-due);
    return 0;
  }
  const Wide units = (due + Wide(rate.bytes) - Wide(1)) / Wide(rate.bytes);
  if (units >= Wide(kTooMuch)) return kTooMuch;
  rest = static_cast<std::int64_t>(units * Wide(rate.bytes) - due);
  return static_cast<std::int64_t>(units);
}

class Builder {
 public:
  Builder(const Graph& graph, const GraphMemories& memories, Step steps)
      : graph_(graph), memories_(memories) {
    model_.memories = memories.memories;
    model_.steps = steps;
    if (memories.stage_in.empty()) return;
    may_stage_.assign(graph.tensors.size(), false);
    for (TensorIndex t = 0; t < graph.tensors.size(); ++t) {
      const TensorKind kind = graph.tensors[t].kind;
      may_stage_[t] = kind == TensorKind::kParameter || kind == TensorKind::kConstant;
    }
    for (const Operator& op : graph.operators) {
      for (const TensorIndex base : op.mutates) may_stage_[base] = false;
    }
  }

  // The bytes that are not reserved; `always`: only those that are reserved throughout all of the
  // `all_steps` count as such.
  void FindRooms(bool always, Step all_steps) {
    const auto steps = static_cast<std::size_t>(model_.steps);
    for (const Memory& memory : model_.memories) {
      auto& room = model_.room.emplace_back(steps, memory.capacity.value_or(kAnyRoom));
      auto& between = model_.room_between.emplace_back(room);
      if (!memory.capacity) continue;
      for (const Reserved& reserved : memory.reserved) {
        const Bytes bytes = reserved.upper - reserved.lower;
        const bool throughout = reserved.start <= 0 && reserved.end >= all_steps;
        if (always && !throughout) continue;
        for (std::size_t s = 0; s < steps; ++s) {
          const auto step = static_cast<Step>(s);
          const bool here = throughout || (reserved.start <= step && step < reserved.end);
          if (here) room[s] -= bytes;
          if (here && (throughout || reserved.start < step)) between[s] -= bytes;
        }
      }
    }
  }

  // The memories in which operators may find the tensor: those of its homes, and of copies beside these.
  [[nodiscard]] std::vector<std::size_t> UsableIn(TensorIndex t) const {
    std::vector<std::size_t> found = MemoriesOf(t);
    if (found.empty()) return found;
    for (const std::size_t m : StagesOf(t)) {
      if (std::find(found.begin(), found.end(), m) == found.end()) found.push_back(m);
    }
    return found;
  }

  // The memories in which copies of the tensor can be kept, and that can hold it.
  [[nodiscard]] std::vector<std::size_t> StagesOf(TensorIndex t) const {
    std::vector<std::size_t> found;
    if (may_stage_.empty() || !may_stage_[t]) return found;
    for (const std::size_t m : memories_.stage_in) {
      const auto& capacity = model_.memories[m].capacity;
      if (!capacity || graph_.tensors[t].bytes <= *capacity) found.push_back(m);
    }
    return found;
  }

  // The memories that the tensor may be in and that can hold it.
  [[nodiscard]] std::vector<std::size_t> MemoriesOf(TensorIndex t) const {
    std::vector<std::size_t> found;
    for (std::size_t m = 0; m < model_.memories.size(); ++m) {
      const auto* const allowed = memories_.allowed.empty() ? nullptr : &memories_.allowed[t];
      const bool may = allowed == nullptr || allowed->empty() ||
                       std::find(allowed->begin(), allowed->end(), m) != allowed->end();
      const auto& capacity = model_.memories[m].capacity;
      if (may && (!capacity || graph_.tensors[t].bytes <= *capacity)) found.push_back(m);
    }
    return found;
  }

  // Nothing if no memory can hold it.
  MoveItem* Add(TensorIndex t, Step start, Step end) {
    MoveItem item;
    item.tensor = t;
    item.size = graph_.tensors[t].bytes;
    item.start = start;
    item.end = end;
    item.memories = MemoriesOf(t);
    const TensorKind kind = graph_.tensors[t].kind;
    item.may_move =
        item.memories.size() > 1 && kind != TensorKind::kParameter && kind != TensorKind::kConstant;
    if (item.memories.empty()) {
      ++model_.unplaceable;
      return nullptr;
    }
    AddCopies(StagesOf(t), item);
    cells_ += static_cast<std::size_t>(end - start) * item.memories.size();
    return &model_.items.emplace_back(std::move(item));
  }

  // Places with a copy beside each home.
  static void AddCopies(const std::vector<std::size_t>& stages, MoveItem& item) {
    const std::vector<std::size_t> homes = item.memories;
    const bool any = std::any_of(stages.begin(), stages.end(), [&](std::size_t m) {
      return homes.size() > 1 || m != homes.front();
    });
    if (!any) return;
    item.homes = homes;
    item.may_move = true;
    for (const std::size_t home : homes) {
      for (const std::size_t m : stages) {
        if (m == home) continue;
        item.memories.push_back(m);
        item.homes.push_back(home);
      }
    }
  }

  [[nodiscard]] bool TooLarge() const { return cells_ > kMostMoveCells; }

  // So many bits that all uses, each where it costs the most, add up to at most 2^58.
  void FindBits() {
    // What is rounded down is at most a unit more.
    std::int64_t sum = 2 * model_.elsewhere;
    for (const MoveItem& item : model_.items) {
      for (const MoveItem::Use& use : item.uses) {
        std::int64_t most = 0;
        for (const std::size_t m : item.memories) {
          most = std::max(most, model_.Scaled(m, use.use));
        }
        sum = Sum(sum, most + 1);
      }
    }
    while (model_.bits < kMostBits && sum < (kMostScaled >> (model_.bits + 1))) ++model_.bits;
  }

  MoveModel Finish() {
    for (MoveItem& item : model_.items) {
      const auto scaled = [&](std::size_t from, std::size_t to) {
        return Sum(model_.Scaled(from, {item.size, 0, 1}), model_.Scaled(to, {0, item.size, 1}));
      };
      item.copy = CopyTable(item, scaled);
    }
    std::stable_sort(model_.items.begin(), model_.items.end(),
                     [](const MoveItem& a, const MoveItem& b) { return a.start < b.start; });
    return std::move(model_);
  }

  [[nodiscard]] MoveModel& model() { return model_; }

 private:
  const Graph& graph_;
  const GraphMemories& memories_;
  MoveModel model_;
  std::size_t cells_ = 0;
  std::vector<bool> may_stage_;  // By tensor; empty: none.
};

void AddUseAt(Step step, Bytes read, Bytes written, MoveItem& item) {
  if (item.uses.empty() || item.uses.back().step != step) item.uses.push_back({step, {}});
  AddUse(read, written, item.uses.back().use);
}

}  // namespace

std::size_t MoveItem::HomeOf(std::size_t k) const {
  return staged() ? static_cast<std::size_t>(std::find(memories.begin(), memories.end(), homes[k]) -
                                             memories.begin())
                  : k;
}

bool MoveItem::IsUsedAround(Step step) const {
  const auto use = std::lower_bound(uses.begin(), uses.end(), step,
                                    [](const Use& each, Step s) { return each.step < s; });
  return use != uses.end() && use->step <= step + 1;
}

std::int64_t Charge(const Memory& memory, const TensorUse& use, Meter& meter) {
  const std::int64_t read = ChargeBytes(use.bytes_read, memory.read, meter.read_rest);
  const std::int64_t write = ChargeBytes(use.bytes_written, memory.write, meter.write_rest);
  const Wide access = Wide(use.accesses) * Wide(memory.access);
  const std::int64_t fixed = access < Wide(kTooMuch) ? static_cast<std::int64_t>(access) : kTooMuch;
  return Sum(Sum(read, write), fixed);
}

std::int64_t MoveModel::Scaled(std::size_t memory, const TensorUse& use) const {
  const Memory& in = memories[memory];
  const Wide access = Wide(use.accesses) * Wide(in.access);
  const std::int64_t fixed =
      access < Wide(kTooMuch >> bits) ? static_cast<std::int64_t>(access) << bits : kTooMuch;
  return Sum(
      Sum(ScaledCost(use.bytes_read, in.read, bits), ScaledCost(use.bytes_written, in.write, bits)),
      fixed);
}

std::optional<MoveModel> ModelOfOrder(const Graph& graph, const Order& order,
                                      const Counting& counting, const GraphMemories& memories) {
  const Step steps = std::max<Step>(1, static_cast<Step>(order.size()));
  Builder builder(graph, memories, steps);
  builder.FindRooms(/*always=*/false, steps);
  const TensorTable table = TableOf(graph, order, counting, memories);
  std::vector<std::size_t> item_of(graph.tensors.size(), table.tensors.size());
  std::vector<MoveItem>& items = builder.model().items;
  for (std::size_t i = 0; i < table.tensors.size(); ++i) {
    const Buffer& buffer = table.problem.table.buffers[i];
    if (builder.Add(table.tensors[i], buffer.start, buffer.end) != nullptr) {
      item_of[table.tensors[i]] = items.size() - 1;
    }
    if (builder.TooLarge()) return std::nullopt;
  }
  for (std::size_t s = 0; s < order.size(); ++s) {
    ForEachUse(graph, order[s], [&](TensorIndex base, Bytes read, Bytes written) {
      if (item_of[base] < items.size()) {
        AddUseAt(static_cast<Step>(s), read, written, items[item_of[base]]);
      }
    });
  }
  builder.FindBits();
  return builder.Finish();
}

std::optional<MoveModel> ModelOfChain(const Graph& graph, const ChainOfOrders& chain, Step steps,
                                      const GraphMemories& memories) {
  Builder builder(graph, memories, std::max<Step>(1, static_cast<Step>(chain.chain.size())));
  builder.FindRooms(/*always=*/true, steps);
  builder.model().copies_need_room = false;
  const std::size_t none = chain.lives.size();
  std::vector<std::size_t> item_of(graph.tensors.size(), none);
  std::vector<std::vector<std::size_t>> elsewhere(graph.tensors.size());
  std::vector<MoveItem>& items = builder.model().items;
  for (const ChainOfOrders::Life& life : chain.lives) {
    elsewhere[life.tensor] = builder.UsableIn(life.tensor);
    if (life.start >= life.end) {
      if (elsewhere[life.tensor].empty()) ++builder.model().unplaceable;
      continue;
    }
    if (builder.Add(life.tensor, life.start, life.end) != nullptr) {
      item_of[life.tensor] = items.size() - 1;
    }
    if (builder.TooLarge()) return std::nullopt;
  }
  std::vector<Step> step_of(graph.operators.size(), -1);
  for (std::size_t k = 0; k < chain.chain.size(); ++k) {
    step_of[chain.chain[k]] = static_cast<Step>(k);
  }
  const auto for_each = [&](bool on_chain, auto visit) {
    const std::size_t count = on_chain ? chain.chain.size() : graph.operators.size();
    for (std::size_t i = 0; i < count; ++i) {
      const OperatorIndex v = on_chain ? chain.chain[i] : i;
      if ((step_of[v] >= 0) != on_chain) continue;
      ForEachUse(graph, v, [&](TensorIndex base, Bytes read, Bytes written) {
        visit(v, base, TensorUse{read, written, 1});
      });
    }
  };
  for_each(true, [&](OperatorIndex v, TensorIndex base, const TensorUse& use) {
    if (item_of[base] == none) return;
    AddUseAt(step_of[v], use.bytes_read, use.bytes_written, items[item_of[base]]);
  });
  MoveModel& model = builder.model();
  model.elsewhere_of.assign(graph.operators.size(), 0);
  const auto pay = [&](OperatorIndex v, TensorIndex base, const TensorUse& use) {
    if (elsewhere[base].empty() || (step_of[v] >= 0 && item_of[base] != none)) return;
    std::int64_t least = kTooMuch;
    for (const std::size_t m : elsewhere[base]) least = std::min(least, model.Scaled(m, use));
    model.elsewhere = Sum(model.elsewhere, least);
    model.elsewhere_of[v] = Sum(model.elsewhere_of[v], least);
  };
  for_each(false, pay);  // In whole units, to see how large it gets.
  for_each(true, pay);
  builder.FindBits();
  model.elsewhere = 0;
  model.elsewhere_of.assign(graph.operators.size(), 0);
  for_each(false, pay);
  for_each(true, pay);
  return builder.Finish();
}

}  // namespace berth::internal::plan
