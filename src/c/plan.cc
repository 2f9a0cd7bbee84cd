// Plans in the C interface: the searches that find them, what is known of them, and their files.

#include "berth/plan.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "berth/advise.h"
#include "berth/file.h"
#include "berth/graph.h"
#include "berth/graph_memories.h"
#include "berth/memory_io.h"
#include "berth/onnx.h"
#include "berth/page.h"
#include "berth/report.h"
#include "berth/schedule.h"
#include "berth/tflite.h"
#include "c/call.h"
#include "c/handles.h"
#include "c/options.h"

struct berth_advice {
  berth::Advice advice;
  std::vector<std::string> changes;  // Of each remedy, as text.
};

namespace berth::internal::c {
namespace {

berth_stop StopOf(StopReason reason) {
  switch (reason) {
    case StopReason::kAnswered:
      return BERTH_STOP_ANSWERED;
    case StopReason::kBudget:
      return BERTH_STOP_BUDGET;
    case StopReason::kEffort:
      return BERTH_STOP_EFFORT;
    case StopReason::kSize:
      return BERTH_STOP_SIZE;
    case StopReason::kAlgorithm:
      return BERTH_STOP_ALGORITHM;
    case StopReason::kUnsized:
      return BERTH_STOP_UNSIZED;
    case StopReason::kGap:
      return BERTH_STOP_GAP;
  }
  return BERTH_STOP_ANSWERED;
}

// A handle of what a search answered, or of what a file says.
std::unique_ptr<berth_plan> NewPlan(const berth_options& options, const char* command) {
  auto plan = std::make_unique<berth_plan>();
  plan->options = options.settings.plan;
  plan->node_limit = options.settings.node_limit;
  plan->command = command;
  return plan;
}

// What is copied from one of several memories to another, and with prefetch the run.
void FindCopies(berth_plan& plan) {
  const GraphMemories& memories = plan.options.memories;
  if (!plan.several() || !plan.answer.best) return;
  const Graph& graph = plan.graph->model.graph;
  if (memories.prefetch) plan.run = RunOf(graph, memories, *plan.answer.best);
  plan.copies = plan.run ? plan.run->copies : CopiesOf(graph, memories, *plan.answer.best);
}

void Complete(berth_plan& plan, PlanAnswer answer) {
  plan.answer = std::move(answer);
  if (plan.graph != nullptr && plan.answer.recomputes) {
    OperatorCosts costs = CostsOf(plan.graph->model.graph);
    plan.run_cost = std::accumulate(costs.of.begin(), costs.of.end(), std::int64_t{0});
    plan.run_unit = std::move(costs.unit);
  }
  FindCopies(plan);
  // They belong to the search that is over.
  plan.options.place.progress = {};
  plan.options.schedule.progress = {};
  if (!plan.answer.best) return;
  plan.residencies.reserve(plan.answer.best->residencies.size());
  for (const Residency& r : plan.answer.best->residencies) {
    plan.residencies.push_back({static_cast<std::int64_t>(r.tensor),
                                r.start,
                                r.end,
                                r.offset,
                                r.memory,
                                static_cast<std::int8_t>(r.comes_in),
                                static_cast<std::int8_t>(r.written_out),
                                {0, 0}});
  }
}

void SetTable(berth_plan& plan, const std::shared_ptr<TableInput>& table,
              std::optional<Bytes> capacity) {
  plan.table = table;
  plan.problem = table->problem;
  plan.problem.capacity = capacity;
}

// What a plan in several memories is of, as a table.
TensorTable TableOf(const berth_plan& plan) {
  return berth::TableOf(plan.graph->model.graph, plan.options.schedule.counting,
                        plan.options.memories, *plan.answer.best);
}

// The plan of a call, which must have offsets.
const berth_plan& PlanWithOffsets(const berth_plan* plan) {
  const berth_plan& checked = PlanOf(plan);
  Require(checked.answer.best.has_value(), "there is no plan");
  Require(checked.answer.best->addressed, "the plan has no offsets");
  return checked;
}

Result<void> PlanGraph(const std::shared_ptr<GraphInput>& graph, const berth_options& options,
                       PlanOptions request, const char* command, berth_plan** out) {
  Require(out != nullptr, "the place for the plan is NULL");
  auto plan = NewPlan(options, command);
  plan->options = request;
  plan->cost_unit = options.settings.cost_unit;
  plan->graph = graph;
  Watch watch(options, /*limited=*/true);
  request.place.progress = watch.progress();
  request.schedule.progress = request.place.progress;
  const bool only_order = plan->command == std::string_view("schedule");
  Complete(*plan, BERTH_TRY(watch.Run([&](Budget& budget) {
    const Graph& of = graph->model.graph;
    return only_order ? Schedule(of, request.schedule, budget) : Plan(of, request, budget);
  })));
  *out = plan.release();
  return {};
}

// What the file of a plan states, besides the plan itself.
void ReadStated(const PlanFile& file, PlanAnswer& answer) {
  answer.outcome = Outcome::kFeasible;
  for (const Outcome outcome : {Outcome::kOptimal, Outcome::kInfeasible, Outcome::kUnknown}) {
    if (file.outcome == ToString(outcome)) answer.outcome = outcome;
  }
  answer.height_bound = file.height_bound.value_or(0);
  answer.capacity = file.problem.capacity;
  answer.tensors = file.tensors;
  answer.unsized = file.unsized;
}

// Of a model whose file `bytes` are; without them, of the file that it was read from, if that is still
// the same.
std::vector<ModelChange> OtherReadingsOf(const GraphInput& input,
                                         std::optional<std::string_view> bytes) {
  if (bytes) return OtherReadings(*bytes, input.name, input.options);
  if (input.path.empty()) return {};
  const auto file = FileView::Open(input.path);
  if (!file || HashOf(file->bytes()) != input.hash) return {};
  return OtherReadings(file->bytes(), input.name, input.options);
}

SvgOptions PictureOptions(const berth_plan& plan, const std::string& title) {
  SvgOptions svg;
  svg.title = title;
  if (plan.answer.spills) svg.marks = MarksOf(*plan.answer.best);
  return svg;
}

// The ONNX model whose file `bytes` are with its operators in `order`.
Result<std::string> ReorderedOnnx(std::string_view bytes, const std::string& name,
                                  const Order& order) {
  const auto pieces = BERTH_TRY(ReorderOnnx(bytes, name, order));
  std::string text;
  text.reserve(bytes.size());
  for (const std::string_view piece : pieces) text += piece;
  static_cast<void>(BERTH_TRY(ReadOnnx(text, name)));
  return text;
}

// The graph that was planned, whose file `bytes` must be.
Result<const GraphInput*> GraphOf(const berth_plan& plan, std::string_view bytes) {
  Require(plan.graph != nullptr, "the plan is one of a table");
  const GraphInput& input = *plan.graph;
  if (HashOf(bytes) != input.hash) {
    return Fail(ErrorCode::kInvalidPlan,
                input.name + ": the bytes are not those of the file that was planned");
  }
  return &input;
}

// What would lower the plan. `bytes`: as in OtherReadingsOf().
Result<void> AdvisePlan(const berth_plan* plan, std::optional<std::string_view> bytes,
                        const berth_options* options, berth_advice** advice) {
  Require(advice != nullptr, "the place for the advice is NULL");
  const berth_plan& from = PlanOf(plan);
  Require(!from.several(), "there is no advice for plans in several memories");
  const berth_options& request = OptionsOf(options);
  AdviceOptions ask;
  if (from.graph != nullptr) {
    const GraphInput& input = *from.graph;
    ask.in_place = !input.options.in_place;
    ask.fuse = ask.in_place && !input.options.fuse;
  }
  Watch watch(request, /*limited=*/true);
  auto found = std::make_unique<berth_advice>();
  found->advice = watch.Run([&](Budget& budget) {
    if (from.graph == nullptr) return Advise(from.problem, from.answer, ask, budget);
    if (TriesModels(from.answer)) ask.models = OtherReadingsOf(*from.graph, bytes);
    return Advise(from.graph->model.graph, from.options, from.answer, ask, budget);
  });
  found->changes.reserve(found->advice.remedies.size());
  for (const Remedy& remedy : found->advice.remedies) {
    std::string change;
    for (const OptionChange& each : remedy.changes) {
      change += (change.empty() ? "" : " ") + each.flag();
    }
    found->changes.push_back(std::move(change));
  }
  *advice = found.release();
  return {};
}

// The file of the model that was planned, changed as berth_plan_to_model() says.
Result<std::string> PlannedModel(const berth_plan& plan, std::string_view bytes) {
  const GraphInput& input = *BERTH_TRY(GraphOf(plan, bytes));
  Require(input.model.format != ModelFormat::kGraphJson,
          "the plan is not one of an ONNX or TensorFlow Lite model");
  if (!plan.answer.best) return Fail(ErrorCode::kInvalidPlan, input.name + ": there is no plan");
  const bool onnx = input.model.format == ModelFormat::kOnnx;
  if (plan.several() && !onnx) {
    return Fail(
        ErrorCode::kInvalidPlan,
        input.name + ": the plan has several memories, and TensorFlow Lite Micro one arena");
  }
  const std::vector<Residency>& residencies = plan.answer.best->residencies;
  if (std::any_of(residencies.begin(), residencies.end(),
                  [](const Residency& r) { return r.comes_in || r.written_out; })) {
    return Fail(ErrorCode::kInvalidPlan,
                input.name + ": the plan moves tensors, which no model can say");
  }
  if (plan.answer.best->order.size() > input.model.graph.operators.size()) {
    return Fail(ErrorCode::kInvalidPlan,
                input.name + ": the plan runs operators again, which no model can say");
  }
  if (onnx) {
    return ReorderedOnnx(bytes, input.name, plan.answer.best->order);
  }
  if (const auto can =
          CheckForTflm(input.model, input.options.fuse, plan.options.schedule.counting);
      !can) {
    return Fail(ErrorCode::kInvalidOptions, input.name + ": " + can.error().message);
  }
  return WriteTflite(bytes, input.name, input.model.graph, *plan.answer.best);
}

}  // namespace

berth_outcome OutcomeOf(Outcome outcome) {
  switch (outcome) {
    case Outcome::kOptimal:
      return BERTH_OPTIMAL;
    case Outcome::kFeasible:
      return BERTH_FEASIBLE;
    case Outcome::kInfeasible:
      return BERTH_INFEASIBLE;
    case Outcome::kUnknown:
      return BERTH_UNKNOWN;
  }
  return BERTH_UNKNOWN;
}

berth_summary SummaryOf(const PlanAnswer& answer) {
  berth_summary out = {};
  out.outcome = OutcomeOf(answer.outcome);
  out.stopped = StopOf(answer.stopped);
  out.has_plan = answer.best.has_value();
  out.addressed = answer.best && answer.best->addressed;
  out.capacity = answer.capacity.value_or(-1);
  const bool several = answer.best && answer.best->memories.size() > 1;
  out.height = out.addressed != 0 && !several ? answer.best->height() : -1;
  out.peak = answer.best && !several ? answer.best->peak() : -1;
  out.height_bound = answer.height_bound;
  out.placement_bound = answer.placement_bound;
  out.peak_bound = answer.peak_bound;
  out.traffic_bound = answer.traffic_bound;
  if (answer.best) {
    const Traffic& traffic = answer.best->traffic;
    out.spilled = traffic.spilled;
    out.retrieved = traffic.retrieved;
    out.compulsory_in = traffic.compulsory_in;
    out.compulsory_out = traffic.compulsory_out;
  }
  const bool ordered = answer.best && !answer.best->order.empty();
  out.program_order_peak = ordered ? answer.program_order_peak : -1;
  const bool budgeted = answer.spills || answer.recomputes;
  const bool least_known = budgeted && answer.least.bytes > 0;
  out.least_memory = least_known ? answer.least.bytes : -1;
  out.least_operator = least_known ? answer.least.op : BERTH_NONE;
  out.least_peak = budgeted ? answer.least_peak : -1;
  out.traffic_by_sum = answer.spills ? answer.traffic_by_sum : -1;
  out.tensors = answer.tensors;
  out.unsized = answer.unsized;
  out.spills = answer.spills;
  out.fixed_order = answer.fixed_order;
  out.nodes = answer.nodes;
  out.seconds = answer.seconds;
  return out;
}

const berth_plan& PlanOf(const berth_plan* plan) {
  Require(plan != nullptr, "plan is NULL");
  return *plan;
}

const berth_plan& PlanInMemories(const berth_plan* plan) {
  const berth_plan& checked = PlanOf(plan);
  Require(checked.several(), "the plan is one in a single memory");
  return checked;
}

namespace {

// Whether `graph` has costs where those of the plan `name` come from a profile or a device: with others
// the plan would seem wrong.
Result<void> CheckCosts(const Graph& graph, const PlanSettings& settings, const std::string& name) {
  const bool measured = !settings.profile.empty();
  const bool costed = std::any_of(graph.operators.begin(), graph.operators.end(),
                                  [](const Operator& op) { return op.cost.has_value(); });
  if (costed || (!measured && !settings.device)) return {};
  const std::string option = measured ? "profile" : "device";
  return Fail(ErrorCode::kInvalidOptions, name + ": its costs come from a " + option +
                                              ", but the graph has none; apply the option " +
                                              option + " to it first");
}

}  // namespace

}  // namespace berth::internal::c

