#include "place/greedy/plateaus.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "base/arithmetic.h"

namespace berth::internal::greedy {

namespace {

// Buffers placed between two looks at the clock: some milliseconds.
constexpr std::size_t kPlacedPerStop = 1024;

// The lowest blocks have 2^5 buffers, which are looked at one by one.
constexpr std::size_t kLeafBits = 5;
constexpr std::size_t kLeaf = std::size_t{1} << kLeafBits;

// The position in `order` of each buffer.
std::vector<std::int32_t> RanksOf(const std::vector<BufferIndex>& order) {
  std::vector<std::int32_t> ranks(order.size());
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    ranks[order[rank].position()] = static_cast<std::int32_t>(rank);
  }
  return ranks;
}

}  // namespace

SpanIndex::SpanIndex(const std::vector<Span>& spans, std::int32_t num_sections)
    : size_(std::bit_ceil(std::max(spans.size(), kLeaf))),
      position_(spans.size()),
      begin_at_(static_cast<std::size_t>(num_sections) + 1, 0) {
  for (const Span& span : spans) ++begin_at_[static_cast<std::size_t>(span.first) + 1];
  for (std::size_t s = 1; s < begin_at_.size(); ++s) begin_at_[s] += begin_at_[s - 1];
  std::vector<std::int32_t> next = begin_at_;
  // What fills the array up to a power of two ends after everything else.
  leaf_.assign(size_, {INT32_MAX, kNoRank});
  for (std::size_t k = 0; k < spans.size(); ++k) {
    position_[k] = static_cast<std::size_t>(next[static_cast<std::size_t>(spans[k].first)]++);
    leaf_[position_[k]].last = spans[k].last;
  }
}

std::optional<SpanIndex> SpanIndex::Make(const std::vector<Span>& spans, std::int32_t num_sections,
                                         const std::function<bool()>& stop) {
  SpanIndex index(spans, num_sections);
  if (!index.AddLevels(stop)) return std::nullopt;
  return index;
}

bool SpanIndex::AddLevels(const std::function<bool()>& stop) {
  // Positions, each block sorted by last section, then position.
  std::vector<std::int32_t> sorted(size_);
  for (std::size_t p = 0; p < size_; ++p) sorted[p] = static_cast<std::int32_t>(p);
  const auto ends_before = [&](std::int32_t x, std::int32_t y) {
    return leaf_[static_cast<std::size_t>(x)].last < leaf_[static_cast<std::size_t>(y)].last;
  };
  std::vector<std::int32_t> merged(size_);
  for (std::size_t width = 1; width <= size_; width *= 2) {
    if (width > 1) {
      for (std::size_t from = 0; from < size_; from += width) {
        const auto begin = sorted.begin() + static_cast<std::ptrdiff_t>(from);
        const auto middle = begin + static_cast<std::ptrdiff_t>(width / 2);
        std::merge(begin, middle, middle, begin + static_cast<std::ptrdiff_t>(width),
                   merged.begin() + static_cast<std::ptrdiff_t>(from), ends_before);
      }
      sorted.swap(merged);
    }
    if (stop && stop()) return false;
    if (width < kLeaf) continue;
    Level level{std::vector<std::int32_t>(size_), std::vector<std::int32_t>(size_),
                std::vector<std::int32_t>(2 * size_)};
    for (std::size_t p = 0; p < size_; ++p) {
      const auto position = static_cast<std::size_t>(sorted[p]);
      level.last[p] = leaf_[position].last;
      level.place[position] = static_cast<std::int32_t>(p & (width - 1));
    }
    levels_.push_back(std::move(level));
  }
  return true;
}

bool SpanIndex::Reset(const std::vector<std::int32_t>& ranks, const std::function<bool()>& stop) {
  for (std::size_t k = 0; k < ranks.size(); ++k) leaf_[position_[k]].rank = ranks[k];
  for (std::size_t h = 0; h < levels_.size(); ++h) {
    if (stop && stop()) return false;
    Level& level = levels_[h];
    const std::size_t width = kLeaf << h;
    for (std::size_t from = 0; from < size_; from += width) {
      std::int32_t* const tree = level.minimum.data() + 2 * from;
      for (std::size_t p = from; p < from + width; ++p) {
        tree[width + static_cast<std::size_t>(level.place[p])] = leaf_[p].rank;
      }
      for (std::size_t node = width - 1; node > 0; --node) {
        tree[node] = std::min(tree[2 * node], tree[2 * node + 1]);
      }
    }
  }
  return true;
}

void SpanIndex::SetRank(std::size_t k, std::int32_t rank) {
  const std::size_t position = position_[k];
  leaf_[position].rank = rank;
  for (std::size_t h = 0; h < levels_.size(); ++h) {
    Level& level = levels_[h];
    const std::size_t width = kLeaf << h;
    std::int32_t* const tree = level.minimum.data() + 2 * (position & ~(width - 1));
    std::size_t node = width + static_cast<std::size_t>(level.place[position]);
    tree[node] = rank;
    for (node /= 2; node > 0; node /= 2) {
      const std::int32_t minimum = std::min(tree[2 * node], tree[2 * node + 1]);
      if (tree[node] == minimum) break;
      tree[node] = minimum;
    }
  }
}

