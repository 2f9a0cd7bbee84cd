// Sweeps as CSV: a row for each point, its columns found by the names in the header.

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>

#include "base/csv.h"
#include "base/source.h"
#include "base/text.h"
#include "base/try.h"
#include "berth/file.h"
#include "berth/sweep_io.h"

namespace berth {
namespace internal {
namespace {

enum class SweepColumn {
  kModel,
  kPoint,
  kCapacity,
  kOutcome,
  kAvoidable,
  kSpilled,
  kRetrieved,
  kTrafficBound,
  kTrafficBySum,
  kSeconds,
  kInput,
  // From here on: of sweeps with recomputation.
  kRecomputedOperators,
  kRecomputed,
  kCopyCost,
  kRecomputeBound,
  kRunCost,
  kCostUnit,
};
struct SweepColumnName {
  std::string_view name;
  std::string_view former = {};
};
// By SweepColumn.
constexpr std::array<SweepColumnName, 17> kColumns = {{{"model"},
                                                       {"point"},
                                                       {"capacity"},
                                                       {"outcome"},
                                                       {"avoidable"},
                                                       {"spilled"},
                                                       {"retrieved"},
                                                       {"traffic_bound", "lower_bound"},
                                                       {"traffic_by_sum", "without_addresses"},
                                                       {"seconds"},
                                                       {"input"},
                                                       {"recomputed_operators"},
                                                       {"recomputed"},
                                                       {"copy_cost"},
                                                       {"recompute_bound"},
                                                       {"run_cost"},
                                                       {"cost_unit"}}};
constexpr std::size_t kAlways = static_cast<std::size_t>(SweepColumn::kRecomputedOperators);

constexpr std::string_view kFixedOrder = "program-order";  // A word of `input`.
constexpr Bytes kMostPoints = 1'000'000;
constexpr double kMostSeconds = 1e9;
constexpr std::int64_t kMostCost = std::int64_t{1} << 61;  // Of a plan with recomputation.
constexpr Outcome kOutcomes[] = {Outcome::kOptimal, Outcome::kFeasible, Outcome::kInfeasible,
                                 Outcome::kUnknown};

bool HasWord(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + 1)) {
    const bool begins = at == 0 || text[at - 1] == ' ';
    const bool ends = at + word.size() == text.size() || text[at + word.size()] == ' ';
    if (begins && ends) return true;
  }
  return false;
}

class SweepReader {
 public:
  explicit SweepReader(const Source& source) : source_(source), records_(source) {}

  Result<std::vector<SweepCurve>> Read() {
    BERTH_TRY(source_.CheckEncoding());
    if (!BERTH_TRY(records_.Next())) return curves_;
    BERTH_TRY(ReadHeader());
    while (BERTH_TRY(records_.Next())) BERTH_TRY(ReadPoint());
    for (SweepCurve& curve : curves_) {
      std::stable_sort(
          curve.points.begin(), curve.points.end(),
          [](const SweepPoint& a, const SweepPoint& b) { return a.number < b.number; });
    }
    return std::move(curves_);
  }

 private:
  Result<void> ReadHeader() {
    width_ = records_.fields().size();
    for (std::size_t i = 0; i < width_; ++i) {
      const CsvField& field = records_.fields()[i];
      const auto* const column =
          std::find_if(kColumns.begin(), kColumns.end(), [&](const SweepColumnName& known) {
            return field.value == known.name ||
                   (!known.former.empty() && field.value == known.former);
          });
      if (column == kColumns.end()) {
        return source_.FailAt(field.position, "the column " + Quoted(field.value) +
                                                  " is none of a sweep; this is not a sweep's CSV");
      }
      auto& position = positions_[static_cast<std::size_t>(column - kColumns.begin())];
      if (position) {
        return source_.FailAt(field.position,
                              "the column " + std::string(column->name) + " comes twice");
      }
      position = i;
    }
    const bool with_costs = std::any_of(positions_.begin() + kAlways, positions_.end(),
                                        [](const auto& position) { return position.has_value(); });
    for (std::size_t c = 0; c < (with_costs ? kColumns.size() : kAlways); ++c) {
      if (positions_[c]) continue;
      return source_.FailAt(records_.end(), "the column " + std::string(kColumns[c].name) +
                                                " is missing; this is not a sweep's CSV");
    }
    return {};
  }

