#include "schedule/cut.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace berth::internal::schedule {

void Cut::Connect(std::uint32_t from, std::uint32_t to, Bytes room) {
  edges_.push_back({to, head_[from], room});
  head_[from] = static_cast<std::uint32_t>(edges_.size() - 1);
  edges_.push_back({from, head_[to], 0});
  head_[to] = static_cast<std::uint32_t>(edges_.size() - 1);
}

std::uint32_t Cut::NewNode() {
  head_.push_back(kNoNode);
  return static_cast<std::uint32_t>(head_.size() - 1);
}

void Cut::Build(Op v) {
  for (const Op u : undecided_) local_[u] = kNoNode;
  undecided_.clear();
  edges_.clear();
  head_.assign(2, kNoNode);
  forced_ = false;
  op_ = v;
  flow_ = 0;
  fixed_ = instance_.base;
  work_ += static_cast<std::int64_t>(instance_.num_ops + 2 * instance_.buffers.size());
  FindUndecided(v);
  for (const Op u : undecided_) {
    for (const Op p : PredecessorsOf(u)) {
      if (local_[p] != kNoNode) Connect(local_[u], local_[p], kInfinite);
    }
  }
  first_of_buffers_ = edges_.size();
  of_buffers_.clear();
  for (const FlowBuffer& buffer : instance_.buffers) AddBuffer(v, buffer);
}

void Cut::FindReached(Op v, const OpLists& lists, std::vector<Word>& found) {
  std::fill(found.begin(), found.end(), Word{0});
  queue_.assign(1, v);
  for (std::size_t k = 0; k < queue_.size(); ++k) {
    work_ += static_cast<std::int64_t>(lists[queue_[k]].size());
    for (const Op u : lists[queue_[k]]) {
      if (TestBit(found.data(), u)) continue;
      SetBit(found.data(), u);
      queue_.push_back(u);
    }
  }
}

// Gives each operator that neither precedes nor follows v a node.
void Cut::FindUndecided(Op v) {
  if (precedence_ != nullptr) {
    before_ = precedence_->Before(v);
    after_ = precedence_->After(v);
  } else {
    FindReached(v, instance_.predecessors, found_before_);
    FindReached(v, instance_.successors, found_after_);
    before_ = found_before_.data();
    after_ = found_after_.data();
  }
  const std::size_t words = instance_.words();
  for (std::size_t k = 0; k < words; ++k) {
    Word rest = ~(before_[k] | after_[k]) & BitsWithin(k, 0, instance_.num_ops);
    for (; rest != 0; rest &= rest - 1) {
      const Op u =
          static_cast<Op>(k * kWordBits + static_cast<std::size_t>(std::countr_zero(rest)));
      if (u == v) continue;
      undecided_.push_back(u);
      local_[u] = NewNode();
    }
  }
}

Cut::End Cut::EndOf(const std::vector<Op>& ops, bool joined, Op v, const Word* terminal) const {
  End end{joined};
  for (const Op u : ops) {
    end.joined = end.joined || u == v || TestBit(terminal, u);
    if (local_[u] != kNoNode) {
      ++end.undecided;
      end.node = local_[u];
    }
  }
  return end;
}

// In the step of v, its own buffers count as created and those it consumes as not yet freed.
void Cut::AddBuffer(Op v, const FlowBuffer& buffer) {
  End in = EndOf(buffer.creators, buffer.from_start, v, before_);
  if (!in.joined && in.undecided == 0) return;
  End out = EndOf(buffer.consumers, buffer.to_end, v, after_);
  if (in.joined && out.joined) {
    fixed_ += buffer.bytes;
    return;
  }
  if (!out.joined && out.undecided == 0) return;
  if (in.joined) {
    in.node = kSource;
  } else if (in.undecided > 1) {
    in.node = NewNode();
    for (const Op c : buffer.creators) {
      if (local_[c] != kNoNode) Connect(local_[c], in.node, kInfinite);
    }
  }
  if (out.joined) {
    out.node = kSink;
  } else if (out.undecided > 1) {
    out.node = NewNode();
    for (const Op k : buffer.consumers) {
      if (local_[k] != kNoNode) Connect(out.node, local_[k], kInfinite);
    }
  }
  if (in.node == out.node) return;
  of_buffers_.emplace_back(static_cast<std::uint32_t>(edges_.size()),
                           static_cast<Op>(&buffer - instance_.buffers.data()));
  Connect(in.node, out.node, buffer.bytes);
}

bool Cut::TimeIsUp() {
  return budget_ != nullptr && !budget_->SpendWork(work_ - std::exchange(polled_, work_));
}

// Distances from `from_` along edges with residual capacity, up to that of `to_`.
bool Cut::Label() {
  level_.assign(head_.size(), kNoNode);
  queue_.clear();
  queue_.push_back(from_);
  level_[from_] = 0;
  for (std::size_t k = 0; k < queue_.size(); ++k) {
    const std::uint32_t node = queue_[k];
    for (std::uint32_t e = head_[node]; e != kNoNode; e = edges_[e].next) {
      ++work_;
      const std::uint32_t to = edges_[e].to;
      if (edges_[e].room == 0 || level_[to] != kNoNode) continue;
      level_[to] = level_[node] + 1;
      if (to == to_) return true;
      queue_.push_back(to);
    }
  }
  return false;
}

