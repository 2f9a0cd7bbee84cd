// berth info -- what a table is like, and how hard it looks.
#include <algorithm>
#include <utility>

#include "src/base/try.h"
#include "tools/berth/command.h"
#include "tools/berth/flags.h"
#include "tools/berth/memories.h"
#include "tools/berth/output.h"
#include "tools/berth/problem_table.h"
#include "tools/berth/table.h"

namespace berth::cli {
namespace {

struct InfoArguments {
  MemoryArguments memories;
  TableArguments table;
  bool json = false;
};

struct TableInfo {
  std::int64_t buffers = 0;
  Step first_step = 0;
  Step last_step = 0;  // Exclusive.
  Bytes total_size = 0;
  Bytes smallest = 0;
  Bytes largest = 0;
  LoadBound bound;
  std::int64_t live_at_peak = 0;
  std::int64_t sections = 0;
  std::int64_t widest_section = 0;  // Buffers.
  std::int64_t partitions = 0;
  std::int64_t largest_partition = 0;  // Buffers.
  std::int64_t overlapping_pairs = 0;  // Pairs whose lifetimes meet, gaps aside.
  std::int64_t aligned = 0;            // Buffers with an alignment other than 1.
  Bytes largest_alignment = 1;
  std::int64_t pinned = 0;
  std::int64_t hinted = 0;
  std::int64_t with_gaps = 0;
  std::optional<PinCollision> collision;  // If pins collide: there is no plan.
  std::optional<Bytes> greedy_height;     // None where pins collide.
  std::string greedy_algorithm;

