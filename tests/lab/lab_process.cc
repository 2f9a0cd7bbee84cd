#include "tests/lab/lab_process.h"

namespace berth::lab {

ProcessResult Lab(const std::vector<std::string>& arguments) {
  return cli::RunOrFail(BERTH_LAB_EXECUTABLE, arguments);
}

void ExpectRefused(const ProcessResult& result, const std::string& words) {
  cli::ExpectRefused(result, words, "berth-lab");
}

}  // namespace berth::lab