namespace c = berth::internal::c;
using berth::Result;

berth::Provenance berth_plan::provenance() const {
  berth::Provenance from;
  from.version = BERTH_VERSION;
  from.options = options;
  from.node_limit = node_limit;
  if (table != nullptr) {
    from.input = table->name;
    from.input_hash = c::HashOfInput(*table);
    return from;
  }
  from.cost_unit = cost_unit;
  from.device = graph->options.device;
  if (graph->options.profile) from.profile = graph->options.profile->name;
  from.input = graph->name;
  from.input_hash = c::HashOfInput(*graph);
  from.in_place = graph->options.in_place;
  from.fused = graph->options.fuse;
  from.reading = graph->model.reading;
  return from;
}

extern "C" {

const char* berth_outcome_name(berth_outcome outcome) {
  const int number = c::NumberOf(outcome);
  if (number < BERTH_OPTIMAL || number > BERTH_UNKNOWN) return "none";
  return berth::ToString(static_cast<berth::Outcome>(number)).data();
}

const char* berth_stop_name(berth_stop stop) {
  const int number = c::NumberOf(stop);
  if (number < BERTH_STOP_ANSWERED || number > BERTH_STOP_GAP) return "none";
  return berth::ToString(static_cast<berth::StopReason>(number)).data();
}

void berth_plan_free(berth_plan* plan) { delete plan; }

berth_status berth_place_problem(const berth_problem* problem, const berth_options* options,
                                 berth_plan** plan, berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    c::Require(plan != nullptr, "the place for the plan is NULL");
    const berth_options& request = c::OptionsOf(options);
    BERTH_TRY(c::RefuseBudget(request.settings, "berth_place_problem()"));
    BERTH_TRY(c::RefuseRepack(request.settings));
    auto placed = c::NewPlan(request, "place");
    c::SetTable(*placed, c::InputOf(problem), request.settings.capacity);
    c::Watch watch(request, /*limited=*/true);
    berth::PlaceOptions place = request.settings.plan.place;
    place.progress = watch.progress();
    c::Complete(*placed, BERTH_TRY(watch.Run([&](berth::Budget& budget) {
      return berth::Place(placed->problem, place, budget);
    })));
    *plan = placed.release();
    return {};
  });
}

