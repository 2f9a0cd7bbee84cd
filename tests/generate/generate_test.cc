#include "tools/generate/generate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iomanip>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "berth/io.h"
#include "tools/generate/on_chip.h"
#include "tools/generate/variant.h"
#include "tools/verify/verify.h"

namespace berth::internal {
namespace {

constexpr Family kAll[] = {Family::kPlanted, Family::kFull, Family::kNetwork, Family::kInference,
                           Family::kRandom};

GeneratedProblem MustGenerate(Family family, const GenerateParameters& parameters) {
  auto generated = Generate(family, parameters);
  EXPECT_TRUE(generated.has_value()) << (generated ? "" : generated.error().message);
  return generated ? std::move(*generated) : GeneratedProblem{};
}

// The load from each step at which it changes.
std::map<Step, Bytes> Loads(const Problem& problem) {
  std::map<Step, Bytes> changes;
  for (const Buffer& buffer : problem.buffers) {
    changes[buffer.start] += buffer.size;
    changes[buffer.end] -= buffer.size;
    for (const Gap& gap : buffer.gaps) {
      const Bytes live = gap.window ? gap.window->upper - gap.window->lower : 0;
      changes[gap.start] -= buffer.size - live;
      changes[gap.end] += buffer.size - live;
    }
  }
  Bytes load = 0;
  for (auto& [step, value] : changes) value = load += value;
  return changes;
}

Bytes PeakOf(const Problem& problem) {
  Bytes peak = 0;
  for (const auto& [step, load] : Loads(problem)) peak = std::max(peak, load);
  return peak;
}

// Full from the first step to the last.
void ExpectFull(const Problem& problem, Step steps, Bytes peak) {
  const std::map<Step, Bytes> loads = Loads(problem);
  ASSERT_FALSE(loads.empty());
  EXPECT_EQ(loads.begin()->first, 0);
  EXPECT_EQ(loads.rbegin()->first, steps);
  for (const auto& [step, load] : loads) {
    ASSERT_EQ(load, step == steps ? 0 : peak) << "at step " << step;
  }
}

std::vector<GenerateParameters> ParameterSets(Family family) {
  std::vector<GenerateParameters> sets;
  for (const std::int64_t buffers : {1, 2, 7, 60, 400}) {
    for (const Bytes alignment : {Bytes{1}, Bytes{64}}) {
      for (const int percent : {0, 30, 100}) {
        GenerateParameters parameters;
        parameters.seed = static_cast<std::uint64_t>(buffers) * 7 + 1;
        parameters.buffers = buffers;
        parameters.alignment = alignment;
        parameters.pins_percent = percent;
        parameters.gaps_percent = percent;
        parameters.slack_percent = percent == 30 ? 7 : 0;
        if (family != Family::kNetwork && family != Family::kInference && buffers < 60) {
          parameters.steps = 20;
        }
        sets.push_back(parameters);
      }
    }
  }
  return sets;
}

TEST(GenerateTest, IsValidRepeatableAndWithinItsPeak) {
  for (const Family family : kAll) {
    for (const GenerateParameters& parameters : ParameterSets(family)) {
      const GeneratedProblem generated = MustGenerate(family, parameters);
      const Problem& problem = generated.problem;
      const auto valid = Validate(problem);
      ASSERT_TRUE(valid.has_value()) << valid.error().message;
      EXPECT_EQ(problem, MustGenerate(family, parameters).problem);
      EXPECT_EQ(problem.capacity, parameters.capacity);
      EXPECT_LE(PeakOf(problem), parameters.capacity * (100 - parameters.slack_percent) / 100);
      if (family != Family::kFull) {
        EXPECT_EQ(problem.buffers.size(), static_cast<std::size_t>(parameters.buffers));
      }
      for (const Buffer& buffer : problem.buffers) {
        EXPECT_EQ(buffer.alignment, parameters.alignment);
      }
      GenerateParameters other = parameters;
      ++other.seed;
      if (parameters.buffers > 7) {
        EXPECT_NE(problem, MustGenerate(family, other).problem);
      }
    }
  }
}

TEST(GenerateTest, PlantedIsFullAndItsPlanHolds) {
  for (const GenerateParameters& parameters : ParameterSets(Family::kPlanted)) {
    const GeneratedProblem generated = MustGenerate(Family::kPlanted, parameters);
    ASSERT_TRUE(generated.plan);
    const auto report = verify::VerifyOffsets(generated.problem, generated.plan->offsets);
    EXPECT_TRUE(report.ok()) << Describe(
        report, generated.problem, verify::AsPlan(generated.problem, generated.plan->offsets));
    EXPECT_EQ(report.height, generated.plan->height);
    EXPECT_TRUE(ValidatePlacement(generated.problem, *generated.plan).has_value());
    ExpectFull(generated.problem, parameters.steps.value_or(1000), report.height);
    const Bytes units = parameters.capacity / parameters.alignment;
    EXPECT_EQ(report.height, units * (100 - parameters.slack_percent) / 100 * parameters.alignment);
  }
}

// True if some straight cut through all steps or all bytes crosses no buffer.
bool HasStraightCut(const GeneratedProblem& generated, Step steps) {
  const auto& buffers = generated.problem.buffers;
  const auto crossed = [&](auto inside) {
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      if (inside(buffers[i], generated.plan->offsets[i])) return true;
    }
    return false;
  };
  for (const Buffer& edge : buffers) {
    if (edge.end < steps && !crossed([&](const Buffer& buffer, Bytes) {
          return buffer.start < edge.end && edge.end < buffer.end;
        })) {
      return true;
    }
  }
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const Bytes at = generated.plan->offsets[i];
    if (at > 0 && !crossed([&](const Buffer& buffer, Bytes offset) {
          return offset < at && at < offset + buffer.size;
        })) {
      return true;
    }
  }
  return false;
}

