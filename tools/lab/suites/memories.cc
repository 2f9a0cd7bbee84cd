// Which buffers stay in a fast memory: one memory of some percent of the load, everything optional,
// benefit = size times accesses. After sections 2.3, 5.6 and 7.4 of M. Maas et al., "TelaMalloc", where
// a compiler keeps its most useful buffers in the fast memory of an accelerator and repacks it when a
// buffer finds no room. Their Figure 18 has the time of whole programs; here it is the benefit kept.
#include "berth/memories.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/try.h"
#include "berth/baselines.h"
#include "berth/place.h"
#include "berth/repack.h"
#include "tools/berth/terminal.h"
#include "tools/generate/on_chip.h"
#include "tools/lab/bench/benchmark.h"
#include "tools/lab/suites/suites.h"
#include "tools/verify/memories.h"

namespace berth::lab {
namespace {

constexpr std::array<int, 3> kPercents = {25, 50, 75};
constexpr int kMostCalls = 50;  // Of a repacker; XLA's own limit in TelaMalloc's experiments.
constexpr double kSecondsOfCall = 0.5;

// A fast memory, and what each buffer is worth in it.
struct Case {
  const SuiteInput* input = nullptr;
  int percent = 0;
  std::uint64_t seed = 0;
  Bytes capacity = 0;
  internal::Worth worth;
  double all = 0;  // The sum of all benefits.
};

Case MakeCase(const SuiteInput& input, int percent, std::uint64_t seed) {
  Case made;
  made.input = &input;
  made.percent = percent;
  made.seed = seed;
  made.capacity = PercentOf(MaxLiveLoad(input.problem).load, percent);
  made.worth = internal::DrawWorth(input.problem, seed);
  for (const std::int64_t benefit : made.worth.benefit) made.all += static_cast<double>(benefit);
  return made;
}

// The offsets of the buffers in the fast memory.
using Kept = std::vector<std::optional<Bytes>>;

double BenefitOf(const Case& of, const Kept& kept) {
  double sum = 0;
  for (std::size_t b = 0; b < kept.size(); ++b) {
    if (kept[b]) sum += static_cast<double>(of.worth.benefit[b]);
  }
  return sum / of.all;
}

// As the library asks for it: `buffers` may be in the memory, those that are have their places.
MemoryProblem Describe(const Case& of, const std::vector<std::size_t>& buffers, const Kept& kept) {
  MemoryProblem problem;
  problem.memories.resize(1);
  problem.memories.front().name = "fast";
  problem.memories.front().capacity = of.capacity;
  for (const std::size_t b : buffers) {
    problem.table.buffers.push_back(of.input->problem.buffers[b]);
    Placing& placing = problem.placing.emplace_back();
    placing.candidates = {{0, 0, {}}};
    placing.cost_left_out = of.worth.benefit[b];
    if (kept[b]) placing.previous = Previous{0, *kept[b], 0};
  }
  return problem;
}

std::vector<std::size_t> AllOf(const Case& of) {
  std::vector<std::size_t> all;
  for (std::size_t b = 0; b < of.worth.benefit.size(); ++b) all.push_back(b);
  return all;
}

Kept Nothing(const Case& of) { return Kept(of.worth.benefit.size()); }

// --- One buffer at a time ----------------------------------------------------------------------

struct LoopResult {
  Kept kept;
  int calls = 0;
  int successes = 0;
  Bytes moved = 0;              // Of all calls together.
  std::vector<double> seconds;  // Of processor time, of each call.
  double last_seconds = 0;      // Of the last call with all buffers, where there is one.
};

// The free intervals of bytes over the lifetime of a buffer; the tightest that holds it.
std::optional<Bytes> TightestHole(const Case& of, const Kept& kept, std::size_t b) {
  const std::vector<Buffer>& buffers = of.input->problem.buffers;
  std::vector<std::pair<Bytes, Bytes>> taken;
  for (std::size_t other = 0; other < buffers.size(); ++other) {
    if (!kept[other] || buffers[other].start >= buffers[b].end ||
        buffers[b].start >= buffers[other].end) {
      continue;
    }
    taken.emplace_back(*kept[other], *kept[other] + buffers[other].size);
  }
  std::sort(taken.begin(), taken.end());
  std::optional<Bytes> best;
  Bytes least = std::numeric_limits<Bytes>::max();
  Bytes from = 0;
  const auto offer = [&](Bytes until) {
    if (until - from < buffers[b].size || until - from >= least) return;
    least = until - from;
    best = from;
  };
  for (const auto& [lower, upper] : taken) {
    offer(lower);
    from = std::max(from, upper);
  }
  offer(of.capacity);
  return best;
}

// What is kept and buffer `b`, as a table with the capacity; `buffers` says which they are.
Problem TableWith(const Case& of, const Kept& kept, std::size_t b,
                  std::vector<std::size_t>& buffers) {
  Problem table;
  table.capacity = of.capacity;
  buffers.clear();
  for (std::size_t other = 0; other < kept.size(); ++other) {
    if (other != b && !kept[other]) continue;
    buffers.push_back(other);
    table.buffers.push_back(of.input->problem.buffers[other]);
    table.buffers.back().hint = kept[other];
  }
  return table;
}

// A repacker finds a plan for a table within its capacity, or none.
using Repacker = std::function<std::optional<std::vector<Bytes>>(const Problem& table)>;

LoopResult RunLoop(const Case& of, const Repacker& repacker) {
  LoopResult result;
  result.kept = Nothing(of);
  for (const std::size_t b : of.worth.order) {
    if (const auto hole = TightestHole(of, result.kept, b)) {
      result.kept[b] = hole;
      continue;
    }
    if (!repacker || result.calls == kMostCalls) continue;
    std::vector<std::size_t> buffers;
    const Problem table = TableWith(of, result.kept, b, buffers);
    if (MaxLiveLoad(table).load > of.capacity) continue;
    ++result.calls;
    const double begin = ProcessorSeconds();
    const auto offsets = repacker(table);
    result.seconds.push_back(ProcessorSeconds() - begin);
    if (!offsets) continue;
    ++result.successes;
    for (std::size_t k = 0; k < buffers.size(); ++k) {
      std::optional<Bytes>& at = result.kept[buffers[k]];
      if (at && at != (*offsets)[k]) result.moved += of.input->problem.buffers[buffers[k]].size;
      at = (*offsets)[k];
    }
  }
  return result;
}

std::optional<std::vector<Bytes>> OffsetsOf(const Result<PlanAnswer>& answer) {
  BERTH_CHECK(answer.has_value());
  if (!answer->fits()) return std::nullopt;
  return PlacementOf(*answer->best).offsets;
}

Repacker ByPlace(Algorithm algorithm, double seconds) {
  return [=](const Problem& table) {
    PlaceOptions options;
    options.algorithm = algorithm;
    Budget budget(seconds);
    return OffsetsOf(Place(table, options, budget));
  };
}

Repacker ByTelaMalloc(double seconds) {
  return [=](const Problem& table) {
    BaselineOptions options;
    options.baseline = Baseline::kTelaMalloc;
    Budget budget(seconds);
    return OffsetsOf(PlaceWithBaseline(table, options, budget));
  };
}

// Repack() for each buffer that finds no hole, with those that are kept; at the end with all.
LoopResult RunRepack(const Case& of) {
  LoopResult result;
  result.kept = Nothing(of);
  const auto call = [&](const std::vector<std::size_t>& buffers) {
    const MemoryProblem problem = Describe(of, buffers, result.kept);
    const double before = BenefitOf(of, result.kept);
    Budget budget;
    const double begin = ProcessorSeconds();
    const Result<PlanAnswer> answer = Repack(problem, {}, budget);
    const double seconds = ProcessorSeconds() - begin;
    BERTH_CHECK(answer.has_value());
    for (const std::size_t b : buffers) result.kept[b].reset();
    for (const Residency& residency : answer->best->residencies) {
      result.kept[buffers[residency.tensor]] = residency.offset;
    }
    result.moved += answer->best->cost.moved;
    ++result.calls;
    if (BenefitOf(of, result.kept) > before) ++result.successes;
    return seconds;
  };
  for (const std::size_t b : of.worth.order) {
    if (of.input->problem.buffers[b].size > of.capacity) continue;
    if (const auto hole = TightestHole(of, result.kept, b)) {
      result.kept[b] = hole;
      continue;
    }
    std::vector<std::size_t> buffers;
    for (std::size_t other = 0; other < result.kept.size(); ++other) {
      if (other == b || result.kept[other]) buffers.push_back(other);
    }
    result.seconds.push_back(call(buffers));
  }
  result.last_seconds = call(AllOf(of));
  return result;
}

// --- Largest first, benefit unseen ---------------------------------------------------------------

std::vector<std::size_t> LargestFirst(const Case& of) {
  std::vector<std::size_t> order = AllOf(of);
  const std::vector<Buffer>& buffers = of.input->problem.buffers;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return buffers[a].size > buffers[b].size; });
  return order;
}

