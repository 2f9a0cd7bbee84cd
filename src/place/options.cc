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
#define BERTH_GUIDED_ROW(field, ...) BERTH_ROW(guided, field, __VA_ARGS__)

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
    BERTH_NICHE_SWITCHES(BERTH_NICHE_ROW) BERTH_GUIDED_SWITCHES(BERTH_GUIDED_ROW)};
#undef BERTH_ROW
#undef BERTH_CANONICAL_ROW
#undef BERTH_NICHE_ROW
#undef BERTH_GUIDED_ROW

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
