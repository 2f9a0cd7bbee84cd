// berth diff -- two plans go in; what moved, grew, is new or gone comes out.
#include <algorithm>
#include <cstdint>
#include <utility>

#include "berth/diff.h"
#include "berth/page.h"
#include "src/base/try.h"
#include "tools/berth/command.h"
#include "tools/berth/flags.h"
#include "tools/berth/model.h"
#include "tools/berth/output.h"

namespace berth::cli {
namespace {

constexpr std::size_t kMostRows = 20;
constexpr std::size_t kName = 44;

// "2%" or "64KiB": by how much the height may grow.
struct Growth {
  std::int64_t millionths = 0;  // Of the old height.
  Bytes bytes = 0;              // If it is not a percentage.
};

// Nothing where `text` is neither. Percentages have at most four decimals: 0.0001 % is a millionth.
std::optional<Growth> ParseGrowth(const std::string& text) {
  if (text.empty() || text.back() != '%') {
    const auto bytes = ParseBytes(text);
    return bytes ? std::optional(Growth{0, *bytes}) : std::nullopt;
  }
  constexpr int kDecimals = 4;
  constexpr std::int64_t kMost = std::int64_t{1'000'000} * 10'000;  // A million per cent.
  std::int64_t value = 0;
  int decimals = -1;
  bool digits = false;
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    if (text[i] == '.' && decimals < 0) {
      decimals = 0;
    } else if (text[i] >= '0' && text[i] <= '9' && value <= kMost) {
      value = value * 10 + (text[i] - '0');
      digits = true;
      if (decimals >= 0) ++decimals;
    } else {
      return std::nullopt;
    }
  }
  if (!digits || decimals > kDecimals) return std::nullopt;
  for (int d = std::max(decimals, 0); d < kDecimals; ++d) value *= 10;
  if (value > kMost) return std::nullopt;
  return Growth{value, 0};
}

// The most that the height may be, at most kMaxBytes.
Bytes LimitOf(Bytes height, const Growth& growth) {
  constexpr std::int64_t kWhole = 1'000'000;
  const Bytes millions = height / kWhole;
  if (growth.millionths > 0 && millions > kMaxBytes / growth.millionths) return kMaxBytes;
  // The product of two numbers, the one below a million, the other at most 10^10, fits.
  const Bytes more =
      millions * growth.millionths + height % kWhole * growth.millionths / kWhole + growth.bytes;
  return more > kMaxBytes - height ? kMaxBytes : height + more;
}

struct DiffArguments {
  std::string before;
  std::string after;
  std::string max_growth;
  std::optional<Growth> growth;
  std::string report;
  bool json = false;
};

struct Summary {
  const PlanFile& before;
  const PlanFile& after;
  const PlanDiff& diff;
  const DiffArguments& arguments;
  bool grew;  // More than is allowed.

  [[nodiscard]] Json ToJson() const;
  [[nodiscard]] std::string ToText() const;

