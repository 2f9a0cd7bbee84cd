#include "schedule/state_log.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace berth::internal::schedule {
namespace {

constexpr Op kNoPivot = ~Op{0};

}  // namespace

StateLog::StateLog(const Instance& instance, Bytes limit, bool backwards)
    : instance_(instance), limit_(limit), backwards_(backwards) {
  FindLate();
  Contract();
  walker_.emplace(kept_, limit_, true);
  FindPivots();
}

// Each buffer that a late operator consumes has another consumer that follows it.
void StateLog::FindLate() {
  const std::size_t n = instance_.num_ops;
  const BitMatrix after =
      Descendants(instance_, TopologicalOrder(n, instance_.predecessors, instance_.successors));
  late_.assign(n, false);
  for (Op v = 0; v < n; ++v) {
    const auto& buffers = instance_.consumes[v];
    late_[v] = std::all_of(buffers.begin(), buffers.end(), [&](Op b) {
      const auto& to = instance_.buffers[b].consumers;
      return std::any_of(to.begin(), to.end(), [&](Op k) { return after.Test(v, k); });
    });
  }
}

// The same instance with the late operators as parts of those that need them first.
void StateLog::Contract() {
  const std::size_t n = instance_.num_ops;
  std::vector<Op> local(n, 0);
  for (Op v = 0; v < n; ++v) {
    if (late_[v]) continue;
    local[v] = static_cast<Op>(ops_.size());
    ops_.push_back(v);
  }
  // By late operator: the kept ones that need it, without kept ones between.
  std::vector<std::vector<Op>> needed_by(n);
  std::vector<std::pair<Op, Op>> edges;
  std::vector<Op> stack;
  std::vector<Op> seen(n, static_cast<Op>(n));
  for (const Op v : ops_) {
    stack.assign(1, v);
    while (!stack.empty()) {
      const Op u = stack.back();
      stack.pop_back();
      for (const Op p : instance_.predecessors[u]) {
        if (std::exchange(seen[p], v) == v) continue;
        if (late_[p]) {
          needed_by[p].push_back(local[v]);
          stack.push_back(p);
        } else {
          edges.emplace_back(local[p], local[v]);
        }
      }
    }
  }
  std::vector<FlowBuffer> buffers;
  for (const FlowBuffer& buffer : instance_.buffers) {
    FlowBuffer kept{buffer.bytes, buffer.from_start, buffer.to_end, {}, {}};
    for (const Op c : buffer.creators) {
      if (late_[c]) {
        kept.creators.insert(kept.creators.end(), needed_by[c].begin(), needed_by[c].end());
      } else {
        kept.creators.push_back(local[c]);
      }
    }
    for (const Op k : buffer.consumers) {
      if (!late_[k]) kept.consumers.push_back(local[k]);
    }
    // What no kept operator needs is made after all of them.
    if (!kept.from_start && kept.creators.empty()) continue;
    if (!kept.to_end && kept.consumers.empty()) continue;
    buffers.push_back(std::move(kept));
  }
  kept_ = MakeInstance(ops_.size(), instance_.base, edges, std::move(buffers));
}

void StateLog::FindPivots() {
  const std::vector<Op> order =
      TopologicalOrder(kept_.num_ops, kept_.predecessors, kept_.successors);
  const BitMatrix before = Ancestors(kept_, order);
  const BitMatrix after = Descendants(kept_, order);
  for (const Op v : order) {
    std::size_t related = 1;
    for (std::size_t k = 0; k < before.words(); ++k) {
      related += static_cast<std::size_t>(std::popcount(before[v][k] | after[v][k]));
    }
    if (related == kept_.num_ops) pivots_.push_back(v);
  }
}

std::uint32_t StateLog::Lookup(const Word* state) const {
  const auto [first, last] = by_hash_.equal_range(walker_->Hash(state));
  for (auto it = first; it != last; ++it) {
    const Word* const other =
        words_.data() + std::size_t{slot_[it->second]} * walker_->state_words();
    if (std::equal(state, state + walker_->words(), other)) return it->second;
  }
  return kNone;
}

// The operators that can run next within the limit.
void StateLog::Open(std::uint32_t node, const Standing& at) {
  const Word* const state = words_.data() + std::size_t{slot_[node]} * walker_->state_words();
  const std::size_t begin = ready_.size();
  ForEachBit(state + walker_->words(), walker_->words(), [&](std::size_t v) {
    if (walker_->StepBytes(state, at, static_cast<Op>(v)) <= limit_) {
      ready_.push_back(static_cast<Op>(v));
    }
  });
  path_.push_back({node, begin, begin, ready_.size(), at.live});
}

std::size_t StateLog::BytesUsed() const {
  constexpr std::size_t kOfEntry = 48;
  return words_.size() * sizeof(Word) + nodes_.size() * (sizeof(Node) + kOfEntry) +
         runs_.size() * sizeof(Op);
}

void StateLog::Clear() {
  nodes_.clear();
  runs_.clear();
  slot_.clear();
  words_.clear();
  by_hash_.clear();
  path_.clear();
  ready_.clear();
}