  [[nodiscard]] double overlap_density() const {
    const double pairs = static_cast<double>(buffers) * static_cast<double>(buffers - 1) / 2;
    return pairs > 0 ? static_cast<double>(overlapping_pairs) / pairs : 0;
  }
  // Where there is a greedy plan.
  [[nodiscard]] double greedy_gap() const { return Gap(*greedy_height, bound.lower_bound); }
};

// Pairs that overlap and, where there are no gaps, sections: a section ends where a buffer does
// after another has started. Making their lists would take a gigabyte for some large tables.
void CountOverlaps(const std::vector<Buffer>& buffers, TableInfo& info) {
  std::vector<Step> starts;
  std::vector<Step> ends;
  for (const Buffer& buffer : buffers) {
    starts.push_back(buffer.start);
    ends.push_back(buffer.end);
  }
  std::sort(starts.begin(), starts.end());
  std::sort(ends.begin(), ends.end());
  std::int64_t live = 0;
  bool grown = false;
  std::size_t ended = 0;
  const auto end_section = [&] {
    if (!grown) return;
    ++info.sections;
    info.widest_section = std::max(info.widest_section, live);
    grown = false;
  };
  for (const Step start : starts) {
    for (; ends[ended] <= start; ++ended, --live) end_section();
    info.overlapping_pairs += live++;
    grown = true;
  }
  end_section();
}

void CountBuffers(const Problem& problem, TableInfo& info) {
  const auto& buffers = problem.buffers;
  info.buffers = static_cast<std::int64_t>(buffers.size());
  if (buffers.empty()) return;
  info.first_step = buffers.front().start;
  info.last_step = buffers.front().end;
  info.smallest = buffers.front().size;
  for (const Buffer& buffer : buffers) {
    info.first_step = std::min(info.first_step, buffer.start);
    info.last_step = std::max(info.last_step, buffer.end);
    info.total_size += buffer.size;
    info.smallest = std::min(info.smallest, buffer.size);
    info.largest = std::max(info.largest, buffer.size);
    info.largest_alignment = std::max(info.largest_alignment, buffer.alignment);
    if (buffer.start <= info.bound.load_step && info.bound.load_step < buffer.end)
      ++info.live_at_peak;
    if (buffer.alignment != 1) ++info.aligned;
    if (buffer.offset) ++info.pinned;
    if (buffer.hint) ++info.hinted;
    if (!buffer.gaps.empty()) ++info.with_gaps;
  }
  CountOverlaps(buffers, info);
}

Result<TableInfo> Examine(const Problem& problem) {
  TableInfo info;
  info.bound = MaxLiveLoad(problem);
  CountBuffers(problem, info);
  if (info.with_gaps > 0) {
    info.sections = info.widest_section = 0;
    for (const Section& section : Sections(problem)) {
      ++info.sections;
      info.widest_section =
          std::max(info.widest_section, static_cast<std::int64_t>(section.buffers.size()));
    }
  }
  for (const auto& partition : Partitions(problem)) {
    ++info.partitions;
    info.largest_partition =
        std::max(info.largest_partition, static_cast<std::int64_t>(partition.size()));
  }
  if (info.pinned > 0) {
    auto collision = BERTH_TRY(FindCollision(problem));
    info.collision = std::move(collision);
    if (info.collision) return info;
  }
  PlaceOptions options;
  options.algorithm = Algorithm::kGreedy;
  Budget budget;
  // Copied only if it has to be: there may be millions of buffers.
  std::optional<Problem> unlimited;
  if (problem.capacity) {
    unlimited = problem;
    unlimited->capacity.reset();
  }
  const auto answer = BERTH_TRY(Place(unlimited ? *unlimited : problem, options, budget));
  if (answer.best) info.greedy_height = answer.best->height();
  info.greedy_algorithm = answer.placing.algorithm;
  return info;
}

Json InfoJson(const Input& input, const TableInfo& info) {
  Json json;
  json["input"] = input.name;
  json["input_hash"] = input.hash();
  json["buffers"] = info.buffers;
  json["first_step"] = info.first_step;
  json["last_step"] = info.last_step;
  json["total_size"] = info.total_size;
  json["smallest_size"] = info.smallest;
  json["largest_size"] = info.largest;
  json["load"] = info.bound.load;
  json["height_bound"] = info.bound.lower_bound;
  json["load_step"] = info.bound.load_step;
  json["height_bound_step"] = info.bound.bound_step;
  json["buffers_at_load_step"] = info.live_at_peak;
  json["sections"] = info.sections;
  json["most_buffers_in_section"] = info.widest_section;
  json["partitions"] = info.partitions;
  json["most_buffers_in_partition"] = info.largest_partition;
  json["overlap_density"] = info.overlap_density();
  json["aligned_buffers"] = info.aligned;
  json["largest_alignment"] = info.largest_alignment;
  json["pinned_buffers"] = info.pinned;
  json["hinted_buffers"] = info.hinted;
  json["buffers_with_gaps"] = info.with_gaps;
  json["colliding_pins"] = ToJson(info.collision);
  json["greedy_height"] = ToJson(info.greedy_height);
  json["greedy_algorithm"] = info.greedy_height ? Json(info.greedy_algorithm) : Json(nullptr);
  json["greedy_gap"] = info.greedy_height ? Json(info.greedy_gap()) : Json(nullptr);
  json["capacity"] = ToJson(input.problem.capacity);
  if (input.snapshot) json["snapshot"] = ToJson(*input.snapshot, input.problem);
  if (input.given) json["given_plan"] = ToJson(*input.given);
  json["berth_version"] = BERTH_VERSION;
  return json;
}

std::string Difficulty(const TableInfo& info) {
  if (info.collision) {
    return Paint(Tone::kBad, "There is no plan:") + " " + OneLine(info.collision->sentence) +
           " No capacity would do.";
  }
  if (info.buffers == 0) return Paint(Tone::kGood, "Empty:") + " there is nothing to place.";
  const double gap = info.greedy_gap();
  if (gap == 0) {
    return Paint(Tone::kGood, "Easy:") + " a greedy plan reaches the lower bound; none is lower.";
  }
  // A few per cent is what alignment and chance leave even where the bound can be reached.
  constexpr double kSmallGap = 0.03;
  const std::string left =
      FormatBytes(*info.greedy_height - info.bound.lower_bound) + " (" + FormatPercentUp(gap) + ")";
  if (gap <= kSmallGap) {
    return Paint(Tone::kStrong, "Nearly easy:") + " greedy plans leave at most " + left +
           " to exact search.";
  }
  return Paint(Tone::kUnsure, "Hard for greedy algorithms:") + " they leave up to " + left +
         " to exact search.";
}

std::string CapacityLine(Bytes capacity, const TableInfo& info) {
  const std::string text = FormatBytesExactly(capacity);
  if (capacity < info.bound.lower_bound) {
    return text + ", " + FormatBytes(info.bound.lower_bound - capacity) + " below the lower bound";
  }
  if (!info.greedy_height) return text;
  if (capacity >= *info.greedy_height) return text + ", enough for a greedy plan";
  return text + ", between the lower bound and greedy";
}

// "12 buffers, ..." or "none".
std::string CountOrNone(std::int64_t count, const std::string& more = "") {
  return count == 0 ? "none" : Plural(count, "buffer") + more;
}

std::string InfoText(const Input& input, const TableInfo& info) {
  FactList facts;
  facts.Add("buffers", FormatCount(info.buffers) + ", " + FormatBytes(info.smallest) + " to " +
                           FormatBytes(info.largest) + " each, " + FormatBytes(info.total_size) +
                           " in all");
  facts.Add("steps", FormatCount(info.last_step - info.first_step) + ", [" +
                         std::to_string(info.first_step) + ", " + std::to_string(info.last_step) +
                         ")");
  facts.Add("load", FormatBytesExactly(info.bound.load) +
                        (info.buffers == 0 ? ""
                                           : " at step " + FormatCount(info.bound.load_step) +
                                                 ", " + Plural(info.live_at_peak, "live buffer")));
  if (!info.collision) {
    facts.Add("lower bound",
              FormatBytesExactly(info.bound.lower_bound) + ReasonOf(info.bound, input.problem));
  }
  facts.Add("sections", FormatCount(info.sections) + ", the widest of " +
                            Plural(info.widest_section, "buffer"));
  facts.Add("partitions", FormatCount(info.partitions) + ", the largest of " +
                              Plural(info.largest_partition, "buffer"));
  facts.Add("overlaps", FormatPercent(info.overlap_density()) + " of all pairs of buffers");
  facts.Add("aligned",
            CountOrNone(info.aligned, ", to at most " + Plural(info.largest_alignment, "byte")));
  facts.Add("pinned", CountOrNone(info.pinned));
  facts.Add("hinted", CountOrNone(info.hinted));
  facts.Add("with gaps", CountOrNone(info.with_gaps));
  if (info.greedy_height && info.buffers > 0) {
    facts.Add("greedy", FormatBytesExactly(*info.greedy_height) + " by " + info.greedy_algorithm);
  }
  if (input.given) {
    facts.Add(input.given->maker, GivenText(*input.given, info.bound.lower_bound));
  }
  if (const auto& capacity = input.problem.capacity) {
    facts.Add("capacity", CapacityLine(*capacity, info));
  }
  return Paint(Tone::kStrong, OneLine(input.name)) + "\n" + facts.ToString() + "  " +
         Difficulty(info) + "\n";
}

// "PyTorch reserved 6.74 GiB for at most 6.53 GiB in use."
std::string SnapshotHeadline(const SnapshotInput& snapshot, const TableInfo& info) {
  const SnapshotPool& pool = snapshot.chosen();
  if (pool.most_reserved == 0) {
    return PoolPrefix(snapshot) + "At most " + FormatBytes(info.bound.load) + " were in use.";
  }
  const auto bytes = FormatBytesApart({pool.most_reserved, info.bound.load});
  const bool proved = info.greedy_height && *info.greedy_height == info.bound.lower_bound;
  return PoolPrefix(snapshot) + "PyTorch reserved " + bytes[0] + " for at most " + bytes[1] +
         " in use" + (proved ? ", which is all that the same requests need." : ".");
}

std::string SnapshotText(const Input& input, const TableInfo& info) {
  const SnapshotInput& snapshot = *input.snapshot;
  const SnapshotPool& pool = snapshot.chosen();
  FactList facts;
  facts.Add("pool", snapshot.use.NameOfPool(snapshot.pool));
  facts.Add("recorded", RecordingText(snapshot));
  facts.Add("reserved", ReservedText(pool, info.bound.load));
  facts.Add("in use", FormatBytesExactly(info.bound.load) + " at step " +
                          FormatCount(info.bound.load_step) + ", " +
                          Plural(info.live_at_peak, "buffer") + "; " +
                          FormatBytes(pool.requested_peak) + " requested");
  if (info.greedy_height) {
    const bool proved = *info.greedy_height == info.bound.lower_bound;
    facts.Add("needed",
              FormatBytesExactly(*info.greedy_height) +
                  (proved ? ", proved the least" : " is enough; berth place searches on"));
  }
  facts.Add("buffers", FormatCount(info.buffers) + ", " + FormatBytes(info.smallest) + " to " +
                           FormatBytes(info.largest) + " each; " +
                           FormatCount(static_cast<std::int64_t>(pool.remaining)) +
                           " live at the end");
  if (const auto& capacity = input.problem.capacity) {
    facts.Add("capacity", CapacityLine(*capacity, info));
  }
  std::string text = SnapshotHeadline(snapshot, info) + "\n" + facts.ToString();
  for (const std::string& note : snapshot.use.notes) {
    text += "  " + Wrap(note, TextWidth() - 2, 2) + "\n";
  }
  constexpr std::size_t kMostSites = 10;
  constexpr std::size_t kMostSegments = 5;
  return text + PoolsText(snapshot) + PeakText(snapshot, kMostSites, false) +
         FreeText(snapshot, input.problem, kMostSegments);
}

// One row for each of several problems.
std::string GroupText(const std::vector<Input>& inputs, const std::vector<TableInfo>& infos) {
  using enum TextTable::Align;
  const std::string& maker = inputs.front().given->maker;
  ProblemTable table(inputs, {{"lower bound", kRight}, {maker, kRight}, {"greedy", kRight}});
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    table.Add(inputs[i], {FormatBytes(infos[i].bound.lower_bound),
                          inputs[i].given->height ? FormatBytes(*inputs[i].given->height) : "",
                          infos[i].greedy_height ? FormatBytes(*infos[i].greedy_height) : ""});
  }
  return Paint(Tone::kStrong, OneLine(inputs.front().name)) + ", " +
         Plural(static_cast<std::int64_t>(inputs.size()), "problem") + " of " + maker + "\n" +
         table.ToString();
}

Json GroupJson(const std::vector<Input>& inputs, const std::vector<TableInfo>& infos) {
  Json problems = Json::array();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    problems.push_back(ProblemJson(inputs[i], InfoJson(inputs[i], infos[i])));
  }
  return ProblemsJson(inputs, std::move(problems));
}