TEST(GenerateTest, PlantedIsNotAlwaysGuillotine) {
  int without = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    GenerateParameters parameters;
    parameters.seed = seed;
    parameters.buffers = 30;
    without += !HasStraightCut(MustGenerate(Family::kPlanted, parameters), 1000);
  }
  EXPECT_GT(without, 5);
  EXPECT_LT(without, 60);
}

TEST(GenerateTest, PlantedCutsDownToTheLastByte) {
  GenerateParameters parameters;
  parameters.steps = 12;
  parameters.capacity = 20;
  parameters.buffers = 240;
  const GeneratedProblem generated = MustGenerate(Family::kPlanted, parameters);
  for (const Buffer& buffer : generated.problem.buffers) {
    EXPECT_EQ(buffer.size, 1);
    EXPECT_EQ(buffer.end - buffer.start, 1);
  }
  parameters.buffers = 241;
  const auto too_many = Generate(Family::kPlanted, parameters);
  ASSERT_FALSE(too_many.has_value());
  EXPECT_EQ(too_many.error().code, ErrorCode::kInvalidOptions);
  EXPECT_NE(too_many.error().message.find("buffers is 241"), std::string::npos);
}

TEST(GenerateTest, FullIsFull) {
  for (const GenerateParameters& parameters : ParameterSets(Family::kFull)) {
    const GeneratedProblem generated = MustGenerate(Family::kFull, parameters);
    const Bytes units = parameters.capacity / parameters.alignment;
    ExpectFull(generated.problem, parameters.steps.value_or(1000),
               units * (100 - parameters.slack_percent) / 100 * parameters.alignment);
    EXPECT_FALSE(generated.plan);
  }
  // The small, hard tables.
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    GenerateParameters parameters;
    parameters.seed = seed;
    parameters.buffers = 20 + static_cast<std::int64_t>(seed) % 41;
    parameters.steps = seed % 2 == 0 ? 20 : 12;
    parameters.capacity = seed % 2 == 0 ? 100 : 1000;
    const Problem problem = MustGenerate(Family::kFull, parameters).problem;
    ExpectFull(problem, *parameters.steps, parameters.capacity);
    EXPECT_GT(problem.buffers.size(), 20U);
    EXPECT_LT(problem.buffers.size(), 180U);
  }
}

