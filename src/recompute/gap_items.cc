#include "recompute/gap_items.h"

#include <algorithm>
#include <map>

namespace berth::internal::recompute {
namespace {

constexpr Wide kMostTotal = Wide{1} << 58;

}  // namespace

GapItems::GapItems(const std::vector<Gap>& gaps, const std::vector<Bytes>& size,
                   const Repeats& repeats, const std::vector<std::size_t>& full,
                   const std::vector<Bytes>& room)
    : item_of_(gaps.size(), kNone) {
  selection_.capacity.resize(1);
  for (const std::size_t step : full) selection_.capacity[0].push_back(room[step]);
  selection_.sections = full.size();
  SetUnit(repeats);
  std::vector<Sections> sections(gaps.size());
  const auto section_from = [&](std::size_t step) {  // The first section at `step` or later.
    return static_cast<std::size_t>(std::lower_bound(full.begin(), full.end(), step) -
                                    full.begin());
  };
  std::vector<std::size_t> shares(gaps.size(), 0);
  for (const Repeat& repeat : repeats.shared) {
    for (const std::size_t g : repeat.gaps) ++shares[g];
  }
  // Whether it has an item of its own.
  std::vector<char> alone(gaps.size(), 0);
  for (std::size_t g = 0; g < gaps.size(); ++g) {
    sections[g] = {section_from(repeats.after[g] + 1), section_from(gaps[g].to)};
    if (sections[g].first == sections[g].second) continue;
    alone[g] = repeats.price[g] > 0 || shares[g] != 1 ? 1 : 0;
    if (alone[g] == 0) continue;
    item_of_[g] = selection_.items.size();
    AddItem({{sections[g].first, sections[g].second, size[g]}}, repeats.price[g], 1);
  }
  for (const Repeat& repeat : repeats.shared) AddShared(repeat, size, sections, alone);
}

void GapItems::SetUnit(const Repeats& repeats) {
  Wide total = 0;
  for (const std::int64_t price : repeats.price) total += price;
  for (const Repeat& repeat : repeats.shared) total += repeat.price;
  unit_ = static_cast<std::int64_t>(item_of_.size() + repeats.shared.size()) + 1;
  while ((total * unit_ >> shift_) > kMostTotal) ++shift_;
}

// `gaps`: whose bytes it has.
void GapItems::AddItem(std::vector<memories::Stay> stays, std::int64_t price, std::size_t gaps) {
  const auto ties = static_cast<std::int64_t>(std::max<std::size_t>(gaps, 1));
  ties_ += ties;
  memories::Item& item = selection_.items.emplace_back();
  item.stays = std::move(stays);
  item.options = {{0, static_cast<std::int64_t>(Wide{price} * unit_ >> shift_) + ties}};
}

void GapItems::AddShared(const Repeat& repeat, const std::vector<Bytes>& size,
                         const std::vector<Sections>& sections, const std::vector<char>& alone) {
  Sections hull = {selection_.sections, 0};
  std::vector<std::size_t> absorbed;
  for (const std::size_t g : repeat.gaps) {
    if (sections[g].first == sections[g].second) continue;
    hull = {std::min(hull.first, sections[g].first), std::max(hull.second, sections[g].second)};
    if (alone[g] == 0) absorbed.push_back(g);
  }
  if (hull.first >= hull.second) return;  // None is ever dropped.
  const std::size_t item = selection_.items.size();
  AddItem(StaysOf(absorbed, hull, size, sections), repeat.price, absorbed.size());
  for (const std::size_t g : absorbed) item_of_[g] = item;
  for (const std::size_t g : repeat.gaps) {
    if (alone[g] != 0) selection_.dominates.emplace_back(item_of_[g], item);
  }
}

// The bytes of the gaps in all sections of `hull`, also where there are none.
std::vector<memories::Stay> GapItems::StaysOf(const std::vector<std::size_t>& absorbed,
                                              Sections hull, const std::vector<Bytes>& size,
                                              const std::vector<Sections>& sections) const {
  std::map<std::size_t, Bytes> changes = {{hull.first, 0}, {hull.second, 0}};
  for (const std::size_t g : absorbed) {
    changes[sections[g].first] += size[g];
    changes[sections[g].second] -= size[g];
  }
  std::vector<memories::Stay> stays;
  Bytes bytes = 0;
  for (auto at = changes.begin(); at->first != hull.second; ++at) {
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

std::size_t GapItems::listed() const {
  std::size_t listed = 0;
  for (const memories::Item& item : selection_.items) {
    for (const memories::Stay& stay : item.stays) {
      if (stay.bytes > 0) listed += stay.last - stay.first;
    }
  }
  return listed;
}

std::int64_t GapItems::CostAt(std::int64_t profit) const {
  std::int64_t all = 0;
  for (const memories::Item& item : selection_.items) all += item.options[0].profit;
  const Wide dropped = Wide{all - profit} << shift_;
  // Each dropped item has its ties, which are not in its price.
  const Wide cost = (dropped - (Wide{ties_} << shift_) + unit_ - 1) / unit_;
  return static_cast<std::int64_t>(std::max<Wide>(cost, 0));
}

std::vector<char> GapItems::KeptBy(const memories::Choice& choice) const {
  std::vector<char> kept(item_of_.size(), 1);
  for (std::size_t g = 0; g < kept.size(); ++g) {
    if (item_of_[g] != kNone) kept[g] = choice[item_of_[g]] != memories::kOut ? 1 : 0;
  }
  return kept;
}

}  // namespace berth::internal::recompute
