#include "tools/lab/method.h"

#include "tools/berth/flags.h"

namespace berth::lab {

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

std::string UnknownMethod(const std::string& name) {
  std::vector<std::string> known = cli::NamesOf(Algorithms());
  for (const BaselineInfo& info : Baselines()) known.emplace_back(info.name);
  return cli::UnknownAlgorithm(name, known, "berth-lab place --help lists them");
}

std::string MethodsHelp() {
  std::string help = cli::AlgorithmsHelp(Algorithms()) + "Baselines:\n";
  for (const BaselineInfo& info : Baselines()) {
    std::string text = std::string(info.summary) + " [" + std::string(info.source);
    if (!info.available()) {
      text += "; not in this build, needs " + std::string(info.package);
    } else if (!info.package.empty()) {
      text += "; " + info.engine;
    }
    help += cli::HelpRow(info.name, text + "]");
  }
  return help;
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

}  // namespace berth::lab
