#include "tools/verify/order_flow.h"

#include <algorithm>
#include <string>
#include <utility>

namespace berth::verify {
namespace {

// Some minutes at most.
constexpr std::uint64_t kMostWork = std::uint64_t{1} << 35;

class FlowSum {
 public:
  FlowSum(OrderNet& net, std::size_t v, std::size_t with, std::size_t without)
      : net_(net),
        model_(net.model()),
        op_(v),
        inside_(model_.operators, false),
        outside_(model_.operators, false),
        in_(model_.operators, 0),
        out_(model_.operators, 0),
        used_(model_.tensors.size(), 0),
        stays_(model_.tensors.size()) {
    net_.Reach(v, true, inside_);
    net_.Reach(v, false, outside_);
    if (with != kNobody) Force(with, true, inside_, outside_);
    if (without != kNobody) Force(without, false, outside_, inside_);
    bound_ = model_.always;
    for (std::size_t t = 0; t < model_.tensors.size(); ++t) {
      const OrderTensor& tensor = model_.tensors[t];
      stays_[t] = EndsOutside(tensor);
      if (!stays_[t] || !IsBegun(tensor)) continue;
      bound_ += tensor.bytes;
      used_[t] = tensor.bytes;
    }
  }

  void Add(const ProofLines::Hop& hop) {
    if (hop.sign == '^') return AddWait(hop);
    const OrderTensor& tensor = model_.tensors[hop.from];
    if (hop.bytes > tensor.bytes - used_[hop.from]) {
      throw FalseStep{"tensor " + std::to_string(hop.from) + " has not that many bytes left"};
    }
    used_[hop.from] += hop.bytes;
    if (IsBegun(tensor)) {
      bound_ += hop.bytes;
    } else if (!outside_[tensor.maker]) {
      Grow(out_[tensor.maker], hop.bytes);
    }
    if (hop.sign == ':') {
      if (stays_[hop.from]) return;
      throw FalseStep{"tensor " + std::to_string(hop.from) + " may end before the step"};
    }
    if (tensor.to_end || !std::binary_search(tensor.users.begin(), tensor.users.end(), hop.to)) {
      throw FalseStep{"tensor " + std::to_string(hop.from) + " does not end at operator " +
                      std::to_string(hop.to)};
    }
    if (hop.to == op_ || outside_[hop.to]) return;
    if (inside_[hop.to]) {
      bound_ -= hop.bytes;
    } else {
      Grow(in_[hop.to], hop.bytes);
    }
  }

  [[nodiscard]] Bytes Sum() {
    for (std::size_t v = 0; v < model_.operators; ++v) {
      if (in_[v] > out_[v]) bound_ = std::max(bound_ - (in_[v] - out_[v]), -kMaxBytes);
    }
    return bound_;
  }

 private:
  void Force(std::size_t u, bool earlier, std::vector<bool>& here, const std::vector<bool>& there) {
    if (u == op_ || here[u] || there[u]) {
      throw FalseStep{"whether operator " + std::to_string(u) + " runs before operator " +
                      std::to_string(op_) + " is known already"};
    }
    here[u] = true;
    net_.Reach(u, earlier, here);
  }

  [[nodiscard]] bool EndsOutside(const OrderTensor& tensor) const {
    return tensor.to_end || std::any_of(tensor.users.begin(), tensor.users.end(),
                                        [&](std::size_t k) { return k == op_ || outside_[k]; });
  }
  [[nodiscard]] bool IsBegun(const OrderTensor& tensor) const {
    return tensor.maker == kNobody || tensor.maker == op_ || inside_[tensor.maker];
  }

  // Bytes go on from operator `from` to one that it waits for; of both it is open whether they run
  // before the step.
  void AddWait(const ProofLines::Hop& hop) {
    if (!net_.Waits(hop.from, hop.to)) {
      throw FalseStep{"operator " + std::to_string(hop.from) + " does not wait for operator " +
                      std::to_string(hop.to)};
    }
    for (const std::size_t v : {hop.from, hop.to}) {
      if (v != op_ && !inside_[v] && !outside_[v]) continue;
      throw FalseStep{"operator " + std::to_string(v) + " is not open at this step"};
    }
    Grow(out_[hop.from], hop.bytes);
    Grow(in_[hop.to], hop.bytes);
  }

  static void Grow(Bytes& sum, Bytes more) {
    if (more > kMaxBytes - sum) throw FalseStep{"a flow exceeds 2^60"};
    sum += more;
  }

  OrderNet& net_;
  const OrderModel& model_;
  std::size_t op_;
  std::vector<bool> inside_, outside_;  // Surely run before the step, or not before it.
  std::vector<Bytes> in_, out_;         // Of the open operators.
  std::vector<Bytes> used_;             // By tensor.
  std::vector<bool> stays_;  // It has not ended before the step, as a user is no earlier.
  Bytes bound_ = 0;
};

}  // namespace

OrderNet::OrderNet(const OrderModel& model)
    : model_(model), before_(model.waits), after_(model.operators) {
  for (std::size_t v = 0; v < model.operators; ++v) {
    for (const std::size_t u : before_[v]) after_[u].push_back(v);
  }
}

void OrderNet::Add(std::size_t before, std::size_t after) {
  before_[after].push_back(before);
  after_[before].push_back(after);
}

bool OrderNet::Waits(std::size_t v, std::size_t p) {
  const std::vector<std::size_t>& row = before_[v];
  const auto added = row.begin() + static_cast<std::ptrdiff_t>(model_.waits[v].size());
  Work(row.size() - model_.waits[v].size());
  return std::binary_search(row.begin(), added, p) || std::find(added, row.end(), p) != row.end();
}

void OrderNet::Work(std::size_t looks) {
  work_ += looks;
  if (work_ > kMostWork) throw FalseStep{"the proof takes too long to check"};
}

void OrderNet::Reach(std::size_t v, bool earlier, std::vector<bool>& marks) {
  queue_.assign(1, v);
  for (std::size_t k = 0; k < queue_.size(); ++k) {
    const std::vector<std::size_t>& row = earlier ? before_[queue_[k]] : after_[queue_[k]];
    Work(row.size() + 1);
    for (const std::size_t u : row) {
      if (marks[u]) continue;
      marks[u] = true;
      queue_.push_back(u);
    }
  }
}

Bytes BoundByFlow(OrderNet& net, std::size_t v, std::size_t with, std::size_t without,
                  ProofLines& lines) {
  const OrderModel& model = net.model();
  net.Work(2 * model.operators + model.tensors.size());
  for (const OrderTensor& tensor : model.tensors) net.Work(tensor.users.size());
  FlowSum sum(net, v, with, without);
  while (lines.HasWord()) sum.Add(lines.NextHop(model.tensors.size(), model.operators));
  return sum.Sum();
}

}  // namespace berth::verify
