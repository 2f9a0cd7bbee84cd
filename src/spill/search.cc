#include "spill/search.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <functional>
#include <limits>
#include <numeric>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/numbers.h"
#include "base/wide.h"

namespace berth::internal::spill {
namespace {

constexpr std::size_t kTurnsPerNode = 256;
// Stored states that a new one is compared with. In a fixed order, all states of a step meet here,
// thousands of them, and the newest are the most similar. A missed dominance only costs work.
constexpr std::size_t kMostCompared = 64;
// Largest number of storages of one size for which the Belady rule is applied; it takes quadratic
// time.
constexpr std::size_t kLargestGroup = 64;
constexpr std::size_t kFewSlots = 1024;
// Work in units of about a nanosecond.
constexpr std::size_t kWorkPerTurn = 2;
constexpr std::size_t kWorkPerState = 200;
constexpr std::size_t kWorkPerWord = 4;
constexpr std::size_t kWorkPerResident = 30;  // The bound examines each.
// With more candidates than this, a beam keeps only those needed last instead of trying many sets.
constexpr std::size_t kManyCandidates = 24;

std::size_t HashOf(const Word* words, std::size_t num_words) {
  std::uint64_t hash = 0x9e3779b97f4a7c15u;
  for (std::size_t w = 0; w < num_words; ++w) hash = Mixed(hash, words[w]);
  return static_cast<std::size_t>(hash ^ hash >> 32);
}

}  // namespace

Search::Search(const Model& model, Bytes capacity, const SpillRules& rules, const Bound* bound,
               Effort& effort)
    : model_(model),
      capacity_(capacity),
      rules_(rules),
      bound_(bound),
      effort_(effort),
      op_words_(model.operator_words()),
      storage_words_(model.storage_words()),
      stride_(op_words_ + 2 * storage_words_) {}

void Search::Clear() {
  words_.clear();
  nodes_.clear();
  slots_.assign(kFewSlots, -1);
}

Search::Open Search::Start(const Word* executed) const {
  Open open;
  open.words.assign(stride_, 0);
  if (executed != nullptr) {
    std::copy(executed, executed + op_words_, open.words.begin());
    for (std::size_t w = 0; w < op_words_; ++w) {
      open.executed += static_cast<std::size_t>(std::popcount(executed[w]));
    }
  }
  FindReady(open);
  return open;
}

void Search::Load(std::size_t node, Open& open) const {
  const Word* from = WordsOf(node);
  open.words.assign(from, from + stride_);
  open.cost = nodes_[node].cost;
  open.resident_bytes = nodes_[node].resident_bytes;
  open.executed = static_cast<std::size_t>(nodes_[node].executed);
  FindReady(open);
}

bool Search::IsReady(OpIndex v, const Word* executed) const {
  for (const OpIndex u : model_.predecessors[v]) {
    if (!TestBit(executed, u.position())) return false;
  }
  return true;
}

void Search::FindReady(Open& open) const {
  open.ready.clear();
  const Word* executed = open.words.data();
  for (std::size_t w = 0; w < op_words_; ++w) {
    const std::size_t begin = w * kWordBits;
    Word rest = ~executed[w];
    if (model_.num_operators - begin < kWordBits) {
      rest &= (Word{1} << (model_.num_operators - begin)) - 1;
    }
    for (; rest != 0; rest &= rest - 1) {
      const OpIndex v(begin + static_cast<std::size_t>(std::countr_zero(rest)));
      if (IsReady(v, executed)) open.ready.push_back(v);
    }
  }
}

bool Search::IsDead(StorageIndex s, const Word* executed) const {
  for (const OpIndex u : model_.users[s]) {
    if (!TestBit(executed, u.position())) return false;
  }
  return true;
}

void Search::Run(OpIndex v, Open& open) const {
  Word* executed = open.words.data();
  Word* resident = executed + op_words_;
  Word* clean = resident + storage_words_;
  SetBit(executed, v.position());
  ++open.executed;
  for (const StorageIndex s : model_.used[v]) {
    if (!TestBit(resident, s.position())) {
      SetBit(resident, s.position());
      SetBit(clean, s.position());
      open.resident_bytes += model_.storages[s].size;
    }
  }
  for (const StorageIndex s : model_.written[v]) ClearBit(clean, s.position());
  for (const StorageIndex s : model_.made[v]) {
    SetBit(resident, s.position());
    open.resident_bytes += model_.storages[s].size;
  }
  const auto settle = [&](StorageIndex s) {
    const Stored& stored = model_.storages[s];
    if (IsDead(s, executed)) {
      ClearBit(resident, s.position());
      ClearBit(clean, s.position());
      open.resident_bytes -= stored.size;
    } else if (stored.result && !TestBit(clean, s.position())) {
      // Its last value is written in any case, so it may be written at once.
      std::int32_t writers = stored.writers;
      if (writers > 0) {
        for (const OpIndex u : model_.users[s]) {
          if (!TestBit(executed, u.position())) continue;
          const auto list = model_.written[u];
          writers -= std::binary_search(list.begin(), list.end(), s) ? 1 : 0;
        }
      }
      if (writers == 0) SetBit(clean, s.position());
    }
  };
  for (const StorageIndex s : model_.used[v]) settle(s);
  for (const StorageIndex s : model_.made[v]) settle(s);

  std::erase(open.ready, v);
  for (const OpIndex u : model_.successors[v]) {
    if (IsReady(u, executed)) {
      open.ready.insert(std::upper_bound(open.ready.begin(), open.ready.end(), u), u);
    }
  }
}

bool Search::IsSafe(OpIndex v, const Open& open) const {
  const Word* executed = open.words.data();
  const Word* resident = executed + op_words_;
  const Word* clean = resident + storage_words_;
  Bytes needed = open.resident_bytes + model_.elsewhere[v];
  for (const StorageIndex s : model_.used[v]) {
    if (!TestBit(resident, s.position())) return false;
  }
  for (const StorageIndex s : model_.made[v]) needed += model_.storages[s].size;
  if (needed > capacity_) return false;

  const auto dies = [&](StorageIndex s) {
    for (const OpIndex u : model_.users[s]) {
      if (u != v && !TestBit(executed, u.position())) return false;
    }
    return true;
  };
  // A copy off chip that is still needed must not become stale earlier than necessary.
  for (const StorageIndex s : model_.written[v]) {
    if (TestBit(clean, s.position()) && !dies(s)) return false;
  }
  // Match the buffers that stay with those that are freed, largest first. A clean buffer is spilled
  // for its size, the new one only for twice its size.
  stays_.clear();
  goes_.clear();
  for (const StorageIndex s : model_.made[v]) {
    if (!dies(s)) stays_.push_back(model_.storages[s].size);
  }
  if (stays_.empty()) return true;
  for (const StorageIndex s : model_.used[v]) {
    if (!dies(s)) continue;
    const Bytes size = model_.storages[s].size;
    goes_.push_back(TestBit(clean, s.position()) ? size / 2 : size);
  }
  if (goes_.size() < stays_.size()) return false;
  std::sort(stays_.begin(), stays_.end(), std::greater<>());
  std::sort(goes_.begin(), goes_.end(), std::greater<>());
  return std::equal(stays_.begin(), stays_.end(), goes_.begin(), std::less_equal<>());
}

void Search::RunSafe(Open& open) const {
  if (!rules_.safe_runs) return;
  for (bool again = true; again;) {
    again = false;
    for (std::size_t i = 0; i < open.ready.size(); ++i) {
      const OpIndex v = open.ready[i];
      if (!IsSafe(v, open)) continue;
      Run(v, open);
      again = true;
      break;
    }
  }
}

// Whether x may be required to be spilled before y: they have equal size, and x is not needed
// before y in any order. Let one plan evict y and keep x; another evicts x and keeps y instead.
// Until y is needed, y takes the place of x; from then on the first plan has both, the other lacks
// x, which it has paid for. What remains is the cost of evicting y after that: in the first plan it
// has a copy. So the exchange costs nothing if y has a copy in the other plan too (it was clean),
// if y is needed only once, or if x was clean and y was not, because the other plan has then saved
// the write already.
bool Search::LeavesFirst(StorageIndex x, StorageIndex y, const Open& open) const {
  if (model_.storages[x].size != model_.storages[y].size) return false;
  const Word* executed = open.words.data();
  const Word* clean = executed + op_words_ + storage_words_;
  const bool clean_x = TestBit(clean, x.position());
  const bool clean_y = TestBit(clean, y.position());
  if (clean_y && !clean_x) return false;
  if (!clean_y && !clean_x) {
    int uses_left = 0;
    for (const OpIndex u : model_.users[y]) uses_left += TestBit(executed, u.position()) ? 0 : 1;
    if (uses_left != 1) return false;
  }
  for (const OpIndex u : model_.users[x]) {
    if (TestBit(executed, u.position())) continue;
    bool later = false;
    for (const OpIndex w : model_.users[y]) {
      if (TestBit(executed, w.position())) continue;
      if (w == u || model_.Precedes(w, u)) {
        later = true;
        break;
      }
    }
    if (!later) return false;
  }
  return true;
}

void Search::FindCandidates(const Open& open, OpIndex v, bool by_price) {
  const Word* resident = open.words.data() + op_words_;
  const auto used = model_.used[v];
  candidates_.clear();
  ForEachBit(resident, storage_words_, [&](std::size_t bit) {
    const StorageIndex s(bit);
    if (!std::binary_search(used.begin(), used.end(), s)) candidates_.push_back(s);
  });
  const StateView view{open.words.data(), resident, resident + storage_words_, open.executed};
  const bool priced = bound_ != nullptr && bound_->Prices(view, candidates_, prices_);
  if (!priced) prices_.assign(candidates_.size(), 0);
  const bool hinted = !priced && !hint_.empty() && candidates_.size() > kManyCandidates;
  if (by_price && (priced || hinted)) {
    SortByPrice(open, hinted);
    SumUp();
    return;
  }
  // Largest first, so that a set is minimal as soon as it suffices.
  std::stable_sort(candidates_.begin(), candidates_.end(), [&](StorageIndex a, StorageIndex b) {
    return model_.storages[a].size > model_.storages[b].size;
  });
  const std::size_t n = candidates_.size();
  if (first_.size() < n) first_.resize(n);
  for (std::size_t i = 0; i < n; ++i) first_[i].clear();
  if (rules_.belady) {
    for (std::size_t begin = 0; begin < n;) {
      std::size_t end = begin + 1;
      while (end < n &&
             model_.storages[candidates_[end]].size == model_.storages[candidates_[begin]].size) {
        ++end;
      }
      if (end - begin > 1 && end - begin <= kLargestGroup) SortGroup(open, begin, end);
      begin = end;
    }
  }
  if (priced) {
    // The same prices, in the current order of candidates.
    const bool known = bound_->Prices(view, candidates_, prices_);
    BERTH_CHECK(known);
  }
  SumUp();
}

void Search::SortByPrice(const Open& open, bool hinted) {
  std::vector<std::size_t> order(candidates_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (hinted) {
    // The next use of each in the known order.
    std::vector<std::size_t> next(candidates_.size(), hint_.size());
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      for (const OpIndex u : model_.users[candidates_[i]]) {
        if (TestBit(open.words.data(), u.position())) continue;
        next[i] = std::min(next[i], hint_[u.position()]);
      }
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return next[a] > next[b]; });
  } else {
    // Lowest price per byte; of equal ones the largest.
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      const Bytes size_a = model_.storages[candidates_[a]].size;
      const Bytes size_b = model_.storages[candidates_[b]].size;
      const Wide left = Wide{prices_[a]} * size_b;
      const Wide right = Wide{prices_[b]} * size_a;
      return left != right ? left < right : size_a > size_b;
    });
  }
  std::vector<StorageIndex> storages;
  std::vector<Bytes> prices;
  for (const std::size_t i : order) {
    storages.push_back(candidates_[i]);
    prices.push_back(prices_[i]);
  }
  candidates_ = std::move(storages);
  prices_ = std::move(prices);
  first_.assign(candidates_.size(), {});
}

