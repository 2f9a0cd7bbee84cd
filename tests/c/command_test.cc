// Through the C interface come the same plans, byte for byte, as from the command.

#include <berth/berth.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/cli/berth_process.h"

namespace berth {
namespace {

using cli::Berth;
namespace fs = std::filesystem;

// The files below `folder` of the data, or of examples/, with this extension.
std::vector<std::string> Files([[maybe_unused]] const std::vector<std::string>& folders,
                               const std::string& extension) {
  std::vector<std::string> roots = {std::string(BERTH_SOURCE_DIR) + "/examples"};
#ifndef BERTH_SANITIZED  // There, the examples alone: it would take an hour.
  if (const char* const data = std::getenv("BERTH_DATA")) {
    for (const std::string& folder : folders) roots.push_back(std::string(data) + "/" + folder);
  }
#endif
  std::vector<std::string> files;
  for (const std::string& root : roots) {
    if (!fs::is_directory(root)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(root)) {
      if (entry.path().extension() == extension) files.push_back(entry.path().string());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::string> Models() {
  std::vector<std::string> files = Files({"graphs/training"}, ".json");
  // Boards are in JSON, too.
  std::erase_if(files, [](const std::string& file) {
    return file.find("/boards/") != file.npos || file.find("/devices/") != file.npos;
  });
  const std::vector<std::string> onnx = Files({"graphs/inference"}, ".onnx");
  files.insert(files.end(), onnx.begin(), onnx.end());
  return files;
}

// What `call` gives as a text.
std::string TextOf(const std::function<berth_status(berth_text**, berth_error**)>& call) {
  berth_text* text = nullptr;
  berth_error* error = nullptr;
  EXPECT_EQ(call(&text, &error), BERTH_OK) << berth_error_message(error);
  std::string copy = berth_text_data(text);
  berth_text_free(text);
  berth_error_free(error);
  return copy;
}

class AsTheCommand : public cli::CommandTest {
 protected:
  AsTheCommand() : options_(berth_options_new()) {}
  ~AsTheCommand() override { berth_options_free(options_); }

  void Set(const char* name, const char* value) {
    ASSERT_EQ(berth_options_set(options_, name, value, nullptr), BERTH_OK) << name;
  }

  // Null, and a failure, where it cannot be read.
  berth_graph* ReadGraph(const std::string& path) {
    berth_graph* graph = nullptr;
    berth_error* error = nullptr;
    EXPECT_EQ(berth_graph_read(path.c_str(), options_, &graph, &error), BERTH_OK)
        << berth_error_message(error);
    berth_error_free(error);
    return graph;
  }

  // The file that the command writes with these arguments.
  std::string ByCommand(std::vector<std::string> arguments, const std::string& name) {
    const std::string path = Path(name);
    arguments.insert(arguments.end(), {"-o", path});
    const auto result = Berth(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.standard_error;
    return Read(path);
  }

  void ExpectSamePlan(const std::string& path, const std::vector<std::string>& flags) {
    berth_graph* const graph = ReadGraph(path);
    ASSERT_NE(graph, nullptr);
    berth_plan* plan = nullptr;
    berth_error* error = nullptr;
    ASSERT_EQ(berth_plan_graph(graph, options_, &plan, &error), BERTH_OK)
        << berth_error_message(error);
    berth_graph_free(graph);
    const std::string ours = TextOf(
        [&](berth_text** text, berth_error** e) { return berth_plan_to_json(plan, text, e); });
    berth_plan_free(plan);
    std::vector<std::string> arguments = {"plan", path};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    EXPECT_EQ(ours, ByCommand(arguments, "plan.json"));
  }

  berth_options* const options_;
};

TEST_F(AsTheCommand, Tables) {
  Set("node_limit", "3000");
  const auto files = Files({"buffers/challenging", "buffers/models"}, ".csv");
  ASSERT_GE(files.size(), 4U);
  for (const std::string& path : files) {
    SCOPED_TRACE(path);
    berth_problem* problem = nullptr;
    berth_plan* plan = nullptr;
    berth_error* error = nullptr;
    ASSERT_EQ(berth_problem_read(path.c_str(), options_, &problem, &error), BERTH_OK)
        << berth_error_message(error);
    ASSERT_EQ(berth_place_problem(problem, options_, &plan, &error), BERTH_OK)
        << berth_error_message(error);
    berth_problem_free(problem);
    for (const bool csv : {false, true}) {
      const std::string ours = TextOf([&](berth_text** text, berth_error** e) {
        return csv ? berth_plan_to_csv(plan, text, e) : berth_plan_to_json(plan, text, e);
      });
      EXPECT_EQ(ours,
                ByCommand({"place", path, "--node-limit", "3000"}, csv ? "plan.csv" : "plan.json"));
    }
    berth_plan_free(plan);
  }
}

TEST_F(AsTheCommand, Graphs) {
  Set("node_limit", "2000");
  for (const std::string& path : Models()) {
    SCOPED_TRACE(path);
    ExpectSamePlan(path, {"--node-limit", "2000"});
  }
}

TEST_F(AsTheCommand, GraphsWithinABudget) {
  Set("node_limit", "500");
  Set("budget", "MH");
  for (const std::string& path : Models()) {
    SCOPED_TRACE(path);
    ExpectSamePlan(path, {"--node-limit", "500", "--budget", "MH"});
  }
}

TEST_F(AsTheCommand, ModelsHoweverTheyAreRead) {
  const std::string path = std::string(BERTH_SOURCE_DIR) + "/examples/cells.onnx";
  ExpectSamePlan(path, {});
  Set("element_bytes", "1");
  Set("alignment", "64");
  ExpectSamePlan(path, {"--element-bytes", "1", "--alignment", "64"});
  Set("in_place", "on");
  Set("fuse", "on");
  Set("count", "all");
  Set("order", "greedy");
  Set("minimize", "on");
  Set("seed", "7");
  ExpectSamePlan(path, {"--element-bytes", "1", "--alignment", "64", "--in-place", "--fuse",
                        "--count", "all", "--order", "greedy", "--minimize", "--seed", "7"});
}

// Copies between memories too, and the pictures and traces of them.
TEST_F(AsTheCommand, SeveralMemories) {
  const std::string path = std::string(BERTH_SOURCE_DIR) + "/examples/cells.onnx";
  const std::string device = std::string(BERTH_SOURCE_DIR) + "/examples/devices/cortex-m7.json";
  const std::string fast = "tcm=48KiB@8GB/s";
  const std::string slow = "dram@500MB/s";
  std::ostringstream described;
  described << std::ifstream(device).rdbuf();
  Set("memory", fast.c_str());
  Set("memory", slow.c_str());
  Set("order", "program");
  std::vector<std::string> flags = {"--memory", fast, "--memory", slow, "--order", "program"};
  ExpectSamePlan(path, flags);
  Set("may_move", "on");
  flags.emplace_back("--may-move");
  ExpectSamePlan(path, flags);
  Set("device", described.str().c_str());
  Set("prefetch", "on");
  Set("copy_latency", "300");
  flags.insert(flags.end(), {"--device", device, "--prefetch", "--copy-latency", "300ns"});
  ExpectSamePlan(path, flags);

  berth_graph* const graph = ReadGraph(path);
  berth_plan* plan = nullptr;
  ASSERT_EQ(berth_plan_graph(graph, options_, &plan, nullptr), BERTH_OK);
  berth_graph_free(graph);
  EXPECT_GT(berth_plan_copy_count(plan), 0U);
  std::vector<std::string> arguments = {"plan",           path,      "--svg",
                                        Path("plan.svg"), "--trace", Path("trace.json")};
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  ASSERT_EQ(Berth(arguments).exit_code, 0);
  EXPECT_EQ(
      TextOf([&](berth_text** text, berth_error** e) { return berth_plan_to_svg(plan, text, e); }),
      Read(Path("plan.svg")));
  EXPECT_EQ(TextOf([&](berth_text** text, berth_error** e) {
              return berth_plan_to_trace(plan, text, e);
            }),
            Read(Path("trace.json")));
  berth_plan_free(plan);
}

// A struct of the interface that `call` fills.
template <typename Struct, typename Call>
Struct Filled(Call call) {
  Struct filled = {};
  filled.struct_size = sizeof filled;
  berth_error* error = nullptr;
  EXPECT_EQ(call(&filled, &error), BERTH_OK) << berth_error_message(error);
  berth_error_free(error);
  return filled;
}

using Json = nlohmann::json;

// A change as the command lists it.
Json ChangeJson(const berth_change& change) {
  const auto side = [](std::int64_t start, std::int64_t end, std::int64_t size, std::int64_t offset,
                       const char* memory) {
    Json json = {{"start", start}, {"end", end}, {"size", size}, {"offset", offset}};
    if (*memory != '\0') json["memory"] = memory;
    return json;
  };
  const Json before = side(change.start_before, change.end_before, change.size_before,
                           change.offset_before, change.memory_before);
  const Json after = side(change.start_after, change.end_after, change.size_after,
                          change.offset_after, change.memory_after);
  if (change.in_before != 0 && change.in_after != 0) {
    return {{"id", change.id}, {"before", before}, {"after", after}};
  }
  Json json = change.in_after != 0 ? after : before;
  json["id"] = change.id;
  return json;
}

// Everything that the command says of two plans, in its words.
Json ComparisonJson(const berth_comparison* comparison) {
  const auto diff = Filled<berth_diff>(
      [&](auto* out, auto** e) { return berth_comparison_summary(comparison, out, e); });
  Json json = {{"same_order", diff.same_order != 0}};
  json["avoidable_traffic"] = {{"before", diff.traffic_before}, {"after", diff.traffic_after}};
  if (diff.cost_after >= 0) {
    json["cost"] = {{"before", diff.cost_before}, {"after", diff.cost_after}};
    json["unplaced"] = {{"before", diff.unplaced_before}, {"after", diff.unplaced_after}};
    json["other_memory"] = diff.other_memory;
    json["comparable"] = diff.same_cost_kind != 0;
  } else {
    json["height"] = {{"before", diff.height_before}, {"after", diff.height_after}};
    json["peak"] = {{"before", diff.peak_before}, {"after", diff.peak_after}};
  }
  json["buffers"] = {diff.unchanged, diff.added, diff.removed, diff.grown,
                     diff.shrunk,    diff.moved, diff.retimed};
  for (const char* const list : {"changed", "new", "gone", "memories", "transfers"}) {
    json[list] = Json::array();
  }
  for (std::size_t i = 0; i < berth_comparison_change_count(comparison); ++i) {
    const auto change = Filled<berth_change>(
        [&](auto* out, auto** e) { return berth_comparison_change(comparison, i, out, e); });
    const bool both = change.in_before != 0 && change.in_after != 0;
    json[both ? "changed" : change.in_after != 0 ? "new" : "gone"].push_back(ChangeJson(change));
  }
  for (std::size_t i = 0; i < berth_comparison_memory_count(comparison); ++i) {
    const auto memory = Filled<berth_memory_change>(
        [&](auto* out, auto** e) { return berth_comparison_memory(comparison, i, out, e); });
    json["memories"].push_back({memory.name, memory.in_before != 0, memory.in_after != 0,
                                memory.capacity_before, memory.capacity_after, memory.height_before,
                                memory.height_after, memory.peak_before, memory.peak_after});
  }
  for (std::size_t i = 0; i < berth_comparison_transfer_count(comparison); ++i) {
    const auto transfer = Filled<berth_transfer>(
        [&](auto* out, auto** e) { return berth_comparison_transfer(comparison, i, out, e); });
    json["transfers"].push_back({{"from", transfer.from_memory},
                                 {"to", transfer.to_memory},
                                 {"buffers", transfer.buffers},
                                 {"bytes", transfer.bytes}});
  }
  return json;
}

// The same of what the command prints.
Json PrintedJson(const std::string& text) {
  const Json printed = Json::parse(text);
  const auto pair = [&](const char* key) -> Json {
    return {{"before", printed.at(key).at("before")}, {"after", printed.at(key).at("after")}};
  };
  Json json = {{"same_order", printed.at("same_order")},
               {"avoidable_traffic", pair("avoidable_traffic")}};
  const Json& buffers = printed.at("buffers");
  json["memories"] = Json::array();
  json["transfers"] = Json::array();
  if (printed.contains("memories")) {
    json["cost"] = pair("cost");
    json["unplaced"] = pair("unplaced");
    json["other_memory"] = buffers.at("other_memory");
    json["comparable"] = !printed.at("cost").at("delta").is_null();
    for (const Json& memory : printed.at("memories")) {
      const std::string in = memory.at("in");
      Json row = {memory.at("name"), in != "after", in != "before"};
      for (const char* const key : {"capacity", "height", "peak"}) {
        for (const char* const side : {"before", "after"}) {
          const bool there = in == "both" || in == side;
          const Json& value = memory.at(key).at(side);
          row.push_back(!there || value.is_null() ? Json(-1) : value);
        }
      }
      json["memories"].push_back(std::move(row));
    }
    json["transfers"] = printed.at("transfers");
  } else {
    json["height"] = pair("height");
    json["peak"] = pair("peak");
  }
  json["buffers"] = Json::array();
  for (const char* const key :
       {"unchanged", "new", "gone", "grown", "shrunk", "moved", "retimed"}) {
    json["buffers"].push_back(buffers.at(key));
  }
  for (const char* const list : {"changed", "new", "gone"}) json[list] = printed.at(list);
  return json;
}

TEST_F(AsTheCommand, Differences) {
  const std::string model = std::string(BERTH_SOURCE_DIR) + "/examples/cells.onnx";
  const std::string board = std::string(BERTH_SOURCE_DIR) + "/examples/boards/imxrt1170.json";
  const auto plan = [&](const std::string& name, std::vector<std::string> flags) {
    flags.insert(flags.begin(), {"plan", model});
    flags.insert(flags.end(), {"--node-limit", "200"});
    return std::pair(ByCommand(flags, name), Path(name));
  };
  const auto expect_same = [&](const auto& before, const auto& after) {
    SCOPED_TRACE(before.second + " " + after.second);
    berth_comparison* comparison = nullptr;
    ASSERT_EQ(
        berth_compare_plans(before.first.data(), before.first.size(), nullptr, after.first.data(),
                            after.first.size(), nullptr, &comparison, nullptr),
        BERTH_OK);
    const auto printed = Berth({"diff", before.second, after.second, "--json"});
    EXPECT_EQ(printed.exit_code, 0) << printed.standard_error;
    EXPECT_EQ(ComparisonJson(comparison), PrintedJson(printed.standard_output));
    EXPECT_GT(berth_comparison_change_count(comparison), 0U);
    EXPECT_NE(TextOf([&](berth_text** text, berth_error** e) {
                return berth_comparison_to_page(comparison, text, e);
              }).find("berth-page"),
              std::string::npos);
    berth_comparison_free(comparison);
  };
  const auto one = plan("one.json", {});
  expect_same(one, plan("budget.json", {"--budget", "MR"}));
  const auto several = plan("board.json", {"--memories", board});
  const auto small =
      plan("small.json", {"--memory", "dtcm=96KiB@4GB/s", "--memory", "dram@200MB/s"});
  expect_same(several, small);
  expect_same(small, several);
  expect_same(several, plan("moves.json", {"--memories", board, "--may-move"}));
  // Tables, of which the options say the memories.
  const std::string table = std::string(BERTH_SOURCE_DIR) + "/examples/inference_mobilenet_v2.csv";
  const std::vector<std::string> memories = {"--memory", "sram=320KiB@960MB/s", "--memory",
                                             "psram@40MB/s"};
  std::vector<std::string> flags = {"place", table};
  flags.insert(flags.end(), memories.begin(), memories.end());
  const std::pair first(ByCommand(flags, "first.csv"), Path("first.csv"));
  Set("memory", "sram=320KiB@960MB/s");
  Set("memory", "psram@40MB/s");
  berth_comparison* comparison = nullptr;
  ASSERT_EQ(berth_compare_plans_in_memories(first.first.data(), first.first.size(), nullptr,
                                            several.first.data(), several.first.size(), nullptr,
                                            options_, &comparison, nullptr),
            BERTH_OK);
  flags = {"diff", first.second, several.second, "--json"};
  flags.insert(flags.end(), memories.begin(), memories.end());
  const auto printed = Berth(flags);
  EXPECT_EQ(ComparisonJson(comparison), PrintedJson(printed.standard_output));
  berth_comparison_free(comparison);
  comparison = nullptr;
  // One memory and several have nothing to compare.
  berth_error* error = nullptr;
  EXPECT_EQ(berth_compare_plans(one.first.data(), one.first.size(), "one.json", small.first.data(),
                                small.first.size(), "small.json", &comparison, &error),
            BERTH_INVALID_PLAN);
  EXPECT_NE(std::string(berth_error_message(error)).find("small.json is a plan for several"),
            std::string::npos);
  berth_error_free(error);
}

TEST_F(AsTheCommand, Orders) {
  Set("node_limit", "2000");
  for (const std::string& path : Models()) {
    SCOPED_TRACE(path);
    berth_graph* const graph = ReadGraph(path);
    berth_plan* plan = nullptr;
    ASSERT_EQ(berth_schedule_graph(graph, options_, &plan, nullptr), BERTH_OK);
    std::size_t count = 0;
    const std::size_t* const order = berth_plan_order(plan, &count);
    std::vector<std::string> names;
    for (std::size_t s = 0; s < count; ++s) {
      berth_operator op;
      op.struct_size = sizeof op;
      ASSERT_EQ(berth_graph_operator(graph, order[s], &op, nullptr), BERTH_OK);
      names.emplace_back(op.name);
    }
    berth_graph_free(graph);
    const auto result = Berth({"schedule", path, "--node-limit", "2000", "--json"});
    const auto json = nlohmann::json::parse(result.standard_output);
    EXPECT_EQ(json.at("order").get<std::vector<std::string>>(), names);
    berth_plan_free(plan);
  }
}

// Rows without the seconds that they took.
std::vector<std::string> WithoutSeconds(const std::string& csv) {
  std::vector<std::string> rows;
  std::istringstream lines(csv);
  std::string line;
  std::size_t column = 0;
  while (std::getline(lines, line)) {
    std::vector<std::string> fields;
    std::istringstream in(line);
    std::string field;
    while (std::getline(in, field, ',')) fields.push_back(field);
    if (rows.empty()) {
      column = static_cast<std::size_t>(std::find(fields.begin(), fields.end(), "seconds") -
                                        fields.begin());
      EXPECT_LT(column, fields.size());
    }
    std::string row;
    for (std::size_t i = 0; i < fields.size(); ++i) row += (i == column ? "" : fields[i]) + ",";
    rows.push_back(row);
  }
  return rows;
}

// Not all models: the search for their named budgets has no limit.
TEST_F(AsTheCommand, Sweeps) {
  Set("node_limit", "100");
  Set("points", "3");
  std::vector<std::string> models = Files({"graphs/inference"}, ".onnx");
  models.resize(std::min<std::size_t>(models.size(), 6));
  for (const std::string& path : models) {
    SCOPED_TRACE(path);
    berth_graph* const graph = ReadGraph(path);
    berth_sweep* sweep = nullptr;
    berth_error* error = nullptr;
    ASSERT_EQ(berth_sweep_graph(graph, options_, &sweep, &error), BERTH_OK)
        << berth_error_message(error);
    berth_graph_free(graph);
    const std::string ours = TextOf(
        [&](berth_text** text, berth_error** e) { return berth_sweep_to_csv(sweep, text, e); });
    berth_sweep_free(sweep);
    EXPECT_EQ(WithoutSeconds(ours),
              WithoutSeconds(ByCommand({"sweep", path, "--points", "3", "--node-limit", "100"},
                                       fs::path(path).stem().string() + ".csv")));
  }
}

TEST_F(AsTheCommand, SweepsOfOneMemory) {
  const std::string root = BERTH_SOURCE_DIR "/examples";
  const std::string path = root + "/cells.onnx";
  Set("memory", "sram@1GB/s");
  Set("memory", "dram@100MB/s");
  Set("budgets", "512KiB,128KiB");
  Set("order", "program");
  berth_graph* const graph = ReadGraph(path);
  for (const bool may_move : {false, true}) {
    Set("may_move", may_move ? "on" : "off");
    berth_memory_sweep* sweep = nullptr;
    berth_error* error = nullptr;
    ASSERT_EQ(berth_sweep_memory(graph, options_, "sram", &sweep, &error), BERTH_OK)
        << berth_error_message(error);
    const std::string ours = TextOf([&](berth_text** text, berth_error** e) {
      return berth_memory_sweep_to_csv(sweep, text, e);
    });
    berth_memory_sweep_free(sweep);
    std::vector<std::string> arguments = {
        "sweep",    path,   "--memory", "sram@1GB/s",    "--memory",       "dram@100MB/s",
        "--memory", "sram", "--budget", "512KiB,128KiB", "--program-order"};
    if (may_move) arguments.emplace_back("--may-move");
    EXPECT_EQ(WithoutSeconds(ours), WithoutSeconds(ByCommand(arguments, "sram.csv")));
  }
  berth_graph_free(graph);
}

}  // namespace
}  // namespace berth