berth_status berth_schedule_graph(const berth_graph* graph, const berth_options* options,
                                  berth_plan** plan, berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    const berth_options& request = c::OptionsOf(options);
    BERTH_TRY(c::RefuseBudget(request.settings, "berth_schedule_graph()"));
    BERTH_TRY(c::RefuseRepack(request.settings));
    if (request.settings.plan.order || request.settings.capacity) {
      return berth::Fail(berth::ErrorCode::kInvalidOptions,
                         "berth_schedule_graph() looks for an order of least peak: it takes "
                         "neither a given order nor a capacity");
    }
    return c::PlanGraph(c::InputOf(graph), request, request.settings.plan, "schedule", plan);
  });
}

berth_status berth_plan_graph(const berth_graph* graph, const berth_options* options,
                              berth_plan** plan, berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    const berth_options& request = c::OptionsOf(options);
    const auto& input = c::InputOf(graph);
    // A graph that is not valid is for the search to refuse.
    const bool several = !request.settings.memories.empty();
    if (several) BERTH_TRY(berth::Validate(input->model.graph));
    return c::PlanGraph(input, request, BERTH_TRY(c::PlanOptionsFor(request.settings, *input)),
                        "plan", plan);
  });
}

berth_status berth_plan_summary(const berth_plan* plan, berth_summary* out, berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    c::Fill(out, c::SummaryOf(c::PlanOf(plan).answer));
    return {};
  });
}