// Dinic's algorithm: blocking flows along shortest paths.
void Cut::Augment(std::uint32_t from, std::uint32_t to, Bytes limit) {
  from_ = from;
  to_ = to;
  while (fixed_ + flow_ <= limit && !TimeIsUp() && Label()) {
    next_ = head_;
    path_.clear();
    std::uint32_t node = from;
    for (;;) {
      if (node == to) {
        Bytes room = kInfinite;
        for (const std::uint32_t e : path_) room = std::min(room, edges_[e].room);
        std::size_t keep = path_.size();
        for (std::size_t k = path_.size(); k-- > 0;) {
          Edge& edge = edges_[path_[k]];
          edge.room -= room;
          edges_[path_[k] ^ 1].room += room;
          if (edge.room == 0) keep = k;
        }
        flow_ += room;
        // Only terminals that must not be connected are joined by edges of infinite capacity alone.
        if (fixed_ + flow_ > limit || TimeIsUp()) return;
        node = edges_[path_[keep] ^ 1].to;
        path_.resize(keep);
        continue;
      }
      std::uint32_t& e = next_[node];
      while (e != kNoNode && (edges_[e].room == 0 || level_[edges_[e].to] != level_[node] + 1)) {
        ++work_;
        e = edges_[e].next;
      }
      if (e != kNoNode) {
        path_.push_back(e);
        node = edges_[e].to;
      } else {
        if (path_.empty()) break;
        const std::uint32_t back = path_.back();
        path_.pop_back();
        node = edges_[back ^ 1].to;
        next_[node] = edges_[next_[node]].next;
      }
    }
  }
}

Bytes Cut::Solve(Op v, Bytes limit) {
  Build(v);
  Augment(kSource, kSink, limit);
  base_flow_ = flow_;
  saved_edges_ = edges_.size();
  rooms_.resize(saved_edges_);
  for (std::size_t e = 0; e < saved_edges_; ++e) rooms_[e] = edges_[e].room;
  return fixed_ + flow_;
}

Bytes Cut::SolveWith(Op u, bool inside, Bytes limit) {
  if (forced_) {
    // Undo the last terminal and its flow.
    while (edges_.size() > saved_edges_) {
      const Edge& back = edges_.back();
      const Edge& edge = edges_[edges_.size() - 2];
      head_[edge.to] = back.next;
      head_[back.to] = edge.next;
      edges_.resize(edges_.size() - 2);
    }
    for (std::size_t e = 0; e < saved_edges_; ++e) edges_[e].room = rooms_[e];
    flow_ = base_flow_;
  }
  forced_ = true;
  // Nothing else reaches the sink any more, so all new paths begin, or end, at u.
  if (inside) {
    Connect(kSource, local_[u], kInfinite);
    Augment(local_[u], kSink, limit);
  } else {
    Connect(local_[u], kSink, kInfinite);
    Augment(kSource, local_[u], limit);
  }
  return fixed_ + flow_;
}

void Cut::Witness(Word* set, bool largest) const {
  std::copy(before_, before_ + instance_.words(), set);
  std::vector<bool> reached(head_.size(), false);
  std::vector<std::uint32_t> queue;
  const std::uint32_t start = largest ? kSink : kSource;
  queue.push_back(start);
  reached[start] = true;
  for (std::size_t k = 0; k < queue.size(); ++k) {
    for (std::uint32_t e = head_[queue[k]]; e != kNoNode; e = edges_[e].next) {
      const Bytes room = largest ? edges_[e ^ 1].room : edges_[e].room;
      if (room == 0 || reached[edges_[e].to]) continue;
      reached[edges_[e].to] = true;
      queue.push_back(edges_[e].to);
    }
  }
  for (const Op u : undecided_) {
    if (reached[local_[u]] != largest) SetBit(set, u);
  }
}

std::vector<Cut::Hop> Cut::Flow() const {
  std::vector<Hop> hops;
  // Nodes of operators come first, after the terminals.
  const auto op_of = [&](std::uint32_t node) { return undecided_[node - 2]; };
  const auto is_op = [&](std::uint32_t node) {
    return node > kSink && node - 2 < undecided_.size();
  };
  // What flows through an edge is the room of its reverse.
  for (std::size_t e = 0; e < first_of_buffers_; e += 2) {
    const Bytes bytes = edges_[e + 1].room;
    if (bytes > 0) hops.push_back({kNoOp, op_of(edges_[e + 1].to), op_of(edges_[e].to), bytes});
  }
  for (const auto& [e, b] : of_buffers_) {
    const Bytes bytes = edges_[e + 1].room;
    if (bytes == 0) continue;
    const FlowBuffer& buffer = instance_.buffers[b];
    const Op from = buffer.creators.empty() ? kNoOp : buffer.creators.front();
    const std::uint32_t to = edges_[e].to;
    if (to == kSink || is_op(to)) {
      hops.push_back({b, from, to == kSink ? kNoOp : op_of(to), bytes});
      continue;
    }
    for (std::uint32_t out = head_[to]; out != kNoNode; out = edges_[out].next) {
      if (out % 2 != 0 || edges_[out + 1].room == 0) continue;
      hops.push_back({b, from, op_of(edges_[out].to), edges_[out + 1].room});
    }
  }
  return hops;
}

}  // namespace berth::internal::schedule
