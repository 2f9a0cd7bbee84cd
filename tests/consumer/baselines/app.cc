// A consumer of the baselines: each search that the installation has finds the least height.
#include <berth/baselines.h>

#include <cstdio>

int main() {
  berth::Problem problem;
  problem.buffers = {{"a", 0, 3, 4}, {"b", 3, 5, 4}, {"c", 2, 4, 4}};
  for (const berth::BaselineInfo& info : berth::Baselines()) {
    if (!info.available() || !info.search) continue;
    berth::BaselineOptions options;
    options.baseline = info.baseline;
    berth::Budget budget;
    const auto answer = berth::PlaceWithBaseline(problem, options, budget);
    if (!answer || !answer->best || answer->best->height() != 8) return 1;
  }
  const auto lp = berth::WriteLp(problem, true);
  std::printf("%s\n", lp ? "8 bytes" : lp.error().message.c_str());
}
