#include "tools/berth/method.h"

namespace berth::internal {

std::optional<Method> MethodFromName(std::string_view name) {
  Method method;
  method.baseline = BaselineFromName(name);
  if (method.baseline) return method;
  const auto algorithm = AlgorithmFromName(name);
  if (!algorithm) return std::nullopt;
  method.algorithm = *algorithm;
  return method;
}

std::string_view MethodName(const Method& method) {
  return method.baseline ? Info(*method.baseline).name : Info(method.algorithm).name;
}

std::vector<std::string> MethodNames() {
  std::vector<std::string> names;
  for (const AlgorithmInfo& info : Algorithms()) names.emplace_back(info.name);
  for (const BaselineInfo& info : Baselines()) names.emplace_back(info.name);
  return names;
}

Result<void> CheckAvailable(const Method& method) {
  if (!method.baseline || Info(*method.baseline).available()) return {};
  const BaselineInfo& info = Info(*method.baseline);
  return Fail(ErrorCode::kUnsupported, "this build of Berth has no solver for " +
                                           std::string(info.name) + ": it needs " +
                                           std::string(info.package));
}

Result<PlanAnswer> PlaceBy(const Method& method, const Problem& problem,
                            const PlaceOptions& options, const BaselineOptions& baseline_options,
                            Budget& budget) {
  if (!method.baseline) {
    PlaceOptions chosen = options;
    chosen.algorithm = method.algorithm;
    return Place(problem, chosen, budget);
  }
  BaselineOptions chosen = baseline_options;
  chosen.baseline = *method.baseline;
  chosen.minimize = options.minimize;
  chosen.seed = options.seed;
  chosen.progress = options.progress;
  return PlaceWithBaseline(problem, chosen, budget);
}

bool HasOlla() { return Info(Baseline::kIlp).available(); }

}  // namespace berth::internal