std::int32_t SpanIndex::BestOfBlock(std::size_t level, std::size_t block, std::int32_t last) const {
  const std::size_t width = kLeaf << level;
  const std::int32_t* const lasts = levels_[level].last.data() + block * width;
  const std::int32_t* const tree = levels_[level].minimum.data() + 2 * block * width;
  if (lasts[width - 1] <= last) return tree[1];
  auto end = width + static_cast<std::size_t>(std::upper_bound(lasts, lasts + width, last) - lasts);
  std::int32_t best = kNoRank;
  for (; end > 1; end /= 2) {
    if (end % 2 == 1) best = std::min(best, tree[end - 1]);
  }
  return best;
}

std::int32_t SpanIndex::Best(std::int32_t first, std::int32_t last) const {
  auto left = static_cast<std::size_t>(begin_at_[static_cast<std::size_t>(first)]);
  auto right = static_cast<std::size_t>(begin_at_[static_cast<std::size_t>(last)]);
  std::int32_t best = kNoRank;
  const auto look_at = [&](std::size_t position) {
    if (leaf_[position].last <= last) best = std::min(best, leaf_[position].rank);
  };
  while (left < right && left % kLeaf != 0) look_at(left++);
  while (left < right && right % kLeaf != 0) look_at(--right);
  left >>= kLeafBits;
  right >>= kLeafBits;
  for (std::size_t level = 0; left < right; ++level, left /= 2, right /= 2) {
    if (left % 2 == 1) best = std::min(best, BestOfBlock(level, left++, last));
    if (right % 2 == 1) best = std::min(best, BestOfBlock(level, --right, last));
  }
  return best;
}

bool PlateauPacker::CanPack(const Instance& instance) {
  if (instance.has_pins || instance.has_gaps) return false;
  const auto& alignments = instance.alignment.items();
  return std::all_of(alignments.begin(), alignments.end(),
                     [&](Bytes alignment) { return alignment == alignments.front(); });
}

std::optional<PlateauPacker> PlateauPacker::Make(const Instance& instance,
                                                 const std::function<bool()>& stop) {
  std::vector<SpanIndex::Span> spans;
  spans.reserve(instance.num_buffers());
  for (const BufferIndex b : instance.buffers()) {
    spans.push_back({instance.first[b].value(), instance.last[b].value()});
  }
  auto unplaced = SpanIndex::Make(spans, static_cast<std::int32_t>(instance.num_sections()), stop);
  if (!unplaced) return std::nullopt;
  return PlateauPacker(instance, std::move(*unplaced));
}

std::optional<std::vector<Bytes>> PlateauPacker::Pack(const std::vector<BufferIndex>& order,
                                                      const std::function<bool()>& stop) {
  if (!unplaced_.Reset(RanksOf(order), stop)) return std::nullopt;

  // A plateau is known by its first section; kGone where none begins. Its level is a multiple of
  // the alignment. Beyond both ends of time stands a wall, higher than everything.
  constexpr Bytes kGone = -1;
  constexpr Bytes kWall = std::numeric_limits<Bytes>::max();
  const std::size_t sections = instance_->num_sections();
  std::vector<Bytes> level(sections, kGone);
  std::vector<std::size_t> end(sections);
  std::vector<std::size_t> begin_of_end(sections + 1);  // By the section past a plateau's last.
  const auto set = [&](std::size_t from, std::size_t to, Bytes at) {
    if (from == to) return;
    level[from] = at;
    end[from] = to;
    begin_of_end[to] = from;
  };
  set(0, sections, 0);

  std::vector<Bytes> offsets(order.size(), 0);
  std::size_t from = 0;
  for (std::size_t placed = 0; placed < order.size();) {
    const Bytes at = level[from];
    std::size_t to = end[from];
    const Bytes left = from > 0 ? level[begin_of_end[from]] : kWall;
    const Bytes right = to < sections ? level[to] : kWall;
    if (left < at || right < at) {
      from = left < at ? begin_of_end[from] : to;
      continue;
    }
    if (left == at || right == at) {
      const std::size_t begin = left == at ? begin_of_end[from] : from;
      if (begin != from) level[from] = kGone;
      if (right == at) {
        level[to] = kGone;
        to = end[to];
      }
      from = begin;
      set(from, to, at);
      continue;
    }
    const std::int32_t rank =
        unplaced_.Best(static_cast<std::int32_t>(from), static_cast<std::int32_t>(to));
    if (rank == SpanIndex::kNoRank) {
      set(from, to, std::min(left, right));  // Something is unplaced, so there is a neighbour.
      continue;
    }
    const BufferIndex b = order[static_cast<std::size_t>(rank)];
    unplaced_.Remove(b.position());
    offsets[b.position()] = at;
    if (++placed % kPlacedPerStop == 0 && stop && stop()) return std::nullopt;
    set(from, instance_->first[b].position(), at);
    set(instance_->last[b].position(), to, at);
    set(instance_->first[b].position(), instance_->last[b].position(),
        at + RoundUp(instance_->size[b], instance_->alignment[b]));
  }
  return offsets;
}

}  // namespace berth::internal::greedy
