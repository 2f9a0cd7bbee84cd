#include "plan/memory_bound.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "base/arithmetic.h"
#include "base/bits.h"
#include "base/wide.h"
#include "berth/memories.h"
#include "graph/edges.h"
#include "schedule/cut.h"
#include "schedule/instance.h"
#include "schedule/precedence.h"

namespace berth::internal::plan {
namespace {

using schedule::Op;

// Rows of ancestors take n^2 / 4 bytes.
constexpr std::size_t kMostOperators = 16384;
// Operators times tensors, for what is live at each.
constexpr std::size_t kMostPairs = 50'000'000;
// Of prices and costs: bits after the point.
constexpr int kMostBits = 20;
constexpr std::int64_t kMostSum = std::int64_t{1} << 59;
constexpr std::int64_t kNowhere = std::numeric_limits<std::int64_t>::max();
constexpr int kPasses = 8;       // Over the prices of all memories.
constexpr int kMoreCuts = 6;     // With the prices of the last cut's live tensors.
constexpr int kMostFailed = 24;  // Operators in a row whose cut gives nothing.
// Edges visited by cuts, and offers looked at for prices: some seconds.
constexpr std::int64_t kMostWork = 1'000'000'000;
constexpr double kShareOfChain = 0.6;
// Cases of what runs first, the memory for them, and the search for the bound of each.
constexpr std::size_t kMostCases = 1000;
constexpr std::size_t kMostCaseBytes = std::size_t{128} << 20;
constexpr double kShareOfCase = 0.1;
constexpr std::int64_t kNodesOfCase = 50'000;
// Tensors of graphs that are asked whether all their orders are alike.
constexpr std::size_t kMostAlike = 20'000;
constexpr std::int64_t kNodesOfChain = 20'000'000;

// A tensor, its cost in each memory beyond the least, and the operators that decide when it is live.
struct Item {
  Bytes size = 0;
  std::vector<std::int64_t> extra;  // By memory, scaled; kNowhere where it cannot be.
  std::optional<Op> creator;        // None: live from the start.
  std::vector<Op> users;            // Increasing.
  bool to_end = false;
};

using Prices = std::vector<std::int64_t>;  // Of a byte, by memory; scaled.

// The cheapest memory at these prices.
std::int64_t WeightOf(const Item& item, const Prices& prices,
                      std::size_t without = ~std::size_t{0}) {
  std::int64_t least = kNowhere;
  for (std::size_t m = 0; m < prices.size(); ++m) {
    if (item.extra[m] == kNowhere || m == without) continue;
    const auto rent = CheckedMul(prices[m], item.size);
    const auto sum = rent ? CheckedAdd(item.extra[m], *rent) : std::nullopt;
    if (sum) least = std::min(least, *sum);
  }
  return least;
}

// The bytes that a memory has throughout, if their number is limited.
std::optional<Bytes> RoomOf(const Memory& memory, Step steps) {
  if (!memory.capacity) return std::nullopt;
  Bytes room = *memory.capacity;
  for (const Reserved& reserved : memory.reserved) {
    if (reserved.start <= 0 && reserved.end >= steps) room -= reserved.upper - reserved.lower;
  }
  return room;
}

class Bounder {
 public:
  Bounder(const Graph& graph, const Counting& counting, const GraphMemories& memories,
          const Order& order, Budget& budget)
      : graph_(graph),
        memories_(memories),
        order_(order),
        budget_(budget),
        table_(TableOf(graph, order, counting, memories)),
        steps_(std::max<Step>(1, static_cast<Step>(order.size()))) {
    for (const Memory& memory : memories.memories) rooms_.push_back(RoomOf(memory, steps_));
  }