berth_status berth_plan_memories(const berth_plan* plan, berth_memories_summary* out,
                                 berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    const berth::PlanAnswer& answer = c::PlanInMemories(plan).answer;
    const berth::PlanCost cost = answer.best ? answer.best->cost : berth::PlanCost{};
    c::Fill(out, {0, c::OutcomeOf(answer.outcome), c::StopOf(answer.stopped), cost.unplaced,
                  answer.cost_bound.unplaced, cost.cost, answer.cost_bound.cost, cost.moved,
                  answer.nodes, answer.seconds});
    return {};
  });
}

berth_status berth_plan_recomputed(const berth_plan* plan, berth_recomputed* out,
                                   berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    const berth_plan& from = c::PlanOf(plan);
    c::Require(from.graph != nullptr && from.answer.recomputes,
               "the plan was not made with recompute");
    const auto& best = from.answer.best;
    const berth::Recomputed again = best ? best->recomputed : berth::Recomputed{};
    c::Fill(out, {0, again.operators, again.cost, best ? best->traffic.cost : 0,
                  from.answer.recompute_bound, from.run_cost, from.run_unit.c_str()});
    return {};
  });
}

size_t berth_plan_memory_count(const berth_plan* plan) {
  return plan == nullptr ? 0 : plan->options.memories.memories.size();
}

