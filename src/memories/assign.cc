#include "memories/assign.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "memories/choose.h"
#include "memories/exchange.h"
#include "memories/timeline.h"

namespace berth::internal::memories {
namespace {

// Pins are compared with each other up to this many; beyond, placing finds which collide.
constexpr std::size_t kMostPins = 2000;
// Likewise units of which one may be better than the other.
constexpr std::size_t kMostCompared = 4000;
constexpr std::size_t kMostExchanged = 2000;

// Nogoods that one conflict becomes at most, if its units are several items.
constexpr std::size_t kMostCombined = 64;

// The sum of profits that the search computes with.
constexpr std::int64_t kMostProfit = std::int64_t{1} << 55;

}  // namespace

Assigner::Assigner(const MemoryProblem& problem, const Model& model)
    : problem_(problem),
      model_(model),
      kept_(model.units.size()),
      tied_(model.units.size()),
      aside_(model.units.size()) {
  // More than all costs of all units, wherever they are.
  for (const Unit& unit : model.units) {
    banned_.emplace_back(unit.modes.size());
    std::int64_t most = unit.cost_left_out;  // Of some of a group, if it must be placed.
    for (const Mode& mode : unit.modes) most = std::max(most, mode.cost);
    unplaced_ += Wide(most);
  }
  unplaced_ += Wide(1);
  for (const Apart& apart : problem.apart) {
    if (!apart.different_memories) continue;
    tied_[model.tables.front().places[apart.first].buffer] = true;
    tied_[model.tables.front().places[apart.second].buffer] = true;
  }
  FindBases();
  Timeline timeline = TimelineOf(problem, model, kMaxBytes);
  sections_ = timeline.sections;
  stays_ = std::move(timeline.stays);
  capacity_ = std::move(timeline.room);
  AddPairs();
}

void Assigner::FindBases() {
  for (std::size_t u = 0; u < model_.units.size(); ++u) {
    const Unit& unit = model_.units[u];
    int base = kOut;
    Wide least = BaseScore(u);
    for (std::size_t k = 0; k < unit.modes.size() && !tied_[u]; ++k) {
      const Mode& mode = unit.modes[k];
      if (mode.pin || problem_.memories[mode.memory].capacity) continue;
      if (Wide(mode.cost) >= least) continue;
      least = Wide(mode.cost);
      base = static_cast<int>(k);
    }
    base_.push_back(base);
  }
}

// Of a unit that is left out.
Wide Assigner::BaseScore(std::size_t u) const {
  const Unit& unit = model_.units[u];
  Wide score = Wide(unit.cost_left_out);
  for (const std::size_t b : unit.buffers) {
    const bool must = problem_.placing.empty() || !problem_.placing[b].cost_left_out;
    if (must) score += unplaced_;
  }
  return score;
}

Wide Assigner::ScoreOf(std::size_t u, int mode) const {
  return mode == kOut ? BaseScore(u)
                      : Wide(model_.units[u].modes[static_cast<std::size_t>(mode)].cost);
}

Wide Assigner::Score(const Assignment& assignment) const {
  Wide score = 0;
  for (std::size_t u = 0; u < assignment.size(); ++u) {
    score += ScoreOf(u, assignment[u]);
  }
  return score;
}

double Assigner::Gain(std::size_t unit, int mode) const {
  constexpr int kBits = 40;
  const Wide gain = ScoreOf(unit, base_[unit]) - ScoreOf(unit, mode);
  const auto high = static_cast<std::int64_t>(gain >> kBits);
  const auto low = static_cast<std::int64_t>(gain - (Wide(high) << kBits));
  return std::ldexp(static_cast<double>(high), kBits) + static_cast<double>(low);
}

PlanCost Assigner::CostOfScore(Wide score) const {
  const Wide unplaced = score / unplaced_;
  return {static_cast<std::size_t>(unplaced),
          static_cast<std::int64_t>(score - unplaced * unplaced_), 0};
}

// Pairs that can be told apart without placing anything.
void Assigner::AddPairs() {
  for (const Apart& apart : problem_.apart) {
    if (!apart.different_memories) continue;
    const std::size_t a = model_.tables.front().places[apart.first].buffer;
    const std::size_t b = model_.tables.front().places[apart.second].buffer;
    for (std::size_t k = 0; k < model_.units[a].modes.size(); ++k) {
      for (std::size_t l = 0; l < model_.units[b].modes.size(); ++l) {
        if (model_.units[a].modes[k].memory == model_.units[b].modes[l].memory) {
          pairs_.push_back({{a, k}, {b, l}});
        }
      }
    }
  }
  std::vector<std::pair<std::size_t, std::size_t>> pins;
  for (std::size_t u = 0; u < model_.units.size(); ++u) {
    for (std::size_t k = 0; k < model_.units[u].modes.size(); ++k) {
      if (model_.units[u].modes[k].pin) pins.emplace_back(u, k);
    }
  }
  if (pins.size() > kMostPins) return;
  for (std::size_t i = 0; i < pins.size(); ++i) {
    for (std::size_t j = i + 1; j < pins.size(); ++j) {
      const Mode& first = model_.units[pins[i].first].modes[pins[i].second];
      const Mode& second = model_.units[pins[j].first].modes[pins[j].second];
      if (pins[i].first == pins[j].first || first.memory != second.memory) continue;
      const std::vector<Buffer>& table = model_.tables[first.memory].problem.buffers;
      Problem both;
      both.buffers = {table[pins[i].first], table[pins[j].first]};
      both.buffers[0].offset = first.pin;
      both.buffers[1].offset = second.pin;
      if (CollidingPins(both)) pairs_.push_back({pins[i], pins[j]});
    }
  }
}

// Whether the latest Build() has an item for each, so that one nogood says it all.
bool Assigner::HasItems(const Conflict& conflict) const {
  return conflict.size() > 1 && !item_of_.empty() &&
         std::all_of(conflict.begin(), conflict.end(),
                     [&](const auto& each) { return item_of_[each.first] >= 0; });
}

void Assigner::Exclude(Conflict conflict) {
  if (conflict.size() == 1) {
    ++changes_;
    const auto& [unit, mode] = conflict.front();
    const std::vector<Mode>& modes = model_.units[unit].modes;
    for (std::size_t k = 0; k < modes.size(); ++k) {
      if (modes[k].memory == modes[mode].memory &&
          (!modes[mode].pin || modes[k].pin == modes[mode].pin)) {
        banned_[unit][k] = true;
      }
    }
    return;
  }
  if (HasItems(conflict)) {
    AddNogood(conflict);
  } else {
    ++changes_;
  }
  for (const auto& [unit, mode] : conflict) kept_[unit] = true;
  conflicts_.push_back(std::move(conflict));
}

void Assigner::Postpone(Conflict conflict, Wide score) {
  left_ = left_ ? std::min(*left_, score) : score;
  if (HasItems(conflict)) {
    AddNogood(conflict);
  } else {
    ++changes_;
  }
  postponed_.push_back(std::move(conflict));
}

// Whether the mode's memory has room for the unit alone.
bool Assigner::FitsAlone(std::size_t unit, const Mode& mode) const {
  const std::vector<Bytes>& room = capacity_[mode.memory];
  return std::all_of(stays_[unit].begin(), stays_[unit].end(), [&](const Stay& stay) {
    return std::all_of(room.begin() + static_cast<std::ptrdiff_t>(stay.first),
                       room.begin() + static_cast<std::ptrdiff_t>(stay.last),
                       [&](Bytes bytes) { return stay.bytes <= bytes; });
  });
}

// Sections in which the bytes of a memory may not be enough.
std::vector<bool> Assigner::TightSections(
    const std::vector<std::vector<std::size_t>>& better) const {
  std::vector<bool> tight(sections_);
  for (std::size_t m = 0; m < problem_.memories.size(); ++m) {
    std::vector<Wide> load(sections_ + 1, Wide(0));
    for (std::size_t u = 0; u < better.size(); ++u) {
      const bool uses = std::any_of(better[u].begin(), better[u].end(), [&](std::size_t k) {
        return model_.units[u].modes[k].memory == m;
      });
      if (!uses) continue;
      for (const Stay& stay : stays_[u]) {
        load[stay.first] += Wide(stay.bytes);
        load[stay.last] -= Wide(stay.bytes);
      }
    }
    Wide sum = 0;
    for (std::size_t s = 0; s < sections_; ++s) {
      sum += load[s];
      if (sum > Wide(capacity_[m][s])) tight[s] = true;
    }
  }
  return tight;
}

// Units that never compete with others for bytes are decided at once; the others are items, with the
// sections in which they can compete.
void Assigner::AddItems() {
  const std::size_t units = model_.units.size();
  std::vector<std::vector<std::size_t>> better(units);  // Modes that are better than the base.
  std::vector<Wide> base_score(units);
  Wide total = 0;
  for (std::size_t u = 0; u < units; ++u) {
    const Unit& unit = model_.units[u];
    base_score[u] = ScoreOf(u, base_[u]);
    Wide most = 0;
    for (std::size_t k = 0; k < unit.modes.size(); ++k) {
      const Mode& mode = unit.modes[k];
      const Wide profit = base_score[u] - Wide(mode.cost);
      if (!(Wide(0) < profit) || banned_[u][k] || !FitsAlone(u, mode)) continue;
      better[u].push_back(k);
      most = std::max(most, profit);
    }
    // Each of its items may be worth that much.
    total += most * Wide((better[u].size() + kMostOptions - 1) / kMostOptions);
  }
  shift_ = 0;
  while ((total >> shift_) > Wide(kMostProfit)) ++shift_;

  const std::vector<bool> tight = TightSections(better);
  std::vector<std::size_t> rank(sections_ + 1, 0);
  for (std::size_t s = 0; s < sections_; ++s) rank[s + 1] = rank[s] + (tight[s] ? 1 : 0);

  selection_ = {};
  selection_.sections = rank[sections_];
  for (const std::vector<Bytes>& room : capacity_) {
    std::vector<Bytes>& left = selection_.capacity.emplace_back();
    for (std::size_t s = 0; s < sections_; ++s) {
      if (tight[s]) left.push_back(room[s]);
    }
  }
  uses_.clear();
  item_of_.assign(units, -1);
  decided_.assign(units, kOut);
  outside_ = 0;
  for (std::size_t u = 0; u < units; ++u) AddItem(u, better[u], base_score[u], rank);
}

// `rank`: of each section, how many before it are tight.
void Assigner::AddItem(std::size_t u, const std::vector<std::size_t>& better, Wide base_score,
                       const std::vector<std::size_t>& rank) {
  const Unit& unit = model_.units[u];
  Item item;
  for (const Stay& stay : stays_[u]) {
    const std::size_t first = rank[stay.first];
    const std::size_t last = rank[stay.last];
    if (first == last) continue;
    item.stays.push_back({first, last, stay.bytes});
  }
  const bool decides = item.stays.empty() && !kept_[u] && postponed_.empty() && !tied_[u] &&
                       std::none_of(better.begin(), better.end(),
                                    [&](std::size_t k) { return unit.modes[k].pin.has_value(); });
  if (aside_[u]) {
    decided_[u] = CheapestOf(u);
    outside_ += ScoreOf(u, decided_[u]);
    return;
  }
  decided_[u] = base_[u];
  if (better.empty() || decides) {
    // All of these are better than the base, and fit alone.
    const auto cheapest = std::min_element(
        better.begin(), better.end(),
        [&](std::size_t k, std::size_t l) { return unit.modes[k].cost < unit.modes[l].cost; });
    if (cheapest != better.end()) decided_[u] = static_cast<int>(*cheapest);
    outside_ += ScoreOf(u, decided_[u]);
    return;
  }
  outside_ += base_score;
  if (item.stays.empty()) {
    // A section of its own, in which it competes with none.
    item.stays.push_back({selection_.sections, selection_.sections + 1, 0});
    ++selection_.sections;
    for (std::vector<Bytes>& room : selection_.capacity) room.push_back(kMaxBytes);
  }
  const std::size_t first = uses_.size();
  item_of_[u] = static_cast<int>(first);
  for (std::size_t from = 0; from < better.size(); from += kMostOptions) {
    const std::size_t end = std::min(from + kMostOptions, better.size());
    item.options.clear();
    Use use{u, {}, better.size() <= kMostOptions, false};
    for (std::size_t i = from; i < end; ++i) {
      const Mode& mode = unit.modes[better[i]];
      const Wide profit = (base_score - Wide(mode.cost)) >> shift_;
      item.options.push_back(
          {mode.memory, std::max<std::int64_t>(1, static_cast<std::int64_t>(profit))});
      use.modes.push_back(better[i]);
    }
    uses_.push_back(std::move(use));
    selection_.items.push_back(item);
  }
  AddOneOf(first);
}

// Of several items of a unit, those from `first` on, at most one is taken.
void Assigner::AddOneOf(std::size_t first) {
  const auto all_of = [&](std::size_t i) {
    std::vector<Literal> literals;
    for (std::size_t o = 0; o < uses_[i].modes.size(); ++o) literals.push_back({i, o});
    return literals;
  };
  for (std::size_t i = first; i < uses_.size(); ++i) {
    for (std::size_t j = i + 1; j < uses_.size(); ++j) {
      selection_.nogoods.push_back({{all_of(i), all_of(j)}});
    }
  }
}

std::pair<std::size_t, std::size_t> Assigner::ItemsOf(std::size_t unit) const {
  if (item_of_.empty() || item_of_[unit] < 0) return {0, 0};
  const auto first = static_cast<std::size_t>(item_of_[unit]);
  std::size_t end = first + 1;
  while (end < uses_.size() && uses_[end].unit == unit) ++end;
  return {first, end};
}

// Of each item of the unit, what is in conflict where this mode is.
std::vector<std::vector<Literal>> Assigner::LiteralsOf(std::size_t unit, std::size_t mode) const {
  const Mode& wanted = model_.units[unit].modes[mode];
  std::vector<std::vector<Literal>> found;
  const auto [first, end] = ItemsOf(unit);
  for (std::size_t item = first; item < end; ++item) {
    std::vector<Literal> literals;
    for (std::size_t o = 0; o < uses_[item].modes.size(); ++o) {
      const Mode& other = model_.units[unit].modes[uses_[item].modes[o]];
      // What may lie anywhere is in conflict wherever it lies.
      if (other.memory == wanted.memory && (!wanted.pin || other.pin == wanted.pin)) {
        literals.push_back({item, o});
      }
    }
    if (!literals.empty()) found.push_back(std::move(literals));
  }
  return found;
}

void Assigner::AddNogood(const Conflict& conflict) {
  std::vector<Nogood> nogoods(1);  // One for each combination of items.
  for (const auto& [u, k] : conflict) {
    std::vector<std::vector<Literal>> members = LiteralsOf(u, k);
    if (members.empty()) return;  // It has no such mode any more.
    if (members.size() * nogoods.size() > kMostCombined) {
      // The mode itself, at least.
      const auto literal = LiteralOf(u, k);
      if (!literal) return;
      members = {{*literal}};
    }
    std::vector<Nogood> next;
    for (const Nogood& nogood : nogoods) {
      for (const std::vector<Literal>& member : members) {
        next.push_back(nogood);
        next.back().members.push_back(member);
      }
    }
    nogoods = std::move(next);
  }
  for (Nogood& nogood : nogoods) selection_.nogoods.push_back(std::move(nogood));
}

void Assigner::AddNogoods() {
  for (const Conflict& pair : pairs_) AddNogood(pair);
  for (const Conflict& conflict : conflicts_) AddNogood(conflict);
  for (const Conflict& conflict : postponed_) {
    if (conflict.size() > 1) AddNogood(conflict);
  }
}

// The best that can become of a unit; its base if nothing can.
int Assigner::CheapestOf(std::size_t u) const {
  int cheapest = base_[u];
  Wide least = ScoreOf(u, base_[u]);
  for (std::size_t k = 0; k < model_.units[u].modes.size(); ++k) {
    if (banned_[u][k] || Wide(model_.units[u].modes[k].cost) >= least) continue;
    least = Wide(model_.units[u].modes[k].cost);
    cheapest = static_cast<int>(k);
  }
  return cheapest;
}

std::size_t Assigner::SetAside(Wide most) {
  std::vector<std::pair<Wide, std::size_t>> spreads;
  for (std::size_t u = 0; u < model_.units.size(); ++u) {
    const Unit& unit = model_.units[u];
    const bool pinned = std::any_of(unit.modes.begin(), unit.modes.end(),
                                    [](const Mode& mode) { return mode.pin.has_value(); });
    if (tied_[u] || pinned || unit.modes.empty()) continue;
    Wide least = Wide(unit.modes.front().cost);
    Wide dearest = least;
    for (const Mode& mode : unit.modes) {
      least = std::min(least, Wide(mode.cost));
      dearest = std::max(dearest, Wide(mode.cost));
    }
    if (!unit.must) dearest = std::max(dearest, ScoreOf(u, base_[u]));
    spreads.emplace_back(dearest - least, u);
  }
  std::sort(spreads.begin(), spreads.end());
  std::size_t count = 0;
  for (const auto& [spread, u] : spreads) {
    if (spread_of_aside_ + spread > most) break;
    spread_of_aside_ += spread;
    aside_[u] = true;
    ++count;
  }
  return count;
}

void Assigner::TakeBack() {
  aside_.assign(aside_.size(), false);
  spread_of_aside_ = 0;
}

Assignment Assigner::WithAside(Assignment assignment) const {
  std::vector<std::vector<Bytes>> room = capacity_;
  const auto take = [&](std::size_t u, int mode) {
    if (mode == kOut) return;
    std::vector<Bytes>& left = room[model_.units[u].modes[static_cast<std::size_t>(mode)].memory];
    for (const Stay& stay : stays_[u]) {
      for (std::size_t s = stay.first; s < stay.last; ++s) left[s] -= stay.bytes;
    }
  };
  const auto fits = [&](std::size_t u, const Mode& mode) {
    const auto begin = room[mode.memory].begin();
    return std::all_of(stays_[u].begin(), stays_[u].end(), [&](const Stay& stay) {
      return std::all_of(begin + static_cast<std::ptrdiff_t>(stay.first),
                         begin + static_cast<std::ptrdiff_t>(stay.last),
                         [&](Bytes bytes) { return stay.bytes <= bytes; });
    });
  };
  for (std::size_t u = 0; u < assignment.size(); ++u) {
    if (!aside_[u]) take(u, assignment[u]);
  }
  for (std::size_t u = 0; u < assignment.size(); ++u) {
    if (!aside_[u]) continue;
    assignment[u] = base_[u];
    for (std::size_t k = 0; k < model_.units[u].modes.size(); ++k) {
      const Mode& mode = model_.units[u].modes[k];
      if (Wide(mode.cost) >= ScoreOf(u, assignment[u]) || banned_[u][k] || !fits(u, mode)) continue;
      assignment[u] = static_cast<int>(k);
    }
    take(u, assignment[u]);
  }
  return assignment;
}

// Whether a unit is one buffer without gaps, which may lie anywhere in its memories.
bool Assigner::IsMovable(const Use& use) const {
  const Unit& unit = model_.units[use.unit];
  const Buffer& buffer = model_.tables.front().problem.buffers[use.unit];
  return use.all && unit.buffers.size() == 1 && buffer.gaps.empty() && !buffer.offset &&
         !tied_[use.unit] && std::none_of(use.modes.begin(), use.modes.end(), [&](std::size_t k) {
           return unit.modes[k].pin.has_value();
         });
}

void Assigner::AddExchanges() {
  if (selection_.items.size() > kMostExchanged) return;
  std::vector<Movable> movable;
  for (std::size_t i = 0; i < uses_.size(); ++i) {
    if (!uses_[i].movable) continue;
    const std::size_t u = uses_[i].unit;
    const Buffer& buffer = model_.tables.front().problem.buffers[u];
    Movable each{i, buffer.start, buffer.end, buffer.size, {}};
    for (const Colocated& table : model_.tables) {
      each.alignment.push_back(table.problem.buffers[u].alignment);
    }
    movable.push_back(std::move(each));
  }
  selection_.exchanges = FindExchanges(selection_, movable);
}

// A unit within the rectangle of another, and worth more, can take its place in any plan.
void Assigner::AddDominances() {
  if (selection_.items.size() > kMostCompared) return;
  std::vector<bool> simple(selection_.items.size());
  for (std::size_t i = 0; i < simple.size(); ++i) {
    simple[i] = uses_[i].modes.size() == 1 && uses_[i].movable;
  }
  const auto dominates = [&](std::size_t i, std::size_t j) {
    const Option& option = selection_.items[i].options.front();
    const Option& other = selection_.items[j].options.front();
    if (option.memory != other.memory || option.profit < other.profit) return false;
    const std::vector<Buffer>& table = model_.tables[option.memory].problem.buffers;
    const Buffer& a = table[uses_[i].unit];
    const Buffer& b = table[uses_[j].unit];
    const Item& inner = selection_.items[i];
    const Item& outer = selection_.items[j];
    // One that competes with none has a section of its own, where the other one is not.
    if (inner.first() < outer.first() || inner.last() > outer.last()) return false;
    return a.start >= b.start && a.end <= b.end && a.size <= b.size &&
           b.alignment % a.alignment == 0;
  };
  std::vector<std::vector<std::size_t>> worse(simple.size());
  for (std::size_t i = 0; i < simple.size(); ++i) {
    for (std::size_t j = i + 1; j < simple.size(); ++j) {
      if (!simple[i] || !simple[j]) continue;
      if (dominates(i, j)) {
        worse[i].push_back(j);
      } else if (dominates(j, i)) {
        worse[j].push_back(i);
      }
    }
  }
  // Only the pairs that do not follow from others. Of those that one dominates, these that dominate
  // the most come first, so each that is left over follows from none.
  std::vector<std::size_t> via(simple.size(), simple.size());
  for (std::size_t i = 0; i < worse.size(); ++i) {
    std::vector<std::size_t> order = worse[i];
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return worse[a].size() > worse[b].size();
    });
    for (const std::size_t j : order) {
      if (via[j] == i) continue;
      selection_.dominates.emplace_back(i, j);
      for (const std::size_t k : worse[j]) via[k] = i;
    }
  }
}