 private:
  [[nodiscard]] std::string ChangeTable() const;
};

Json DeltaJson(Bytes before, Bytes after) {
  return {{"before", before}, {"after", after}, {"delta", after - before}};
}

Json BufferJson(const PlanFile& plan, std::size_t b) {
  const Buffer& buffer = plan.problem.buffers[b];
  return {{"start", buffer.start},
          {"end", buffer.end},
          {"size", buffer.size},
          {"offset", plan.placement.offsets[b]}};
}

Json Summary::ToJson() const {
  Json json;
  json["before"] = before.name;
  json["after"] = after.name;
  json["same"] = diff.same();
  json["height"] = DeltaJson(before.placement.height, after.placement.height);
  json["peak"] = DeltaJson(diff.before.load, diff.after.load);
  json["peak_step"] = {{"before", diff.before.load_step}, {"after", diff.after.load_step}};
  json["buffers"] = {{"before", before.problem.buffers.size()},
                     {"after", after.problem.buffers.size()},
                     {"unchanged", diff.unchanged},
                     {"new", diff.added.size()},
                     {"gone", diff.removed.size()},
                     {"grown", diff.grown},
                     {"shrunk", diff.shrunk},
                     {"moved", diff.moved},
                     {"retimed", diff.retimed}};
  json["same_order"] = diff.same_order;
  json["max_growth"] = arguments.growth ? Json(arguments.max_growth) : Json(nullptr);
  json["grew_too_much"] = grew;
  Json changed = Json::array();
  for (const BufferChange& change : diff.changed) {
    changed.push_back({{"id", after.problem.buffers[change.after].id},
                       {"before", BufferJson(before, change.before)},
                       {"after", BufferJson(after, change.after)}});
  }
  const auto listed = [](const PlanFile& plan, const std::vector<std::size_t>& indices) {
    Json list = Json::array();
    for (const std::size_t b : indices) {
      Json buffer = {{"id", plan.problem.buffers[b].id}};
      buffer.update(BufferJson(plan, b));
      list.push_back(std::move(buffer));
    }
    return list;
  };
  json["changed"] = std::move(changed);
  json["new"] = listed(after, diff.added);
  json["gone"] = listed(before, diff.removed);
  json["version"] = BERTH_VERSION;
  return json;
}

// "146 MiB (152,694,784 bytes) -> 150 MiB (157,286,400 bytes), 4 MiB (2.7 %) more".
std::string DeltaText(Bytes before, Bytes after) {
  if (before == after) return FormatBytesExactly(after) + ", as before";
  const Bytes change = before < after ? after - before : before - after;
  const std::string share =
      before == 0
          ? ""
          : " (" + FormatPercent(static_cast<double>(change) / static_cast<double>(before)) + ")";
  return FormatBytesExactly(before) + " -> " + FormatBytesExactly(after) + ", " +
         FormatBytes(change) + share + (before < after ? " more" : " less");
}

std::string Arrow(std::int64_t before, std::int64_t after) {
  if (before == after) return FormatCount(after);
  return FormatCount(before) + " -> " + FormatCount(after);
}

std::string Summary::ChangeTable() const {
  using enum TextTable::Align;
  TextTable table({kLeft, kLeft, kRight, kRight, kRight});
  table.AddRow({"change", "buffer", "bytes", "offset", "steps"});
  std::size_t rows = 0;
  const auto add = [&](const std::string& what, const std::string& id, const std::string& bytes,
                       const std::string& offset, const std::string& steps) {
    if (rows++ >= kMostRows) return;
    std::string name = OneLine(id);
    name = Abridged(name, kName);
    table.AddRow({what, name, bytes, offset, steps});
  };
  const auto steps = [](const Buffer& buffer) {
    return "[" + std::to_string(buffer.start) + ", " + std::to_string(buffer.end) + ")";
  };
  const auto whole = [&](const char* what, const PlanFile& plan, std::size_t b) {
    const Buffer& buffer = plan.problem.buffers[b];
    add(what, buffer.id, FormatCount(buffer.size), FormatCount(plan.placement.offsets[b]),
        steps(buffer));
  };
  for (const std::size_t b : diff.added) whole("new", after, b);
  for (const BufferChange& change : diff.changed) {
    const Buffer& then = before.problem.buffers[change.before];
    const Buffer& now = after.problem.buffers[change.after];
    std::string what;
    const auto also = [&](bool is, const char* word) {
      if (is) what += (what.empty() ? "" : ", ") + std::string(word);
    };
    also(now.size > then.size, "grown");
    also(now.size < then.size, "shrunk");
    also(change.moved, "moved");
    also(change.retimed, "retimed");
    add(what, now.id, Arrow(then.size, now.size),
        Arrow(before.placement.offsets[change.before], after.placement.offsets[change.after]),
        change.retimed ? steps(then) + " -> " + steps(now) : steps(now));
  }
  for (const std::size_t b : diff.removed) whole("gone", before, b);
  std::string text = "\n" + table.ToString();
  if (rows > kMostRows) {
    text += "  and " + FormatCount(static_cast<std::int64_t>(rows - kMostRows)) +
            " more (--json lists them all)\n";
  }
  return text;
}

std::string Summary::ToText() const {
  std::string text;
  if (grew) {
    text = Paint(Tone::kBad, "Grew by more than " + arguments.max_growth + ".");
  } else if (diff.same() && diff.same_order) {
    text = Paint(Tone::kGood, "The plans are the same.");
  } else if (after.placement.height > before.placement.height) {
    text = Paint(Tone::kUnsure, "The new plan is taller.");
  } else if (after.placement.height < before.placement.height) {
    text = Paint(Tone::kGood, "The new plan is lower.");
  } else {
    text = Paint(Tone::kGood, "The new plan is as tall as the old one.");
  }
  FactList facts;
  facts.Add("height", DeltaText(before.placement.height, after.placement.height));
  facts.Add("peak load", DeltaText(diff.before.load, diff.after.load));
  std::string counts;
  for (const auto& [count, word] : {std::pair<std::size_t, const char*>{diff.added.size(), "new"},
                                    {diff.removed.size(), "gone"},
                                    {diff.grown, "grown"},
                                    {diff.shrunk, "shrunk"},
                                    {diff.moved, "moved"},
                                    {diff.retimed, "retimed"}}) {
    if (count > 0) {
      counts +=
          (counts.empty() ? "" : ", ") + FormatCount(static_cast<std::int64_t>(count)) + " " + word;
    }
  }
  facts.Add("buffers", Arrow(static_cast<std::int64_t>(before.problem.buffers.size()),
                             static_cast<std::int64_t>(after.problem.buffers.size())) +
                           (counts.empty() ? "" : ": " + counts));
  if (!before.order.empty() && !after.order.empty()) {
    facts.Add("order", diff.same_order ? "the same" : "another one");
  }
  if (!arguments.report.empty()) facts.Add("report", OneLine(arguments.report));
  text += "\n" + facts.ToString();
  return diff.same() ? text : text + ChangeTable();
}

Result<PlanFile> LoadPlan(const std::string& path) {
  const auto text = BERTH_TRY(ReadFile(path));
  return ReadPlan(text, path == "-" ? "standard input" : path);
}

Result<ExitCode> Run(const DiffArguments& arguments) {
  if (arguments.before == "-" && arguments.after == "-") {
    return Fail(ErrorCode::kInvalidOptions, "only one of the two plans can be standard input");
  }
  BERTH_TRY(CheckReport(arguments.report));
  BERTH_TRY(CheckOneWriter(
      {{"--report -", IsStandardOutput(arguments.report)}, {"--json", arguments.json}}));
  const auto before = BERTH_TRY(LoadPlan(arguments.before));
  const auto after = BERTH_TRY(LoadPlan(arguments.after));
  const PlanDiff diff = Compare(before, after);
  const bool grew = arguments.growth &&
                    after.placement.height > LimitOf(before.placement.height, *arguments.growth);
  const Summary summary{before, after, diff, arguments, grew};
  if (!arguments.report.empty()) {
    BERTH_TRY(WriteFile(arguments.report, WritePage(before, after, diff)));
  }
  if (arguments.json) {
    PrintJson(summary.ToJson());
  } else if (!IsStandardOutput(arguments.report)) {
    Print(summary.ToText());
  }
  return grew ? kDoesNotFit : kDone;
}

}  // namespace

