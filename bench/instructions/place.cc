// bench/instructions/place.cc -- one run of one algorithm on one table, with few parts of Berth, so that
// it is quickly compiled for another processor.
//
// Usage: place ALGORITHM CAPACITY < NUMBERS, where NUMBERS are the start, end and size of each
// buffer. ALGORITHM: telamalloc (its search alone, as in Figures 12 and 13 of its paper), or one of
// Place(). Prints "solved" or "none", the nodes and the seconds. The processor's clock is read directly before and
// after the run, which bench/instructions/count.cc looks for.
#include "berth/place.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "baselines/telamalloc/telamalloc.h"
#include "model/instance.h"

namespace {

using namespace berth;

struct Run {
  std::optional<std::vector<Bytes>> offsets;
  std::int64_t nodes = 0;
};

Run PlaceByTelaMalloc(const Problem& problem) {
  const internal::Instance instance = internal::Compile(problem);
  const internal::Overlaps overlaps = internal::FindOverlaps(instance);
  internal::TelaMallocSearch search(instance, overlaps, {});
  Budget budget;
  internal::SearchAnswer answer =
      search.Search(*problem.capacity, std::numeric_limits<std::int64_t>::max(), budget);
  Run run{std::nullopt, answer.nodes};
  if (answer.verdict == internal::SearchAnswer::Verdict::kFound)
    run.offsets = std::move(answer.offsets);
  return run;
}

Run PlaceBy(const std::string& name, const Problem& problem) {
  PlaceOptions options;
  const auto algorithm = AlgorithmFromName(name);
  if (!algorithm) {
    std::fprintf(stderr, "place: there is no algorithm '%s'\n", name.c_str());
    std::exit(2);
  }
  options.algorithm = *algorithm;
  if (name == "guided") (void)SetOption(options, "guided.heuristic_first", "off");
  Budget budget;
  const auto answer = Place(problem, options, budget);
  Run run;
  if (!answer || !answer->best) return run;
  run.nodes = answer->nodes;
  if (answer->best->height() <= *problem.capacity) run.offsets = PlacementOf(*answer->best).offsets;
  return run;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "Usage: place ALGORITHM CAPACITY < NUMBERS\n");
    return 2;
  }
  Problem problem;
  problem.capacity = std::strtoll(argv[2], nullptr, 10);
  Buffer buffer;
  while (std::cin >> buffer.start >> buffer.end >> buffer.size) {
    buffer.id = std::to_string(problem.buffers.size());
    problem.buffers.push_back(buffer);
  }
  const std::string algorithm = argv[1];
  const std::clock_t begin = std::clock();
  const Run run =
      algorithm == "telamalloc" ? PlaceByTelaMalloc(problem) : PlaceBy(algorithm, problem);
  const std::clock_t end = std::clock();
  std::printf("%s %lld %.6f\n", run.offsets ? "solved" : "none", static_cast<long long>(run.nodes),
              static_cast<double>(end - begin) / CLOCKS_PER_SEC);
}
