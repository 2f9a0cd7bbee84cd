// Code shared by the families, and the family that needs only that: independent shapes.
#include <algorithm>
#include <bit>

#include "base/wide.h"
#include "tools/generate/families.h"

namespace berth::internal {
namespace {

// Windows are drawn in sixteenths of the size, before the size is known.
constexpr std::int64_t kSixteenths = 16;
struct WindowShare {
  std::int64_t lower = 0;
  std::int64_t length = 0;  // 0: the gap has no window.
};

struct Event {
  Step step;
  std::int64_t weight;  // In sixteenths.
  std::int64_t count;
};

// The largest sum of weights and the largest number of buffers live at one step.
std::pair<std::int64_t, std::int64_t> Peaks(std::vector<Event> events) {
  std::sort(events.begin(), events.end(),
            [](const Event& a, const Event& b) { return a.step < b.step; });
  std::int64_t weight = 0;
  std::int64_t count = 0;
  std::int64_t most_weight = 0;
  std::int64_t most_count = 0;
  for (std::size_t i = 0; i < events.size(); ++i) {
    weight += events[i].weight;
    count += events[i].count;
    if (i + 1 < events.size() && events[i + 1].step == events[i].step) continue;
    most_weight = std::max(most_weight, weight);
    most_count = std::max(most_count, count);
  }
  return {most_weight, most_count};
}

}  // namespace

std::int64_t DrawMagnitude(int bits, Random& random) {
  const auto bit = random.Uniform(0, bits - 1);
  return random.Uniform(std::int64_t{1} << bit, (std::int64_t{2} << bit) - 1);
}

Gap DrawGapSteps(Step start, Step end, Random& random) {
  Gap gap;
  gap.start = random.Uniform(start + 1, end - 2);
  gap.end = random.Uniform(gap.start + 1, end - 1);
  return gap;
}

Result<GeneratedProblem> SizeShapes(const std::vector<WeightedLifetime>& shapes,
                                    const Setting& setting, Random& random) {
  GeneratedProblem generated;
  std::vector<Buffer>& buffers = generated.problem.buffers;
  std::vector<WindowShare> windows(shapes.size());
  std::vector<Event> events;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const WeightedLifetime& shape = shapes[i];
    Buffer buffer;
    buffer.id = shape.id;
    buffer.start = shape.start;
    buffer.end = shape.end;
    const std::int64_t weight = shape.weight * kSixteenths;
    events.push_back({shape.start, weight, 1});
    events.push_back({shape.end, -weight, -1});
    if (shape.end - shape.start >= 3 && random.Chance(setting.gaps_percent / 100.0)) {
      const Gap gap = DrawGapSteps(shape.start, shape.end, random);
      if (random.Chance(0.5)) {
        windows[i].length = random.Uniform(1, kSixteenths - 1);
        windows[i].lower = random.Uniform(0, kSixteenths - windows[i].length);
      }
      const std::int64_t freed = weight - shape.weight * windows[i].length;
      events.push_back({gap.start, -freed, 0});
      events.push_back({gap.end, freed, 0});
      buffer.gaps.push_back(gap);
    }
    buffers.push_back(std::move(buffer));
  }

  // One unit for each, and the rest in proportion: no step then exceeds the peak.
  const auto [most_weight, most_count] = Peaks(std::move(events));
  const Bytes rest = setting.peak_units - most_count;
  if (rest < 0) {
    return Fail(ErrorCode::kInvalidOptions,
                "capacity minus slack is " + std::to_string(setting.peak_units) +
                    " units of the alignment, too few for " + std::to_string(most_count) +
                    " buffers live at one step");
  }
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    Buffer& buffer = buffers[i];
    const Wide share = Wide{shapes[i].weight} * kSixteenths * rest / most_weight;
    buffer.size = (1 + static_cast<Bytes>(share)) * setting.alignment;
    if (setting.alignment > 1 && random.Chance(0.5)) {
      buffer.size -= random.Uniform(0, setting.alignment - 1);
    }
    for (Gap& gap : buffer.gaps) {
      const auto part = [&](std::int64_t sixteenths) {
        return static_cast<Bytes>(Wide{buffer.size} * sixteenths / kSixteenths);
      };
      const Bytes length = part(windows[i].length);
      if (length == 0) continue;
      const Bytes lower = part(windows[i].lower);
      gap.window = Window{lower, lower + length};
    }
  }
  return generated;
}

Result<GeneratedProblem> GenerateRandom(const Setting& setting, Random& random) {
  constexpr int kWeightBits = 16;
  const auto length_bits =
      static_cast<int>(std::bit_width(static_cast<std::uint64_t>(setting.longest)));
  std::vector<WeightedLifetime> shapes(static_cast<std::size_t>(setting.buffers));
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    WeightedLifetime& shape = shapes[i];
    shape.id = "b" + std::to_string(i + 1);
    const Step length = std::min(setting.longest, DrawMagnitude(length_bits, random));
    shape.start = random.Uniform(0, setting.steps - length);
    shape.end = shape.start + length;
    shape.weight = DrawMagnitude(kWeightBits, random);
  }
  return SizeShapes(shapes, setting, random);
}

}  // namespace berth::internal
