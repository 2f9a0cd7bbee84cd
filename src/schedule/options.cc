// The tables of algorithms and options. --help, the documentation and the bindings are generated
// from them.

#include "schedule/options.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "base/check.h"
#include "base/option_table.h"

namespace berth {
namespace {

constexpr std::array kAlgorithms = {
    ScheduleAlgorithmInfo{ScheduleAlgorithm::kAuto, "auto",
                          "Exact search, cheap methods first: minimum cuts, beams, implied order "
                          "constraints, best-first search.",
                          "Berth", true},
    ScheduleAlgorithmInfo{ScheduleAlgorithm::kProgram, "program",
                          "The order of the operators in the graph.", "", false},
    ScheduleAlgorithmInfo{ScheduleAlgorithm::kHoistedUpdates, "hoisted-updates",
                          "Program order with each weight update right after the last operator "
                          "that it waits for.",
                          "after OLLA (arXiv 2210.12924), section 4.3", false},
    ScheduleAlgorithmInfo{ScheduleAlgorithm::kGreedy, "greedy",
                          "At each step the operator that raises the peak least; in a tie, the one "
                          "that leaves the fewest bytes live.",
                          "list scheduling", false},
    ScheduleAlgorithmInfo{ScheduleAlgorithm::kGreedyBackwards, "greedy-backwards",
                          "The same, from the last operator to the first.", "list scheduling",
                          false},
    ScheduleAlgorithmInfo{ScheduleAlgorithm::kBeam, "beam",
                          "Many greedy orders side by side, forwards and backwards.", "Berth",
                          false},
};

// Info() indexes the table by the enum's value.
constexpr bool InOrder() {
  for (std::size_t k = 0; k < kAlgorithms.size(); ++k) {
    if (kAlgorithms[k].algorithm != static_cast<ScheduleAlgorithm>(k)) return false;
  }
  return static_cast<std::size_t>(ScheduleAlgorithm::kBeam) + 1 == kAlgorithms.size();
}
static_assert(InOrder());

using Row = internal::OptionRow<ScheduleOptions>;

constexpr std::size_t kMostWidth = 1'000'000;
constexpr std::size_t kLeastBytes = std::size_t{1} << 20;
// At most the largest std::size_t, where that has 32 bits.
constexpr auto kMostBytes = static_cast<std::size_t>(
    std::min<std::uint64_t>(std::uint64_t{1} << 50, std::numeric_limits<std::size_t>::max()));

template <std::size_t ScheduleOptions::*kField, std::size_t kLeast, std::size_t kMost>
constexpr Row SizeRow(const OptionInfo& info) {
  return {info,
          [](ScheduleOptions& options, std::string_view value) {
            return internal::SetNumber(options.*kField, value, kLeast, kMost);
          },
          [](const ScheduleOptions& options) { return std::to_string(options.*kField); }};
}

#define BERTH_EXACT(field, sentence)                                           \
  internal::SwitchRow<ScheduleOptions, [](ScheduleOptions& options) -> bool& { \
    return options.exact.field;                                                \
  }>("exact." #field, true, sentence)

constexpr std::array kRows = {
    Row{{"algorithm", "auto", "a name from the list of algorithms", "How to order the operators."},
        [](ScheduleOptions& options, std::string_view value) {
          const auto algorithm = ScheduleAlgorithmFromName(value);
          if (!algorithm) return false;
          options.algorithm = *algorithm;
          return true;
        },
        [](const ScheduleOptions& options) { return std::string(Info(options.algorithm).name); }},
    internal::SwitchRow<ScheduleOptions,
                        [](ScheduleOptions& options) -> bool& { return options.counting.inputs; }>(
        "counting.inputs", false, "Count graph inputs, from the first step to their last use."),
    internal::SwitchRow<ScheduleOptions,
                        [](ScheduleOptions& options) -> bool& {
                          return options.counting.parameters;
                        }>("counting.parameters", false,
                           "Count parameters and constants, at every step."),
    SizeRow<&ScheduleOptions::beam_width, 1, kMostWidth>(
        {"beam_width", "128", "1..1000000", "Number of states that algorithm beam keeps."}),
    SizeRow<&ScheduleOptions::most_bytes, kLeastBytes, kMostBytes>(
        {"most_bytes", "2147483648", "1048576..1125899906842624",
         "Approximate memory for the states of all searches for one part of the order, in bytes."}),
    Row{{"threads", "1", "1..256", "Threads to use; the answer does not depend on it."},
        [](ScheduleOptions& options, std::string_view value) {
          return internal::SetNumber(options.threads, value, 1, 256);
        },
        [](const ScheduleOptions& options) { return std::to_string(options.threads); }},
    BERTH_EXACT(reduction, "Operators with an obvious place in any order are not searched."),
    BERTH_EXACT(segments, "Parts that every order runs one after the other are solved separately."),
    BERTH_EXACT(cut_bound, "Minimum cuts bound the step of each operator."),
    BERTH_EXACT(beam, "Beams look for good orders before and between the other searches."),
    BERTH_EXACT(annealing,
                "Simulated annealing looks for better orders between the other searches."),
    BERTH_EXACT(probing, "Minimum cuts find the order constraints that a limit implies."),
    BERTH_EXACT(
        refuting,
        "Bisection refutes limits, by constraints and states, or finds orders within them."),
    BERTH_EXACT(best_first, "Best-first search over sets of operators."),
    BERTH_EXACT(bisection, "Also asks for orders far below the best known, to raise the bound."),
    BERTH_EXACT(dominance,
                "An operator that frees at least what it creates, at no cost, runs at once."),
    BERTH_EXACT(valleys, "Several operators that together free what they create also run at once."),
    BERTH_EXACT(backwards, "Beams and best-first search also build orders from the end."),
};
#undef BERTH_EXACT

constexpr internal::OptionTable<ScheduleOptions> kTable(kRows);
constexpr auto kInfos = internal::InfosOf(kRows);

}  // namespace

std::span<const ScheduleAlgorithmInfo> ScheduleAlgorithms() { return kAlgorithms; }

const ScheduleAlgorithmInfo& Info(ScheduleAlgorithm algorithm) {
  const auto at = static_cast<std::size_t>(algorithm);
  BERTH_CHECK(at < kAlgorithms.size());
  return kAlgorithms[at];
}

std::optional<ScheduleAlgorithm> ScheduleAlgorithmFromName(std::string_view name) {
  const auto* const found =
      std::find_if(kAlgorithms.begin(), kAlgorithms.end(),
                   [&](const ScheduleAlgorithmInfo& info) { return info.name == name; });
  if (found == kAlgorithms.end()) return std::nullopt;
  return found->algorithm;
}

std::span<const OptionInfo> ScheduleOptionTable() { return kInfos; }

Result<void> SetOption(ScheduleOptions& options, std::string_view name, std::string_view value) {
  return kTable.Set(options, name, value);
}

Result<std::string> GetOption(const ScheduleOptions& options, std::string_view name) {
  return kTable.Get(options, name);
}

namespace internal::schedule {

Result<void> ValidateOptions(const ScheduleOptions& options) {
  if (static_cast<std::size_t>(options.algorithm) >= ScheduleAlgorithms().size()) {
    return Fail(ErrorCode::kInvalidOptions,
                "option algorithm is number " +
                    std::to_string(static_cast<int>(options.algorithm)) + ", which does not exist");
  }
  return kTable.Validate(options);
}

}  // namespace internal::schedule
}  // namespace berth
