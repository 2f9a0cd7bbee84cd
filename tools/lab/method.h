// tools/lab/method.h -- what --algorithm names: an algorithm of berth/place.h or a baseline of
// berth/baselines.h.
#ifndef BERTH_TOOLS_LAB_METHOD_H_
#define BERTH_TOOLS_LAB_METHOD_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/baselines.h"
#include "berth/budget.h"
#include "berth/place.h"
#include "berth/problem.h"
#include "berth/result.h"

namespace berth::lab {

struct Method {
  Algorithm algorithm = Algorithm::kAuto;
  std::optional<Baseline> baseline = {};  // Instead of the algorithm.
};

// Every build knows the names of all baselines. Nothing where nothing has that name.
[[nodiscard]] std::optional<Method> MethodFromName(std::string_view name);
[[nodiscard]] std::string_view MethodName(const Method& method);
// "there is no algorithm 'x'; did you mean 'y'?"
[[nodiscard]] std::string UnknownMethod(const std::string& name);
// All algorithms and baselines with their sources, for --help.
[[nodiscard]] std::string MethodsHelp();

// Error: kUnsupported for a baseline whose solver this build lacks, saying what it needs.
[[nodiscard]] Result<void> CheckAvailable(const Method& method);

// Place() or PlaceWithBaseline(). A baseline takes minimize, seed and progress from `options` and
// its settings from `baseline_options`.
[[nodiscard]] Result<PlanAnswer> PlaceBy(const Method& method, const Problem& problem,
                                         const PlaceOptions& options,
                                         const BaselineOptions& baseline_options, Budget& budget);

}  // namespace berth::lab

#endif  // BERTH_TOOLS_LAB_METHOD_H_
