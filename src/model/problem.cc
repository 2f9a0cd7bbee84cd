// The rules of a problem, and its bounds that need no search.

#include "berth/problem.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <queue>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/arithmetic.h"
#include "base/name_set.h"
#include "base/radix_sort.h"
#include "base/rectangles.h"
#include "base/text.h"
#include "model/instance.h"

namespace berth {
namespace {

using internal::CheckedAdd;
using internal::KeyAndItem;
using internal::LivePiece;
using internal::Rectangle;
using internal::RoundUp;

std::string Named(const Buffer& buffer) { return "buffer " + internal::Quoted(buffer.id) + ": "; }

std::string Range(std::int64_t lower, std::int64_t upper) {
  return "[" + std::to_string(lower) + ", " + std::to_string(upper) + ")";
}

Result<void> Invalid(std::string message, Subject subject = {}) {
  return Fail(ErrorCode::kInvalidProblem, std::move(message), subject);
}

Result<void> ValidateGaps(const Buffer& buffer) {
  Step previous_end = buffer.start;
  for (const Gap& gap : buffer.gaps) {
    const std::string named = Named(buffer) + "gap " + Range(gap.start, gap.end);
    if (gap.start >= gap.end) return Invalid(named + " must start before it ends");
    if (gap.start < buffer.start || gap.end > buffer.end) {
      return Invalid(named + " lies outside the lifetime " + Range(buffer.start, buffer.end));
    }
    if (gap.start < previous_end) return Invalid(named + " overlaps or precedes the gap before it");
    previous_end = gap.end;
    if (gap.window && (gap.window->lower < 0 || gap.window->lower >= gap.window->upper ||
                       gap.window->upper > buffer.size)) {
      return Invalid(named + " has the window " + Range(gap.window->lower, gap.window->upper) +
                     ", which is empty or outside the buffer's " + std::to_string(buffer.size) +
                     " bytes");
    }
  }
  return {};
}

Result<void> ValidateBuffer(const Buffer& buffer) {
  if (buffer.start >= buffer.end) {
    return Invalid(Named(buffer) + "start " + std::to_string(buffer.start) +
                   " must be less than end " + std::to_string(buffer.end));
  }
  if (buffer.start < -kMaxStep || buffer.end > kMaxStep) {
    return Invalid(Named(buffer) + "lifetime " + Range(buffer.start, buffer.end) +
                   " exceeds the limit of 2^60 steps");
  }
  const auto in_range = [](Bytes value, Bytes least) {
    return value >= least && value <= kMaxBytes;
  };
  if (!in_range(buffer.size, 1)) {
    return Invalid(Named(buffer) + "size is " + std::to_string(buffer.size) +
                   " but must be from 1 to 2^60");
  }
  if (!in_range(buffer.alignment, 1)) {
    return Invalid(Named(buffer) + "alignment is " + std::to_string(buffer.alignment) +
                   " but must be from 1 to 2^60");
  }
  if (buffer.offset) {
    if (!in_range(*buffer.offset, 0)) {
      return Invalid(Named(buffer) + "offset is " + std::to_string(*buffer.offset) +
                     " but must be from 0 to 2^60");
    }
    if (*buffer.offset % buffer.alignment != 0) {
      return Invalid(Named(buffer) + "offset " + std::to_string(*buffer.offset) +
                     " is not a multiple of the alignment " + std::to_string(buffer.alignment));
    }
  }
  if (buffer.hint && !in_range(*buffer.hint, 0)) {
    return Invalid(Named(buffer) + "hint is " + std::to_string(*buffer.hint) +
                   " but must be from 0 to 2^60");
  }
  return ValidateGaps(buffer);
}

// The live pieces of the buffers for which `chosen` is true, each from the offset of its buffer on.
template <typename Offset, typename Chosen>
std::vector<Rectangle> PiecesOf(const Problem& problem, Offset offset_of, Chosen chosen) {
  std::vector<Rectangle> pieces;
  pieces.reserve(problem.buffers.size());
  for (std::size_t b = 0; b < problem.buffers.size(); ++b) {
    if (!chosen(b)) continue;
    const Bytes offset = offset_of(b);
    internal::ForEachLivePiece(problem.buffers[b], [&](const LivePiece& piece) {
      pieces.push_back({piece.start, piece.end, offset + piece.lower, offset + piece.upper, b});
    });
  }
  return pieces;
}

// The bytes that live buffers of one alignment class need (see MaxLiveLoad).
class AlignedLoad {
 public:
  explicit AlignedLoad(Bytes alignment)
      : alignment_(alignment),
        low_bits_(std::has_single_bit(static_cast<std::uint64_t>(alignment)) ? alignment - 1 : 0) {}

