#include "tools/lab/bench/machine.h"

#include <sys/utsname.h>

#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string_view>
#include <thread>

#include "base/sanitizer.h"

namespace berth::lab {
namespace {

// What follows `separator` in the first line of the file that starts with `key`; empty if none
// does.
std::string ValueInFile(const char* path, std::string_view key, char separator) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.compare(0, key.size(), key) != 0) continue;
    std::size_t begin = line.find(separator);
    if (begin == std::string::npos) continue;
    begin = line.find_first_not_of(" \t\"", begin + 1);
    if (begin == std::string::npos) return {};
    return line.substr(begin, line.find_last_not_of(" \t\"") + 1 - begin);
  }
  return {};
}

}  // namespace

Machine ThisMachine() {
  Machine machine;
  utsname system{};
  uname(&system);
  machine.cpu = ValueInFile("/proc/cpuinfo", "model name", ':');
  if (machine.cpu.empty()) machine.cpu = system.machine;
  machine.hardware_threads = std::thread::hardware_concurrency();
  machine.operating_system = ValueInFile("/etc/os-release", "PRETTY_NAME", '=');
  if (!machine.operating_system.empty()) machine.operating_system += ", ";
  machine.operating_system += system.sysname;
  machine.operating_system += ' ';
  machine.operating_system += system.release;
#if defined(__clang__)
  machine.compiler = __VERSION__;
#else
  machine.compiler = "g++ ";
  machine.compiler += __VERSION__;
#endif
#ifdef NDEBUG
  machine.build = "release";
#else
  machine.build = "debug";
#endif
  if (BERTH_ADDRESS_SANITIZER) machine.build += " with sanitizers";
  return machine;
}

std::optional<double> LoadAverage() {
  double minute = 0;
  if (getloadavg(&minute, 1) != 1) return std::nullopt;
  return minute;
}

std::string UtcNow() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

}  // namespace berth::lab
