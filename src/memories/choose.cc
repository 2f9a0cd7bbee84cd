// Branch and bound. Every node solves the relaxation, forbids what its prices rule out, and sweeps
// (memories/sweep.h): a complete sweep settles the node, any other finds choices and lowers its bound.
// Only then an item is branched on, the one of which both parts lower the bound the most. Most inputs
// are settled by one sweep. What the root rules out is left out of a smaller selection, with a search
// of its own.
#include "memories/choose.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "base/check.h"
#include "memories/subset_sums.h"
#include "memories/sweep.h"

namespace berth::internal::memories {
namespace {

constexpr int kRootRounds = 30;  // Of cuts.
constexpr int kNodeRounds = 1;
constexpr std::size_t kFirstWidth = 64;
constexpr std::size_t kWider = 8;
// Sweeps go on only if they take at least this part of the distance between bound and best choice; at
// the root, from this width on.
constexpr std::int64_t kHelps = 20;
constexpr std::size_t kRootTrial = 4096;
constexpr std::size_t kNodeWidth = 4096;
// Below sweeps that were no help, only every so many nodes are swept, unless few items are undecided.
constexpr int kMostQuiet = 8;
constexpr std::size_t kFewUndecided = 16;
// Options that are considered for branching, and how often each way of one is tried.
constexpr std::size_t kCandidates = 8;
constexpr int kReliable = 1;
// The rest is searched on its own once one item in so many is decided.
constexpr std::size_t kRestOf = 5;
// How many nodes later it is looked whether that has come true.
constexpr int kRestartEvery = 16;
// With fewer new decisions the relaxation is not solved again.
constexpr std::size_t kManyFixed = 4;

struct Node {
  std::int64_t bound;
  std::int64_t number;  // The later goes first of two with the same bound.
  int quiet = 0;        // Nodes above in a row whose sweeps were no help.
  Allowed allowed;
};

bool Fits(const Item& item, const std::vector<Bytes>& room) {
  return std::all_of(item.stays.begin(), item.stays.end(), [&](const Stay& stay) {
    return stay.bytes == 0 || std::all_of(room.begin() + static_cast<std::ptrdiff_t>(stay.first),
                                          room.begin() + static_cast<std::ptrdiff_t>(stay.last),
                                          [&](Bytes bytes) { return stay.bytes <= bytes; });
  });
}

// What is left of a selection once some options are ruled out for good.
struct Remainder {
  Selection selection;
  std::vector<std::size_t> items;                 // Of the whole, by item that is left.
  std::vector<std::vector<std::size_t>> options;  // Of the whole, by item and option that is left.
  std::vector<std::ptrdiff_t> place;              // By item of the whole: the item left, or -1.
  Choice decided;                                 // Of the whole; kOut for items that are left.
  std::int64_t profit = 0;                        // Of `decided`.
};

// Of sections in a row with the same live items only the one with the least room counts.
void MergeSections(Selection& selection) {
  std::vector<bool> begins(selection.sections + 1);
  begins[0] = true;
  for (const Item& item : selection.items) {
    for (const Stay& stay : item.stays) begins[stay.first] = begins[stay.last] = true;
  }
  std::vector<std::size_t> rank(selection.sections + 1, 0);
  std::size_t kept = 0;
  for (std::size_t s = 0; s < selection.sections; ++s) {
    if (begins[s]) ++kept;
    rank[s] = kept - 1;
    for (std::vector<Bytes>& room : selection.capacity) {
      room[kept - 1] = begins[s] ? room[s] : std::min(room[kept - 1], room[s]);
    }
  }
  rank[selection.sections] = kept;
  for (Item& item : selection.items) {
    for (Stay& stay : item.stays) stay = {rank[stay.first], rank[stay.last], stay.bytes};
  }
  for (std::vector<Bytes>& room : selection.capacity) room.resize(kept);
  selection.sections = kept;
}

// False if the nogood then forbids a single item, or all.
bool AddNogood(const Nogood& nogood, Remainder& rest) {
  Nogood left;
  for (const std::vector<Literal>& member : nogood.members) {
    const std::size_t item = member.front().item;
    std::vector<Literal> literals;
    bool met = false;
    for (const Literal& literal : member) {
      if (rest.place[item] < 0) {
        met = met || rest.decided[item] == static_cast<int>(literal.option);
        continue;
      }
      const auto i = static_cast<std::size_t>(rest.place[item]);
      const std::vector<std::size_t>& options = rest.options[i];
      const auto at = std::find(options.begin(), options.end(), literal.option);
      if (at != options.end()) {
        literals.push_back({i, static_cast<std::size_t>(at - options.begin())});
      }
    }
    if (literals.empty() && !met) return true;  // It never holds.
    if (!literals.empty()) left.members.push_back(std::move(literals));
  }
  if (left.members.size() < 2) return false;
  rest.selection.nogoods.push_back(std::move(left));
  return true;
}

// What it says of the values that are left, if both items are.
void AddExchange(const Exchange& exchange, Remainder& rest) {
  if (rest.place[exchange.first] < 0 || rest.place[exchange.second] < 0) return;
  const auto first = static_cast<std::size_t>(rest.place[exchange.first]);
  const auto second = static_cast<std::size_t>(rest.place[exchange.second]);
  const auto value = [](const std::vector<std::size_t>& options, std::size_t left) {
    return left == 0 ? 0 : options[left - 1] + 1;
  };
  Exchange left{first, second, {}};
  bool any = false;
  for (std::size_t x = 0; x <= rest.options[first].size(); ++x) {
    const std::uint64_t whole = exchange.excluded[value(rest.options[first], x)];
    std::uint64_t excluded = 0;
    for (std::size_t y = 0; y <= rest.options[second].size(); ++y) {
      excluded |= (whole >> value(rest.options[second], y) & 1) << y;
    }
    any = any || excluded != 0;
    left.excluded.push_back(excluded);
  }
  if (any) rest.selection.exchanges.push_back(std::move(left));
}

// `allowed`: at least one for each item. Nothing if a nogood then forbids a single item, or all.
std::optional<Remainder> Rest(const Selection& whole, const Allowed& allowed) {
  Remainder rest;
  rest.selection.sections = whole.sections;
  rest.selection.capacity = whole.capacity;
  rest.decided.assign(whole.items.size(), kOut);
  rest.place.assign(whole.items.size(), -1);
  for (std::size_t i = 0; i < whole.items.size(); ++i) {
    const Item& item = whole.items[i];
    std::vector<std::size_t> options;
    for (std::size_t o = 0; o < item.options.size(); ++o) {
      if ((allowed[i] >> (o + 1) & 1) != 0) options.push_back(o);
    }
    if (options.empty()) continue;
    if (options.size() == 1 && (allowed[i] & 1) == 0) {
      const Option& option = item.options[options.front()];
      rest.decided[i] = static_cast<int>(options.front());
      rest.profit += option.profit;
      for (const Stay& stay : item.stays) {
        for (std::size_t s = stay.first; s < stay.last; ++s) {
          rest.selection.capacity[option.memory][s] -= stay.bytes;
        }
      }
      continue;
    }
    if ((allowed[i] & 1) == 0) return std::nullopt;  // Rare: one of two options, but not out.
    rest.place[i] = static_cast<std::ptrdiff_t>(rest.items.size());
    Item& left = rest.selection.items.emplace_back();
    left.stays = item.stays;
    for (const std::size_t o : options) left.options.push_back(item.options[o]);
    rest.items.push_back(i);
    rest.options.push_back(std::move(options));
  }
  for (const Nogood& nogood : whole.nogoods) {
    if (!AddNogood(nogood, rest)) return std::nullopt;
  }
  for (const auto& [better, worse] : whole.dominates) {
    if (rest.place[better] < 0 || rest.place[worse] < 0) continue;
    rest.selection.dominates.emplace_back(rest.place[better], rest.place[worse]);
  }
  for (const Exchange& exchange : whole.exchanges) AddExchange(exchange, rest);
  MergeSections(rest.selection);
  TightenCapacities(rest.selection);
  return rest;
}

// Forbids what goes with nothing that is left of the other item. False if nothing is left.
bool PropagateExchange(const Exchange& exchange, Allowed& allowed, bool& changed) {
  std::uint64_t& first = allowed[exchange.first];
  std::uint64_t& second = allowed[exchange.second];
  std::uint64_t possible = 0;
  for (std::size_t x = 0; x < exchange.excluded.size(); ++x) {
    const std::uint64_t bit = std::uint64_t{1} << x;
    if ((first & bit) == 0) continue;
    const std::uint64_t with = second & ~exchange.excluded[x];
    if (with == 0) {
      first &= ~bit;
      changed = true;
    }
    possible |= with;
  }
  if (possible != second) {
    second = possible;
    changed = true;
  }
  return first != 0 && second != 0;
}

}  // namespace

class ChoiceSearch::Impl {
 public:
  Impl(const Selection& selection, bool keeps, bool wary)
      : selection_(selection),
        keeps_(keeps),
        wary_(wary),
        nogoods_(selection.nogoods.size()),
        mirrored_(Mirror(selection)),
        relaxation_(selection) {
    answer_.profit = -1;
    Begin();
  }

