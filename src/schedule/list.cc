#include "schedule/list.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

namespace berth::internal::schedule {
namespace {

constexpr Bytes kNotReady = std::numeric_limits<Bytes>::max();
// Nodes of the tree visited after the first operator that fits is known.
constexpr int kMostVisits = 1000;
// Work of one node of the tree, in the units of Spending::SpendWork().
constexpr std::int64_t kWorkOfVisit = 4;

// The ready operators.
class ReadyTree {
 public:
  explicit ReadyTree(std::size_t num_ops)
      : leaves_(std::bit_ceil(std::max<std::size_t>(num_ops, 1))), nodes_(2 * leaves_) {}

  [[nodiscard]] bool empty() const { return nodes_[1].created == kNotReady; }

  void Set(Op op, Bytes created, Bytes net) { Write(op, {created, net}); }
  void Remove(Op op) { Write(op, {}); }

  // Of the operators that create at most `slack`, or else of those that create the fewest bytes,
  // one of the least net bytes.
  [[nodiscard]] Op Best(Bytes slack) {
    slack_ = std::max(slack, nodes_[1].created);
    best_net_ = kNotReady;
    visits_ = 0;
    Visit(1);
    return static_cast<Op>(best_ - leaves_);
  }

  [[nodiscard]] std::int64_t work() const { return work_; }

 private:
  struct Node {
    Bytes created = kNotReady;  // The least below.
    Bytes net = kNotReady;      // The least below.
  };

  void Write(Op op, Node leaf) {
    std::size_t at = leaves_ + op;
    nodes_[at] = leaf;
    for (at /= 2; at > 0; at /= 2) {
      const Node& left = nodes_[2 * at];
      const Node& right = nodes_[2 * at + 1];
      nodes_[at] = {std::min(left.created, right.created), std::min(left.net, right.net)};
      work_ += kWorkOfVisit;
    }
  }

  void Visit(std::size_t at) {
    const Node& node = nodes_[at];
    work_ += kWorkOfVisit;
    if (node.created > slack_ || node.net >= best_net_) return;
    if (best_net_ != kNotReady && ++visits_ > kMostVisits) return;
    if (at >= leaves_) {
      best_ = at;
      best_net_ = node.net;
      return;
    }
    const std::size_t first = nodes_[2 * at + 1].net < nodes_[2 * at].net ? 1 : 0;
    Visit(2 * at + first);
    Visit(2 * at + 1 - first);
  }

  std::size_t leaves_;
  std::vector<Node> nodes_;  // Of node k: 2 k and 2 k + 1 are below it; 1 is the root.
  // Of Best().
  Bytes slack_ = 0;
  Bytes best_net_ = 0;
  std::size_t best_ = 0;
  int visits_ = 0;
  std::int64_t work_ = 0;
};

class ListScheduler {
 public:
  explicit ListScheduler(const Instance& instance)
      : instance_(instance),
        created_(instance.created_alone),
        freed_(instance.freed_alone),
        missing_(instance.num_ops),
        exists_(instance.buffers.size(), false),
        users_left_(instance.buffers.size()),
        users_sum_(instance.buffers.size()),
        ready_(instance.num_ops) {
    for (std::size_t b = 0; b < instance.buffers.size(); ++b) {
      const FlowBuffer& buffer = instance.buffers[b];
      users_left_[b] = static_cast<std::uint32_t>(buffer.consumers.size());
      for (const Op k : buffer.consumers) users_sum_[b] ^= k;
      if (buffer.creators.size() < 2) continue;
      for (const Op c : buffer.creators) created_[c] += buffer.bytes;
    }
    for (Op v = 0; v < instance.num_ops; ++v) {
      missing_[v] = static_cast<std::uint32_t>(instance.predecessors[v].size());
      if (missing_[v] == 0) MakeReady(v);
    }
  }

  std::optional<std::vector<Op>> Run(Bytes floor, Budget& budget) {
    Bytes live = LiveAtStart(instance_);
    Bytes peak = std::max(live, floor);
    std::vector<Op> order;
    order.reserve(instance_.num_ops);
    while (!ready_.empty()) {
      const std::int64_t before = ready_.work();
      const Op v = ready_.Best(peak - live);
      peak = std::max(peak, live + created_[v]);
      live += created_[v] - freed_[v];
      order.push_back(v);
      const std::int64_t lists = Finish(v);
      if (!budget.SpendNode() || !budget.SpendWork(lists + ready_.work() - before)) return {};
    }
    return order;
  }

 private:
  void MakeReady(Op v) { ready_.Set(v, created_[v], created_[v] - freed_[v]); }
  void Refresh(Op v) {
    if (missing_[v] == 0) MakeReady(v);
  }

  // After v has run. Returns the length of the lists that were read.
  std::int64_t Finish(Op v) {
    std::size_t looks = instance_.successors[v].size() + instance_.freed_shared[v].size();
    ready_.Remove(v);
    missing_[v] = kDone;
    for (const Op b : instance_.created_shared[v]) {
      if (exists_[b]) continue;
      exists_[b] = true;
      const FlowBuffer& buffer = instance_.buffers[b];
      looks += buffer.creators.size();
      for (const Op c : buffer.creators) {
        created_[c] -= buffer.bytes;
        Refresh(c);
      }
    }
    for (const Op b : instance_.freed_shared[v]) {
      users_sum_[b] ^= v;
      if (--users_left_[b] != 1) continue;
      freed_[users_sum_[b]] += instance_.buffers[b].bytes;
      Refresh(users_sum_[b]);
    }
    for (const Op s : instance_.successors[v]) {
      if (--missing_[s] == 0) MakeReady(s);
    }
    return static_cast<std::int64_t>(looks);
  }

  static constexpr std::uint32_t kDone = ~std::uint32_t{0};

  const Instance& instance_;
  std::vector<Bytes> created_;  // By operator: what it would create, and free, if it ran now.
  std::vector<Bytes> freed_;
  std::vector<std::uint32_t> missing_;     // By operator: predecessors that have not run; or kDone.
  std::vector<bool> exists_;               // By buffer with several creators: one has run.
  std::vector<std::uint32_t> users_left_;  // By buffer: consumers that have not run,
  std::vector<Op> users_sum_;              // and their exclusive or: the last one by itself.
  ReadyTree ready_;
};

}  // namespace

std::optional<std::vector<Op>> ListSchedule(const Instance& instance, Bytes floor, Budget& budget) {
  return ListScheduler(instance).Run(floor, budget);
}

}  // namespace berth::internal::schedule