void Search::SortGroup(const Open& open, std::size_t begin, std::size_t end) {
  std::vector<StorageIndex> group(candidates_.begin() + static_cast<std::ptrdiff_t>(begin),
                                  candidates_.begin() + static_cast<std::ptrdiff_t>(end));
  const std::size_t m = group.size();
  // leaves[a][b]: a is spilled before b. Mutual pairs are ordered by index, which keeps the relation
  // acyclic: it is part of a preorder.
  std::vector<std::vector<char>> leaves(m, std::vector<char>(m, 0));
  std::vector<std::size_t> waits(m, 0);
  for (std::size_t a = 0; a < m; ++a) {
    for (std::size_t b = 0; b < m; ++b) {
      if (a == b || !LeavesFirst(group[a], group[b], open)) continue;
      if (b < a && LeavesFirst(group[b], group[a], open)) continue;
      leaves[a][b] = 1;
      ++waits[b];
    }
  }
  std::vector<char> placed(m, 0);
  std::vector<std::size_t> order;
  while (order.size() < m) {
    std::size_t next = m;
    for (std::size_t a = 0; a < m && next == m; ++a) {
      if (!placed[a] && waits[a] == 0) next = a;
    }
    if (next == m) break;
    placed[next] = 1;
    order.push_back(next);
    for (std::size_t b = 0; b < m; ++b) waits[b] -= leaves[next][b] != 0 ? 1 : 0;
  }
  BERTH_CHECK(order.size() == m);
  for (std::size_t i = 0; i < m; ++i) {
    candidates_[begin + i] = group[order[i]];
    for (std::size_t j = 0; j < i; ++j) {
      if (leaves[order[j]][order[i]] != 0) first_[begin + i].push_back(begin + j);
    }
  }
}

