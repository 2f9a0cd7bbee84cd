#include "tests/cli/berth_process.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace berth::cli {

CommandTest::CommandTest() {
  std::string pattern = testing::TempDir() + "berth-cli-XXXXXX";
  EXPECT_NE(mkdtemp(pattern.data()), nullptr);
  folder_ = pattern;
}

CommandTest::~CommandTest() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::string CommandTest::Write(const std::string& name, const std::string& text) const {
  std::ofstream(Path(name), std::ios::binary) << text;
  return Path(name);
}

std::string CommandTest::Read(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

bool CommandTest::Exists(const std::string& path) { return std::filesystem::exists(path); }

std::string CommandTest::SmallTable() const {
  return Write("small.csv", "id,lower,upper,size\na,0,3,4\nb,3,5,4\nc,2,4,4\n");
}

ProcessResult RunOrFail(const std::string& program, const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  ProcessResult result = lab::RunProcess(words, 120);
  EXPECT_TRUE(result.exit_code.has_value()) << (result.timed_out ? "timed out" : "died") << "\n"
                                            << result.standard_error;
  return result;
}

ProcessResult Berth(const std::vector<std::string>& arguments) {
  return RunOrFail(BERTH_EXECUTABLE, arguments);
}

ProcessResult Shell(const std::string& script) {
  return lab::RunProcess({"sh", "-c", "BERTH='" BERTH_EXECUTABLE "'\n" + script}, 120);
}

void ExpectRefused(const ProcessResult& result, const std::string& words,
                   const std::string& program) {
  const std::string& text = result.standard_error;
  EXPECT_EQ(result.exit_code, 2) << text;
  EXPECT_EQ(result.standard_output, "");
  EXPECT_EQ(text.rfind(program + ": error: ", 0), 0u) << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
  EXPECT_NE(text.find(words), std::string::npos) << text << "lacks: " << words;
}

}  // namespace berth::cli
