#include "tools/generate/strip.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/random.h"

namespace berth::internal {
namespace {

constexpr std::array<CutSize, 19> kCutSizes = {{{"C1", 20, 20, 16},
                                                {"C2", 40, 15, 25},
                                                {"C3", 60, 30, 28},
                                                {"C4", 60, 60, 49},
                                                {"C5", 60, 90, 73},
                                                {"C6", 80, 120, 97},
                                                {"C7", 160, 240, 196},
                                                {"N1", 40, 40, 10},
                                                {"N2", 30, 50, 20},
                                                {"N3", 30, 50, 30},
                                                {"N4", 80, 80, 40},
                                                {"N5", 100, 100, 50},
                                                {"N6", 50, 100, 60},
                                                {"N7", 80, 100, 70},
                                                {"N8", 100, 80, 80},
                                                {"N9", 50, 150, 100},
                                                {"N10", 70, 150, 200},
                                                {"N11", 70, 150, 300},
                                                {"N12", 100, 300, 500}}};

struct Rectangle {
  Step x;
  Bytes y;
  Step width;
  Bytes height;
};

// Cuts `piece` at a random place, across or along, and returns what is cut off.
Rectangle Cut(Rectangle& piece, Random& random) {
  const bool across = piece.height < 2 || (piece.width >= 2 && random.Chance(0.5));
  Rectangle rest = piece;
  if (across) {
    const Step at = random.Uniform(1, piece.width - 1);
    rest.x += at;
    rest.width -= at;
    piece.width = at;
  } else {
    const Bytes at = random.Uniform(1, piece.height - 1);
    rest.y += at;
    rest.height -= at;
    piece.height = at;
  }
  return rest;
}

struct Item {
  Step width;
  Bytes height;
};

// A class of Berkey and Wang: all sides from 1 to `most`, a bin of `bin` x `bin`.
struct Uniform {
  std::int64_t most;
  std::int64_t bin;
};
constexpr std::array<Uniform, 6> kUniform = {
    {{10, 10}, {10, 30}, {35, 40}, {35, 100}, {100, 100}, {100, 300}}};
constexpr std::int64_t kMixedBin = 100;  // Of the classes of Martello and Vigo.

Step WidthOf(int number) {
  return number <= 6 ? kUniform[static_cast<std::size_t>(number - 1)].bin : kMixedBin;
}

Item DrawItem(int number, Random& random) {
  if (number <= 6) {
    const std::int64_t most = kUniform[static_cast<std::size_t>(number - 1)].most;
    const Step width = random.Uniform(1, most);
    return {width, random.Uniform(1, most)};
  }
  // Four types of items, of which a class has one in 70 % and the others in 10 % each.
  const auto own = static_cast<std::int64_t>(number - 7);
  const std::int64_t draw = random.Uniform(0, 9);
  const std::int64_t type = draw < 7 ? own : (own + draw - 6) % 4;
  constexpr std::int64_t kHalf = kMixedBin / 2;
  constexpr std::int64_t kTwoThirds = (2 * kMixedBin + 2) / 3;
  constexpr std::array<std::array<std::int64_t, 4>, 4> kRanges = {
      {{kTwoThirds, kMixedBin, 1, kHalf},
       {1, kHalf, kTwoThirds, kMixedBin},
       {kHalf, kMixedBin, kHalf, kMixedBin},
       {1, kHalf, 1, kHalf}}};
  const auto& range = kRanges[static_cast<std::size_t>(type)];
  const Step width = random.Uniform(range[0], range[1]);
  return {width, random.Uniform(range[2], range[3])};
}

std::vector<Step> NextFit(const std::vector<Item>& items, Step width) {
  std::vector<Step> x;
  Step next = 0;
  for (const Item& item : items) {
    if (next + item.width > width) next = 0;
    x.push_back(next);
    next += item.width;
  }
  return x;
}

std::vector<Step> LeastLoad(const std::vector<Item>& items, Step width) {
  std::vector<std::size_t> order(items.size());
  for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return items[a].height > items[b].height; });
  std::vector<Step> x(items.size());
  std::vector<Bytes> load(static_cast<std::size_t>(width), 0);
  for (const std::size_t k : order) {
    const auto span = static_cast<std::ptrdiff_t>(items[k].width);
    auto best = load.begin();
    Bytes least = *std::max_element(best, best + span);
    for (auto at = load.begin() + 1; load.end() - at >= span; ++at) {
      const Bytes most = *std::max_element(at, at + span);
      if (most >= least) continue;
      best = at;
      least = most;
    }
    x[k] = best - load.begin();
    std::for_each(best, best + span, [&](Bytes& bytes) { bytes += items[k].height; });
  }
  return x;
}

}  // namespace

std::span<const CutSize> CutSizes() { return kCutSizes; }

Problem CutRectangle(Step width, Bytes height, std::int64_t pieces, std::uint64_t seed) {
  BERTH_CHECK(width > 0 && height > 0 && pieces > 0 && pieces <= width * height);
  Random random(seed);
  std::vector<Rectangle> all = {{0, 0, width, height}};
  while (static_cast<std::int64_t>(all.size()) < pieces) {
    // Pieces of a single step and byte cannot be cut; others are left until there are enough pieces.
    std::vector<std::size_t> large;
    for (std::size_t k = 0; k < all.size(); ++k) {
      if (all[k].width * all[k].height > 1) large.push_back(k);
    }
    const auto last = static_cast<std::int64_t>(large.size()) - 1;
    const std::size_t chosen = large[static_cast<std::size_t>(random.Uniform(0, last))];
    const Rectangle rest = Cut(all[chosen], random);
    all.push_back(rest);
  }
  random.Shuffle(all);
  Problem problem;
  problem.capacity = height;
  for (const Rectangle& piece : all) {
    problem.buffers.push_back(
        {std::to_string(problem.buffers.size()), piece.x, piece.x + piece.width, piece.height});
  }
  return problem;
}

Problem DrawClass(int number, std::int64_t count, StripRule rule, std::uint64_t seed) {
  BERTH_CHECK(number >= 1 && number <= kStripClasses && count > 0);
  Random random(seed * kStripClasses + static_cast<std::uint64_t>(number));
  std::vector<Item> items;
  for (std::int64_t k = 0; k < count; ++k) items.push_back(DrawItem(number, random));
  const Step width = WidthOf(number);
  const std::vector<Step> x =
      rule == StripRule::kNextFit ? NextFit(items, width) : LeastLoad(items, width);
  Problem problem;
  for (std::size_t k = 0; k < items.size(); ++k) {
    problem.buffers.push_back({std::to_string(k), x[k], x[k] + items[k].width, items[k].height});
  }
  return problem;
}

}  // namespace berth::internal