bool LiveTogether(const Buffer& a, const Buffer& b) { return a.start < b.end && b.start < a.end; }

// As ExecuTorch's greedy planner with banks: buffers share objects of the size of their first one.
Kept ByObjects(const Case& of) {
  struct Object {
    Bytes offset;
    Bytes size;
    std::vector<std::size_t> buffers;
  };
  const std::vector<Buffer>& buffers = of.input->problem.buffers;
  std::vector<Object> objects;
  Bytes top = 0;
  Kept kept = Nothing(of);
  for (const std::size_t b : LargestFirst(of)) {
    Object* chosen = nullptr;
    for (Object& object : objects) {
      const bool free =
          std::none_of(object.buffers.begin(), object.buffers.end(),
                       [&](std::size_t other) { return LiveTogether(buffers[b], buffers[other]); });
      // The smallest that holds it: all do, as they began with larger ones.
      if (free && (chosen == nullptr || object.size < chosen->size)) chosen = &object;
    }
    if (chosen == nullptr && buffers[b].size <= of.capacity - top) {
      chosen = &objects.emplace_back(Object{top, buffers[b].size, {}});
      top += buffers[b].size;
    }
    if (chosen == nullptr) continue;
    chosen->buffers.push_back(b);
    kept[b] = chosen->offset;
  }
  return kept;
}

