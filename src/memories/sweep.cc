// The sweep decides items in order of time. A state is what the past means to the future: the options
// of the items that are live, and which sets that must not be taken together are still in play. Two
// pasts with the same state differ in their loss alone, so the lesser is kept.
//
// The loss of a state is what its items, full sections and cuts have cost of the bound that prices
// give (memories/prices.h): a whole choice is worth the bound less its loss. So states that have lost
// more than the distance from the bound to the best choice known are dropped, and nothing else, as
// long as there are no more states than the width: then the search is complete, and what it finds is
// the optimum. Beyond the width those of the least loss are kept, which is a beam search guided by
// prices; the least loss that was dropped still gives a bound.
//
// With few items live at once there are few states, however long the time. That is where branching
// fails: undecided questions in a hundred places multiply there, and here they only add up.
#include "memories/sweep.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "base/check.h"

namespace berth::internal::memories {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

// Where the bits of an item, or of a nogood, are in a state while it is live.
struct Slot {
  std::size_t word = 0;
  int shift = 0;
  std::uint64_t mask = 0;  // Before the shift; 0: it has none.
};

class Slots {
 public:
  // `bits` bits from section `first` on, until Release().
  Slot Take(int bits) {
    for (std::size_t w = 0;; ++w) {
      if (w == used_.size()) used_.push_back(0);
      const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
      for (int shift = 0; shift + bits <= 64; ++shift) {
        if ((used_[w] >> shift & mask) != 0) continue;
        used_[w] |= mask << shift;
        return {w, shift, mask};
      }
    }
  }
  void Release(const Slot& slot) { used_[slot.word] &= ~(slot.mask << slot.shift); }
  [[nodiscard]] std::size_t words() const { return std::max<std::size_t>(used_.size(), 1); }

 private:
  std::vector<std::uint64_t> used_;
};

struct Change {  // The bytes of an item, from one section to the next.
  std::size_t item;
  Bytes by;
  bool ends;
};

// A member of a nogood, at the item that decides it.
struct Membership {
  std::size_t nogood;
  std::uint64_t options;  // A bit for each that counts.
  bool first;
  bool last;
  std::int64_t price;  // Of each member that is not taken, but the first.
};

// An option of an item decided before, still live, that excludes an option of this one.
struct Exclusion {
  std::size_t other;
  std::uint64_t other_options;  // A bit for each.
  std::uint64_t options;
  std::int64_t price;  // Of taking neither.
};

struct Toll {  // What is lost at the end of a section.
  std::size_t memory;
  std::int64_t price;
  Bytes capacity;
};
struct CutToll {
  const Prices::Priced* priced;
  struct Group {
    std::int64_t coefficient;
    std::vector<std::uint64_t> mask;
  };
  std::vector<Group> groups;                                 // Of items with one option.
  std::vector<std::pair<std::size_t, std::int64_t>> others;  // Item, coefficient.
};

class Sweeper {
 public:
  Sweeper(const Selection& selection, const Prices& prices, const SweepQuestion& question,
          Budget& budget)
      : selection_(selection),
        prices_(prices),
        question_(question),
        budget_(budget),
        allowed_(prices.bound - (question.floor + 1) * prices.scale) {
    Prepare();
  }

  SweepAnswer Run();

 private:
  void Prepare();
  void PlaceNogoods(const std::vector<std::size_t>& rank, const std::vector<std::size_t>& order);
  void PlaceExchanges(const std::vector<std::size_t>& rank);
  void PlaceSlots();
  void PlanTolls();
  [[nodiscard]] bool IsExcluded(const std::uint64_t* state, std::size_t item, int option) const;
  [[nodiscard]] bool IsBarred(const std::uint64_t* state, std::size_t item, int option) const;
  [[nodiscard]] std::int64_t Missing(const std::uint64_t* state, std::size_t item,
                                     int option) const;
  void Expand(std::size_t item, std::size_t section);
  void Collect(std::size_t section);
  void Leave(std::size_t section);
  void Merge();
  void Remember(std::size_t section, SweepAnswer& answer);
  void Narrow(std::size_t section);
  [[nodiscard]] std::int64_t Beyond(std::size_t section) const {
    return question_.beyond.empty() ? 0 : question_.beyond[section];
  }
  [[nodiscard]] std::int64_t Best(std::size_t item) const {
    return prices_.Best(item, question_.allowed[item]);
  }

