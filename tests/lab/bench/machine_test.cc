// What is said of the machine is what the machine says.
#include "tools/lab/bench/machine.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

namespace berth::lab {
namespace {

TEST(MachineTest, LoadIsThatOfTheLastMinute) {
  const auto system = [] {
    std::ifstream file("/proc/loadavg");
    double minute = NAN;
    file >> minute;
    return minute;
  };
  const double before = system();
  if (std::isnan(before)) GTEST_SKIP() << "no /proc/loadavg";
  const auto load = LoadAverage();
  const double after = system();
  ASSERT_TRUE(load.has_value());
  // The system computes it every five seconds, and prints two decimals.
  EXPECT_LE(std::fmin(std::fabs(*load - before), std::fabs(*load - after)), 0.011);
}

}  // namespace
}  // namespace berth::lab
