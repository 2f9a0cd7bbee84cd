// berth sweep -- how much has to move off chip and back, for every size of the memory.
//
// The points of a model are solved from the largest capacity to the smallest, so that each begins
// with the order of the one before and no answer depends on how they are listed; that is as they
// were asked for. What is proved for a larger capacity holds for all smaller ones, and a plan for a
// smaller one is one for all larger. Points are written as they are done: a run that was stopped
// goes on from there, and shards of one sweep, run anywhere, are put together by --merge.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include "berth/page.h"
#include "berth/report.h"
#include "tools/berth/command.h"
#include "tools/berth/common.h"
#include "tools/berth/model.h"
#include "tools/berth/spilling.h"

namespace berth::internal {
namespace {

struct SweepArguments {
  ModelArguments model;
  std::vector<std::string> paths;
  std::vector<std::string> budgets;
  int points = 20;
  bool fixed_order = false;
  std::optional<double> time_limit;
  std::optional<std::int64_t> node_limit;
  std::string shard;
  std::string output;
  std::string svg;
  std::string report;
  std::vector<std::string> merge;
};

// What is known of the models besides their points, and how these came about: for the report.
struct Background {
  std::map<std::string, NamedBudgets> budgets;  // By model, of those that were read.
  std::vector<std::string> files;               // That points were read from.
  std::size_t solved = 0;                       // By this run.
};

// Unless told, a model is done within a minute; what easy points leave goes to hard ones.
constexpr double kSecondsForAll = 50;

constexpr std::string_view kHeader =
    "model,point,capacity,outcome,avoidable,spilled,retrieved,traffic_bound,traffic_by_sum,"
    "seconds,input";

struct Row : SweepPoint {
  std::string model;
  std::string input;  // The model's hash, and how it was read: points of another are not mixed in.
};

std::string Cell(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string ToCsv(const std::vector<Row>& rows) {
  std::ostringstream out;
  out << kHeader << "\n";
  for (const Row& row : rows) {
    out << Cell(row.model) << ',' << row.number << ',' << row.capacity << ','
        << ToString(row.outcome) << ',';
    if (row.avoidable) out << *row.avoidable;
    out << ',' << row.spilled << ',' << row.retrieved << ',' << row.traffic_bound << ','
        << row.traffic_by_sum << ',' << row.seconds << ',' << Cell(row.input) << "\n";
  }
  return out.str();
}

constexpr double kMostSeconds = 1e9;
constexpr Outcome kOutcomes[] = {Outcome::kOptimal, Outcome::kFeasible, Outcome::kInfeasible,
                                 Outcome::kUnknown};

// Reads what ToCsv() has written. Error: kParse, naming file and line.
Result<std::vector<Row>> FromCsv(const std::string& text, const std::string& name) {
  std::vector<Row> rows;
  std::istringstream in(text);
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    const auto wrong = [&] {
      return Fail(ErrorCode::kParse, OneLine(name) + ":" + std::to_string(number) +
                                         ": not a line of a sweep: '" + OneLine(line) + "'");
    };
    if (number == 1) {
      if (line != kHeader) return wrong();
      continue;
    }
    std::vector<std::string> cells(1);
    bool quoted = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
      if (line[i] == '"') {
        if (quoted && i + 1 < line.size() && line[i + 1] == '"') {
          cells.back() += line[++i];
        } else {
          quoted = !quoted;
        }
      } else if (line[i] == ',' && !quoted) {
        cells.emplace_back();
      } else {
        cells.back() += line[i];
      }
    }
    if (cells.size() != 11 || quoted) return wrong();
    const auto whole = [&](const std::string& cell) -> std::optional<Bytes> {
      Bytes value = 0;
      const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
      if (error != std::errc() || end != cell.data() + cell.size()) return {};
      return value < 0 || value > kMaxBytes ? std::nullopt : std::optional<Bytes>(value);
    };
    Row row;
    row.model = cells[0];
    const auto point = whole(cells[1]);
    const auto capacity = whole(cells[2]);
    const auto spilled = whole(cells[5]);
    const auto retrieved = whole(cells[6]);
    const auto bound = whole(cells[7]);
    const auto without = whole(cells[8]);
    if (!point || *point > 1'000'000 || !capacity || !spilled || !retrieved || !bound || !without) {
      return wrong();
    }
    row.number = static_cast<int>(*point);
    row.capacity = *capacity;
    if (!cells[4].empty()) {
      row.avoidable = whole(cells[4]);
      if (!row.avoidable) return wrong();
    }
    row.spilled = *spilled;
    row.retrieved = *retrieved;
    row.traffic_bound = *bound;
    row.traffic_by_sum = *without;
    char* end = nullptr;
    row.seconds = std::strtod(cells[9].c_str(), &end);
    row.input = cells[10];
    const auto outcome = std::find_if(std::begin(kOutcomes), std::end(kOutcomes),
                                      [&](Outcome each) { return ToString(each) == cells[3]; });
    if (outcome == std::end(kOutcomes) || cells[9].empty() || *end != '\0' ||
        !std::isfinite(row.seconds) || row.seconds < 0 || row.seconds > kMostSeconds) {
      return wrong();
    }
    row.outcome = *outcome;
    const bool planned = row.outcome == Outcome::kOptimal || row.outcome == Outcome::kFeasible;
    const auto contradiction = [&](const std::string& what) {
      return Fail(ErrorCode::kParse, OneLine(name) + ":" + std::to_string(number) + ": " + what +
                                         ": '" + OneLine(line) + "'");
    };
    if (planned != row.avoidable.has_value()) {
      return contradiction("the outcome is " + cells[3] + (planned ? " without" : " with") +
                           " avoidable traffic");
    }
    if (planned && *row.avoidable != row.spilled + row.retrieved) {
      return contradiction("avoidable is not spilled + retrieved");
    }
    if (planned && (*row.avoidable < row.traffic_bound || *row.avoidable < row.traffic_by_sum)) {
      return contradiction("avoidable is less than traffic_bound or traffic_by_sum");
    }
    if (row.outcome == Outcome::kOptimal && *row.avoidable != row.traffic_bound) {
      return contradiction("the outcome is optimal, but avoidable is not traffic_bound");
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

// Index and number of shards of "2/8", from 1.
Result<std::pair<int, int>> ParseShard(const std::string& text) {
  if (text.empty()) return std::pair{1, 1};
  int index = 0;
  int count = 0;
  const char* const last = text.data() + text.size();
  const auto [slash, first_error] = std::from_chars(text.data(), last, index);
  if (first_error == std::errc() && slash != last && *slash == '/') {
    const auto [end, error] = std::from_chars(slash + 1, last, count);
    if (error == std::errc() && end == last && index >= 1 && index <= count && count <= 100'000) {
      return std::pair{index, count};
    }
  }
  return Fail(ErrorCode::kInvalidOptions,
              "--shard: '" + OneLine(text) + "' is not such as 2/8, the second of eight");
}

// Points of two models, or of one read in two ways, must not be taken for one curve.
Result<void> CheckOneInput(const std::vector<Row>& rows, const Row& other,
                           const std::string& where) {
  for (const Row& row : rows) {
    if (row.model != other.model || row.input == other.input) continue;
    return Fail(ErrorCode::kInvalidOptions,
                where + " has points of another " + OneLine(row.model) +
                    ", or of the same with other options: (" + OneLine(row.input) + ") and (" +
                    OneLine(other.input) + "); give each a file of its own");
  }
  return {};
}

void Sort(std::vector<Row>& rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return a.model != b.model ? a.model < b.model : a.number < b.number;
  });
}

// A plan for less memory is one for more; what cannot be done with more cannot with less.
void Tighten(std::vector<Row>& rows) {
  std::map<std::string, std::vector<Row*>> models;
  for (Row& row : rows) models[row.model].push_back(&row);
  for (auto& [name, points] : models) {
    std::stable_sort(points.begin(), points.end(),
                     [](const Row* a, const Row* b) { return a->capacity < b->capacity; });
    const Row* best = nullptr;
    for (Row* row : points) {
      if (best != nullptr && (!row->avoidable || *row->avoidable > *best->avoidable)) {
        row->avoidable = best->avoidable;
        row->spilled = best->spilled;
        row->retrieved = best->retrieved;
        row->traffic_by_sum = best->traffic_by_sum;
        row->outcome = Outcome::kFeasible;
      }
      if (row->avoidable) best = row;
    }
    Bytes bound = 0;
    std::reverse(points.begin(), points.end());
    for (Row* row : points) {
      if (row->outcome == Outcome::kInfeasible) continue;
      bound = std::max(bound, row->traffic_bound);
      row->traffic_bound = bound;
      if (row->avoidable && *row->avoidable == bound) row->outcome = Outcome::kOptimal;
    }
  }
}

constexpr std::string_view kProgramOrder = " program-order";

// What the answers depend on besides the capacity.
std::string InputOf(const Model& model, const ModelArguments& arguments, bool fixed_order) {
  std::string text = model.hash();
  if (arguments.counting.inputs) text += " inputs";
  if (arguments.counting.parameters) text += " parameters";
  if (fixed_order) text += kProgramOrder;
  if (arguments.in_place) text += " in-place";
  if (arguments.onnx.element_bytes) {
    text += " element-bytes=" + std::to_string(*arguments.onnx.element_bytes);
  }
  for (const OnnxDimension& dimension : arguments.onnx.dimensions) {
    text += " " + OneLine(dimension.name) + "=" + std::to_string(dimension.size);
  }
  return text;
}

// Whether InputOf() says so.
bool IsOfProgramOrder(const std::string& input) {
  return (input + " ").find(std::string(kProgramOrder) + " ") != std::string::npos;
}

std::string TableOf(const std::vector<Row>& rows) {
  using Align = TextTable::Align;
  TextTable table(
      {Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kLeft, Align::kRight});
  table.AddRow({"model", "capacity", "off-chip bytes", "lower bound", "", "time"});
  for (const Row& row : rows) {
    table.AddRow({Abridged(row.model, 40), FormatCount(row.capacity),
                  row.avoidable ? FormatCount(*row.avoidable) : "-", FormatCount(row.traffic_bound),
                  std::string(ToString(row.outcome)) +
                      (IsOfProgramOrder(row.input) ? ", in program order" : ""),
                  FormatSeconds(row.seconds)});
  }
  return table.ToString();
}

std::string PictureOf(const std::vector<Row>& rows) {
  Chart chart;
  chart.title = "Off-chip traffic against memory";
  chart.subtitle = "spilled and retrieved, beside what is compulsory";
  chart.x.label = "memory";
  chart.x.unit = ChartUnit::kBytes;
  chart.y.label = "avoidable traffic";
  chart.y.unit = ChartUnit::kBytes;
  chart.y.first = 0;
  chart.open_means = "not proved the least";
  std::map<std::string, ChartSeries> series;
  for (const Row& row : rows) {
    if (!row.avoidable) continue;
    ChartSeries& line = series[row.model];
    line.name = row.model + (IsOfProgramOrder(row.input) ? ", in program order" : "");
    line.style = ChartSeries::Style::kSteps;
    line.points.push_back(
        {static_cast<double>(row.capacity), static_cast<double>(*row.avoidable),
         row.outcome != Outcome::kOptimal,
         FormatBytesExactly(row.capacity) + ": " + FormatBytesExactly(*row.avoidable)});
  }
  if (series.size() == 1) chart.title += ", " + series.begin()->second.name;
  for (auto& [name, line] : series) {
    std::stable_sort(line.points.begin(), line.points.end(),
                     [](const ChartPoint& a, const ChartPoint& b) { return a.x < b.x; });
    chart.series.push_back(std::move(line));
  }
  return WriteSvg(chart);
}

// How the points came about, as pairs of a title and what it says.
std::vector<std::pair<std::string, std::string>> ProvenanceOf(const SweepArguments& arguments,
                                                              const Background& background) {
  std::vector<std::pair<std::string, std::string>> lines = {{"berth version", BERTH_VERSION}};
  const auto joined = [](const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : ", ") + OneLine(word);
    return text;
  };
  if (arguments.merge.empty()) {
    lines.emplace_back("capacities", arguments.budgets.empty()
                                         ? std::to_string(arguments.points) + " from MP down to MR"
                                         : joined(arguments.budgets));
    lines.emplace_back("order of the operators",
                       arguments.fixed_order ? "as written" : "searched for");
    lines.emplace_back("time limit", arguments.time_limit
                                         ? FormatSeconds(*arguments.time_limit) + " for each point"
                                     : arguments.node_limit
                                         ? "none"
                                         : FormatSeconds(kSecondsForAll) + " for each model");
    lines.emplace_back("node limit", arguments.node_limit
                                         ? FormatCount(*arguments.node_limit) + " for each point"
                                         : "none");
    lines.emplace_back("seed", GetOption(PlaceOptions{}, "seed").value());
    if (!arguments.shard.empty()) lines.emplace_back("shard", OneLine(arguments.shard));
    lines.emplace_back("solved by this run",
                       Plural(static_cast<std::int64_t>(background.solved), "point"));
  }
  if (!background.files.empty()) lines.emplace_back("read from", joined(background.files));
  std::string verdict;
  if (background.solved > 0) {
    verdict =
        "accepted every plan that this run found, each run in a memory that knows whose "
        "bytes it holds";
  }
  if (!background.files.empty()) {
    verdict += (verdict.empty() ? "" : "; ") + std::string("has not seen the plans of points read");
  }
  lines.emplace_back("verifier", verdict.empty() ? "nothing to verify" : verdict);
  return lines;
}

// `rows` are sorted by model.
std::vector<SweepCurve> CurvesOf(const std::vector<Row>& rows, const Background& background) {
  std::vector<SweepCurve> curves;
  for (const Row& row : rows) {
    if (curves.empty() || curves.back().model != row.model) {
      SweepCurve& curve = curves.emplace_back();
      curve.model = row.model;
      curve.input = row.input;
      curve.fixed_order = IsOfProgramOrder(row.input);
      const auto named = background.budgets.find(row.model);
      if (named != background.budgets.end()) {
        curve.least = named->second.least.bytes;
        // In program order more may have to leave there.
        if (!curve.fixed_order) curve.least_peak = named->second.least_peak;
      }
    }
    curves.back().points.push_back(row);
  }
  return curves;
}

Result<ExitCode> Finish(const SweepArguments& arguments, std::vector<Row> rows,
                        const Background& background) {
  Sort(rows);
  Tighten(rows);
  if (!arguments.output.empty()) {
    if (auto written = WriteFile(arguments.output, ToCsv(rows)); !written) {
      return tl::unexpected(written.error());
    }
  }
  if (!arguments.svg.empty()) {
    if (auto written = WriteFile(arguments.svg, PictureOf(rows)); !written) {
      return tl::unexpected(written.error());
    }
  }
  if (!arguments.report.empty()) {
    const std::string page =
        WritePage(CurvesOf(rows, background), ProvenanceOf(arguments, background));
    if (auto written = WriteFile(arguments.report, page); !written) {
      return tl::unexpected(written.error());
    }
  }
  if (!IsStandardOutput(arguments.output) && !IsStandardOutput(arguments.svg) &&
      !IsStandardOutput(arguments.report)) {
    Print(TableOf(rows));
  }
  return kDone;
}

// What fits a memory fits a larger one.
Result<void> CheckThatMoreMemoryFits(const std::vector<Row>& rows) {
  std::map<std::string, Bytes> least;  // With a plan.
  for (const Row& row : rows) {
    if (!row.avoidable) continue;
    const auto [place, is_new] = least.emplace(row.model, row.capacity);
    if (!is_new) place->second = std::min(place->second, row.capacity);
  }
  for (const Row& row : rows) {
    const auto fits = least.find(row.model);
    if (row.outcome != Outcome::kInfeasible || fits == least.end()) continue;
    if (row.capacity < fits->second) continue;
    return Fail(ErrorCode::kInvalidOptions, "--merge: " + OneLine(row.model) + " has a plan in " +
                                                std::to_string(fits->second) +
                                                " bytes, but is said not to fit " +
                                                std::to_string(row.capacity));
  }
  return {};
}

Result<ExitCode> Merge(const SweepArguments& arguments) {
  std::map<std::pair<std::string, int>, Row> known;
  std::vector<Row> all;  // One of each model at least.
  for (const std::string& path : arguments.merge) {
    const auto text = ReadFile(path);
    if (!text) return tl::unexpected(text.error());
    auto rows = FromCsv(*text, path);
    if (!rows) return tl::unexpected(rows.error());
    if (rows->empty()) {
      return Fail(ErrorCode::kParse, "--merge: " + OneLine(path) + " has no points");
    }
    for (Row& row : *rows) {
      if (auto same = CheckOneInput(all, row, "--merge: " + OneLine(path)); !same) {
        return tl::unexpected(same.error());
      }
      if (all.empty() || all.back().model != row.model) all.push_back(row);
      const auto [place, is_new] = known.emplace(std::pair{row.model, row.number}, row);
      if (!is_new && place->second.capacity != row.capacity) {
        return Fail(ErrorCode::kInvalidOptions,
                    "--merge: " + OneLine(path) + " has point " + std::to_string(row.number) +
                        " of " + OneLine(row.model) + " with " + std::to_string(row.capacity) +
                        " bytes, which is known with " + std::to_string(place->second.capacity) +
                        ": these are not of one sweep");
      }
    }
  }
  std::vector<Row> rows;
  rows.reserve(known.size());
  for (auto& [key, row] : known) rows.push_back(std::move(row));
  if (auto agree = CheckThatMoreMemoryFits(rows); !agree) return tl::unexpected(agree.error());
  Background background;
  background.files = arguments.merge;
  return Finish(arguments, std::move(rows), background);
}

// A model, and what of its points this run is to solve.
struct Task {
  Model model;
  Counting counting;
  NamedBudgets named;
  Row about;                        // What all its rows say.
  std::vector<Bytes> capacities;    // Of all its points.
  std::vector<std::size_t> points;  // Ours that are not done, by falling capacity.
};

// As asked for; else from MP down to MR, both included.
Result<std::vector<Bytes>> CapacitiesOf(const SweepArguments& arguments,
                                        const NamedBudgets& named) {
  std::vector<Bytes> capacities;
  for (const std::string& text : arguments.budgets) {
    const auto capacity = ParseCapacity(text);
    if (!capacity) {
      return Fail(ErrorCode::kInvalidOptions,
                  "--budget: '" + OneLine(text) +
                      "' is neither MR, MH, MP nor a number of bytes such as 512KiB");
    }
    capacities.push_back(named.Of(*capacity));
  }
  if (!arguments.budgets.empty()) return capacities;
  const Bytes span = named.least_peak - named.least.bytes;
  const int last = arguments.points - 1;
  for (int i = 0; i < arguments.points; ++i) {
    // Without a product that could overflow.
    const Bytes part = last == 0 ? 0 : span / last * i + span % last * i / last;
    capacities.push_back(named.least_peak - part);
  }
  return capacities;
}

// Rows of an earlier run must be points of this sweep, of whichever shard.
Result<void> CheckRows(const std::vector<Row>& rows, const Task& task, const std::string& where) {
  if (auto same = CheckOneInput(rows, task.about, where); !same) return same;
  for (const Row& row : rows) {
    if (row.model != task.about.model) continue;
    const auto number = static_cast<std::size_t>(row.number);
    const bool known = number < task.capacities.size();
    if (known && row.capacity == task.capacities[number]) continue;
    return Fail(
        ErrorCode::kInvalidOptions,
        where + " has point " + std::to_string(row.number) + " of " + row.model + " with " +
            std::to_string(row.capacity) + " bytes, " +
            (known ? "where it is now asked for with " + std::to_string(task.capacities[number])
                   : "one that is not asked for now") +
            ": give each list of capacities a file of its own");
  }
  return {};
}

// The models that have points of ours. All is checked before anything is solved.
Result<std::vector<Task>> TasksOf(const SweepArguments& arguments, std::pair<int, int> shard,
                                  const std::vector<Row>& rows) {
  std::vector<Task> tasks;
  const auto count = static_cast<std::int64_t>(arguments.budgets.empty()
                                                   ? static_cast<std::size_t>(arguments.points)
                                                   : arguments.budgets.size());
  const auto is_ours = [&](std::int64_t unit) { return unit % shard.second == shard.first - 1; };
  std::int64_t first = 0;  // Of this model's points, counted through all models.
  for (const std::string& path : arguments.paths) {
    const std::int64_t begin = std::exchange(first, first + count);
    bool any = false;
    for (std::int64_t i = 0; i < count && !any; ++i) any = is_ours(begin + i);
    if (!any) continue;
    ModelArguments one = arguments.model;
    one.path = path;
    auto model = LoadModel(one);
    if (!model) return tl::unexpected(model.error());
    Task task{*std::move(model), one.counting, {}, {}, {}, {}};
    task.about.model = OneLine(task.model.name);
    task.about.input = InputOf(task.model, one, arguments.fixed_order);
    Budget scheduling;
    auto named = FindBudgets(task.model.graph, one.counting, scheduling);
    if (!named) return tl::unexpected(named.error());
    task.named = *std::move(named);
    auto capacities = CapacitiesOf(arguments, task.named);
    if (!capacities) return tl::unexpected(capacities.error());
    task.capacities = *std::move(capacities);
    const std::string where = arguments.output.empty() ? "this sweep" : OneLine(arguments.output);
    if (auto checked = CheckRows(rows, task, where); !checked) {
      return tl::unexpected(checked.error());
    }
    bool again = false;  // The same model a second time: its points are those of the first.
    for (const Task& other : tasks) {
      if (auto same = CheckOneInput({other.about}, task.about, where); !same) {
        return tl::unexpected(same.error());
      }
      again = again || other.about.model == task.about.model;
    }
    if (again) continue;
    for (std::size_t i = 0; i < task.capacities.size(); ++i) {
      const bool done = std::any_of(rows.begin(), rows.end(), [&](const Row& row) {
        return row.model == task.about.model && row.number == static_cast<int>(i);
      });
      if (!done && is_ours(begin + static_cast<std::int64_t>(i))) task.points.push_back(i);
    }
    std::stable_sort(task.points.begin(), task.points.end(), [&](std::size_t i, std::size_t j) {
      return task.capacities[i] > task.capacities[j];
    });
    tasks.push_back(std::move(task));
  }
  return tasks;
}

// Solves the points of `task`; each is added to `rows` and written as it is done.
Result<void> Solve(const SweepArguments& arguments, const Task& task, std::vector<Row>& rows) {
  double seconds_left = kSecondsForAll * static_cast<double>(task.points.size()) /
                        static_cast<double>(task.capacities.size());
  Order before;
  for (std::size_t k = 0; k < task.points.size(); ++k) {
    const std::size_t i = task.points[k];
    Budget budget;
    if (arguments.time_limit || !arguments.node_limit) {
      const double share = seconds_left / static_cast<double>(task.points.size() - k);
      budget.SetTimeLimit(arguments.time_limit.value_or(share));
    }
    if (arguments.node_limit) budget.SetNodeLimit(*arguments.node_limit);
    std::vector<Order> orders = {ProgramOrder(task.model.graph), task.named.order};
    if (!before.empty()) orders.push_back(before);
    const auto answer = SolveSpills(task.model.graph, task.counting, task.capacities[i],
                                    std::move(orders), arguments.fixed_order, budget);
    if (!answer) return tl::unexpected(answer.error());
    Row row = task.about;
    row.number = static_cast<int>(i);
    row.capacity = task.capacities[i];
    row.outcome = answer->outcome;
    row.traffic_bound = answer->traffic_bound;
    row.traffic_by_sum = answer->traffic_by_sum;
    row.seconds = answer->seconds;
    seconds_left = std::max(0.0, seconds_left - answer->seconds);
    if (answer->best) {
      row.avoidable = answer->best->traffic.avoidable();
      row.spilled = answer->best->traffic.spilled;
      row.retrieved = answer->best->traffic.retrieved;
      before = answer->best->order;
    }
    rows.push_back(std::move(row));
    if (!arguments.output.empty() && !IsStandardOutput(arguments.output)) {
      if (auto written = WriteFile(arguments.output, ToCsv(rows)); !written) return written;
    }
  }
  return {};
}

Result<ExitCode> Run(const SweepArguments& arguments) {
  for (const Result<void>& checked :
       {CheckOneWriter({{"--output -", IsStandardOutput(arguments.output)},
                        {"--svg -", IsStandardOutput(arguments.svg)},
                        {"--report -", IsStandardOutput(arguments.report)}}),
        CheckOutput(arguments.output), CheckOutput(arguments.svg), CheckReport(arguments.report)}) {
    if (!checked) return tl::unexpected(checked.error());
  }
  if (!arguments.merge.empty()) return Merge(arguments);
  if (arguments.paths.empty()) {
    return Fail(ErrorCode::kInvalidOptions, "berth sweep needs a model, or --merge and files");
  }
  const auto shard = ParseShard(arguments.shard);
  if (!shard) return tl::unexpected(shard.error());

  // What an earlier run has done.
  std::vector<Row> rows;
  Background background;
  if (!arguments.output.empty() && !IsStandardOutput(arguments.output) &&
      std::filesystem::exists(arguments.output)) {
    const auto text = ReadFile(arguments.output);
    if (!text) return tl::unexpected(text.error());
    if (!text->empty()) {
      auto done = FromCsv(*text, arguments.output);
      if (!done) return tl::unexpected(done.error());
      rows = std::move(*done);
      if (!rows.empty()) background.files.push_back(arguments.output);
    }
  }
  auto tasks = TasksOf(arguments, *shard, rows);
  if (!tasks) return tl::unexpected(tasks.error());
  for (Task& task : *tasks) {
    if (auto solved = Solve(arguments, task, rows); !solved) {
      return tl::unexpected(solved.error());
    }
    background.solved += task.points.size();
    background.budgets[task.about.model] = std::move(task.named);
  }
  return Finish(arguments, std::move(rows), background);
}

}  // namespace