  Chosen Run(std::int64_t floor, const ChooseLimits& limits, Budget& budget) {
    if (selection_.nogoods.size() > nogoods_) Extend();
    floor_ = std::max(floor_, floor);
    if (floor >= answer_.profit) {
      answer_.profit = floor;
      answer_.choice.reset();
    }
    // The rest of a selection has a relaxation of its own, beside this one.
    relaxation_.LimitMemory(limits.most_bytes / 2);
    if (rest_) return RunRest(limits, budget);
    limits_ = limits;
    budget_ = &budget;
    for (bool first = true; next_ || !open_.empty(); first = false) {
      if (!first && Spent()) break;
      if (!next_ && Restart()) return RunRest(limits, budget);
      Node node = Next();
      if (node.bound > answer_.profit) {
        Visit(std::move(node));
      } else {
        Settle(std::move(node));
      }
      if (rest_) return RunRest(limits, budget);
    }
    if (next_) Open(*std::exchange(next_, std::nullopt));
    answer_.bound = answer_.profit;
    for (const Node& node : open_) answer_.bound = std::max(answer_.bound, node.bound);
    answer_.stopped = answer_.bound > answer_.profit;
    return answer_;
  }

  [[nodiscard]] std::int64_t BoundWithout(const Literal& literal) const;

