#include "memories/gap_selection.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "memories/subset_sums.h"

namespace berth::internal::memories {
namespace {

constexpr Wide kMostTotal = Wide{1} << 58;
constexpr std::size_t kMostListed = 20'000'000;
// After which it is looked whether the cheapest choice is proved; then after several times as many.
constexpr std::int64_t kNodesOfFirst = 20'000;
constexpr std::int64_t kLonger = 4;

}  // namespace

GapSelection::GapSelection(std::vector<PricedGap> gaps, const std::vector<SharedPrice>& shared,
                           std::vector<Bytes> capacity, bool tight)
    : gaps_(std::move(gaps)), item_of_(gaps_.size(), kNone) {
  selection_.sections = capacity.size();
  selection_.capacity.push_back(std::move(capacity));
  SetUnit(shared);
  std::vector<std::size_t> shares(gaps_.size(), 0);
  for (const SharedPrice& each : shared) {
    for (const std::size_t g : each.gaps) ++shares[g];
  }
  // Whether it has an item of its own.
  std::vector<char> alone(gaps_.size(), 0);
  for (std::size_t g = 0; g < gaps_.size(); ++g) {
    const PricedGap& gap = gaps_[g];
    if (gap.first == gap.last) continue;
    alone[g] = gap.price > 0 || shares[g] != 1 ? 1 : 0;
    if (alone[g] == 0) continue;
    item_of_[g] = selection_.items.size();
    AddItem({{gap.first, gap.last, gap.bytes}}, gap.price, 1);
  }
  for (const SharedPrice& each : shared) AddShared(each, alone);
  if (tight && !IsTooLarge()) TightenCapacities(selection_);
}

void GapSelection::SetUnit(const std::vector<SharedPrice>& shared) {
  Wide total = 0;
  for (const PricedGap& gap : gaps_) total += gap.price;
  for (const SharedPrice& each : shared) total += each.price;
  unit_ = static_cast<std::int64_t>(gaps_.size() + shared.size()) + 1;
  while ((total * unit_ >> shift_) > kMostTotal) ++shift_;
}

// `gaps`: whose bytes it has.
void GapSelection::AddItem(std::vector<Stay> stays, std::int64_t price, std::size_t gaps) {
  const auto ties = static_cast<std::int64_t>(std::max<std::size_t>(gaps, 1));
  ties_ += ties;
  Item& item = selection_.items.emplace_back();
  item.stays = std::move(stays);
  item.options = {{0, static_cast<std::int64_t>(Wide{price} * unit_ >> shift_) + ties}};
}

void GapSelection::AddShared(const SharedPrice& shared, const std::vector<char>& alone) {
  std::size_t first = selection_.sections;
  std::size_t last = 0;
  std::vector<std::size_t> absorbed;
  for (const std::size_t g : shared.gaps) {
    if (gaps_[g].first == gaps_[g].last) continue;
    first = std::min(first, gaps_[g].first);
    last = std::max(last, gaps_[g].last);
    if (alone[g] == 0) absorbed.push_back(g);
  }
  if (first >= last) return;  // None is ever dropped.
  const std::size_t item = selection_.items.size();
  AddItem(StaysOf(absorbed, first, last), shared.price, absorbed.size());
  for (const std::size_t g : absorbed) item_of_[g] = item;
  for (const std::size_t g : shared.gaps) {
    if (alone[g] != 0) selection_.dominates.emplace_back(item_of_[g], item);
  }
}

// The bytes of the gaps in all of the sections, also where there are none.
std::vector<Stay> GapSelection::StaysOf(const std::vector<std::size_t>& absorbed, std::size_t first,
                                        std::size_t last) const {
  std::map<std::size_t, Bytes> changes = {{first, 0}, {last, 0}};
  for (const std::size_t g : absorbed) {
    changes[gaps_[g].first] += gaps_[g].bytes;
    changes[gaps_[g].last] -= gaps_[g].bytes;
  }
  std::vector<Stay> stays;
  Bytes bytes = 0;
  for (auto at = changes.begin(); at->first != last; ++at) {
    bytes += at->second;
    const std::size_t next = std::next(at)->first;
    if (!stays.empty() && stays.back().bytes == bytes) {
      stays.back().last = next;
    } else {
      stays.push_back({at->first, next, bytes});
    }
  }
  return stays;
}

void GapSelection::Forbid(const std::vector<std::size_t>& gaps) {
  Nogood& nogood = selection_.nogoods.emplace_back();
  for (const std::size_t g : gaps) nogood.members.push_back({{item_of_[g], 0}});
}

bool GapSelection::IsTooLarge() const {
  std::size_t listed = 0;
  for (const Item& item : selection_.items) {
    for (const Stay& stay : item.stays) {
      if (stay.bytes > 0) listed += stay.last - stay.first;
    }
  }
  return listed > kMostListed;
}

GapSelection::Answer GapSelection::Choose(const ChooseLimits& limits, std::int64_t enough,
                                          Budget& budget) const {
  Answer answer;
  ChoiceSearch search(selection_, /*keeps=*/false);
  Chosen chosen;
  for (std::int64_t nodes = kNodesOfFirst;; nodes *= kLonger) {
    Budget part(budget, 1.0);
    part.SetNodeLimit(std::min(nodes, part.node_limit()));
    const std::int64_t before = part.nodes_spent();
    chosen = search.Run(-1, limits, part);
    answer.bound = CostAt(chosen.bound);
    const bool proved = chosen.choice && answer.bound >= CostAt(chosen.profit);
    if (!chosen.stopped || proved || answer.bound >= enough) break;
    if (part.nodes_spent() - before < nodes) break;  // It was not this limit that ended it.
  }
  if (chosen.choice) answer.kept = KeptBy(*chosen.choice);
  return answer;
}

std::int64_t GapSelection::CostAt(std::int64_t profit) const {
  std::int64_t all = 0;
  for (const Item& item : selection_.items) all += item.options[0].profit;
  const Wide dropped = Wide{all - profit} << shift_;
  // Each dropped item has its ties, which are not in its price.
  const Wide cost = (dropped - (Wide{ties_} << shift_) + unit_ - 1) / unit_;
  return static_cast<std::int64_t>(std::max<Wide>(cost, 0));
}

std::vector<char> GapSelection::KeptBy(const Choice& choice) const {
  std::vector<char> kept(item_of_.size(), 1);
  for (std::size_t g = 0; g < kept.size(); ++g) {
    if (item_of_[g] != kNone) kept[g] = choice[item_of_[g]] != kOut ? 1 : 0;
  }
  return kept;
}

}  // namespace berth::internal::memories