TEST(GenerateTest, OthersReachTheirPeakExceptForRounding) {
  for (const Family family : {Family::kNetwork, Family::kInference, Family::kRandom}) {
    GenerateParameters parameters;
    parameters.buffers = 300;
    parameters.slack_percent = 25;
    parameters.capacity = Bytes{1} << 30;
    const Bytes peak = PeakOf(MustGenerate(family, parameters).problem);
    const Bytes wanted = (Bytes{3} << 30) / 4;
    EXPECT_LE(peak, wanted);
    EXPECT_GT(peak, wanted - 300);
  }
}

TEST(GenerateTest, LiveSetsTheAverageNumberOfLiveBuffers) {
  for (const std::int64_t live : {std::int64_t{20}, std::int64_t{252}, std::int64_t{2900}}) {
    GenerateParameters parameters;
    parameters.buffers = 20'000;
    parameters.live = live;
    parameters.capacity = Bytes{1} << 30;
    Step total = 0;
    Step end = 0;
    for (const Buffer& buffer : MustGenerate(Family::kRandom, parameters).problem.buffers) {
      total += buffer.end - buffer.start;
      end = std::max(end, buffer.end);
    }
    EXPECT_NEAR(static_cast<double>(total) / static_cast<double>(end), static_cast<double>(live),
                static_cast<double>(live) * 0.03);
  }
}

TEST(VariantTest, TimeRunsBackwardsAndAFewBuffersAreGone) {
  GenerateParameters parameters;
  parameters.buffers = 150;
  parameters.alignment = 16;
  parameters.gaps_percent = 30;
  parameters.pins_percent = 20;
  const GeneratedProblem generated = MustGenerate(Family::kPlanted, parameters);
  const Problem& problem = generated.problem;

  // With all buffers kept, the same plan is valid, and reversing twice restores the table.
  const Problem reversed = MakeVariant(problem, {1, 0}).value();
  EXPECT_NE(reversed, problem);
  EXPECT_EQ(MakeVariant(reversed, {1, 0}).value(), problem);
  EXPECT_TRUE(Validate(reversed).has_value());
  EXPECT_EQ(verify::VerifyOffsets(reversed, generated.plan->offsets).height,
            generated.plan->height);
  EXPECT_TRUE(verify::VerifyOffsets(reversed, generated.plan->offsets).ok());

  // The reversed problem lacks 3 % of 150 buffers, rounded up; each seed removes different ones.
  std::map<std::string, int> dropped;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const Problem variant = MakeVariant(problem, {seed, 3}).value();
    EXPECT_EQ(variant, MakeVariant(problem, {seed, 3}).value());
    ASSERT_EQ(variant.buffers.size(), 145U);
    EXPECT_TRUE(Validate(variant).has_value());
    auto kept = variant.buffers.begin();
    for (const Buffer& buffer : reversed.buffers) {
      if (kept != variant.buffers.end() && *kept == buffer) {
        ++kept;
      } else {
        ++dropped[buffer.id];
      }
    }
    EXPECT_EQ(kept, variant.buffers.end());
  }
  EXPECT_GT(dropped.size(), 130U);  // Of 150, in 500 draws.
  for (const auto& [id, times] : dropped) EXPECT_LT(times, 15) << id;
}

TEST(VariantTest, KeepsAtLeastOneBuffer) {
  EXPECT_TRUE(MakeVariant({}, {}).value().buffers.empty());
  GenerateParameters parameters;
  parameters.buffers = 2;
  const Problem problem = MustGenerate(Family::kPlanted, parameters).problem;
  const Problem variant = MakeVariant(problem, {1, 99}).value();
  EXPECT_EQ(variant.buffers.size(), 1U);
  EXPECT_EQ(MakeVariant(variant, {1, 99}).value().buffers.size(), 1U);
  EXPECT_EQ(MakeVariant(problem, {1, 100}).error().message, "drop is 100 but must be from 0 to 99");
}

// The same choice by the definition: the load of the whole table for each buffer anew.
std::vector<Buffer> KeptByLoads(const Problem& problem, Bytes capacity, std::uint64_t seed) {
  std::set<std::size_t> kept;
  const auto table = [&] {
    Problem some;
    for (const std::size_t b : kept) some.buffers.push_back(problem.buffers[b]);
    for (Buffer& buffer : some.buffers) buffer.gaps.clear();
    return some;
  };
  for (const std::size_t b : DrawWorth(problem, seed).order) {
    kept.insert(b);
    if (PeakOf(table()) > capacity) kept.erase(b);
  }
  std::vector<Buffer> buffers;
  for (const std::size_t b : kept) buffers.push_back(problem.buffers[b]);
  return buffers;
}

