#include "tools/lab/suites/inputs.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "base/try.h"
#include "berth/budget.h"
#include "berth/io.h"
#include "berth/place.h"
#include "tools/berth/checked.h"
#include "tools/berth/model.h"
#include "tools/berth/table.h"

namespace berth::lab {
namespace {

namespace fs = std::filesystem;

void FindLeastOf(SuiteInput& input, std::int64_t nodes) {
  Budget budget;
  budget.SetNodeLimit(nodes);
  PlaceOptions options;
  options.minimize = true;
  const auto answer = Place(input.problem, options, budget);
  if (!answer || !answer->best) {
    // Only pins that collide leave no plan, and ReadInputs() has turned these away.
    std::fputs("berth-lab: a valid table has no plan\n", stderr);
    std::abort();
  }
  cli::VerifyOrDie(input.problem, {}, std::nullopt, *answer->best);
  input.bound = std::max(input.bound, answer->height_bound);
  if (input.least == 0 || answer->best->height() < input.least)
    input.least = answer->best->height();
}

// Files as they are, folders as the models in them, in order of their names.
Result<std::vector<std::string>> FindGraphs(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      files.push_back(path);
      continue;
    }
    std::set<fs::path> found;
    for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
      const fs::path extension = it->path().extension();
      if (extension == ".onnx" || extension == ".json") found.insert(it->path());
    }
    if (error) return Fail(ErrorCode::kIo, path + ": " + error.message());
    std::erase_if(found, [&](const fs::path& file) {
      return file.extension() == ".json" &&
             found.contains(fs::path(file).replace_extension(".onnx"));
    });
    if (found.empty()) return Fail(ErrorCode::kIo, path + ": the folder holds no model");
    for (const fs::path& file : found) files.push_back(file.string());
  }
  return files;
}

constexpr std::string_view kBatchSuffix = "_b";

// "resnet18_b32": 32; of names that end otherwise, and where it is 0 or beyond 64 bits: none.
std::optional<std::int64_t> BatchOf(const std::string& name) {
  const std::size_t suffix = name.rfind(kBatchSuffix);
  if (suffix == std::string::npos) return std::nullopt;
  const char* const last = name.data() + name.size();
  std::int64_t batch = 0;
  const auto [end, error] =
      std::from_chars(name.data() + suffix + kBatchSuffix.size(), last, batch);
  if (error != std::errc() || end != last || batch < 1) return std::nullopt;
  return batch;
}

template <typename Input, typename Less>
std::vector<Input> Spread(std::vector<Input> inputs, std::size_t count, Less less) {
  std::stable_sort(inputs.begin(), inputs.end(), less);
  if (count >= inputs.size()) return inputs;
  std::vector<Input> chosen;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t last = inputs.size() - 1;
    chosen.push_back(std::move(inputs[count == 1 ? last / 2 : i * last / (count - 1)]));
  }
  return chosen;
}

}  // namespace

void FindLeast(std::vector<SuiteInput>& inputs, std::int64_t nodes, int jobs) {
  ForEach(inputs.size(), jobs, [&](std::size_t i) { FindLeastOf(inputs[i], nodes); });
}

Result<std::vector<SuiteInput>> ReadInputs(const std::string& family,
                                           const std::vector<std::string>& paths) {
  const auto files = BERTH_TRY(cli::FindTables(paths));
  std::vector<SuiteInput> inputs;
  for (const std::string& file : files) {
    auto loaded = BERTH_TRY(cli::Load({file, {}, {}, {}}));
    const auto collision = BERTH_TRY(cli::FindCollision(loaded.problem));
    if (collision) {
      return Fail(ErrorCode::kInvalidProblem, file + ": " + collision->sentence);
    }
    loaded.problem.capacity.reset();
    std::string name = fs::path(file).stem().string();
    if (const auto dot = name.find('.'); dot != std::string::npos && dot > 0) name.resize(dot);
    inputs.push_back({family, std::move(name), std::move(loaded.problem)});
  }
  return inputs;
}