const Selection& Assigner::Build(bool dominance, int percent) {
  AddItems();
  if (percent < 100) {
    for (std::vector<Bytes>& memory : selection_.capacity) {
      for (Bytes& bytes : memory) bytes = bytes / 100 * percent;
    }
  }
  AddNogoods();
  if (dominance) {
    for (Use& use : uses_) use.movable = IsMovable(use);
    AddDominances();
    AddExchanges();
  }
  return selection_;
}

Assignment Assigner::FromChoice(const Choice& choice) const {
  Assignment assignment = decided_;
  for (std::size_t i = 0; i < choice.size(); ++i) {
    if (choice[i] == kOut) continue;
    assignment[uses_[i].unit] =
        static_cast<int>(uses_[i].modes[static_cast<std::size_t>(choice[i])]);
  }
  return assignment;
}

std::optional<Literal> Assigner::LiteralOf(std::size_t unit, std::size_t mode) const {
  const auto [first, end] = ItemsOf(unit);
  for (std::size_t item = first; item < end; ++item) {
    const std::vector<std::size_t>& modes = uses_[item].modes;
    const auto at = std::find(modes.begin(), modes.end(), mode);
    if (at != modes.end()) return Literal{item, static_cast<std::size_t>(at - modes.begin())};
  }
  return std::nullopt;
}

std::int64_t Assigner::ProfitOf(Wide score) const {
  if (score > outside_) return -1;  // Even nothing at all is better.
  // Profits are rounded down for each item, so the sum may be less by one for each.
  const Wide profit = (outside_ - score) >> shift_;
  const Wide less = shift_ == 0 ? Wide(0) : Wide(static_cast<std::int64_t>(uses_.size()) + 1);
  return profit > less ? static_cast<std::int64_t>(profit - less) : (shift_ == 0 ? 0 : -1);
}

Wide Assigner::ScoreOfBound(std::int64_t profit) const {
  Wide most = Wide(profit);
  if (shift_ > 0) most += Wide(static_cast<std::int64_t>(uses_.size()) + 1);
  return outside_ - (most << shift_);
}

}  // namespace berth::internal::memories