 private:
  static bool Later(const Node& a, const Node& b) {
    return a.bound != b.bound ? a.bound < b.bound : a.number < b.number;
  }
  [[nodiscard]] bool Spent() { return budget_->Exhausted(); }
  void Open(Node node) {
    open_.push_back(std::move(node));
    std::push_heap(open_.begin(), open_.end(), Later);
  }

  // What an option must be worth to be considered: more than this.
  [[nodiscard]] std::int64_t Threshold() const { return wary_ ? floor_ : answer_.profit; }
  // A node without a choice that is better than the best known one. It has some that are worth
  // looking for if that one is excluded.
  void Settle(Node node) {
    if (wary_ && node.bound > floor_) settled_.push_back(std::move(node));
  }
  void Begin();
  void Extend();

  // The latest child, whose relaxation is nearly that of its parent; else what has the best bound.
  [[nodiscard]] Node Next() {
    if (next_) return *std::exchange(next_, std::nullopt);
    std::pop_heap(open_.begin(), open_.end(), Later);
    Node node = std::move(open_.back());
    open_.pop_back();
    return node;
  }
  [[nodiscard]] Chosen RunRest(const ChooseLimits& limits, Budget& budget);
  [[nodiscard]] std::int64_t PricedWithout(const Literal& literal) const;
  [[nodiscard]] bool SplitOff(const Node& root);
  [[nodiscard]] bool Restart();
  void Visit(Node node);
  void Apply(const Node& node);
  [[nodiscard]] bool Propagate(Allowed& allowed) const;
  void RoundOff(const Prices& prices);
  void KeepTogether(Choice& choice, std::vector<std::vector<Bytes>>& room) const;
  [[nodiscard]] static std::size_t Undecided(const Node& node) {
    return static_cast<std::size_t>(
        std::count_if(node.allowed.begin(), node.allowed.end(),
                      [](std::uint64_t allowed) { return std::popcount(allowed) > 1; }));
  }
  void NoteBounds(const Prices& prices, const Allowed& allowed);
  [[nodiscard]] std::size_t Fix(const Prices& prices, Node& node) const;
  [[nodiscard]] bool SweepAt(const Prices& prices, SweepQuestion& question, Node& node);
  void LookBack(const Prices& prices, SweepQuestion& question);
  [[nodiscard]] Literal BranchOn(const Node& node);
  void Branch(Node node);

