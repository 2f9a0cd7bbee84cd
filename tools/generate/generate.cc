#include "tools/generate/generate.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <numeric>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "tools/generate/families.h"

namespace berth::internal {
namespace {

constexpr std::array<FamilyInfo, 5> kFamilies = {{
    {Family::kPlanted, "planted",
     "A known perfect packing, cut from a full rectangle; always fits."},
    {Family::kFull, "full",
     "Exactly full at every step: random buffers and fillers; may or may not fit."},
    {Family::kNetwork, "network", "A training step of a layered neural network."},
    {Family::kInference, "inference", "The forward pass of a layered neural network."},
    {Family::kRandom, "random", "Independent lifetimes and sizes of every order of magnitude."},
}};

constexpr Step kDefaultSteps = 1000;

// With `live`, lifetimes are up to 2^kLiveBits - 1 steps long, whatever the schedule. Their mean is
// known exactly (DrawMagnitude) and determines the length of the schedule.
constexpr std::int64_t kLiveBits = 10;
constexpr Step kLiveLongest = (Step{1} << kLiveBits) - 1;
constexpr Step kLiveTotal = 3 * kLiveLongest - kLiveBits;  // Of 2 * kLiveBits lifetimes.

// No buffer is larger than the capacity. Fillers (full) may outnumber the buffers, but they add up
// to at most twice the buffers' sizes plus one capacity. So with these limits all sizes together
// stay below the 2^60 bytes that a problem may have.
constexpr std::int64_t kMaxBuffers = 10'000'000;
constexpr std::int64_t kManyBuffers = 1'000'000;
constexpr Bytes kMaxCapacity = Bytes{1} << 38;
constexpr Bytes kMaxCapacityOfMany = Bytes{1} << 34;

bool ChoosesItsOwnSteps(Family family) {
  return family == Family::kNetwork || family == Family::kInference;
}

Result<void> CheckRange(const char* name, std::int64_t value, std::int64_t least,
                        std::int64_t most) {
  if (value >= least && value <= most) return {};
  return Fail(ErrorCode::kInvalidOptions, std::string(name) + " is " + std::to_string(value) +
                                              " but must be from " + std::to_string(least) +
                                              " to " + std::to_string(most));
}

Result<Setting> CheckParameters(Family family, const GenerateParameters& parameters) {
  Step steps = parameters.steps.value_or(kDefaultSteps);
  for (const Result<void>& checked :
       {CheckRange("buffers", parameters.buffers, 1, kMaxBuffers),
        CheckRange("steps", steps, 1, Step{1} << 40),
        CheckRange("capacity", parameters.capacity, 1,
                   parameters.buffers > kManyBuffers ? kMaxCapacityOfMany : kMaxCapacity),
        CheckRange("slack", parameters.slack_percent, 0, 99),
        CheckRange("alignment", parameters.alignment, 1, Bytes{1} << 30),
        CheckRange("pins", parameters.pins_percent, 0, 100),
        CheckRange("gaps", parameters.gaps_percent, 0, 100)}) {
    if (!checked) return tl::unexpected<Error>(checked.error());
  }
  if (parameters.steps && ChoosesItsOwnSteps(family)) {
    return Fail(ErrorCode::kInvalidOptions,
                "steps is " + std::to_string(steps) +
                    " but a network's steps follow from its operators; leave it out");
  }
  Step longest = steps;
  if (parameters.live) {
    if (family != Family::kRandom || parameters.steps) {
      return Fail(ErrorCode::kInvalidOptions,
                  "live is " + std::to_string(*parameters.live) +
                      " but only the family random takes it, instead of steps");
    }
    const std::int64_t most = parameters.buffers * kLiveTotal / (2 * kLiveBits * kLiveLongest);
    if (const auto checked = CheckRange("live", *parameters.live, 1, most); !checked) {
      return tl::unexpected<Error>(checked.error());
    }
    steps = parameters.buffers * kLiveTotal / (2 * kLiveBits * *parameters.live);
    longest = kLiveLongest;
  }
  if (parameters.capacity % parameters.alignment != 0) {
    return Fail(ErrorCode::kInvalidOptions, "capacity is " + std::to_string(parameters.capacity) +
                                                " but must be a multiple of the alignment " +
                                                std::to_string(parameters.alignment));
  }
  const Bytes units = parameters.capacity / parameters.alignment;
  const Bytes peak_units = units * (100 - parameters.slack_percent) / 100;
  if (peak_units == 0) {
    return Fail(ErrorCode::kInvalidOptions, "slack is " + std::to_string(parameters.slack_percent) +
                                                " percent, which leaves no bytes of the capacity " +
                                                std::to_string(parameters.capacity) +
                                                " at alignment " +
                                                std::to_string(parameters.alignment));
  }
  return Setting{parameters.buffers,     steps, longest, peak_units, parameters.alignment,
                 parameters.gaps_percent};
}

Result<GeneratedProblem> GenerateFamily(Family family, const Setting& setting, Random& random) {
  switch (family) {
    case Family::kPlanted:
      return GeneratePlanted(setting, random);
    case Family::kFull:
      return GenerateFull(setting, random);
    case Family::kNetwork:
      return GenerateNetwork(setting, /*training=*/true, random);
    case Family::kInference:
      return GenerateNetwork(setting, /*training=*/false, random);
    case Family::kRandom:
      break;
  }
  return GenerateRandom(setting, random);
}

std::vector<std::size_t> DrawSubset(std::size_t count, int percent, Random& random) {
  std::vector<std::size_t> indices(count);
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  random.Shuffle(indices);
  indices.resize(count * static_cast<std::size_t>(percent) / 100);
  return indices;
}

// Pins `chosen` at random multiples of their alignment, in order of their starts, each clear of the
// pins that are live then. A buffer that finds no offset in a few draws stays unpinned. Gaps are
// not used.
void PinApart(Problem& problem, std::vector<std::size_t> chosen, Random& random) {
  constexpr int kDraws = 16;
  std::vector<Buffer>& buffers = problem.buffers;
  std::sort(chosen.begin(), chosen.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(buffers[a].start, a) < std::pair(buffers[b].start, b);
  });
  std::map<Bytes, Bytes> taken;  // Lower end to upper end.
  using Ending = std::pair<Step, Bytes>;
  std::priority_queue<Ending, std::vector<Ending>, std::greater<>> endings;
  for (const std::size_t index : chosen) {
    Buffer& buffer = buffers[index];
    for (; !endings.empty() && endings.top().first <= buffer.start; endings.pop()) {
      taken.erase(endings.top().second);
    }
    const Bytes highest = (*problem.capacity - buffer.size) / buffer.alignment;
    for (int draw = 0; draw < kDraws; ++draw) {
      const Bytes offset = random.Uniform(0, highest) * buffer.alignment;
      const auto above = taken.lower_bound(offset);
      if (above != taken.end() && above->first < offset + buffer.size) continue;
      if (above != taken.begin() && std::prev(above)->second > offset) continue;
      buffer.offset = offset;
      taken.emplace(offset, offset + buffer.size);
      endings.emplace(buffer.end, offset);
      break;
    }
  }
}

}  // namespace

std::span<const FamilyInfo> Families() { return kFamilies; }

std::optional<Family> FamilyFromName(std::string_view name) {
  for (const FamilyInfo& info : kFamilies) {
    if (info.name == name) return info.family;
  }
  return std::nullopt;
}

Result<GeneratedProblem> Generate(Family family, const GenerateParameters& parameters) {
  const Result<Setting> setting = CheckParameters(family, parameters);
  if (!setting) return tl::unexpected<Error>(setting.error());
  Random random(parameters.seed);
  Result<GeneratedProblem> generated = GenerateFamily(family, *setting, random);
  if (!generated) return generated;

  Problem& problem = generated->problem;
  problem.capacity = parameters.capacity;
  for (Buffer& buffer : problem.buffers) buffer.alignment = parameters.alignment;
  std::vector<std::size_t> pinned =
      DrawSubset(problem.buffers.size(), parameters.pins_percent, random);
  if (generated->plan) {
    for (const std::size_t index : pinned) {
      problem.buffers[index].offset = generated->plan->offsets[index];
    }
  } else {
    PinApart(problem, std::move(pinned), random);
  }
  return generated;
}

}  // namespace berth::internal
