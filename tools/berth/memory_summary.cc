#include "tools/berth/memory_summary.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <utility>
#include <vector>

#include "berth/displaced.h"
#include "berth/page.h"
#include "berth/plan_io.h"
#include "berth/report.h"
#include "src/base/try.h"
#include "src/io/plan_head.h"
#include "tools/berth/displaced.h"
#include "tools/berth/flags.h"
#include "tools/berth/terminal.h"
#include "tools/verify/memories.h"

namespace berth::cli {
namespace {

constexpr std::size_t kMostNames = 10;

std::int64_t Count(std::size_t number) { return static_cast<std::int64_t>(number); }

// What a plan puts into one memory.
struct Share {
  std::size_t buffers = 0;
  std::int64_t cost = 0;
};

// A buffer that a plan leaves out.
struct LeftOut {
  std::size_t buffer = 0;
  std::optional<std::int64_t> cost;  // None: it must be placed.
};

// A plan with all that is said of it.
struct Account {
  std::vector<Share> memories;
  std::vector<LeftOut> left_out;  // Those that must be placed first, then the dearest.
  std::int64_t optional_cost = 0;
  std::size_t optional = 0;
};

Account AccountOf(const MemoryProblem& problem, const MemoryPlan& plan) {
  Account account;
  account.memories.resize(problem.memories.size());
  std::vector<bool> placed(problem.table.buffers.size());
  for (const Residency& residency : plan.residencies) {
    Share& share = account.memories[static_cast<std::size_t>(residency.memory)];
    ++share.buffers;
    share.cost += CostOf(problem, residency).value_or(0);
    placed[residency.tensor] = true;
  }
  for (std::size_t b = 0; b < placed.size(); ++b) {
    if (placed[b]) continue;
    const auto cost = problem.placing.empty() ? std::nullopt : problem.placing[b].cost_left_out;
    account.left_out.push_back({b, cost});
    account.optional += cost ? 1 : 0;
    account.optional_cost += cost.value_or(0);
  }
  std::stable_sort(account.left_out.begin(), account.left_out.end(),
                   [](const LeftOut& a, const LeftOut& b) {
                     if (a.cost.has_value() != b.cost.has_value()) return !a.cost;
                     return a.cost.value_or(0) > b.cost.value_or(0);
                   });
  return account;
}

struct Placed {
  const MemoryInput& input;
  const PlanAnswer& answer;
  const PlanOutputs& outputs;
  Provenance provenance;
  Account account;
  bool interrupted = false;
  std::optional<std::vector<Displaced>> displaced = {};  // Where the plan is to be explained.

