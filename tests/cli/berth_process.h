// tests/cli/berth_process.h -- runs the real command as a user does.
#ifndef BERTH_TESTS_CLI_BERTH_PROCESS_H_
#define BERTH_TESTS_CLI_BERTH_PROCESS_H_

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tools/berth/subprocess.h"

namespace berth::internal {

// A test with a folder of its own, which is removed at the end.
class CommandTest : public testing::Test {
 protected:
  CommandTest();
  ~CommandTest() override;

  [[nodiscard]] std::string Path(const std::string& name) const { return folder_ + "/" + name; }
  // Writes a file into the folder; gives its path.
  std::string Write(const std::string& name, const std::string& text) const;  // NOLINT
  [[nodiscard]] static std::string Read(const std::string& path);
  [[nodiscard]] static bool Exists(const std::string& path);

  // The three buffers of the drawing in berth/problem.h: the least height is 8 bytes.
  [[nodiscard]] std::string SmallTable() const;

 private:
  std::string folder_;
};

// Runs berth. Fails the test if it does not end within two minutes, dies of a signal, or aborts.
[[nodiscard]] ProcessResult Berth(const std::vector<std::string>& arguments);
// Runs a shell script in which $BERTH is the command.
[[nodiscard]] ProcessResult Shell(const std::string& script);

// Exit code 2, nothing on standard output, and one line on standard error that starts like all
// errors and contains `words`.
void ExpectRefused(const ProcessResult& result, const std::string& words);

}  // namespace berth::internal

#endif  // BERTH_TESTS_CLI_BERTH_PROCESS_H_
