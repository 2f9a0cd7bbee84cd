#include "place/niche/partial_plan.h"

#include <algorithm>
#include <bit>
#include <tuple>

#include "base/check.h"

namespace berth::internal {

template <typename Level>
PartialPlan<Level>::PartialPlan(const Instance& instance, Bytes grain, const NicheOptions& options)
    : num_sections_(static_cast<Section>(instance.num_sections())),
      checks_budgets_(options.waste_budget),
      raise_(ChooseRaiseKernel<Level>(options.vectors)),
      conflict_(instance.num_sections()),
      high_(instance.num_sections()) {
  const auto scaled = [&](Bytes bytes) { return static_cast<Level>(bytes / grain); };
  const auto sections = static_cast<std::size_t>(num_sections_);

  // Items: identical ones are neighbours.
  for (const BufferIndex b : instance.buffers()) {
    if (!instance.pieces_of(b).empty()) buffer_.push_back(b);
  }
  const auto key = [&](BufferIndex b) {
    return std::tuple(instance.first[b], instance.last[b], instance.size[b], instance.alignment[b],
                      instance.pin[b], b);
  };
  std::sort(buffer_.begin(), buffer_.end(),
            [&](BufferIndex a, BufferIndex b) { return key(a) < key(b); });
  const auto identical = [&](BufferIndex a, BufferIndex b) {
    const auto of_a = instance.pieces_of(a);
    const auto of_b = instance.pieces_of(b);
    return instance.size[a] == instance.size[b] && instance.alignment[a] == instance.alignment[b] &&
           instance.pin[a] == kNone && instance.pin[b] == kNone &&
           std::equal(of_a.begin(), of_a.end(), of_b.begin(), of_b.end());
  };
  struct NewLane {
    Section first;
    Section last;
    Item item;
    Level lower;
    Level height;
  };
  std::vector<NewLane> lanes;
  for (std::size_t k = 0; k < buffer_.size(); ++k) {
    const BufferIndex b = buffer_[k];
    const std::span<const Piece> pieces = instance.pieces_of(b);
    item_first_.push_back(instance.first[b].value());
    item_last_.push_back(instance.last[b].value());
    size_.push_back(scaled(instance.size[b]));
    alignment_.push_back(instance.alignment[b] == 1 ? 1 : scaled(instance.alignment[b]));
    pin_.push_back(instance.pin[b] == kNone ? -1 : scaled(instance.pin[b]));
    twin_.push_back(k > 0 && identical(buffer_[k - 1], b) ? static_cast<Item>(k) - 1 : -1);
    for (const Piece& piece : pieces) {
      lanes.push_back({piece.first.value(), piece.last.value(), static_cast<Item>(k),
                       scaled(piece.lower), scaled(piece.upper - piece.lower)});
      windows_ |= piece.lower != 0 || piece.upper != instance.size[b];
    }
    whole_ &= pieces.size() == 1;
    plain_ &= alignment_.back() == 1 && pin_.back() < 0;
  }
  whole_ &= !windows_;
  plain_ &= whole_;
  std::stable_sort(lanes.begin(), lanes.end(),
                   [](const NewLane& a, const NewLane& b) { return a.first < b.first; });

  // Lanes.
  num_lanes_ = static_cast<Lane>(lanes.size());
  const std::size_t padded = (lanes.size() + kBlock - 1) / kBlock * kBlock;
  lowest_.assign(padded, kPlaced);
  highest_.assign(padded, kPlaced);
  first_.assign(padded, std::numeric_limits<Level>::max());
  last_.assign(padded, 0);
  height_.assign(padded, 0);
  lower_.assign(padded, 0);
  item_.assign(padded, 0);
  placed_.assign(padded / 64 + 1, 0);
  block_version_.assign(padded / kBlock, 0);
  item_begin_.assign(buffer_.size() + 1, 0);
  starting_.assign(sections + 1, 0);
  member_begin_.assign(sections + 1, 0);
  std::vector<std::int64_t> change(sections + 1, 0);
  for (std::size_t k = 0; k < lanes.size(); ++k) {
    const NewLane& lane = lanes[k];
    first_[k] = lane.first;
    last_[k] = lane.last;
    height_[k] = lane.height;
    lower_[k] = lane.lower;
    item_[k] = lane.item;
    ++item_begin_[At(lane.item) + 1];
    ++starting_[At(lane.first) + 1];
    ++change[At(lane.first)];
    --change[At(lane.last)];
    while (earliest_.size() < At(lane.last)) earliest_.push_back(static_cast<Lane>(k));
  }
  earliest_.resize(sections, num_lanes_);
  std::int64_t live = 0;
  for (std::size_t s = 0; s < sections; ++s) {
    live += change[s];
    starting_[s + 1] += starting_[s];
    member_begin_[s + 1] = member_begin_[s] + static_cast<std::size_t>(live);
  }
  for (std::size_t k = 0; k < buffer_.size(); ++k) item_begin_[k + 1] += item_begin_[k];
  item_lanes_.resize(lanes.size());
  members_.resize(member_begin_[sections]);
  auto next_of_item = item_begin_;
  auto next_of_section = member_begin_;
  for (Lane k = 0; k < num_lanes_; ++k) {
    item_lanes_[next_of_item[At(item(k))]++] = k;
    for (Section s = first(k); s < last(k); ++s) members_[next_of_section[At(s)]++] = k;
  }

  offset_.assign(buffer_.size(), 0);
  ground_.assign(sections, 0);
  floor_.assign(sections, 0);
  unplaced_.assign(sections, 0);
  witness_.assign(sections, 0);
  joints_.assign(sections, 0);
  FindBlocked();
}

// Where pinned buffers leave no room for others. Cost: pairs of a pinned lane and another that
// meet, or nearly so.
template <typename Level>
void PartialPlan<Level>::FindBlocked() {
  blocked_begin_.assign(buffer_.size() + 1, 0);
  std::vector<Lane> pinned;
  std::vector<Section> reach;  // The last section of any pinned lane up to each.
  for (Lane k = 0; k < num_lanes_; ++k) {
    if (pin_[At(item(k))] < 0) continue;
    pinned.push_back(k);
    reach.push_back(reach.empty() ? last(k) : std::max(reach.back(), last(k)));
  }
  for (Item i = 0; i < num_items(); ++i) {
    if (pin_[At(i)] < 0) {
      for (const Lane mine : lanes_of(i)) {
        auto from = static_cast<std::size_t>(
            std::upper_bound(reach.begin(), reach.end(), first(mine)) - reach.begin());
        for (; from < pinned.size() && first(pinned[from]) < last(mine); ++from) {
          const Lane other = pinned[from];
          if (last(other) <= first(mine)) continue;
          const Level bottom = pin_[At(item(other))] + lower_[At(other)] - lower_[At(mine)];
          blocked_.push_back({bottom - height(mine), bottom + height(other)});
        }
      }
      std::sort(blocked_.begin() + static_cast<std::ptrdiff_t>(blocked_begin_[At(i)]),
                blocked_.end(),
                [](const Blocked& a, const Blocked& b) { return a.after < b.after; });
    }
    blocked_begin_[At(i) + 1] = blocked_.size();
  }
}

// The least offset, at least `offset`, that alignment and pins allow.
template <typename Level>
Level PartialPlan<Level>::Lift(Item item, Level offset) const {
  const Level pin = pin_[At(item)];
  if (pin >= 0) return offset <= pin ? pin : kPlaced - size(item);
  const Level alignment = alignment_[At(item)];
  if (alignment != 1) offset = (offset + alignment - 1) / alignment * alignment;
  for (std::size_t k = blocked_begin_[At(item)]; k < blocked_begin_[At(item) + 1]; ++k) {
    if (offset <= blocked_[k].after) break;
    if (offset >= blocked_[k].until) continue;
    offset = blocked_[k].until;
    if (alignment != 1) offset = (offset + alignment - 1) / alignment * alignment;
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
  for (Lane k = 0; k < num_lanes_; ++k) {
    highest_[At(k)] = capacity - size(item(k)) + lower_[At(k)];
    lowest_[At(k)] = Lift(item(k), 0) + lower_[At(k)];
    fits &= lowest(k) <= highest_[At(k)];
    unplaced_[At(first(k))] += height(k);
    if (last(k) < num_sections_) unplaced_[At(last(k))] -= height(k);
  }
  for (Item i = 0; i < num_items(); ++i) {
    ++joints_[At(first_of(i))];
    --joints_[At(last_of(i) - 1)];
  }
  for (std::size_t s = 1; s < unplaced_.size(); ++s) {
    unplaced_[s] += unplaced_[s - 1];
    joints_[s] += joints_[s - 1];
  }
  std::fill(floor_.begin(), floor_.end(), Level{-1});  // Higher than that, in any case.
  touched_first_ = 0;
  touched_last_ = num_sections_;
  if (!UpdateFloors()) fits = false;
  saved_floors_.clear();
  return fits;
}

template <typename Level>
bool PartialPlan<Level>::Place(Lane lane) {
  const Item i = item(lane);
  moves_.push_back({lane, 0, num_saved_, saved_floors_.size()});
  ++version_;
  offset_[At(i)] = lowest_offset(lane);
  touched_first_ = first_of(i);
  touched_last_ = last_of(i);
  for (Section s = first_of(i); s + 1 < last_of(i); ++s) --joints_[At(s)];
  for (const Lane piece : lanes_of(i)) {
    const Level top = lowest(piece) + height(piece);
    for (Section s = first(piece); s < last(piece); ++s) {
      saved_ground_.push_back(ground(s));
      ground_[At(s)] = top;
      unplaced_[At(s)] -= height(piece);
    }
    SaveBlock(piece);
    lowest_[At(piece)] = kPlaced;
    placed_[At(piece) / 64] |= BitWord{1} << (At(piece) % 64);
  }
  for (const Lane piece : lanes_of(i)) {
    if (!Raise(first(piece), last(piece), ground(first(piece)))) return false;
  }
  return UpdateFloors();
}

template <typename Level>
bool PartialPlan<Level>::Waste(Section section, Level level) {
  moves_.push_back({kNoLane, section, num_saved_, saved_floors_.size()});
  ++version_;
  touched_first_ = section;
  touched_last_ = section + 1;
  saved_ground_.push_back(ground(section));
  ground_[At(section)] = level;
  return Raise(section, section + 1, level) && UpdateFloors();
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
    floor_[At(change.section)] = change.floor;
    witness_[At(change.section)] = change.witness;
  }
  if (move.lane == kNoLane) {
    ground_[At(move.section)] = saved_ground_.back();
    saved_ground_.pop_back();
    return;
  }
  const Item i = item(move.lane);
  const std::span<const Lane> pieces = lanes_of(i);
  for (std::size_t p = pieces.size(); p > 0; --p) {
    const Lane piece = pieces[p - 1];
    for (Section s = last(piece); s > first(piece); --s) {
      ground_[At(s - 1)] = saved_ground_.back();
      saved_ground_.pop_back();
      unplaced_[At(s - 1)] += height(piece);
    }
    placed_[At(piece) / 64] &= ~(BitWord{1} << (At(piece) % 64));
  }
  for (Section s = first_of(i); s + 1 < last_of(i); ++s) ++joints_[At(s)];
}

template <typename Level>
std::size_t PartialPlan<Level>::Snapshot::bytes() const {
  return sizeof(Snapshot) +
         sizeof(Level) *
             (lowest_.size() + offset_.size() + ground_.size() + floor_.size() + unplaced_.size()) +
         sizeof(Lane) * witness_.size() + sizeof(std::int32_t) * joints_.size() +
         sizeof(BitWord) * placed_.size();
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
void PartialPlan<Level>::SaveBlock(Lane lane) {
  const Lane block = lane / kBlock * kBlock;
  if (block_version_[At(block / kBlock)] == version_) return;  // By the same move.
  block_version_[At(block / kBlock)] = version_;
  ReserveBlocks(1);
  saved_block_[num_saved_] = block;
  std::copy_n(lowest_.begin() + block, kBlock,
              saved_lowest_.begin() + static_cast<std::ptrdiff_t>(num_saved_ * kBlock));
  ++num_saved_;
}

template <typename Level>
void PartialPlan<Level>::Touch(Section first, Section last) {
  touched_first_ = std::min(touched_first_, first);
  touched_last_ = std::max(touched_last_, last);
}

// The ground of sections [from, to) has risen to `level`.
template <typename Level>
bool PartialPlan<Level>::Raise(Section from, Section to, Level level) {
  return plain_ ? RaisePlain(from, to, level) : RaiseAny(from, to, level);
}

template <typename Level>
bool PartialPlan<Level>::RaisePlain(Section from, Section to, Level level) {
  RaiseArguments<Level> arguments;
  arguments.lowest = lowest_.data();
  arguments.first = first_.data();
  arguments.last = last_.data();
  arguments.highest = highest_.data();
  arguments.begin = earliest_[At(from)] / kBlock * kBlock;
  arguments.end = (starting(to) + kBlock - 1) / kBlock * kBlock;
  arguments.from = from;
  arguments.to = to;
  arguments.level = level;
  ReserveBlocks(At(arguments.end - arguments.begin) / kBlock);
  arguments.saved_block = saved_block_.data() + num_saved_;
  arguments.saved_lowest = saved_lowest_.data() + num_saved_ * kBlock;
  const RaiseResult<Level> result = raise_(arguments);
  num_saved_ += At(result.saved);
  if (result.saved > 0) {
    Touch(static_cast<Section>(result.first), static_cast<Section>(result.last));
  }
  if (result.too_high < 0) return true;
  for (Lane k = result.too_high; k < num_lanes_; ++k) {
    if (lowest(k) == level && level > highest_[At(k)] && first(k) < to && last(k) > from) {
      return TooHigh(k, from);
    }
  }
  BERTH_CHECK(false);
  return false;
}

// As RaisePlain(), for buffers of several pieces, with windows, alignment or among pins.
template <typename Level>
bool PartialPlan<Level>::RaiseAny(Section from, Section to, Level level) {
  for (Lane k = earliest_[At(from)]; k < starting(to); ++k) {
    if (lowest(k) >= level || last(k) <= from) continue;
    const Level offset = Lift(item(k), level - lower_[At(k)]);
    for (const Lane piece : lanes_of(item(k))) {
      SaveBlock(piece);
      lowest_[At(piece)] = offset + lower_[At(piece)];
      Touch(first(piece), last(piece));
    }
    if (lowest(k) > highest_[At(k)]) return TooHigh(k, from);
  }
  return true;
}

// `lane` cannot lie on the ground of `from` or, if it starts later, of its first section.
template <typename Level>
bool PartialPlan<Level>::TooHigh(Lane lane, Section from) {
  failed_in_ = std::max(from, first(lane));
  conflict_.Clear();
  conflict_.Add(failed_in_);
  return false;
}

template <typename Level>
bool PartialPlan<Level>::UpdateFloors() {
  for (Section s = touched_first_; s < touched_last_; ++s) {
    Level floor = floor_[At(s)];
    if (lowest(witness_[At(s)]) != floor) {
      saved_floors_.push_back({s, witness_[At(s)], floor});
      // Floors only rise: whoever is as low as the old one is the lowest.
      const Level enough = std::max(floor, ground(s));
      floor = kPlaced;
      for (const Lane lane : members(s)) {
        if (lowest(lane) >= floor) continue;
        floor = lowest(lane);
        witness_[At(s)] = lane;
        if (floor <= enough) break;
      }
      floor_[At(s)] = floor;
    }
    const Level most = capacity_ - unplaced(s);
    if (floor > most && unplaced(s) > 0 && checks_budgets_) {
      failed_in_ = s;
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
  for (std::size_t s = 0; s < ground_.size();) {
    const std::size_t w = s / 64;
    const std::size_t end = std::min(ground_.size(), s + 64);
    BitWord bits = 0;
    for (unsigned bit = 0; s < end; ++s, ++bit) bits |= BitWord{ground_[s] >= level} << bit;
    high_.word(w) = bits;
  }
}

template <typename Level>
void PartialPlan<Level>::ExplainLane(Lane lane, Level level, SectionSet& set) {
  if (level <= 0) return;
  Section found = -1;
  if (plain_) {
    FindHigh(level);
    const std::size_t end = SectionSet::WordOf(last(lane) - 1);
    for (std::size_t w = SectionSet::WordOf(first(lane)); w <= end; ++w) {
      const BitWord high = high_.word(w) & BitsWithin(w, first(lane), last(lane));
      if ((high & set.word(w)) != 0) return;
      if (high != 0 && found < 0) found = static_cast<Section>(w * 64) + std::countr_zero(high);
    }
  } else {
    const Item i = item(lane);
    const Level offset = level - lower_[At(lane)];
    if (Lift(i, 0) >= offset) return;
    for (const Lane piece : lanes_of(i)) {
      for (Section s = first(piece); s < last(piece); ++s) {
        const bool has = set.Has(s);
        if (!has && found >= 0) continue;
        if (Lift(i, std::max<Level>(ground(s) - lower_[At(piece)], 0)) < offset) continue;
        if (has) return;
        found = s;
      }
    }
  }
  BERTH_CHECK(found >= 0);
  set.Add(found);
}

template <typename Level>
void PartialPlan<Level>::Explain(Section section, Level level, SectionSet& set) {
  set.Add(section);
  if (ground(section) >= level) return;
  // Lanes in decreasing order of their first section, each by its first section that will do: the
  // fewest sections.
  const std::span<const Lane> lanes = members(section);
  for (std::size_t k = lanes.size(); k > 0; --k) {
    if (is_unplaced(lanes[k - 1])) ExplainLane(lanes[k - 1], level, set);
  }
}

// Push everything unplaced down as far as it goes. Then the lowest lane of the section either lies
// where it can be at the lowest, which is above the floor, or on top of an unplaced lane that is
// not live here (if it were, it would be the lowest) but beside something that could lie on the
// floor. With windows a level has no such meaning; then it is simply the next one.
template <typename Level>
Level PartialPlan<Level>::NextLevel(Section section) const {
  const Level floor = floor_[At(section)];
  if (windows_) return floor + 1;
  Level level = kPlaced;
  Section from = num_sections_;
  Section to = 0;
  for (const Lane k : members(section)) {
    if (!is_unplaced(k)) continue;
    if (lowest(k) > floor) {
      level = std::min(level, lowest(k));
    } else {
      from = std::min(from, first_of(item(k)));
      to = std::max(to, last_of(item(k)));
    }
  }
  if (from >= to) return level;
  for (Lane k = earliest_[At(from)]; k < starting(to); ++k) {
    if (!is_unplaced(k) || last(k) <= from) continue;
    if (first(k) <= section && last(k) > section) continue;
    if (lowest(k) < floor) continue;  // It lies in a gap of what can lie on the floor.
    level = std::min(level, lowest(k) + height(k));
  }
  return level;
}

template <typename Level>
void PartialPlan<Level>::ExplainNextLevel(Section section, Level level, SectionSet& set) {
  const Level floor = floor_[At(section)];
  Section from = num_sections_;
  Section to = 0;
  const std::span<const Lane> lanes = members(section);
  for (std::size_t m = lanes.size(); m > 0; --m) {
    const Lane k = lanes[m - 1];
    if (!is_unplaced(k)) continue;
    if (lowest(k) > floor) {
      ExplainLane(k, level, set);
    } else {
      from = std::min(from, first_of(item(k)));
      to = std::max(to, last_of(item(k)));
    }
  }
  if (level <= floor + 1 || from >= to) return;  // There is no level in between.
  for (Lane k = earliest_[At(from)]; k < starting(to); ++k) {
    if (!is_unplaced(k) || last(k) <= from) continue;
    if (first(k) <= section && last(k) > section) continue;
    if (lowest(k) < floor) continue;  // It lies in a gap of what can lie on the floor.
    ExplainLane(k, level - height(k), set);
  }
}

template class PartialPlan<std::int32_t>;
template class PartialPlan<std::int64_t>;

}  // namespace berth::internal