  // Whether the table of the chain is that of the order.
  bool IsAlike() {
    const std::size_t n = graph_.operators.size();
    const std::size_t count = table_.tensors.size();
    if (n == 0 || n > kMostOperators || n * count > kMostPairs || count > kMostAlike) return false;
    for (const Memory& memory : memories_.memories) {
      for (const Reserved& reserved : memory.reserved) {
        if (reserved.start > 0 || reserved.end < steps_) return false;
      }
    }
    FindItems();
    FindEdges();
    const schedule::Instance instance = schedule::MakeInstance(n, 0, edges_, Buffers());
    const schedule::Precedence precedence(instance);
    // What is live together in every order is so in this one: the numbers of pairs decide.
    return PairsIn(TableOfChain(precedence).table) == PairsIn(table_.problem.table);
  }

  std::optional<ChainOfOrders> OfOrders() {
    const std::size_t n = graph_.operators.size();
    if (n == 0 || n > kMostOperators || n * table_.tensors.size() > kMostPairs) return std::nullopt;
    FindItems();
    FindEdges();
    const schedule::Instance instance = schedule::MakeInstance(n, 0, edges_, Buffers());
    const schedule::Precedence precedence(instance);
    ChainOfOrders found;
    for (const Op v : Chain(precedence)) found.chain.push_back(v);
    const auto steps = static_cast<Step>(found.chain.size());
    const MemoryProblem problem = TableOfChain(precedence);
    for (std::size_t i = 0; i < table_.tensors.size(); ++i) {
      const Buffer& buffer = problem.table.buffers[i];
      const bool live = buffer.start < steps;
      found.lives.push_back({table_.tensors[i], live ? buffer.start : 0, live ? buffer.end : 0});
    }
    return found;
  }

  PlanCost Run(const PlanCost& upper) {
    FindItems();
    PlanCost bound = Least();
    if (bound.unplaced > 0) return bound;
    const std::size_t n = graph_.operators.size();
    if (n == 0 || n > kMostOperators || n * items_.size() > kMostPairs) return bound;
    FindEdges();
    schedule::Instance instance = schedule::MakeInstance(n, 0, edges_, Buffers());
    const schedule::Precedence precedence(instance);
    const auto done = [&] { return !(bound < upper) || budget_.TimeIsUp(); };
    if (done()) return bound;
    bound = std::max(bound, OfChain(precedence));
    if (done()) return bound;
    // Where something has no room at all, a cost proves nothing more.
    if (bound.unplaced == 0) bound.cost = std::max(bound.cost, OfCuts(instance, precedence));
    return bound;
  }

  PlanCost RunCases(const PlanCost& bound, const PlanCost& upper) {
    FindItems();
    const std::size_t n = graph_.operators.size();
    if (n == 0 || n > kMostOperators || n * items_.size() > kMostPairs) return bound;
    FindEdges();
    const schedule::Instance instance = schedule::MakeInstance(n, 0, edges_, Buffers());
    return OfCases(schedule::Precedence(instance), bound, upper);
  }

 private:
  // Of buffers that are live together.
  [[nodiscard]] static std::size_t PairsIn(const Problem& table) {
    std::vector<Step> starts;
    std::vector<Step> ends;
    for (const Buffer& buffer : table.buffers) {
      starts.push_back(buffer.start);
      ends.push_back(buffer.end);
    }
    std::sort(starts.begin(), starts.end());
    std::sort(ends.begin(), ends.end());
    // Each buffer meets those that have begun before it and not ended.
    std::size_t pairs = 0;
    std::size_t ended = 0;
    for (std::size_t begun = 0; begun < starts.size(); ++begun) {
      while (ended < ends.size() && ends[ended] <= starts[begun]) ++ended;
      pairs += begun - ended;
    }
    return pairs;
  }