  [[nodiscard]] std::uint64_t* State(std::size_t i) { return states_.data() + i * record_; }
  [[nodiscard]] std::size_t ValueIn(const std::uint64_t* state, const Slot& slot) const {
    return static_cast<std::size_t>(state[words_at_ + slot.word] >> slot.shift & slot.mask);
  }

  // A state is its loss, the last option taken on the way to it, the bytes in each memory, and bits.
  static std::int64_t& LossOf(std::uint64_t* state) {
    return reinterpret_cast<std::int64_t&>(state[0]);
  }
  static constexpr std::size_t kOrigin = 1;
  static constexpr std::size_t kUsed = 2;

  const Selection& selection_;
  const Prices& prices_;
  const SweepQuestion& question_;
  Budget& budget_;
  const std::int64_t allowed_;  // What a choice worth looking for loses at most.

  std::vector<std::vector<std::size_t>> starts_;  // Items by first section.
  std::vector<std::vector<Change>> changes_;      // By section that they follow.
  std::vector<Slot> slot_;                        // By item.
  std::vector<Slot> nogood_slot_;
  std::vector<std::vector<Membership>> memberships_;  // By item.
  std::vector<std::vector<Exclusion>> exclusions_;    // By item.
  struct Tie {  // To an item decided before, of Selection::dominates.
    std::size_t other;
    bool this_is_better;
    std::int64_t price;  // Of taking the better one alone.
  };
  std::vector<std::vector<Tie>> ties_;  // By item.
  struct Barrier {                      // To an item decided before, of Selection::exchanges.
    std::size_t other;
    std::vector<std::uint64_t> excluded;  // By the other's value, a bit for each of this one's.
  };
  std::vector<std::vector<Barrier>> barriers_;  // By item.
  std::vector<std::vector<Toll>> tolls_;
  std::vector<std::vector<CutToll>> cut_tolls_;
  std::size_t words_ = 1;
  std::size_t words_at_ = 0;
  std::size_t record_ = 0;

