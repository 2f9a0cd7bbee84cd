// COSMA on parallel processing elements, each with a scratchpad of its own (section III-A), which the paper
// names as a use and does not measure: operators by HEFT, copies of what crosses, spills where a scratchpad is too
// small.
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/try.h"
#include "berth/device.h"
#include "berth/graph_memories.h"
#include "berth/plan.h"
#include "berth/spill.h"
#include "tools/berth/terminal.h"
#include "tools/lab/suites/cosma.h"
#include "tools/lab/suites/elements.h"

namespace berth::lab {
namespace {

// As the paper: inputs lie where activations do. Weights are left out.
constexpr Counting kActivations = {true, false};
constexpr std::array<std::size_t, 2> kElements = {2, 4};
constexpr std::size_t kMostElements = 4;

std::string_view NameOf(Crossing crossing) {
  return crossing == Crossing::kDirect ? "direct" : "off chip";
}

struct Case {
  std::string network;
  std::string_view budget;
  std::size_t elements = 0;
  Crossing crossing = Crossing::kOffChip;
  std::size_t used = 0;      // Elements that have an operator with bytes.
  Bytes capacity = 0;        // Of all scratchpads.
  Bytes crossing_bytes = 0;  // On both ways.
  CosmaSolved program;
  CosmaSolved least_peak;
  CosmaSolved all_orders;
  std::vector<Bytes> traffic = {};  // By element, of the plan over all orders.
  CosmaSolved shared;               // One scratchpad for all operators, of all their bytes.
};

// A network on elements.
struct Placed {
  ElementGraph made;
  std::array<Order, 2> orders;  // Program order and that of the least peak, with copies.
};

GraphMemories MemoriesOf(const Graph& graph, std::vector<std::vector<std::size_t>> allowed,
                         const std::vector<Bytes>& capacity) {
  GraphMemories memories;
  for (std::size_t e = 0; e < capacity.size(); ++e) {
    memories.memories.push_back({.name = "element " + std::to_string(e), .capacity = capacity[e]});
  }
  allowed.resize(graph.tensors.size(), {0});
  memories.allowed = std::move(allowed);
  return memories;
}

Result<CosmaInScratchpads> Solve(const Graph& graph, const GraphMemories& memories,
                                 const std::optional<Order>& order, const std::vector<Order>& more,
                                 double limit) {
  Budget budget;
  const ProcessorLimit processor_limit(budget, limit);
  return SolveInScratchpads(graph, kActivations, memories, order, more, budget);
}

// The avoidable traffic of each element.
std::vector<Bytes> TrafficByElement(const Graph& graph, const MemoryPlan& plan,
                                    std::size_t elements) {
  std::vector<Bytes> traffic(elements, 0);
  std::vector<char> read(graph.tensors.size(), 0);
  for (const Residency& residency : plan.residencies) {
    const Tensor& tensor = graph.tensors[residency.tensor];
    Bytes& of = traffic[static_cast<std::size_t>(residency.memory)];
    const bool given = tensor.kind == TensorKind::kInput;
    // The first reading of what is given, and the writing of a result, are no choice.
    if (residency.comes_in && (!given || std::exchange(read[residency.tensor], 1) != 0)) {
      of += tensor.bytes;
    }
    if (residency.written_out && !tensor.output) of += tensor.bytes;
  }
  return traffic;
}

// A copy from off chip comes in before the operator that makes the tensor has run.
bool ReadsTooEarly(const ElementGraph& made, const MemoryPlan& plan) {
  std::vector<Step> step(made.graph.operators.size(), 0);
  for (std::size_t s = 0; s < plan.order.size(); ++s) step[plan.order[s]] = static_cast<Step>(s);
  return std::any_of(plan.residencies.begin(), plan.residencies.end(), [&](const Residency& stay) {
    const auto& maker = made.maker[stay.tensor];
    return maker && stay.start <= step[*maker];
  });
}

void Judge(Lab& lab, const ElementGraph& made, const Case& result,
           const std::optional<MemoryPlan>& plan) {
  const std::string where = result.network + ", " + std::string(result.budget) + ", " +
                            std::to_string(result.elements) + " elements, " +
                            std::string(NameOf(result.crossing));
  if (!plan) {
    lab.Note(where + ": no plan with addresses was found");
    return;
  }
  for (const CosmaSolved* one : {&result.program, &result.least_peak}) {
    if (!one->traffic || *result.all_orders.traffic <= *one->traffic) continue;
    const std::string what = where + ": " + cli::FormatBytesExactly(*result.all_orders.traffic) +
                             " of traffic, but one order needs " +
                             cli::FormatBytesExactly(*one->traffic);
    if (result.all_orders.proved || *one->traffic < result.all_orders.lower_bound) {
      lab.Note(what);
    } else {
      lab.Say(what + ", found by a search for that order alone.");
    }
  }
  Bytes sum = 0;
  for (const Bytes traffic : result.traffic) sum += traffic;
  if (sum != *result.all_orders.traffic) {
    lab.Note(where + ": the traffic of the elements is not that of the plan");
  }
  if (ReadsTooEarly(made, *plan)) lab.Note(where + ": a copy is read before it is written");
}

std::size_t UsedElements(const std::vector<Graph>& parts) {
  return static_cast<std::size_t>(std::count_if(parts.begin(), parts.end(), [](const Graph& part) {
    return FindLeastMemory(part, kActivations).bytes > 0;
  }));
}

// The budgets of each element are those of its own tensors, where what crosses is copied directly; off chip
// operators need the same.
struct ElementBudgets {
  std::vector<NamedBudgets> named;
  std::size_t used = 0;
  [[nodiscard]] std::vector<Bytes> Of(NamedBudget level) const {
    std::vector<Bytes> capacity;
    // A scratchpad has a byte at least.
    for (const NamedBudgets& each : named) capacity.push_back(std::max<Bytes>(1, each.Of(level)));
    return capacity;
  }
};
Result<ElementBudgets> BudgetsOf(const ElementGraph& direct, std::size_t elements, double limit) {
  const GraphMemories any =
      MemoriesOf(direct.graph, direct.allowed, std::vector<Bytes>(elements, kMaxBytes));
  ElementBudgets budgets;
  std::vector<Graph> parts;
  for (std::size_t e = 0; e < elements; ++e) {
    parts.push_back(PartOf(direct.graph, any, e));
    Budget budget;
    const ProcessorLimit processor_limit(budget, limit);
    budgets.named.push_back(BERTH_TRY(FindBudgets(parts.back(), kActivations, budget)));
  }
  budgets.used = UsedElements(parts);
  return budgets;
}

Result<Case> Measure(Lab& lab, const GraphInput& network, const Placed& placed,
                     const ElementBudgets& budgets, const CosmaLevel& level, Case result,
                     double limit) {
  const ElementGraph& made = placed.made;
  const std::vector<Bytes> capacity = budgets.Of(level.budget);
  for (const Bytes each : capacity) result.capacity += each;
  const GraphMemories memories = MemoriesOf(made.graph, made.allowed, capacity);
  const std::vector<Order> orders(placed.orders.begin(), placed.orders.end());
  result.network = network.name;
  result.budget = level.name;
  result.used = budgets.used;
  result.crossing_bytes = made.direct + made.off_chip;
  result.program = BERTH_TRY(Solve(made.graph, memories, orders[0], {}, limit)).solved;
  result.least_peak = BERTH_TRY(Solve(made.graph, memories, orders[1], {}, limit)).solved;
  const auto all = BERTH_TRY(Solve(made.graph, memories, std::nullopt, orders, limit));
  result.all_orders = all.solved;
  if (all.plan) result.traffic = TrafficByElement(made.graph, *all.plan, result.elements);
  Judge(lab, made, result, all.plan);
  return result;
}

Sheet EmptySheet() {
  std::vector<Sheet::Column> columns = {{"network", "network", false},
                                        {"budget", "budget", false},
                                        {"elements", "elements"},
                                        {"used", "used_elements"},
                                        {"crossing", "crossing", false},
                                        {"bytes of all", "capacity_bytes"},
                                        {"what crosses", "crossing_bytes"},
                                        {"program order", "program_bytes"},
                                        {"least-peak order", "least_peak_bytes"},
                                        {"all orders", "all_orders_bytes"},
                                        {"bound", "all_orders_lower_bound_bytes"},
                                        {"", "all_orders_proved", false},
                                        {"time", "all_orders_seconds"}};
  for (std::size_t e = 0; e < kMostElements; ++e) {
    columns.push_back({"element " + std::to_string(e), "element_" + std::to_string(e) + "_bytes"});
  }
  columns.push_back({"one shared", "shared_bytes"});
  columns.push_back({"bound", "shared_lower_bound_bytes"});
  return Sheet(columns);
}

Cell CountedCell(Bytes bytes) { return {cli::FormatCount(bytes), std::to_string(bytes)}; }

std::vector<Cell> RowOf(const Case& result) {
  const CosmaSolved& all = result.all_orders;
  std::vector<Cell> row = {TextCell(result.network),
                           TextCell(result.budget),
                           CountCell(static_cast<std::int64_t>(result.elements)),
                           CountCell(static_cast<std::int64_t>(result.used)),
                           TextCell(NameOf(result.crossing)),
                           CountedCell(result.capacity),
                           CountedCell(result.crossing_bytes),
                           TrafficCell(result.program),
                           TrafficCell(result.least_peak),
                           TrafficCell(all),
                           CountedCell(all.lower_bound),
                           {all.proved ? "proved" : "limit", all.proved ? "1" : "0"},
                           SecondsCell(all.seconds)};
  for (std::size_t e = 0; e < kMostElements; ++e) {
    row.push_back(e < result.traffic.size() ? CountedCell(result.traffic[e]) : NoCell());
  }
  row.push_back(TrafficCell(result.shared));
  row.push_back(CountedCell(result.shared.lower_bound));
  return row;
}

// Of the cases in which operators are on more than one element: the sums of their traffic.
Sheet Summary(const std::vector<Case>& cases) {
  Sheet summary({{"elements", "elements"},
                 {"crossing", "crossing", false},
                 {"budget", "budget", false},
                 {"cases", "cases"},
                 {"on several", "on_several"},
                 {"proved", "proved"},
                 {"what crosses", "crossing_bytes"},
                 {"program order", "program_bytes"},
                 {"least-peak order", "least_peak_bytes"},
                 {"all orders", "all_orders_bytes"},
                 {"bound", "all_orders_lower_bound_bytes"},
                 {"one shared", "shared_bytes"}});
  for (const std::size_t elements : kElements) {
    for (const Crossing crossing : {Crossing::kOffChip, Crossing::kDirect}) {
      for (const CosmaLevel& level : kCosmaLevels) {
        std::array<std::int64_t, 3> counts = {};  // Cases, on several elements, proved.
        std::array<Bytes, 6> sums = {};
        for (const Case& each : cases) {
          if (each.elements != elements || each.crossing != crossing || each.budget != level.name) {
            continue;
          }
          ++counts[0];
          if (each.used < 2) continue;
          ++counts[1];
          counts[2] += each.all_orders.proved ? 1 : 0;
          const std::array<Bytes, 6> bytes = {each.crossing_bytes,
                                              each.program.traffic.value_or(0),
                                              each.least_peak.traffic.value_or(0),
                                              each.all_orders.traffic.value_or(0),
                                              each.all_orders.lower_bound,
                                              each.shared.traffic.value_or(0)};
          for (std::size_t k = 0; k < bytes.size(); ++k) sums[k] += bytes[k];
        }
        std::vector<Cell> row = {CountCell(static_cast<std::int64_t>(elements)),
                                 TextCell(NameOf(crossing)), TextCell(level.name)};
        for (const std::int64_t count : counts) row.push_back(CountCell(count));
        for (const Bytes sum : sums) row.push_back(CountedCell(sum));
        summary.AddRow(std::move(row));
      }
    }
  }
  return summary;
}

Result<void> MeasureNetwork(Lab& lab, const GraphInput& network, std::size_t elements, double limit,
                            std::vector<Case>& cases) {
  const Graph& graph = network.graph;
  const std::string what = "elements, " + network.name + ", " + std::to_string(elements);
  lab.Progress(what);
  const auto element = AssignByHeft(graph, elements, *CosmaAccelerator().link);
  Budget scheduling;
  const ProcessorLimit processor_limit(scheduling, limit);
  const NamedBudgets whole = BERTH_TRY(FindBudgets(graph, kActivations, scheduling));
  const Order program = ProgramOrder(graph);
  const ElementGraph alone = BERTH_TRY(
      OnElements(graph, std::vector<std::size_t>(graph.operators.size(), 0), Crossing::kOffChip));
  std::array<Placed, 2> placed;
  for (const Crossing crossing : {Crossing::kOffChip, Crossing::kDirect}) {
    Placed& each = placed[static_cast<std::size_t>(crossing)];
    each.made = BERTH_TRY(OnElements(graph, element, crossing));
    each.orders = {each.made.OrderOf(program), each.made.OrderOf(whole.order)};
  }
  const ElementBudgets budgets = BERTH_TRY(
      BudgetsOf(placed[static_cast<std::size_t>(Crossing::kDirect)].made, elements, limit));
  for (const CosmaLevel& level : kCosmaLevels) {
    Bytes total = 0;
    for (const Bytes each : budgets.Of(level.budget)) total += each;
    lab.Progress(what + ", " + std::string(level.name));
    Case question;
    question.elements = elements;
    question.shared = BERTH_TRY(Solve(alone.graph, MemoriesOf(alone.graph, alone.allowed, {total}),
                                      std::nullopt, {alone.OrderOf(whole.order)}, limit))
                          .solved;
    for (const Crossing crossing : {Crossing::kOffChip, Crossing::kDirect}) {
      question.crossing = crossing;
      cases.push_back(BERTH_TRY(Measure(lab, network, placed[static_cast<std::size_t>(crossing)],
                                        budgets, level, question, limit)));
    }
  }
  return {};
}

}  // namespace

Result<void> CosmaElements(Lab& lab) {
  const double limit = lab.TimeLimit(5);
  lab.Heading("Section III-A: a scratchpad for each processing element",
              "8-bit data, activations and inputs, operators on elements by HEFT with the times of "
              "the edge "
              "accelerator. Three budgets for each scratchpad, by the tensors of its own "
              "operators. What is "
              "read on another element crosses, through off-chip memory or directly. Processor "
              "time, limit " +
                  cli::FormatSeconds(limit) + " for each plan.");
  std::vector<GraphInput> networks = BERTH_TRY(ReadCosmaNetworks(lab, CosmaNetworks::kDesigned));
  if (lab.options().tables.empty() && !lab.options().quick) {
    for (GraphInput& network : BERTH_TRY(ReadCosmaNetworks(lab, CosmaNetworks::kSearched))) {
      networks.push_back(std::move(network));
    }
  }
  std::vector<Case> cases;
  Sheet sheet = EmptySheet();
  for (GraphInput& network : networks) {
    MarkWeights(network.graph);
    // Operators of unknown arithmetic take the time of their bytes.
    [[maybe_unused]] const Unpriced unpriced = BERTH_TRY(PriceForCosma(network.graph));
    for (const std::size_t elements : kElements) {
      const std::size_t known = cases.size();
      BERTH_TRY(MeasureNetwork(lab, network, elements, limit, cases));
      for (std::size_t k = known; k < cases.size(); ++k) sheet.AddRow(RowOf(cases[k]));
      lab.Keep("elements", sheet);  // It takes long, and may be interrupted.
    }
  }
  lab.Progress("");
  lab.Say("Avoidable traffic in bytes, without what crosses; a star: not proved the least.\n");
  lab.Show(sheet);
  lab.Say("Sums of the cases with operators on more than one element:\n");
  const Sheet summary = Summary(cases);
  lab.Show(summary);
  lab.Keep("elements-summary", summary);
  return {};
}

}  // namespace berth::lab