  void FindItems() {
    const std::size_t count = table_.tensors.size();
    const std::vector<OperatorIndex> makers = Makers(graph_);
    const std::vector<bool> results = BasesOfOutputs(graph_);
    std::vector<std::size_t> item_of(graph_.tensors.size(), count);
    items_.resize(count);
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const TensorIndex t = table_.tensors[i];
      const Tensor& tensor = graph_.tensors[t];
      item_of[t] = i;
      Item& item = items_[i];
      item.size = tensor.bytes;
      if (makers[t] != kNoOperator) item.creator = static_cast<Op>(makers[t]);
      item.to_end = results[t] || tensor.kind == TensorKind::kParameter ||
                    tensor.kind == TensorKind::kConstant;
      item.extra = CostsOf(i);
      std::int64_t least = kNowhere;
      std::int64_t most = 0;
      for (const std::int64_t cost : item.extra) {
        least = std::min(least, cost);
        if (cost != kNowhere) most = std::max(most, cost);
      }
      if (least == kNowhere) {
        ++unplaced_;
        continue;
      }
      least_ += least;
      sum += most;
      for (std::int64_t& cost : item.extra) {
        if (cost != kNowhere) cost -= least;
      }
    }
    while (bits_ < kMostBits && sum < (kMostSum >> (bits_ + 1))) ++bits_;
    for (Item& item : items_) {
      for (std::int64_t& cost : item.extra) {
        if (cost != kNowhere) cost <<= bits_;
      }
    }
    std::vector<TensorIndex> bases;
    for (OperatorIndex v = 0; v < graph_.operators.size(); ++v) {
      BasesUsed(graph_, makers, v, bases);
      for (const TensorIndex base : bases) {
        if (item_of[base] < count) items_[item_of[base]].users.push_back(static_cast<Op>(v));
      }
    }
    for (Item& item : items_) {
      if (item.users.empty() && item.creator) item.users = {*item.creator};
    }
  }

  // Of the i-th tensor, by memory.
  [[nodiscard]] std::vector<std::int64_t> CostsOf(std::size_t i) const {
    const Placing& placing = table_.problem.placing[i];
    std::vector<std::int64_t> costs(memories_.memories.size(), kNowhere);
    const auto fits = [&](std::size_t m) { return !rooms_[m] || items_[i].size <= *rooms_[m]; };
    for (std::size_t m = 0; m < costs.size() && placing.candidates.empty(); ++m) {
      if (fits(m)) costs[m] = CostOfUses(placing, memories_.memories[m]).value_or(kNowhere);
    }
    for (const Candidate& candidate : placing.candidates) {
      if (fits(candidate.memory)) costs[candidate.memory] = candidate.cost;
    }
    return costs;
  }

  // If every tensor had the fastest memory for itself.
  [[nodiscard]] PlanCost Least() const {
    PlanCost cost;
    cost.unplaced = unplaced_;
    cost.cost = least_;
    return cost;
  }

  void FindEdges() {
    const std::vector<OperatorIndex> makers = Makers(graph_);
    for (OperatorIndex v = 0; v < graph_.operators.size(); ++v) {
      ForEachPredecessor(graph_, makers, v, [&](OperatorIndex u) {
        edges_.emplace_back(static_cast<Op>(u), static_cast<Op>(v));
      });
    }
    std::sort(edges_.begin(), edges_.end());
    edges_.erase(std::unique(edges_.begin(), edges_.end()), edges_.end());
  }

  // Parallel to the items, without bytes.
  [[nodiscard]] std::vector<schedule::FlowBuffer> Buffers() const {
    std::vector<schedule::FlowBuffer> buffers;
    for (const Item& item : items_) {
      schedule::FlowBuffer& buffer = buffers.emplace_back();
      buffer.from_start = !item.creator;
      if (item.creator) buffer.creators = {*item.creator};
      buffer.to_end = item.to_end;
      buffer.consumers = item.users;
    }
    return buffers;
  }

  [[nodiscard]] static bool IsAlwaysLive(const Item& item) { return !item.creator && item.to_end; }

  // Live while `v` runs, in every order.
  [[nodiscard]] static bool MustBeLive(const schedule::Precedence& precedence, const Item& item,
                                       Op v) {
    if (item.creator && *item.creator != v && !precedence.Precedes(*item.creator, v)) return false;
    return item.to_end || std::any_of(item.users.rbegin(), item.users.rend(),
                                      [&](Op u) { return u == v || precedence.Precedes(v, u); });
  }

  // Live while `v` runs, in some order.
  [[nodiscard]] static bool CanBeLive(const schedule::Precedence& precedence, const Item& item,
                                      Op v) {
    if (item.creator && precedence.Precedes(v, *item.creator)) return false;
    return item.to_end || std::any_of(item.users.begin(), item.users.end(),
                                      [&](Op u) { return !precedence.Precedes(u, v); });
  }