TEST(OnChipTest, KeepsTheMostUsefulBuffersWhileTheBytesSuffice) {
  for (const Family family : kAll) {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      SCOPED_TRACE(testing::Message() << static_cast<int>(family) << ", seed " << seed);
      GenerateParameters parameters;
      parameters.seed = seed;
      parameters.gaps_percent = seed == 4 ? 30 : 0;
      if (family == Family::kRandom) parameters.live = 10;
      const Problem problem = MustGenerate(family, parameters).problem;
      for (const int percent : {0, 25, 50, 75}) {
        const Bytes capacity = PeakOf(problem) * percent / 100;
        const Problem kept = KeepOnChip(problem, capacity, seed);
        EXPECT_EQ(kept.capacity, capacity);
        EXPECT_EQ(kept.buffers, KeptByLoads(problem, capacity, seed));
        EXPECT_LE(PeakOf(kept), capacity);
        EXPECT_EQ(kept.buffers.empty(), percent == 0);
        EXPECT_LT(kept.buffers.size(), problem.buffers.size());
      }
      if (seed < 4) {
        EXPECT_EQ(KeepOnChip(problem, PeakOf(problem), seed).buffers, problem.buffers);
      }
    }
  }
  EXPECT_TRUE(KeepOnChip({}, 100, 1).buffers.empty());
}

TEST(OnChipTest, WorthIsSizeTimesAccesses) {
  GenerateParameters parameters;
  parameters.buffers = 400;
  const Problem problem = MustGenerate(Family::kNetwork, parameters).problem;
  const Worth worth = DrawWorth(problem, 3);
  ASSERT_EQ(worth.benefit.size(), problem.buffers.size());
  std::set<std::int64_t> accesses;
  for (std::size_t b = 0; b < worth.benefit.size(); ++b) {
    EXPECT_EQ(worth.benefit[b] % problem.buffers[b].size, 0);
    accesses.insert(worth.benefit[b] / problem.buffers[b].size);
  }
  EXPECT_EQ(accesses, (std::set<std::int64_t>{2, 3, 4, 5, 6, 7, 8}));
  std::set<std::size_t> all(worth.order.begin(), worth.order.end());
  EXPECT_EQ(all.size(), problem.buffers.size());
  for (std::size_t k = 1; k < worth.order.size(); ++k) {
    const auto key = [&](std::size_t b) {
      return static_cast<double>(worth.benefit[b]) * static_cast<double>(worth.benefit[b]) /
             static_cast<double>(problem.buffers[b].size);
    };
    EXPECT_GE(key(worth.order[k - 1]) * (1 + 1e-9), key(worth.order[k]));
  }
  EXPECT_NE(DrawWorth(problem, 4).benefit, worth.benefit);
}

TEST(GenerateTest, SharesArePlausible) {
  for (const Family family : kAll) {
    GenerateParameters parameters;
    parameters.buffers = 2000;
    parameters.pins_percent = 20;
    parameters.gaps_percent = 20;
    const Problem problem = MustGenerate(family, parameters).problem;
    const auto share = [&](auto has) {
      return 100 * std::count_if(problem.buffers.begin(), problem.buffers.end(), has) /
             static_cast<std::ptrdiff_t>(problem.buffers.size());
    };
    EXPECT_GE(share([](const Buffer& b) { return b.offset.has_value(); }), 5);
    EXPECT_LE(share([](const Buffer& b) { return b.offset.has_value(); }), 20);
    EXPECT_GE(share([](const Buffer& b) { return !b.gaps.empty(); }), 4);
    EXPECT_LE(share([](const Buffer& b) { return !b.gaps.empty(); }), 25);
    const auto windowed = [](const Buffer& b) { return !b.gaps.empty() && b.gaps[0].window; };
    EXPECT_GE(share(windowed), 1);
  }
}

