// Options of the C interface: those of the searches under their own names, and rows for what the
// command has flags for.

#include "c/options.h"

#include <algorithm>
#include <array>
#include <locale>
#include <sstream>
#include <string_view>
#include <utility>

#include "base/latency.h"
#include "base/option_table.h"
#include "base/text.h"
#include "base/try.h"
#include "berth/bytes.h"
#include "berth/device.h"
#include "berth/memory_io.h"
#include "berth/profile.h"
#include "berth/schedule.h"
#include "c/handles.h"

namespace berth::internal::c {
namespace {

using Row = OptionRow<Settings>;
constexpr std::int64_t kMostDimension = std::int64_t{1} << 56;
constexpr std::int64_t kMostPlaceNodes = std::int64_t{1} << 40;
constexpr Bytes kMostAlignment = Bytes{1} << 30;

// "none" empties an optional.
template <typename T, typename Set>
bool SetOptional(std::optional<T>& field, std::string_view value, Set set) {
  if (value == "none") {
    field.reset();
    return true;
  }
  T parsed{};
  if (!set(parsed, value)) return false;
  field = parsed;
  return true;
}

template <typename T>
std::string NumberOrNone(const std::optional<T>& field) {
  return field ? std::to_string(*field) : "none";
}

bool SetBytes(Bytes& field, std::string_view value) {
  const auto bytes = ParseBytes(value);
  if (bytes) field = *bytes;
  return bytes.has_value();
}

// Whatever the program's locale is.
bool SetSeconds(double& field, std::string_view value) {
  if (value.find_first_not_of("0123456789.e+-") != std::string_view::npos) return false;
  std::istringstream in{std::string(value)};
  in.imbue(std::locale::classic());
  double seconds = 0;
  if (!(in >> seconds) || seconds < 0 || in.peek() != std::istringstream::traits_type::eof())
    return false;
  field = seconds;
  return true;
}

std::string SecondsOrNone(const std::optional<double>& field) {
  if (!field) return "none";
  std::ostringstream out;
  out.imbue(std::locale::classic());
  out.precision(15);
  out << *field;
  return out.str();
}

std::string NameOf(const Capacity& capacity) {
  if (const Bytes* const bytes = std::get_if<Bytes>(&capacity)) return std::to_string(*bytes);
  switch (std::get<NamedBudget>(capacity)) {
    case NamedBudget::kOneOperator:
      return "MR";
    case NamedBudget::kHalfway:
      return "MH";
    case NamedBudget::kLeastPeak:
      break;
  }
  return "MP";
}

bool SetCapacity(Capacity& field, std::string_view value) {
  const auto capacity = ParseCapacity(value);
  if (capacity) field = *capacity;
  return capacity.has_value();
}

bool SetBudgets(std::vector<Capacity>& field, std::string_view value) {
  std::vector<Capacity> list;
  while (!value.empty()) {
    const std::size_t comma = std::min(value.find(','), value.size());
    Capacity one;
    if (!SetCapacity(one, value.substr(0, comma))) return false;
    list.push_back(one);
    value.remove_prefix(std::min(comma + 1, value.size()));
  }
  field = std::move(list);
  return true;
}

bool SetCount(Counting& counting, std::string_view value) {
  const bool all = value == "all";
  if (!all && value != "none" && value != "inputs" && value != "parameters") return false;
  counting.inputs = all || value == "inputs";
  counting.parameters = all || value == "parameters";
  return true;
}

std::string CountOf(const Counting& counting) {
  if (counting.inputs) return counting.parameters ? "all" : "inputs";
  return counting.parameters ? "parameters" : "none";
}

bool AddDimension(std::vector<OnnxDimension>& dimensions, std::string_view value) {
  if (value == "none") {
    dimensions.clear();
    return true;
  }
  const std::size_t equals = value.rfind('=');
  if (equals == std::string_view::npos || equals == 0) return false;
  OnnxDimension dimension{std::string(value.substr(0, equals)), 0};
  if (!SetNumber<std::int64_t>(dimension.size, value.substr(equals + 1), 0, kMostDimension)) {
    return false;
  }
  dimensions.push_back(std::move(dimension));
  return true;
}

bool IsOneLine(std::string_view value) {
  return IsUtf8(value) && value.find_first_of("\x01\n\r\t") == std::string_view::npos;
}

bool SetText(std::string& field, std::string_view value) {
  if (!IsOneLine(value)) return false;
  field = value;
  return true;
}

// A device, as ReadDevice() reads it, or none.
bool SetDevice(std::optional<Device>& field, std::string_view value) {
  if (value == "none") {
    field.reset();
    return true;
  }
  auto device = ReadDevice(value, "device");
  if (device) field = std::move(*device);
  return device.has_value();
}

std::string NameOfDevice(const std::optional<Device>& device) {
  if (!device) return "none";
  return device->name.empty() ? "a device without a name" : device->name;
}

// A profile, as ReadProfile() reads it, or none. The error says what is wrong with it.
Result<void> SetProfile(std::optional<Profile>& field, std::string_view value) {
  if (value == "none") {
    field.reset();
  } else {
    auto profile = ReadProfile(value, "profile");
    if (!profile) return Fail(ErrorCode::kInvalidOptions, std::move(profile.error().message));
    field = std::move(*profile);
  }
  return {};
}

// A memory more, as ParseMemory() reads it; all, as JSON; or none.
bool AddMemory(Settings& settings, std::string_view value) {
  if (value == "none") {
    settings.memories.clear();
    settings.cost_unit = "ns";
    return true;
  }
  if (value.starts_with('{')) {
    auto file = ReadMemoriesJson(value, "memory");
    if (!file || file->has_buffers) return false;
    settings.memories = std::move(file->problem.memories);
    settings.cost_unit = file->cost_unit;
    return true;
  }
  auto memory = ParseMemory(value);
  if (!memory || !IsOneLine(value) || settings.cost_unit != "ns") return false;
  settings.memories.push_back(std::move(*memory));
  return true;
}

// One after another: their names and capacities.
std::string MemoriesOf(const Settings& settings) {
  std::string text;
  for (const Memory& memory : settings.memories) {
    text += (text.empty() ? "" : " ") + memory.name;
    if (memory.capacity) text += "=" + std::to_string(*memory.capacity);
  }
  return text.empty() ? "none" : text;
}

// Indices of the memories that `names` lists.
Result<std::vector<std::size_t>> MemoriesCalled(const Settings& settings, const char* option,
                                                std::string_view names) {
  std::vector<std::size_t> found;
  while (!names.empty()) {
    const std::size_t comma = std::min(names.find(','), names.size());
    const std::string_view name = names.substr(0, comma);
    names.remove_prefix(std::min(comma + 1, names.size()));
    const auto at = std::find_if(settings.memories.begin(), settings.memories.end(),
                                 [&](const Memory& memory) { return memory.name == name; });
    if (at == settings.memories.end()) {
      return Fail(ErrorCode::kInvalidOptions,
                  std::string(option) + ": there is no memory " + Quoted(name));
    }
    const auto m = static_cast<std::size_t>(at - settings.memories.begin());
    if (std::find(found.begin(), found.end(), m) == found.end()) found.push_back(m);
  }
  return found;
}

constexpr std::array kEndpoints = {
    std::pair{std::string_view("half-open"), Endpoints::kHalfOpen},
    std::pair{std::string_view("inclusive"), Endpoints::kInclusive},
    std::pair{std::string_view("exclusive"), Endpoints::kExclusive},
    std::pair{std::string_view("by-name"), Endpoints::kByColumnName}};

bool SetEndpoints(Endpoints& field, std::string_view value) {
  for (const auto& [name, endpoints] : kEndpoints) {
    if (name != value) continue;
    field = endpoints;
    return true;
  }
  return false;
}

constexpr std::array kRows = {
    Row{{"capacity", "none", "bytes, such as 512KiB, or none",
         "The memory that a plan may use; none: as few bytes as possible."},
        [](Settings& s, std::string_view v) { return SetOptional(s.capacity, v, SetBytes); },
        [](const Settings& s) { return NumberOrNone(s.capacity); }},
    Row{{"budget", "none", "bytes, MR, MH, MP, or none",
         "As capacity, but what does not fit is copied out and back, with the least traffic."},
        [](Settings& s, std::string_view v) { return SetOptional(s.budget, v, SetCapacity); },
        [](const Settings& s) { return s.budget ? NameOf(*s.budget) : "none"; }},
    SwitchRow<Settings, [](Settings& s) -> bool& { return s.recompute; }>(
        "recompute", false,
        "With budget: what does not fit is dropped and made again by the operators that made it, "
        "or copied where the device has a link, at the least cost."),
    SwitchRow<Settings, [](Settings& s) -> bool& { return s.no_spill; }>(
        "no_spill", false, "With recompute: nothing is copied, even if the device has a link."),
    Row{{"gap", "0%", "a percentage, such as 0.1%",
         "With budget: ends once the traffic, or with recompute the cost, is proved to be within "
         "it of the "
         "least."},
        [](Settings& s, std::string_view v) {
          const auto gap = ParsePercentage(v);
          if (gap) s.plan.gap = *gap;
          return gap.has_value();
        },
        [](const Settings& s) { return FormatPercentage(s.plan.gap); }},
    Row{{"budgets", "", "capacities separated by commas; empty: `points` from MP down to MR",
         "The capacities of a sweep."},
        [](Settings& s, std::string_view v) { return SetBudgets(s.budgets, v); },
        [](const Settings& s) {
          std::string text;
          for (const Capacity& each : s.budgets) text += (text.empty() ? "" : ",") + NameOf(each);
          return text;
        }},
    Row{{"points", "20", "1..1000000", "How many capacities a sweep has."},
        [](Settings& s, std::string_view v) { return SetNumber(s.points, v, 1, 1'000'000); },
        [](const Settings& s) { return std::to_string(s.points); }},
    Row{{"time_limit", "none", "seconds, or none", "Ends a search with its best plan so far."},
        [](Settings& s, std::string_view v) { return SetOptional(s.time_limit, v, SetSeconds); },
        [](const Settings& s) { return SecondsOrNone(s.time_limit); }},
    Row{{"node_limit", "none", "a number, or none",
         "Ends a search after as many nodes: the same plan on every machine."},
        [](Settings& s, std::string_view v) {
          return SetOptional(s.node_limit, v, [](std::int64_t& n, std::string_view text) {
            return SetNumber<std::int64_t>(n, text, 0);
          });
        },
        [](const Settings& s) { return NumberOrNone(s.node_limit); }},
    Row{{"order", "auto", "auto|program|hoisted-updates|greedy|greedy-backwards|beam",
         "How the operators of a graph are ordered."},
        [](Settings& s, std::string_view v) {
          return SetOption(s.plan.schedule, "algorithm", v).has_value();
        },
        [](const Settings& s) { return GetOption(s.plan.schedule, "algorithm").value_or(""); }},
    Row{{"count", "none", "none|inputs|parameters|all",
         "What to plan besides the tensors that operators make."},
        [](Settings& s, std::string_view v) { return SetCount(s.plan.schedule.counting, v); },
        [](const Settings& s) { return CountOf(s.plan.schedule.counting); }},
    SwitchRow<Settings,
              [](Settings& s) -> bool& { return s.plan.schedule.counting.unsized_as_zero; }>(
        "allow_unknown", false, "Count tensors without a known size as 0 bytes."),
    Row{{"dim", "none", "NAME=SIZE, or none",
         "Adds a size that a model leaves open; none removes all."},
        [](Settings& s, std::string_view v) { return AddDimension(s.model.onnx.dimensions, v); },
        [](const Settings& s) {
          std::string text;
          for (const OnnxDimension& each : s.model.onnx.dimensions) {
            text += (text.empty() ? "" : " ") + each.name + "=" + std::to_string(each.size);
          }
          return text.empty() ? "none" : text;
        }},
    Row{{"dim_default", "none", "0..72057594037927936, or none",
         "The size of every open dimension that is not given."},
        [](Settings& s, std::string_view v) {
          return SetOptional(s.model.onnx.other_dimensions, v,
                             [](std::int64_t& n, std::string_view text) {
                               return SetNumber<std::int64_t>(n, text, 0, kMostDimension);
                             });
        },
        [](const Settings& s) { return NumberOrNone(s.model.onnx.other_dimensions); }},
    Row{{"element_bytes", "none", "1..16, or none",
         "Bytes of every element of a model, whatever its type."},
        [](Settings& s, std::string_view v) {
          return SetOptional(s.model.onnx.element_bytes, v, [](int& n, std::string_view text) {
            return SetNumber(n, text, 1, 16);
          });
        },
        [](const Settings& s) { return NumberOrNone(s.model.onnx.element_bytes); }},
    Row{{"alignment", "none", "1..1073741824 bytes, or none",
         "Of every offset and size of a model; none: 16, or what it says for a graph in JSON."},
        [](Settings& s, std::string_view v) {
          return SetOptional(s.model.alignment, v, [](Bytes& n, std::string_view text) {
            return SetBytes(n, text) && n >= 1 && n <= kMostAlignment;
          });
        },
        [](const Settings& s) { return NumberOrNone(s.model.alignment); }},
    Row{{"device", "none", "a device in JSON, or none",
         "What operators cost, for recompute and prefetch: the time that they take on this "
         "device."},
        [](Settings& s, std::string_view v) { return SetDevice(s.model.device, v); },
        [](const Settings& s) { return NameOfDevice(s.model.device); }},
    Row{{"profile", "none", "a profile, or none",
         "What operators cost, for recompute and prefetch: the times in this profile. A device "
         "prices what it lacks."},
        [](Settings& s, std::string_view v) { return SetProfile(s.model.profile, v).has_value(); },
        [](const Settings& s) { return std::string(s.model.profile ? "a profile" : "none"); }},
    SwitchRow<Settings, [](Settings& s) -> bool& { return s.model.fuse; }>(
        "fuse", false, "Compute element-wise operators together with the operator before them."),
    SwitchRow<Settings, [](Settings& s) -> bool& { return s.model.in_place; }>(
        "in_place", false, "Let operators write their output over an input where that is safe."),
    Row{{"problem", "", "a name or a number from 1; empty: the only one",
         "Which problem to read from a file that has several."},
        [](Settings& s, std::string_view v) { return SetText(s.problem, v); },
        [](const Settings& s) { return s.problem; }},
    Row{{"memory", "none", "NAME[=CAPACITY][@BANDWIDTH], a board in JSON, or none",
         "Adds a memory that the tensors of a graph may be in; none removes all."},
        [](Settings& s, std::string_view v) { return AddMemory(s, v); },
        [](const Settings& s) { return MemoriesOf(s); }},
    Row{{"activations_in", "", "names of memories separated by commas; empty: any",
         "Where activations and inputs may be."},
        [](Settings& s, std::string_view v) { return SetText(s.activations_in, v); },
        [](const Settings& s) { return s.activations_in; }},
    Row{{"weights_in", "", "names of memories separated by commas; empty: any",
         "Where weights may be, which are then part of the plan."},
        [](Settings& s, std::string_view v) { return SetText(s.weights_in, v); },
        [](const Settings& s) { return s.weights_in; }},
    SwitchRow<Settings, [](Settings& s) -> bool& { return s.spill; }>(
        "spill", false,
        "With memory: each is a scratchpad for the tensors that may be in it alone, and what does "
        "not fit is copied out and back, with the least traffic."),
    SwitchRow<Settings, [](Settings& s) -> bool& { return s.may_move; }>(
        "may_move", false, "Tensors may be copied from one memory to another between operators."),
    SwitchRow<Settings, [](Settings& s) -> bool& { return s.prefetch; }>(
        "prefetch", false,
        "As may_move, but copies are made while operators run, for the shortest run."),
    Row{{"stage_weights_in", "", "names of memories separated by commas; empty: none",
         "With may_move or prefetch: where copies of weights may be kept for a while, beside the "
         "originals in weights_in."},
        [](Settings& s, std::string_view v) { return SetText(s.stage_weights_in, v); },
        [](const Settings& s) { return s.stage_weights_in; }},
    Row{{"copy_latency", "0", "0..1099511627776 nanoseconds",
         "With prefetch: what each copy takes besides its bytes."},
        [](Settings& s, std::string_view v) {
          return SetNumber<std::int64_t>(s.copy_latency, v, 0, kMostLatency);
        },
        [](const Settings& s) { return std::to_string(s.copy_latency); }},
    Row{{"most_moved", "none", "bytes, such as 64KiB, or none",
         "Of repacking: the bytes of placed buffers that may leave their previous places."},
        [](Settings& s, std::string_view v) {
          return SetOptional(s.repack.most_moved, v, SetBytes);
        },
        [](const Settings& s) { return NumberOrNone(s.repack.most_moved); }},
    SwitchRow<Settings, [](Settings& s) -> bool& { return s.repack.exchange; }>(
        "exchange", true,
        "Of repacking: buffers that cost less to leave out make room for others; off: what is in a "
        "memory is not left out."),
    Row{{"place_nodes", "2000", "0..1099511627776",
         "Of repacking: the nodes of each question to the search for offsets, where moving a few "
         "buffers does not help; 0: it is not asked."},
        [](Settings& s, std::string_view v) {
          return SetNumber<std::int64_t>(s.repack.place_nodes, v, 0, kMostPlaceNodes);
        },
        [](const Settings& s) { return std::to_string(s.repack.place_nodes); }},
    Row{{"endpoints", "none", "half-open|inclusive|exclusive|by-name, or none",
         "What lifetimes mean; none: half-open in arrays, by the names of columns in tables."},
        [](Settings& s, std::string_view v) { return SetOptional(s.endpoints, v, SetEndpoints); },
        [](const Settings& s) {
          for (const auto& [name, endpoints] : kEndpoints) {
            if (s.endpoints == endpoints) return std::string(name);
          }
          return std::string("none");
        }},
};

constexpr OptionTable<Settings> kTable(kRows);

// Those of the order that have no row above, and no namesake among those of the placement.
bool IsScheduleOption(std::string_view name) {
  if (name == "algorithm" || name == "threads" || name.starts_with("counting.")) return false;
  const auto rows = ScheduleOptionTable();
  return std::any_of(rows.begin(), rows.end(),
                     [&](const OptionInfo& info) { return info.name == name; });
}

Result<void> Set(Settings& settings, std::string_view name, std::string_view value) {
  if (name == "profile") return SetProfile(settings.model.profile, value);
  if (kTable.Find(name) != nullptr) return kTable.Set(settings, name, value);
  if (name == "threads") {  // Of all searches.
    BERTH_TRY(SetOption(settings.plan.schedule, name, value));
  }
  if (IsScheduleOption(name)) return SetOption(settings.plan.schedule, name, value);
  return SetOption(settings.plan.place, name, value);
}

Result<std::string> Get(const Settings& settings, std::string_view name) {
  if (kTable.Find(name) != nullptr) return kTable.Get(settings, name);
  if (IsScheduleOption(name)) return GetOption(settings.plan.schedule, name);
  return GetOption(settings.plan.place, name);
}

}  // namespace

const berth_options& OptionsOf(const berth_options* options) {
  static const berth_options defaults = [] {
    berth_options made;
    made.settings.plan.place.minimize_if_infeasible = true;
    return made;
  }();
  return options == nullptr ? defaults : *options;
}

Result<void> RefuseRepack(const Settings& settings) {
  static const RepackOptions defaults;
  const RepackOptions& repack = settings.repack;
  const char* name = nullptr;
  if (repack.most_moved) name = "most_moved";
  if (repack.exchange != defaults.exchange) name = "exchange";
  if (repack.place_nodes != defaults.place_nodes) name = "place_nodes";
  if (name == nullptr) return {};
  return Fail(ErrorCode::kInvalidOptions, std::string(name) + ": only berth_repack() repacks");
}

Result<PlanOptions> PlanOptionsOf(const Settings& settings) {
  BERTH_TRY(RefuseRepack(settings));
  if (settings.capacity && settings.budget) {
    return Fail(ErrorCode::kInvalidOptions, "capacity and budget: set one of them");
  }
  if (settings.recompute && !settings.budget) {
    return Fail(ErrorCode::kInvalidOptions,
                "recompute: only within a budget are operators run again");
  }
  if (settings.no_spill && !settings.recompute) {
    return Fail(ErrorCode::kInvalidOptions, "no_spill: only with recompute");
  }
  PlanOptions options = settings.plan;
  if (settings.capacity) options.capacity = *settings.capacity;
  if (settings.budget) {
    options.capacity = settings.budget;
    options.spill = !settings.recompute;
    options.recompute = settings.recompute;
  }
  return options;
}

namespace {

// That tensors may be spilled from memories; there are some.
Result<void> SetSpills(const Settings& settings, PlanOptions& options) {
  if (!settings.spill) return {};
  if (settings.memories.empty()) {
    return Fail(ErrorCode::kInvalidOptions,
                "spill: only with memory; budget is for a single memory");
  }
  if (settings.may_move || settings.prefetch) {
    return Fail(ErrorCode::kInvalidOptions,
                std::string(settings.prefetch ? "prefetch" : "may_move") +
                    " and spill: set one of them; with spill each tensor is in one memory only");
  }
  options.spill = true;
  return {};
}

// That tensors may move, and how; there are memories for it.
Result<void> SetMoves(const Settings& settings, GraphMemories& memories) {
  if (settings.memories.empty() && (settings.may_move || settings.prefetch)) {
    return Fail(ErrorCode::kInvalidOptions,
                std::string(settings.prefetch ? "prefetch" : "may_move") +
                    ": only with memory can tensors move");
  }
  if (settings.copy_latency != 0 && !settings.prefetch) {
    return Fail(ErrorCode::kInvalidOptions,
                "copy_latency: copies take time of their own only with prefetch");
  }
  if (settings.prefetch && settings.cost_unit != "ns") {
    return Fail(ErrorCode::kInvalidOptions, "prefetch: the memories have costs in " +
                                                Quoted(settings.cost_unit) +
                                                ", but a run is timed in ns");
  }
  if (!settings.stage_weights_in.empty() &&
      (settings.weights_in.empty() || !(settings.may_move || settings.prefetch))) {
    return Fail(ErrorCode::kInvalidOptions,
                "stage_weights_in: weights are copied only with weights_in, and with may_move or "
                "prefetch");
  }
  memories.may_move = settings.may_move || settings.prefetch;
  memories.prefetch = settings.prefetch;
  memories.copy_latency = settings.copy_latency;
  return {};
}

}  // namespace

Result<PlanOptions> PlanOptionsFor(const Settings& settings, const GraphInput& input) {
  PlanOptions options = BERTH_TRY(PlanOptionsOf(settings));
  BERTH_TRY(SetSpills(settings, options));
  BERTH_TRY(SetMoves(settings, options.memories));
  if (options.recompute && !settings.no_spill && input.options.device) {
    options.link = input.options.device->link;
    options.spill = options.link.has_value();
  }
  options.memories.memories = settings.memories;
  const auto activations =
      BERTH_TRY(MemoriesCalled(settings, "activations_in", settings.activations_in));
  const auto weights = BERTH_TRY(MemoriesCalled(settings, "weights_in", settings.weights_in));
  options.memories.stage_in =
      BERTH_TRY(MemoriesCalled(settings, "stage_weights_in", settings.stage_weights_in));
  if (!weights.empty()) options.schedule.counting.parameters = true;
  if (!activations.empty() || !weights.empty()) {
    options.memories.allowed = AllowedByKind(input.model.graph, activations, weights);
  }
  if (!settings.memories.empty()) options.place.minimize_if_infeasible = false;
  return options;
}

Result<void> RefuseBudget(const Settings& settings, const char* call) {
  if (!settings.memories.empty()) {
    return Fail(
        ErrorCode::kInvalidOptions,
        std::string("memory: ") + call + " does not take this option; use berth_plan_graph()");
  }
  if (!settings.budget) return {};
  return Fail(
      ErrorCode::kInvalidOptions,
      std::string("budget: ") + call + " spills nothing; use capacity, or berth_plan_graph()");
}

std::vector<OptionInfo> AllOptions() {
  std::vector<OptionInfo> all;
  const auto place = Options();
  all.reserve(kRows.size() + place.size() + ScheduleOptionTable().size());
  for (const Row& row : kRows) all.push_back(row.info);
  all.insert(all.end(), place.begin(), place.end());
  for (const OptionInfo& info : ScheduleOptionTable()) {
    if (IsScheduleOption(info.name)) all.push_back(info);
  }
  return all;
}

Watch::Watch(const berth_options& options, bool limited) : options_(options) {
  if (limited && options.settings.time_limit) budget_.SetTimeLimit(*options.settings.time_limit);
  if (limited && options.settings.node_limit) budget_.SetNodeLimit(*options.settings.node_limit);
  if (options.canceller != nullptr) budget_.Follow(options.canceller->budget);
}

std::function<void(const Progress&)> Watch::progress() {
  if (options_.progress == nullptr) return {};
  return [this](const Progress& progress) { latest_ = progress; };
}

void Watch::RunWatched(const std::function<void()>& search) {
  std::optional<PollListener> listener;
  if (options_.progress != nullptr) listener.emplace(budget_, [this] { ReportNowAndThen(); });
  search();
  if (thrown_) std::rethrow_exception(thrown_);
}

void Watch::ReportNowAndThen() {
  if (std::this_thread::get_id() != caller_ || thrown_) return;
  const auto now = Budget::Clock::now();
  if (now < next_report_) return;
  next_report_ = now + kInterval;
  const std::chrono::duration<double> seconds = now - begin_;
  const berth_progress progress = {latest_.best.value_or(-1), latest_.bound, latest_.nodes,
                                   seconds.count()};
  try {
    if (options_.progress(options_.user, &progress) != 0) budget_.Cancel();
  } catch (...) {  // It should not throw; no search is written for that.
    thrown_ = std::current_exception();
    budget_.Cancel();
  }
}

}  // namespace berth::internal::c

