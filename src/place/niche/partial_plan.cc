#include "place/niche/partial_plan.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "base/arithmetic.h"
#include "base/check.h"
#include "model/twins.h"

namespace berth::internal::niche {

template <typename Level>
PartialPlan<Level>::PartialPlan(const Instance& instance, Bytes grain, const Options& options)
    : checks_budgets_(options.waste_budget),
      kernels_(ChooseKernels<Level>(options.vectors)),
      conflict_(instance.num_sections()),
      high_(instance.num_sections()) {
  MakeLanes(MakeItems(instance, grain));
  MakeSections(instance.num_sections());
  FindBlocked();
}

// Gives every buffer that is live somewhere its number, twins next to each other. Their pieces come
// in the order of the lanes.
template <typename Level>
auto PartialPlan<Level>::MakeItems(const Instance& instance, Bytes grain) -> std::vector<NewLane> {
  const auto scaled = [&](Bytes bytes) { return static_cast<Level>(bytes / grain); };
  buffer_.items() = ByShape(instance);
  std::vector<NewLane> lanes;
  for (const ItemIndex i : items()) {
    const BufferIndex b = buffer_[i];
    const std::span<const Piece> pieces = instance.pieces_of(b);
    item_first_.push_back(instance.first[b]);
    item_last_.push_back(instance.last[b]);
    size_.push_back(scaled(instance.size[b]));
    alignment_.push_back(instance.alignment[b] == 1 ? 1 : scaled(instance.alignment[b]));
    pin_.push_back(instance.pin[b] == kNone ? -1 : scaled(instance.pin[b]));
    const ItemIndex before = i.previous();
    twin_.push_back(before != kNoItem && AreTwins(instance, buffer_[before], b) ? before : kNoItem);
    for (const Piece& piece : pieces) {
      lanes.push_back(
          {piece.first, piece.last, i, scaled(piece.lower), scaled(piece.upper - piece.lower)});
      windows_ |= piece.lower != 0 || piece.upper != instance.size[b];
    }
    whole_ &= pieces.size() == 1;
    plain_ &= alignment_[i] == 1 && pin_[i] < 0;
  }
  offset_.assign(buffer_.size(), 0);
  whole_ &= !windows_;
  plain_ &= whole_;
  // The order of items is that of the lanes unless some item has several.
  if (!whole_) {
    std::sort(lanes.begin(), lanes.end(), [](const NewLane& a, const NewLane& b) {
      return std::pair(a.first, a.item) < std::pair(b.first, b.item);
    });
  }
  return lanes;
}

template <typename Level>
void PartialPlan<Level>::MakeLanes(const std::vector<NewLane>& lanes) {
  num_lanes_ = lanes.size();
  const std::size_t padded = (lanes.size() + kBlock - 1) / kBlock * kBlock;
  lowest_.assign(padded, kPlaced);
  highest_.assign(padded, kPlaced);
  first_.assign(padded, std::numeric_limits<Level>::max());
  last_.assign(padded, 0);
  height_.assign(padded, 0);
  lower_.assign(padded, 0);
  item_.assign(padded, {});
  placed_.assign(padded / kWordBits + 1, 0);
  block_version_.assign(padded / kBlock, 0);
  for (const LaneIndex k : this->lanes()) {
    const NewLane& lane = lanes[k.position()];
    first_[k] = lane.first.value();
    last_[k] = lane.last.value();
    height_[k] = lane.height;
    lower_[k] = lane.lower;
    item_[k] = lane.item;
  }
  item_lanes_ = Lists<ItemIndex, LaneIndex>::Build(num_items(), [&](auto add) {
    for (const LaneIndex k : this->lanes()) add(item(k), k);
  });
}

template <typename Level>
void PartialPlan<Level>::MakeSections(std::size_t num_sections) {
  starting_.assign(num_sections + 1, LaneIndex(num_lanes_));
  earliest_.assign(num_sections, LaneIndex(num_lanes_));
  SectionIndex next_starting;
  SectionIndex next_earliest;
  for (const LaneIndex k : lanes()) {
    for (; next_starting <= first(k); ++next_starting) starting_[next_starting] = k;
    for (; next_earliest < last(k); ++next_earliest) earliest_[next_earliest] = k;
  }
  members_ = Lists<SectionIndex, LaneIndex>::Build(num_sections, [&](auto add) {
    for (const LaneIndex k : lanes()) {
      for (SectionIndex s = first(k); s < last(k); ++s) add(s, k);
    }
  });
  for (SectionIndex s; s < SectionIndex(num_sections); ++s) {
    LowestArguments<Level> arguments;
    arguments.lowest = lowest_.items().data();
    arguments.first = first_.items().data();
    arguments.last = last_.items().data();
    arguments.begin = earliest_[s].value() / kBlock * kBlock;
    arguments.end = (starting(s.next()).value() + kBlock - 1) / kBlock * kBlock;
    arguments.section = s.value();
    live_in_.push_back(arguments);
  }
  ground_.assign(num_sections, 0);
  floor_.assign(num_sections, 0);
  unplaced_.assign(num_sections, 0);
  witness_.assign(num_sections, {});
  joints_.assign(num_sections, 0);
}

// Where pinned buffers leave no room for others. Cost: pairs of a pinned lane and another that
// meet, or nearly so.
template <typename Level>
void PartialPlan<Level>::FindBlocked() {
  std::vector<LaneIndex> pinned;
  std::vector<SectionIndex> reach;  // The last section of any pinned lane up to each.
  for (const LaneIndex k : lanes()) {
    if (pin_[item(k)] < 0) continue;
    pinned.push_back(k);
    reach.push_back(reach.empty() ? last(k) : std::max(reach.back(), last(k)));
  }
  std::vector<Blocked> blocked;
  std::vector<ItemIndex> of_item;
  for (const ItemIndex i : items()) {
    if (pin_[i] >= 0 || pinned.empty()) continue;
    const std::size_t before = blocked.size();
    for (const LaneIndex mine : lanes_of(i)) {
      auto from = static_cast<std::size_t>(
          std::upper_bound(reach.begin(), reach.end(), first(mine)) - reach.begin());
      for (; from < pinned.size() && first(pinned[from]) < last(mine); ++from) {
        const LaneIndex other = pinned[from];
        if (last(other) <= first(mine)) continue;
        const Level bottom = pin_[item(other)] + lower_[other] - lower_[mine];
        blocked.push_back({bottom - height(mine), bottom + height(other)});
      }
    }
    std::sort(blocked.begin() + static_cast<std::ptrdiff_t>(before), blocked.end(),
              [](const Blocked& a, const Blocked& b) { return a.after < b.after; });
    of_item.resize(blocked.size(), i);
  }
  blocked_ = Lists<ItemIndex, Blocked>::Build(num_items(), [&](auto add) {
    for (std::size_t k = 0; k < blocked.size(); ++k) add(of_item[k], blocked[k]);
  });
}

// The least offset, at least `offset`, that alignment and pins allow.
template <typename Level>
Level PartialPlan<Level>::Lift(ItemIndex item, Level offset) const {
  const Level pin = pin_[item];
  if (pin >= 0) return offset <= pin ? pin : kPlaced - size(item);
  const Level alignment = alignment_[item];
  if (alignment != 1) offset = RoundUp(offset, alignment);
  for (const Blocked& blocked : blocked_[item]) {
    if (offset <= blocked.after) break;
    if (offset >= blocked.until) continue;
    offset = blocked.until;
    if (alignment != 1) offset = RoundUp(offset, alignment);
  }
  return offset;
}

template <typename Level>
bool PartialPlan<Level>::Reset(Level capacity) {
  while (!moves_.empty()) Undo();
  capacity_ = capacity;
  ++version_;
  std::fill(unplaced_.begin(), unplaced_.end(), 0);
  std::fill(joints_.begin(), joints_.end(), 0);
  bool fits = true;
  for (const LaneIndex k : lanes()) {
    highest_[k] = capacity - size(item(k)) + lower_[k];
    lowest_[k] = Lift(item(k), 0) + lower_[k];
    fits &= lowest(k) <= highest_[k];
    unplaced_[first(k)] += height(k);
    if (last(k) < end_section()) unplaced_[last(k)] -= height(k);
  }
  for (const ItemIndex i : items()) {
    ++joints_[first_of(i)];
    --joints_[last_of(i).previous()];
  }
  std::partial_sum(unplaced_.begin(), unplaced_.end(), unplaced_.begin());
  std::partial_sum(joints_.begin(), joints_.end(), joints_.begin());
  std::fill(floor_.begin(), floor_.end(), Level{-1});  // Higher than that, in any case.
  touched_first_ = {};
  touched_last_ = end_section();
  if (!UpdateFloors()) fits = false;
  saved_floors_.clear();
  return fits;
}

template <typename Level>
bool PartialPlan<Level>::Place(LaneIndex lane) {
  const ItemIndex i = item(lane);
  moves_.push_back({lane, {}, num_saved_, saved_floors_.size()});
  ++version_;
  offset_[i] = lowest_offset(lane);
  touched_first_ = first_of(i);
  touched_last_ = last_of(i);
  for (SectionIndex s = first_of(i); s.next() < last_of(i); ++s) --joints_[s];
  for (const LaneIndex piece : lanes_of(i)) {
    const Level top = lowest(piece) + height(piece);
    for (SectionIndex s = first(piece); s < last(piece); ++s) {
      saved_ground_.push_back(ground(s));
      ground_[s] = top;
      unplaced_[s] -= height(piece);
    }
    SaveBlock(piece);
    lowest_[piece] = kPlaced;
    SetBit(placed_.data(), piece.position());
  }
  for (const LaneIndex piece : lanes_of(i)) {
    if (!Raise(first(piece), last(piece), ground(first(piece)))) return false;
  }
  return UpdateFloors();
}

template <typename Level>
bool PartialPlan<Level>::Waste(SectionIndex section, Level level) {
  moves_.push_back({kNoLane, section, num_saved_, saved_floors_.size()});
  ++version_;
  touched_first_ = section;
  touched_last_ = section.next();
  saved_ground_.push_back(ground(section));
  ground_[section] = level;
  return Raise(section, section.next(), level) && UpdateFloors();
}

template <typename Level>
void PartialPlan<Level>::Undo() {
  const Move move = moves_.back();
  moves_.pop_back();
  ++version_;
  for (; num_saved_ > move.blocks; --num_saved_) {
    std::copy_n(saved_lowest_.begin() + static_cast<std::ptrdiff_t>((num_saved_ - 1) * kBlock),
                kBlock, lowest_.begin() + saved_block_[num_saved_ - 1]);
  }
  for (; saved_floors_.size() > move.floors; saved_floors_.pop_back()) {
    const FloorChange& change = saved_floors_.back();
    floor_[change.section] = change.floor;
    witness_[change.section] = change.witness;
  }
  if (move.lane == kNoLane) {
    ground_[move.section] = saved_ground_.back();
    saved_ground_.pop_back();
    return;
  }
  const ItemIndex i = item(move.lane);
  const std::span<const LaneIndex> pieces = lanes_of(i);
  for (std::size_t p = pieces.size(); p > 0; --p) {
    const LaneIndex piece = pieces[p - 1];
    for (SectionIndex s = last(piece); s > first(piece);) {
      s = s.previous();
      ground_[s] = saved_ground_.back();
      saved_ground_.pop_back();
      unplaced_[s] += height(piece);
    }
    ClearBit(placed_.data(), piece.position());
  }
  for (SectionIndex s = first_of(i); s.next() < last_of(i); ++s) ++joints_[s];
}

template <typename Level>
std::size_t PartialPlan<Level>::Snapshot::bytes() const {
  return sizeof(Snapshot) +
         sizeof(Level) *
             (lowest_.size() + offset_.size() + ground_.size() + floor_.size() + unplaced_.size()) +
         sizeof(LaneIndex) * witness_.size() + sizeof(std::int32_t) * joints_.size() +
         sizeof(Word) * placed_.size();
}

template <typename Level>
void PartialPlan<Level>::Save(Snapshot& snapshot) const {
  snapshot.lowest_ = lowest_;
  snapshot.offset_ = offset_;
  snapshot.ground_ = ground_;
  snapshot.floor_ = floor_;
  snapshot.unplaced_ = unplaced_;
  snapshot.witness_ = witness_;
  snapshot.joints_ = joints_;
  snapshot.placed_ = placed_;
}

template <typename Level>
void PartialPlan<Level>::Restore(const Snapshot& snapshot) {
  moves_.clear();
  saved_floors_.clear();
  saved_ground_.clear();
  num_saved_ = 0;
  ++version_;
  lowest_ = snapshot.lowest_;
  offset_ = snapshot.offset_;
  ground_ = snapshot.ground_;
  floor_ = snapshot.floor_;
  unplaced_ = snapshot.unplaced_;
  witness_ = snapshot.witness_;
  joints_ = snapshot.joints_;
  placed_ = snapshot.placed_;
}

template <typename Level>
void PartialPlan<Level>::ReserveBlocks(std::size_t blocks) {
  if (saved_block_.size() >= num_saved_ + blocks) return;
  saved_block_.resize(2 * (num_saved_ + blocks));
  saved_lowest_.resize(saved_block_.size() * kBlock);
}

template <typename Level>
void PartialPlan<Level>::SaveBlock(LaneIndex lane) {
  const std::size_t number = lane.position() / kBlock;
  if (block_version_[number] == version_) return;  // By the same move.
  block_version_[number] = version_;
  const auto block = static_cast<std::int32_t>(number * kBlock);
  ReserveBlocks(1);
  saved_block_[num_saved_] = block;
  std::copy_n(lowest_.begin() + block, kBlock,
              saved_lowest_.begin() + static_cast<std::ptrdiff_t>(num_saved_ * kBlock));
  ++num_saved_;
}

template <typename Level>
void PartialPlan<Level>::Touch(SectionIndex first, SectionIndex last) {
  touched_first_ = std::min(touched_first_, first);
  touched_last_ = std::max(touched_last_, last);
}

// The ground of sections [from, to) has risen to `level`.
template <typename Level>
bool PartialPlan<Level>::Raise(SectionIndex from, SectionIndex to, Level level) {
  return plain_ ? RaisePlain(from, to, level) : RaiseAny(from, to, level);
}

template <typename Level>
bool PartialPlan<Level>::RaisePlain(SectionIndex from, SectionIndex to, Level level) {
  RaiseArguments<Level> arguments;
  arguments.lowest = lowest_.items().data();
  arguments.first = first_.items().data();
  arguments.last = last_.items().data();
  arguments.highest = highest_.items().data();
  arguments.begin = earliest_[from].value() / kBlock * kBlock;
  arguments.end = (starting(to).value() + kBlock - 1) / kBlock * kBlock;
  arguments.from = from.value();
  arguments.to = to.value();
  arguments.level = level;
  ReserveBlocks(static_cast<std::size_t>((arguments.end - arguments.begin) / kBlock));
  arguments.saved_block = saved_block_.data() + num_saved_;
  arguments.saved_lowest = saved_lowest_.data() + num_saved_ * kBlock;
  const RaiseResult<Level> result = kernels_.raise(arguments);
  num_saved_ += static_cast<std::size_t>(result.saved);
  if (result.saved > 0) {
    Touch(SectionOf(result.first), SectionOf(result.last));
  }
  if (result.too_high < 0) return true;
  for (LaneIndex k(result.too_high); k < LaneIndex(num_lanes_); ++k) {
    if (lowest(k) == level && level > highest_[k] && first(k) < to && last(k) > from) {
      return TooHigh(k, from);
    }
  }
  BERTH_CHECK(false);
  return false;
}

// As RaisePlain(), for buffers of several pieces, with windows, alignment or among pins.
template <typename Level>
bool PartialPlan<Level>::RaiseAny(SectionIndex from, SectionIndex to, Level level) {
  for (LaneIndex k = earliest_[from]; k < starting(to); ++k) {
    if (lowest(k) >= level || last(k) <= from) continue;
    const Level offset = Lift(item(k), level - lower_[k]);
    for (const LaneIndex piece : lanes_of(item(k))) {
      SaveBlock(piece);
      lowest_[piece] = offset + lower_[piece];
      Touch(first(piece), last(piece));
    }
    if (lowest(k) > highest_[k]) return TooHigh(k, from);
  }
  return true;
}

// `lane` cannot lie on the ground of `from` or, if it starts later, of its first section.
template <typename Level>
bool PartialPlan<Level>::TooHigh(LaneIndex lane, SectionIndex from) {
  failed_in_ = std::max(from, first(lane));
  failed_lane_ = lane;
  conflict_.Clear();
  conflict_.Add(failed_in_);
  return false;
}

// The witness of section `s` lies no longer on its floor: finds another. `hint`, a witness of another
// section or kNoLane, may be one here too.
template <typename Level>
void PartialPlan<Level>::FindWitness(SectionIndex s, LaneIndex hint) {
  saved_floors_.push_back({s, witness_[s], floor_[s]});
  // Floors only rise: a lane as low as the old floor is the lowest.
  const Level enough = std::max(floor_[s], ground(s));
  if (hint != kNoLane && lowest(hint) <= enough && first(hint) <= s && s < last(hint)) {
    witness_[s] = hint;
    floor_[s] = lowest(hint);
    return;
  }
  const LowestResult<Level> result = kernels_.find_lowest(live_in_[s], enough);
  witness_[s] = LaneIndex(result.lane);
  floor_[s] = result.lowest;
}

template <typename Level>
bool PartialPlan<Level>::UpdateFloors() {
  LaneIndex hint = kNoLane;
  for (SectionIndex s = touched_first_; s < touched_last_; ++s) {
    if (lowest(witness_[s]) != floor_[s]) FindWitness(s, hint);
    hint = witness_[s];
    const Level most = capacity_ - unplaced(s);
    if (floor_[s] > most && unplaced(s) > 0 && checks_budgets_) {
      failed_in_ = s;
      failed_lane_ = kNoLane;
      if (!explains_) return false;
      conflict_.Clear();
      Explain(s, most + 1, conflict_);
      return false;
    }
  }
  return true;
}

template <typename Level>
void PartialPlan<Level>::FindHigh(Level level) {
  if (high_level_ == level && high_version_ == version_) return;
  high_level_ = level;
  high_version_ = version_;
  kernels_.find_high(ground_.items().data(), ground_.size(), level, &high_.word(0));
}

template <typename Level>
void PartialPlan<Level>::ExplainLane(LaneIndex lane, Level level, SectionSet& set) {
  if (level <= 0) return;
  const SectionIndex none{-1};
  SectionIndex found = none;
  if (plain_) {
    FindHigh(level);
    const std::size_t from = first(lane).position();
    const std::size_t to = last(lane).position();
    for (std::size_t w = from / kWordBits; w <= (to - 1) / kWordBits; ++w) {
      const Word high = high_.word(w) & BitsWithin(w, from, to);
      if ((high & set.word(w)) != 0) return;
      if (high != 0 && found == none) {
        found = SectionIndex(w * kWordBits + static_cast<std::size_t>(std::countr_zero(high)));
      }
    }
  } else {
    const ItemIndex i = item(lane);
    const Level offset = level - lower_[lane];
    if (Lift(i, 0) >= offset) return;
    for (const LaneIndex piece : lanes_of(i)) {
      for (SectionIndex s = first(piece); s < last(piece); ++s) {
        const bool has = set.Has(s);
        if (!has && found != none) continue;
        if (Lift(i, std::max<Level>(ground(s) - lower_[piece], 0)) < offset) continue;
        if (has) return;
        found = s;
      }
    }
  }
  BERTH_CHECK(found != none);
  set.Add(found);
}

template <typename Level>
void PartialPlan<Level>::Explain(SectionIndex section, Level level, SectionSet& set) {
  set.Add(section);
  if (ground(section) >= level) return;
  // Lanes in decreasing order of their first section, each by its first section that will do: the
  // fewest sections.
  const std::span<const LaneIndex> lanes = members(section);
  for (std::size_t k = lanes.size(); k > 0; --k) {
    if (is_unplaced(lanes[k - 1])) ExplainLane(lanes[k - 1], level, set);
  }
}

// Push everything unplaced down as far as it goes. Then the lowest lane of the section either lies
// where it can be at the lowest, which is above the floor, or on top of an unplaced lane that is
// not live here (if it were, it would be the lowest) but beside something that could lie on the
// floor. With windows a level has no such meaning; then it is simply the next one.
template <typename Level>
Level PartialPlan<Level>::NextLevel(SectionIndex section) const {
  const Level floor = floor_[section];
  if (windows_) return floor + 1;
  Level level = kPlaced;
  SectionIndex from = end_section();
  SectionIndex to;
  for (const LaneIndex k : members(section)) {
    if (!is_unplaced(k)) continue;
    if (lowest(k) > floor) {
      level = std::min(level, lowest(k));
    } else {
      from = std::min(from, first_of(item(k)));
      to = std::max(to, last_of(item(k)));
    }
  }
  if (from >= to) return level;
  for (LaneIndex k = earliest_[from]; k < starting(to); ++k) {
    if (!is_unplaced(k) || last(k) <= from) continue;
    if (first(k) <= section && last(k) > section) continue;
    if (lowest(k) < floor) continue;  // It lies in a gap of what can lie on the floor.
    level = std::min(level, lowest(k) + height(k));
  }
  return level;
}

template <typename Level>
void PartialPlan<Level>::ExplainNextLevel(SectionIndex section, Level level, SectionSet& set) {
  const Level floor = floor_[section];
  SectionIndex from = end_section();
  SectionIndex to;
  const std::span<const LaneIndex> lanes = members(section);
  for (std::size_t m = lanes.size(); m > 0; --m) {
    const LaneIndex k = lanes[m - 1];
    if (!is_unplaced(k)) continue;
    if (lowest(k) > floor) {
      ExplainLane(k, level, set);
    } else {
      from = std::min(from, first_of(item(k)));
      to = std::max(to, last_of(item(k)));
    }
  }
  if (level <= floor + 1 || from >= to) return;  // There is no level in between.
  for (LaneIndex k = earliest_[from]; k < starting(to); ++k) {
    if (!is_unplaced(k) || last(k) <= from) continue;
    if (first(k) <= section && last(k) > section) continue;
    if (lowest(k) < floor) continue;  // It lies in a gap of what can lie on the floor.
    ExplainLane(k, level - height(k), set);
  }
}

template class PartialPlan<std::int32_t>;
template class PartialPlan<std::int64_t>;

}  // namespace berth::internal::niche
