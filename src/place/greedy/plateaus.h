// place/greedy/plateaus.h -- lowest-first selection for plain problems, in O(n log^2 n).
//
// Packer's lowest-first selection looks at a buffer again and again while the rows below fill up:
// 8 million looks for 28,000 buffers with 3,000 live at once. Where every buffer is a plain
// rectangle there is a direct way. The skyline is a row of plateaus; nothing can lie lower than the
// lowest of them:
//
//        +--+                    The lowest plateau is [2, 5). Of the unplaced buffers whose
//        |  |     +--+           sections all lie within it, the first in the order is placed on
//     +--+  |     |  |           it and cuts it; if there is none, its bytes up to the lower
//     |     +-----+  |           neighbour can never be used: it rises to that level, and the two
//     0     2     5  6  section  become one.
//
// This is lowest-first selection on a skyline, step by step: a buffer's lowest offset is the
// highest level within its sections, which is the level of the lowest plateau only if all its
// sections lie there; and buffers on different plateaus of the same level do not see each other. It
// is lowest-first selection of first fit, too: rows only rise, so an unplaced buffer never fits
// below a placed one that it meets.
//
// The lowest plateau need not be the next one. A plateau lower than both neighbours stays what it
// is until its own turn comes, whatever happens elsewhere, as neither neighbour can change before
// it has risen to them. So the walk goes on where it is, downhill to the next local minimum, with
// all that it needs still in the caches: at a million buffers this is twice as fast.
//
// Each placement makes at most two plateaus, each rise unites two, and no plateau is left downhill
// twice: O(n) steps. Each step asks for the first unplaced buffer in the order within [left, right).
// Buffers are sorted by first section; a tree over this array holds in each node its buffers sorted
// by last section, and over these again a tree of minima of the place in the order. Cost:
// O(log^2 n) a step; memory O(n log n): about 170 bytes a buffer at 100,000 buffers.
#ifndef BERTH_PLACE_GREEDY_PLATEAUS_H_
#define BERTH_PLACE_GREEDY_PLATEAUS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "model/instance.h"

namespace berth::internal::greedy {

// Unplaced buffers, each with a span of sections and a rank, smaller being better.
class SpanIndex {
 public:
  struct Span {
    std::int32_t first;
    std::int32_t last;  // Exclusive; first < last.
  };
  // `stop` is asked now and then, never if it is empty. Once it says yes, there is no index: Make()
  // gives none, and after Reset() gave false it must be called again.
  [[nodiscard]] static std::optional<SpanIndex> Make(const std::vector<Span>& spans,
                                                     std::int32_t num_sections,
                                                     const std::function<bool()>& stop);

  // All spans are unplaced again; ranks[k], at least 0, is the rank of spans[k].
  [[nodiscard]] bool Reset(const std::vector<std::int32_t>& ranks,
                           const std::function<bool()>& stop);
  // The lowest rank of an unplaced span within [first, last), or kNoRank.
  [[nodiscard]] std::int32_t Best(std::int32_t first, std::int32_t last) const;
  // Spans[k] is placed.
  void Remove(std::size_t k) { SetRank(k, kNoRank); }

  static constexpr std::int32_t kNoRank = INT32_MAX;

 private:
  // In the order of first sections.
  struct Leaf {
    std::int32_t last;
    std::int32_t rank;
  };
  // Level h of the outer tree is cut into blocks of 2^(h + 5) buffers. `last` of a block is
  // increasing.
  struct Level {
    std::vector<std::int32_t> last;
    std::vector<std::int32_t> place;    // Of a buffer within its block.
    std::vector<std::int32_t> minimum;  // A block's tree is at twice its first buffer.
  };
  SpanIndex(const std::vector<Span>& spans, std::int32_t num_sections);
  [[nodiscard]] bool AddLevels(const std::function<bool()>& stop);
  void SetRank(std::size_t k, std::int32_t rank);
  [[nodiscard]] std::int32_t BestOfBlock(std::size_t level, std::size_t block,
                                         std::int32_t last) const;

  std::size_t size_;                    // Rounded up to a power of two.
  std::vector<std::size_t> position_;   // Of spans[k] in the order of first sections.
  std::vector<std::int32_t> begin_at_;  // The first position whose span starts at a section.
  std::vector<Leaf> leaf_;
  std::vector<Level> levels_;
};

// Packs the plain problems: one piece for each buffer, the whole of it; the same alignment for all.
class PlateauPacker {
 public:
  // Whether `instance` is plain and without pins. Hints must not be used.
  [[nodiscard]] static bool CanPack(const Instance& instance);
  // `instance`, which is plain, must outlive the packer. None if `stop`, which is asked now and then
  // unless it is empty, says yes.
  [[nodiscard]] static std::optional<PlateauPacker> Make(const Instance& instance,
                                                         const std::function<bool()>& stop);
  // Offsets by lowest-first selection, the first in `order` first. `stop` is asked now and then,
  // and ends the attempt without any; never if it is empty.
  [[nodiscard]] std::optional<std::vector<Bytes>> Pack(const std::vector<BufferIndex>& order,
                                                       const std::function<bool()>& stop);

 private:
  PlateauPacker(const Instance& instance, SpanIndex unplaced)
      : instance_(&instance), unplaced_(std::move(unplaced)) {}

  const Instance* instance_;
  SpanIndex unplaced_;
};

}  // namespace berth::internal::greedy

#endif  // BERTH_PLACE_GREEDY_PLATEAUS_H_