namespace c = berth::internal::c;

extern "C" {

berth_options* berth_options_new(void) {
  return c::ValueOr<berth_options*>(nullptr,
                                    [] { return new berth_options(c::OptionsOf(nullptr)); });
}

void berth_options_free(berth_options* options) { delete options; }

berth_status berth_options_set(berth_options* options, const char* name, const char* value,
                               berth_error** error) {
  return c::Call(error, [&]() -> berth::Result<void> {
    c::Require(options != nullptr, "options is NULL");
    c::Require(name != nullptr, "the name of the option is NULL");
    c::Require(value != nullptr, "the value of the option is NULL");
    return c::Set(options->settings, name, value);
  });
}

berth_status berth_options_get(const berth_options* options, const char* name, berth_text** value,
                               berth_error** error) {
  return c::Call(error, [&]() -> berth::Result<void> {
    c::Require(name != nullptr, "the name of the option is NULL");
    c::Give(value, BERTH_TRY(c::Get(c::OptionsOf(options).settings, name)));
    return {};
  });
}

berth_status berth_options_set_order(berth_options* options, const size_t* order, size_t count,
                                     berth_error** error) {
  return c::Call(error, [&]() -> berth::Result<void> {
    c::Require(options != nullptr, "options is NULL");
    c::RequireList(order, count, "the order");
    if (count == 0) {
      options->settings.plan.order.reset();
    } else {
      options->settings.plan.order = berth::Order(order, order + count);
    }
    return {};
  });
}

size_t berth_option_count(void) {
  return c::ValueOr<std::size_t>(0, [] { return c::AllOptions().size(); });
}

berth_status berth_option_at(size_t index, berth_option_info* info, berth_error** error) {
  return c::Call(error, [&]() -> berth::Result<void> {
    const auto all = c::AllOptions();
    c::RequireIndex(index, all.size(), "option");
    const berth::OptionInfo& row = all[index];
    // Constants: each ends in a 0 byte.
    c::Fill(info, {0, row.name.data(), row.default_value.data(), row.allowed.data(),
                   row.sentence.data()});
    return {};
  });
}

void berth_options_set_progress(berth_options* options, berth_progress_function function,
                                void* user) {
  if (options == nullptr) return;
  options->progress = function;
  options->user = user;
}

berth_canceller* berth_canceller_new(void) {
  return c::ValueOr<berth_canceller*>(nullptr, [] { return new berth_canceller; });
}
void berth_canceller_free(berth_canceller* canceller) { delete canceller; }

void berth_options_set_canceller(berth_options* options, berth_canceller* canceller) {
  if (options != nullptr) options->canceller = canceller;
}

void berth_cancel(berth_canceller* canceller) {
  if (canceller != nullptr) canceller->budget.Cancel();
}

}  // extern "C"