  std::vector<std::uint64_t> states_;
  std::vector<std::uint64_t> next_;
  std::size_t count_ = 0;
  struct Step {
    std::uint32_t before;
    std::uint32_t item;
    int option;
  };
  std::vector<Step> steps_;
  std::vector<std::uint32_t> table_;  // Of the hash table.
  std::vector<std::pair<std::int64_t, std::uint32_t>> by_loss_;
  std::int64_t dropped_ = kNever;        // The least loss of a state dropped for the width.
  std::int64_t least_dropped_ = kNever;  // The same without what lies beyond.
  std::int64_t visited_ = 0;
};

void Sweeper::Prepare() {
  const std::size_t items = selection_.items.size();
  starts_.resize(selection_.sections);
  changes_.resize(selection_.sections);
  slot_.resize(items);
  memberships_.resize(items);
  exclusions_.resize(items);
  ties_.resize(items);
  barriers_.resize(items);
  for (std::size_t i = 0; i < items; ++i) {
    const Item& item = selection_.items[i];
    starts_[item.first()].push_back(i);
    Bytes before = item.stays.front().bytes;
    std::size_t until = item.stays.front().last;
    for (std::size_t k = 1; k <= item.stays.size(); ++k) {
      if (k == item.stays.size()) {
        changes_[until - 1].push_back({i, -before, true});
        break;
      }
      const Stay& stay = item.stays[k];
      if (stay.first > until) {
        changes_[until - 1].push_back({i, -before, false});
        before = 0;
      }
      changes_[stay.first - 1].push_back({i, stay.bytes - before, false});
      before = stay.bytes;
      until = stay.last;
    }
  }
  for (auto& starting : starts_) {
    std::stable_sort(starting.begin(), starting.end(), [&](std::size_t a, std::size_t b) {
      return selection_.items[a].stays.front().bytes > selection_.items[b].stays.front().bytes;
    });
  }
  PlaceSlots();
  PlanTolls();
}

// Where each nogood is met, with its price: as an exclusion of two, or as one with members. `order` has the
// items in the order in which they begin, and `rank` the position of each.
void Sweeper::PlaceNogoods(const std::vector<std::size_t>& rank,
                           const std::vector<std::size_t>& order) {
  nogood_slot_.resize(selection_.nogoods.size());
  std::vector<std::int64_t> nogood_price(selection_.nogoods.size(), 0);
  for (const Prices::Excluded& each : prices_.nogoods) nogood_price[each.nogood] = each.price;
  for (std::size_t n = 0; n < selection_.nogoods.size(); ++n) {
    std::vector<std::pair<std::size_t, std::uint64_t>> members;
    for (const auto& member : selection_.nogoods[n].members) {
      std::uint64_t options = 0;
      for (const Literal& literal : member) options |= std::uint64_t{1} << literal.option;
      members.emplace_back(rank[member.front().item], options);
    }
    std::sort(members.begin(), members.end());
    const std::size_t later = order[members.back().first];
    if (members.size() == 2 &&
        selection_.items[order[members.front().first]].last() > selection_.items[later].first()) {
      exclusions_[later].push_back({order[members.front().first], members.front().second,
                                    members.back().second, nogood_price[n]});
      continue;
    }
    for (std::size_t k = 0; k < members.size(); ++k) {
      memberships_[order[members[k].first]].push_back(
          {n, members[k].second, k == 0, k + 1 == members.size(), nogood_price[n]});
    }
  }
}

// Each at the item that is decided later, by what the other one is.
void Sweeper::PlaceExchanges(const std::vector<std::size_t>& rank) {
  for (const Exchange& exchange : selection_.exchanges) {
    if (rank[exchange.first] < rank[exchange.second]) {
      barriers_[exchange.second].push_back({exchange.first, exchange.excluded});
      continue;
    }
    const std::size_t values = selection_.items[exchange.second].options.size() + 1;
    Barrier barrier{exchange.second, std::vector<std::uint64_t>(values)};
    for (std::size_t x = 0; x < exchange.excluded.size(); ++x) {
      for (std::size_t y = 0; y < values; ++y) {
        barrier.excluded[y] |= (exchange.excluded[x] >> y & 1) << x;
      }
    }
    barriers_[exchange.first].push_back(std::move(barrier));
  }
}

// Bits for every item while it is live, and for every nogood from its first member to its last.
void Sweeper::PlaceSlots() {
  const std::size_t items = selection_.items.size();
  std::vector<std::size_t> rank(items);
  std::vector<std::size_t> order;
  for (const auto& starting : starts_) {
    for (const std::size_t i : starting) {
      rank[i] = order.size();
      order.push_back(i);
    }
  }
  PlaceNogoods(rank, order);
  PlaceExchanges(rank);
  const auto tie = [&](std::size_t better, std::size_t worse, std::int64_t price) {
    const bool better_later = rank[worse] < rank[better];
    ties_[better_later ? better : worse].push_back(
        {better_later ? worse : better, better_later, price});
  };
  for (const auto& [better, worse] : selection_.dominates) tie(better, worse, 0);
  for (const Prices::Pair& pair : prices_.pairs) tie(pair.better, pair.worse, pair.price);
  Slots slots;
  for (std::size_t s = 0; s < selection_.sections; ++s) {
    for (const std::size_t i : starts_[s]) {
      for (const Membership& member : memberships_[i]) {
        if (member.first) nogood_slot_[member.nogood] = slots.Take(1);
      }
      slot_[i] = slots.Take(static_cast<int>(std::bit_width(selection_.items[i].options.size())));
    }
    for (const Change& change : changes_[s]) {
      if (change.ends) slots.Release(slot_[change.item]);
    }
    // Released at the end of the section, when Leave() clears them.
    for (const std::size_t i : starts_[s]) {
      for (const Membership& member : memberships_[i]) {
        if (member.last) slots.Release(nogood_slot_[member.nogood]);
      }
    }
  }
  words_ = slots.words();
  words_at_ = kUsed + selection_.memories();
  record_ = words_at_ + words_;
}

void Sweeper::PlanTolls() {
  tolls_.resize(selection_.sections);
  cut_tolls_.resize(selection_.sections);
  for (const Prices::Section& section : prices_.sections) {
    tolls_[section.section].push_back(
        {section.memory, section.price, selection_.capacity[section.memory][section.section]});
  }
  for (const Prices::Priced& priced : prices_.cuts) {
    CutToll toll{&priced, {}, {}};
    for (const auto& [item, coefficient] : priced.cut.terms) {
      const std::vector<Option>& options = selection_.items[item].options;
      if (options.size() != 1) {
        toll.others.emplace_back(item, coefficient);
        continue;
      }
      if (options.front().memory != priced.cut.memory) continue;
      auto group = std::find_if(toll.groups.begin(), toll.groups.end(),
                                [by = coefficient](const auto& g) { return g.coefficient == by; });
      if (group == toll.groups.end()) {
        toll.groups.push_back({coefficient, std::vector<std::uint64_t>(words_)});
        group = toll.groups.end() - 1;
      }
      group->mask[slot_[item].word] |= std::uint64_t{1} << slot_[item].shift;
    }
    cut_tolls_[priced.cut.section].push_back(std::move(toll));
  }
}

// Whether what the state has taken rules out the option.
bool Sweeper::IsExcluded(const std::uint64_t* state, std::size_t item, int option) const {
  for (const Exclusion& each : exclusions_[item]) {
    if ((each.options >> option & 1) == 0) continue;
    const std::size_t value = ValueIn(state, slot_[each.other]);
    if (value != 0 && (each.other_options >> (value - 1) & 1) != 0) return true;
  }
  for (const Membership& member : memberships_[item]) {
    if ((member.options >> option & 1) == 0) continue;
    const bool open = member.first || ValueIn(state, nogood_slot_[member.nogood]) != 0;
    if (member.last && open) return true;
  }
  return false;
}

// Whether an item could take the place of this one, or this one its.
bool Sweeper::IsBarred(const std::uint64_t* state, std::size_t item, int option) const {
  return std::any_of(barriers_[item].begin(), barriers_[item].end(), [&](const Barrier& barrier) {
    return (barrier.excluded[ValueIn(state, slot_[barrier.other])] >> (option + 1) & 1) != 0;
  });
}

// What priced nogoods lose by this decision: each member that is not taken costs the price, but for
// the first of them. Its bit in the state says whether all have been taken so far.
std::int64_t Sweeper::Missing(const std::uint64_t* state, std::size_t item, int option) const {
  const auto is_taken = [](std::uint64_t options, int taken) {
    return taken != kOut && (options >> taken & 1) != 0;
  };
  std::int64_t loss = 0;
  for (const Exclusion& each : exclusions_[item]) {
    if (is_taken(each.options, option)) continue;
    const int other = static_cast<int>(ValueIn(state, slot_[each.other])) - 1;
    if (!is_taken(each.other_options, other)) loss += each.price;
  }
  for (const Membership& member : memberships_[item]) {
    if (member.first || is_taken(member.options, option)) continue;
    if (ValueIn(state, nogood_slot_[member.nogood]) == 0) loss += member.price;
  }
  return loss;
}

// Each state once for each way to decide `item`.
void Sweeper::Expand(std::size_t item, std::size_t section) {
  const Item& it = selection_.items[item];
  const std::vector<std::int64_t>& reduced = prices_.reduced[item];
  const std::uint64_t may = question_.allowed[item];
  const std::int64_t best = Best(item);
  const std::int64_t allowed = allowed_ - Beyond(section);
  const Bytes bytes = it.stays.front().bytes;
  const Slot& slot = slot_[item];
  next_.clear();
  next_.reserve(2 * count_ * record_);
  const auto add = [&](const std::uint64_t* from, int option, std::int64_t loss) {
    const bool taken = option != kOut;
    for (const Tie& tie : ties_[item]) {
      const bool other = ValueIn(from, slot_[tie.other]) != 0;
      if (other == taken) continue;
      if (other == tie.this_is_better) return;
      if (!question_.charge_late) loss += tie.price;  // Once, in one of the two directions.
    }
    if (IsBarred(from, item, option)) return;
    // Backwards it is not charged: what that says of the rest of time still holds.
    if (!question_.charge_late) loss += Missing(from, item, option);
    if (loss > allowed) return;
    if (taken && IsExcluded(from, item, option)) return;
    next_.insert(next_.end(), from, from + record_);
    std::uint64_t* const to = next_.data() + next_.size() - record_;
    LossOf(to) = loss;
    for (const Membership& member : memberships_[item]) {
      const bool meets = taken && (member.options >> option & 1) != 0;
      const Slot& at = nogood_slot_[member.nogood];
      if (member.first && meets) to[words_at_ + at.word] |= std::uint64_t{1} << at.shift;
      if (!member.first && (!meets || member.last)) {
        to[words_at_ + at.word] &= ~(std::uint64_t{1} << at.shift);
      }
    }
    if (!taken) return;
    const auto o = static_cast<std::size_t>(option);
    to[kUsed + it.options[o].memory] += static_cast<std::uint64_t>(bytes);
    to[words_at_ + slot.word] |= static_cast<std::uint64_t>(option + 1) << slot.shift;
    to[kOrigin] = steps_.size();
    steps_.push_back(
        {static_cast<std::uint32_t>(from[kOrigin]), static_cast<std::uint32_t>(item), option});
  };
  for (std::size_t i = 0; i < count_; ++i) {
    std::uint64_t* const from = State(i);
    const std::int64_t loss = LossOf(from);
    const auto decide = [&](int option, std::int64_t lost) {
      if (loss + lost <= allowed) add(from, option, question_.charge_late ? loss : loss + lost);
    };
    if ((may & 1) != 0) decide(kOut, best);
    for (std::size_t o = 0; o < it.options.size(); ++o) {
      if ((may >> (o + 1) & 1) == 0) continue;
      const std::size_t m = it.options[o].memory;
      const auto used = static_cast<Bytes>(from[kUsed + m]);
      if (used + bytes > selection_.capacity[m][section]) continue;
      decide(static_cast<int>(o), best - reduced[o]);
    }
  }
  std::swap(states_, next_);
  count_ = states_.size() / record_;
  visited_ += static_cast<std::int64_t>(count_);
}

// What the full section has cost.
void Sweeper::Collect(std::size_t section) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < count_; ++i) {
    std::uint64_t* const state = State(i);
    std::int64_t loss = LossOf(state);
    bool fits = true;
    for (std::size_t m = 0; m < selection_.memories(); ++m) {
      fits = fits && static_cast<Bytes>(state[kUsed + m]) <= selection_.capacity[m][section];
    }
    if (!fits) continue;
    for (const Toll& toll : tolls_[section]) {
      loss += toll.price * (toll.capacity - static_cast<Bytes>(state[kUsed + toll.memory]));
    }
    for (const CutToll& toll : cut_tolls_[section]) {
      std::int64_t left = toll.priced->cut.limit;
      for (const CutToll::Group& group : toll.groups) {
        int count = 0;
        for (std::size_t w = 0; w < words_; ++w) {
          count += std::popcount(state[words_at_ + w] & group.mask[w]);
        }
        left -= group.coefficient * count;
      }
      for (const auto& [item, coefficient] : toll.others) {
        const std::size_t value = ValueIn(state, slot_[item]);
        if (value == 0) continue;
        const Option& option = selection_.items[item].options[value - 1];
        if (option.memory == toll.priced->cut.memory) left -= coefficient;
      }
      loss += toll.priced->price * left;
    }
    if (loss > allowed_ - Beyond(section)) continue;
    LossOf(state) = loss;
    if (kept != i) std::copy_n(state, record_, State(kept));
    ++kept;
  }
  count_ = kept;
}

