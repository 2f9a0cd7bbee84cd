// The keys of what --json prints and of plan files are those that docs/formats explains, and figures
// of tensors of known size alone are called so.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "berth/graph.h"
#include "berth/io.h"
#include "tests/cli/berth_process.h"
#include "tests/graph/build.h"

namespace berth::cli {
namespace {

using Json = nlohmann::json;

// All keys of `json`, but the names of options and dimensions.
void AddKeys(const Json& json, std::set<std::string>& keys) {
  if (json.is_array()) {
    for (const Json& item : json) AddKeys(item, keys);
  }
  if (!json.is_object()) return;
  for (const auto& [key, value] : json.items()) {
    keys.insert(key);
    if (key != "options" && key != "schedule_options" && key != "dimensions") AddKeys(value, keys);
  }
}

// What stands between backquotes in `text`.
std::set<std::string> Quoted(const std::string& text) {
  std::set<std::string> words;
  for (std::size_t at = text.find('`'); at != std::string::npos; at = text.find('`', at)) {
    const std::size_t end = std::min(text.find('`', at + 1), text.size());
    words.insert(text.substr(at + 1, end - at - 1));
    at = end + 1;
  }
  return words;
}

std::string Document(const std::string& name) {
  const auto text = ReadFile(BERTH_SOURCE_DIR "/docs/formats/" + name);
  EXPECT_TRUE(text.has_value()) << text.error().message;
  return text.value_or("");
}

class JsonTest : public CommandTest {
 protected:
  [[nodiscard]] Json Run(std::vector<std::string> arguments) {
    arguments.emplace_back("--json");
    const ProcessResult result = Berth(arguments);
    const Json json = Json::parse(result.standard_output, nullptr, /*allow_exceptions=*/false);
    EXPECT_FALSE(json.is_discarded()) << result.standard_error;
    AddKeys(json, keys_);
    return json;
  }
  // One tensor of two has no known size.
  [[nodiscard]] std::string Unsized() const {
    Graph graph = internal::OneSpill().graph;
    graph.tensors[1].bytes = 0;
    graph.tensors[1].unplanned = "nobody knows";
    return Write("unsized.json", WriteGraphJson(graph));
  }

  std::set<std::string> keys_;
};

TEST_F(JsonTest, DocumentsHaveEveryKeyAndNoOther) {
  const std::string model = Write("model.json", WriteGraphJson(internal::OneSpill().graph));
  const std::string pinned =
      Write("pins.csv", "id,lower,upper,size,offset\np,0,4,4,0\nq,0,4,4,2\nr,0,4,4,\n");
  for (const std::string& table : {SmallTable(), pinned}) {
    static_cast<void>(Run({"place", table, "--capacity", "6", "--proof", Path("proof.txt")}));
    static_cast<void>(Run({"explain", table, "--capacity", "6"}));
    static_cast<void>(Run({"info", table}));
  }
  const std::string snapshots = BERTH_SOURCE_DIR "/tests/snapshot/files/";
  static_cast<void>(Run({"info", snapshots + "small_4.pickle"}));
  static_cast<void>(Run({"explain", snapshots + "small_4.pickle"}));
  static_cast<void>(Run({"diff", snapshots + "pools.pickle", snapshots + "small_4.pickle"}));
  static_cast<void>(Run({"place", BERTH_SOURCE_DIR "/tests/xla/small-buffer-assignment.txt"}));
  const std::string several =
      Write("several.txt", "MODEL a\nALLOC 1 9\nFREE 1\nMODEL b\nALLOC 1 5\nFREE 1\n");
  static_cast<void>(Run({"place", several}));
  static_cast<void>(Run({"info", several}));
  static_cast<void>(Run({"place", SmallTable(), "--memory", "a=7@8GB/s", "--memory", "b=4"}));
  ASSERT_EQ(Berth({"place", SmallTable(), "--memory", "a@8GB/s", "-o", Path("a.json")}).exit_code,
            0);
  AddKeys(Json::parse(Read(Path("a.json"))), keys_);
  static_cast<void>(Run({"check", SmallTable(), Path("a.json")}));
  ASSERT_EQ(Berth({"place", SmallTable(), "--memory", "a=5@8GB/s", "--memory", "b@1GB/s", "-o",
                   Path("ab.json")})
                .exit_code,
            0);
  static_cast<void>(Run({"diff", Path("a.json"), Path("ab.json"), "--max-growth", "1%"}));
  static_cast<void>(Run({"info", SmallTable(), "--memory", "a@8GB/s"}));
  static_cast<void>(Run({"explain", SmallTable(), "--memory", "a=5@8GB/s", "--memory", "b@1GB/s"}));
  static_cast<void>(
      Run({"plan", model, "--memory", "a=10@8GB/s", "--memory", "b@1GB/s", "--may-move"}));
  static_cast<void>(
      Run({"plan", model, "--memory", "a=10@8GB/s", "--memory", "b@1GB/s", "--prefetch", "--device",
           std::string(BERTH_SOURCE_DIR) + "/examples/devices/cortex-m7.json"}));
  static_cast<void>(Run({"schedule", model}));
  static_cast<void>(Run({"plan", model, "--capacity", "11"}));
  static_cast<void>(Run({"plan", Unsized()}));
  for (const std::string budget : {"MR", "MP"}) {
    static_cast<void>(Run({"plan", model, "--budget", budget, "--order", "program"}));
    ASSERT_EQ(Berth({"plan", model, "--budget", budget, "-o", Path(budget + ".json")}).exit_code,
              0);
    AddKeys(Json::parse(Read(Path(budget + ".json"))), keys_);
    static_cast<void>(Run({"check", model, Path(budget + ".json"), "--execute"}));
  }
  static_cast<void>(Run({"diff", Path("MR.json"), Path("MP.json"), "--max-growth", "1%"}));
  static_cast<void>(Run({"plan", model, "--budget", "MR", "--recompute"}));
  ASSERT_EQ(
      Berth({"plan", model, "--budget", "MR", "--recompute", "-o", Path("again.json")}).exit_code,
      0);
  AddKeys(Json::parse(Read(Path("again.json"))), keys_);
  static_cast<void>(Run({"check", model, Path("again.json")}));
  const std::string linked = Write("linked.json", R"({"format": "berth-device",
      "format_version": 1, "operations_per_second": 1, "bandwidth": "1GB/s", "launch_ns": 100,
      "link": {"out": "1GB/s", "in": "1GB/s"}})");
  ASSERT_EQ(Berth({"plan", model, "--budget", "MR", "--recompute", "--device", linked, "-o",
                   Path("joint.json")})
                .exit_code,
            0);
  AddKeys(Json::parse(Read(Path("joint.json"))), keys_);
  static_cast<void>(Run({"check", model, Path("joint.json"), "--device", linked}));
  static_cast<void>(Run({"plan", model, "--budget", "MR", "--device", linked}));
  static_cast<void>(Run({"diff", Path("MP.json"), Path("again.json")}));
  static_cast<void>(Run({"compare", model}));
  std::string broken = Read(Path("MP.json"));
  for (std::size_t at = 0; (at = broken.find("\"offset\":", at)) != std::string::npos;) {
    at += 9;
    broken.replace(at, broken.find_first_of(",}", at) - at, "0");
  }
  static_cast<void>(Run({"check", model, Write("broken.json", broken), "--execute"}));

