#include "tools/berth/displaced.h"

#include <algorithm>
#include <map>

#include "berth/memory_io.h"
#include "tools/berth/terminal.h"

namespace berth::cli {
namespace {

constexpr std::size_t kMostExplained = 20;

std::int64_t Count(std::size_t number) { return static_cast<std::int64_t>(number); }

// What is left of the cheaper memory, as short as it is true.
std::string RoomText(const Displaced& each) {
  switch (each.reason) {
    case DisplacedBy::kMemory:
      return "never";
    case DisplacedBy::kBytes:
      return FormatBytes(each.free) + " at step " + FormatCount(*each.step);
    case DisplacedBy::kPlaces:
      return "no hole";
    case DisplacedBy::kNothing:
      break;
  }
  return "room";
}

// Of each buffer the first entry in a memory where it could be, or else the first.
std::vector<const Displaced*> OneOfEach(const std::vector<Displaced>& displaced) {
  std::vector<const Displaced*> rows;
  std::map<std::size_t, std::size_t> row_of;
  for (const Displaced& each : displaced) {
    const auto [found, is_new] = row_of.emplace(each.buffers.front(), rows.size());
    if (is_new) {
      rows.push_back(&each);
    } else if (rows[found->second]->reason == DisplacedBy::kMemory) {
      rows[found->second] = &each;
    }
  }
  return rows;
}

}  // namespace

std::string DisplacedText(const MemoryProblem& problem, const std::vector<Displaced>& displaced,
                          const std::string& cost_unit, const std::string& noun) {
  using enum TextTable::Align;
  constexpr std::size_t kName = 30;
  if (displaced.empty()) {
    return "\nEvery " + noun + " that is placed is where it costs the least.\n";
  }
  const auto& memories = problem.memories;
  const auto cost = [&](std::int64_t value) { return OneLine(FormatCost(value, cost_unit)); };
  TextTable table({kLeft, kRight, kLeft, kRight, kLeft, kRight, kLeft, kRight, kRight});
  for (const std::size_t column : {std::size_t{0}, std::size_t{2}, std::size_t{4}}) {
    table.Elide(column, kName);
  }
  table.AddRow({noun, "size", "is in", "cost", "less in", "would save", "free there", "in the way",
                "these save"});
  const std::vector<const Displaced*> rows = OneOfEach(displaced);
  const std::size_t shown = std::min(kMostExplained, rows.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const Displaced& each = *rows[i];
    const Buffer& buffer = problem.table.buffers[each.buffers.front()];
    const bool blocked = !each.in_the_way.empty();
    table.AddRow({OneLine(buffer.id), FormatBytes(buffer.size),
                  each.memory ? OneLine(memories[*each.memory].name) : "left out",
                  each.must ? "must be placed" : cost(each.cost),
                  OneLine(memories[each.cheaper].name),
                  each.must ? "" : cost(each.cost - each.least), RoomText(each),
                  blocked ? FormatCount(Count(each.in_the_way.size())) : "",
                  !blocked     ? ""
                  : each.saved ? cost(*each.saved)
                               : "no other place"});
  }
  std::string text =
      "\n" + Paint(Tone::kStrong, "Not where they would cost the least") + "\n" + table.ToString();
  if (shown < rows.size()) {
    text += "  and " + FormatCount(Count(rows.size() - shown)) + " more (--json has them)\n";
  }
  return text + "  " +
         Wrap(
             "Free there: the fewest bytes of that memory that are free while the " + noun +
                 " is live; \"never\": it has no place there even if nothing else is; \"no hole\": "
                 "enough bytes are free at each step, but nowhere the same ones. In the way: the " +
                 noun +
                 "s at the place that is cheapest to clear, and what they save by being there.",
             TextWidth() - 2, 2) +
         "\n";
}

Json DisplacedJson(const MemoryProblem& problem, const std::vector<Displaced>& displaced) {
  const auto id = [&](std::size_t b) { return problem.table.buffers[b].id; };
  const auto name = [&](std::size_t m) { return problem.memories[m].name; };
  Json list = Json::array();
  for (const Displaced& each : displaced) {
    Json json;
    json["buffers"] = Json::array();
    for (const std::size_t b : each.buffers) json["buffers"].push_back(id(b));
    json["memory"] = each.memory ? Json(name(*each.memory)) : Json();
    json["cost"] = each.must ? Json() : Json(each.cost);
    json["cheaper_memory"] = name(each.cheaper);
    json["least_cost"] = each.least;
    json["reason"] = ToString(each.reason);
    json["step"] = ToJson(each.step);
    json["free"] = each.step ? Json(each.free) : Json();
    json["needed"] = each.step ? Json(each.needed) : Json();
    json["offset"] = ToJson(each.offset);
    json["in_the_way"] = Json::array();
    for (const std::size_t b : each.in_the_way) json["in_the_way"].push_back(id(b));
    json["saved"] = ToJson(each.saved);
    list.push_back(std::move(json));
  }
  return list;
}

}  // namespace berth::cli
