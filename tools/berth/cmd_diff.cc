// berth diff -- two plans go in; what moved, grew, is new or gone comes out.
#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "berth/bytes.h"
#include "berth/diff.h"
#include "berth/memory_io.h"
#include "berth/page.h"
#include "berth/place.h"
#include "src/base/try.h"
#include "src/io/plan_head.h"
#include "tools/berth/checked.h"
#include "tools/berth/command.h"
#include "tools/berth/file_kind.h"
#include "tools/berth/flags.h"
#include "tools/berth/memories.h"
#include "tools/berth/model.h"
#include "tools/berth/output.h"
#include "tools/berth/problem_choice.h"
#include "tools/berth/table.h"

namespace berth::cli {
namespace {

constexpr std::size_t kMostRows = 20;
constexpr std::size_t kName = 44;

// "2%" or "64KiB": by how much the height or the traffic may grow.
struct Growth {
  std::string text;             // As given.
  std::int64_t millionths = 0;  // Of the old figure.
  Bytes bytes = 0;              // If it is not a percentage.
};

// Nothing where `text` is neither.
std::optional<Growth> ParseGrowth(const std::string& flag, const std::string& text) {
  if (const auto millionths = ParsePercentage(text)) return Growth{text, *millionths, 0};
  if (text.ends_with('%')) return std::nullopt;
  const auto bytes = ReadBytes(flag, text);
  return bytes ? std::optional(Growth{text, 0, *bytes}) : std::nullopt;
}

// The most that what was `before` bytes may be now, at most kMaxBytes.
Bytes LimitOf(Bytes before, const Growth& growth) {
  constexpr std::int64_t kWhole = 1'000'000;
  const Bytes millions = before / kWhole;
  if (growth.millionths > 0 && millions > kMaxBytes / growth.millionths) return kMaxBytes;
  // The product of two numbers, the one below a million, the other at most 10^10, fits.
  const Bytes more =
      millions * growth.millionths + before % kWhole * growth.millionths / kWhole + growth.bytes;
  return more > kMaxBytes - before ? kMaxBytes : before + more;
}

struct DiffArguments {
  std::string before;
  std::string after;
  std::optional<Growth> max_growth;          // Of the height, and of the traffic without the next.
  std::optional<Growth> max_traffic_growth;  // Of the traffic.
  std::string report;
  bool json = false;
  std::string problem;       // Of snapshots: the pool.
  Counting counting;         // Of this, unsized_as_zero alone.
  MemoryArguments memories;  // Of plans in CSV.
  [[nodiscard]] const std::optional<Growth>& traffic_limit() const {
    return max_traffic_growth ? max_traffic_growth : max_growth;
  }
};

Bytes TrafficOf(const PlanFile& plan) { return plan.traffic.avoidable(); }

struct Summary {
  const PlanFile& before;
  const PlanFile& after;
  const PlanDiff& diff;
  const DiffArguments& arguments;

  // The plans have several memories.
  [[nodiscard]] bool several() const { return !after.memories.empty(); }
  [[nodiscard]] bool same_cost() const {
    return !several() || (diff.same_cost_kind && before.cost == after.cost);
  }
  [[nodiscard]] MemoryUse UseBefore(const PlanDiff::MemoryChange& memory) const {
    return memory.before ? before.uses[*memory.before] : MemoryUse();
  }
  [[nodiscard]] MemoryUse UseAfter(const PlanDiff::MemoryChange& memory) const {
    return memory.after ? after.uses[*memory.after] : MemoryUse();
  }
  // More than is allowed; of several memories, in one of them.
  [[nodiscard]] bool height_grew() const {
    if (!arguments.max_growth) return false;
    const Growth& growth = *arguments.max_growth;
    if (!several()) {
      return after.placement.height > LimitOf(before.placement.height, growth);
    }
    return std::any_of(diff.memories.begin(), diff.memories.end(), [&](const auto& memory) {
      return UseAfter(memory).height > LimitOf(UseBefore(memory).height, growth);
    });
  }
  // Of several memories, where the growth is a percentage: a cost has no bytes. Leaving out more costs
  // more than any sum.
  [[nodiscard]] bool cost_grew() const {
    if (!several() || !arguments.max_growth) return false;
    if (after.cost.unplaced != before.cost.unplaced) {
      return after.cost.unplaced > before.cost.unplaced;
    }
    const Growth& growth = *arguments.max_growth;
    return growth.bytes == 0 && diff.same_cost_kind &&
           after.cost.cost > LimitOf(before.cost.cost, growth);
  }
  [[nodiscard]] bool traffic_grew() const {
    return arguments.traffic_limit() &&
           TrafficOf(after) > LimitOf(TrafficOf(before), *arguments.traffic_limit());
  }
  // Sizes of tensors are not known, so what is compared is not the whole of a plan.
  [[nodiscard]] bool sizes_missing() const {
    return before.unsized + after.unsized > 0 && !arguments.counting.unsized_as_zero;
  }
  [[nodiscard]] ExitCode exit_code() const {
    if (sizes_missing()) return kGaveUp;
    return height_grew() || traffic_grew() || cost_grew() ? kDoesNotFit : kDone;
  }