void Search::SumUp() {
  const std::size_t n = candidates_.size();
  left_.assign(n + 1, 0);
  for (std::size_t i = n; i-- > 0;) {
    left_[i] = left_[i + 1] + model_.storages[candidates_[i]].size;
  }
  chosen_.assign(n, 0);
  picks_.clear();
}

Bytes Search::Excess(const Open& open, OpIndex v) const {
  const Word* resident = open.words.data() + op_words_;
  Bytes over = open.resident_bytes + model_.elsewhere[v] - capacity_;
  for (const StorageIndex s : model_.used[v]) {
    if (!TestBit(resident, s.position())) over += model_.storages[s].size;
  }
  for (const StorageIndex s : model_.made[v]) over += model_.storages[s].size;
  return over;
}

Search::Open Search::ChildOf(const Open& open, OpIndex v, Bytes extra) const {
  Open child = open;
  child.cost += extra;
  Word* resident = child.words.data() + op_words_;
  Word* clean = resident + storage_words_;
  for (const std::size_t i : picks_) {
    const StorageIndex s = candidates_[i];
    ClearBit(resident, s.position());
    ClearBit(clean, s.position());
    child.resident_bytes -= model_.storages[s].size;
  }
  Run(v, child);
  RunSafe(child);
  return child;
}