void StateLog::Take(Op op, Standing at) {
  Node node;
  node.op = op;
  node.run_begin = static_cast<std::uint32_t>(runs_.size());
  at.peak = limit_;
  (void)walker_->RunDominant(state_.data(), at, &runs_);
  node.run_end = static_cast<std::uint32_t>(runs_.size());
  node.same = nodes_.empty() ? kNone : Lookup(state_.data());
  nodes_.push_back(node);
  slot_.push_back(kNone);
  if (node.same != kNone) {
    nodes_[node.same].named = true;
    return;
  }
  const auto number = static_cast<std::uint32_t>(nodes_.size() - 1);
  slot_.back() = static_cast<std::uint32_t>(words_.size() / walker_->state_words());
  words_.insert(words_.end(), state_.begin(), state_.end());
  by_hash_.emplace(walker_->Hash(state_.data()), number);
  Open(number, at);
}

std::vector<std::optional<std::size_t>> StateLog::Beginnings(std::span<const Op> order) const {
  std::vector<Op> local(instance_.num_ops, kNoPivot);
  for (std::size_t k = 0; k < ops_.size(); ++k) local[ops_[k]] = static_cast<Op>(k);
  std::vector<Op> sequence;
  for (const Op v : backwards_ ? std::vector<Op>(order.rbegin(), order.rend())
                               : std::vector<Op>(order.begin(), order.end())) {
    if (local[v] != kNoPivot) sequence.push_back(local[v]);
  }
  // An order that breaks constraints says nothing of what lies between two pivots.
  if (!IsOrder(kept_, sequence)) {
    sequence = TopologicalOrder(kept_.num_ops, kept_.predecessors, kept_.successors);
  }
  std::vector<Bytes> steps;
  (void)PeakOf(kept_, sequence, &steps);
  std::vector<std::optional<std::size_t>> beginnings;
  std::size_t next = 0;  // Pivot.
  bool beyond = false;
  for (const Op v : sequence) {
    beyond = beyond || steps[v] > limit_;
    const bool is_pivot = next < pivots_.size() && pivots_[next] == v;
    if (!is_pivot && v != sequence.back()) continue;
    if (std::exchange(beyond, false)) {
      beginnings.push_back(next == 0 ? std::nullopt : std::optional(next - 1));
    }
    if (is_pivot) ++next;
  }
  return beginnings;
}

StateLog::Verdict StateLog::Run(std::optional<std::size_t> from, std::size_t most_states,
                                std::size_t most_bytes, Budget& budget) {
  Clear();
  from_ = from;
  state_.resize(walker_->state_words());
  Standing at = walker_->Start(state_.data());
  const std::size_t next = from ? *from + 1 : 0;
  const Op until = next < pivots_.size() ? pivots_[next] : kNoPivot;
  if (from) {
    for (const Op v : TopologicalOrder(kept_.num_ops, kept_.predecessors, kept_.successors)) {
      walker_->Run(state_.data(), at, v);
      if (v == pivots_[*from]) break;
    }
  }
  const auto passes = [&] {
    return walker_->AtEnd(state_.data()) || (until != kNoPivot && TestBit(state_.data(), until));
  };
  Take(0, at);
  if (passes()) return Verdict::kPasses;
  while (!path_.empty()) {
    Frame& frame = path_.back();
    if (frame.next == frame.end) {
      ready_.resize(frame.begin);
      path_.pop_back();
      continue;
    }
    if (!budget.SpendNode()) return Verdict::kNoAnswer;
    is_full_ = BytesUsed() > most_bytes;
    if (is_full_ || nodes_.size() >= most_states) return Verdict::kTooMany;
    const Op op = ready_[frame.next++];
    const Word* const words =
        words_.data() + std::size_t{slot_[frame.node]} * walker_->state_words();
    std::copy(words, words + walker_->state_words(), state_.begin());
    at = {frame.live, limit_};
    walker_->Run(state_.data(), at, op);
    Take(op, at);
    if (passes()) return Verdict::kPasses;
  }
  return Verdict::kRefuted;
}

void StateLog::Write(std::span<const Op> names, std::string& text) const {
  const auto append = [&](Op number) {
    text += ' ';
    text += std::to_string(number);
  };
  const auto append_op = [&](Op v) { append(names.empty() ? v : names[v]); };
  if (backwards_) text += "backwards\n";
  if (!names.empty()) {
    text += "only";
    for (const Op v : names) append(v);
    text += '\n';
  }
  if (std::find(late_.begin(), late_.end(), true) != late_.end()) {
    text += "late";
    for (Op v = 0; v < late_.size(); ++v) {
      if (late_[v]) append_op(v);
    }
    text += '\n';
  }
  std::vector<std::uint32_t> name(nodes_.size(), 0);
  std::uint32_t last_name = 0;
  for (std::uint32_t k = 0; k < nodes_.size(); ++k) {
    const Node& node = nodes_[k];
    if (k == 0) {
      text += "states";
      if (from_) {
        text += " from";
        append_op(ops_[pivots_[*from_]]);
      }
    } else {
      text += "on";
      append_op(ops_[node.op]);
    }
    if (node.run_begin != node.run_end) text += " run";
    for (std::uint32_t r = node.run_begin; r < node.run_end; ++r) append_op(ops_[runs_[r]]);
    if (node.same != kNone) {
      text += " is";
      append(name[node.same]);
    } else if (node.named && k != 0) {
      name[k] = ++last_name;
      text += " as";
      append(name[k]);
    }
    text += '\n';
  }
}

}  // namespace berth::internal::schedule