  const Selection& selection_;
  const bool keeps_;
  // The best choice may be excluded: it rules out for good only what is worth no more than the floor.
  bool wary_;
  std::size_t nogoods_ = 0;  // Of the selection, that are known here.
  std::int64_t floor_ = -1;
  ChooseLimits limits_;
  Budget* budget_ = nullptr;
  Selection mirrored_;
  Relaxation relaxation_;
  std::vector<Node> open_;     // A heap.
  std::vector<Node> settled_;  // See Settle().
  struct Root {
    Prices prices;            // The latest ones,
    Allowed allowed;          // for what was allowed then; later restarts leave less.
    std::int64_t asked = -1;  // The threshold that they were asked about.
    int visited = 0;          // Nodes since then.
  };
  std::optional<Root> root_;
  std::optional<Node> next_;
  // What branching on an option has lowered the relaxation by, for each unit that its value changes
  // by: left out, taken.
  struct Experience {
    std::array<double, 2> sum = {0, 0};
    std::array<int, 2> count = {0, 0};
  };
  std::map<Literal, Experience> experience_;
  std::vector<std::vector<std::int64_t>> bound_without_;  // By item and option.
  // Once many items are decided for good: the others, and the search for them.
  std::optional<Remainder> remainder_;
  std::unique_ptr<ChoiceSearch> rest_;
  std::int64_t rest_bound_ = 0;  // Of everything.
  bool restarted_ = false;       // Branching was tried: it is better than very wide sweeps.
  std::int64_t numbers_ = 0;
  std::vector<std::int64_t> least_;  // Of the latest sweep.
  Chosen answer_;
};

void ChoiceSearch::Impl::Begin() {
  Node root{0, 0, 0, AllowAll(selection_)};
  for (const Item& item : selection_.items) {
    std::int64_t most = 0;
    for (const Option& option : item.options) most = std::max(most, option.profit);
    root.bound += most;
  }
  open_ = {std::move(root)};
  next_.reset();
  settled_.clear();
  root_.reset();
  restarted_ = false;
  bound_without_.clear();
  numbers_ = 0;
}

// Goes on with more nogoods. If they exclude the best choice, what is settled is open again, since all
// that was ruled out for good is worth no more than the floor.
void ChoiceSearch::Impl::Extend() {
  BERTH_CHECK(keeps_);
  mirrored_.nogoods = selection_.nogoods;
  relaxation_.Extend();
  bool goes_on = true;
  if (answer_.choice && !Allows(selection_, *answer_.choice)) {
    answer_.choice.reset();
    answer_.profit = floor_;
    for (Node& node : std::exchange(settled_, {})) Open(std::move(node));
    goes_on = wary_;  // Otherwise it has ruled out others for good.
    wary_ = true;
  }
  for (; nogoods_ < selection_.nogoods.size(); ++nogoods_) {
    goes_on = goes_on && (!rest_ || AddNogood(selection_.nogoods[nogoods_], *remainder_));
  }
  if (goes_on) return;
  rest_.reset();
  remainder_.reset();
  Begin();
}

void ChoiceSearch::Impl::Apply(const Node& node) {
  for (std::size_t i = 0; i < node.allowed.size(); ++i) relaxation_.Allow(i, node.allowed[i]);
}

// At the root, where prices have ruled out much for good: the rest is a smaller selection, of which
// everything is cheaper.
bool ChoiceSearch::Impl::SplitOff(const Node& root) {
  const std::size_t items = selection_.items.size();
  if (Undecided(root) * kRestOf > items * (kRestOf - 1)) return false;
  Allowed allowed = root.allowed;
  if (!Propagate(allowed)) return false;
  remainder_ = Rest(selection_, allowed);
  if (!remainder_ || remainder_->selection.items.empty()) {
    remainder_.reset();
    return false;
  }
  rest_bound_ = root.bound;
  rest_ = std::make_unique<ChoiceSearch>(remainder_->selection, keeps_, wary_);
  return true;
}

// With a better choice the prices at the root rule out more, and so does what all open nodes have
// forbidden. If that is much, the rest is searched from its beginning: with cuts and sweeps of its own,
// which are worth more than the tree so far.
bool ChoiceSearch::Impl::Restart() {
  if (wary_) return false;
  const bool better = root_ && root_->asked < Threshold();
  if (!root_ || (!better && ++root_->visited % kRestartEvery != 0)) return false;
  root_->asked = Threshold();
  Node root{answer_.profit, 0, 0, Allowed(root_->allowed.size(), 0)};
  for (const Node& node : open_) {
    root.bound = std::max(root.bound, node.bound);
    for (std::size_t i = 0; i < root.allowed.size(); ++i) root.allowed[i] |= node.allowed[i];
  }
  for (std::size_t i = 0; i < root.allowed.size(); ++i) root.allowed[i] &= root_->allowed[i];
  static_cast<void>(Fix(root_->prices, root));
  if (!Propagate(root.allowed)) return false;
  root_->allowed = root.allowed;
  restarted_ = SplitOff(root);
  return restarted_;
}

Chosen ChoiceSearch::Impl::RunRest(const ChooseLimits& limits, Budget& budget) {
  const std::int64_t decided = remainder_->profit;
  ChooseLimits narrow = limits;
  narrow.most_bytes /= 2;
  if (restarted_) narrow.width = std::min(narrow.width, kNodeWidth);
  const Chosen chosen =
      rest_->Run(std::max<std::int64_t>(Threshold() - decided, -1), narrow, budget);
  if (chosen.choice && chosen.profit + decided > answer_.profit) {
    Choice choice = remainder_->decided;
    for (std::size_t i = 0; i < remainder_->items.size(); ++i) {
      const int option = (*chosen.choice)[i];
      if (option == kOut) continue;
      choice[remainder_->items[i]] =
          static_cast<int>(remainder_->options[i][static_cast<std::size_t>(option)]);
    }
    BERTH_CHECK(Allows(selection_, choice));
    answer_.profit = chosen.profit + decided;
    answer_.choice = std::move(choice);
  }
  answer_.bound = std::max(answer_.profit, std::min(rest_bound_, chosen.bound + decided));
  answer_.stopped = answer_.bound > answer_.profit;
  return answer_;
}

// What follows from what is decided: the worse of two items is taken only with the better one, and
// what no longer fits beside what is taken is forbidden. False: nothing is allowed together.
bool ChoiceSearch::Impl::Propagate(Allowed& allowed) const {
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& [better, worse] : selection_.dominates) {
      if ((allowed[worse] & 1) == 0 && (allowed[better] & 1) != 0) {
        allowed[better] &= ~std::uint64_t{1};
        changed = true;
      }
      if (allowed[better] == 1 && allowed[worse] != 1) {
        allowed[worse] &= 1;
        changed = true;
      }
      if (allowed[better] == 0 || allowed[worse] == 0) return false;
    }
    for (const Exchange& exchange : selection_.exchanges) {
      if (!PropagateExchange(exchange, allowed, changed)) return false;
    }
    std::vector<std::vector<Bytes>> room = selection_.capacity;
    for (std::size_t i = 0; i < allowed.size(); ++i) {
      if (std::popcount(allowed[i]) != 1 || allowed[i] == 1) continue;
      const auto o = static_cast<std::size_t>(std::countr_zero(allowed[i])) - 1;
      std::vector<Bytes>& left = room[selection_.items[i].options[o].memory];
      for (const Stay& stay : selection_.items[i].stays) {
        if (stay.bytes == 0) continue;
        for (std::size_t s = stay.first; s < stay.last; ++s) {
          if ((left[s] -= stay.bytes) < 0) return false;
        }
      }
    }
    for (std::size_t i = 0; i < allowed.size(); ++i) {
      if (std::popcount(allowed[i]) < 2) continue;
      const Item& item = selection_.items[i];
      for (std::size_t o = 0; o < item.options.size(); ++o) {
        const std::uint64_t bit = std::uint64_t{2} << o;
        if ((allowed[i] & bit) == 0 || Fits(item, room[item.options[o].memory])) continue;
        allowed[i] &= ~bit;
        changed = true;
      }
      if (allowed[i] == 0) return false;
    }
  }
  return true;
}

