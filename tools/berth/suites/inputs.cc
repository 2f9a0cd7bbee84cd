#include "tools/berth/suites/inputs.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <thread>
#include <utility>

#include "berth/budget.h"
#include "berth/io.h"
#include "berth/place.h"
#include "tools/berth/common.h"

namespace berth::internal {

namespace {

void FindLeastOf(SuiteInput& input, std::int64_t nodes) {
  Budget budget;
  budget.SetNodeLimit(nodes);
  PlaceOptions options;
  options.minimize = true;
  const auto answer = Place(input.problem, options, budget);
  if (!answer || !answer->best) {
    // Only pins that collide leave no plan, and ReadInputs() has turned these away.
    std::fputs("berth bench: a valid table has no plan\n", stderr);
    std::abort();
  }
  VerifyOrDie(input.problem, *answer->best, /*within_capacity=*/false);
  input.bound = std::max(input.bound, answer->lower_bound);
  if (input.least == 0 || answer->best->height < input.least) input.least = answer->best->height;
}

}  // namespace

void FindLeast(std::vector<SuiteInput>& inputs, std::int64_t nodes, int jobs) {
  ForEach(inputs.size(), jobs, [&](std::size_t i) { FindLeastOf(inputs[i], nodes); });
}

Result<std::vector<SuiteInput>> ReadInputs(const std::string& family,
                                           const std::vector<std::string>& paths) {
  const auto files = FindTables(paths);
  if (!files) return tl::unexpected(files.error());
  std::vector<SuiteInput> inputs;
  for (const std::string& file : *files) {
    auto loaded = Load({file, {}, {}, {}});
    if (!loaded) return tl::unexpected(loaded.error());
    const auto collision = FindCollision(loaded->problem);
    if (!collision) return tl::unexpected(collision.error());
    if (*collision) {
      return Fail(ErrorCode::kInvalidProblem, file + ": " + (*collision)->sentence);
    }
    loaded->problem.capacity.reset();
    std::string name = std::filesystem::path(file).stem().string();
    if (const auto dot = name.find('.'); dot != std::string::npos && dot > 0) name.resize(dot);
    inputs.push_back({family, std::move(name), std::move(loaded->problem)});
  }
  return inputs;
}

SuiteInput GenerateInput(Family family, const GenerateParameters& parameters) {
  auto generated = Generate(family, parameters);
  if (!generated) {
    std::fprintf(stderr, "berth bench: %s\n", generated.error().message.c_str());
    std::abort();
  }
  std::string name;
  for (const FamilyInfo& info : Families()) {
    if (info.family == family) name = info.name;
  }
  SuiteInput input{
      name, name + "-" + std::to_string(parameters.buffers) + "-" + std::to_string(parameters.seed),
      std::move(generated->problem)};
  if (generated->plan) {
    VerifyOrDie(input.problem, *generated->plan, /*within_capacity=*/false);
    input.least = generated->plan->height;
  }
  input.problem.capacity.reset();
  return input;
}

std::vector<SuiteInput> SpreadOut(std::vector<SuiteInput> inputs, std::size_t count) {
  std::stable_sort(inputs.begin(), inputs.end(), [](const SuiteInput& a, const SuiteInput& b) {
    return a.problem.buffers.size() < b.problem.buffers.size();
  });
  if (count >= inputs.size()) return inputs;
  std::vector<SuiteInput> chosen;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t last = inputs.size() - 1;
    chosen.push_back(std::move(inputs[count == 1 ? last / 2 : i * last / (count - 1)]));
  }
  return chosen;
}

void ForEach(std::size_t count, int jobs, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next{0};
  const auto run = [&] {
    for (std::size_t i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::thread> helpers;
  for (int job = 1; job < jobs; ++job) helpers.emplace_back(run);
  run();
  for (std::thread& helper : helpers) helper.join();
}

}  // namespace berth::internal