berth_status berth_plan_memory(const berth_plan* plan, size_t index, berth_memory* out,
                               berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    const berth_plan& from = c::PlanInMemories(plan);
    c::RequireIndex(index, berth_plan_memory_count(plan), "memory");
    const berth::Memory& memory = from.options.memories.memories[index];
    const auto& best = from.answer.best;
    const berth::MemoryUse use =
        best && index < best->memories.size() ? best->memories[index] : berth::MemoryUse{};
    c::Fill(out, {0, memory.name.c_str(), memory.capacity.value_or(-1), use.height, use.peak});
    return {};
  });
}

size_t berth_plan_copy_count(const berth_plan* plan) {
  return plan == nullptr ? 0 : plan->copies.size();
}

berth_status berth_plan_copy(const berth_plan* plan, size_t index, berth_copy* out,
                             berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    const berth_plan& from = c::PlanInMemories(plan);
    c::RequireIndex(index, from.copies.size(), "copy");
    const berth::MemoryCopy& copy = from.copies[index];
    const berth::TimedRun::Interval when =
        from.run ? from.run->transfers[index] : berth::TimedRun::Interval{-1, -1};
    c::Fill(out, {0, copy.tensor, copy.from, copy.to, copy.start, copy.before, copy.bytes,
                  copy.cost, when.begin, when.end});
    return {};
  });
}

berth_status berth_plan_run(const berth_plan* plan, berth_run* out, berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    const berth_plan& from = c::PlanInMemories(plan);
    c::Require(from.run.has_value(), "the plan was not made with prefetch, or there is none");
    const berth::TimedRun& run = *from.run;
    c::Fill(out, {0, run.time, run.computing,
                  std::accumulate(run.accessing.begin(), run.accessing.end(), std::int64_t{0}),
                  run.stalled});
    return {};
  });
}

berth_status berth_plan_search(const berth_plan* plan, berth_search_kind kind, berth_search* out,
                               berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    const berth::PlanAnswer& answer = c::PlanOf(plan).answer;
    const int number = c::NumberOf(kind);
    c::Require(number >= BERTH_SEARCH_ORDER && number <= BERTH_SEARCH_OFFSETS,
               "the kind of the search must be 0 to 2");
    const berth::SearchReport& search = number == BERTH_SEARCH_ORDER    ? answer.scheduling
                                        : number == BERTH_SEARCH_SPILLS ? answer.spilling
                                                                        : answer.placing;
    // The names of algorithms are constants that end in a 0 byte.
    const char* const algorithm = search.algorithm.empty() ? "" : search.algorithm.data();
    c::Fill(out, {0, c::OutcomeOf(search.outcome), c::StopOf(search.stopped), algorithm,
                  search.nodes, search.seconds});
    return {};
  });
}

const berth_residency* berth_plan_residencies(const berth_plan* plan, size_t* count) {
  const bool none = plan == nullptr || plan->residencies.empty();
  if (count != nullptr) *count = none ? 0 : plan->residencies.size();
  return none ? nullptr : plan->residencies.data();
}

const size_t* berth_plan_order(const berth_plan* plan, size_t* count) {
  const bool none = plan == nullptr || !plan->answer.best || plan->answer.best->order.empty();
  if (count != nullptr) *count = none ? 0 : plan->answer.best->order.size();
  return none ? nullptr : plan->answer.best->order.data();
}