  [[nodiscard]] Json ToJson() const;
  [[nodiscard]] std::string ToText() const;

 private:
  [[nodiscard]] std::string Headline() const;
  [[nodiscard]] std::string GrownText() const;
  [[nodiscard]] std::string CostHeadline() const;
  [[nodiscard]] std::string MemoryTable() const;
  [[nodiscard]] std::string TransfersText() const;
  [[nodiscard]] std::string ChangeTable() const;
  [[nodiscard]] Json MemoriesJson() const;
  [[nodiscard]] Json QuantitiesJson() const;
  [[nodiscard]] Json CountsJson() const;
  [[nodiscard]] Json ChangesJson() const;
  void AddTraffic(FactList& facts) const;
};

Json DeltaJson(Bytes before, Bytes after) {
  return {{"before", before}, {"after", after}, {"delta", after - before}};
}

Json BufferJson(const PlanFile& plan, std::size_t b) {
  const Buffer& buffer = plan.problem.buffers[b];
  Json json = {{"start", buffer.start},
               {"end", buffer.end},
               {"size", buffer.size},
               {"offset", plan.placement.offsets[b]}};
  if (!plan.memories.empty()) json["memory"] = plan.memories[plan.memory_of[b]].name;
  return json;
}

// What changed in each of several memories, what the plans cost, and what went from one to another.
Json Summary::MemoriesJson() const {
  Json json;
  if (diff.same_cost_kind) {
    json["cost"] = DeltaJson(before.cost.cost, after.cost.cost);
    json["cost"]["unit"] = after.cost_unit;
  } else {
    json["cost"] = {{"before", before.cost.cost},
                    {"after", after.cost.cost},
                    {"delta", nullptr},
                    {"unit", nullptr}};
  }
  json["unplaced"] =
      DeltaJson(static_cast<Bytes>(before.cost.unplaced), static_cast<Bytes>(after.cost.unplaced));
  json["left_out"] = {{"before", before.left_out}, {"after", after.left_out}};
  json["cost_grew_too_much"] = cost_grew();
  json["memories"] = Json::array();
  for (const PlanDiff::MemoryChange& memory : diff.memories) {
    const auto capacity = [](const PlanFile& plan, const std::optional<std::size_t>& m) {
      return m ? cli::ToJson(plan.memories[*m].capacity) : Json();
    };
    json["memories"].push_back(
        {{"name", memory.name},
         {"in", memory.before ? (memory.after ? "both" : "before") : "after"},
         {"capacity",
          {{"before", capacity(before, memory.before)}, {"after", capacity(after, memory.after)}}},
         {"height", DeltaJson(UseBefore(memory).height, UseAfter(memory).height)},
         {"peak", DeltaJson(UseBefore(memory).peak, UseAfter(memory).peak)}});
  }
  json["transfers"] = Json::array();
  for (const PlanDiff::Transfer& transfer : diff.transfers) {
    json["transfers"].push_back({{"from", before.memories[transfer.from].name},
                                 {"to", after.memories[transfer.to].name},
                                 {"buffers", transfer.buffers},
                                 {"bytes", transfer.bytes}});
  }
  return json;
}

// Heights, traffic, peaks, and what runs again.
Json Summary::QuantitiesJson() const {
  Json json;
  // Of several memories each has its own.
  json["height"] = several() ? Json() : DeltaJson(before.placement.height, after.placement.height);
  json["avoidable_traffic"] = DeltaJson(TrafficOf(before), TrafficOf(after));
  json["spilled"] = DeltaJson(before.traffic.spilled, after.traffic.spilled);
  json["retrieved"] = DeltaJson(before.traffic.retrieved, after.traffic.retrieved);
  if (before.recomputed.operators + after.recomputed.operators > 0) {
    json["recomputed"] = {
        {"operators",
         {{"before", before.recomputed.operators}, {"after", after.recomputed.operators}}},
        {"cost", DeltaJson(before.recomputed.cost, after.recomputed.cost)}};
  }
  json["unsized_tensors"] = {{"before", before.unsized}, {"after", after.unsized}};
  json["peak"] = DeltaJson(diff.before.load, diff.after.load);
  json["peak_step"] = {{"before", diff.before.load_step}, {"after", diff.after.load_step}};
  return json;
}

// How many buffers changed, and how.
Json Summary::CountsJson() const {
  Json json = {{"before", before.problem.buffers.size()},
               {"after", after.problem.buffers.size()},
               {"unchanged", diff.unchanged},
               {"new", diff.added.size()},
               {"gone", diff.removed.size()},
               {"grown", diff.grown},
               {"shrunk", diff.shrunk},
               {"moved", diff.moved},
               {"retimed", diff.retimed}};
  if (several()) json["other_memory"] = diff.rehoused;
  return json;
}

// Every buffer that is not as before.
Json Summary::ChangesJson() const {
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
  return {{"changed", std::move(changed)},
          {"new", listed(after, diff.added)},
          {"gone", listed(before, diff.removed)}};
}

Json Summary::ToJson() const {
  Json json;
  json["before"] = before.name;
  json["after"] = after.name;
  json["same"] = diff.same() && same_cost();
  json.update(QuantitiesJson());
  json["buffers"] = CountsJson();
  if (several()) json.update(MemoriesJson());
  json["same_order"] = diff.same_order;
  const auto limit = [](const std::optional<Growth>& growth) {
    return growth ? Json(growth->text) : Json(nullptr);
  };
  json["max_growth"] = limit(arguments.max_growth);
  json["max_traffic_growth"] = limit(arguments.traffic_limit());
  json["grew_too_much"] = height_grew() || traffic_grew() || cost_grew();
  json["height_grew_too_much"] = height_grew();
  json["traffic_grew_too_much"] = traffic_grew();
  json.update(ChangesJson());
  json["berth_version"] = BERTH_VERSION;
  if (sizes_missing()) {
    internal::SetApartSized(json, {"height", "avoidable_traffic", "spilled", "retrieved", "peak"});
  }
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

std::string ArrowOfBytes(Bytes before, Bytes after) {
  if (before == after) return FormatBytes(after);
  return FormatBytes(before) + " -> " + FormatBytes(after);
}

std::string Summary::ChangeTable() const {
  using enum TextTable::Align;
  std::vector<TextTable::Align> columns = {kLeft, kLeft, kRight, kRight, kRight};
  if (several()) columns.push_back(kLeft);
  TextTable table(columns);
  table.Elide(1, kName);
  std::vector<std::string> titles = {"change", "buffer", "bytes", "offset", "steps"};
  if (several()) titles.emplace_back("memory");
  table.AddRow(std::move(titles));
  std::size_t rows = 0;
  const auto add = [&](const std::string& what, const std::string& id, const std::string& bytes,
                       const std::string& offset, const std::string& steps,
                       const std::string& memory) {
    if (rows++ >= kMostRows) return;
    std::vector<std::string> row = {what, OneLine(id), bytes, offset, steps};
    if (several()) row.push_back(memory);
    table.AddRow(std::move(row));
  };
  const auto memory_of = [](const PlanFile& plan, std::size_t b) {
    return plan.memories.empty() ? "" : OneLine(plan.memories[plan.memory_of[b]].name);
  };
  const auto steps = [](const Buffer& buffer) {
    return "[" + std::to_string(buffer.start) + ", " + std::to_string(buffer.end) + ")";
  };
  const auto whole = [&](const char* what, const PlanFile& plan, std::size_t b) {
    const Buffer& buffer = plan.problem.buffers[b];
    add(what, buffer.id, FormatCount(buffer.size), FormatCount(plan.placement.offsets[b]),
        steps(buffer), memory_of(plan, b));
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
    also(change.rehoused, "other memory");
    also(change.moved && !change.rehoused, "moved");
    also(change.retimed, "retimed");
    add(what, now.id, Arrow(then.size, now.size),
        Arrow(before.placement.offsets[change.before], after.placement.offsets[change.after]),
        change.retimed ? steps(then) + " -> " + steps(now) : steps(now),
        (change.rehoused ? memory_of(before, change.before) + " -> " : "") +
            memory_of(after, change.after));
  }
  for (const std::size_t b : diff.removed) whole("gone", before, b);
  std::string text = "\n" + table.ToString();
  if (rows > kMostRows) {
    text += "  and " + FormatCount(static_cast<std::int64_t>(rows - kMostRows)) +
            " more (--json lists them all)\n";
  }
  return text;
}

std::string Summary::GrownText() const {
  std::string text;
  const auto add = [&](const std::string& sentence) {
    text += (text.empty() ? "" : " ") + sentence;
  };
  if (height_grew() && !several()) add("Grew by more than " + arguments.max_growth->text + ".");
  for (const PlanDiff::MemoryChange& memory : diff.memories) {
    if (!arguments.max_growth) break;
    const Bytes limit = LimitOf(UseBefore(memory).height, *arguments.max_growth);
    if (UseAfter(memory).height <= limit) continue;
    add("Memory " + OneLine(memory.name) + " grew by more than " + arguments.max_growth->text +
        ".");
  }
  if (cost_grew()) {
    add(after.cost.unplaced > before.cost.unplaced
            ? "More buffers have no place."
            : "The cost grew by more than " + arguments.max_growth->text + ".");
  }
  if (traffic_grew()) add("Traffic grew by more than " + arguments.traffic_limit()->text + ".");
  return text;
}

// Of plans in several memories.
std::string Summary::CostHeadline() const {
  const bool other_board =
      std::any_of(diff.memories.begin(), diff.memories.end(),
                  [](const auto& memory) { return !memory.before || !memory.after; });
  const Bytes more = TrafficOf(after) - TrafficOf(before);
  if (diff.same() && diff.same_order && same_cost() && more == 0 && !other_board) {
    return Paint(Tone::kGood, "The plans are the same.");
  }
  if (!diff.same_cost_kind) {
    const auto kind = [](const PlanFile& plan) {
      return plan.prefetch ? std::string("the time of a run") : OneLine(plan.cost_unit);
    };
    const std::string costs = before.cost_unit == after.cost_unit
                                  ? "one is the time of a run, the other that of accesses"
                                  : "one is " + kind(before) + ", the other " + kind(after);
    return Paint(Tone::kUnsure, "The costs cannot be compared: " + costs + ".");
  }
  const bool worse = before.cost < after.cost;
  std::string text = "The new plan ";
  if (before.cost.unplaced != after.cost.unplaced) {
    text += worse ? "has fewer buffers placed" : "has more buffers placed";
  } else {
    text += worse                       ? "costs more"
            : before.cost == after.cost ? "costs as much as the old one"
                                        : "costs less";
  }
  if (more != 0) text += more > 0 ? ", with more traffic" : ", with less traffic";
  return Paint(worse || more > 0 ? Tone::kUnsure : Tone::kGood, text + ".");
}

// "-> " between figures of the same memory; of those that only one plan has, that.
std::string Summary::MemoryTable() const {
  using enum TextTable::Align;
  TextTable table({kLeft, kRight, kRight, kRight});
  table.Elide(0, kName);
  table.AddRow({"memory", "height", "change", "peak"});
  for (const PlanDiff::MemoryChange& memory : diff.memories) {
    const MemoryUse then = UseBefore(memory);
    const MemoryUse now = UseAfter(memory);
    const Bytes more = now.height - then.height;
    const std::string change = !memory.before  ? "new"
                               : !memory.after ? "gone"
                               : more == 0
                                   ? "as before"
                                   : (more > 0 ? "+" : "-") + FormatBytes(more > 0 ? more : -more);
    table.AddRow({OneLine(memory.name), ArrowOfBytes(then.height, now.height), change,
                  ArrowOfBytes(then.peak, now.peak)});
  }
  return "\n" + table.ToString();
}

// "12 buffers, 64 KiB, from psram to sram".
std::string Summary::TransfersText() const {
  std::string text;
  for (const PlanDiff::Transfer& transfer : diff.transfers) {
    text += "  " + Plural(static_cast<std::int64_t>(transfer.buffers), "buffer") + ", " +
            FormatBytes(transfer.bytes) + ", now in " + OneLine(after.memories[transfer.to].name) +
            " instead of " + OneLine(before.memories[transfer.from].name) + "\n";
  }
  return text;
}

std::string Summary::Headline() const {
  if (sizes_missing()) {
    const PlanFile& plan = after.unsized > 0 ? after : before;
    return Paint(Tone::kUnsure, "The plans cannot be compared as wholes: in " + OneLine(plan.name) +
                                    ", " + UnsizedClause(plan.unsized, plan.tensors) + ".");
  }
  if (height_grew() || traffic_grew() || cost_grew()) return Paint(Tone::kBad, GrownText());
  if (several()) return CostHeadline();
  const Bytes higher = after.placement.height - before.placement.height;
  const Bytes more = TrafficOf(after) - TrafficOf(before);
  if (diff.same() && diff.same_order && more == 0) {
    return Paint(Tone::kGood, "The plans are the same.");
  }
  std::string text = higher > 0   ? "The new plan is taller"
                     : higher < 0 ? "The new plan is lower"
                                  : "The new plan is as tall as the old one";
  if (more != 0) {
    text += (higher > 0) == (more > 0) && higher != 0 ? " and has " : ", but has ";
    text += more > 0 ? "more traffic" : "less traffic";
  }
  return Paint(higher > 0 || more > 0 ? Tone::kUnsure : Tone::kGood, text + ".");
}

std::string Summary::ToText() const {
  std::string text = Headline();
  FactList facts;
  if (several()) {
    const auto cost = [](const PlanFile& plan) {
      return OneLine(FormatCostExactly(plan.cost.cost, plan.cost_unit));
    };
    facts.Add("cost",
              same_cost() ? cost(after) + ", as before" : cost(before) + " -> " + cost(after));
    if (before.cost.unplaced + after.cost.unplaced > 0) {
      facts.Add("left out", Arrow(static_cast<std::int64_t>(before.cost.unplaced),
                                  static_cast<std::int64_t>(after.cost.unplaced)));
    }
  } else {
    facts.Add("height", DeltaText(before.placement.height, after.placement.height));
  }
  AddTraffic(facts);
  if (!several()) facts.Add("peak load", DeltaText(diff.before.load, diff.after.load));
  std::string counts;
  for (const auto& [count, word] : {std::pair<std::size_t, const char*>{diff.added.size(), "new"},
                                    {diff.removed.size(), "gone"},
                                    {diff.grown, "grown"},
                                    {diff.shrunk, "shrunk"},
                                    {diff.rehoused, "in another memory"},
                                    {diff.moved - diff.rehoused, "moved"},
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
  if (several()) text += MemoryTable() + TransfersText();
  return diff.same() ? text : text + ChangeTable();
}

// Traffic off chip and what runs again, where there is any.
void Summary::AddTraffic(FactList& facts) const {
  if (TrafficOf(before) + TrafficOf(after) > 0) {
    facts.Add("traffic", DeltaText(TrafficOf(before), TrafficOf(after)));
    facts.Add("spilled", DeltaText(before.traffic.spilled, after.traffic.spilled));
    facts.Add("retrieved", DeltaText(before.traffic.retrieved, after.traffic.retrieved));
  }
  if (before.recomputed.operators + after.recomputed.operators > 0) {
    facts.Add("run again", Arrow(static_cast<std::int64_t>(before.recomputed.operators),
                                 static_cast<std::int64_t>(after.recomputed.operators)) +
                               (after.recomputed.operators == 1 ? " execution" : " executions"));
    if (before.cost_unit == after.cost_unit || before.recomputed.operators == 0 ||
        after.recomputed.operators == 0) {
      facts.Add("its cost",
                Arrow(before.recomputed.cost, after.recomputed.cost) + " " +
                    OneLine(after.recomputed.operators > 0 ? after.cost_unit : before.cost_unit));
    }
  }
}

// Two memory snapshots, a pool of each.
struct SnapshotPair {
  const Input& before;
  const Input& after;
  const DiffArguments& arguments;
  PlanFile plan_before;
  PlanFile plan_after;

  [[nodiscard]] const SnapshotPool& pool_before() const { return before.snapshot->chosen(); }
  [[nodiscard]] const SnapshotPool& pool_after() const { return after.snapshot->chosen(); }
  [[nodiscard]] bool grew(Bytes then, Bytes now) const {
    return arguments.max_growth && now > LimitOf(then, *arguments.max_growth);
  }
  [[nodiscard]] bool grew() const {
    return grew(pool_before().peak.load, pool_after().peak.load) ||
           grew(pool_before().most_reserved, pool_after().most_reserved);
  }
};

// One line of the program, at both peaks.
struct SiteChange {
  std::string site;
  Bytes before = 0;
  Bytes after = 0;
  std::size_t buffers_before = 0;
  std::size_t buffers_after = 0;
};
// Those that grew most first. A site is the same if its name is.
std::vector<SiteChange> SiteChanges(const SnapshotPair& pair) {
  std::map<std::string, SiteChange> sites;
  for (const SiteUse& site : pair.pool_before().at_peak) {
    SiteChange& change = sites[pair.before.snapshot->use.sites[site.site]];
    change.before += site.bytes;
    change.buffers_before += site.buffers;
  }
  for (const SiteUse& site : pair.pool_after().at_peak) {
    SiteChange& change = sites[pair.after.snapshot->use.sites[site.site]];
    change.after += site.bytes;
    change.buffers_after += site.buffers;
  }
  std::vector<SiteChange> changes;
  changes.reserve(sites.size());
  for (auto& [name, change] : sites) {
    change.site = name;
    changes.push_back(std::move(change));
  }
  std::stable_sort(changes.begin(), changes.end(), [](const auto& x, const auto& y) {
    return x.after - x.before > y.after - y.before;
  });
  return changes;
}

Json PairJson(const SnapshotPair& pair) {
  Json json;
  json["before"] = pair.before.name;
  json["after"] = pair.after.name;
  json["pool"] = {{"before", pair.before.snapshot->pool + 1},
                  {"after", pair.after.snapshot->pool + 1}};
  json["active_peak"] = DeltaJson(pair.pool_before().peak.load, pair.pool_after().peak.load);
  json["reserved_peak"] =
      DeltaJson(pair.pool_before().most_reserved, pair.pool_after().most_reserved);
  json["height"] = DeltaJson(pair.plan_before.placement.height, pair.plan_after.placement.height);
  json["buffers"] = {{"before", pair.before.problem.buffers.size()},
                     {"after", pair.after.problem.buffers.size()}};
  json["max_growth"] =
      pair.arguments.max_growth ? Json(pair.arguments.max_growth->text) : Json(nullptr);
  json["grew_too_much"] = pair.grew();
  json["sites"] = Json::array();
  for (const SiteChange& change : SiteChanges(pair)) {
    Json site = {{"site", change.site}};
    site.update(DeltaJson(change.before, change.after));
    site["buffers"] = {{"before", change.buffers_before}, {"after", change.buffers_after}};
    json["sites"].push_back(std::move(site));
  }
  json["berth_version"] = BERTH_VERSION;
  return json;
}

std::string SiteTable(const std::vector<SiteChange>& changes) {
  using enum TextTable::Align;
  TextTable table({kLeft, kRight, kRight, kRight, kRight});
  table.Elide(0, kName);
  table.AddRow({"at the peak, allocated by", "before", "after", "change", "buffers"});
  // Both ends of the list: what grew most, and what shrank most.
  const std::size_t shrunk = std::min(changes.size(), kMostRows / 4);
  const std::size_t grown = std::min(changes.size() - shrunk, kMostRows - kMostRows / 4);
  const auto add = [&](const SiteChange& change) {
    const Bytes more = change.after - change.before;
    table.AddRow({OneLine(change.site), FormatBytes(change.before), FormatBytes(change.after),
                  more == 0 ? "0 B" : (more > 0 ? "+" : "-") + FormatBytes(more > 0 ? more : -more),
                  Arrow(static_cast<std::int64_t>(change.buffers_before),
                        static_cast<std::int64_t>(change.buffers_after))});
  };
  for (std::size_t c = 0; c < grown; ++c) add(changes[c]);
  if (grown + shrunk < changes.size()) table.AddRule();
  for (std::size_t c = changes.size() - shrunk; c < changes.size(); ++c) add(changes[c]);
  std::string text = "\n" + table.ToString();
  if (grown + shrunk < changes.size()) {
    text += "  and " + FormatCount(static_cast<std::int64_t>(changes.size() - grown - shrunk)) +
            " between these (--json lists them all)\n";
  }
  return text;
}

std::string PairText(const SnapshotPair& pair) {
  const Bytes more = pair.pool_after().peak.load - pair.pool_before().peak.load;
  std::string text =
      pair.grew() ? Paint(Tone::kBad, "Grew by more than " + pair.arguments.max_growth->text + ".")
      : more == 0 ? Paint(Tone::kGood, "The peaks are equal.")
                  : Paint(more > 0 ? Tone::kUnsure : Tone::kGood,
                          std::string("The new peak is ") + (more > 0 ? "higher" : "lower") +
                              " by " + FormatBytes(more > 0 ? more : -more) + ".");
  FactList facts;
  facts.Add("pool", pair.before.snapshot->use.NameOfPool(pair.before.snapshot->pool) + " -> " +
                        pair.after.snapshot->use.NameOfPool(pair.after.snapshot->pool));
  facts.Add("in use", DeltaText(pair.pool_before().peak.load, pair.pool_after().peak.load));
  facts.Add("reserved",
            DeltaText(pair.pool_before().most_reserved, pair.pool_after().most_reserved));
  facts.Add("needed",
            DeltaText(pair.plan_before.placement.height, pair.plan_after.placement.height));
  facts.Add("buffers", Arrow(static_cast<std::int64_t>(pair.before.problem.buffers.size()),
                             static_cast<std::int64_t>(pair.after.problem.buffers.size())));
  facts.Add("recorded",
            RecordingText(*pair.before.snapshot) + " -> " + RecordingText(*pair.after.snapshot));
  if (!pair.arguments.report.empty()) facts.Add("report", OneLine(pair.arguments.report));
  return text + "\n" + facts.ToString() + SiteTable(SiteChanges(pair));
}

// The snapshot with a plan for its buffers, found within the default effort.
Result<PlanFile> PlaceSnapshot(const Input& input) {
  Budget budget;
  const PlanAnswer answer = BERTH_TRY(Place(input.problem, {}, budget));
  VerifyOrDie(input.problem, {}, answer);
  PlanFile plan;
  plan.name = input.name;
  plan.problem = input.problem;
  if (answer.best) plan.placement = PlacementOf(*answer.best);
  plan.height_bound = answer.height_bound;
  plan.outcome = ToString(answer.outcome);
  plan.input = input.name;
  plan.version = BERTH_VERSION;
  return plan;
}

Result<ExitCode> DiffSnapshots(const DiffArguments& arguments, FileView old_file,
                               FileView new_file) {
  TableArguments table;
  table.path = arguments.before;
  table.problem = arguments.problem;
  const Input before = BERTH_TRY(ParseTable(table, std::move(old_file)));
  table.path = arguments.after;
  const Input after = BERTH_TRY(ParseTable(table, std::move(new_file)));
  const SnapshotPair pair{before, after, arguments, BERTH_TRY(PlaceSnapshot(before)),
                          BERTH_TRY(PlaceSnapshot(after))};
  if (!arguments.report.empty()) {
    const PlanDiff diff = BERTH_TRY(Compare(pair.plan_before, pair.plan_after));
    BERTH_TRY(WriteFile(arguments.report, WritePage(pair.plan_before, pair.plan_after, diff)));
  }
  if (arguments.json) {
    PrintJson(PairJson(pair));
  } else if (!IsStandardOutput(arguments.report)) {
    Print(PairText(pair));
  }
  return pair.grew() ? kDoesNotFit : kDone;
}

// A plan in CSV, not in JSON.
bool IsTable(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first == std::string_view::npos || text[first] != '{';
}

Result<PlanFile> ParsePlan(const DiffArguments& arguments, const std::string& path, FileView file) {
  // A copy: the file may change while it is mapped.
  const std::string text(file.bytes());
  BERTH_TRY(CheckKind(text, path, FileKind::kPlan));
  const std::string name = path == "-" ? "standard input" : path;
  if (!arguments.memories.given()) return ReadPlan(text, name);
  const MemoryFile board = BERTH_TRY(LoadBoard(arguments.memories));
  return ReadPlan(text, name, board.problem.memories, board.cost_unit);
}

Result<ExitCode> Run(const DiffArguments& arguments) {
  if (arguments.before == "-" && arguments.after == "-") {
    return Fail(ErrorCode::kInvalidOptions, "only one of the two plans can be standard input");
  }
  BERTH_TRY(CheckOutputs({{"--report", arguments.report}}, arguments.json));
  auto old_file = BERTH_TRY(FileView::Open(arguments.before));
  auto new_file = BERTH_TRY(FileView::Open(arguments.after));
  if (arguments.memories.given() && !IsTable(old_file.bytes()) && !IsTable(new_file.bytes())) {
    return Fail(ErrorCode::kInvalidOptions,
                "--memory: neither plan is a table; plans in JSON say what their memories are");
  }
  const bool snapshots = LooksLikeSnapshot(old_file.bytes());
  if (snapshots && LooksLikeSnapshot(new_file.bytes())) {
    return DiffSnapshots(arguments, std::move(old_file), std::move(new_file));
  }
  if (!arguments.problem.empty()) {
    return Fail(ErrorCode::kInvalidOptions,
                "--problem: only memory snapshots have pools to choose from");
  }
  const auto before = BERTH_TRY(ParsePlan(arguments, arguments.before, std::move(old_file)));
  const auto after = BERTH_TRY(ParsePlan(arguments, arguments.after, std::move(new_file)));
  const PlanDiff diff = BERTH_TRY(Compare(before, after));
  const Summary summary{before, after, diff, arguments};
  if (!arguments.report.empty()) {
    BERTH_TRY(WriteFile(arguments.report, WritePage(before, after, diff)));
  }
  if (arguments.json) {
    PrintJson(summary.ToJson());
  } else if (!IsStandardOutput(arguments.report)) {
    Print(summary.ToText());
  }
  return summary.exit_code();
}

void AddGrowth(CLI::App& app, const std::string& name, std::optional<Growth>& growth,
               const std::string& description) {
  const auto set = [&growth, name](const std::string& text) {
    growth = ParseGrowth(name, text);
    if (!growth) {
      UsageError(name, Quoted(text) + " is neither a percentage, such as 2%, nor a size");
    }
  };
  app.add_option_function<std::string>(name, set, description)->type_name("GROWTH");
}

}  // namespace

Command AddDiffCommand(CLI::App& berth) {
  CLI::App* app =
      berth.add_subcommand("diff", "Show what changed between two plans or memory snapshots.");
  const auto arguments = std::make_shared<DiffArguments>();
  app->add_option("OLD", arguments->before,
                  "The old plan: JSON, or a table with an offset column; or an old PyTorch memory "
                  "snapshot; - is standard input.")
      ->required();
  app->add_option("NEW", arguments->after, "The new plan, in either format, or the new snapshot.")
      ->required();
  AddGrowth(*app, "--max-growth", arguments->max_growth,
            "Exit with code 1 if the new plan is higher, or has more traffic, by more than this, "
            "such as 2% or 64KiB.");
  AddGrowth(*app, "--max-traffic-growth", arguments->max_traffic_growth,
            "The same for the traffic of plans with spills alone; --max-growth is then about the "
            "height.");
  AddMemories(*app, arguments->memories);
  AddAllowUnknown(*app, arguments->counting);
  AddPool(*app, arguments->problem);
  AddReport(*app, arguments->report,
            "Write one HTML file with both plans side by side and every change");
  AddJson(*app, arguments->json);
  app->footer(
      "Buffers are matched by id. Retimed buffers have a new lifetime. Traffic is the bytes that "
      "a\n"
      "plan with spills writes out and reads back.\n"
      "Plans for several memories are compared memory by memory, by name, and by their cost.\n"
      "Those in CSV need --memory or --memories.\n"
      "--max-growth is then about each memory's height and, as a percentage, about the cost.\n"
      "Two memory snapshots are compared by what is in use at their peaks, line by line of the\n"
      "program, and by what was reserved; --max-growth is about both.\n"
      "Exit codes: 0 compared, 1 grew by more than is allowed, 2 bad input or usage, 3 sizes of\n"
      "tensors are unknown.\n"
      "\nExamples:\n"
      "  berth diff old.json new.json                     What changed, largest growth first.\n"
      "  berth diff main.json pr.json --max-growth 2%     In continuous integration.\n"
      "  berth diff old.csv new.csv --report diff.html    Both plans, side by side.\n"
      "  berth diff monday.pickle today.pickle            Which lines of PyTorch code grew.");
  return {app, [arguments] { return Run(*arguments); }};
}

}  // namespace berth::cli