  // Operators after those that precede them.
  [[nodiscard]] static std::vector<Op> InOrder(const schedule::Precedence& precedence) {
    const std::size_t n = precedence.num_ops();
    std::vector<std::size_t> count(n, 0);
    std::vector<Op> order(n);
    for (std::size_t v = 0; v < n; ++v) {
      order[v] = static_cast<Op>(v);
      const Word* const before = precedence.Before(static_cast<Op>(v));
      for (std::size_t k = 0; k < precedence.words(); ++k) {
        count[v] += static_cast<std::size_t>(std::popcount(before[k]));
      }
    }
    std::stable_sort(order.begin(), order.end(), [&](Op a, Op b) { return count[a] < count[b]; });
    return order;
  }

  // The chain whose operators have the most bytes live in every order.
  [[nodiscard]] std::vector<Op> Chain(const schedule::Precedence& precedence) const {
    const std::size_t n = order_.size();
    std::vector<double> weight(n, 1);
    Bytes fastest = 0;
    for (const auto& room : rooms_) {
      if (room) fastest = fastest == 0 ? *room : std::min(fastest, *room);
    }
    for (std::size_t v = 0; v < n; ++v) {
      double live = 0;
      for (const Item& item : items_) {
        if (MustBeLive(precedence, item, static_cast<Op>(v)))
          live += static_cast<double>(item.size);
      }
      // Where all fits there is nothing to win.
      weight[v] += std::max(live - static_cast<double>(fastest), live * 1e-3);
    }
    std::vector<double> sum(n, 0);
    std::vector<std::size_t> before(n, n);
    for (const Op v : InOrder(precedence)) {
      for (const Op u : precedence.predecessors(v)) {
        if (sum[u] > sum[v]) {
          sum[v] = sum[u];
          before[v] = u;
        }
      }
      sum[v] += weight[v];
    }
    std::vector<Op> chain;
    for (std::size_t v =
             static_cast<std::size_t>(std::max_element(sum.begin(), sum.end()) - sum.begin());
         v < n; v = before[v]) {
      chain.push_back(static_cast<Op>(v));
    }
    std::reverse(chain.begin(), chain.end());
    return chain;
  }

  // The table of what is live in every order while the operators of a chain run.
  [[nodiscard]] MemoryProblem TableOfChain(const schedule::Precedence& precedence) const {
    const std::vector<Op> chain = Chain(precedence);
    MemoryProblem problem = table_.problem;
    for (Memory& memory : problem.memories) {
      std::erase_if(memory.reserved, [&](const Reserved& reserved) {
        return reserved.start > 0 || reserved.end < steps_;
      });
      for (Reserved& reserved : memory.reserved) {
        reserved.start = -kMaxStep;
        reserved.end = kMaxStep;
      }
    }
    Step alone = static_cast<Step>(chain.size());
    for (std::size_t i = 0; i < items_.size(); ++i) {
      Buffer& buffer = problem.table.buffers[i];
      std::optional<Step> first;
      for (std::size_t k = 0; k < chain.size(); ++k) {
        if (!MustBeLive(precedence, items_[i], chain[k])) {
          if (first) break;
          continue;
        }
        if (!first) first = static_cast<Step>(k);
        buffer.end = static_cast<Step>(k) + 1;
      }
      if (!first) {
        first = alone++;
        buffer.end = alone;
      }
      buffer.start = *first;
    }
    return problem;
  }

  [[nodiscard]] PlanCost OfChain(const schedule::Precedence& precedence,
                                 double share = kShareOfChain, std::int64_t nodes = kNodesOfChain) {
    const MemoryProblem problem = TableOfChain(precedence);
    Budget part(budget_, share);
    if (!part.has_time_limit()) part.SetNodeLimit(std::min(nodes, part.node_limit()));
    const Result<PlanAnswer> answer = PlaceInMemories(problem, {}, part);
    return answer ? answer->cost_bound : PlanCost();
  }

