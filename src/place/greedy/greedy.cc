#include "place/greedy/greedy.h"

#include <atomic>
#include <cstddef>
#include <thread>
#include <utility>

#include "base/check.h"
#include "place/greedy/allocator.h"
#include "place/greedy/packer.h"

namespace berth::internal {
namespace {

bool IsAllocator(Algorithm algorithm) {
  return algorithm == Algorithm::kBfc || algorithm == Algorithm::kPytorchCaching;
}

Rule RuleOf(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::kContention:
      return {Order::kContention, Selection::kLowestFirst, Fit::kSkyline};
    case Algorithm::kFirstFitSize:
      return {Order::kSize, Selection::kInOrder, Fit::kFirst};
    case Algorithm::kFirstFitArea:
      return {Order::kArea, Selection::kInOrder, Fit::kFirst};
    case Algorithm::kFirstFitLifetime:
      return {Order::kLifetime, Selection::kInOrder, Fit::kFirst};
    case Algorithm::kFirstFitStart:
      return {Order::kStart, Selection::kInOrder, Fit::kFirst};
    case Algorithm::kFirstFitLowest:
      return {Order::kLifetime, Selection::kLowestFirst, Fit::kFirst};
    case Algorithm::kBestFitSize:
      return {Order::kSize, Selection::kInOrder, Fit::kBest};
    case Algorithm::kBestFitArea:
      return {Order::kArea, Selection::kInOrder, Fit::kBest};
    case Algorithm::kBestFitLifetime:
      return {Order::kLifetime, Selection::kInOrder, Fit::kBest};
    case Algorithm::kBestFitStart:
      return {Order::kStart, Selection::kInOrder, Fit::kBest};
    case Algorithm::kBestFitLowest:
      return {Order::kLifetime, Selection::kLowestFirst, Fit::kBest};
    case Algorithm::kXlaBestFit:
      return {Order::kSpatial, Selection::kInOrder, Fit::kBest};
    default:
      BERTH_CHECK(false && "not a rule of one greedy algorithm");
      return {};
  }
}

}  // namespace

Result<std::vector<Bytes>> PlaceGreedy(const Problem& problem, const Instance& instance,
                                       Algorithm algorithm) {
  if (IsAllocator(algorithm)) {
    auto run = RunAllocator(problem, algorithm);
    if (!run) return tl::unexpected<Error>(std::move(run.error()));
    return std::move(run->offsets);
  }
  return Packer(instance).Pack(RuleOf(algorithm), /*use_hints=*/true)->offsets;
}

}  // namespace berth::internal
