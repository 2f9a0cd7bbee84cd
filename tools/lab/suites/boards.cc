// Microcontrollers with several memories: where tensors should be, against what compilers do.
//
// No paper: two boards as their data sheets describe them, and every inference graph at hand. "Largest
// first" sorts the tensors by size and gives each the fastest memory in which it still fits. The two
// others are the greedy algorithms of TVM's unified static memory planner, which put a tensor above all
// those placed before that live at the same time, in the first pool where this fits.

#include <algorithm>
#include <array>
#include <filesystem>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/arithmetic.h"
#include "base/try.h"
#include "berth/graph_memories.h"
#include "berth/memories.h"
#include "berth/memory_io.h"
#include "berth/plan.h"
#include "tools/berth/checked.h"
#include "tools/berth/terminal.h"
#include "tools/lab/suites/inputs.h"
#include "tools/lab/suites/suites.h"

namespace berth::lab {
namespace {

namespace fs = std::filesystem;

constexpr Bytes kKiB = 1024;
constexpr Bytes kMiB = 1024 * kKiB;
constexpr Bytes kMB = 1'000'000;
// Inputs are written to the board's memory; weights are read from flash, where they stay.
constexpr Counting kCounting = {true, false};

Memory MemoryOf(std::string name, Bytes capacity, Bytes read_per_second, Bytes write_per_second) {
  Memory memory;
  memory.name = std::move(name);
  memory.capacity = capacity;
  memory.read = Rate::OfBandwidth(read_per_second);
  memory.write = Rate::OfBandwidth(write_per_second);
  return memory;
}

std::vector<Memory> Rt1170() {
  return {MemoryOf("tcm", 512 * kKiB, 8000 * kMB, 8000 * kMB),
          MemoryOf("ocram", 2 * kMiB, 2000 * kMB, 2000 * kMB),
          MemoryOf("hyperram", 64 * kMiB, 200 * kMB, 100 * kMB)};
}
std::vector<Memory> Esp32() {
  return {MemoryOf("sram", 320 * kKiB, 960 * kMB, 960 * kMB),
          MemoryOf("psram", 8 * kMiB, 40 * kMB, 40 * kMB)};
}

// The buffers placed so far: at these steps and bytes of one memory.
struct Placed {
  std::size_t buffer;
  Bytes lower;
};

bool Meet(const Buffer& a, const Buffer& b) { return a.start < b.end && b.start < a.end; }

// The lowest free place beside those that are live at the same time; `above`: above all of them.
std::optional<Bytes> Fit(const Problem& table, const std::vector<Placed>& placed, std::size_t b,
                         const Memory& memory, bool above) {
  const Buffer& buffer = table.buffers[b];
  std::vector<std::pair<Bytes, Bytes>> taken;
  for (const Placed& each : placed) {
    const Buffer& other = table.buffers[each.buffer];
    if (Meet(buffer, other)) taken.emplace_back(each.lower, each.lower + other.size);
  }
  std::sort(taken.begin(), taken.end());
  Bytes offset = 0;
  for (const auto& [lower, upper] : taken) {
    if (!above && lower >= offset + buffer.size) break;
    offset = std::max(offset, internal::RoundUp(upper, buffer.alignment));
  }
  if (memory.capacity && buffer.size > *memory.capacity - offset) return std::nullopt;
  return offset;
}

// Every tensor in turn into the first memory where there is room; nothing if there is none.
std::optional<PlanCost> OneByOne(const GraphInput& network, const GraphMemories& memories,
                                 const std::vector<std::size_t>& turns, const TensorTable& table,
                                 bool above) {
  std::vector<std::vector<Placed>> placed(memories.memories.size());
  MemoryPlan plan;
  plan.order = ProgramOrder(network.graph);
  for (const std::size_t b : turns) {
    const Buffer& buffer = table.problem.table.buffers[b];
    std::optional<Residency> residency;
    for (std::size_t m = 0; m < placed.size() && !residency; ++m) {
      const auto offset = Fit(table.problem.table, placed[m], b, memories.memories[m], above);
      if (!offset) continue;
      placed[m].push_back({b, *offset});
      residency = Residency{table.tensors[b],   buffer.start, buffer.end, *offset, false, false,
                            static_cast<int>(m)};
    }
    if (!residency) return std::nullopt;
    plan.residencies.push_back(*residency);
  }
  std::sort(plan.residencies.begin(), plan.residencies.end(),
            [](const Residency& a, const Residency& b) { return a.tensor < b.tensor; });
  return CostOf(network.graph, kCounting, memories, plan);
}

struct Rivals {
  std::optional<PlanCost> largest_first;
  std::optional<PlanCost> usmp_size;
  std::optional<PlanCost> usmp_conflicts;
};

Rivals RunRivals(const GraphInput& network, const GraphMemories& memories) {
  const TensorTable table =
      TableOf(network.graph, ProgramOrder(network.graph), kCounting, memories);
  const auto& buffers = table.problem.table.buffers;
  std::vector<std::size_t> turns(buffers.size());
  std::iota(turns.begin(), turns.end(), std::size_t{0});
  std::stable_sort(turns.begin(), turns.end(),
                   [&](std::size_t a, std::size_t b) { return buffers[a].size > buffers[b].size; });
  Rivals rivals;
  rivals.largest_first = OneByOne(network, memories, turns, table, /*above=*/false);
  rivals.usmp_size = OneByOne(network, memories, turns, table, /*above=*/true);
  std::vector<std::size_t> conflicts(buffers.size(), 0);
  for (std::size_t a = 0; a < buffers.size(); ++a) {
    for (std::size_t b = 0; b < buffers.size(); ++b) {
      conflicts[a] += a != b && Meet(buffers[a], buffers[b]) ? 1 : 0;
    }
  }
  std::stable_sort(turns.begin(), turns.end(),
                   [&](std::size_t a, std::size_t b) { return conflicts[a] > conflicts[b]; });
  rivals.usmp_conflicts = OneByOne(network, memories, turns, table, /*above=*/true);
  return rivals;
}

Result<std::vector<GraphInput>> Networks(const Lab& lab) {
  const SuiteOptions& options = lab.options();
  std::vector<std::string> paths = options.tables;
  const bool given = !paths.empty();
  if (!given && !options.data.empty()) {
    for (const fs::path& folder :
         {fs::path(options.data) / "inference", fs::path(options.data).parent_path() / "tflite"}) {
      std::error_code ignored;
      if (!fs::is_directory(folder, ignored)) continue;
      if (folder.filename() == "inference") {
        paths.push_back(folder.string());
        continue;
      }
      std::vector<std::string> models;
      for (const auto& entry : fs::directory_iterator(folder, ignored)) {
        if (entry.path().extension() == ".tflite") models.push_back(entry.path().string());
      }
      std::sort(models.begin(), models.end());
      paths.insert(paths.end(), models.begin(), models.end());
    }
  }
  std::vector<GraphInput> networks;
  if (!paths.empty()) {
    networks = BERTH_TRY(ReadGraphs(paths, /*element_bytes=*/1));
  } else {
    for (std::uint64_t seed = 1; seed <= lab.Inputs(6, 2); ++seed) {
      internal::GraphParameters parameters;
      parameters.seed = seed;
      parameters.operators = 20 + static_cast<std::int64_t>(10 * seed);
      parameters.width = 8;
      networks.push_back(GenerateGraphInput(internal::GraphFamily::kIrregular, parameters));
    }
  }
  for (GraphInput& network : networks) MarkWeights(network.graph);
  const std::size_t most = lab.Inputs(networks.size(), 2);
  return SpreadOut(std::move(networks), most);
}

Cell CostCell(const std::optional<PlanCost>& cost) {
  if (!cost || cost->unplaced > 0) return {"does not fit", ""};
  return {FormatCost(cost->cost, "ns"), std::to_string(cost->cost)};
}

// How much more the first costs.
Cell AboveCell(std::int64_t cost, std::int64_t bound) {
  if (cost == bound) return PercentCell(0);
  return PercentCell(static_cast<double>(cost) / static_cast<double>(bound) - 1);
}

struct Mean {
  double sum = 0;
  std::int64_t count = 0;
  void Add(double value) {
    sum += value;
    ++count;
  }
  [[nodiscard]] std::string Text() const {
    return count == 0 ? "-" : cli::FormatPercent(sum / static_cast<double>(count));
  }
};

Result<void> RunBoard(Lab& lab, const std::string& key, const std::vector<Memory>& board) {
  const std::vector<GraphInput> networks = BERTH_TRY(Networks(lab));
  GraphMemories memories;
  memories.memories = board;
  Sheet sheet({{"network", "network", false},
               {"operators", "operators"},
               {"outcome", "outcome", false},
               {"cost", "cost_ns"},
               {"bound, any order", "cost_bound_ns"},
               {"above", "above_bound"},
               {"largest first", "largest_first_ns"},
               {"USMP by size", "usmp_size_ns"},
               {"USMP by conflicts", "usmp_conflicts_ns"},
               {"below USMP", "below_usmp"},
               {"time", "seconds"}});
  std::int64_t planned = 0;
  std::int64_t proved = 0;
  double slowest = 0;
  Mean above;
  Mean below;
  Mean below_largest;
  for (const GraphInput& network : networks) {
    lab.Progress(key + ", " + network.name);
    Budget budget;
    budget.SetTimeLimit(lab.TimeLimit(0.9));
    PlanOptions options;
    options.memories = memories;
    options.schedule.counting = kCounting;
    options.schedule.counting.unsized_as_zero = true;
    const PlanAnswer answer = BERTH_TRY(Plan(network.graph, options, budget));
    cli::VerifyOrDie(network.graph, kCounting, memories, *answer.best);
    const Rivals rivals = RunRivals(network, memories);
    const PlanCost& cost = answer.best->cost;
    std::vector<Cell> row = {
        TextCell(network.name),
        CountCell(static_cast<std::int64_t>(network.graph.operators.size())),
        TextCell(ToString(answer.outcome)),
        CostCell(cost),
        CostCell(answer.cost_bound),
        cost.unplaced > 0 ? NoCell() : AboveCell(cost.cost, answer.cost_bound.cost),
        CostCell(rivals.largest_first),
        CostCell(rivals.usmp_size),
        CostCell(rivals.usmp_conflicts)};
    std::optional<std::int64_t> usmp;
    for (const auto& rival : {rivals.usmp_size, rivals.usmp_conflicts}) {
      if (rival) usmp = std::min(usmp.value_or(rival->cost), rival->cost);
    }
    const auto share = [&](std::int64_t other) {
      return other == 0 ? 0.0 : 1 - static_cast<double>(cost.cost) / static_cast<double>(other);
    };
    const bool fits = cost.unplaced == 0;
    row.push_back(fits && usmp ? PercentCell(share(*usmp)) : NoCell());
    row.push_back(SecondsCell(answer.seconds));
    sheet.AddRow(std::move(row));
    slowest = std::max(slowest, answer.seconds);
    for (const auto& rival : {rivals.largest_first, rivals.usmp_size, rivals.usmp_conflicts}) {
      if (rival && (!fits || rival->cost < cost.cost)) {
        lab.Note(key + ", " + network.name + ": a greedy plan costs less than Berth's");
      }
      if (rival && PlanCost{0, rival->cost, 0} < answer.cost_bound) {
        lab.Note(key + ", " + network.name + ": a greedy plan costs less than the bound");
      }
    }
    if (!fits) continue;
    ++planned;
    proved += answer.outcome == Outcome::kOptimal ? 1 : 0;
    if (answer.cost_bound.cost > 0) {
      above.Add(static_cast<double>(cost.cost) / static_cast<double>(answer.cost_bound.cost) - 1);
    }
    if (usmp) below.Add(share(*usmp));
    if (rivals.largest_first) below_largest.Add(share(rivals.largest_first->cost));
  }
  lab.Progress("");
  lab.Say(
      "Time of all reads and writes of activations and inputs, 8-bit data, by the bandwidths. "
      "USMP: the better of its two.\n");
  lab.Show(sheet);
  lab.Say(std::to_string(planned) + " of " + std::to_string(networks.size()) + " fit, " +
          std::to_string(proved) + " proved the least of any order; on average " + above.Text() +
          " above the bound, " + below.Text() + " below USMP, " + below_largest.Text() +
          " below largest first; the slowest took " + cli::FormatSeconds(slowest) + ".\n");
  lab.Keep(key, sheet);
  return {};
}

Result<void> RunRt1170(Lab& lab) {
  lab.Heading("A board like the i.MX RT1170",
              "TCM 512 KiB, 8 GB/s; OCRAM 2 MiB, 2 GB/s; HyperRAM 64 MiB, 200 MB/s to read and 100 "
              "MB/s to write.");
  return RunBoard(lab, "rt1170", Rt1170());
}

Result<void> RunEsp32(Lab& lab) {
  lab.Heading("A board like the ESP32", "SRAM 320 KiB, 960 MB/s; PSRAM 8 MiB, 40 MB/s.");
  return RunBoard(lab, "esp32", Esp32());
}

constexpr std::array<Experiment, 2> kExperiments = {
    {{"rt1170", "A board like the i.MX RT1170", RunRt1170},
     {"esp32", "A board like the ESP32", RunEsp32}}};

}  // namespace

const Suite& BoardsSuite() {
  static constexpr Suite kSuite = {"boards",
                                   "the data sheets of two boards; no paper",
                                   kExperiments,
                                   {"graphs", "inference", "training"}};
  return kSuite;
}

}  // namespace berth::lab
