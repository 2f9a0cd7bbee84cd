#include "schedule/best_first.h"

#include <algorithm>
#include <cstring>

namespace berth::internal::schedule {
namespace {

constexpr std::size_t kFirstTable = 1024;  // Initial slots of the hash table.

}  // namespace

BestFirst::BestFirst(const Instance& instance, Bytes floor, Bytes limit, bool dominance,
                     bool valleys)
    : walker_(instance, floor, dominance),
      valley_finder_(walker_),
      use_valleys_(valleys),
      limit_(limit),
      lower_bound_(floor),
      table_(kFirstTable, kNone),
      scratch_(walker_.state_words()) {
  Standing at = walker_.Start(scratch_.data());
  walker_.RunDominant(scratch_.data(), at);
  if (at.peak <= limit_) Add(scratch_.data(), at, kNone, 0);
}

void BestFirst::Grow() {
  std::vector<std::uint32_t> table(table_.size() * 2, kNone);
  const std::size_t mask = table.size() - 1;
  for (std::uint32_t k = 0; k < records_.size(); ++k) {
    std::size_t at = walker_.Hash(words_.data() + k * walker_.state_words()) & mask;
    while (table[at] != kNone) at = (at + 1) & mask;
    table[at] = k;
  }
  table_ = std::move(table);
}

void BestFirst::Push(std::uint32_t state) {
  const auto later = [](const Open& a, const Open& b) {
    return a.peak != b.peak ? a.peak > b.peak : a.age < b.age;
  };
  open_.push_back({records_[state].at.peak, age_++, state});
  std::push_heap(open_.begin(), open_.end(), later);
}

void BestFirst::Add(const Word* state, const Standing& at, std::uint32_t parent, Op op,
                    bool valley) {
  if (records_.size() * 2 >= table_.size()) Grow();
  const std::size_t mask = table_.size() - 1;
  const std::size_t stride = walker_.state_words();
  std::size_t slot = walker_.Hash(state) & mask;
  for (; table_[slot] != kNone; slot = (slot + 1) & mask) {
    const std::uint32_t k = table_[slot];
    if (std::memcmp(words_.data() + k * stride, state, walker_.words() * sizeof(Word)) != 0) {
      continue;
    }
    Record& known = records_[k];
    if (known.at.peak <= at.peak) return;
    // Not expanded yet: states are expanded in order of their peak.
    known.at.peak = at.peak;
    known.parent = parent;
    known.op = op;
    known.valley = valley;
    Push(k);
    return;
  }
  const auto id = static_cast<std::uint32_t>(records_.size());
  table_[slot] = id;
  words_.insert(words_.end(), state, state + stride);
  records_.push_back({at, parent, op, false, valley});
  Push(id);
}

bool BestFirst::Expand(std::uint32_t state, Budget& budget) {
  const std::size_t stride = walker_.state_words();
  const Record record = records_[state];
  if (use_valleys_) {
    const std::int64_t before = valley_finder_.work();
    const std::vector<Op>& ops = valley_finder_.Find(words_.data() + state * stride, record.at);
    work_ += valley_finder_.work() - before;
    if (!budget.SpendWork(valley_finder_.work() - before)) return false;
    if (!ops.empty()) {
      std::copy_n(words_.data() + state * stride, stride, scratch_.begin());
      Standing at = record.at;
      for (const Op op : ops) walker_.Run(scratch_.data(), at, op);
      if (!budget.SpendWork(Walker::kWorkOfLook * walker_.RunDominant(scratch_.data(), at)))
        return false;
      valleys_.push_back(ops);
      Add(scratch_.data(), at, state, static_cast<Op>(valleys_.size() - 1), true);
      return true;
    }
  }
  children_.clear();
  {
    const Word* const bits = words_.data() + state * stride;
    ForEachBit(bits + walker_.words(), walker_.words(), [&](std::size_t bit) {
      const Op op = static_cast<Op>(bit);
      const Bytes step = walker_.StepBytes(bits, record.at, op);
      if (step > limit_) return;
      children_.push_back({step - FreedBytes(walker_.instance(), bits, op), op});
    });
  }
  work_ += static_cast<std::int64_t>(20 + children_.size() * (20 + 2 * stride));
  std::sort(children_.begin(), children_.end(), [](const Child& a, const Child& b) {
    return a.live != b.live ? a.live > b.live : a.op > b.op;
  });
  for (const Child& child : children_) {
    if (!budget.SpendWork(static_cast<std::int64_t>(20 + 4 * stride))) return false;
    const Word* const bits = words_.data() + state * stride;
    std::copy(bits, bits + stride, scratch_.begin());
    Standing at = record.at;
    walker_.Run(scratch_.data(), at, child.op);
    if (!budget.SpendWork(Walker::kWorkOfLook * walker_.RunDominant(scratch_.data(), at)))
      return false;
    Add(scratch_.data(), at, state, child.op);
  }
  return true;
}

BestFirst::Verdict BestFirst::Run(std::int64_t work, std::size_t most_bytes, Budget& budget) {
  const std::int64_t work_end = work_ + work;
  const auto later = [](const Open& a, const Open& b) {
    return a.peak != b.peak ? a.peak > b.peak : a.age < b.age;
  };
  if (found_) return Verdict::kFound;
  if (incomplete_) return Verdict::kOpen;
  while (!open_.empty()) {
    const Open next = open_.front();
    Record& record = records_[next.state];
    if (!record.taken && record.at.peak == next.peak) {
      if (next.peak > limit_) break;
      lower_bound_ = std::max(lower_bound_, next.peak);
      if (work_ >= work_end || bytes() > most_bytes || !budget.SpendNode()) return Verdict::kOpen;
    }
    std::pop_heap(open_.begin(), open_.end(), later);
    open_.pop_back();
    if (record.taken || record.at.peak != next.peak) continue;
    record.taken = true;
    if (walker_.AtEnd(words_.data() + next.state * walker_.state_words())) {
      Recover(next.state);
      found_ = true;
      return Verdict::kFound;
    }
    incomplete_ = !Expand(next.state, budget);
    if (incomplete_) return Verdict::kOpen;
  }
  lower_bound_ = limit_ + 1;
  open_.clear();
  return Verdict::kImpossible;
}

void BestFirst::Recover(std::uint32_t state) {
  std::vector<std::uint32_t> way;
  for (; records_[state].parent != kNone; state = records_[state].parent) way.push_back(state);
  order_.clear();
  Standing at = walker_.Start(scratch_.data());
  walker_.RunDominant(scratch_.data(), at, &order_);
  for (std::size_t k = way.size(); k-- > 0;) {
    const Record& record = records_[way[k]];
    const std::vector<Op> ops = record.valley ? valleys_[record.op] : std::vector<Op>{record.op};
    for (const Op op : ops) {
      order_.push_back(op);
      walker_.Run(scratch_.data(), at, op);
    }
    walker_.RunDominant(scratch_.data(), at, &order_);
  }
}

}  // namespace berth::internal::schedule
