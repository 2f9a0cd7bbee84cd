#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "berth/io.h"

namespace berth {
namespace {

namespace fs = std::filesystem;

class FileTest : public testing::Test {
 protected:
  FileTest() {
    std::string name = testing::TempDir() + "berth_file_test_XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~FileTest() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string Path(const std::string& name) const { return folder_ / name; }
  [[nodiscard]] std::size_t CountFiles() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  static void ExpectFailure(const Result<void>& result, const std::string& message) {
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().code, ErrorCode::kIo);
    EXPECT_EQ(result.error().message, message);
  }

 private:
  fs::path folder_;
};

TEST_F(FileTest, ReadsWhatItWrote) {
  const std::string binary("a\0b\r\n\xff", 6);
  for (const std::string& text : {std::string(), binary, std::string(200000, 'x')}) {
    ASSERT_TRUE(WriteFile(Path("f"), text).has_value());
    EXPECT_EQ(ReadFile(Path("f")), text);
  }
  EXPECT_EQ(CountFiles(), 1u);  // No temporary file remains.
}

TEST_F(FileTest, NamesFileAndReason) {
  const auto missing = ReadFile(Path("missing"));
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().code, ErrorCode::kIo);
  EXPECT_EQ(missing.error().message,
            Path("missing") + ": cannot be read: No such file or directory");
  EXPECT_EQ(ReadFile(Path("")).error().message, Path("") + ": cannot be read: Is a directory");
  ExpectFailure(WriteFile(Path("no/f"), "x"),
                Path("no/f") + ": cannot be written: No such file or directory");
  fs::create_directory(Path("folder"));
  ExpectFailure(WriteFile(Path("folder"), "x"),
                Path("folder") + ": cannot be written: Is a directory");
  ExpectFailure(WriteFile("", "x"), ": cannot be written: No such file or directory");
}

TEST_F(FileTest, KeepsTheModeOfAFile) {
  ASSERT_TRUE(WriteFile(Path("f"), "1").has_value());
  ASSERT_EQ(chmod(Path("f").c_str(), 0640), 0);
  ASSERT_TRUE(WriteFile(Path("f"), "2").has_value());
  EXPECT_EQ(fs::status(Path("f")).permissions(), fs::perms(0640));
}

TEST_F(FileTest, NewFilesHonourTheMask) {
  const mode_t mask = umask(027);
  ASSERT_TRUE(WriteFile(Path("f"), "1").has_value());
  umask(mask);
  EXPECT_EQ(fs::status(Path("f")).permissions(), fs::perms(0640));
}

TEST_F(FileTest, RejectsWriteProtectedFiles) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write everything";
  ASSERT_TRUE(WriteFile(Path("f"), "1").has_value());
  ASSERT_EQ(chmod(Path("f").c_str(), 0440), 0);
  ExpectFailure(WriteFile(Path("f"), "2"), Path("f") + ": cannot be written: Permission denied");
  EXPECT_EQ(ReadFile(Path("f")), "1");
}

TEST_F(FileTest, WritesThroughLinks) {
  ASSERT_TRUE(WriteFile(Path("f"), "1").has_value());
  fs::create_symlink(Path("f"), Path("link"));
  ASSERT_TRUE(WriteFile(Path("link"), "2").has_value());
  EXPECT_TRUE(fs::is_symlink(Path("link")));
  EXPECT_EQ(ReadFile(Path("f")), "2");
  fs::create_symlink(Path("new"), Path("dangling"));
  ASSERT_TRUE(WriteFile(Path("dangling"), "3").has_value());
  EXPECT_EQ(ReadFile(Path("new")), "3");
}

TEST_F(FileTest, TakesTheLongestNames) {
  const std::string path = Path(std::string(255, 'n'));
  ASSERT_TRUE(WriteFile(path, "1").has_value());
  EXPECT_EQ(ReadFile(path), "1");
}

TEST_F(FileTest, WritesToDevicesAndPipes) {
  EXPECT_TRUE(WriteFile("/dev/null", "x").has_value());
  EXPECT_FALSE(fs::is_regular_file("/dev/null"));
  EXPECT_EQ(ReadFile("/dev/null"), "");
  ASSERT_EQ(mkfifo(Path("pipe").c_str(), 0600), 0);
  Result<std::string> seen;
  std::thread reader([&] { seen = ReadFile(Path("pipe")); });
  const std::string text(300000, 'p');
  EXPECT_TRUE(WriteFile(Path("pipe"), text).has_value());
  reader.join();
  EXPECT_EQ(seen, text);
}

