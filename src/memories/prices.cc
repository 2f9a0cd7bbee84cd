#include "memories/prices.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"

namespace berth::internal::memories {
namespace {

constexpr double kTolerance = 1e-6;
constexpr std::int64_t kMostPivots = 20'000;
constexpr std::int64_t kProbePivots = 25;
constexpr std::size_t kMostLive = std::size_t{1} << 22;  // Items of all sections together.
constexpr double kShallow = 1e-4;                        // Of cuts.
constexpr std::size_t kMostCutsAtOnce = 60;
// With no more rounds than these, cuts are looked for only where the sections' own rows are.
constexpr int kFewRounds = 4;
constexpr int kMostIdle = 4;
// How much further than asked a bound is lowered where there is no solution, of its value.
constexpr double kFarBelow = 1e-3;
// Of all profits together, to scale; a row may cost as much as the finer grid has.
constexpr int kFineBits = 55;
constexpr int kCoarseBits = 45;
// Rounds of cuts that lower the bound by less than this part, in a row.
constexpr double kStalled = 1e-6;
constexpr int kMostStalled = 3;

std::vector<double> Profits(const Selection& selection) {
  std::vector<double> profits;
  for (const Item& item : selection.items) {
    for (const Option& option : item.options) profits.push_back(static_cast<double>(option.profit));
  }
  return profits;
}

}  // namespace

std::int64_t ProfitOf(const Selection& selection, const Choice& choice) {
  std::int64_t profit = 0;
  for (std::size_t i = 0; i < choice.size(); ++i) {
    if (choice[i] == kOut) continue;
    profit += selection.items[i].options[static_cast<std::size_t>(choice[i])].profit;
  }
  return profit;
}

bool Allows(const Selection& selection, const Choice& choice) {
  std::vector<std::vector<Bytes>> room = selection.capacity;
  for (std::size_t i = 0; i < choice.size(); ++i) {
    if (choice[i] == kOut) continue;
    const Item& item = selection.items[i];
    std::vector<Bytes>& memory = room[item.options[static_cast<std::size_t>(choice[i])].memory];
    for (const Stay& stay : item.stays) {
      if (stay.bytes == 0) continue;
      for (std::size_t s = stay.first; s < stay.last; ++s) {
        if ((memory[s] -= stay.bytes) < 0) return false;
      }
    }
  }
  for (const auto& [better, worse] : selection.dominates) {
    if (choice[worse] != kOut && choice[better] == kOut) return false;
  }
  return std::none_of(
      selection.nogoods.begin(), selection.nogoods.end(), [&](const Nogood& nogood) {
        return std::all_of(nogood.members.begin(), nogood.members.end(), [&](const auto& member) {
          return std::any_of(member.begin(), member.end(), [&](const Literal& literal) {
            return choice[literal.item] == static_cast<int>(literal.option);
          });
        });
      });
}

Relaxation::Relaxation(const Selection& selection)
    : selection_(selection),
      live_(selection.sections),
      has_row_(selection.memories(), std::vector<bool>(selection.sections)),
      has_one_option_(selection.items.size()),
      has_pair_(selection.dominates.size()),
      has_nogood_(selection.nogoods.size()),
      simplex_(Profits(selection)),
      probe_({}) {
  std::size_t variables = 0;
  std::size_t length = 0;
  for (const Item& item : selection.items) {
    variable_.push_back(variables);
    variables += item.options.size();
    for (const Stay& stay : item.stays) length += stay.bytes > 0 ? stay.last - stay.first : 0;
  }
  // Any of the rows give a bound: where very much is live, one section in so many has one.
  const std::size_t stride = length / kMostLive + 1;
  for (std::size_t i = 0; i < selection.items.size(); ++i) {
    for (const Stay& stay : selection.items[i].stays) {
      if (stay.bytes == 0) continue;
      for (std::size_t s = (stay.first + stride - 1) / stride * stride; s < stay.last;
           s += stride) {
        live_[s].emplace_back(i, stay.bytes);
      }
    }
  }
  allowed_ = AllowAll(selection);
}

Allowed AllowAll(const Selection& selection) {
  Allowed allowed;
  for (const Item& item : selection.items) {
    allowed.push_back((std::uint64_t{2} << item.options.size()) - 1);
  }
  return allowed;
}

std::int64_t Prices::Best(std::size_t item, std::uint64_t allowed) const {
  std::int64_t best = (allowed & 1) != 0 ? 0 : std::numeric_limits<std::int64_t>::min();
  for (std::size_t o = 0; o < reduced[item].size(); ++o) {
    if ((allowed >> (o + 1) & 1) != 0) best = std::max(best, reduced[item][o]);
  }
  return best;
}

void Relaxation::Allow(std::size_t item, std::uint64_t allowed) {
  if (allowed_[item] == allowed) return;
  allowed_[item] = allowed;
  for (std::size_t o = 0; o < selection_.items[item].options.size(); ++o) {
    const bool may = (allowed >> (o + 1) & 1) != 0;
    const bool must = allowed == std::uint64_t{2} << o;
    simplex_.SetBounds(variable_[item] + o, must ? 1 : 0, may ? 1 : 0);
  }
}

double Relaxation::Probe(std::size_t item, std::size_t option, bool take, Budget& budget) {
  if (!simplex_.IsSmall()) return value();
  probe_ = simplex_;
  probe_.SetBounds(variable_[item] + option, take ? 1 : 0, take ? 1 : 0);
  const Simplex::Status status = probe_.Solve(kProbePivots, budget);
  return status == Simplex::Status::kInfeasible ? -1 : probe_.value();
}

double Relaxation::InMemory(std::size_t item, std::size_t memory) const {
  double sum = 0;
  const std::vector<Option>& options = selection_.items[item].options;
  for (std::size_t o = 0; o < options.size(); ++o) {
    if (options[o].memory == memory) sum += Value(item, o);
  }
  return sum;
}

// Rows for the sections that the solution overfills: of neighbours the fullest.
int Relaxation::AddSections(Budget& budget) {
  int added = 0;
  for (std::size_t m = 0; m < selection_.memories(); ++m) {
    std::vector<double> excess(selection_.sections);
    for (std::size_t s = 0; s < selection_.sections; ++s) {
      if (has_row_[m][s]) continue;
      double sum = 0;
      for (const auto& [item, bytes] : live_[s]) {
        sum += InMemory(item, m) * static_cast<double>(bytes);
      }
      const auto room = static_cast<double>(selection_.capacity[m][s]);
      excess[s] = sum > room * (1 + kTolerance) + kTolerance ? sum - room : 0;
    }
    for (std::size_t s = 0; s < selection_.sections; ++s) {
      if (excess[s] <= 0 || (s > 0 && excess[s - 1] > excess[s]) ||
          (s + 1 < selection_.sections && excess[s + 1] >= excess[s])) {
        continue;
      }
      if (!simplex_.HasRoom() || !budget.SpendWork(simplex_.WorkOfRow())) return added;
      std::vector<Simplex::Term> terms;
      for (const auto& [item, bytes] : live_[s]) {
        const std::vector<Option>& options = selection_.items[item].options;
        for (std::size_t o = 0; o < options.size(); ++o) {
          if (options[o].memory == m) terms.emplace_back(variable_[item] + o, bytes);
        }
      }
      simplex_.AddRow(terms, static_cast<double>(selection_.capacity[m][s]));
      sources_.push_back({Source::Kind::kSection, m, s});
      has_row_[m][s] = true;
      ++added;
    }
  }
  return added;
}

// An item takes one option.
int Relaxation::AddOneOptions(Budget& budget) {
  int added = 0;
  for (std::size_t i = 0; i < selection_.items.size(); ++i) {
    const std::size_t count = selection_.items[i].options.size();
    if (count < 2 || has_one_option_[i]) continue;
    double sum = 0;
    for (std::size_t o = 0; o < count; ++o) sum += Value(i, o);
    if (sum <= 1 + kTolerance) continue;
    if (!simplex_.HasRoom() || !budget.SpendWork(simplex_.WorkOfRow())) break;
    std::vector<Simplex::Term> terms;
    for (std::size_t o = 0; o < count; ++o) terms.emplace_back(variable_[i] + o, 1);
    simplex_.AddRow(terms, 1);
    sources_.push_back({Source::Kind::kOneOption, 0, i});
    has_one_option_[i] = true;
    ++added;
  }
  return added;
}

// The worse of two items is taken only with the better one.
int Relaxation::AddPairs(Budget& budget) {
  int added = 0;
  for (std::size_t k = 0; k < selection_.dominates.size(); ++k) {
    const auto& [better, worse] = selection_.dominates[k];
    if (has_pair_[k] || Value(worse, 0) <= Value(better, 0) + kTolerance) continue;
    if (!simplex_.HasRoom() || !budget.SpendWork(simplex_.WorkOfRow())) break;
    simplex_.AddRow({{variable_[worse], 1}, {variable_[better], -1}}, 0);
    sources_.push_back({Source::Kind::kPair, 0, k});
    has_pair_[k] = true;
    ++added;
  }
  return added;
}

// Of the members of a nogood at least one is not taken.
int Relaxation::AddNogoods(Budget& budget) {
  int added = 0;
  for (std::size_t k = 0; k < selection_.nogoods.size(); ++k) {
    if (has_nogood_[k]) continue;
    const Nogood& nogood = selection_.nogoods[k];
    const auto limit = static_cast<double>(nogood.members.size() - 1);
    std::vector<Simplex::Term> terms;
    double sum = 0;
    for (const std::vector<Literal>& member : nogood.members) {
      for (const Literal& literal : member) {
        terms.emplace_back(variable_[literal.item] + literal.option, 1);
        sum += Value(literal.item, literal.option);
      }
    }
    if (sum <= limit + kTolerance) continue;
    if (!simplex_.HasRoom() || !budget.SpendWork(simplex_.WorkOfRow())) break;
    simplex_.AddRow(terms, limit);
    sources_.push_back({Source::Kind::kNogood, 0, k});
    has_nogood_[k] = true;
    ++added;
  }
  return added;
}

// Keeps what the solution violates and no row says.
void Relaxation::Find(Cut cut, std::vector<Found>& found) const {
  std::vector<Simplex::Term> terms;
  double left_side = 0;
  double length = 0;
  for (const auto& [item, coefficient] : cut.terms) {
    const std::vector<Option>& options = selection_.items[item].options;
    const auto c = static_cast<double>(coefficient);
    for (std::size_t o = 0; o < options.size(); ++o) {
      if (options[o].memory != cut.memory) continue;
      terms.emplace_back(variable_[item] + o, c);
      left_side += c * Value(item, o);
      length += c * c;
    }
  }
  const double depth = (left_side - static_cast<double>(cut.limit)) / std::sqrt(length + 1e-9);
  if (terms.empty() || depth < kShallow) return;
  const auto same = [&cut](const Cut& other) {
    return other.memory == cut.memory && other.limit == cut.limit && other.terms == cut.terms;
  };
  if (std::any_of(cuts_.begin(), cuts_.end(), same)) return;
  for (const Found& other : found) {
    if (same(other.cut)) return;
  }
  found.push_back({std::move(cut), std::move(terms), depth});
}

// The deepest of all sections, or of those that have rows.
int Relaxation::AddCuts(bool everywhere) {
  std::vector<Found> found;
  std::vector<double> in;
  for (std::size_t m = 0; m < selection_.memories(); ++m) {
    for (std::size_t s = 0; s < selection_.sections; ++s) {
      if (!everywhere && !has_row_[m][s]) continue;
      in.clear();
      for (const auto& [item, bytes] : live_[s]) in.push_back(InMemory(item, m));
      for (const auto separate : {SeparateCover, SeparateRounding}) {
        Cut cut;
        if (!separate(live_[s], in, selection_.capacity[m][s], cut)) continue;
        cut.memory = m;
        cut.section = s;
        Find(std::move(cut), found);
      }
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Found& a, const Found& b) { return a.depth > b.depth; });
  if (found.size() > kMostCutsAtOnce) found.resize(kMostCutsAtOnce);
  int added = 0;
  for (Found& each : found) {
    if (!simplex_.HasRoom()) break;
    ++added;
    simplex_.AddRow(each.terms, static_cast<double>(each.cut.limit));
    sources_.push_back({Source::Kind::kCut, each.cut.memory, cuts_.size()});
    cuts_.push_back(std::move(each.cut));
  }
  return added;
}

// Rows that many solutions in a row have kept to without being held back by them: they are found
// again where they are needed. An update of the table costs as much as it has rows.
void Relaxation::DropIdleRows() {
  std::vector<bool> keep(sources_.size(), true);
  std::size_t dropped = 0;
  for (std::size_t row = 0; row < sources_.size(); ++row) {
    Source& source = sources_[row];
    source.idle = simplex_.IsLoose(row) ? source.idle + 1 : 0;
    if (source.idle <= kMostIdle || source.kind == Source::Kind::kSection) continue;
    keep[row] = false;
    ++dropped;
  }
  if (dropped * 4 < sources_.size()) return;
  std::vector<Source> sources;
  std::vector<Cut> cuts;
  for (std::size_t row = 0; row < sources_.size(); ++row) {
    Source source = sources_[row];
    if (!keep[row]) {
      if (source.kind == Source::Kind::kOneOption) has_one_option_[source.index] = false;
      if (source.kind == Source::Kind::kPair) has_pair_[source.index] = false;
      if (source.kind == Source::Kind::kNogood) has_nogood_[source.index] = false;
      continue;
    }
    if (source.kind == Source::Kind::kCut) {
      cuts.push_back(std::move(cuts_[source.index]));
      source.index = cuts.size() - 1;
    }
    sources.push_back(source);
  }
  cuts_ = std::move(cuts);
  sources_ = std::move(sources);
  simplex_.KeepRows(keep);
}

void Relaxation::Solve(int rounds, Budget& budget) {
  double before = 0;
  int stalled = 0;
  for (int round = 0;;) {
    const Simplex::Status status = simplex_.Solve(kMostPivots, budget);
    infeasible_ = status == Simplex::Status::kInfeasible;
    if (status != Simplex::Status::kOptimal || budget.TimeIsUp()) return;
    if (!budget.SpendWork(static_cast<std::int64_t>(selection_.items.size()))) return;
    if (AddSections(budget) + AddOneOptions(budget) + AddPairs(budget) + AddNogoods(budget) > 0)
      continue;
    // Cuts go on as long as they lower the bound by enough.
    const double now = simplex_.value();
    stalled = round > 0 && before - now < kStalled * now ? stalled + 1 : 0;
    before = now;
    if (round++ >= rounds || stalled >= kMostStalled || AddCuts(rounds > kFewRounds) == 0) break;
  }
  DropIdleRows();
}

// Prices of the rows, and what they take from the profits of items.
class Relaxation::Pricing {
 public:
  // `total`: the most that a row may cost, to scale; one that costs more is left out. `ray`: how often
  // the proof that there is no solution is added.
  Pricing(const Relaxation& from, std::int64_t total, double ray, Prices& prices)
      : from_(from), selection_(from.selection_), total_(total), ray_(ray), prices_(prices) {
    for (std::size_t row = 0; row < from.sources_.size(); ++row) Add(row);
  }
  // What the rows add to the bound.
  [[nodiscard]] Wide bound() const { return bound_; }