// As USMP's greedy-by-size: above everything that it is live together with.
Kept ByStacking(const Case& of) {
  const std::vector<Buffer>& buffers = of.input->problem.buffers;
  Kept kept = Nothing(of);
  for (const std::size_t b : LargestFirst(of)) {
    Bytes above = 0;
    for (std::size_t other = 0; other < buffers.size(); ++other) {
      if (kept[other] && LiveTogether(buffers[b], buffers[other])) {
        above = std::max(above, *kept[other] + buffers[other].size);
      }
    }
    if (buffers[b].size <= of.capacity - above) kept[b] = above;
  }
  return kept;
}

// --- Results -------------------------------------------------------------------------------------

Cell PointsCell(double fraction) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", 100 * fraction);
  return {text, text};
}
Cell CallsCell(const LoopResult& result) {
  const std::string text = std::to_string(result.successes) + "/" + std::to_string(result.calls);
  return {text, text};
}
Cell MedianCell(const std::vector<double>& seconds) {
  return seconds.empty() ? NoCell() : SecondsCell(Median(seconds));
}

// Notes what is no plan.
void Judge(Lab& lab, const Case& of, const std::string& who, const Kept& kept) {
  Problem table;
  table.capacity = of.capacity;
  Placement placement;
  for (std::size_t b = 0; b < kept.size(); ++b) {
    if (!kept[b]) continue;
    table.buffers.push_back(of.input->problem.buffers[b]);
    placement.offsets.push_back(*kept[b]);
  }
  placement.height = Height(table, placement.offsets);
  if (const auto valid = ValidatePlacement(table, placement); !valid) {
    lab.Note(who + " on " + of.input->name + ": " + valid.error().message);
  }
}

Result<std::vector<SuiteInput>> Tables(Lab& lab) {
  std::vector<SuiteInput> inputs = BERTH_TRY(lab.Challenging(lab.Inputs(11, 1)));
  std::vector<SuiteInput> models = BERTH_TRY(lab.Models(lab.Inputs(100, 2), false));
  for (SuiteInput& model : models) inputs.push_back(std::move(model));
  // Buffers with pins or alignments are another question.
  std::erase_if(inputs, [](const SuiteInput& input) {
    return std::any_of(input.problem.buffers.begin(), input.problem.buffers.end(),
                       [](const Buffer& buffer) {
                         return buffer.offset || buffer.alignment != 1 || !buffer.gaps.empty();
                       });
  });
  return inputs;
}

