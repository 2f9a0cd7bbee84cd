// XLA's dumps of buffer assignments as protocol buffers: NAME.hlo.pb, a message HloProto.
//
// The traces of XLA's heap simulator have every placed value twice, where it begins and where it is
// freed, in the order of the schedule. That is the problem that XLA solved, so the steps here are the
// events of a trace. The field for the allocation of a trace is of no use: XLA numbers allocations
// anew after it has written the traces. The allocation is that of the values in the trace.
//
// Everything is read in place, in two passes over the bytes that matter; literals and configurations
// of instructions are skipped. A value takes a few bytes of the file, and many may have the same long
// name. So names are cut, and memory is charged to an allowance: that of this reader and of the tables
// that are made of the result.
//
// Source: the field numbers of hlo.proto of OpenXLA.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/arithmetic.h"
#include "base/nested_rectangles.h"
#include "base/text.h"
#include "base/try.h"
#include "base/wire.h"
#include "berth/xla.h"
#include "io/xla/names.h"

namespace berth {
namespace {

using internal::CheckedAdd;
using internal::Printable;
using internal::WireEntry;
using internal::WireReader;
using internal::xla::kLongestName;

// For any file. Larger files may need `kAllowanceForByte` for each of their bytes.
constexpr std::size_t kAllowance = std::size_t{256} << 20;
constexpr std::size_t kAllowanceForByte = 4;
// What is charged for each, in bytes: entries of maps with what malloc() adds (numbers that a file
// chooses could all have one place in a hash table), vectors that grow, and of values and temporary allocations also their rows in tables.
constexpr std::size_t kForInstruction = 80;
constexpr std::size_t kForLogicalBuffer = 128;
constexpr std::size_t kForEvent = 160;
constexpr std::size_t kForTrace = 512;
constexpr std::size_t kForAllocation = 512;
constexpr std::size_t kForTable = 1024;
constexpr std::size_t kForValue = 850;
constexpr std::size_t kForGap = 2 * sizeof(Gap);
constexpr std::size_t kCopiesOfName = 4;
constexpr std::string_view kTooMuch = "the values need too much memory for a file of this size";

// A file, and a message in it with its name for errors.
class Message {
 public:
  Message(std::string_view file, std::string_view name) : file_(file), name_(name), bytes_(file) {}

  // Calls `use(entry)`, which returns a Result<void>, for each field of the message.
  template <typename Use>
  Result<void> ForEach(const Use& use) const {
    WireReader reader(bytes_);
    while (const std::optional<WireEntry> entry = reader.Next()) BERTH_TRY(use(*entry));
    if (reader.failed()) return FailAt(reader.rest(), "damaged or cut off");
    return {};
  }
  // The message in a field.
  [[nodiscard]] Result<Message> Inside(const WireEntry& entry) const {
    Message inside = *this;
    inside.bytes_ = BERTH_TRY(Text(entry));
    return inside;
  }
  [[nodiscard]] Result<std::string_view> Text(const WireEntry& entry) const {
    if (!entry.IsBytes()) return WrongType(entry);
    return entry.bytes;
  }
  [[nodiscard]] Result<std::int64_t> Number(const WireEntry& entry) const {
    if (!entry.IsVarint()) return WrongType(entry);
    return entry.Signed();
  }
  [[nodiscard]] Result<Bytes> Size(const WireEntry& entry) const {
    const std::int64_t number = BERTH_TRY(Number(entry));
    if (number < 0 || number > kMaxBytes) {
      return FailAt(entry.whole,
                    "expected a number from 0 to 2^60, found " + std::to_string(number));
    }
    return number;
  }
  // "NAME: byte N: sentence", where `at` begins.
  [[nodiscard]] tl::unexpected<Error> FailAt(std::string_view at, std::string_view sentence) const {
    return Fail(ErrorCode::kParse, Printable(name_) + ": byte " +
                                       std::to_string(at.data() - file_.data()) + ": " +
                                       std::string(sentence));
  }
  [[nodiscard]] tl::unexpected<Error> FailAsWhole(std::string_view sentence) const {
    return Fail(ErrorCode::kParse, Printable(name_) + ": " + std::string(sentence));
  }