  Result<void> ReadPoint() {
    if (records_.fields().size() != width_) {
      return source_.FailAt(records_.end(),
                            "the row has " + std::to_string(records_.fields().size()) +
                                " fields, the header has " + std::to_string(width_));
    }
    SweepPoint point;
    Bytes number = 0;
    BERTH_TRY(ReadWhole(SweepColumn::kPoint, kMostPoints, number));
    point.number = static_cast<int>(number);
    BERTH_TRY(ReadWhole(SweepColumn::kCapacity, kMaxBytes, point.capacity));
    BERTH_TRY(ReadOutcome(point.outcome));
    if (!At(SweepColumn::kAvoidable).value.empty()) {
      BERTH_TRY(ReadWhole(SweepColumn::kAvoidable, kMaxBytes, point.avoidable.emplace()));
    }
    BERTH_TRY(ReadWhole(SweepColumn::kSpilled, kMaxBytes, point.spilled));
    BERTH_TRY(ReadWhole(SweepColumn::kRetrieved, kMaxBytes, point.retrieved));
    BERTH_TRY(ReadWhole(SweepColumn::kTrafficBound, kMaxBytes, point.traffic_bound));
    BERTH_TRY(ReadWhole(SweepColumn::kTrafficBySum, kMaxBytes, point.traffic_by_sum));
    BERTH_TRY(ReadSeconds(point.seconds));
    std::optional<RunCost> run;
    BERTH_TRY(ReadCost(point, run));
    if (auto valid = Validate(point); !valid) {
      return source_.FailAt(At(SweepColumn::kOutcome).position, valid.error().message);
    }
    SweepCurve& curve = CurveOf(At(SweepColumn::kModel).value, At(SweepColumn::kInput).value);
    if (!curve.points.empty() && curve.run != run) {
      return source_.FailAt(records_.end(),
                            "the model's run_cost or cost_unit differs from that of "
                            "its first point");
    }
    curve.run = run;
    curve.points.push_back(point);
    return {};
  }

  // Of sweeps with recomputation. The columns are missing or empty in the others.
  Result<void> ReadCost(SweepPoint& point, std::optional<RunCost>& run) const {
    if (!positions_[kAlways]) return {};
    if (At(SweepColumn::kRunCost).value.empty()) {
      for (std::size_t c = kAlways; c < kColumns.size(); ++c) {
        const auto column = static_cast<SweepColumn>(c);
        if (!At(column).value.empty()) return FailIn(column, "empty, as run_cost is");
      }
      return {};
    }
    SweepCost& cost = point.cost.emplace();
    BERTH_TRY(ReadWhole(SweepColumn::kRecomputedOperators, kMaxBytes, cost.operators));
    BERTH_TRY(ReadWhole(SweepColumn::kRecomputed, kMostCost, cost.recomputed));
    BERTH_TRY(ReadWhole(SweepColumn::kCopyCost, kMostCost, cost.copies));
    BERTH_TRY(ReadWhole(SweepColumn::kRecomputeBound, kMostCost, cost.bound));
    run.emplace();
    BERTH_TRY(ReadWhole(SweepColumn::kRunCost, kMaxBytes, run->cost));
    run->unit = At(SweepColumn::kCostUnit).value;
    return {};
  }

  [[nodiscard]] const CsvField& At(SweepColumn column) const {
    return records_.fields()[*positions_[static_cast<std::size_t>(column)]];
  }

  [[nodiscard]] tl::unexpected<Error> FailIn(SweepColumn column,
                                             const std::string& expected) const {
    const CsvField& field = At(column);
    return source_.FailAt(field.position,
                          std::string(kColumns[static_cast<std::size_t>(column)].name) + " " +
                              Quoted(field.value) + " is not " + expected);
  }

  Result<void> ReadWhole(SweepColumn column, Bytes most, Bytes& value) const {
    const std::string_view text = At(column).value;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = error == std::errc() && end == text.data() + text.size();
    if (whole && value >= 0 && value <= most) return {};
    return FailIn(column, "a whole number from 0 to " + std::to_string(most));
  }

  Result<void> ReadOutcome(Outcome& outcome) const {
    const std::string_view text = At(SweepColumn::kOutcome).value;
    const auto* const found = std::find_if(std::begin(kOutcomes), std::end(kOutcomes),
                                           [&](Outcome each) { return ToString(each) == text; });
    if (found == std::end(kOutcomes)) {
      return FailIn(SweepColumn::kOutcome, "one of optimal, feasible, infeasible, unknown");
    }
    outcome = *found;
    return {};
  }

  Result<void> ReadSeconds(double& seconds) const {
    const std::string_view text = At(SweepColumn::kSeconds).value;
    // Not std::from_chars, which reads whole numbers only in some standard libraries (libc++ 14).
    const auto json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (json.is_number()) seconds = json.get<double>();
    if (json.is_number() && std::isfinite(seconds) && seconds >= 0 && seconds <= kMostSeconds)
      return {};
    return FailIn(SweepColumn::kSeconds, "a number of seconds");
  }

