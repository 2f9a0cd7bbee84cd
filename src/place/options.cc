// The one table of options: --help, docs/options.md, provenance and bindings are made from it.

#include "place/options.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/option_table.h"
#include "base/try.h"

namespace berth {
namespace {

using internal::EngineOptions;
using Row = internal::OptionRow<PlaceOptions>;
using EngineRow = internal::OptionRow<EngineOptions>;
using internal::GuidedOptions;

// A value of an enumeration by its place in a list of words.
template <typename T, std::size_t kSize>
bool SetWord(T& field, const std::array<std::string_view, kSize>& words, std::string_view value) {
  for (std::size_t k = 0; k < kSize; ++k) {
    if (words[k] != value) continue;
    field = static_cast<T>(k);
    return true;
  }
  return false;
}

// Not a word of the list: an enumeration outside of its range.
template <typename T, std::size_t kSize>
std::string Word(T field, const std::array<std::string_view, kSize>& words) {
  const auto at = static_cast<std::size_t>(field);
  return at < kSize ? std::string(words[at]) : std::to_string(at);
}

constexpr std::array<std::string_view, 5> kStrategies = {"candidates", "size", "area", "lifetime",
                                                         "lowest"};
constexpr std::array<std::string_view, 3> kPlacements = {"lowest", "skyline", "raised-skyline"};

constexpr std::array<std::string_view, 2> kBacktrackings = {"published", "learned"};

constexpr int kMostCount = 1'000'000;

// A number from kLeast to kMostCount.
template <int GuidedOptions::*kField, int kLeast>
constexpr EngineRow CountRow(const OptionInfo& info) {
  return {info,
          [](EngineOptions& options, std::string_view value) {
            return internal::SetNumber(options.guided.*kField, value, kLeast, kMostCount);
          },
          [](const EngineOptions& options) { return std::to_string(options.guided.*kField); }};
}

template <auto kField, const auto& kWords>
constexpr EngineRow WordRow(const OptionInfo& info) {
  return {info,
          [](EngineOptions& options, std::string_view value) {
            return SetWord(options.guided.*kField, kWords, value);
          },
          [](const EngineOptions& options) { return Word(options.guided.*kField, kWords); }};
}

constexpr std::array kRows = {
    Row{{"algorithm", "auto", "a name from the list of algorithms", "How to place the buffers."},
        [](PlaceOptions& options, std::string_view value) {
          const auto algorithm = AlgorithmFromName(value);
          if (!algorithm) return false;
          options.algorithm = *algorithm;
          return true;
        },
        [](const PlaceOptions& options) { return std::string(Info(options.algorithm).name); }},
    Row{{"minimize", "off", "on|off",
         "Go on below the capacity until the height is proved least or the budget ends; always on "
         "without a capacity."},
        [](PlaceOptions& options, std::string_view value) {
          return internal::SetBool(options.minimize, value);
        },
        [](const PlaceOptions& options) { return internal::OnOff(options.minimize); }},
    Row{{"threads", "1", "1..256", "Threads to use; the answer does not depend on it."},
        [](PlaceOptions& options, std::string_view value) {
          return internal::SetNumber(options.threads, value, 1, 256);
        },
        [](const PlaceOptions& options) { return std::to_string(options.threads); }},
    Row{{"seed", "1", "0..18446744073709551615", "Seed of searches that draw random numbers."},
        [](PlaceOptions& options, std::string_view value) {
          return internal::SetNumber(options.seed, value);
        },
        [](const PlaceOptions& options) { return std::to_string(options.seed); }},
};

// The switches of one search.
#define BERTH_ROW(search, field, default_value, sentence)                  \
  internal::SwitchRow<EngineOptions, [](EngineOptions& options) -> bool& { \
    return options.search.field;                                           \
  }>(#search "." #field, default_value, sentence),
#define BERTH_CANONICAL_ROW(field, ...) BERTH_ROW(canonical, field, __VA_ARGS__)
#define BERTH_NICHE_ROW(field, ...) BERTH_ROW(niche, field, __VA_ARGS__)
#define BERTH_GUIDED(field, sentence)                                      \
  internal::SwitchRow<EngineOptions, [](EngineOptions& options) -> bool& { \
    return options.guided.field;                                           \
  }>("guided." #field, true, sentence)

constexpr std::array kEngineRows = {
    BERTH_CANONICAL_SWITCHES(BERTH_CANONICAL_ROW) EngineRow{
        {"canonical.preorders", "WAT,TAW,TWA", "words over W A T Z C L U, separated by commas",
         "Fixed orders tried in rotation; each word lists sort keys, largest first: W lifetime, A "
         "area, T largest section total, Z size, C sections, L start, U end."},
        [](EngineOptions& options, std::string_view value) {
          if (!internal::canonical::ValidPreorders(value)) return false;
          options.canonical.preorders = value;
          return true;
        },
        [](const EngineOptions& options) { return options.canonical.preorders; }},
    BERTH_NICHE_SWITCHES(BERTH_NICHE_ROW) BERTH_GUIDED(
        heuristic_first, "The baseline heuristic runs first, and search only where it fails."),
    BERTH_GUIDED(split, "Parts that separate in time are solved one by one."),
    BERTH_GUIDED(phases,
                 "Blocks of the present phase of contention come first, then other phases."),
    BERTH_GUIDED(
        conflict_backtracking,
        "Major backtracks go to the second-to-last placement in conflict; off: one level."),
    BERTH_GUIDED(carry_candidates, "Major backtracks take the candidates along to where they go."),
    BERTH_GUIDED(section_load,
                 "In each section, bytes that cannot lie below a level must fit above it."),
    CountRow<&GuidedOptions::most_candidates, 1>(
        {"guided.most_candidates", "12", "1..1000000", "Candidates tried at one decision point."}),
    CountRow<&GuidedOptions::stuck_after, 0>(
        {"guided.stuck_after", "100", "0..1000000",
         "Major backtracks below a point until the search leaves it; 0: it never does."}),
    WordRow<&GuidedOptions::strategy, kStrategies>(
        {"guided.strategy", "candidates", "candidates, size, area, lifetime or lowest",
         "What is tried at a decision point: three candidates of each phase, or one block after "
         "another by one order, back to the last valid point on failure."}),
    WordRow<&GuidedOptions::placement, kPlacements>(
        {"guided.placement", "lowest", "lowest, skyline or raised-skyline",
         "Where a block goes: the lowest position that propagation leaves it, on top of what is "
         "placed, or the higher of the two."}),
    WordRow<&GuidedOptions::backtracking, kBacktrackings>(
        {"guided.backtracking", "published", "published or learned",
         "Where major backtracks go: to the second-to-last placement in conflict, or where a model "
         "trained on examples says."}),
    BERTH_GUIDED(weights,
                 "Algorithm guided: buffers that were part of recent failures come first."),
    BERTH_GUIDED(restarts,
                 "Algorithm guided: the search starts again after 150 failures times Luby's "
                 "sequence."),
    BERTH_GUIDED(lowest_first,
                 "Algorithm guided: half of the runs go on where a buffer can lie lowest."),
    BERTH_GUIDED(identical_order, "Algorithm guided: of identical buffers, the first lies lowest."),
};
#undef BERTH_ROW
#undef BERTH_CANONICAL_ROW
#undef BERTH_NICHE_ROW
#undef BERTH_GUIDED

constexpr internal::OptionTable<PlaceOptions> kTable(kRows);
constexpr internal::OptionTable<EngineOptions> kEngineTable(kEngineRows);

constexpr auto AllInfos() {
  std::array<OptionInfo, kRows.size() + kEngineRows.size()> infos{};
  for (std::size_t r = 0; r < kRows.size(); ++r) infos[r] = kRows[r].info;
  for (std::size_t r = 0; r < kEngineRows.size(); ++r)
    infos[kRows.size() + r] = kEngineRows[r].info;
  return infos;
}
constexpr auto kInfos = AllInfos();

}  // namespace

namespace internal {

class ExpertAccess {
 public:
  static auto& Values(auto& expert) { return expert.values_; }
};

EngineOptions EngineOptionsOf(const PlaceOptions& options) {
  EngineOptions engines;
  for (const auto& [name, value] : ExpertAccess::Values(options.expert)) {
    BERTH_CHECK(kEngineTable.Set(engines, name, value).has_value());
  }
  return engines;
}

Result<void> SetEngineOptions(const EngineOptions& engines, PlaceOptions& options) {
  for (const EngineRow& row : kEngineRows) {
    BERTH_TRY(SetOption(options, row.info.name, row.get(engines)));
  }
  return {};
}

Result<void> ValidateOptions(const PlaceOptions& options) {
  if (static_cast<std::size_t>(options.algorithm) >= Algorithms().size()) {
    return Fail(ErrorCode::kInvalidOptions,
                "option algorithm is number " +
                    std::to_string(static_cast<int>(options.algorithm)) + ", which does not exist");
  }
  return kTable.Validate(options);
}

}  // namespace internal

std::span<const OptionInfo> Options() { return kInfos; }

Result<void> SetOption(PlaceOptions& options, std::string_view name, std::string_view value) {
  if (kTable.Find(name) != nullptr) return kTable.Set(options, name, value);
  EngineOptions scratch;
  BERTH_TRY(kEngineTable.Set(scratch, name, value));
  // What is at its default is not kept: options that mean the same are equal.
  auto& values = internal::ExpertAccess::Values(options.expert);
  std::erase_if(values, [&](const auto& each) { return each.first == name; });
  if (value == kEngineTable.Find(name)->info.default_value) return {};
  std::pair<std::string, std::string> entry(name, value);
  values.insert(std::lower_bound(values.begin(), values.end(), entry), std::move(entry));
  return {};
}

Result<std::string> GetOption(const PlaceOptions& options, std::string_view name) {
  if (kTable.Find(name) != nullptr) return kTable.Get(options, name);
  return kEngineTable.Get(internal::EngineOptionsOf(options), name);
}

}  // namespace berth