 private:
  [[nodiscard]] tl::unexpected<Error> WrongType(const WireEntry& entry) const {
    return FailAt(entry.whole, "field " + std::to_string(entry.field) + " is of the wrong type");
  }

  std::string_view file_;
  std::string_view name_;
  std::string_view bytes_;
};

// The array of `entry`, one number in each field or several in one, as "{1,0}"; cut, as names are.
Result<void> AppendIndex(const Message& message, const WireEntry& entry, std::string& index) {
  const bool valid = internal::ForEachVarint(entry, [&](std::int64_t number) {
    if (index.size() < kLongestName) {
      index += (index.empty() ? "" : ",") + std::to_string(number);
    }
  });
  if (!valid) return message.FailAt(entry.whole, "a damaged list of numbers");
  return {};
}

// A value as the list of all values has it. Its offset is in an allocation.
struct LogicalBuffer {
  std::string_view instruction;
  std::string index;  // "1,0"; empty for what is not in a tuple.

  [[nodiscard]] std::string Name() const {
    std::string name = Printable(instruction.substr(0, kLongestName));
    if (!index.empty()) name += "{" + index + "}";
    return name;
  }
};

// One trace: the lifetimes of its values. An event is a step. A value that shares the bytes of others
// belongs to their group. XLA may free the last of these before the value takes its bytes over (a
// result written in place of an operand): the bytes are in use until then, so the lifetime of the
// operand is extended to that event, and the two overlap.
class Trace {
 public:
  struct Range {
    Step start = 0;
    Step end = 0;  // Once it is freed, at least.
    std::int64_t group = 0;
    bool live = false;
  };

  void Allocate(std::int64_t id, std::int64_t group) {
    Group& members = groups_[group];
    if (members.live == 0 && members.last) ranges_[*members.last].end = steps_ + 1;
    const auto [found, is_new] = ranges_.try_emplace(id, Range{steps_, steps_, group, true});
    // One that is allocated again has one lifetime for both.
    if (is_new || !found->second.live) ++groups_[found->second.group].live;
    found->second.live = true;
    ++steps_;
  }
  // False if it is not live.
  [[nodiscard]] bool Free(std::int64_t id) {
    const auto found = ranges_.find(id);
    if (found == ranges_.end() || !found->second.live) return false;
    found->second.live = false;
    found->second.end = steps_++;
    Group& members = groups_[found->second.group];
    --members.live;
    members.last = id;
    return true;
  }
  void End() {
    for (auto& [id, range] : ranges_) {
      if (range.live) range.end = steps_;
    }
  }
  // The group of a value: its own, if it shares with no other.
  [[nodiscard]] std::int64_t GroupOf(std::int64_t id) const {
    const auto found = ranges_.find(id);
    return found == ranges_.end() ? id : found->second.group;
  }
  [[nodiscard]] const std::map<std::int64_t, Range>& ranges() const { return ranges_; }
  [[nodiscard]] Step steps() const { return steps_; }

 private:
  struct Group {
    std::size_t live = 0;
    std::optional<std::int64_t> last;  // The member that was freed last.
  };
  std::map<std::int64_t, Range> ranges_;  // By the number of the value.
  std::map<std::int64_t, Group> groups_;
  Step steps_ = 0;
};

class ProtoReader {
 public:
  ProtoReader(std::string_view bytes, std::string_view name)
      : file_(bytes, name), allowance_(std::max(kAllowance, bytes.size() * kAllowanceForByte)) {}

  Result<XlaAssignment> Read() {
    bool found = false;
    // In two passes, as nothing says that the module comes first.
    BERTH_TRY(file_.ForEach([&](const WireEntry& entry) -> Result<void> {
      if (entry.field != 1) return {};
      return ReadModule(BERTH_TRY(file_.Inside(entry)));
    }));
    BERTH_TRY(file_.ForEach([&](const WireEntry& entry) -> Result<void> {
      if (entry.field != 3) return {};
      if (found) return file_.FailAt(entry.whole, "a second buffer assignment");
      found = true;
      return ReadAssignment(BERTH_TRY(file_.Inside(entry)));
    }));
    if (!found) {
      return file_.FailAsWhole(
          "a module without a buffer assignment; take the file that XLA wrote after its "
          "optimizations (NAME_after_optimizations.hlo.pb)");
    }
    GiveLifetimes();
    BERTH_TRY(ChargeGaps());
    return std::move(result_);
  }