// `allowed`: what the prices hold for.
void ChoiceSearch::Impl::NoteBounds(const Prices& prices, const Allowed& allowed) {
  bound_without_.resize(selection_.items.size());
  for (std::size_t i = 0; i < allowed.size(); ++i) {
    const std::size_t options = selection_.items[i].options.size();
    bound_without_[i].resize(options, std::numeric_limits<std::int64_t>::max());
    const std::int64_t best = prices.Best(i, allowed[i]);
    for (std::size_t o = 0; o < options; ++o) {
      const std::uint64_t others = allowed[i] & ~(std::uint64_t{2} << o);
      const std::int64_t bound =
          others == 0 ? Threshold() : (prices.bound - best + prices.Best(i, others)) / prices.scale;
      bound_without_[i][o] = std::min(bound_without_[i][o], bound);
    }
  }
}

std::int64_t ChoiceSearch::Impl::BoundWithout(const Literal& literal) const {
  return std::max(Threshold(), PricedWithout(literal));
}

std::int64_t ChoiceSearch::Impl::PricedWithout(const Literal& literal) const {
  const auto& [item, option] = literal;
  std::int64_t bound = bound_without_.empty() ? answer_.bound : bound_without_[item][option];
  if (!rest_ || bound <= Threshold()) return bound;
  const std::ptrdiff_t place = remainder_->place[item];
  if (place < 0) return remainder_->decided[item] == static_cast<int>(option) ? Threshold() : bound;
  const std::vector<std::size_t>& options = remainder_->options[static_cast<std::size_t>(place)];
  const auto at = std::find(options.begin(), options.end(), option);
  if (at == options.end()) return bound;
  const std::int64_t rest = rest_->BoundWithout(
      {static_cast<std::size_t>(place), static_cast<std::size_t>(at - options.begin())});
  return std::min(bound, remainder_->profit + rest);
}