Result<ExitCode> Run(const InfoArguments& arguments) {
  FileView file = BERTH_TRY(FileView::Open(arguments.table.path));
  if (IsForMemories(arguments.memories, file.bytes())) {
    const MemoryInput input =
        BERTH_TRY(LoadMemories(arguments.table, arguments.memories, std::move(file)));
    if (arguments.json) {
      PrintJson(InfoJson(input));
    } else {
      Print(InfoText(input));
    }
    return kDone;
  }
  const std::vector<Input> inputs = BERTH_TRY(ParseTables(arguments.table, std::move(file)));
  std::vector<TableInfo> infos;
  infos.reserve(inputs.size());
  for (const Input& input : inputs) infos.push_back(BERTH_TRY(Examine(input.problem)));
  if (inputs.size() > 1) {
    if (arguments.json) {
      PrintJson(GroupJson(inputs, infos));
    } else {
      Print(GroupText(inputs, infos));
    }
    return kDone;
  }
  const Input& input = inputs.front();
  if (arguments.json) {
    PrintJson(InfoJson(input, infos.front()));
  } else if (input.snapshot) {
    Print(SnapshotText(input, infos.front()));
  } else {
    Print(InfoText(input, infos.front()));
  }
  return kDone;
}

}  // namespace

Command AddInfoCommand(CLI::App& berth) {
  CLI::App* app = berth.add_subcommand("info", "Describe a table and how hard it looks.");
  const auto arguments = std::make_shared<InfoArguments>();
  AddTable(*app, arguments->table);
  AddMemories(*app, arguments->memories);
  AddJson(*app, arguments->json);
  app->footer(
      "Exit codes: 0 done, 2 bad input or usage.\n"
      "\nExamples:\n"
      "  berth info model.csv\n"
      "  berth info snapshot.pickle                 What PyTorch reserved, and why.\n"
      "  berth info models.txt                      The problems of a file that has several.\n"
      "  berth info board.json                      The memories of a board.\n"
      "  berth info model.csv --json | jq .lower_bound");
  return {app, [arguments] { return Run(*arguments); }};
}

}  // namespace berth::cli