  // An operator of the chain, and one that is not in it and runs before or after it: the one with the
  // most bytes of its own. Nothing if all are in the chain.
  [[nodiscard]] std::optional<std::pair<Op, Op>> OpenPair(
      const schedule::Precedence& precedence) const {
    const std::size_t n = order_.size();
    std::vector<double> bytes(n, 0);
    for (const Item& item : items_) {
      if (item.creator) bytes[*item.creator] += static_cast<double>(item.size);
      for (const Op u : item.users) bytes[u] += static_cast<double>(item.size);
    }
    const std::vector<Op> chain = Chain(precedence);
    std::optional<std::pair<Op, Op>> open;
    double most = -1;
    for (const Op v : chain) {
      for (std::size_t u = 0; u < n; ++u) {
        const Op other = static_cast<Op>(u);
        if (other == v || precedence.Precedes(v, other) || precedence.Precedes(other, v)) continue;
        if (bytes[v] + bytes[u] <= most) continue;
        most = bytes[v] + bytes[u];
        open = std::pair(v, other);
      }
    }
    return open;
  }

  // Of two operators either one or the other runs first, and in each case more is known of what is live.
  // The bound is that of the weakest case, which is split again.
  [[nodiscard]] PlanCost OfCases(const schedule::Precedence& precedence, const PlanCost& bound,
                                 const PlanCost& upper) {
    struct Case {
      PlanCost bound;
      schedule::Precedence precedence;
    };
    std::vector<Case> open;
    open.push_back({bound, precedence});
    const std::size_t row = WordsFor(order_.size()) * sizeof(Word) * order_.size();
    const std::size_t most =
        std::min(kMostCases, kMostCaseBytes / std::max<std::size_t>(1, 2 * row));
    PlanCost closed = upper;
    const auto weaker = [](const Case& a, const Case& b) { return a.bound < b.bound; };
    for (std::size_t cases = 0; cases < most && !open.empty() && !budget_.TimeIsUp(); ++cases) {
      const auto weakest = std::min_element(open.begin(), open.end(), weaker);
      const auto pair = OpenPair(weakest->precedence);
      if (!pair) break;
      const Case whole = std::move(*weakest);
      open.erase(weakest);
      for (const auto& [first, second] :
           {std::pair(pair->first, pair->second), std::pair(pair->second, pair->first)}) {
        Case part = whole;
        if (!part.precedence.Add(first, second)) continue;
        part.bound = std::max(part.bound, OfChain(part.precedence, kShareOfCase, kNodesOfCase));
        if (part.bound < upper) {
          open.push_back(std::move(part));
        } else {
          closed = std::min(closed, part.bound);
        }
      }
    }
    for (const Case& each : open) closed = std::min(closed, each.bound);
    return closed;
  }

  // The prices at which what `live` (items) must pay beyond the prices of all bytes is the most, as far
  // as changing one price at a time finds them; and how much that is.
  [[nodiscard]] std::pair<Prices, std::int64_t> PricesFor(const std::vector<std::size_t>& live) {
    Prices prices(rooms_.size(), 0);
    for (int pass = 0; pass < kPasses; ++pass) {
      bool changed = false;
      for (std::size_t m = 0; m < rooms_.size(); ++m) {
        if (!rooms_[m]) continue;
        const std::int64_t price = PriceOf(m, prices, live);
        changed = changed || price != prices[m];
        prices[m] = price;
      }
      if (!changed) break;
    }
    Wide value = -Rent(prices);
    for (const std::size_t i : live) value += WeightOf(items_[i], prices);
    const bool fits = value < Wide(kMostSum) && value > Wide(0);
    return {prices, fits ? static_cast<std::int64_t>(value) : 0};
  }

