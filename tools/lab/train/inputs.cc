#include "tools/lab/train/inputs.h"

#include <array>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/random.h"
#include "base/try.h"
#include "berth/file.h"
#include "berth/table_io.h"
#include "tools/generate/generate.h"
#include "tools/generate/on_chip.h"
#include "tools/lab/suites/inputs.h"
#include "tools/lab/suites/lab.h"

namespace berth::internal {
namespace {

constexpr std::array<int, kSizesOfOne> kPercent = {105, 110, 115, 125};
constexpr std::array<int, kSizesOfOne> kPercentOfTables = {100, 102, 105, 110};
constexpr std::array<int, kPartsOfTable> kFastMemories = {100, 25, 50, 75};
constexpr Bytes kLoad = Bytes{1} << 20;
constexpr std::uint64_t kFirstEvaluationSeed = std::uint64_t{1} << 32;

// Planted problems are the hard ones; networks as the generator makes them rarely are.
Family FamilyOf(std::int64_t problem) {
  constexpr std::array<Family, 8> kTurns = {Family::kPlanted, Family::kRandom,   Family::kPlanted,
                                            Family::kNetwork, Family::kPlanted,  Family::kRandom,
                                            Family::kPlanted, Family::kInference};
  return kTurns[static_cast<std::size_t>(problem % 8)];
}

}  // namespace

Input MakeInput(InputSet set, std::int64_t index) {
  BERTH_CHECK(index >= 0);
  const std::int64_t number = index / kSizesOfOne;
  const int percent = kPercent[static_cast<std::size_t>(index % kSizesOfOne)];
  const Family family = FamilyOf(number);
  GenerateParameters parameters;
  parameters.seed = static_cast<std::uint64_t>(number) +
                    (set == InputSet::kEvaluation ? kFirstEvaluationSeed : 0);
  Random random(parameters.seed);
  parameters.buffers = random.Uniform(60, 400);
  parameters.capacity = kLoad;
  if (family == Family::kPlanted) parameters.steps = random.Uniform(20, 200);
  if (family == Family::kRandom) parameters.steps = random.Uniform(50, 400);
  auto generated = Generate(family, parameters);
  BERTH_CHECK(generated.has_value());
  Input input;
  for (const FamilyInfo& info : Families()) {
    if (info.family == family) input.family = info.name;
  }
  input.percent = percent;
  input.name = input.family + " n=" + std::to_string(generated->problem.buffers.size()) +
               " seed=" + std::to_string(number) + " at " + std::to_string(percent) + " %";
  input.problem = std::move(generated->problem);
  input.problem.capacity = MaxLiveLoad(input.problem).load * percent / 100;
  return input;
}

Result<InputSource> InputSource::OfTables(const std::vector<std::string>& paths) {
  InputSource source(InputSet::kTraining);
  for (lab::SuiteInput& table : BERTH_TRY(lab::ReadInputs("tables", paths))) {
    for (const int percent : kFastMemories) {
      if (percent == 100) {
        source.parts_.push_back({table.name, table.problem});
        continue;
      }
      const Bytes memory = lab::PercentOf(MaxLiveLoad(table.problem).load, percent);
      Problem kept = KeepOnChip(table.problem, memory, 1);
      if (kept.buffers.empty()) continue;
      source.parts_.push_back(
          {table.name + " in a memory of " + std::to_string(percent) + " %", std::move(kept)});
    }
  }
  return source;
}

Input InputSource::Make(std::int64_t index) const {
  if (parts_.empty()) return MakeInput(set_, index);
  BERTH_CHECK(index >= 0 && index < *count());
  const Table& part = parts_[static_cast<std::size_t>(index / kSizesOfOne)];
  const int percent = kPercentOfTables[static_cast<std::size_t>(index % kSizesOfOne)];
  Input input{part.name + " at " + std::to_string(percent) + " %", "tables", percent, part.problem};
  input.problem.capacity = lab::PercentOf(MaxLiveLoad(part.problem).load, percent);
  return input;
}

std::string InputSource::Describe() const {
  if (parts_.empty()) {
    return set_ == InputSet::kTraining ? "generated training inputs"
                                       : "generated evaluation inputs";
  }
  std::string all;
  for (const Table& part : parts_) all += part.name + "\n" + WriteCsv(part.problem) + "\n";
  return std::to_string(parts_.size()) + " problems of tables, " + HashOf(all);
}

std::optional<std::int64_t> InputSource::count() const {
  if (parts_.empty()) return std::nullopt;
  return static_cast<std::int64_t>(parts_.size()) * kSizesOfOne;
}

}  // namespace berth::internal