// Items that end are forgotten.
void Sweeper::Leave(std::size_t section) {
  if (changes_[section].empty()) return;
  for (std::size_t i = 0; i < count_; ++i) {
    std::uint64_t* const state = State(i);
    for (const Change& change : changes_[section]) {
      const Slot& slot = slot_[change.item];
      const std::size_t value = ValueIn(state, slot);
      if (question_.charge_late && change.ends) {
        LossOf(state) +=
            Best(change.item) - (value == 0 ? 0 : prices_.reduced[change.item][value - 1]);
      }
      if (value == 0) continue;
      const std::size_t m = selection_.items[change.item].options[value - 1].memory;
      state[kUsed + m] += static_cast<std::uint64_t>(change.by);
      if (change.ends) state[words_at_ + slot.word] &= ~(slot.mask << slot.shift);
    }
  }
  Merge();
}

// Of states with the same bits the one with the least loss, the first of these.
void Sweeper::Merge() {
  const std::size_t size = std::bit_ceil(2 * count_ + 1);
  table_.assign(size, 0);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < count_; ++i) {
    std::uint64_t* const state = State(i);
    std::uint64_t hash = 0;
    for (std::size_t w = 0; w < words_; ++w) {
      hash = (hash ^ state[words_at_ + w]) * 0x9e3779b97f4a7c15u;
      hash ^= hash >> 29;
    }
    std::size_t at = hash & (size - 1);
    for (;; at = (at + 1) & (size - 1)) {
      if (table_[at] == 0) {
        if (kept != i) std::copy_n(state, record_, State(kept));
        table_[at] = static_cast<std::uint32_t>(++kept);
        break;
      }
      std::uint64_t* const other = State(table_[at] - 1);
      if (!std::equal(other + words_at_, other + record_, state + words_at_)) continue;
      if (LossOf(state) < LossOf(other)) std::copy_n(state, record_, other);
      break;
    }
  }
  count_ = kept;
}