template <typename Visit>
bool Search::ExpandOperator(const Open& open, OpIndex v, const Bytes& limit, std::size_t max_sets,
                            Budget& budget, bool& cut, Visit visit) {
  const Word* clean = open.words.data() + op_words_ + storage_words_;
  const auto emit = [&](Bytes extra) {
    const Open child = ChildOf(open, v, extra);
    if (child.cost + Remaining(child.words.data(), child.executed) >= limit) return;
    visit(child, v);
  };
  Bytes over = Excess(open, v);
  const std::size_t work_per_state = kWorkPerState + kWorkPerWord * stride_;
  if (over <= 0) {
    picks_.clear();
    if (!Spend(budget, work_per_state)) return false;
    emit(0);
    return true;
  }
  FindCandidates(open, v, max_sets < std::numeric_limits<std::size_t>::max());
  const std::size_t work_per_set = work_per_state + kWorkPerResident * candidates_.size();
  const Bytes floor = open.cost + Estimate(open.words.data(), open.executed);
  Bytes price = 0;  // Growth of the bound.
  Bytes extra = 0;  // Traffic of the picks.
  const auto pick = [&](std::size_t candidate, Bytes sign) {
    const StorageIndex s = candidates_[candidate];
    const Bytes size = sign * model_.storages[s].size;
    over -= size;
    price += sign * prices_[candidate];
    extra += TestBit(clean, s.position()) ? size : 2 * size;
  };
  // Minimal sets, depth first: take candidate i or skip it.
  const std::size_t n = candidates_.size();
  for (std::size_t turn = 1, sets = 0, i = 0;; ++turn) {
    // Long searches between two sets count as work too.
    if (turn % kTurnsPerNode == 0 && !Spend(budget, kTurnsPerNode * kWorkPerTurn)) return false;
    if (over > 0 && i < n && left_[i] >= over && open.cost + extra < limit &&
        floor + price < limit) {
      bool allowed = true;
      for (const std::size_t j : first_[i]) allowed = allowed && chosen_[j] != 0;
      if (allowed) {
        chosen_[i] = 1;
        picks_.push_back(i);
        pick(i, 1);
      }
      ++i;
      continue;
    }
    if (over <= 0) {
      if (!Spend(budget, work_per_set)) return false;
      emit(extra);
      if (++sets >= max_sets) {
        cut = true;
        return true;
      }
    }
    if (picks_.empty()) return true;
    i = picks_.back();
    picks_.pop_back();
    chosen_[i] = 0;
    pick(i, -1);
    ++i;  // Skip it this time.
  }
}