  [[nodiscard]] Bytes alignment() const { return alignment_; }
  // The first bytes of a buffer up to `upper` are live from now to `end`.
  void Start(Bytes upper, Step end) {
    const Bytes room = RoomOf(upper);
    rounded_ += room;
    waste_.emplace(room - upper, end);
  }
  void End(Bytes upper) { rounded_ -= RoomOf(upper); }
  // The bound at step `now`, if it exceeds `floor`; any number up to `floor` if not.
  [[nodiscard]] Bytes Bound(Step now, Bytes floor) {
    if (rounded_ <= floor) return floor;
    while (!waste_.empty() && waste_.top().second <= now) waste_.pop();
    return waste_.empty() ? 0 : rounded_ - waste_.top().first;
  }

 private:
  // `upper` rounded up to a multiple of the alignment: without a division for powers of two.
  [[nodiscard]] Bytes RoomOf(Bytes upper) const {
    return low_bits_ != 0 ? (upper + low_bits_) & ~low_bits_ : RoundUp(upper, alignment_);
  }

  Bytes alignment_;
  Bytes low_bits_;  // 0 unless the alignment is a power of two.
  Bytes rounded_ = 0;
  // Of each buffer what rounding adds, and its end: the largest first, some of them over.
  std::priority_queue<std::pair<Bytes, Step>> waste_;
};

// Bounds for more classes than this are not worth their time; the largest alignments waste most.
constexpr std::size_t kMaxAlignmentClasses = 16;

// The buffers by alignment, those without one left out.
std::vector<KeyAndItem> ByAlignment(const Problem& problem) {
  std::vector<KeyAndItem> order;
  for (std::size_t b = 0; b < problem.buffers.size(); ++b) {
    const Bytes alignment = problem.buffers[b].alignment;
    if (alignment > 1) order.push_back({alignment, static_cast<std::int64_t>(b)});
  }
  internal::SortByKey(order);
  return order;
}

std::vector<AlignedLoad> AlignmentClasses(const std::vector<KeyAndItem>& by_alignment) {
  std::vector<AlignedLoad> classes;
  for (std::size_t k = by_alignment.size(); k-- > 0 && classes.size() < kMaxAlignmentClasses;) {
    const Bytes alignment = by_alignment[k].key;
    if (classes.empty() || classes.back().alignment() != alignment) {
      classes.emplace_back(alignment);
    }
  }
  return classes;
}

// For each of `num_buffers` buffers a bit for each of `classes` whose alignment divides its own.
std::vector<std::uint32_t> ClassesOf(std::size_t num_buffers,
                                     const std::vector<KeyAndItem>& by_alignment,
                                     const std::vector<AlignedLoad>& classes) {
  static_assert(kMaxAlignmentClasses <= 32);
  std::vector<std::uint32_t> classes_of(num_buffers, 0);
  Bytes alignment = 1;
  std::uint32_t bits = 0;
  for (const KeyAndItem& each : by_alignment) {
    if (std::exchange(alignment, each.key) != each.key) {
      bits = 0;
      for (std::size_t k = 0; k < classes.size(); ++k) {
        if (alignment % classes[k].alignment() == 0) bits |= std::uint32_t{1} << k;
      }
    }
    classes_of[each.position()] = bits;
  }
  return classes_of;
}

}  // namespace

Result<void> Validate(const Problem& problem) {
  constexpr std::size_t kAhead = 16;
  internal::NameSet ids(problem.buffers.size());
  // Every offset a placer forms is at most all sizes on top of each other, each moved up by less
  // than its alignment, above the highest pin.
  Bytes total = 0;
  Bytes highest_pin = 0;
  std::size_t highest_pinned = 0;
  for (std::size_t b = 0; b < problem.buffers.size(); ++b) {
    const Buffer& buffer = problem.buffers[b];
    const auto invalid = [&](const std::string& message) {
      return Invalid(message, Subject::OfBuffer(b));
    };
    if (b + kAhead < problem.buffers.size()) ids.Prefetch(problem.buffers[b + kAhead].id);
    if (buffer.id.empty()) {
      return invalid("buffer number " + std::to_string(b + 1) + " has an empty id");
    }
    if (!ids.Insert(buffer.id)) return invalid(Named(buffer) + "the id comes twice");
    if (const auto valid = ValidateBuffer(buffer); !valid) return invalid(valid.error().message);
    if (buffer.offset && *buffer.offset > highest_pin) {
      highest_pin = *buffer.offset;
      highest_pinned = b;
    }
    const auto sum = CheckedAdd(total, buffer.size + (buffer.alignment - 1));
    if (!sum || *sum > kMaxBytes) {
      return invalid(Named(buffer) + "with its size " + std::to_string(buffer.size) +
                     " the sizes (and alignments) add up to more than 2^60 bytes");
    }
    total = *sum;
  }
  if (highest_pin + total > kMaxBytes) {
    return Invalid("the highest pinned offset " + std::to_string(highest_pin) +
                       " and all sizes add up to more than 2^60 bytes",
                   Subject::OfBuffer(highest_pinned));
  }
  if (problem.capacity && (*problem.capacity < 0 || *problem.capacity > kMaxBytes)) {
    return Invalid("capacity is " + std::to_string(*problem.capacity) +
                   " but must be from 0 to 2^60");
  }
  return {};
}

namespace {

tl::unexpected<Error> InvalidPlan(std::string message, Subject subject = {}) {
  return Fail(ErrorCode::kInvalidPlan, std::move(message), subject);
}

}  // namespace

namespace internal {

std::optional<std::pair<std::size_t, std::size_t>> CollidingPins(const Problem& problem) {
  const std::vector<Rectangle> pieces = PiecesOf(
      problem, [&](std::size_t b) { return *problem.buffers[b].offset; },
      [&](std::size_t b) { return problem.buffers[b].offset.has_value(); });
  const auto clash = FirstClash(pieces);
  if (!clash) return std::nullopt;
  return std::minmax(clash->early->owner, clash->late->owner);
}

Result<void> ValidateOffsets(const Problem& problem, const Placement& placement) {
  if (placement.offsets.size() != problem.buffers.size()) {
    return InvalidPlan("the plan has " + std::to_string(placement.offsets.size()) +
                       " offsets for " + std::to_string(problem.buffers.size()) + " buffers");
  }
  for (std::size_t b = 0; b < problem.buffers.size(); ++b) {
    const Buffer& buffer = problem.buffers[b];
    const Bytes offset = placement.offsets[b];
    const auto broken = [&](const std::string& rule) {
      return InvalidPlan(Named(buffer) + "offset " + std::to_string(offset) + rule,
                         Subject::OfBuffer(b));
    };
    if (offset < 0 || offset > kMaxBytes) return broken(" must be from 0 to 2^60");
    if (offset % buffer.alignment != 0) {
      return broken(" is not a multiple of the alignment " + std::to_string(buffer.alignment));
    }
    if (buffer.offset && offset != *buffer.offset) {
      return broken(" is not the pinned offset " + std::to_string(*buffer.offset));
    }
  }
  const Bytes height = Height(problem, placement.offsets);
  if (height != placement.height) {
    return InvalidPlan("the plan's height is " + std::to_string(height) + ", not " +
                       std::to_string(placement.height) + " as stated");
  }
  const std::vector<Rectangle> pieces = PiecesOf(
      problem, [&](std::size_t b) { return placement.offsets[b]; },
      [](std::size_t) { return true; });
  const auto clash = FirstClash(pieces);
  if (!clash) return {};
  const Rectangle& late = *clash->late;
  const Rectangle& early = *clash->early;
  return InvalidPlan(Named(problem.buffers[late.owner]) + "bytes " + Range(late.lower, late.upper) +
                         " meet bytes " + Range(early.lower, early.upper) + " of buffer " +
                         Quoted(problem.buffers[early.owner].id) + " at step " +
                         std::to_string(late.start),
                     Subject::OfBuffer(late.owner));
}

}  // namespace internal

Result<void> ValidatePlacement(const Problem& problem, const Placement& placement) {
  if (auto valid = internal::ValidateOffsets(problem, placement); !valid) return valid;
  for (std::size_t b = 0; problem.capacity && b < problem.buffers.size(); ++b) {
    const Buffer& buffer = problem.buffers[b];
    const Bytes offset = placement.offsets[b];
    if (offset + buffer.size > *problem.capacity) {
      return InvalidPlan(Named(buffer) + "bytes " + Range(offset, offset + buffer.size) +
                             " exceed the capacity " + std::to_string(*problem.capacity),
                         Subject::OfBuffer(b));
    }
  }
  return {};
}

Bytes Height(const Problem& problem, const std::vector<Bytes>& offsets) {
  Bytes height = 0;
  for (std::size_t b = 0; b < offsets.size(); ++b) {
    height = std::max(height, offsets[b] + problem.buffers[b].size);
  }
  return height;
}

std::vector<Section> Sections(const Problem& problem) {
  const internal::Instance instance = internal::Compile(problem);
  std::vector<Section> sections(instance.num_sections());
  for (const auto s : instance.sections()) {
    sections[s.position()] = {
        instance.section_start[s], instance.section_end[s], instance.section_load[s], {}};
  }
  for (const auto b : instance.buffers()) {
    for (const internal::Piece& piece : instance.pieces_of(b)) {
      for (const auto s : internal::IndexRange(piece.first, piece.last)) {
        sections[s.position()].buffers.push_back(b.position());
      }
    }
  }
  return sections;
}

namespace {

// A pin lifts the top of its buffer; the bytes below it may stay unused. A buffer that is never live
// still has to lie within the height.
void CountPins(const Problem& problem, LoadBound& best) {
  for (const Buffer& buffer : problem.buffers) {
    const Bytes top = buffer.offset.value_or(0) + buffer.size;
    if (top > best.lower_bound) {
      best.lower_bound = top;
      best.bound_step = buffer.start;
    }
  }
}

}  // namespace

LoadBound internal::MaxLiveLoad(const Problem& problem, const Instance& instance) {
  if (instance.has_alignment) return berth::MaxLiveLoad(problem);
  LoadBound best;
  for (const auto s : instance.sections()) {
    if (instance.section_load[s] <= best.load) continue;
    best.load = best.lower_bound = instance.section_load[s];
    best.load_step = best.bound_step = instance.section_start[s];
  }
  CountPins(problem, best);
  return best;
}

namespace {

// The load alone, where nothing is aligned.
LoadBound LargestLoad(const Problem& problem) {
  std::vector<KeyAndItem> starts;
  std::vector<KeyAndItem> ends;
  starts.reserve(problem.buffers.size());
  ends.reserve(problem.buffers.size());
  for (const Buffer& buffer : problem.buffers) {
    internal::ForEachLivePiece(buffer, [&](const LivePiece& piece) {
      starts.push_back({piece.start, piece.upper - piece.lower});
      ends.push_back({piece.end, piece.upper - piece.lower});
    });
  }
  internal::SortByKey(starts);
  internal::SortByKey(ends);
  LoadBound best;
  Bytes load = 0;
  std::size_t ended = 0;
  for (const KeyAndItem& start : starts) {
    for (; ends[ended].key <= start.key; ++ended) load -= ends[ended].item;
    load += start.item;
    if (load <= best.load) continue;
    best.load = best.lower_bound = load;
    best.load_step = best.bound_step = start.key;
  }
  CountPins(problem, best);
  return best;
}

}  // namespace

// Beyond the load itself: live buffers whose offsets are multiples of t occupy disjoint runs of
// whole multiples of t, except the topmost, which may end anywhere. So the sum of their
// sizes rounded up to t, less the largest rounding, is a bound too; one for each alignment t in
// use. A window that does not begin at the buffer's first byte says nothing about multiples and is
// left out.
LoadBound MaxLiveLoad(const Problem& problem) {
  const std::vector<KeyAndItem> by_alignment = ByAlignment(problem);
  if (by_alignment.empty()) return LargestLoad(problem);
  LoadBound best;
  std::vector<AlignedLoad> classes = AlignmentClasses(by_alignment);
  const std::vector<std::uint32_t> classes_of =
      ClassesOf(problem.buffers.size(), by_alignment, classes);
  Bytes load = 0;
  const auto count = [&](const Rectangle& piece, bool starts) {
    load += starts ? piece.upper - piece.lower : piece.lower - piece.upper;
    Bytes bound = load;
    if (piece.lower == 0) {
      for (std::uint32_t left = classes_of[piece.owner]; left != 0; left &= left - 1) {
        AlignedLoad& aligned = classes[static_cast<std::size_t>(std::countr_zero(left))];
        if (starts) {
          aligned.Start(piece.upper, piece.end);
        } else {
          aligned.End(piece.upper);
        }
      }
    }
    if (!starts) return true;
    for (AlignedLoad& aligned : classes) {
      bound = std::max(bound, aligned.Bound(piece.start, std::max(bound, best.lower_bound)));
    }
    if (load > best.load) {
      best.load = load;
      best.load_step = piece.start;
    }
    if (bound > best.lower_bound) {
      best.lower_bound = bound;
      best.bound_step = piece.start;
    }
    return true;
  };
  internal::ForEachEnd(
      PiecesOf(
          problem, [](std::size_t) { return Bytes{0}; }, [](std::size_t) { return true; }),
      count);
  CountPins(problem, best);
  return best;
}

std::vector<std::vector<std::size_t>> Partitions(const Problem& problem) {
  std::vector<KeyAndItem> order;
  for (const Buffer& buffer : problem.buffers) {
    order.push_back({buffer.start, static_cast<std::int64_t>(order.size())});
  }
  internal::SortByKey(order);
  std::vector<std::vector<std::size_t>> partitions;
  Step end = 0;
  for (const KeyAndItem& next : order) {
    const std::size_t b = next.position();
    const Buffer& buffer = problem.buffers[b];
    if (partitions.empty() || buffer.start >= end) {
      partitions.emplace_back();
      end = buffer.end;
    }
    partitions.back().push_back(b);
    end = std::max(end, buffer.end);
  }
  for (auto& partition : partitions) std::sort(partition.begin(), partition.end());
  return partitions;
}

}  // namespace berth