 private:
  void Add(std::size_t row) {
    const Source& source = from_.sources_[row];
    switch (source.kind) {
      case Source::Kind::kSection:
        return AddSection(row, source);
      case Source::Kind::kPair:
        return AddPair(row, source);
      case Source::Kind::kNogood:
        return AddNogood(row, source);
      case Source::Kind::kCut:
        return AddCut(row, from_.cuts_[source.index]);
      case Source::Kind::kOneOption:
        return;  // Prices.Best() takes one option anyway.
    }
  }
  // `widest`: the largest figure of the row. `limit`, `more`: what the price of one adds to the bound
  // itself, and at most to the profits of items. 0: the row is left out.
  [[nodiscard]] std::int64_t PriceOf(std::size_t row, std::int64_t widest, Wide limit, Wide more) {
    const double with_ray =
        from_.simplex_.Price(row) + (ray_ > 0 ? ray_ * from_.simplex_.Ray(row) : 0);
    const double scaled = with_ray * static_cast<double>(prices_.scale);
    if (scaled * static_cast<double>(widest) < static_cast<double>(total_)) {
      const auto price = static_cast<std::int64_t>(std::llround(scaled));
      if (price <= 0) return 0;
      if (bound_ + more_ + Wide(price) * (limit + more) <= Wide(4) * Wide(total_)) {
        bound_ += Wide(price) * limit;
        more_ += Wide(price) * more;
        return price;
      }
    }
    prices_.whole = false;
    return 0;
  }
  void Charge(std::size_t item, std::size_t memory, std::int64_t price) {
    const std::vector<Option>& options = selection_.items[item].options;
    for (std::size_t o = 0; o < options.size(); ++o) {
      if (options[o].memory == memory) prices_.reduced[item][o] -= price;
    }
  }
  void AddSection(std::size_t row, const Source& source) {
    const Bytes room = selection_.capacity[source.memory][source.index];
    Bytes widest = room;
    for (const auto& [item, bytes] : from_.live_[source.index]) widest = std::max(widest, bytes);
    const std::int64_t price = PriceOf(row, widest, Wide(room), 0);
    if (price == 0) return;
    prices_.sections.push_back({source.memory, source.index, price});
    for (const auto& [item, bytes] : from_.live_[source.index]) {
      Charge(item, source.memory, price * bytes);
    }
  }
  void AddPair(std::size_t row, const Source& source) {
    const std::int64_t price = PriceOf(row, 1, 0, 1);
    if (price == 0) return;
    const auto& [better, worse] = selection_.dominates[source.index];
    prices_.pairs.push_back({better, worse, price});
    prices_.reduced[better][0] += price;
    prices_.reduced[worse][0] -= price;
  }
  void AddNogood(std::size_t row, const Source& source) {
    const Nogood& nogood = selection_.nogoods[source.index];
    const auto size = static_cast<std::int64_t>(nogood.members.size());
    const std::int64_t price = PriceOf(row, size, Wide(size - 1), 0);
    if (price == 0) return;
    prices_.nogoods.push_back({source.index, price});
    for (const std::vector<Literal>& member : nogood.members) {
      for (const Literal& each : member) prices_.reduced[each.item][each.option] -= price;
    }
  }
  void AddCut(std::size_t row, const Cut& cut) {
    std::int64_t widest = cut.limit;
    Wide more = 0;
    for (const auto& [item, coefficient] : cut.terms) {
      widest = std::max({widest, coefficient, -coefficient});
      if (coefficient < 0) more += Wide(-coefficient);
    }
    const std::int64_t price = PriceOf(row, widest, Wide(cut.limit), more);
    if (price == 0) return;
    prices_.cuts.push_back({cut, price});
    for (const auto& [item, coefficient] : cut.terms) Charge(item, cut.memory, price * coefficient);
  }