template <typename Visit>
bool Search::Expand(const Open& open, const Bytes& limit, std::size_t max_sets, Budget& budget,
                    bool& cut, Visit visit) {
  for (const OpIndex v : open.ready) {
    if (!ExpandOperator(open, v, limit, max_sets, budget, cut, visit)) return false;
  }
  return true;
}

bool Search::Dominates(Bytes cost_a, const Word* a, Bytes cost_b, const Word* b) const {
  Bytes spare = cost_b - cost_a;
  if (spare < 0) return false;
  const Word* resident_a = a + op_words_;
  const Word* resident_b = b + op_words_;
  const Word* clean_a = resident_a + storage_words_;
  const Word* clean_b = resident_b + storage_words_;
  for (std::size_t w = 0; w < storage_words_; ++w) {
    const Word only_a = resident_a[w] & ~resident_b[w];
    const Word to_write =
        (only_a & ~clean_a[w]) | (resident_a[w] & resident_b[w] & ~clean_a[w] & clean_b[w]);
    for (Word rest = only_a; rest != 0; rest &= rest - 1) {
      const StorageIndex s(w * kWordBits + static_cast<std::size_t>(std::countr_zero(rest)));
      spare -= model_.storages[s].size;
      if (spare < 0) return false;
    }
    for (Word rest = to_write; rest != 0; rest &= rest - 1) {
      const StorageIndex s(w * kWordBits + static_cast<std::size_t>(std::countr_zero(rest)));
      spare -= model_.storages[s].size;
      if (spare < 0) return false;
    }
  }
  return true;
}

void Search::Rehash(std::size_t slots) {
  slots_.assign(slots, -1);
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    if (nodes_[n].dead) continue;
    std::int32_t& slot = slots_[HashOf(WordsOf(n), op_words_) & (slots - 1)];
    nodes_[n].next = slot;
    slot = static_cast<std::int32_t>(n);
  }
}