// Keeps the states of the least loss.
void Sweeper::Narrow(std::size_t section) {
  const std::size_t width = question_.width;
  if (count_ <= width) return;
  by_loss_.clear();
  for (std::size_t i = 0; i < count_; ++i) {
    by_loss_.emplace_back(LossOf(State(i)), static_cast<std::uint32_t>(i));
  }
  const auto middle = by_loss_.begin() + static_cast<std::ptrdiff_t>(width);
  std::nth_element(by_loss_.begin(), middle, by_loss_.end());
  dropped_ = std::min(dropped_, middle->first + Beyond(section));
  least_dropped_ = std::min(least_dropped_, middle->first);
  std::sort(by_loss_.begin(), middle,
            [](const auto& a, const auto& b) { return a.second < b.second; });
  for (std::size_t k = 0; k < width; ++k) {
    if (by_loss_[k].second != k) std::copy_n(State(by_loss_[k].second), record_, State(k));
  }
  count_ = width;
}

SweepAnswer Sweeper::Run() {
  SweepAnswer answer;
  answer.profit = question_.floor;
  answer.least.assign(selection_.sections, kNever);
  states_.assign(record_, 0);
  steps_.push_back({0, 0, kOut});
  count_ = 1;
  for (std::size_t s = 0; s < selection_.sections; ++s) {
    for (const std::size_t i : starts_[s]) {
      Expand(i, s);
      Narrow(s);
      bool goes_on = true;
      for (std::size_t k = 0; k < count_ && goes_on; ++k) goes_on = budget_.SpendNode();
      if (!goes_on) {
        std::fill(answer.least.begin(), answer.least.end(), 0);
        answer.bound = prices_.bound / prices_.scale;
        answer.states = visited_;
        return answer;
      }
    }
    Collect(s);
    if (!question_.charge_late) Remember(s, answer);
    Leave(s);
    if (question_.charge_late) Remember(s, answer);
  }
  answer.states = visited_;
  answer.complete = dropped_ == kNever;
  if (count_ > 0) {
    std::size_t best = 0;
    for (std::size_t i = 1; i < count_; ++i) {
      if (LossOf(State(i)) < LossOf(State(best))) best = i;
    }
    Choice choice(selection_.items.size(), kOut);
    for (auto at = static_cast<std::size_t>(State(best)[kOrigin]); at != 0;
         at = steps_[at].before) {
      choice[steps_[at].item] = steps_[at].option;
    }
    const std::int64_t profit = ProfitOf(selection_, choice);
    if (profit > answer.profit) {
      answer.profit = profit;
      answer.choice = std::move(choice);
    }
  }
  answer.bound = answer.profit;
  if (!answer.complete && dropped_ <= allowed_) {
    answer.bound = std::max(answer.bound, (prices_.bound - dropped_) / prices_.scale);
  }
  return answer;
}