// Forbids what loses more than the bound is above the best choice, and says how many options.
std::size_t ChoiceSearch::Impl::Fix(const Prices& prices, Node& node) const {
  const std::int64_t allowed = prices.bound - (Threshold() + 1) * prices.scale;
  std::size_t changed = 0;
  for (std::size_t i = 0; i < node.allowed.size(); ++i) {
    const std::uint64_t now = node.allowed[i];
    const std::int64_t best = prices.Best(i, now);
    for (std::size_t o = 0; o <= selection_.items[i].options.size(); ++o) {
      const std::uint64_t bit = std::uint64_t{1} << o;
      if ((now & bit) == 0 || best - (o == 0 ? 0 : prices.reduced[i][o - 1]) <= allowed) continue;
      node.allowed[i] &= ~bit;
      ++changed;
    }
  }
  return changed;
}

// The options of the relaxed solution in order of their values, each if it still fits. With many items
// live at once few are undecided, and this is better than a narrow sweep.
void ChoiceSearch::Impl::RoundOff(const Prices& prices) {
  struct Wish {
    double value;
    std::int64_t reduced;
    Literal literal;
  };
  std::vector<Wish> wishes;
  for (std::size_t i = 0; i < selection_.items.size(); ++i) {
    for (std::size_t o = 0; o < selection_.items[i].options.size(); ++o) {
      wishes.push_back({relaxation_.Value(i, o), prices.reduced[i][o], {i, o}});
    }
  }
  std::sort(wishes.begin(), wishes.end(), [](const Wish& a, const Wish& b) {
    if (a.value != b.value) return a.value > b.value;
    return a.reduced != b.reduced ? a.reduced > b.reduced : a.literal < b.literal;
  });
  Choice choice(selection_.items.size(), kOut);
  std::vector<std::vector<Bytes>> room = selection_.capacity;
  for (const Wish& wish : wishes) {
    const auto& [i, o] = wish.literal;
    const Item& item = selection_.items[i];
    std::vector<Bytes>& left = room[item.options[o].memory];
    if (choice[i] != kOut || !Fits(item, left)) continue;
    choice[i] = static_cast<int>(o);
    for (const Stay& stay : item.stays) {
      if (stay.bytes == 0) continue;
      for (std::size_t s = stay.first; s < stay.last; ++s) left[s] -= stay.bytes;
    }
  }
  KeepTogether(choice, room);
  const std::int64_t profit = ProfitOf(selection_, choice);
  if (profit <= answer_.profit || !Allows(selection_, choice)) return;
  answer_.profit = profit;
  answer_.choice = std::move(choice);
}

