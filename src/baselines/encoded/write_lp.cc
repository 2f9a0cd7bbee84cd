#include <algorithm>
#include <limits>

#include "baselines/encoded/encoding.h"
#include "baselines/encoded/ilp.h"
#include "baselines/milp/lp_file.h"
#include "berth/baselines.h"

namespace berth {
namespace {

constexpr std::int64_t kMostPairs = 5'000'000;

}  // namespace

Result<std::string> WriteLp(const Problem& problem, bool minimize) {
  using internal::Grains;
  if (auto valid = Validate(problem); !valid) return tl::unexpected(valid.error());
  const Budget unlimited;
  const auto encoding = internal::Encode(problem, kMostPairs, unlimited);
  if (!encoding) {
    return Fail(ErrorCode::kUnsupported, "more than " + std::to_string(kMostPairs) +
                                             " pairs of buffers are live together: too many for "
                                             "an integer program");
  }
  minimize = minimize || !problem.capacity;
  // Without a capacity, any plan gives an upper end of the heights.
  Bytes highest = problem.capacity.value_or(kMaxBytes);
  if (minimize) {
    PlaceOptions greedy;
    greedy.algorithm = Algorithm::kGreedy;
    Problem any = problem;
    any.capacity.reset();
    Budget brief;
    const auto answer = Place(any, greedy, brief);
    if (!answer) return tl::unexpected(answer.error());
    if (!answer->best) {
      return Fail(ErrorCode::kUnsupported, "two pins overlap, so there is no plan to ask for");
    }
    highest = std::min(highest, answer->best->height());
  }
  const Grains capacity = encoding->Within(highest);
  for (std::size_t x = 0; x < encoding->items.size(); ++x) {
    if (encoding->HighestOffset(x, capacity) < 0) {
      return Fail(ErrorCode::kUnsupported,
                  "buffer \"" + problem.buffers[x].id + "\" alone does not fit the capacity");
    }
  }
  std::optional<Grains> least;
  const Bytes grain = encoding->grain;
  if (minimize) {
    least = std::min((MaxLiveLoad(problem).lower_bound + grain - 1) / grain, capacity);
  }
  const internal::IlpModel ilp = internal::BuildIlp(problem, *encoding, capacity, least);
  if (auto valid = internal::milp::Validate(ilp.model); !valid) {
    return tl::unexpected(valid.error());
  }
  std::string comment =
      "Static memory planning as an integer program (Maas et al., TelaMalloc, ASPLOS 2023, Figure "
      "5).\nEverything is counted in units of " +
      std::to_string(grain) +
      " bytes. pos_X is the offset of buffer X, in multiples of its\nalignment; above_X_Y is 1 "
      "where X lies above Y, under_X_Y where it lies below.\n";
  comment += minimize ? "The height of the plan is minimised.\n"
                      : "Any solution is a plan within " + std::to_string(capacity) + " units.\n";
  return internal::milp::WriteLp(ilp.model, comment);
}

}  // namespace berth