// Reserves room for twice as many states. While the vectors move, the old states and the new room
// exist together: past half of the allowed number it reserves room for all, and no more than that
// while it is enough.
void Search::Grow() {
  const std::size_t most = effort_.most_bytes / (sizeof(Node) + stride_ * sizeof(Word));
  const std::size_t allowed = most + most / 64;
  const std::size_t capacity = nodes_.capacity();
  std::size_t next = std::max<std::size_t>(2 * capacity, 1024);
  if (next > most / 2 && capacity < allowed) next = allowed;
  if (capacity >= allowed) next = std::max<std::size_t>(capacity + capacity / 8, 1024);
  nodes_.reserve(next);
  words_.reserve(next * stride_);
}

std::int32_t Search::Insert(const Open& open, std::int32_t parent, OpIndex op) {
  if (nodes_.size() >= slots_.size()) Rehash(slots_.size() * 2);
  std::int32_t& slot = slots_[HashOf(open.words.data(), op_words_) & (slots_.size() - 1)];
  const Word* mine = open.words.data();
  std::size_t compared = 0;
  std::int32_t* link = &slot;
  while (*link >= 0) {
    Node& other = nodes_[static_cast<std::size_t>(*link)];
    const Word* theirs = WordsOf(static_cast<std::size_t>(*link));
    if (std::equal(mine, mine + op_words_, theirs)) {
      if (++compared > kMostCompared) break;
      if (rules_.dominance ? Dominates(other.cost, theirs, open.cost, mine)
                           : other.cost <= open.cost && std::equal(mine, mine + stride_, theirs)) {
        return -1;
      }
      if (rules_.dominance ? Dominates(open.cost, mine, other.cost, theirs)
                           : std::equal(mine, mine + stride_, theirs)) {
        other.dead = true;
        *link = other.next;
        continue;
      }
    }
    link = &other.next;
  }
  if (nodes_.size() == nodes_.capacity()) Grow();
  const auto number = static_cast<std::int32_t>(nodes_.size());
  Node node;
  node.cost = open.cost;
  node.resident_bytes = open.resident_bytes;
  node.parent = parent;
  node.op = op.value();
  node.next = slot;
  node.executed = static_cast<std::int32_t>(open.executed);
  slot = number;
  nodes_.push_back(node);
  words_.insert(words_.end(), open.words.begin(), open.words.end());
  return number;
}

// Repeats the path: the safe runs in between follow from the states.
Schedule Search::Trace(std::int32_t node) const {
  std::vector<std::int32_t> path;
  for (std::int32_t n = node; n >= 0; n = nodes_[static_cast<std::size_t>(n)].parent) {
    path.push_back(n);
  }
  std::reverse(path.begin(), path.end());
  Schedule schedule;
  schedule.cost = nodes_[static_cast<std::size_t>(node)].cost;
  Open open = Start();
  const auto run_safe = [&] {
    while (rules_.safe_runs) {
      const auto safe = std::find_if(open.ready.begin(), open.ready.end(),
                                     [&](OpIndex v) { return IsSafe(v, open); });
      if (safe == open.ready.end()) return;
      const OpIndex v = *safe;
      schedule.actions.push_back({v, {}});
      Run(v, open);
    }
  };
  run_safe();
  for (std::size_t i = 1; i < path.size(); ++i) {
    const Word* after = WordsOf(static_cast<std::size_t>(path[i])) + op_words_;
    const OpIndex v(nodes_[static_cast<std::size_t>(path[i])].op);
    // Storages that were in memory, are not used now, and are gone afterwards although still
    // needed. Safe runs only use storages in memory, so they retrieve nothing.
    Action action{v, {}};
    Word* resident = open.words.data() + op_words_;
    Word* clean = resident + storage_words_;
    const Word* executed_after = WordsOf(static_cast<std::size_t>(path[i]));
    std::vector<StorageIndex> gone;
    ForEachBit(resident, storage_words_, [&](std::size_t bit) {
      const StorageIndex s(bit);
      const auto used = model_.used[v];
      if (TestBit(after, bit) || std::binary_search(used.begin(), used.end(), s)) return;
      if (!IsDead(s, executed_after)) gone.push_back(s);
    });
    for (const StorageIndex s : gone) {
      ClearBit(resident, s.position());
      ClearBit(clean, s.position());
      open.resident_bytes -= model_.storages[s].size;
    }
    action.evicted = std::move(gone);
    schedule.actions.push_back(std::move(action));
    Run(v, open);
    run_safe();
  }
  BERTH_CHECK(schedule.actions.size() == model_.num_operators);
  return schedule;
}

