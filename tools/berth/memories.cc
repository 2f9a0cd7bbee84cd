#include "tools/berth/memories.h"

#include <algorithm>
#include <utility>

#include "src/base/try.h"
#include "src/io/plan_head.h"
#include "tools/berth/file_kind.h"
#include "tools/berth/flags.h"
#include "tools/berth/output.h"
#include "tools/berth/terminal.h"

namespace berth::cli {
namespace {

bool Costs(const Memory& memory) {
  return memory.read.cost > 0 || memory.write.cost > 0 || memory.access > 0;
}

Result<void> AddTo(std::vector<Memory>& memories, const Memory& memory, const std::string& from) {
  const auto same = [&](const Memory& other) { return other.name == memory.name; };
  if (std::any_of(memories.begin(), memories.end(), same)) {
    return Fail(ErrorCode::kInvalidOptions,
                "--memory: the memory " + Quoted(memory.name) +
                    (from.empty() ? " comes twice" : " is in " + OneLine(from) + " already") +
                    "; give each memory once");
  }
  memories.push_back(memory);
  return {};
}

// Memories and their unit of costs: those of the board, or of the plan, and those of --memory.
Result<MemoryFile> MemoriesOf(const MemoryArguments& arguments, std::string_view plan,
                              const std::string& plan_name) {
  MemoryFile all;
  if (!arguments.board.empty()) {
    const std::string text = BERTH_TRY(ReadFile(arguments.board));
    const std::string name = arguments.board == "-" ? "<stdin>" : arguments.board;
    all = BERTH_TRY(ReadMemoriesJson(text, name));
    if (all.has_buffers) {
      return Fail(ErrorCode::kInvalidOptions,
                  "--memories: " + OneLine(name) +
                      " has buffers, too; give it in place of the table, or a file of memories "
                      "alone");
    }
  } else if (arguments.memories.empty() && !plan.empty()) {
    all = BERTH_TRY(ReadMemoriesJson(plan, plan_name));
  }
  for (std::size_t i = 0; i < arguments.memories.size(); ++i) {
    const Memory& memory = arguments.memories[i];
    if (Costs(memory) && all.cost_unit != "ns") {
      return Fail(ErrorCode::kInvalidOptions,
                  "--memory: the bandwidth of " + Quoted(arguments.texts[i]) +
                      " makes costs in ns, but those of " + OneLine(arguments.board) + " are in " +
                      Quoted(all.cost_unit));
    }
    BERTH_TRY(AddTo(all.problem.memories, memory, arguments.board));
  }
  return all;
}

// Where costs come from, unless the input says it.
void SettleCosts(bool has_costs, MemoryInput& input) {
  const auto& memories = input.problem.memories;
  if (has_costs) return;
  if (std::any_of(memories.begin(), memories.end(), Costs)) {
    AssumeUses(input.problem);
    input.assumed_uses = true;
    input.notes.emplace_back(
        "The input says nothing of uses: each buffer is taken to be written once and read once as "
        "a whole.");
  } else {
    input.notes.emplace_back(
        "Nothing costs anything: any plan that places every buffer is as good as another. Give "
        "memories bandwidths, or buffers costs.");
  }
}

}  // namespace

void AddMemories(CLI::App& app, MemoryArguments& arguments) {
  const auto add = [&arguments](const std::vector<std::string>& texts) {
    for (const std::string& text : texts) {
      auto memory = ParseMemory(text);
      if (!memory) UsageError("--memory", memory.error().message);
      arguments.memories.push_back(std::move(*memory));
      arguments.texts.push_back(text);
    }
  };
  app.add_option_function<std::vector<std::string>>(
         "--memory", add,
         "A memory to place buffers in, such as tcm=64KiB@8GB/s, "
         "flash=2MiB@read:200MB/s,write:1MB/s "
         "or dram@1GB/s (as large as necessary); repeat for several.")
      ->type_name("NAME[=CAPACITY][@BANDWIDTH]")
      ->allow_extra_args(false);
  AddFile(app, "--memories", arguments.board,
          "The memories of a board, described in JSON (docs/formats/memories.md).");
}

Result<MemoryFile> LoadBoard(const MemoryArguments& arguments) {
  return MemoriesOf(arguments, {}, "");
}

bool IsForMemories(const MemoryArguments& arguments, std::string_view bytes) {
  return arguments.given() || LooksLikeMemories(bytes);
}

Result<MemoryInput> LoadMemories(const TableArguments& table, const MemoryArguments& arguments,
                                 FileView file, std::string_view plan,
                                 const std::string& plan_name) {
  if (table.capacity) {
    return Fail(ErrorCode::kInvalidOptions,
                "--capacity: each memory has a capacity of its own; give it with --memory "
                "NAME=CAPACITY");
  }
  // Errors name the file as the person did.
  const std::string name = table.path == "-" ? NameOf(table.path) : table.path;
  MemoryInput input{NameOf(table.path), HashOf(file.bytes()), {}};
  if (LooksLikeMemories(file.bytes())) {
    if (arguments.given()) {
      return Fail(ErrorCode::kInvalidOptions,
                  std::string(arguments.board.empty() ? "--memory: " : "--memories: ") +
                      OneLine(name) + " has memories of its own");
    }
    for (const auto& [flag, given] : {std::pair{"--endpoints", !table.endpoints.empty()},
                                      std::pair{"--problem", !table.problem.empty()}}) {
      if (given) {
        return Fail(ErrorCode::kInvalidOptions,
                    std::string(flag) + ": " + OneLine(name) + " leaves nothing to choose");
      }
    }
    MemoryFile read = BERTH_TRY(ReadMemoriesJson(file.bytes(), name));
    input.problem = std::move(read.problem);
    input.cost_unit = read.cost_unit;
    input.has_buffers = read.has_buffers;
    if (read.has_buffers) SettleCosts(read.has_costs, input);
    return input;
  }
  MemoryFile memories = BERTH_TRY(MemoriesOf(arguments, plan, plan_name));
  if (memories.problem.memories.empty()) {
    return Fail(ErrorCode::kInvalidOptions, "memories are missing; give --memory or --memories");
  }
  input.cost_unit = memories.cost_unit;
  BERTH_TRY(CheckKind(file.bytes(), table.path, FileKind::kTable));
  if (IsCsv(file.bytes())) {
    input.is_csv = true;
    if (!table.problem.empty()) {
      return Fail(ErrorCode::kInvalidOptions, "--problem: " + OneLine(name) + " is one problem");
    }
    MemoryFile read =
        BERTH_TRY(ReadMemoriesCsv(file.bytes(), name, memories.problem.memories, table.csv));
    input.problem = std::move(read.problem);
    SettleCosts(read.has_costs, input);
    return input;
  }
  const Input foreign = BERTH_TRY(ParseTable(table, std::move(file)));
  input.name = foreign.name;
  input.hash = foreign.hash();
  input.problem.table = foreign.problem;
  input.problem.memories = std::move(memories.problem.memories);
  if (foreign.given) input.notes = foreign.given->notes;
  SettleCosts(false, input);
  return input;
}

std::string RateText(const Rate& rate, const std::string& cost_unit) {
  if (rate.cost == 0) return "";
  const auto per_second = UnitsPerSecond(cost_unit);
  if (per_second && rate.cost == *per_second) {
    for (const auto& [bytes, unit] : {std::pair<Bytes, const char*>{1'000'000'000, " GB/s"},
                                      {1'000'000, " MB/s"},
                                      {1'000, " kB/s"}}) {
      if (rate.bytes < bytes) continue;
      const Bytes tenth = bytes / 1000;
      if (rate.bytes % tenth != 0) break;
      std::string text = std::to_string(rate.bytes / bytes);
      std::string decimals = std::to_string(1000 + rate.bytes % bytes / tenth).substr(1);
      while (!decimals.empty() && decimals.back() == '0') decimals.pop_back();
      return text + (decimals.empty() ? "" : "." + decimals) + unit;
    }
    return FormatCount(rate.bytes) + " B/s";
  }
  return FormatCost(rate.cost, cost_unit) + " for " +
         (rate.bytes == 1 ? "a byte" : Plural(rate.bytes, "byte"));
}

std::string InfoText(const MemoryInput& input) {
  using enum TextTable::Align;
  const MemoryProblem& problem = input.problem;
  const auto count = [](std::size_t number) { return static_cast<std::int64_t>(number); };
  std::string text = Paint(Tone::kStrong, OneLine(input.name)) + "\n";
  if (input.has_buffers) {
    const auto& buffers = problem.table.buffers;
    Bytes total = 0;
    for (const Buffer& buffer : buffers) total += buffer.size;
    std::int64_t optional = 0;
    std::int64_t restricted = 0;
    std::int64_t moved = 0;
    for (const Placing& placing : problem.placing) {
      optional += placing.cost_left_out ? 1 : 0;
      restricted += placing.candidates.empty() ? 0 : 1;
      moved += placing.previous ? 1 : 0;
    }
    const LoadBound load = MaxLiveLoad(problem.table);
    FactList facts;
    facts.Add("buffers",
              FormatCount(count(buffers.size())) + ", " + FormatBytes(total) + " in all");
    facts.Add("load", FormatBytesExactly(load.load) +
                          (buffers.empty() ? "" : " at step " + FormatCount(load.load_step)));
    const auto add = [&facts](const char* name, std::int64_t number, const char* noun) {
      if (number > 0) facts.Add(name, Plural(number, noun));
    };
    add("optional", optional, "buffer");
    add("with places", restricted, "buffer");
    add("with previous", moved, "buffer");
    add("together", count(problem.together.size()), "group");
    add("apart", count(problem.apart.size()), "pair");
    facts.Add("costs in", OneLine(input.cost_unit));
    text += facts.ToString();
  }
  TextTable table({kLeft, kRight, kRight, kRight, kRight, kRight, kRight, kRight});
  constexpr std::size_t kName = 30;
  table.Elide(0, kName);
  table.AddRow({"memory", "capacity", "base", "alignment", "reserved", "read", "write", "access"});
  for (const Memory& memory : problem.memories) {
    const Json json = internal::MemoryJson(memory);
    Bytes reserved = 0;
    for (const Reserved& range : memory.reserved) reserved += range.upper - range.lower;
    table.AddRow({OneLine(memory.name), memory.capacity ? FormatBytes(*memory.capacity) : "any",
                  json.contains("base") ? json["base"].get<std::string>() : "",
                  memory.alignment > 1 ? FormatCount(memory.alignment) : "",
                  reserved > 0 ? FormatBytes(reserved) : "",
                  OneLine(RateText(memory.read, input.cost_unit)),
                  OneLine(RateText(memory.write, input.cost_unit)),
                  memory.access > 0 ? OneLine(FormatCost(memory.access, input.cost_unit)) : ""});
  }
  text += table.ToString();
  for (const std::string& note : input.notes) text += "  " + Wrap(note, TextWidth() - 2, 2) + "\n";
  return text;
}

Json InfoJson(const MemoryInput& input) {
  const MemoryProblem& problem = input.problem;
  Json json = {{"input", input.name}, {"input_hash", input.hash}};
  json["cost_unit"] = input.cost_unit;
  json["memories"] = Json::array();
  for (const Memory& memory : problem.memories) {
    json["memories"].push_back(internal::MemoryJson(memory));
  }
  if (input.has_buffers) {
    std::size_t optional = 0;
    for (const Placing& placing : problem.placing) optional += placing.cost_left_out ? 1 : 0;
    json["buffers"] = problem.table.buffers.size();
    json["optional_buffers"] = optional;
    json["together"] = problem.together.size();
    json["apart"] = problem.apart.size();
    json["load"] = MaxLiveLoad(problem.table).load;
    json["assumed_uses"] = input.assumed_uses;
  }
  json["berth_version"] = BERTH_VERSION;
  return json;
}

}  // namespace berth::cli