  [[nodiscard]] const MemoryProblem& problem() const { return input.problem; }
  [[nodiscard]] const PlanCost& cost() const { return answer.best->cost; }
  [[nodiscard]] std::string Cost(std::int64_t cost) const {
    return OneLine(FormatCost(cost, input.cost_unit));
  }
};

// "2 buffers that must be placed".
std::string Musts(std::size_t count) {
  return Plural(Count(count), "buffer") + " that must be placed";
}

std::string Headline(const Placed& placed) {
  const PlanAnswer& answer = placed.answer;
  const std::string interruption = placed.interrupted ? "Interrupted. " : "";
  if (!answer.best) {
    return Paint(Tone::kUnsure, interruption + "Gave up: no plan was found.");
  }
  const std::size_t unplaced = placed.cost().unplaced;
  const std::size_t bound = answer.cost_bound.unplaced;
  if (answer.outcome == Outcome::kInfeasible) {
    return Paint(Tone::kBad, interruption + "Does not fit: " + Musts(unplaced) +
                                 (unplaced == 1 ? " has no place" : " have no place") +
                                 (unplaced == bound ? ", proved the fewest."
                                                    : "; proved for at least " +
                                                          FormatCount(Count(bound)) + "."));
  }
  if (answer.outcome == Outcome::kUnknown) {
    return Paint(Tone::kUnsure,
                 interruption + (placed.interrupted ? "No" : "Gave up: no") +
                     " plan that fits was found, nor a proof that none does; the best leaves out " +
                     Musts(unplaced) + ".");
  }
  const bool all = placed.account.left_out.empty();
  const std::string what = all ? "every buffer placed"
                               : "every buffer that must be placed has a place, " +
                                     FormatCount(Count(placed.account.optional)) +
                                     (placed.account.optional == 1 ? " other is" : " others are") +
                                     " left out,";
  const std::int64_t cost = placed.cost().cost;
  const std::string at = what + " at a cost of " + placed.Cost(cost);
  if (answer.outcome == Outcome::kOptimal) {
    // Nothing was chosen where nothing costs anything.
    const bool free = cost == 0 && all;
    return Paint(Tone::kGood,
                 interruption + "Fits: " + (free ? what + "." : at + ", proved the least."));
  }
  const std::int64_t least = answer.cost_bound.cost;
  return Paint(Tone::kGood, interruption + "Fits: " + at +
                                (least > 0 ? ", at most " + FormatPercentUp(Gap(cost, least)) +
                                                 " above the least."
                                           : "; a cheaper plan may exist."));
}

// A row for each memory, and one for what is left out.
std::string MemoryTable(const MemoryProblem& problem, const MemoryPlan& plan,
                        const Account& account, const std::string& unit) {
  using enum TextTable::Align;
  constexpr std::size_t kName = 30;
  const std::int64_t all = plan.cost.cost;
  const auto share = [all](std::int64_t cost) {
    return all > 0 ? FormatPercent(static_cast<double>(cost) / static_cast<double>(all)) : "";
  };
  std::vector<TextTable::Align> columns(all > 0 ? 8 : 6, kRight);
  columns.front() = kLeft;
  TextTable table(columns);
  table.Elide(0, kName);
  // Where nothing costs anything, nothing is said of costs.
  const auto add = [&](std::vector<std::string> cells, const std::string& cost,
                       const std::string& of_all) {
    if (all > 0) {
      cells.push_back(cost);
      cells.push_back(of_all);
    }
    table.AddRow(std::move(cells));
  };
  add({"memory", "height", "capacity", "filled", "peak", "buffers"}, "cost", "share");
  for (std::size_t m = 0; m < problem.memories.size(); ++m) {
    const Memory& memory = problem.memories[m];
    const MemoryUse& use = plan.memories[m];
    const bool filled = memory.capacity && *memory.capacity > 0;
    add({OneLine(memory.name), FormatBytes(use.height),
         memory.capacity ? FormatBytes(*memory.capacity) : "any",
         filled ? FormatPercent(static_cast<double>(use.height) /
                                static_cast<double>(*memory.capacity))
                : "",
         FormatBytes(use.peak), FormatCount(Count(account.memories[m].buffers))},
        OneLine(FormatCost(account.memories[m].cost, unit)), share(account.memories[m].cost));
  }
  if (!account.left_out.empty()) {
    add({"left out", "", "", "", "", FormatCount(Count(account.left_out.size()))},
        OneLine(FormatCost(account.optional_cost, unit)), share(account.optional_cost));
  }
  return table.ToString();
}

// The buffers that are left out, those that must be placed first.
std::string LeftOutTable(const MemoryProblem& problem, const Account& account,
                         const std::string& unit) {
  if (account.left_out.empty()) return "";
  using enum TextTable::Align;
  constexpr std::size_t kName = 40;
  TextTable table({kLeft, kRight, kRight, kRight, kRight});
  table.Elide(0, kName);
  table.AddRow({"left out", "size", "from", "to", "cost"});
  const std::size_t shown = std::min(kMostNames, account.left_out.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const LeftOut& each = account.left_out[i];
    const Buffer& buffer = problem.table.buffers[each.buffer];
    table.AddRow({OneLine(buffer.id), FormatBytes(buffer.size), std::to_string(buffer.start),
                  std::to_string(buffer.end),
                  each.cost ? OneLine(FormatCost(*each.cost, unit)) : "must be placed"});
  }
  std::string text = "\n" + table.ToString();
  if (shown < account.left_out.size()) {
    text += "  and " + FormatCount(Count(account.left_out.size() - shown)) + " more\n";
  }
  return text;
}

std::string SummaryText(const Placed& placed) {
  const PlanAnswer& answer = placed.answer;
  FactList facts;
  if (answer.best) {
    if (placed.cost().cost > 0) {
      facts.Add("cost", OneLine(FormatCostExactly(placed.cost().cost, placed.input.cost_unit)) +
                            (answer.fits() ? "" : " of the others"));
    }
    if (answer.outcome == Outcome::kFeasible) {
      facts.Add("lower bound",
                OneLine(FormatCostExactly(answer.cost_bound.cost, placed.input.cost_unit)));
    }
    const bool moves =
        std::any_of(placed.problem().placing.begin(), placed.problem().placing.end(),
                    [](const Placing& placing) { return placing.previous.has_value(); });
    if (moves) facts.Add("moved", FormatBytesExactly(placed.cost().moved));
  }
  facts.Add("search", Plural(Count(placed.problem().table.buffers.size()), "buffer") + ", " +
                          Plural(answer.nodes, "node") + ", " + FormatSeconds(answer.seconds));
  for (const auto& [name, path] :
       {std::pair{"plan", &placed.outputs.plan}, std::pair{"picture", &placed.outputs.svg},
        std::pair{"report", &placed.outputs.report}, std::pair{"trace", &placed.outputs.trace}}) {
    const bool written = std::string(name) != "plan" || answer.fits();
    if (!path->empty() && written && !IsStandardOutput(*path)) facts.Add(name, OneLine(*path));
  }
  std::string text = Headline(placed) + "\n" + facts.ToString();
  if (answer.best) {
    text += "\n" +
            MemoryTable(placed.problem(), *answer.best, placed.account, placed.input.cost_unit) +
            LeftOutTable(placed.problem(), placed.account, placed.input.cost_unit);
    if (placed.displaced) {
      text += DisplacedText(placed.problem(), *placed.displaced, placed.input.cost_unit, "buffer");
    }
  }
  for (const std::string& note : placed.input.notes) {
    text += "  " + Wrap(OneLine(note), TextWidth() - 2, 2) + "\n";
  }
  return text;
}

Json SummaryJson(const Placed& placed) {
  const PlanAnswer& answer = placed.answer;
  Json json = internal::PlanHead(placed.problem(), answer, placed.provenance);
  if (answer.best) {
    for (std::size_t m = 0; m < placed.account.memories.size(); ++m) {
      json["memories"][m]["buffers"] = placed.account.memories[m].buffers;
      json["memories"][m]["cost"] = placed.account.memories[m].cost;
    }
    const bool comparable = placed.cost().unplaced == answer.cost_bound.unplaced;
    json["cost_gap"] = comparable ? Json(Gap(placed.cost().cost, answer.cost_bound.cost)) : Json();
  }
  json["seconds"] = answer.seconds;
  json["nodes"] = answer.nodes;
  json["interrupted"] = placed.interrupted;
  json["buffers"] = placed.problem().table.buffers.size();
  json["notes"] = placed.input.notes;
  if (placed.displaced) json["displaced"] = DisplacedJson(placed.problem(), *placed.displaced);
  return json;
}

void VerifyOrDie(const MemoryProblem& problem, const MemoryPlan& plan) {
  const std::vector<std::string> faults = verify::VerifyMemories(problem, plan);
  if (faults.empty()) return;
  std::fprintf(stderr,
               "berth: internal error: the verifier rejects Berth's own plan, which was not "
               "written: %s; please report this together with the input\n",
               OneLine(faults.front()).c_str());
  std::exit(kInternalError);
}

Result<void> CheckFlags(const MemoryPlaceArguments& arguments) {
  const auto refuse = [](const std::string& flag, const std::string& why) {
    return Fail(ErrorCode::kInvalidOptions, flag + " does not apply to several memories: " + why);
  };
  const PlaceOptions& options = arguments.search.options;
  if (options.minimize) return refuse("--minimize", "the cost is minimised, not the height");
  if (options.algorithm != Algorithm::kAuto) {
    return refuse("--algorithm", "there is one search for them");
  }
  if (!arguments.outputs.proof.empty()) {
    return refuse("--proof", "only placing in one memory logs its steps");
  }
  return {};
}

Result<void> WriteFiles(const Placed& placed) {
  const PlanAnswer& answer = placed.answer;
  if (!answer.best) return {};
  const PlanOutputs& outputs = placed.outputs;
  if (answer.fits() && !outputs.plan.empty()) {
    BERTH_TRY(
        WriteFile(outputs.plan, HasExtension(outputs.plan, ".json")
                                    ? WritePlanJson(placed.problem(), answer, placed.provenance)
                                    : WriteMemoriesCsv(placed.problem(), &*answer.best)));
  }
  if (!outputs.svg.empty()) {
    SvgOptions options;
    options.title = placed.input.name;
    BERTH_TRY(WriteFile(outputs.svg, WriteSvg(placed.problem(), *answer.best, options)));
  }
  if (!outputs.report.empty()) {
    PageOptions page{placed.displaced ? "explain" : "place",
                     MemoryVerdict(answer.best->residencies.size(), "buffer")};
    page.notes = placed.input.notes;
    BERTH_TRY(
        WriteFile(outputs.report, WritePage(placed.problem(), answer, placed.provenance, page)));
  }
  if (!outputs.trace.empty()) {
    BERTH_TRY(WriteFile(outputs.trace, WriteTrace(placed.problem(), answer, placed.input.name,
                                                  placed.problem().memories)));
  }
  return {};
}

ExitCode Conclude(const Placed& placed) {
  const ExitCode code = ExitCodeOf(placed.answer.outcome);
  if (placed.outputs.json) {
    PrintJson(SummaryJson(placed));
  } else if (!placed.outputs.to_stdout()) {
    Print(SummaryText(placed));
  } else if (code != kDone) {
    PrintToStandardError(SummaryText(placed));
  }
  return code;
}

// A plan that was checked.
struct Checked {
  const MemoryInput& input;
  const MemoryPlan& plan;
  const Account& account;
  const std::vector<std::string>& faults;
};

Json CheckedJson(const Checked& checked) {
  const MemoryPlan& plan = checked.plan;
  Json json;
  json["valid"] = checked.faults.empty();
  json["memories"] = Json::array();
  for (std::size_t m = 0; m < plan.memories.size(); ++m) {
    Json memory = internal::MemoryJson(checked.input.problem.memories[m]);
    memory["height"] = plan.memories[m].height;
    memory["peak"] = plan.memories[m].peak;
    memory["buffers"] = checked.account.memories[m].buffers;
    memory["cost"] = checked.account.memories[m].cost;
    json["memories"].push_back(std::move(memory));
  }
  json["cost"] = plan.cost.cost;
  json["cost_unit"] = checked.input.cost_unit;
  json["unplaced"] = checked.account.left_out.size() - checked.account.optional;
  json["moved"] = plan.cost.moved;
  json["residencies"] = plan.residencies.size();
  json["faults"] = Json::array();
  for (const std::string& fault : checked.faults) json["faults"].push_back({{"message", fault}});
  json["notes"] = checked.input.notes;
  json["berth_version"] = BERTH_VERSION;
  return json;
}

// `from_plan`: it was the plan's own file that described the memories.
std::string HoldsText(const Checked& checked, bool from_plan) {
  const MemoryInput& input = checked.input;
  const std::size_t count = input.problem.memories.size();
  std::string text = Paint(Tone::kGood, "The plan holds:") + " " +
                     Plural(Count(checked.plan.residencies.size()), "buffer") + " in " +
                     FormatCount(Count(count)) + (count == 1 ? " memory" : " memories") +
                     ", every rule kept; cost " +
                     OneLine(FormatCostExactly(checked.plan.cost.cost, input.cost_unit)) + ".\n";
  text += MemoryTable(input.problem, checked.plan, checked.account, input.cost_unit);
  if (from_plan) text += "  Memories are as the plan states them.\n";
  for (const std::string& note : input.notes) {
    text += "  " + Wrap(OneLine(note), TextWidth() - 2, 2) + "\n";
  }
  return text;
}

tl::unexpected<Error> NoBuffers(const TableArguments& table) {
  return Fail(ErrorCode::kInvalidOptions,
              OneLine(table.path) +
                  ": describes memories alone; give the table of buffers, and this file with "
                  "--memories");
}

}  // namespace

Result<ExitCode> PlaceMemories(const MemoryPlaceArguments& arguments, FileView file) {
  BERTH_TRY(CheckFlags(arguments));
  const MemoryInput input =
      BERTH_TRY(LoadMemories(arguments.table, arguments.memories, std::move(file)));
  if (!input.has_buffers) return NoBuffers(arguments.table);
  MemoriesOptions options;
  options.place = arguments.search.options;
  options.place.minimize_if_infeasible = false;
  WatchedSearch search(arguments.search);
  const PlanAnswer answer = BERTH_TRY(search.Run(
      [&](Budget& budget) { return berth::PlaceInMemories(input.problem, options, budget); }));
  if (answer.best) VerifyOrDie(input.problem, *answer.best);
  Provenance provenance{BERTH_VERSION, input.name, input.hash, {}, arguments.search.node_limit};
  provenance.options.place = arguments.search.options;
  provenance.cost_unit = input.cost_unit;
  provenance.assumed_uses = input.assumed_uses;
  Placed placed{input, answer, arguments.outputs, std::move(provenance), {}};
  placed.interrupted = search.interrupted();
  if (answer.best) placed.account = AccountOf(input.problem, *answer.best);
  if (arguments.explain && answer.best) {
    placed.displaced = BERTH_TRY(FindDisplaced(input.problem, *answer.best, kMostDisplaced));
  }
  BERTH_TRY(WriteFiles(placed));
  return Conclude(placed);
}

std::string MemoryVerdict(std::size_t count, const std::string& noun) {
  return "accepted: " + Plural(Count(count), noun) +
         ", each in a memory that it may be in, no overlap, alignments and capacities kept, cost "
         "as "
         "stated";
}

bool IsPlanInMemories(std::string_view plan) {
  // Of plans in JSON only those for several memories have a list of this name. However the text is laid
  // out: quotes within strings are escaped.
  constexpr std::string_view kKey = "\"memories\"";
  constexpr std::string_view kSpace = " \t\r\n";
  if (plan.find_first_of("{") == std::string_view::npos) return false;
  for (std::size_t at = plan.find(kKey); at != std::string_view::npos;
       at = plan.find(kKey, at + kKey.size())) {
    const std::size_t colon = plan.find_first_not_of(kSpace, at + kKey.size());
    if (colon == std::string_view::npos || plan[colon] != ':') continue;
    const std::size_t list = plan.find_first_not_of(kSpace, colon + 1);
    if (list != std::string_view::npos && plan[list] == '[') return true;
  }
  return false;
}

Result<ExitCode> CheckMemories(const MemoryCheckArguments& arguments, FileView file) {
  const bool own = arguments.plan.empty();
  const std::string table_text(own ? file.bytes() : std::string_view());
  const MemoryInput input = BERTH_TRY(LoadMemories(
      arguments.table, arguments.memories, std::move(file), arguments.plan, arguments.plan_name));
  if (!input.has_buffers) return NoBuffers(arguments.table);
  if (own && !input.is_csv) {
    return Fail(ErrorCode::kInvalidOptions,
                "PLAN is missing: " + OneLine(arguments.table.path) + " has no plan inside");
  }
  const std::string& path = arguments.table.path;
  const std::string name = !own ? arguments.plan_name : path == "-" ? NameOf(path) : path;
  const MemoryPlan plan =
      BERTH_TRY(ReadPlanFor(input.problem, own ? table_text : arguments.plan, name));
  std::vector<std::string> faults = verify::VerifyMemories(input.problem, plan);
  const Account account = AccountOf(input.problem, plan);
  const std::size_t unplaced = account.left_out.size() - account.optional;
  if (unplaced > 0) {
    faults.push_back(Musts(unplaced) + (unplaced == 1 ? " is not" : " are not") +
                     ": the first is \"" +
                     input.problem.table.buffers[account.left_out.front().buffer].id + "\"");
  }
  const Checked checked{input, plan, account, faults};
  if (arguments.json) {
    PrintJson(CheckedJson(checked));
  } else if (!faults.empty()) {
    Print(FaultsText(faults));
  } else {
    const bool from_plan = !arguments.memories.given() && !own && input.is_csv;
    Print(HoldsText(checked, from_plan));
  }
  return faults.empty() ? kDone : kDoesNotFit;
}

std::string FaultsText(const std::vector<std::string>& faults) {
  constexpr std::size_t kMostFaults = 20;
  std::string text = Paint(Tone::kBad, "The plan does not hold:") + " " +
                     Plural(Count(faults.size()), "fault") + ".\n";
  for (std::size_t i = 0; i < std::min(kMostFaults, faults.size()); ++i) {
    text += "  " + OneLine(faults[i]) + "\n";
  }
  if (faults.size() > kMostFaults) {
    text += "  and " + FormatCount(Count(faults.size() - kMostFaults)) + " more\n";
  }
  return text;
}

}  // namespace berth::cli
