// The tables in tests/bad_input/, each with the fault in its name, and those in tests/good_input/,
// which all have the same contents.

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "berth/io.h"

namespace berth {
namespace {

std::string Text(const std::filesystem::path& path) {
  const auto text = ReadFile(path.string());
  EXPECT_TRUE(text.has_value()) << text.error().message;
  return text.value_or("");
}

std::set<std::filesystem::path> Tables(const std::filesystem::path& folder) {
  std::set<std::filesystem::path> tables;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().filename() != "expected.txt") tables.insert(entry.path());
  }
  return tables;
}

TEST(InputFilesTest, BadFilesAreRefusedWithTheExpectedSentence) {
  const std::filesystem::path folder = BERTH_SOURCE_DIR "/tests/bad_input";
  // Each line is a message that begins with the name of the file.
  std::map<std::string, std::string> expected;
  const std::string lines = Text(folder / "expected.txt");
  for (std::size_t begin = 0; begin < lines.size();) {
    const std::size_t end = lines.find('\n', begin);
    ASSERT_NE(end, std::string::npos);
    const std::string line = lines.substr(begin, end - begin);
    ASSERT_TRUE(expected.emplace(line.substr(0, line.find(':')), line).second) << line;
    begin = end + 1;
  }
  for (const auto& path : Tables(folder)) {
    const std::string name = path.filename().string();
    const auto table = ReadCsv(Text(path), name);
    EXPECT_FALSE(table.has_value()) << name;
    EXPECT_EQ(table ? "nothing wrong with " + name : table.error().message, expected[name]);
    expected.erase(name);
  }
  for (const auto& [name, line] : expected) ADD_FAILURE() << "no such file: " << line;
}

TEST(InputFilesTest, GoodFilesAllSayTheSame) {
  const std::filesystem::path folder = BERTH_SOURCE_DIR "/tests/good_input";
  Problem expected;
  expected.buffers = {
      {"a", 0, 4, 64, 16, 32, {}, {}},
      {"b", -5, 9, 3, 1, {}, 7, {{-5, -3, {}}, {0, 2, Window{1, 3}}, {2, 4, {}}}},
      {"gr\xc3\xb6\xc3\x9f"
       "e 3",
       2,
       4,
       1,
       1,
       {},
       {},
       {}},
  };
  const auto tables = Tables(folder);
  EXPECT_GE(tables.size(), 10u);
  for (const auto& path : tables) {
    const auto table = ReadCsv(Text(path), path.filename().string());
    ASSERT_TRUE(table.has_value()) << table.error().message;
    EXPECT_EQ(table->problem, expected) << path;
  }
}

}  // namespace
}  // namespace berth
