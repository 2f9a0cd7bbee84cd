// A consumer of the solvers: each one that the installation has finds the least height.
#include <berth/baselines.h>

#include <cstdio>

int main() {
  berth::Problem problem;
  problem.buffers = {{"a", 0, 3, 4}, {"b", 3, 5, 4}, {"c", 2, 4, 4}};
  for (const berth::SolverInfo& info : berth::Solvers()) {
    if (!info.available()) continue;
    berth::SolverOptions options;
    options.solver = info.solver;
    berth::Budget budget;
    const auto answer = berth::PlaceWithSolver(problem, options, budget);
    if (!answer || !answer->best || answer->best->height != 8) return 1;
  }
  const auto lp = berth::WriteLp(problem, true);
  std::printf("%s\n", lp ? "8 bytes" : lp.error().message.c_str());
}