// Each round draws other benefits.
std::uint64_t SeedsOf(const Lab& lab) { return static_cast<std::uint64_t>(lab.Rounds()); }

Result<void> Choice(Lab& lab) {
  const double limit = lab.TimeLimit(5);
  lab.Heading(
      "The choice: PlaceInMemories()",
      "One memory of 25, 50 and 75 % of the load, benefit = size times 2 to 8 accesses, in % "
      "of all benefit; limit " +
          cli::FormatSeconds(limit) + " each.");
  const std::vector<SuiteInput> inputs = BERTH_TRY(Tables(lab));
  Sheet sheet({{"table", "table", false},
               {"buffers", "buffers"},
               {"capacity %", "capacity_percent"},
               {"seed", "seed"},
               {"benefit", "benefit_percent"},
               {"proved at most", "bound_percent"},
               {"gap", "gap_points"},
               {"proved", "proved", false},
               {"time", "seconds"},
               {"nodes", "nodes"}});
  int proved = 0;
  int all = 0;
  for (const SuiteInput& input : inputs) {
    for (const int percent : kPercents) {
      for (std::uint64_t seed = 1; seed <= SeedsOf(lab); ++seed) {
        lab.Progress("choice " + input.name + " " + std::to_string(percent) + " %");
        const Case of = MakeCase(input, percent, seed);
        const MemoryProblem problem = Describe(of, AllOf(of), Nothing(of));
        Budget budget(limit);
        const PlanAnswer answer = BERTH_TRY(PlaceInMemories(problem, {}, budget));
        for (const std::string& fault : verify::VerifyMemories(problem, *answer.best)) {
          lab.Note("PlaceInMemories() on " + input.name + ": " + fault);
        }
        const double kept = 1 - static_cast<double>(answer.best->cost.cost) / of.all;
        const double bound = 1 - static_cast<double>(answer.cost_bound.cost) / of.all;
        const bool optimal = answer.outcome == Outcome::kOptimal;
        ++all;
        proved += optimal ? 1 : 0;
        sheet.AddRow(
            {TextCell(input.name), CountCell(static_cast<std::int64_t>(of.worth.benefit.size())),
             CountCell(percent), CountCell(static_cast<std::int64_t>(seed)), PointsCell(kept),
             PointsCell(bound), PointsCell(bound - kept), TextCell(optimal ? "yes" : "no"),
             SecondsCell(answer.seconds), CountCell(answer.nodes)});
      }
    }
  }
  lab.Show(sheet);
  lab.Say(std::to_string(proved) + " of " + std::to_string(all) + " proved.\n");
  lab.Keep("choice", sheet);
  return {};
}

// What one case keeps by each method.
struct Repacked {
  Kept objects;
  Kept stacked;
  LoopResult none;
  LoopResult xla;
  LoopResult tela;
  LoopResult place;
  LoopResult repack;
};

Repacked RunAll(Lab& lab, const Case& of, double limit) {
  Repacked by;
  by.objects = ByObjects(of);
  by.stacked = ByStacking(of);
  by.none = RunLoop(of, nullptr);
  by.xla = RunLoop(of, ByPlace(Algorithm::kXlaBestFit, limit));
  by.tela = RunLoop(of, ByTelaMalloc(limit));
  by.place = RunLoop(of, ByPlace(Algorithm::kAuto, limit));
  by.repack = RunRepack(of);
  Judge(lab, of, "objects", by.objects);
  Judge(lab, of, "stacking", by.stacked);
  Judge(lab, of, "the loop alone", by.none.kept);
  Judge(lab, of, "XLA's best fit", by.xla.kept);
  Judge(lab, of, "TelaMalloc", by.tela.kept);
  Judge(lab, of, "Place()", by.place.kept);
  Judge(lab, of, "Repack()", by.repack.kept);
  return by;
}