TEST_F(FileTest, SaysThatADiskIsFull) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  ExpectFailure(WriteFile("/dev/full", "x"),
                "/dev/full: cannot be written: No space left on device");
}

// Standard output is redirected to a file that another process also writes to.
TEST_F(FileTest, StandardOutputKeepsItsOrder) {
  std::fflush(stdout);
  const int saved = dup(STDOUT_FILENO);
  const int file = open(Path("out").c_str(), O_WRONLY | O_CREAT, 0600);
  dup2(file, STDOUT_FILENO);
  std::printf("1 ");
  const bool dash = WriteFile("-", "2 ").has_value();
  const bool device = WriteFile("/dev/stdout", "3 ").has_value();
  std::printf("4");
  std::fflush(stdout);
  dup2(saved, STDOUT_FILENO);
  close(file);
  close(saved);
  EXPECT_TRUE(dash);
  EXPECT_TRUE(device);
  EXPECT_EQ(ReadFile(Path("out")), "1 2 3 4");
}

TEST_F(FileTest, ReadsStandardInput) {
  ASSERT_TRUE(WriteFile(Path("in"), "input").has_value());
  const int saved = dup(STDIN_FILENO);
  const int file = open(Path("in").c_str(), O_RDONLY);
  dup2(file, STDIN_FILENO);
  const auto text = ReadFile("-");
  dup2(saved, STDIN_FILENO);
  close(file);
  close(saved);
  EXPECT_EQ(text, "input");
}

// A reader sees the old or the new text, never a mixture.
TEST_F(FileTest, ViewsAFile) {
  const std::string path = Path("f");
  ASSERT_TRUE(WriteFile(path, "one two").has_value());
  auto view = FileView::Open(path);
  ASSERT_TRUE(view.has_value());
  EXPECT_EQ(view->bytes(), "one two");
  FileView moved = *std::move(view);
  EXPECT_EQ(moved.bytes(), "one two");
  ASSERT_TRUE(WriteFile(path, "").has_value());
  EXPECT_EQ(moved.bytes(), "one two");  // The contents when it was opened.
  auto empty = FileView::Open(path);
  ASSERT_TRUE(empty.has_value());
  EXPECT_EQ(empty->bytes(), "");
  moved = *std::move(empty);
  EXPECT_EQ(moved.bytes(), "");
  const auto missing = FileView::Open(Path("none"));
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().message, Path("none") + ": cannot be read: No such file or directory");
  const auto folder = FileView::Open(Path(""));
  EXPECT_FALSE(folder.has_value());
}

// Written over itself, by its own name or through a link.
TEST_F(FileTest, WritesPiecesOfTheFileThatIsReplaced) {
  const std::string path = Path("f");
  const std::string link = Path("link");
  fs::create_symlink(path, link);
  for (const std::string& target : {path, link}) {
    ASSERT_TRUE(WriteFile(path, "abcdef").has_value());
    const auto view = FileView::Open(path);
    ASSERT_TRUE(view.has_value());
    const std::vector<std::string_view> pieces = {view->bytes().substr(3), "-",
                                                  view->bytes().substr(0, 3)};
    ASSERT_TRUE(WriteFile(target, pieces).has_value());
    EXPECT_EQ(ReadFile(path).value(), "def-abc");
  }
  EXPECT_TRUE(fs::is_symlink(link));
}

TEST_F(FileTest, ReplacesAsAWhole) {
  const std::string old_text(100000, 'o');
  const std::string new_text(100000, 'n');
  ASSERT_TRUE(WriteFile(Path("f"), old_text).has_value());
  std::thread writer([&] {
    for (int i = 0; i < 50; ++i) {
      EXPECT_TRUE(WriteFile(Path("f"), i % 2 == 0 ? new_text : old_text).has_value());
    }
  });
  for (int i = 0; i < 50; ++i) {
    const auto seen = ReadFile(Path("f"));
    ASSERT_TRUE(seen.has_value());
    EXPECT_TRUE(*seen == old_text || *seen == new_text);
  }
  writer.join();
  EXPECT_EQ(CountFiles(), 1u);
}

}  // namespace
}  // namespace berth