Result<std::vector<GraphInput>> ReadGraphs(const std::vector<std::string>& paths,
                                           std::optional<int> element_bytes) {
  const auto files = BERTH_TRY(FindGraphs(paths));
  std::vector<GraphInput> inputs;
  for (const std::string& file : files) {
    cli::ModelArguments arguments;
    arguments.path = file;
    if (fs::path(file).extension() == ".onnx") arguments.alignment = 1;  // As the papers count.
    // Other files take no options of the importer.
    if (fs::path(file).extension() == ".onnx") arguments.onnx.element_bytes = element_bytes;
    auto loaded = BERTH_TRY(cli::LoadModel(arguments));
    GraphInput input;
    input.name = input.model = fs::path(file).stem().string();
    const bool trains = std::any_of(loaded.graph.operators.begin(), loaded.graph.operators.end(),
                                    [](const Operator& op) { return op.update; });
    input.group = trains ? "training" : "inference";
    if (const auto batch = BatchOf(input.name); trains && batch) {
      input.model.resize(input.name.rfind(kBatchSuffix));
      input.group = "batch " + std::to_string(*batch);
      input.batch = *batch;
    }
    input.graph = std::move(loaded.graph);
    inputs.push_back(std::move(input));
  }
  return inputs;
}

void MarkWeights(Graph& graph) {
  for (Tensor& tensor : graph.tensors) {
    const bool path = tensor.name.find_first_of(".:/") != std::string::npos;
    if (path && tensor.kind == TensorKind::kInput) tensor.kind = TensorKind::kParameter;
  }
}

SuiteInput GenerateInput(internal::Family family, const internal::GenerateParameters& parameters) {
  auto generated = internal::Generate(family, parameters);
  if (!generated) {
    std::fprintf(stderr, "berth-lab: %s\n", generated.error().message.c_str());
    std::abort();
  }
  std::string name;
  for (const internal::FamilyInfo& info : internal::Families()) {
    if (info.family == family) name = info.name;
  }
  SuiteInput input{
      name, name + "-" + std::to_string(parameters.buffers) + "-" + std::to_string(parameters.seed),
      std::move(generated->problem)};
  if (generated->plan) {
    cli::VerifyOrDie(input.problem, {}, std::nullopt,
                     PlanOf(input.problem, generated->plan->offsets));
    input.least = generated->plan->height;
  }
  input.problem.capacity.reset();
  return input;
}

GraphInput GenerateGraphInput(internal::GraphFamily family,
                              const internal::GraphParameters& parameters) {
  auto graph = internal::GenerateGraph(family, parameters);
  if (!graph) {
    std::fprintf(stderr, "berth-lab: %s\n", graph.error().message.c_str());
    std::abort();
  }
  std::string name;
  for (const internal::GraphFamilyInfo& info : internal::GraphFamilies()) {
    if (info.family == family) name = info.name;
  }
  for (const std::int64_t number :
       {parameters.operators, parameters.width, static_cast<std::int64_t>(parameters.seed)}) {
    name += "-" + std::to_string(number);
  }
  return {name, name, "generated", std::move(*graph)};
}

std::vector<SuiteInput> SpreadOut(std::vector<SuiteInput> inputs, std::size_t count) {
  return Spread(std::move(inputs), count, [](const SuiteInput& a, const SuiteInput& b) {
    return a.problem.buffers.size() < b.problem.buffers.size();
  });
}

std::vector<GraphInput> SpreadOut(std::vector<GraphInput> inputs, std::size_t count) {
  if (count >= inputs.size()) return inputs;
  return Spread(std::move(inputs), count, [](const GraphInput& a, const GraphInput& b) {
    return a.graph.operators.size() < b.graph.operators.size();
  });
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

}  // namespace berth::lab