 private:
  Result<void> Charge(const Message& message, std::string_view at, std::size_t bytes) {
    if (bytes > allowance_) return message.FailAt(at, kTooMuch);
    allowance_ -= bytes;
    return {};
  }

  // The names of instructions by their numbers. XLA today names values by numbers alone.
  Result<void> ReadModule(const Message& module) {
    return module.ForEach([&](const WireEntry& field) -> Result<void> {
      if (field.field != 3) return {};
      const Message computation = BERTH_TRY(module.Inside(field));
      return computation.ForEach([&](const WireEntry& entry) -> Result<void> {
        if (entry.field != 2) return {};
        const Message instruction = BERTH_TRY(computation.Inside(entry));
        std::string_view name;
        std::int64_t id = 0;
        BERTH_TRY(instruction.ForEach([&](const WireEntry& part) -> Result<void> {
          if (part.field == 1) name = BERTH_TRY(instruction.Text(part));
          if (part.field == 35) id = BERTH_TRY(instruction.Number(part));
          return {};
        }));
        BERTH_TRY(Charge(instruction, entry.whole, kForInstruction));
        instructions_[id] = name;
        return {};
      });
    });
  }

  Result<void> ReadAssignment(const Message& assignment) {
    BERTH_TRY(assignment.ForEach([&](const WireEntry& entry) -> Result<void> {
      if (entry.field != 1) return {};
      return ReadLogicalBuffer(BERTH_TRY(assignment.Inside(entry)), entry);
    }));
    return assignment.ForEach([&](const WireEntry& entry) -> Result<void> {
      if (entry.field == 3) return ReadAllocation(BERTH_TRY(assignment.Inside(entry)), entry);
      if (entry.field == 4) return ReadTrace(BERTH_TRY(assignment.Inside(entry)), entry);
      return {};
    });
  }

  Result<void> ReadLogicalBuffer(const Message& message, const WireEntry& whole) {
    std::int64_t id = 0;
    LogicalBuffer buffer;
    BERTH_TRY(message.ForEach([&](const WireEntry& entry) -> Result<void> {
      if (entry.field == 1) id = BERTH_TRY(message.Number(entry));
      if (entry.field != 3) return {};
      const Message location = BERTH_TRY(message.Inside(entry));
      return location.ForEach([&](const WireEntry& part) -> Result<void> {
        if (part.field == 2) buffer.instruction = BERTH_TRY(location.Text(part));
        if (part.field == 3) BERTH_TRY(AppendIndex(location, part, buffer.index));
        if (part.field == 4) {
          const auto named = instructions_.find(BERTH_TRY(location.Number(part)));
          if (named == instructions_.end()) {
            return location.FailAt(part.whole,
                                   "a value of an instruction that is not in the module");
          }
          buffer.instruction = named->second;
        }
        return {};
      });
    }));
    BERTH_TRY(Charge(message, whole.whole, kForLogicalBuffer + 2 * buffer.index.size()));
    if (!buffers_.try_emplace(id, std::move(buffer)).second) {
      return message.FailAt(whole.whole, "two values have the number " + std::to_string(id));
    }
    return {};
  }