Command AddSweepCommand(CLI::App& berth) {
  CLI::App* app = berth.add_subcommand(
      "sweep", "Off-chip traffic against the size of the memory: table, CSV, picture and page.");
  const auto arguments = std::make_shared<SweepArguments>();
  app->add_option("MODEL", arguments->paths, "Models: ONNX or graph JSON.");
  AddModelSizes(*app, arguments->model);
  app->add_option_function<std::string>(
         "--count",
         [arguments](const std::string& text) {
           Counting& counting = arguments->model.counting;
           if (text == "none" || text == "inputs" || text == "parameters" || text == "all") {
             counting.inputs = text == "inputs" || text == "all";
             counting.parameters = text == "parameters" || text == "all";
             return;
           }
           throw CLI::ValidationError("--count", "'" + OneLine(text) +
                                                     "' is not one of none, inputs, parameters, "
                                                     "all");
         },
         "What needs memory while it is used besides what operators make: none, inputs, "
         "parameters or all. Default: none.")
      ->type_name("WHAT");
  app->add_option("--budget", arguments->budgets,
                  "Capacities: MR, MH, MP or bytes, several times or with commas. Without: "
                  "--points from MP down to MR.")
      ->delimiter(',')
      ->type_name("BYTES");
  AddInteger(*app, "--points", arguments->points, 1, 1000, "How many capacities. Default: 20.");
  app->add_flag("--program-order", arguments->fixed_order, "Operators in program order only.");
  AddDuration(*app, "--time-limit", arguments->time_limit,
              "For each point, such as 10s. Default: 50 s for all points of a model together, "
              "or none with --node-limit.");
  AddCount(*app, "--node-limit", arguments->node_limit, "For each point.");
  app->add_option("--shard", arguments->shard,
                  "Do every n-th point only, from the i-th: i/n, such as 2/8.")
      ->type_name("I/N");
  app->add_option("-o,--output", arguments->output,
                  "Write the points as CSV, each as it is done. Points that the file already has "
                  "are not done again.")
      ->type_name("FILE");
  app->add_option("--svg", arguments->svg, "Draw traffic against capacity.")->type_name("FILE");
  AddReport(*app, arguments->report,
            "The curves as one HTML file: every point, what is proved of it, and what it costs");
  app->add_option("--merge", arguments->merge,
                  "Put the CSV files of shards together instead of searching.")
      ->type_name("FILES");
  app->footer(
      "Exit codes: 0 done, 2 bad input or usage.\n"
      "\nExamples:\n"
      "  berth sweep model.onnx -o sweep.csv --svg sweep.svg    Twenty points from MP to MR.\n"
      "  berth sweep model.onnx --report sweep.html             The curve, to explore.\n"
      "  berth sweep *.onnx --budget MR,MH,MP --shard 2/8 -o 2.csv   One of eight parts.\n"
      "  berth sweep --merge 1.csv 2.csv -o all.csv --svg all.svg");
  return {app, [arguments] { return Run(*arguments); }};
}

}  // namespace berth::internal