  // The best price of memory m beside those of the others: the least at which no more than its
  // capacity wants to be there.
  [[nodiscard]] std::int64_t PriceOf(std::size_t m, const Prices& prices,
                                     const std::vector<std::size_t>& live) {
    offers_.clear();
    for (const std::size_t i : live) {
      const Item& item = items_[i];
      if (item.extra[m] == kNowhere) continue;
      const std::int64_t other = WeightOf(item, prices, m);
      // Where there is no other memory, any price would be paid.
      const std::int64_t most = other == kNowhere ? kMostSum : other;
      if (most <= item.extra[m]) continue;
      offers_.emplace_back((most - item.extra[m]) / item.size, item.size);
    }
    std::sort(offers_.begin(), offers_.end(), [](const auto& a, const auto& b) { return a > b; });
    work_ += static_cast<std::int64_t>(8 * offers_.size() + live.size());
    Bytes taken = 0;
    for (const auto& [price, size] : offers_) {
      taken += size;
      if (taken > *rooms_[m]) return price;
    }
    return 0;
  }

  [[nodiscard]] Wide Rent(const Prices& prices) const {
    Wide rent = 0;
    for (std::size_t m = 0; m < prices.size(); ++m) {
      if (rooms_[m]) rent += Wide(prices[m]) * Wide(*rooms_[m]);
    }
    return rent;
  }

  struct Raise {
    std::int64_t value = 0;
    Op op = 0;
    Prices prices;
  };

  // The bound of operator v, with the best prices found.
  [[nodiscard]] Raise Try(Op v, Prices prices, schedule::Instance& instance, schedule::Cut& cut) {
    Raise best;
    best.op = v;
    std::vector<Word> set(instance.words());
    for (int k = 0; k < kMoreCuts && !budget_.TimeIsUp(); ++k) {
      Wide fixed = -Rent(prices);
      std::int64_t sum = 0;
      bool usable = true;
      for (std::size_t i = 0; i < items_.size(); ++i) {
        const std::int64_t weight = WeightOf(items_[i], prices);
        usable = usable && weight < kMostSum;
        if (!usable) break;
        sum += std::min(weight, kMostSum);
        usable = sum < kMostSum;
        if (IsAlwaysLive(items_[i])) {
          fixed += weight;
          instance.buffers[i].bytes = 0;
        } else {
          instance.buffers[i].bytes = weight;
        }
      }
      if (!usable) break;
      const Wide value = fixed + Wide(cut.Solve(v, 2 * kMaxBytes));
      if (value > Wide(best.value)) {
        best.value = static_cast<std::int64_t>(std::min(value, Wide(kMostSum)));
        best.prices = prices;
      }
      if (budget_.TimeIsUp()) break;
      cut.Witness(set.data(), false);
      const auto [next, reached] = PricesFor(LiveAfter(v, set));
      if (reached <= best.value || next == prices) break;
      prices = next;
    }
    return best;
  }

  // The items that are live while v runs after the operators of `set`.
  [[nodiscard]] std::vector<std::size_t> LiveAfter(Op v, const std::vector<Word>& set) const {
    std::vector<std::size_t> live;
    for (std::size_t i = 0; i < items_.size(); ++i) {
      const Item& item = items_[i];
      const bool made = !item.creator || *item.creator == v || TestBit(set.data(), *item.creator);
      const bool needed =
          item.to_end || std::any_of(item.users.begin(), item.users.end(),
                                     [&](Op u) { return u == v || !TestBit(set.data(), u); });
      if (made && needed) live.push_back(i);
    }
    return live;
  }

  // What counts for `raise` is not left for other operators.
  void Spend(const Raise& raise, const schedule::Precedence& precedence) {
    for (Item& item : items_) {
      if (!CanBeLive(precedence, item, raise.op)) continue;
      const std::int64_t weight = WeightOf(item, raise.prices);
      for (std::size_t m = 0; m < item.extra.size(); ++m) {
        if (item.extra[m] == kNowhere) continue;
        const auto rent = CheckedMul(raise.prices[m], item.size);
        if (rent && *rent < weight) item.extra[m] -= weight - *rent;
      }
    }
  }