TEST(GenerateTest, PinsDoNotCollide) {
  for (const Family family : kAll) {
    GenerateParameters parameters;
    parameters.buffers = 300;
    parameters.pins_percent = 100;
    parameters.alignment = 32;
    const Problem problem = MustGenerate(family, parameters).problem;
    Problem pinned;
    pinned.capacity = problem.capacity;
    std::vector<Bytes> offsets;
    for (const Buffer& buffer : problem.buffers) {
      if (!buffer.offset) continue;
      pinned.buffers.push_back(buffer);
      offsets.push_back(*buffer.offset);
    }
    EXPECT_GT(offsets.size(), 30U);
    const auto report = verify::VerifyOffsets(pinned, offsets);
    EXPECT_TRUE(report.ok()) << Describe(report, pinned, verify::AsPlan(pinned, offsets));
  }
}

// In training, gradients come in the reverse order of activations, and every weight gradient
// outlives the backward pass.
TEST(GenerateTest, NetworksLookLikeNetworks) {
  GenerateParameters parameters;
  parameters.buffers = 500;
  const Problem training = MustGenerate(Family::kNetwork, parameters).problem;
  Step backward_end = 0;
  Step previous_gradient = -1;
  int weight_gradients = 0;
  int skips = 0;
  for (const Buffer& buffer : training.buffers) {
    if (buffer.id.ends_with(".gradient")) {
      backward_end = std::max(backward_end, buffer.end);
      if (previous_gradient >= 0) {
        EXPECT_LT(buffer.end, previous_gradient);
      }
      previous_gradient = buffer.end;
    }
  }
  for (const Buffer& buffer : training.buffers) {
    if (buffer.id.ends_with("scratch")) {
      EXPECT_EQ(buffer.end - buffer.start, 1) << buffer.id;
    }
    if (!buffer.id.ends_with("weight_gradient")) continue;
    ++weight_gradients;
    EXPECT_GT(buffer.end, backward_end - 1);
  }
  EXPECT_GT(weight_gradients, 50);

  const Problem inference = MustGenerate(Family::kInference, parameters).problem;
  for (const Buffer& buffer : inference.buffers) {
    EXPECT_EQ(buffer.id.find("gradient"), std::string::npos);
    if (buffer.id.ends_with(".activation") && buffer.end - buffer.start > 2) ++skips;
  }
  EXPECT_GT(skips, 20);
}

TEST(GenerateTest, StaysValidAtTheLimits) {
  for (const Family family : kAll) {
    GenerateParameters parameters;
    parameters.buffers = 20'000;
    parameters.capacity = Bytes{1} << 38;
    parameters.gaps_percent = 50;
    parameters.pins_percent = 50;
    if (family != Family::kNetwork && family != Family::kInference) {
      parameters.steps = Step{1} << 40;
    }
    const auto valid = Validate(MustGenerate(family, parameters).problem);
    EXPECT_TRUE(valid.has_value()) << valid.error().message;
    parameters.capacity = Bytes{1} << 37;
    parameters.alignment = Bytes{1} << 16;
    const auto aligned = Validate(MustGenerate(family, parameters).problem);
    EXPECT_TRUE(aligned.has_value()) << aligned.error().message;
  }
}

TEST(GenerateTest, NamesAndFamiliesMapBothWays) {
  std::set<std::string_view> names;
  for (const FamilyInfo& info : Families()) {
    EXPECT_EQ(FamilyFromName(info.name), info.family);
    EXPECT_FALSE(info.summary.empty());
    names.insert(info.name);
  }
  EXPECT_EQ(names.size(), std::size(kAll));
  EXPECT_EQ(FamilyFromName("Planted"), std::nullopt);
}

