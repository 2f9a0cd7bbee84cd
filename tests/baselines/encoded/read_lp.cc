#include "tests/baselines/encoded/read_lp.h"

#include <cmath>
#include <limits>
#include <string_view>

#ifdef BERTH_HAS_CBC
#include <gtest/gtest.h>
#include <unistd.h>

#include <coin/CbcModel.hpp>
#include <coin/OsiClpSolverInterface.hpp>
#include <cstdio>
#include <fstream>
#endif

namespace berth::internal {

Bytes GrainOfLp(const std::string& text) {
  constexpr std::string_view kBefore = "in units of ";
  return std::stoll(text.substr(text.find(kBefore) + kBefore.size()));
}

#ifdef BERTH_HAS_CBC

bool CanReadLp() { return true; }

double OptimumOfLp(const std::string& text) {
  // One process runs one test at a time.
  const std::string path = testing::TempDir() + "berth" + std::to_string(::getpid()) + ".lp";
  std::ofstream(path, std::ios::binary) << text;
  OsiClpSolverInterface solver;
  solver.messageHandler()->setLogLevel(0);
  const bool wrong = solver.readLp(path.c_str(), 1e-5) != 0;
  std::remove(path.c_str());
  if (wrong) return std::numeric_limits<double>::quiet_NaN();
  CbcModel cbc(solver);
  cbc.setLogLevel(0);
  cbc.branchAndBound();
  return cbc.isProvenOptimal() ? std::round(cbc.getObjValue())
                               : std::numeric_limits<double>::quiet_NaN();
}

#else

bool CanReadLp() { return false; }
double OptimumOfLp(const std::string&) { return std::numeric_limits<double>::quiet_NaN(); }

#endif

}  // namespace berth::internal
