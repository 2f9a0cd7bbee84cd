// The one table of the baselines' settings: --help and docs/options.md are made from it.

#include "baselines/settings.h"

#include <array>
#include <string>
#include <string_view>

#include "base/option_table.h"
#include "base/try.h"

namespace berth {
namespace internal {
namespace {

using Row = OptionRow<Settings>;

constexpr std::array<std::string_view, 5> kStrategies = {"candidates", "size", "area", "lifetime",
                                                         "lowest"};
constexpr std::array<std::string_view, 3> kPlacements = {"lowest", "skyline", "raised-skyline"};
constexpr std::array<std::string_view, 3> kBacktrackings = {"published", "learned",
                                                            "highest-score"};
constexpr std::array<std::string_view, 4> kOrders = {"published", "lowest-first", "random",
                                                     "model"};
constexpr std::array<std::string_view, 3> kIlpSolvers = {"any", "cbc", "highs"};
constexpr int kMostCount = 1'000'000;

template <typename T, std::size_t kSize>
bool SetWord(T& field, const std::array<std::string_view, kSize>& words, std::string_view value) {
  for (std::size_t k = 0; k < kSize; ++k) {
    if (words[k] != value) continue;
    field = static_cast<T>(k);
    return true;
  }
  return false;
}

template <bool TelaMallocOptions::*kField>
constexpr Row SwitchRow(std::string_view name, std::string_view sentence) {
  return {{name, "on", "on|off", sentence},
          [](Settings& s, std::string_view value) { return SetBool(s.telamalloc.*kField, value); },
          [](const Settings& s) { return OnOff(s.telamalloc.*kField); }};
}

template <int TelaMallocOptions::*kField, int kLeast>
constexpr Row CountRow(const OptionInfo& info) {
  return {info,
          [](Settings& s, std::string_view value) {
            return SetNumber(s.telamalloc.*kField, value, kLeast, kMostCount);
          },
          [](const Settings& s) { return std::to_string(s.telamalloc.*kField); }};
}

template <auto kField, const auto& kWords>
constexpr Row WordRow(const OptionInfo& info) {
  return {info,
          [](Settings& s, std::string_view value) {
            return SetWord(s.telamalloc.*kField, kWords, value);
          },
          [](const Settings& s) {
            return std::string(kWords[static_cast<std::size_t>(s.telamalloc.*kField)]);
          }};
}

constexpr std::array kRows = {
    SwitchRow<&TelaMallocOptions::heuristic_first>(
        "telamalloc.heuristic_first",
        "The baseline heuristic runs first, and search only where it fails."),
    SwitchRow<&TelaMallocOptions::split>("telamalloc.split",
                                         "Parts that separate in time are solved one by one."),
    SwitchRow<&TelaMallocOptions::phases>(
        "telamalloc.phases",
        "Blocks of the present phase of contention come first, then other phases."),
    SwitchRow<&TelaMallocOptions::conflict_backtracking>(
        "telamalloc.conflict_backtracking",
        "Major backtracks go to the second-to-last placement in conflict; off: one level."),
    SwitchRow<&TelaMallocOptions::carry_candidates>(
        "telamalloc.carry_candidates",
        "Major backtracks carry the candidates along to their target."),
    SwitchRow<&TelaMallocOptions::section_load>(
        "telamalloc.section_load",
        "In each section, bytes that cannot lie below a level must fit above it."),
    CountRow<&TelaMallocOptions::most_candidates, 1>({"telamalloc.most_candidates", "12",
                                                      "1..1000000",
                                                      "Candidates tried at one decision point."}),
    CountRow<&TelaMallocOptions::stuck_after, 0>(
        {"telamalloc.stuck_after", "100", "0..1000000",
         "Major backtracks below a point until the search leaves it; 0: it never does."}),
    WordRow<&TelaMallocOptions::strategy, kStrategies>(
        {"telamalloc.strategy", "candidates", "candidates, size, area, lifetime or lowest",
         "What is tried at a decision point: three candidates of each phase, or one block after "
         "another in one order, going back to the last valid point on failure."}),
    WordRow<&TelaMallocOptions::placement, kPlacements>(
        {"telamalloc.placement", "lowest", "lowest, skyline or raised-skyline",
         "Where a block goes: the lowest position that propagation leaves it, on top of what is "
         "placed, or the higher of the two."}),
    WordRow<&TelaMallocOptions::backtracking, kBacktrackings>(
        {"telamalloc.backtracking", "published", "published, learned or highest-score",
         "Where major backtracks go: to the second-to-last placement in conflict; to the choice of "
         "a model trained on examples, in turn with restarts; or always to the model's highest "
         "score, as in the paper, with a threshold and a weight of depth of ours."}),
    WordRow<&TelaMallocOptions::order, kOrders>(
        {"telamalloc.order", "published", "published, lowest-first, random or model",
         "Which candidates come first at a decision point: as published; the block that can lie "
         "lowest before them; these four at random; or as a decision tree trained on examples "
         "scores them."}),
    Row{{"cp.restarts", "on", "on|off", "cp restarts now and then and keeps its nogoods."},
        [](Settings& s, std::string_view value) { return SetBool(s.cp_restarts, value); },
        [](const Settings& s) { return OnOff(s.cp_restarts); }},
    Row{{"ilp.solver", "any", "any, cbc or highs",
         "The solver of the integer program; any: the first in this build."},
        [](Settings& s, std::string_view value) {
          std::size_t known = 0;
          if (!SetWord(known, kIlpSolvers, value)) return false;
          s.ilp_solver = value;
          return true;
        },
        [](const Settings& s) { return s.ilp_solver; }},
};

constexpr OptionTable<Settings> kTable(kRows);
constexpr auto kInfos = InfosOf(kRows);

}  // namespace

Result<Settings> ParseSettings(const BaselineOptions& options) {
  Settings settings;
  for (const auto& [name, value] : options.settings) {
    BERTH_TRY(kTable.Set(settings, name, value));
  }
  return settings;
}

}  // namespace internal

std::span<const OptionInfo> BaselineSettings() { return internal::kInfos; }

Result<void> SetOption(BaselineOptions& options, std::string_view name, std::string_view value) {
  internal::Settings scratch;
  BERTH_TRY(internal::kTable.Set(scratch, name, value));
  options.settings.insert_or_assign(std::string(name), std::string(value));
  return {};
}

Result<std::string> GetOption(const BaselineOptions& options, std::string_view name) {
  const internal::Settings settings = BERTH_TRY(internal::ParseSettings(options));
  return internal::kTable.Get(settings, name);
}

}  // namespace berth