TEST(GenerateTest, SaysWhatIsWrongWithParameters) {
  const auto message = [](Family family, auto change) {
    GenerateParameters parameters;
    change(parameters);
    const auto generated = Generate(family, parameters);
    EXPECT_FALSE(generated.has_value());
    if (generated) return std::string();
    EXPECT_EQ(generated.error().code, ErrorCode::kInvalidOptions);
    return generated.error().message;
  };
  using P = GenerateParameters;
  EXPECT_EQ(message(Family::kRandom, [](P& p) { p.buffers = 0; }),
            "buffers is 0 but must be from 1 to 10000000");
  EXPECT_EQ(message(Family::kRandom,
                    [](P& p) {
                      p.buffers = 1'000'001;
                      p.capacity = (Bytes{1} << 34) + 1;
                    }),
            "capacity is 17179869185 but must be from 1 to 17179869184");
  EXPECT_EQ(message(Family::kRandom, [](P& p) { p.steps = 0; }),
            "steps is 0 but must be from 1 to 1099511627776");
  EXPECT_EQ(message(Family::kRandom, [](P& p) { p.capacity = -5; }),
            "capacity is -5 but must be from 1 to 274877906944");
  EXPECT_EQ(message(Family::kRandom, [](P& p) { p.slack_percent = 100; }),
            "slack is 100 but must be from 0 to 99");
  EXPECT_EQ(message(Family::kRandom, [](P& p) { p.alignment = 0; }),
            "alignment is 0 but must be from 1 to 1073741824");
  EXPECT_EQ(message(Family::kRandom, [](P& p) { p.pins_percent = 101; }),
            "pins is 101 but must be from 0 to 100");
  EXPECT_EQ(message(Family::kRandom, [](P& p) { p.gaps_percent = -1; }),
            "gaps is -1 but must be from 0 to 100");
  EXPECT_EQ(message(Family::kRandom, [](P& p) { p.alignment = 3; }),
            "capacity is 1048576 but must be a multiple of the alignment 3");
  EXPECT_EQ(message(Family::kRandom, [](P& p) { p.live = 15; }),
            "live is 15 but must be from 1 to 14");
  EXPECT_NE(message(Family::kFull, [](P& p) { p.live = 1; }).find("only the family random"),
            std::string::npos);
  EXPECT_NE(
      message(Family::kRandom, [](P& p) { p.live = 1, p.steps = 9; }).find("instead of steps"),
      std::string::npos);
  EXPECT_NE(message(Family::kNetwork, [](P& p) { p.steps = 10; }).find("leave it out"),
            std::string::npos);
  EXPECT_NE(message(Family::kFull, [](P& p) { p.capacity = 1, p.slack_percent = 1; })
                .find("leaves no bytes"),
            std::string::npos);
  EXPECT_NE(message(Family::kRandom, [](P& p) { p.capacity = 2, p.steps = 1; })
                .find("too few for 100 buffers"),
            std::string::npos);
}

// The same bytes on every platform, compiler and build type. Changing a family changes these
// numbers, and with them everyone's benchmarks.
TEST(GenerateTest, StaysTheSameForEver) {
  const std::map<Family, std::string> expected = {
      {Family::kPlanted, "fnv1a64:ab8851b9dc22ba9c"},
      {Family::kFull, "fnv1a64:e5b2daec1bc9ab67"},
      {Family::kNetwork, "fnv1a64:8c5edfa24b8bed40"},
      {Family::kInference, "fnv1a64:f6f01f5181bfe893"},
      {Family::kRandom, "fnv1a64:c28f57c8426bac0f"},
  };
  for (const Family family : kAll) {
    GenerateParameters parameters;
    parameters.seed = 42;
    parameters.buffers = 150;
    parameters.alignment = 16;
    parameters.slack_percent = 3;
    parameters.pins_percent = 10;
    parameters.gaps_percent = 15;
    EXPECT_EQ(HashOf(WriteCsv(MustGenerate(family, parameters).problem)), expected.at(family))
        << Families()[static_cast<std::size_t>(family)].name;
  }
  GenerateParameters parameters;
  parameters.seed = 42;
  parameters.live = 12;
  const Problem live = MustGenerate(Family::kRandom, parameters).problem;
  EXPECT_EQ(HashOf(WriteCsv(live)), "fnv1a64:d48dcbae9aec86b0");
  EXPECT_EQ(HashOf(WriteCsv(MakeVariant(live, {42, 3}).value())), "fnv1a64:787a8db49fc99f32");
  EXPECT_EQ(HashOf(WriteCsv(KeepOnChip(live, 1 << 19, 42))), "fnv1a64:79886c19b119ad07");
}

}  // namespace
}  // namespace berth::internal
