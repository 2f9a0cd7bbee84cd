// tools/lab/bench/machine.h -- where and with what a benchmark ran.
#ifndef BERTH_TOOLS_LAB_BENCH_MACHINE_H_
#define BERTH_TOOLS_LAB_BENCH_MACHINE_H_

#include <optional>
#include <string>

namespace berth::lab {

struct Machine {
  std::string cpu;  // "AMD EPYC 7B13"
  unsigned hardware_threads = 0;
  std::string operating_system;  // "Debian GNU/Linux 12 (bookworm), Linux 6.1.0"
  std::string compiler;          // Of this binary: "g++ 12.2.0"
  std::string build;             // "release", "debug", either "with sanitizers".
};
[[nodiscard]] Machine ThisMachine();

// The load average of the last minute, of all programs of the machine: how many threads ran or waited for a
// processor. Nothing where the system does not say.
[[nodiscard]] std::optional<double> LoadAverage();

// Now, in UTC: "2025-01-31T12:34:56Z".
[[nodiscard]] std::string UtcNow();

}  // namespace berth::lab

#endif  // BERTH_TOOLS_LAB_BENCH_MACHINE_H_