  [[nodiscard]] std::int64_t OfCuts(schedule::Instance& instance,
                                    const schedule::Precedence& precedence) {
    schedule::Cut cut(instance, precedence);
    cut.SetBudget(budget_);
    const std::size_t n = order_.size();
    std::vector<std::vector<std::size_t>> live(n);  // By operator, in the known order.
    for (std::size_t i = 0; i < items_.size(); ++i) {
      const Buffer& buffer = table_.problem.table.buffers[i];
      for (Step s = buffer.start; s < std::min(buffer.end, static_cast<Step>(n)); ++s) {
        live[order_[static_cast<std::size_t>(s)]].push_back(i);
      }
    }
    std::vector<Raise> ideas(n);  // No cut exceeds these values.
    const auto refresh = [&](OperatorIndex v) {
      auto [prices, value] = PricesFor(live[v]);
      ideas[v] = {value, static_cast<Op>(v), std::move(prices)};
    };
    for (OperatorIndex v = 0; v < n; ++v) {
      refresh(v);
      if (budget_.TimeIsUp()) return least_;
    }
    std::int64_t sum = 0;
    std::vector<char> failed(n, 0);
    // What others have spent since only lowers a value: it is found again when its turn comes.
    std::vector<std::size_t> known(n, 0);
    std::size_t round = 0;
    while (!budget_.TimeIsUp() && work_ + cut.work() < kMostWork) {
      std::vector<OperatorIndex> ranked;
      for (OperatorIndex v = 0; v < n; ++v) {
        if (ideas[v].value > 0 && !failed[v]) ranked.push_back(v);
      }
      std::stable_sort(ranked.begin(), ranked.end(), [&](OperatorIndex a, OperatorIndex b) {
        return ideas[a].value > ideas[b].value;
      });
      Raise best;
      int tried = 0;
      for (const OperatorIndex v : ranked) {
        if (ideas[v].value <= best.value || tried >= kMostFailed || budget_.TimeIsUp()) break;
        if (known[v] < round) refresh(v);
        known[v] = round;
        if (ideas[v].value <= best.value) continue;
        ++tried;
        Raise raise = Try(static_cast<Op>(v), ideas[v].prices, instance, cut);
        if (raise.value <= 0) failed[v] = 1;
        if (raise.value > best.value) best = std::move(raise);
      }
      if (best.value <= 0) {
        // Stale values of others may have hidden nothing; those that failed are not tried again.
        if (tried < kMostFailed) break;
        continue;
      }
      sum += best.value;
      Spend(best, precedence);
      ++round;
    }
    const std::int64_t whole = std::int64_t{1} << bits_;
    return least_ + (sum + whole - 1) / whole;
  }

  const Graph& graph_;
  const GraphMemories& memories_;
  const Order& order_;
  Budget& budget_;
  const TensorTable table_;
  const Step steps_;
  std::vector<std::optional<Bytes>> rooms_;  // By memory.
  std::vector<Item> items_;
  std::vector<std::pair<Op, Op>> edges_;
  std::vector<std::pair<std::int64_t, Bytes>> offers_;
  std::int64_t work_ = 0;
  std::size_t unplaced_ = 0;
  std::int64_t least_ = 0;
  int bits_ = 0;
};

}  // namespace

bool AllOrdersAreAlike(const Graph& graph, const Counting& counting, const GraphMemories& memories,
                       const Order& order, Budget& budget) {
  return Bounder(graph, counting, memories, order, budget).IsAlike();
}

std::optional<ChainOfOrders> FindChain(const Graph& graph, const Counting& counting,
                                       const GraphMemories& memories, const Order& order,
                                       Budget& budget) {
  return Bounder(graph, counting, memories, order, budget).OfOrders();
}

PlanCost MemoryBound(const Graph& graph, const Counting& counting, const GraphMemories& memories,
                     const Order& order, const PlanCost& upper, Budget& budget) {
  return Bounder(graph, counting, memories, order, budget).Run(upper);
}

PlanCost MemoryBoundByCases(const Graph& graph, const Counting& counting,
                            const GraphMemories& memories, const Order& order,
                            const PlanCost& bound, const PlanCost& upper, Budget& budget) {
  return Bounder(graph, counting, memories, order, budget).RunCases(bound, upper);
}

}  // namespace berth::internal::plan