Sheet RepackSheet() {
  return Sheet({{"table", "table", false},
                {"capacity %", "capacity_percent"},
                {"seed", "seed"},
                {"largest first, objects", "objects_percent"},
                {"largest first, stacked", "stacked_percent"},
                {"no repacking", "none_percent"},
                {"XLA's best fit", "xla_percent"},
                {"calls", "xla_calls"},
                {"TelaMalloc", "telamalloc_percent"},
                {"calls", "telamalloc_calls"},
                {"Place()", "place_percent"},
                {"calls", "place_calls"},
                {"moved", "place_moved_bytes"},
                {"Repack()", "repack_percent"},
                {"calls", "repack_calls"},
                {"median call", "repack_median_seconds"},
                {"last call", "repack_last_seconds"},
                {"moved", "repack_moved_bytes"}});
}

std::vector<Cell> RepackRow(const std::string& table, int percent, std::uint64_t seed,
                            const Case& of, const Repacked& by) {
  const auto kept = [&](const Kept& what) { return PointsCell(BenefitOf(of, what)); };
  return {TextCell(table),
          CountCell(percent),
          CountCell(static_cast<std::int64_t>(seed)),
          kept(by.objects),
          kept(by.stacked),
          kept(by.none.kept),
          kept(by.xla.kept),
          CallsCell(by.xla),
          kept(by.tela.kept),
          CallsCell(by.tela),
          kept(by.place.kept),
          CallsCell(by.place),
          BytesCell(by.place.moved),
          kept(by.repack.kept),
          CallsCell(by.repack),
          MedianCell(by.repack.seconds),
          SecondsCell(by.repack.last_seconds),
          BytesCell(by.repack.moved)};
}

Result<void> Repacking(Lab& lab) {
  const double limit = lab.TimeLimit(kSecondsOfCall);
  lab.Heading(
      "One buffer at a time, with repackers",
      "In % of all benefit. Buffers in XLA's order, each into the tightest hole; where there is "
      "none and the sum of bytes still fits, a call of the repacker, at most " +
          std::to_string(kMostCalls) + " with " + cli::FormatSeconds(limit) +
          " each. Repack() is called for each buffer without a hole and once with all at the end, "
          "with its default effort. In brackets: calls that helped, and calls.");
  const std::vector<SuiteInput> inputs = BERTH_TRY(Tables(lab));
  Sheet sheet = RepackSheet();
  std::vector<double> medians;
  int below = 0;
  int all = 0;
  for (const SuiteInput& input : inputs) {
    for (const int percent : kPercents) {
      for (std::uint64_t seed = 1; seed <= SeedsOf(lab); ++seed) {
        lab.Progress("repack " + input.name + " " + std::to_string(percent) + " %");
        const Case of = MakeCase(input, percent, seed);
        const Repacked by = RunAll(lab, of, limit);
        ++all;
        below += BenefitOf(of, by.repack.kept) < BenefitOf(of, by.place.kept) ? 1 : 0;
        sheet.AddRow(RepackRow(input.name, percent, seed, of, by));
        medians.insert(medians.end(), by.repack.seconds.begin(), by.repack.seconds.end());
      }
    }
  }
  lab.Show(sheet);
  lab.Say("Repack() keeps less than Place() as the repacker in " + std::to_string(below) + " of " +
          std::to_string(all) + " cases; the median of all its calls but the last ones is " +
          MedianCell(medians).text + " of processor time.\n");
  lab.Keep("repack", sheet);
  return {};
}

constexpr std::array<Experiment, 2> kExperiments = {
    {{"choice", "The choice: PlaceInMemories()", Choice},
     {"repack", "One buffer at a time, with repackers", Repacking}}};

}  // namespace

const Suite& MemoriesSuite() {
  static constexpr Suite kSuite = {
      "memories",
      "M. Maas, U. Beaugnon, A. Chauhan, B. Ilbeyi, \"TelaMalloc: Efficient On-Chip Memory "
      "Allocation for Production Machine Learning Accelerators\", ASPLOS 2023, sections 2.3, 5.6 "
      "and "
      "7.4",
      kExperiments};
  return kSuite;
}

}  // namespace berth::lab
