#include "testing/random_problem.h"

#include <algorithm>
#include <string>

#include "base/arithmetic.h"
#include "base/random.h"
#include "testing/live.h"

namespace berth::internal {
namespace {

std::vector<Gap> RandomGaps(const Buffer& buffer, const ProblemKnobs& knobs, Random& random) {
  std::vector<Gap> gaps;
  Step from = buffer.start;
  for (int i = 0; i < knobs.max_gaps && from < buffer.end; ++i) {
    if (!random.Chance(knobs.gap_chance)) continue;
    Gap gap;
    gap.start = random.Uniform(from, buffer.end - 1);
    gap.end = random.Uniform(gap.start + 1, buffer.end);
    if (random.Chance(knobs.window_chance)) {
      const Bytes units = buffer.size / knobs.size_unit;
      const Bytes lower = random.Uniform(0, units - 1);
      const Bytes upper = random.Uniform(lower + 1, units);
      gap.window = Window{lower * knobs.size_unit, upper * knobs.size_unit};
    }
    from = gap.end;
    gaps.push_back(gap);
  }
  return gaps;
}

void PinSome(Problem& problem, const ProblemKnobs& knobs, Random& random) {
  const std::vector<Step> breakpoints = Breakpoints(problem);
  const Bytes highest = PeakLoad(problem) + knobs.capacity_above;
  for (Buffer& buffer : problem.buffers) {
    if (!random.Chance(knobs.pin_chance)) continue;
    const Bytes offset =
        RoundDown(random.Uniform(0, std::max<Bytes>(highest - buffer.size, 0)), buffer.alignment);
    const bool collides =
        std::any_of(problem.buffers.begin(), problem.buffers.end(), [&](const Buffer& other) {
          return other.offset && Share(other, *other.offset, buffer, offset, breakpoints);
        });
    if (knobs.pins_may_collide || !collides) buffer.offset = offset;
  }
}

}  // namespace

ProblemKnobs AllKnobs() {
  ProblemKnobs knobs;
  knobs.alignment_chance = 0.4;
  knobs.gap_chance = 0.4;
  knobs.hint_chance = 0.3;
  knobs.pin_chance = 0.25;
  knobs.with_capacity = true;
  return knobs;
}

Problem RandomProblem(std::uint64_t seed, const ProblemKnobs& given) {
  Random random(seed);
  ProblemKnobs knobs = given;
  for (double* chance :
       {&knobs.alignment_chance, &knobs.gap_chance, &knobs.hint_chance, &knobs.pin_chance}) {
    if (random.Chance(0.4)) *chance = 0;
  }

  Problem problem;
  const std::int64_t count = random.Uniform(knobs.min_buffers, knobs.max_buffers);
  const Step origin = random.Chance(0.2) ? -random.Uniform(1, knobs.horizon) : 0;
  for (std::int64_t i = 0; i < count; ++i) {
    Buffer buffer;
    buffer.id = "b" + std::to_string(i);
    buffer.start = origin + random.Uniform(0, knobs.horizon - 1);
    buffer.end = random.Uniform(buffer.start + 1, origin + knobs.horizon);
    buffer.size =
        random.Uniform(1, std::max<Bytes>(knobs.max_size / knobs.size_unit, 1)) * knobs.size_unit;
    if (random.Chance(knobs.alignment_chance)) {
      buffer.alignment = random.Uniform(1, knobs.max_alignment);
    }
    buffer.gaps = RandomGaps(buffer, knobs, random);
    if (random.Chance(knobs.hint_chance)) {
      buffer.hint = random.Uniform(0, 3 * knobs.max_size);
    }
    problem.buffers.push_back(std::move(buffer));
  }
  PinSome(problem, knobs, random);
  if (knobs.with_capacity) {
    const Bytes load = PeakLoad(problem);
    problem.capacity =
        std::max<Bytes>(0, load + random.Uniform(-knobs.capacity_below, knobs.capacity_above));
  }
  return problem;
}

void AddTwins(Problem& problem) {
  if (problem.buffers.empty()) return;
  for (const std::size_t b : {std::size_t{0}, std::size_t{1}, std::size_t{0}}) {
    if (problem.buffers.size() >= 6) return;
    problem.buffers.push_back(problem.buffers[b % problem.buffers.size()]);
    problem.buffers.back().id += "'";
  }
}

ProblemKnobs TwinKnobs() {
  ProblemKnobs knobs;
  knobs.min_buffers = 2;
  knobs.max_buffers = 4;
  knobs.horizon = 5;
  knobs.max_size = 5;
  return knobs;
}

}  // namespace berth::internal