berth_status berth_plan_validate(const berth_plan* plan, berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    const berth_plan& checked = c::PlanOf(plan);
    c::Require(checked.answer.best.has_value(), "there is no plan");
    const berth::MemoryPlan& best = *checked.answer.best;
    const std::optional<berth::Bytes> capacity =
        checked.answer.fits() ? checked.answer.capacity : std::nullopt;
    if (checked.several()) {
      return berth::ValidatePlan(checked.graph->model.graph, checked.options.schedule.counting,
                                 checked.options.memories, best);
    }
    if (checked.graph != nullptr) {
      const auto& link = checked.options.link;
      return berth::ValidatePlan(checked.graph->model.graph, checked.options.schedule.counting,
                                 capacity, best, link ? &*link : nullptr);
    }
    berth::Problem problem = checked.problem;
    problem.capacity = capacity;
    return berth::ValidatePlacement(problem, berth::PlacementOf(best));
  });
}

berth_status berth_plan_to_json(const berth_plan* plan, berth_text** json, berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    const berth_plan& from = c::PlanOf(plan);
    c::Give(json, berth::WritePlanJson(from.subject(), from.answer, from.provenance()));
    return {};
  });
}

berth_status berth_plan_to_csv(const berth_plan* plan, berth_text** csv, berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    const berth_plan& from = c::PlanWithOffsets(plan);
    const berth::MemoryPlan& best = *from.answer.best;
    if (from.several()) {
      const berth::TensorTable table = c::TableOf(from);
      const berth::MemoryPlan of_table = berth::PlanOf(table, best);
      c::Give(csv, berth::WriteMemoriesCsv(table.problem, &of_table));
      return {};
    }
    const berth::Problem buffers = from.subject().Buffers(best, from.answer.capacity);
    const berth::Placement placement = berth::PlacementOf(best);
    c::Give(csv, berth::WriteCsv(buffers, &placement.offsets));
    return {};
  });
}

berth_status berth_plan_to_page(const berth_plan* plan, const berth_advice* advice,
                                berth_text** html, berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    const berth_plan& from = c::PlanOf(plan);
    berth::PageOptions page;
    page.command = from.command;
    if (advice != nullptr) {
      page.conflict = advice->advice.conflict;
      page.remedies = advice->advice.remedies;
    }
    if (from.graph != nullptr) page.notes = from.graph->model.notes;
    c::Give(html, berth::WritePage(from.subject(), from.answer, from.provenance(), page));
    return {};
  });
}

berth_status berth_plan_to_svg(const berth_plan* plan, berth_text** svg, berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    const berth_plan& from = c::PlanWithOffsets(plan);
    const berth::PlanAnswer& answer = from.answer;
    const berth::Bytes bound = answer.spills ? answer.placement_bound : answer.height_bound;
    const std::string& title = from.table != nullptr ? from.table->name : from.graph->name;
    if (from.several()) {
      c::Give(svg,
              berth::WriteSvg(from.graph->model.graph, from.options.schedule.counting,
                              from.options.memories, *answer.best, c::PictureOptions(from, title)));
      return {};
    }
    const berth::Problem buffers = from.subject().Buffers(*answer.best, answer.capacity);
    c::Give(svg, berth::WriteSvg(buffers, berth::PlacementOf(*answer.best), bound,
                                 c::PictureOptions(from, title)));
    return {};
  });
}

berth_status berth_plan_to_trace(const berth_plan* plan, berth_text** json, berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    const berth_plan& from = c::PlanOf(plan);
    const std::string& name = from.table != nullptr ? from.table->name : from.graph->name;
    const auto& memories = from.options.memories.memories;
    c::Give(json, berth::WriteTrace(from.subject(), from.answer, name, memories,
                                    from.run ? &*from.run : nullptr));
    return {};
  });
}

berth_status berth_plan_to_model(const berth_plan* plan, const char* bytes, size_t length,
                                 berth_text** model, berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    const berth_plan& from = c::PlanOf(plan);
    c::Give(model, BERTH_TRY(c::PlannedModel(from, c::ViewOf(bytes, length))));
    return {};
  });
}