// Keeps the best states of a beam's layer, up to its width. True if others were discarded.
bool Search::KeepBest(std::vector<std::int32_t>& layer, const BeamOptions& options) const {
  std::erase_if(layer,
                [&](std::int32_t node) { return nodes_[static_cast<std::size_t>(node)].dead; });
  if (layer.size() <= options.width) return false;
  std::vector<std::pair<Bytes, std::int32_t>> keyed;
  keyed.reserve(layer.size());
  for (const std::int32_t node : layer) {
    const Node& state = nodes_[static_cast<std::size_t>(node)];
    keyed.emplace_back(state.cost +
                           Remaining(WordsOf(static_cast<std::size_t>(node)),
                                     static_cast<std::size_t>(state.executed)) +
                           state.resident_bytes / 16 * options.alpha_16ths,
                       node);
  }
  std::sort(keyed.begin(), keyed.end());
  layer.clear();
  for (std::size_t i = 0; i < options.width; ++i) layer.push_back(keyed[i].second);
  return true;
}

// Drops states that are ancestors of neither a state of `layers` nor `best`, and renumbers the
// rest.
void Search::Compact(std::vector<std::vector<std::int32_t>>& layers, std::int32_t& best) {
  std::vector<std::int32_t> number(nodes_.size(), -1);
  const auto keep = [&](std::int32_t node) {
    if (node >= 0) number[static_cast<std::size_t>(node)] = 0;
  };
  keep(best);
  for (std::vector<std::int32_t>& layer : layers) {
    std::erase_if(layer,
                  [&](std::int32_t node) { return nodes_[static_cast<std::size_t>(node)].dead; });
    for (const std::int32_t node : layer) keep(node);
  }
  // A parent comes before its children.
  for (std::size_t n = nodes_.size(); n-- > 0;) {
    if (number[n] >= 0) keep(nodes_[n].parent);
  }
  std::size_t kept = 0;
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    if (number[n] < 0) continue;
    number[n] = static_cast<std::int32_t>(kept);
    if (nodes_[n].parent >= 0) {
      nodes_[n].parent = number[static_cast<std::size_t>(nodes_[n].parent)];
    }
    nodes_[kept] = nodes_[n];
    const auto from = words_.begin() + static_cast<std::ptrdiff_t>(n * stride_);
    std::copy(from, from + static_cast<std::ptrdiff_t>(stride_),
              words_.begin() + static_cast<std::ptrdiff_t>(kept * stride_));
    ++kept;
  }
  nodes_.resize(kept);
  words_.resize(kept * stride_);
  Rehash(std::max(kFewSlots, std::bit_ceil(kept + 1)));
  if (best >= 0) best = number[static_cast<std::size_t>(best)];
  for (std::vector<std::int32_t>& layer : layers) {
    for (std::int32_t& node : layer) node = number[static_cast<std::size_t>(node)];
  }
}