  Result<void> ReadAllocation(const Message& message, const WireEntry& whole) {
    XlaAllocation allocation;
    std::int64_t parameter = 0;
    bool is_parameter = false;
    bool of_thread = false;
    bool constant = false;
    bool leaves = false;
    BERTH_TRY(message.ForEach([&](const WireEntry& entry) -> Result<void> {
      const auto set = [&](auto& value) -> Result<void> {
        value = BERTH_TRY(message.Number(entry)) != 0;
        return {};
      };
      switch (entry.field) {
        case 1:
          allocation.index = BERTH_TRY(message.Size(entry));
          return {};
        case 2:
          allocation.size = BERTH_TRY(message.Size(entry));
          return {};
        case 3:
          return set(of_thread);
        case 5:
          return set(is_parameter);
        case 6:
          parameter = BERTH_TRY(message.Size(entry));
          return {};
        case 7:
          return set(leaves);
        case 8:
          allocation.color = BERTH_TRY(message.Number(entry));
          return {};
        case 12:
          return set(constant);
        default:
          return {};
      }
    }));
    allocation.temporary = !is_parameter && !of_thread && !constant && !leaves;
    allocation.use = is_parameter ? "parameter " + std::to_string(parameter)
                     : constant   ? "constant"
                     : of_thread  ? "thread-local"
                     : leaves     ? "output"
                                  : "temporary";
    BERTH_TRY(
        Charge(message, whole.whole, kForAllocation + (allocation.temporary ? kForTable : 0)));
    const auto total = CheckedAdd(result_.total, allocation.size);
    if (!total || *total > kMaxBytes) {
      return message.FailAt(whole.whole, "all allocations have over 2^60 bytes");
    }
    result_.total = *total;
    result_.allocations.push_back(std::move(allocation));
    ids_.emplace_back();
    return message.ForEach([&](const WireEntry& entry) -> Result<void> {
      return entry.field == 9 ? ReadAssigned(BERTH_TRY(message.Inside(entry)), entry)
                              : Result<void>();
    });
  }

  // A value in the last allocation.
  Result<void> ReadAssigned(const Message& message, const WireEntry& whole) {
    std::int64_t id = 0;
    XlaValue value;
    BERTH_TRY(message.ForEach([&](const WireEntry& entry) -> Result<void> {
      if (entry.field == 1) id = BERTH_TRY(message.Number(entry));
      if (entry.field == 2) value.offset = BERTH_TRY(message.Size(entry));
      if (entry.field == 3) value.size = BERTH_TRY(message.Size(entry));
      return {};
    }));
    const auto buffer = buffers_.find(id);
    if (buffer == buffers_.end()) {
      return message.FailAt(whole.whole, "there is no value " + std::to_string(id));
    }
    XlaAllocation& allocation = result_.allocations.back();
    if (value.offset + value.size > allocation.size) {
      return message.FailAt(whole.whole,
                            "the value ends at byte " + std::to_string(value.offset + value.size) +
                                " of an allocation of " + std::to_string(allocation.size));
    }
    value.name = buffer->second.Name();
    BERTH_TRY(Charge(message, whole.whole, kForValue + kCopiesOfName * value.name.size()));
    allocation.values.push_back(std::move(value));
    ids_.back().push_back(id);
    return {};
  }

  Result<void> ReadTrace(const Message& message, const WireEntry& whole) {
    BERTH_TRY(Charge(message, whole.whole, kForTrace));
    Trace trace;
    BERTH_TRY(message.ForEach([&](const WireEntry& entry) -> Result<void> {
      return entry.field == 1 ? ReadEvent(BERTH_TRY(message.Inside(entry)), entry, trace)
                              : Result<void>();
    }));
    trace.End();
    traces_.push_back(std::move(trace));
    return {};
  }

  Result<void> ReadEvent(const Message& message, const WireEntry& whole, Trace& trace) {
    constexpr std::int64_t kFree = 1;
    constexpr std::int64_t kShareWith = 2;
    std::int64_t kind = 0;
    std::int64_t id = 0;
    std::int64_t canonical = 0;
    BERTH_TRY(message.ForEach([&](const WireEntry& entry) -> Result<void> {
      if (entry.field == 1) kind = BERTH_TRY(message.Number(entry));
      if (entry.field == 2) id = BERTH_TRY(message.Number(entry));
      if (entry.field == 5) canonical = BERTH_TRY(message.Number(entry));
      return {};
    }));
    if (kind < 0 || kind > kShareWith) {
      return message.FailAt(whole.whole, "an event of unknown kind " + std::to_string(kind));
    }
    if (kind == kFree) {
      if (trace.Free(id)) return {};
      return message.FailAt(
          whole.whole, "the event frees value " + std::to_string(id) + ", which is not allocated");
    }
    BERTH_TRY(Charge(message, whole.whole, kForEvent));
    trace.Allocate(id, kind == kShareWith ? trace.GroupOf(canonical) : id);
    return {};
  }

