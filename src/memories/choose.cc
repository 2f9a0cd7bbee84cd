// Branch and bound. Every node solves the relaxation, forbids what its prices rule out, and sweeps
// (memories/sweep.h): a complete sweep settles the node, any other finds choices and lowers its bound.
// Only then an item is branched on, the one that the relaxation is least sure of. Most inputs are
// settled by one sweep.
#include "memories/choose.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>
#include <vector>

#include "base/check.h"
#include "memories/sweep.h"

namespace berth::internal::memories {
namespace {

constexpr int kRootRounds = 30;  // Of cuts.
constexpr int kNodeRounds = 3;
constexpr std::size_t kFirstWidth = 64;
constexpr std::size_t kWider = 8;
// Sweeps go on only if they take at least this part of the distance between bound and best choice; at
// the root, from this width on.
constexpr std::int64_t kHelps = 20;
constexpr std::size_t kRootTrial = 4096;
constexpr std::size_t kNodeWidth = 4096;
// With fewer new decisions the relaxation is not solved again.
constexpr std::size_t kManyFixed = 4;

struct Node {
  std::int64_t bound;
  std::int64_t number;  // The later goes first of two with the same bound.
  Allowed allowed;
};

class Chooser {
 public:
  Chooser(const Selection& selection, std::int64_t floor, const ChooseLimits& limits,
          Budget& budget)
      : selection_(selection),
        limits_(limits),
        budget_(budget),
        mirrored_(Mirror(selection)),
        relaxation_(selection) {
    answer_.profit = floor;
  }

  Chosen Run() {
    Node root{0, 0, AllowAll(selection_)};
    for (const Item& item : selection_.items) {
      std::int64_t most = 0;
      for (const Option& option : item.options) most = std::max(most, option.profit);
      root.bound += most;
    }
    open_.push_back(std::move(root));
    for (bool first = true; !open_.empty(); first = false) {
      std::pop_heap(open_.begin(), open_.end(), Later);
      Node node = std::move(open_.back());
      open_.pop_back();
      if (node.bound <= answer_.profit) continue;
      if (!first && Spent()) {
        open_.push_back(std::move(node));
        answer_.stopped = true;
        break;
      }
      Visit(std::move(node), first);
    }
    answer_.bound = answer_.profit;
    for (const Node& node : open_) answer_.bound = std::max(answer_.bound, node.bound);
    answer_.stopped = answer_.bound > answer_.profit;
    return std::move(answer_);
  }

 private:
  static bool Later(const Node& a, const Node& b) {
    return a.bound != b.bound ? a.bound < b.bound : a.number < b.number;
  }
  [[nodiscard]] bool Spent() { return budget_.Exhausted(); }

  void Visit(Node node, bool root);
  void Apply(const Node& node);
  void RoundOff(const Prices& prices);
  [[nodiscard]] std::size_t Fix(const Prices& prices, Node& node) const;
  [[nodiscard]] bool SweepAt(const Prices& prices, SweepQuestion& question, Node& node);
  void LookBack(const Prices& prices, SweepQuestion& question);
  void Branch(Node node);

