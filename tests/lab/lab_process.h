// tests/lab/lab_process.h -- runs the real berth-lab.
#ifndef BERTH_TESTS_LAB_LAB_PROCESS_H_
#define BERTH_TESTS_LAB_LAB_PROCESS_H_

#include <string>
#include <vector>

#include "tests/cli/berth_process.h"

namespace berth::lab {

// Runs berth-lab. Fails the test if it does not end within two minutes, dies of a signal, or aborts.
[[nodiscard]] ProcessResult Lab(const std::vector<std::string>& arguments);

// As cli::ExpectRefused(), of berth-lab.
void ExpectRefused(const ProcessResult& result, const std::string& words);

}  // namespace berth::lab

#endif  // BERTH_TESTS_LAB_LAB_PROCESS_H_