  const Relaxation& from_;
  const Selection& selection_;
  const std::int64_t total_;
  const double ray_;
  Prices& prices_;
  Wide bound_ = 0;
  Wide more_ = 0;
};

// Where something must be taken, a byte may be worth more than all profits: the grid is then coarser, so
// that there is room for such prices, too.
Prices Relaxation::Exact(std::int64_t least) const {
  double ray = 0;
  if (infeasible_) {
    const double above = simplex_.value() - static_cast<double>(least);
    ray = std::max(0.0, above + kFarBelow * std::abs(simplex_.value())) / simplex_.Shortage();
  }
  Prices prices = OnGrid(kFineBits, ray);
  if (prices.whole) return prices;
  Prices coarse = OnGrid(kCoarseBits, ray);
  return coarse.bound / coarse.scale < prices.bound / prices.scale ? coarse : prices;
}

// Prices are rounded to a grid so fine that all figures still fit in 62 bits. What rounding loses is
// little; what it gives holds exactly, since every price gives a bound. `bits`: of all profits, to scale.
Prices Relaxation::OnGrid(int bits, double ray) const {
  Prices prices;
  std::int64_t total = 1;
  for (const Item& item : selection_.items) {
    std::int64_t most = 0;
    for (const Option& option : item.options) most = std::max(most, option.profit);
    total += most;
  }
  while (total <= (std::int64_t{1} << bits) && prices.scale < (std::int64_t{1} << 40)) {
    total *= 2;
    prices.scale *= 2;
  }
  prices.reduced.resize(selection_.items.size());
  for (std::size_t i = 0; i < selection_.items.size(); ++i) {
    for (const Option& option : selection_.items[i].options) {
      prices.reduced[i].push_back(option.profit * prices.scale);
    }
  }
  Wide bound = Pricing(*this, std::max(total, std::int64_t{1} << kFineBits), ray, prices).bound();
  for (std::size_t i = 0; i < selection_.items.size(); ++i) {
    BERTH_CHECK(allowed_[i] != 0);
    bound += Wide(prices.Best(i, allowed_[i]));
  }
  BERTH_CHECK(bound < Wide(std::int64_t{1} << 61));
  prices.bound = static_cast<std::int64_t>(bound);
  return prices;
}

}  // namespace berth::internal::memories