  const Selection& selection_;
  const ChooseLimits& limits_;
  Budget& budget_;
  const Selection mirrored_;
  Relaxation relaxation_;
  std::vector<Node> open_;  // A heap.
  std::int64_t numbers_ = 0;
  std::vector<std::int64_t> least_;  // Of the latest sweep.
  Chosen answer_;
};

void Chooser::Apply(const Node& node) {
  for (std::size_t i = 0; i < node.allowed.size(); ++i) relaxation_.Allow(i, node.allowed[i]);
}

// Forbids what loses more than the bound is above the best choice, and says how many options.
std::size_t Chooser::Fix(const Prices& prices, Node& node) const {
  const std::int64_t allowed = prices.bound - (answer_.profit + 1) * prices.scale;
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
void Chooser::RoundOff(const Prices& prices) {
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
    const bool fits = choice[i] == kOut &&
                      std::all_of(item.stays.begin(), item.stays.end(), [&](const Stay& stay) {
                        return std::all_of(left.begin() + static_cast<std::ptrdiff_t>(stay.first),
                                           left.begin() + static_cast<std::ptrdiff_t>(stay.last),
                                           [&](Bytes bytes) { return stay.bytes <= bytes; });
                      });
    if (!fits) continue;
    choice[i] = static_cast<int>(o);
    for (const Stay& stay : item.stays) {
      for (std::size_t s = stay.first; s < stay.last; ++s) left[s] -= stay.bytes;
    }
  }
  const std::int64_t profit = ProfitOf(selection_, choice);
  if (profit <= answer_.profit || !Allows(selection_, choice)) return;
  answer_.profit = profit;
  answer_.choice = std::move(choice);
}

// True if it settles the node.
bool Chooser::SweepAt(const Prices& prices, SweepQuestion& question, Node& node) {
  question.floor = answer_.profit;
  question.charge_late = false;
  const SweepAnswer sweep = Sweep(selection_, prices, question, budget_);
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
void Chooser::LookBack(const Prices& prices, SweepQuestion& question) {
  const std::size_t sections = selection_.sections;
  SweepQuestion backwards = question;
  backwards.floor = answer_.profit;
  backwards.charge_late = true;
  backwards.beyond.assign(sections, 0);
  for (std::size_t s = 1; s < sections; ++s) backwards.beyond[sections - 1 - s] = least_[s - 1];
  const SweepAnswer behind = Sweep(mirrored_, Mirror(prices, sections), backwards, budget_);
  question.beyond.assign(sections, 0);
  for (std::size_t s = 0; s + 1 < sections; ++s) {
    question.beyond[s] = behind.least[sections - 2 - s];
  }
}

// Widens the sweep step by step. As soon as enough is forbidden, the relaxation is solved again: its
// bound then falls, and every sweep becomes smaller.
void Chooser::Visit(Node node, bool root) {
  const std::size_t most = root ? limits_.width : std::min(limits_.width, kNodeWidth);
  SweepQuestion question;
  question.width = std::min(kFirstWidth, most);
  for (;;) {
    Apply(node);
    relaxation_.Solve(!limits_.covers ? 0 : root ? kRootRounds : kNodeRounds, budget_);
    const Prices prices = relaxation_.Exact();
    node.bound = std::min(node.bound, prices.bound / prices.scale);
    RoundOff(prices);
    if (node.bound <= answer_.profit) return;
    // The prices hold for what was allowed then; the sweep finds again what they forbid.
    const Allowed priced = node.allowed;
    if (Fix(prices, node) >= kManyFixed) continue;
    const std::int64_t priced_bound = prices.bound / prices.scale;
    question.beyond.clear();
    question.allowed = priced;
    for (;;) {
      if (SweepAt(prices, question, node)) return;
      if (Fix(prices, node) >= kManyFixed) break;
      // Where too much is live at once, wider sweeps would find no better bound: branching does.
      const bool helps = priced_bound - node.bound >= (priced_bound - answer_.profit) / kHelps;
      const bool tried = question.width >= (root ? kRootTrial : kFirstWidth);
      if (question.width == most || (tried && !helps) || Spent()) return Branch(std::move(node));
      LookBack(prices, question);
      question.width = std::min(kWider * question.width, most);
    }
  }
}

void Chooser::Branch(Node node) {
  std::size_t item = selection_.items.size();
  std::size_t option = 0;
  double most = -1;
  for (std::size_t i = 0; i < node.allowed.size(); ++i) {
    if (std::popcount(node.allowed[i]) < 2) continue;
    for (std::size_t o = 0; o < selection_.items[i].options.size(); ++o) {
      if ((node.allowed[i] >> (o + 1) & 1) == 0) continue;
      const double value = relaxation_.Value(i, o);
      const double key =
          std::min(value, 1 - value) * static_cast<double>(selection_.items[i].options[o].profit) +
          1e-9;
      if (key <= most) continue;
      most = key;
      item = i;
      option = o;
    }
  }
  // Nothing is open, but the sweep was cut short.
  if (item == selection_.items.size()) {
    if (Spent()) open_.push_back(std::move(node));
    return;
  }
  Node without = node;
  const std::uint64_t bit = std::uint64_t{2} << option;
  without.allowed[item] &= ~bit;
  node.allowed[item] = bit;
  for (Node* each : {&without, &node}) {
    each->number = ++numbers_;
    open_.push_back(std::move(*each));
    std::push_heap(open_.begin(), open_.end(), Later);
  }
}

}  // namespace

Chosen Choose(const Selection& selection, std::int64_t floor, const ChooseLimits& limits,
              Budget& budget) {
  return Chooser(selection, floor, limits, budget).Run();
}

}  // namespace berth::internal::memories
