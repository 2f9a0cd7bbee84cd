// The one table of options: --help, docs/options.md, provenance and bindings are made from it.

#include "place/options.h"

#include <array>
#include <string>

#include "base/option_table.h"
#include "place/canonical/canonical.h"

namespace berth {
namespace {

using Row = internal::OptionRow<PlaceOptions>;

// A switch of an exact search.
#define BERTH_SWITCH(search, field, sentence)                                             \
  Row {                                                                                   \
    {#search "." #field, "on", "on|off", sentence},                                       \
        [](PlaceOptions& options, std::string_view value) {                               \
          return internal::SetBool(options.search.field, value);                          \
        },                                                                                \
        [](const PlaceOptions& options) { return internal::OnOff(options.search.field); } \
  }

const std::array kRows = {
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
    BERTH_SWITCH(canonical, canonical_only, "Only plans in order of offset, then index."),
    BERTH_SWITCH(canonical, section_inference,
                 "In each section, floor plus unplaced bytes must fit the capacity."),
    BERTH_SWITCH(canonical, monotonic_floor, "No floor of a section lies below the last offset."),
    BERTH_SWITCH(canonical, unallocated_floor,
                 "No floor of a section lies below the lowest offset left to its "
                 "unplaced buffers."),
    BERTH_SWITCH(canonical, dominance, "No hole is left that an unplaced buffer would fill."),
    BERTH_SWITCH(canonical, hatless, "A buffer with nothing left above it has no alternatives."),
    BERTH_SWITCH(canonical, identical_order, "Of identical buffers, the first lies lowest."),
    BERTH_SWITCH(canonical, dynamic_ordering, "The buffer that can lie lowest is tried first."),
    BERTH_SWITCH(canonical, static_preordering, "Ties are broken by the preorders."),
    BERTH_SWITCH(canonical, dynamic_decomposition,
                 "Parts that separate in time are solved one by one."),
    Row{{"canonical.preorders", "WAT,TAW,TWA", "words over W A T Z C L U, separated by commas",
         "Fixed orders tried in rotation; each word lists sort keys, largest first: W lifetime, A "
         "area, T largest section total, Z size, C sections, L start, U end."},
        [](PlaceOptions& options, std::string_view value) {
          if (!internal::ValidPreorders(value)) return false;
          options.canonical.preorders = value;
          return true;
        },
        [](const PlaceOptions& options) { return options.canonical.preorders; }},
    BERTH_SWITCH(niche, lowest_first,
                 "Half of the runs fill the lowest hollow of the skyline first; off: none does."),
    BERTH_SWITCH(niche, waste_budget,
                 "In each section, floor plus unplaced bytes must fit the capacity."),
    BERTH_SWITCH(niche, conflict_weights, "Sections where more has failed come first."),
    BERTH_SWITCH(niche, backjumping, "Levels that a failure does not depend on are left at once."),
    BERTH_SWITCH(niche, transpositions, "States that have failed are remembered, with the reason."),
    BERTH_SWITCH(niche, restarts,
                 "The search starts again after 1000 nodes times Luby's sequence."),
    BERTH_SWITCH(niche, calm_runs, "Every third run does not look at the conflict weights."),
    BERTH_SWITCH(niche, beam,
                 "Where there is slack, plans that grow side by side take turns with the runs."),
    BERTH_SWITCH(niche, identical_order, "Of identical buffers, the first lies lowest."),
    BERTH_SWITCH(niche, widest_first,
                 "Candidates that are live in many sections come first; off: large ones."),
    BERTH_SWITCH(niche, best_fit, "Candidates that leave no room beside them come earlier."),
    BERTH_SWITCH(niche, vectors,
                 "Use the widest vector instructions of this machine; the plan is the same."),
    BERTH_SWITCH(guided, heuristic_first,
                 "The baseline heuristic runs first, and search only where it fails."),
    BERTH_SWITCH(guided, section_load,
                 "In each section, bytes that cannot lie below a level must fit above it."),
    BERTH_SWITCH(guided, weights, "Buffers that were part of recent failures come first."),
    BERTH_SWITCH(guided, restarts,
                 "The search starts again after 150 failures times Luby's "
                 "sequence."),
    BERTH_SWITCH(guided, lowest_first, "Half of the runs go on where a buffer can lie lowest."),
    BERTH_SWITCH(guided, identical_order, "Of identical buffers, the first lies lowest."),
};
#undef BERTH_SWITCH

const internal::OptionTable kTable(kRows);

}  // namespace

std::span<const OptionInfo> Options() { return kTable.infos(); }

Result<void> SetOption(PlaceOptions& options, std::string_view name, std::string_view value) {
  return kTable.Set(options, name, value);
}

Result<std::string> GetOption(const PlaceOptions& options, std::string_view name) {
  return kTable.Get(options, name);
}

namespace internal {

Result<void> ValidateOptions(const PlaceOptions& options) {
  if (static_cast<std::size_t>(options.algorithm) >= Algorithms().size()) {
    return Fail(ErrorCode::kInvalidOptions,
                "option algorithm is number " +
                    std::to_string(static_cast<int>(options.algorithm)) + ", which does not exist");
  }
  return kTable.Validate(options);
}

}  // namespace internal
}  // namespace berth