  const std::string documents = Document("json.md") + Document("plan.md") + Document("memories.md");
  const std::set<std::string> documented = Quoted(documents);
  for (const std::string& key : keys_) {
    EXPECT_TRUE(documented.contains(key)) << "docs/formats says nothing of " << key;
  }
  const std::string json = Document("json.md");
  for (std::size_t at = json.find("\n| `"); at != std::string::npos; at = json.find("\n| `", at)) {
    const std::size_t end = json.find(" | ", at + 3);
    for (const std::string& key : Quoted(json.substr(at, end - at))) {
      // Printed where a build lacks a solver.
      EXPECT_TRUE(key == "olla_note" || keys_.contains(key)) << "nothing prints " << key;
    }
    at = end;
  }
}

TEST_F(JsonTest, FiguresOfSizedTensorsAreCalledSo) {
  const std::string model = Unsized();
  const Json sized = Run({"plan", model, "--allow-unknown"});
  EXPECT_FALSE(sized.contains("of_sized_tensors"));
  const Json plan = Run({"plan", model, "--capacity", "1"});
  EXPECT_EQ(plan.at("outcome"), "infeasible");  // Even without the others.
  for (const char* const key : {"height", "peak", "program_order_peak", "at_peak"}) {
    EXPECT_EQ(plan.at(key), nullptr) << key;
    EXPECT_EQ(plan.at("of_sized_tensors").at(key), sized.at(key)) << key;
  }
  EXPECT_EQ(plan.at("height_bound"), sized.at("height_bound"));
  EXPECT_GT(plan.at("missing").at("at_least"), 0);
  EXPECT_EQ(plan.at("missing").at("at_most"), nullptr);
  const Json spilled = Run({"plan", model, "--budget", "MR"});
  EXPECT_EQ(spilled.at("traffic"), nullptr);
  EXPECT_EQ(spilled.at("named_budgets"), nullptr);
  EXPECT_TRUE(spilled.at("of_sized_tensors").at("traffic").is_object());
  const Json order = Run({"compare", model}).at("orders").at(0);
  EXPECT_EQ(order.at("peak"), nullptr);
  EXPECT_GT(order.at("of_sized_tensors").at("peak"), 0);
}

}  // namespace
}  // namespace berth::cli