// A choice that is not among the states has lost more, or as much as one that was dropped.
void Sweeper::Remember(std::size_t section, SweepAnswer& answer) {
  std::int64_t least = std::min(least_dropped_, allowed_ + 1);
  for (std::size_t i = 0; i < count_; ++i) least = std::min(least, LossOf(State(i)));
  answer.least[section] = least;
}

}  // namespace

SweepAnswer Sweep(const Selection& selection, const Prices& prices, const SweepQuestion& question,
                  Budget& budget) {
  return Sweeper(selection, prices, question, budget).Run();
}

Selection Mirror(const Selection& selection) {
  Selection mirrored = selection;
  for (Item& item : mirrored.items) {
    std::reverse(item.stays.begin(), item.stays.end());
    for (Stay& stay : item.stays) {
      stay = {selection.sections - stay.last, selection.sections - stay.first, stay.bytes};
    }
  }
  for (std::vector<Bytes>& memory : mirrored.capacity) std::reverse(memory.begin(), memory.end());
  return mirrored;
}

Prices Mirror(const Prices& prices, std::size_t sections) {
  Prices mirrored = prices;
  for (Prices::Section& section : mirrored.sections) {
    section.section = sections - 1 - section.section;
  }
  for (Prices::Priced& priced : mirrored.cuts) {
    priced.cut.section = sections - 1 - priced.cut.section;
  }
  return mirrored;
}

}  // namespace berth::internal::memories