  // The trace that has the most values of an allocation; those in others have no lifetime, as two
  // traces have no time in common.
  void GiveLifetimes() {
    std::map<std::int64_t, std::size_t> allocation_of;
    for (std::size_t a = 0; a < ids_.size(); ++a) {
      for (const std::int64_t id : ids_[a]) allocation_of[id] = a;
    }
    std::vector<std::pair<std::size_t, const Trace*>> best(ids_.size());
    for (const Trace& trace : traces_) {
      std::map<std::size_t, std::size_t> counts;
      for (const auto& [id, range] : trace.ranges()) {
        const auto found = allocation_of.find(id);
        if (found != allocation_of.end()) ++counts[found->second];
      }
      for (const auto& [a, count] : counts) {
        if (count > best[a].first) best[a] = {count, &trace};
      }
      result_.steps = std::max(result_.steps, trace.steps());
    }
    for (std::size_t a = 0; a < ids_.size(); ++a) {
      if (best[a].second == nullptr) continue;
      const auto& ranges = best[a].second->ranges();
      for (std::size_t v = 0; v < ids_[a].size(); ++v) {
        const auto found = ranges.find(ids_[a][v]);
        if (found == ranges.end()) continue;
        result_.allocations[a].values[v].live = {found->second.start, found->second.end};
      }
    }
  }

  // In tables, values have a gap while another one has all their bytes: a few values make many.
  Result<void> ChargeGaps() {
    for (const XlaAllocation& allocation : result_.allocations) {
      if (!allocation.temporary) continue;
      std::vector<internal::Rectangle> places;
      places.reserve(allocation.values.size());
      for (const XlaValue& value : allocation.values) {
        if (value.size == 0) continue;
        const auto [start, end] = internal::xla::LifeOf(value, result_.steps);
        places.push_back({start, end, value.offset, value.offset + value.size, places.size()});
      }
      bool fits = true;
      internal::ForEachNested(places, [&](std::size_t, Step, Step) {
        fits = kForGap <= allowance_;
        if (fits) allowance_ -= kForGap;
        return fits;
      });
      if (!fits) return file_.FailAsWhole(kTooMuch);
    }
    return {};
  }

  Message file_;
  std::size_t allowance_;
  std::map<std::int64_t, std::string_view> instructions_;
  std::map<std::int64_t, LogicalBuffer> buffers_;
  std::vector<std::vector<std::int64_t>> ids_;  // Of the values of each allocation.
  std::vector<Trace> traces_;
  XlaAssignment result_;
};

}  // namespace

// The first field is the module. It begins with its name, that of its entry and its computations, the
// first of which begins with its name, if it has one, and its instructions. The first field of a graph
// of TensorFlow also begins with two texts, but no message follows.
bool LooksLikeXlaProto(std::string_view bytes) {
  const auto has_bytes = [](const std::optional<WireEntry>& entry, std::uint32_t field) {
    return entry && entry->field == field && entry->IsBytes();
  };
  WireReader file(bytes);
  const auto module = file.Next();
  if (!has_bytes(module, 1)) return false;
  WireReader fields(module->bytes);
  if (!has_bytes(fields.Next(), 1) || !has_bytes(fields.Next(), 2)) return false;
  const auto computation = fields.Next();
  if (!has_bytes(computation, 3)) return false;
  WireReader parts(computation->bytes);
  const auto name = parts.Next();
  return has_bytes(name, 2) || (has_bytes(name, 1) && has_bytes(parts.Next(), 2));
}

Result<XlaAssignment> ReadXlaProto(std::string_view bytes, std::string_view name) {
  return ProtoReader(bytes, name).Read();
}

}  // namespace berth