std::optional<Schedule> Search::Beam(const BeamOptions& options, Bytes limit, bool& exact,
                                     Budget& budget) {
  Clear();
  room_ = std::numeric_limits<std::size_t>::max();
  exact = true;
  const std::size_t n = model_.num_operators;
  std::vector<std::vector<std::int32_t>> layers(n + 1);
  Open start = Start();
  RunSafe(start);
  layers[start.executed].push_back(Insert(start, -1, OpIndex(-1)));
  BeamOptions now = options;
  std::size_t full = effort_.most_bytes;
  std::int32_t best = -1;
  Open open;
  for (std::size_t depth = 0; depth < n; ++depth) {
    std::vector<std::int32_t>& layer = layers[depth];
    if (KeepBest(layer, now)) exact = false;
    // From the back, so that the rest of the layer can be compacted.
    std::reverse(layer.begin(), layer.end());
    while (!layer.empty()) {
      if (bytes() > full) {
        exact = false;
        Compact(layers, best);
        while (bytes() > effort_.most_bytes / 2 && now.width > 1) {
          now.width /= 2;
          for (std::vector<std::int32_t>& later : std::span(layers).subspan(depth + 1)) {
            KeepBest(later, now);
          }
          Compact(layers, best);
        }
        full = std::max(effort_.most_bytes, 2 * bytes());
      }
      const std::int32_t node = layer.back();
      layer.pop_back();
      if (nodes_[static_cast<std::size_t>(node)].dead) continue;
      Load(static_cast<std::size_t>(node), open);
      bool cut = false;
      const bool whole =
          Expand(open, limit, options.max_sets, budget, cut, [&](const Open& child, OpIndex v) {
            const std::int32_t made = Insert(child, node, v);
            if (made < 0) return;
            if (child.executed == n) {
              if (child.cost < limit) {
                limit = child.cost;
                best = made;
              }
              return;
            }
            layers[child.executed].push_back(made);
          });
      if (cut) exact = false;
      if (!whole) {
        exact = false;
        return best < 0 ? std::nullopt : std::optional<Schedule>(Trace(best));
      }
    }
    layer = {};
  }
  if (start.executed == n && start.cost < limit) best = 0;
  return best < 0 ? std::nullopt : std::optional<Schedule>(Trace(best));
}

BestFirstAnswer Search::BestFirst(Bytes limit, std::size_t max_states, Budget& budget,
                                  const Word* executed) {
  Clear();
  room_ = effort_.most_bytes;
  BestFirstAnswer answer;
  const std::size_t n = model_.num_operators;
  // Cheapest first; of those the furthest, then the newest.
  struct Entry {
    Bytes key;
    std::int32_t executed;
    std::int32_t node;
    bool operator<(const Entry& other) const {
      if (key != other.key) return key > other.key;
      if (executed != other.executed) return executed < other.executed;
      return node < other.node;
    }
  };
  std::priority_queue<Entry> queue;
  Open open = Start(executed);
  RunSafe(open);
  std::int32_t best = -1;
  const auto push = [&](const Open& state, std::int32_t parent, OpIndex v) {
    const std::int32_t made = Insert(state, parent, v);
    if (made < 0) return;
    if (state.executed == n) {
      if (state.cost < limit) {
        limit = state.cost;
        best = made;
      }
      return;
    }
    queue.push({state.cost + Remaining(state.words.data(), state.executed),
                static_cast<std::int32_t>(state.executed), made});
  };
  push(open, -1, OpIndex(-1));
  bool stopped = false;
  while (!queue.empty()) {
    const Entry top = queue.top();
    if (top.key >= limit) break;
    answer.bound = std::max(answer.bound, top.key);
    queue.pop();
    if (nodes_[static_cast<std::size_t>(top.node)].dead) continue;
    if (nodes_.size() >= max_states) {
      stopped = true;
      break;
    }
    Load(static_cast<std::size_t>(top.node), open);
    bool cut = false;
    if (!Expand(open, limit, std::numeric_limits<std::size_t>::max(), budget, cut,
                [&](const Open& child, OpIndex v) { push(child, top.node, v); })) {
      stopped = true;
      break;
    }
  }
  answer.complete = !stopped;
  answer.out_of_memory = bytes() > room_;
  if (best >= 0 && executed == nullptr) answer.best = Trace(best);
  if (!stopped) answer.bound = limit;
  return answer;
}

}  // namespace berth::internal::spill