// Leaves out what has been taken without what it needs. What has all that it needs comes in if it fits.
void ChoiceSearch::Impl::KeepTogether(Choice& choice, std::vector<std::vector<Bytes>>& room) const {
  const auto move = [&](std::size_t i, int option) {
    const Item& item = selection_.items[i];
    std::vector<Bytes>& left = room[item.options.front().memory];
    for (const Stay& stay : item.stays) {
      if (stay.bytes == 0) continue;
      const Bytes bytes = option == kOut ? stay.bytes : -stay.bytes;
      for (std::size_t s = stay.first; s < stay.last; ++s) left[s] += bytes;
    }
    choice[i] = option;
  };
  std::vector<char> lacks(choice.size(), 0);
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& [better, worse] : selection_.dominates) {
      if (choice[better] != kOut) continue;
      lacks[worse] = 1;
      if (choice[worse] == kOut) continue;
      move(worse, kOut);
      changed = true;
    }
  }
  for (const auto& [better, worse] : selection_.dominates) {
    if (lacks[worse] != 0 || choice[worse] != kOut) continue;
    const Item& item = selection_.items[worse];
    if (Fits(item, room[item.options.front().memory])) move(worse, 0);
  }
}

// True if it settles the node.
bool ChoiceSearch::Impl::SweepAt(const Prices& prices, SweepQuestion& question, Node& node) {
  question.floor = answer_.profit;
  question.charge_late = false;
  const SweepAnswer sweep = Sweep(selection_, prices, question, *budget_);
  if (sweep.choice) {
    BERTH_CHECK(Allows(selection_, *sweep.choice));
    answer_.choice = sweep.choice;
    answer_.profit = sweep.profit;
  }
  node.bound = std::min(node.bound, sweep.bound);
  if (sweep.complete || node.bound <= answer_.profit) return true;
  least_ = sweep.least;
  return false;
}

// What the second part of a choice loses at least: from a sweep backwards, which knows what the first
// part loses at least.
void ChoiceSearch::Impl::LookBack(const Prices& prices, SweepQuestion& question) {
  const std::size_t sections = selection_.sections;
  SweepQuestion backwards = question;
  backwards.floor = answer_.profit;
  backwards.charge_late = true;
  backwards.beyond.assign(sections, 0);
  for (std::size_t s = 1; s < sections; ++s) backwards.beyond[sections - 1 - s] = least_[s - 1];
  const SweepAnswer behind = Sweep(mirrored_, Mirror(prices, sections), backwards, *budget_);
  question.beyond.assign(sections, 0);
  for (std::size_t s = 0; s + 1 < sections; ++s) {
    question.beyond[s] = behind.least[sections - 2 - s];
  }
}

// Widens the sweep step by step. As soon as enough is forbidden, the relaxation is solved again: its
// bound then falls, and every sweep becomes smaller.
void ChoiceSearch::Impl::Visit(Node node) {
  const bool root = node.number == 0;
  const std::size_t most = root ? limits_.width : std::min(limits_.width, kNodeWidth);
  SweepQuestion question;
  question.width = std::min(kFirstWidth, most);
  for (;;) {
    if (!Propagate(node.allowed)) return;
    Apply(node);
    relaxation_.Solve(!limits_.covers ? 0 : root ? kRootRounds : kNodeRounds, *budget_);
    const Prices prices = relaxation_.Exact(Threshold());
    node.bound = std::min(node.bound, prices.bound / prices.scale);
    if (root) {
      NoteBounds(prices, node.allowed);
      root_ = Root{prices, node.allowed};
    }
    if (budget_->TimeIsUp()) return node.bound > answer_.profit ? Open(std::move(node)) : void();
    RoundOff(prices);
    if (node.bound <= answer_.profit) return Settle(std::move(node));
    // The prices hold for what was allowed then; the sweep finds again what they forbid.
    const Allowed priced = node.allowed;
    if (Fix(prices, node) >= kManyFixed) continue;
    const std::int64_t priced_bound = prices.bound / prices.scale;
    if (node.quiet % kMostQuiet != 0 && Undecided(node) > kFewUndecided) {
      if (Spent()) return Open(std::move(node));
      ++node.quiet;
      return Branch(std::move(node));
    }
    question.beyond.clear();
    question.allowed = priced;
    for (;;) {
      if (SweepAt(prices, question, node)) return Settle(std::move(node));
      if (Fix(prices, node) >= kManyFixed) break;
      // Where too much is live at once, wider sweeps would find no better bound: branching does.
      const bool helps = priced_bound - node.bound >= (priced_bound - answer_.profit) / kHelps;
      const bool moved = node.bound < priced_bound || question.width < kWider * kFirstWidth;
      const bool tried = question.width >= (root ? kRootTrial : kFirstWidth) || !moved;
      if (Spent()) return Open(std::move(node));
      if (question.width == most || (tried && !helps)) {
        if (root && SplitOff(node)) return;
        node.quiet = helps ? 0 : node.quiet + 1;
        return Branch(std::move(node));
      }
      LookBack(prices, question);
      question.width = std::min(kWider * question.width, most);
    }
  }
}