Command AddDiffCommand(CLI::App& berth) {
  CLI::App* app = berth.add_subcommand("diff", "Show what changed between two plans.");
  const auto arguments = std::make_shared<DiffArguments>();
  app->add_option("OLD", arguments->before,
                  "The old plan: JSON, or a table with an offset column; - is standard input.")
      ->required();
  app->add_option("NEW", arguments->after, "The new plan, in either format.")->required();
  app->add_option_function<std::string>(
         "--max-growth",
         [arguments](const std::string& text) {
           arguments->growth = ParseGrowth(text);
           arguments->max_growth = text;
           if (!arguments->growth) {
             throw CLI::ValidationError(
                 "--max-growth",
                 "'" + OneLine(text) + "' is neither a percentage, such as 2%, nor a size");
           }
         },
         "Exit with code 1 if the new plan is higher by more than this, such as 2% or 64KiB.")
      ->type_name("GROWTH");
  AddReport(*app, arguments->report,
            "Write one HTML file with both plans side by side and every change");
  AddJson(*app, arguments->json);
  app->footer(
      "Buffers are matched by id. Retimed buffers have a new lifetime.\n"
      "Exit codes: 0 compared, 1 grew by more than --max-growth, 2 bad input or usage.\n"
      "\nExamples:\n"
      "  berth diff old.json new.json                     What changed, largest growth first.\n"
      "  berth diff main.json pr.json --max-growth 2%     In continuous integration.\n"
      "  berth diff old.csv new.csv --report diff.html    Both plans, side by side.");
  return {app, [arguments] { return Run(*arguments); }};
}

}  // namespace berth::cli