  SweepCurve& CurveOf(std::string_view model, std::string_view input) {
    const auto is_it = [&](const SweepCurve& curve) {
      return curve.model == model && curve.input == input;
    };
    // Mostly the curve of the row before.
    if (!curves_.empty() && is_it(curves_.back())) return curves_.back();
    const auto found = std::find_if(curves_.begin(), curves_.end(), is_it);
    if (found != curves_.end()) return *found;
    SweepCurve& curve = curves_.emplace_back();
    curve.model = model;
    curve.input = input;
    curve.fixed_order = HasWord(input, kFixedOrder);
    return curve;
  }

  const Source& source_;
  CsvReader records_;
  std::array<std::optional<std::size_t>, kColumns.size()> positions_;  // In a record.
  std::size_t width_ = 0;
  std::vector<SweepCurve> curves_;
};

}  // namespace
}  // namespace internal

Result<std::vector<SweepCurve>> ReadSweepCsv(std::string_view text, std::string_view name) {
  const internal::Source source(text, name);
  return internal::SweepReader(source).Read();
}

std::string SweepInput(const Provenance& provenance, bool fixed_order, const Graph& graph) {
  const Counting& counting = provenance.options.schedule.counting;
  std::string text = provenance.input_hash;
  if (counting.inputs) text += " inputs";
  if (counting.parameters) text += " parameters";
  if (fixed_order) text += " program-order";
  if (provenance.in_place) text += " in-place";
  if (provenance.fused) text += " fuse";
  if (counting.unsized_as_zero) text += " allow-unknown";
  const OnnxOptions& reading = provenance.reading;
  if (reading.alignment != 1) text += " alignment=" + std::to_string(reading.alignment);
  if (reading.element_bytes) text += " element-bytes=" + std::to_string(*reading.element_bytes);
  for (const OnnxDimension& dimension : reading.dimensions) {
    text += " " + internal::Printable(dimension.name) + "=" + std::to_string(dimension.size);
  }
  if (reading.other_dimensions) {
    text += " dim-default=" + std::to_string(*reading.other_dimensions);
  }
  const PlanOptions& plan = provenance.options;
  if (plan.recompute) {
    std::string costs;
    for (const std::int64_t cost : CostsOf(graph).of) costs += std::to_string(cost) + ' ';
    text += " recompute costs=" + HashOf(costs);
  }
  if (plan.recompute && plan.link) {
    text += " link=" + std::to_string(plan.link->out_bytes_per_second) + "/" +
            std::to_string(plan.link->in_bytes_per_second) + "/" +
            std::to_string(plan.link->latency_nanoseconds);
  }
  return text;
}

std::string WriteSweepCsv(const std::vector<SweepCurve>& curves) {
  std::ostringstream out;
  std::string_view separator;
  const bool with_costs = std::any_of(
      curves.begin(), curves.end(), [](const SweepCurve& curve) { return curve.run.has_value(); });
  const std::size_t columns = with_costs ? internal::kColumns.size() : internal::kAlways;
  for (std::size_t c = 0; c < columns; ++c) {
    out << std::exchange(separator, ",") << internal::kColumns[c].name;
  }
  out << "\n";
  for (const SweepCurve& curve : curves) {
    const std::string model = internal::CsvCell(curve.model);
    const std::string input = internal::CsvCell(curve.input);
    for (const SweepPoint& point : curve.points) {
      out << model << ',' << point.number << ',' << point.capacity << ',' << ToString(point.outcome)
          << ',';
      if (point.avoidable) out << *point.avoidable;
      out << ',' << point.spilled << ',' << point.retrieved << ',' << point.traffic_bound << ','
          << point.traffic_by_sum << ',' << point.seconds << ',' << input;
      if (point.cost && curve.run) {
        const SweepCost& cost = *point.cost;
        out << ',' << cost.operators << ',' << cost.recomputed << ',' << cost.copies << ','
            << cost.bound << ',' << curve.run->cost << ',' << internal::CsvCell(curve.run->unit);
      } else if (with_costs) {
        out << ",,,,,,";
      }
      out << "\n";
    }
  }
  return out.str();
}

std::string WriteMemorySweepCsv(const std::vector<MemoryPoint>& points,
                                const std::string& cost_unit, bool may_move) {
  // The unit of costs is anybody's text.
  std::string text = "capacity,outcome,unplaced," + internal::CsvCell("cost_" + cost_unit) + "," +
                     internal::CsvCell("cost_bound_" + cost_unit) + (may_move ? ",copies" : "") +
                     ",seconds\n";
  for (const MemoryPoint& point : points) {
    text += std::to_string(point.capacity) + "," + std::string(ToString(point.outcome)) + "," +
            std::to_string(point.cost.unplaced) + "," + std::to_string(point.cost.cost) + "," +
            std::to_string(point.cost_bound.cost) + "," +
            (may_move ? std::to_string(point.copies) + "," : "") + std::to_string(point.seconds) +
            "\n";
  }
  return text;
}

}  // namespace berth