// Of the options that are undecided the one of which both parts lower the bound the most: by what
// was found when it was branched on before, or tried ("reliability branching", Achterberg, Koch and
// Martin, Operations Research Letters 33, 2005).
Literal ChoiceSearch::Impl::BranchOn(const Node& node) {
  struct Candidate {
    double key;
    Literal literal;
    double value;
  };
  std::vector<Candidate> open;
  for (std::size_t i = 0; i < node.allowed.size(); ++i) {
    if (std::popcount(node.allowed[i]) < 2) continue;
    for (std::size_t o = 0; o < selection_.items[i].options.size(); ++o) {
      if ((node.allowed[i] >> (o + 1) & 1) == 0) continue;
      const double value = relaxation_.Value(i, o);
      open.push_back(
          {std::min(value, 1 - value) * static_cast<double>(selection_.items[i].options[o].profit) +
               1e-9,
           {i, o},
           value});
    }
  }
  const auto first = [](const Candidate& a, const Candidate& b) {
    return a.key != b.key ? a.key > b.key : a.literal < b.literal;
  };
  std::sort(open.begin(), open.end(), first);
  if (open.size() > kCandidates) open.resize(kCandidates);
  const double now = relaxation_.value();
  const double most = now - static_cast<double>(answer_.profit);
  for (Candidate& each : open) {
    Experience& known = experience_[each.literal];
    std::array<double, 2> gains = {0, 0};
    const std::array<double, 2> distances = {std::max(each.value, 1e-6),
                                             std::max(1 - each.value, 1e-6)};
    for (std::size_t take = 0; take < 2; ++take) {
      if (known.count[take] < kReliable && each.key > 1e-3) {
        const double then =
            relaxation_.Probe(each.literal.item, each.literal.option, take == 1, *budget_);
        const double gain = then < 0 ? most : std::clamp(now - then, 0.0, most);
        known.sum[take] += gain / distances[take];
        ++known.count[take];
        gains[take] = gain;
      } else {
        gains[take] =
            std::min(most, known.sum[take] / std::max(known.count[take], 1) * distances[take]);
      }
    }
    each.key = std::max(gains[0], 1e-6 * now) * std::max(gains[1], 1e-6 * now) + each.key * 1e-12;
  }
  std::sort(open.begin(), open.end(), first);
  return open.empty() ? Literal{selection_.items.size(), 0} : open.front().literal;
}

void ChoiceSearch::Impl::Branch(Node node) {
  const auto [item, option] = BranchOn(node);
  // Nothing is open, but the sweep was cut short.
  if (item == selection_.items.size()) {
    if (Spent()) Open(std::move(node));
    return;
  }
  Node without = node;
  const std::uint64_t bit = std::uint64_t{2} << option;
  without.allowed[item] &= ~bit;
  node.allowed[item] = bit;
  const bool take = relaxation_.Value(item, option) >= 0.5;
  without.number = ++numbers_;
  node.number = ++numbers_;
  Open(std::move(take ? without : node));
  next_ = std::move(take ? node : without);
}

ChoiceSearch::ChoiceSearch(const Selection& selection, bool keeps, bool wary)
    : impl_(std::make_unique<Impl>(selection, keeps, wary)) {}
ChoiceSearch::~ChoiceSearch() = default;

Chosen ChoiceSearch::Run(std::int64_t floor, const ChooseLimits& limits, Budget& budget) {
  Chosen chosen = impl_->Run(floor, limits, budget);
  return chosen;
}

std::int64_t ChoiceSearch::BoundWithout(const Literal& literal) const {
  return impl_->BoundWithout(literal);
}

Chosen Choose(const Selection& selection, std::int64_t floor, const ChooseLimits& limits,
              Budget& budget) {
  return ChoiceSearch(selection, false, false).Run(floor, limits, budget);
}

}  // namespace berth::internal::memories