berth_status berth_plan_parse_problem(const berth_problem* problem, const char* bytes,
                                      size_t length, const char* name, berth_plan** plan,
                                      berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    c::Require(plan != nullptr, "the place for the plan is NULL");
    const auto& table = c::InputOf(problem);
    const std::string_view text = c::ViewOf(bytes, length);
    const std::string shown = name == nullptr ? "plan" : name;
    BERTH_TRY(berth::Validate(table->problem));
    const auto offsets = BERTH_TRY(berth::ReadOffsets(text, shown, table->problem));
    const berth::PlanFile file = BERTH_TRY(berth::ReadPlan(text, shown));
    auto read = c::NewPlan(c::OptionsOf(nullptr), "place");
    c::SetTable(*read, table, file.problem.capacity);
    const berth::Placement placement{offsets, berth::Height(table->problem, offsets)};
    BERTH_TRY(berth::ValidatePlacement(read->problem, placement));
    berth::PlanAnswer answer;
    answer.best = berth::PlanOf(table->problem, offsets);
    c::ReadStated(file, answer);
    c::Complete(*read, std::move(answer));
    *plan = read.release();
    return {};
  });
}

berth_status berth_plan_parse_graph(const berth_graph* graph, const char* bytes, size_t length,
                                    const char* name, berth_plan** plan, berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    c::Require(plan != nullptr, "the place for the plan is NULL");
    const auto& input = c::InputOf(graph);
    const std::string_view text = c::ViewOf(bytes, length);
    const std::string shown = name == nullptr ? "plan" : name;
    const berth::Graph& of = input->model.graph;
    BERTH_TRY(berth::Validate(of));
    const berth::PlanSettings settings = berth::ReadPlanSettings(text);
    const berth::Counting counting = settings.counting;
    auto stated = BERTH_TRY(berth::ReadPlanFor(of, counting, text, shown));
    if (stated.recomputes || stated.memories.prefetch) {
      BERTH_TRY(c::CheckCosts(of, settings, shown));
    }
    const berth::PlanFile file = BERTH_TRY(berth::ReadPlan(text, shown));
    if (stated.memories.memories.empty()) {
      BERTH_TRY(berth::ValidatePlan(of, counting, stated.capacity, stated.plan));
    } else {
      BERTH_TRY(berth::Validate(of, counting, stated.memories));
      BERTH_TRY(berth::ValidatePlan(of, counting, stated.memories, stated.plan));
    }
    auto read = c::NewPlan(c::OptionsOf(nullptr), "plan");
    read->options.memories = stated.memories;
    read->cost_unit = stated.cost_unit;
    read->graph = input;
    read->options.schedule.counting = counting;
    if (stated.capacity) read->options.capacity = *stated.capacity;
    read->options.spill = stated.spills;
    read->options.recompute = stated.recomputes;
    berth::PlanAnswer answer;
    answer.best = std::move(stated.plan);
    answer.spills = stated.spills;
    answer.recomputes = stated.recomputes;
    c::ReadStated(file, answer);
    answer.capacity = stated.capacity;
    // Of other plans the file's bound is not read; 0 is true of any.
    if (stated.recomputes && answer.outcome == berth::Outcome::kOptimal) {
      answer.recompute_bound = answer.best->recomputed.cost;
    }
    c::Complete(*read, std::move(answer));
    *plan = read.release();
    return {};
  });
}

berth_status berth_advise_plan(const berth_plan* plan, const berth_options* options,
                               berth_advice** advice, berth_error** error) {
  return c::Call(error, [&] { return c::AdvisePlan(plan, std::nullopt, options, advice); });
}

berth_status berth_advise_model(const berth_plan* plan, const char* bytes, size_t length,
                                const berth_options* options, berth_advice** advice,
                                berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    const std::string_view view = c::ViewOf(bytes, length);
    static_cast<void>(BERTH_TRY(c::GraphOf(c::PlanOf(plan), view)));
    return c::AdvisePlan(plan, view, options, advice);
  });
}

void berth_advice_free(berth_advice* advice) { delete advice; }
size_t berth_advice_count(const berth_advice* advice) {
  return advice == nullptr ? 0 : advice->changes.size();
}

berth_status berth_advice_remedy(const berth_advice* advice, size_t index, berth_remedy* out,
                                 berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    c::RequireIndex(index, berth_advice_count(advice), "remedy");
    const berth::Remedy& from = advice->advice.remedies[index];
    c::Fill(out, {0, from.title.c_str(), from.detail.c_str(), advice->changes[index].c_str(),
                  from.needs.value_or(-1), from.traffic.value_or(-1), from.fits, from.proved,
                  from.estimated, from.recompute_cost.value_or(-1), from.enlarges()});
    return {};
  });
}

}  // extern "C"
