// Memories on command lines and in JSON (docs/formats/memories.md).

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/source.h"
#include "base/text.h"
#include "base/try.h"
#include "base/wide.h"
#include "berth/bytes.h"
#include "berth/memory_io.h"
#include "io/json.h"
#include "io/json_tree.h"
#include "io/plan_head.h"

namespace berth {
namespace internal {
namespace {

constexpr std::string_view kFormat = "berth-memories";
constexpr int kFormatVersion = 1;

// More of these in one list are no help to anyone, and take long to check.
constexpr std::size_t kMostPlaces = 1024;
constexpr std::size_t kMostReserved = 4096;

struct TimeUnit {
  std::string_view name;
  std::int64_t per_second;
};
constexpr TimeUnit kTimeUnits[] = {
    {"ps", 1'000'000'000'000}, {"ns", 1'000'000'000}, {"us", 1'000'000}, {"ms", 1'000}, {"s", 1}};

tl::unexpected<Error> Bad(std::string sentence) {
  return Fail(ErrorCode::kInvalidOptions, std::move(sentence));
}

constexpr std::string_view kBandwidthForm = "8GB/s or read:200MB/s,write:1MB/s";

Result<void> ParseBandwidths(std::string_view text, std::string_view whole, Memory& memory) {
  bool read = false;
  bool write = false;
  const std::string not_one = "the bandwidth " + Quoted(text) + " of " + Quoted(whole) +
                              " is not of the form " + std::string(kBandwidthForm);
  for (std::string_view rest = text;;) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    std::string_view part = rest.substr(0, comma);
    bool of_read = true;
    bool of_write = true;
    if (part.starts_with("read:")) {
      of_write = false;
      part.remove_prefix(5);
    } else if (part.starts_with("write:")) {
      of_read = false;
      part.remove_prefix(6);
    }
    const auto bandwidth = ParseBandwidth(part);
    if (!bandwidth) return Bad(not_one);
    if ((of_read && read) || (of_write && write)) {
      return Bad("the bandwidth " + Quoted(text) + " of " + Quoted(whole) + " is given twice for " +
                 (of_read && read ? "reading" : "writing"));
    }
    if (of_read) memory.read = Rate::OfBandwidth(*bandwidth);
    if (of_write) memory.write = Rate::OfBandwidth(*bandwidth);
    read = read || of_read;
    write = write || of_write;
    if (comma == rest.size()) return {};
    rest.remove_prefix(comma + 1);
  }
}

class MemoriesReader {
 public:
  explicit MemoriesReader(const Source& source) : source_(source) {}

  Result<MemoryFile> Read() {
    BERTH_TRY(source_.CheckEncoding());
    const JsonNode root = BERTH_TRY(ParseJsonTree(source_));
    BERTH_TRY(ReadFormat(root));
    if (const JsonNode* const unit = root.Find("cost_unit")) {
      file_.cost_unit = BERTH_TRY(TextOf(*unit, "cost_unit"));
    }
    units_per_second_ = UnitsPerSecond(file_.cost_unit);
    BERTH_TRY(ReadMemories(root));
    const JsonNode* const buffers = of_plan_ ? nullptr : root.Find("buffers");
    file_.has_buffers = buffers != nullptr;
    file_.has_costs = false;
    if (buffers == nullptr) {
      for (const char* const key : {"together", "apart"}) {
        const JsonNode* const node = of_plan_ ? nullptr : root.Find(key);
        if (node == nullptr) continue;
        return source_.FailAt(node->position, "\"" + std::string(key) + "\" without \"buffers\"");
      }
      return std::move(file_);
    }
    BERTH_TRY(ReadBuffers(*buffers));
    BERTH_TRY(ReadTogether(root));
    BERTH_TRY(ReadApart(root));
    BERTH_TRY(CheckAll());
    return std::move(file_);
  }

 private:
  using Kind = JsonNode::Kind;

  Result<void> ReadFormat(const JsonNode& root) {
    if (!root.is(Kind::kObject)) {
      return source_.FailAt(root.position, root.Shown() + " where an object should be");
    }
    const JsonNode* const format = root.Find("format");
    of_plan_ = format != nullptr && format->is(Kind::kText) && format->text == kPlanFormat;
    if (of_plan_) return {};
    if (format == nullptr || !format->is(Kind::kText) || format->text != kFormat) {
      return source_.FailAt((format == nullptr ? root : *format).position,
                            "not a file of memories: \"format\" is " +
                                (format == nullptr ? "missing" : format->Shown()) +
                                " where it should be \"" + std::string(kFormat) + "\"");
    }
    const JsonNode* const version = root.Find("format_version");
    if (version == nullptr || !version->is(Kind::kInteger) || version->integer != kFormatVersion) {
      return source_.FailAt((version == nullptr ? root : *version).position,
                            "\"format_version\" is " +
                                (version == nullptr ? "missing" : version->Shown()) +
                                ", but this reader knows version 1");
    }
    return CheckKeys(
        root, "the file",
        {"format", "format_version", "cost_unit", "memories", "buffers", "together", "apart"});
  }

  // All keys of `object` are `known`, and it is an object.
  Result<void> CheckKeys(const JsonNode& object, const std::string& what,
                         std::initializer_list<std::string_view> known) const {
    if (!object.is(Kind::kObject)) {
      return source_.FailAt(object.position,
                            what + " is " + object.Shown() + " where it should be an object");
    }
    for (std::size_t i = 0; i < object.keys.size(); ++i) {
      if (std::find(known.begin(), known.end(), object.keys[i]) != known.end()) continue;
      std::string list;
      for (const std::string_view each : known) {
        if (!list.empty()) list += ", ";
        list += each;
      }
      return source_.FailAt(object.key_positions[i], what + ": the key " + Quoted(object.keys[i]) +
                                                         " is unknown; known are " + list);
    }
    return {};
  }

  [[nodiscard]] tl::unexpected<Error> Wrong(const JsonNode& node, const std::string& what,
                                            const std::string& should) const {
    return source_.FailAt(node.position,
                          what + " is " + node.Shown() + " where it should be " + should);
  }

  Result<std::string> TextOf(const JsonNode& node, const std::string& what) const {
    if (node.is(Kind::kText)) return node.text;
    return Wrong(node, what, "text");
  }
  Result<std::int64_t> IntegerOf(const JsonNode& node, const std::string& what) const {
    if (node.is(Kind::kInteger)) return node.integer;
    return Wrong(node, what, "a whole number of 64 bits");
  }
  // A number of bytes, or of units of cost.
  Result<std::int64_t> NumberOf(const JsonNode& node, const std::string& what) const {
    if (node.is(Kind::kInteger) && node.integer >= 0 && node.integer <= kMaxBytes) {
      return node.integer;
    }
    return Wrong(node, what, "a whole number from 0 to 2^60");
  }
  Result<Bytes> BytesOf(const JsonNode& node, const std::string& what) const {
    if (!node.is(Kind::kText)) return NumberOf(node, what);
    const auto bytes = ParseBytes(node.text);
    if (bytes) return *bytes;
    return Wrong(node, what, "a size such as 65536 or \"64KiB\"");
  }
  Result<Bytes> AddressOf(const JsonNode& node, const std::string& what) const {
    if (node.is(Kind::kText) && node.text.starts_with("0x")) {
      std::uint64_t address = 0;
      const char* const last = node.text.data() + node.text.size();
      const auto [end, error] = std::from_chars(node.text.data() + 2, last, address, 16);
      if (error == std::errc() && end == last && node.text.size() > 2 &&
          address <= static_cast<std::uint64_t>(kMaxBytes)) {
        return static_cast<Bytes>(address);
      }
      return Wrong(node, what, "an address such as \"0x20000000\", up to 2^60");
    }
    return BytesOf(node, what);
  }
  // The value of `key`, if the object has it and it is not null.
  static const JsonNode* Given(const JsonNode& object, std::string_view key) {
    const JsonNode* const found = object.Find(key);
    return found == nullptr || found->is(Kind::kNull) ? nullptr : found;
  }
  Result<const JsonNode*> Needed(const JsonNode& object, std::string_view key,
                                 const std::string& what) const {
    if (const JsonNode* const found = object.Find(key)) return found;
    return source_.FailAt(object.position, what + ": \"" + std::string(key) + "\" is missing");
  }
  // The value of `key`, which the object must have, as `read` reads it.
  template <typename T>
  Result<T> Need(Result<T> (MemoriesReader::*read)(const JsonNode&, const std::string&) const,
                 const JsonNode& object, std::string_view key, const std::string& what) const {
    const JsonNode* const node = BERTH_TRY(Needed(object, key, what));
    return (this->*read)(*node, what + ": \"" + std::string(key) + "\"");
  }
  Result<void> IsList(const JsonNode& node, const std::string& what) const {
    if (node.is(Kind::kList)) return {};
    return Wrong(node, what, "a list");
  }

  Result<void> HasAtMost(const JsonNode& list, std::size_t most, const std::string& what) const {
    if (list.items.size() <= most) return {};
    return source_.FailAt(list.items[most].position,
                          what + " has more than " + Grouped(static_cast<std::int64_t>(most)) +
                              " items, which is the limit",
                          ErrorCode::kInvalidProblem);
  }

  // --- Memories

  Result<void> ReadMemories(const JsonNode& root) {
    const JsonNode* const list = root.Find("memories");
    if (list == nullptr || (of_plan_ && !list->is(Kind::kList))) {
      return source_.FailAt(root.position, of_plan_ ? "this plan says nothing of memories"
                                                    : "\"memories\" is missing");
    }
    BERTH_TRY(IsList(*list, "\"memories\""));
    if (list->items.empty()) return source_.FailAt(list->position, "\"memories\" is empty");
    for (std::size_t m = 0; m < list->items.size(); ++m) {
      const JsonNode& node = list->items[m];
      Memory memory = BERTH_TRY(ReadMemory(node, "memory number " + std::to_string(m + 1)));
      if (!by_name_.emplace(memory.name, m).second) {
        return source_.FailAt(node.position, "two memories have the name " + Quoted(memory.name),
                              ErrorCode::kInvalidProblem);
      }
      MemoryProblem alone;
      alone.memories = {memory};
      if (const auto valid = Validate(alone); !valid) {
        return source_.FailAt(node.position, valid.error().message, valid.error().code);
      }
      file_.problem.memories.push_back(std::move(memory));
    }
    return {};
  }

  Result<Memory> ReadMemory(const JsonNode& node, const std::string& number) {
    if (!node.is(Kind::kObject)) return Wrong(node, number, "an object");
    Memory memory;
    memory.name = BERTH_TRY(Need(&MemoriesReader::TextOf, node, "name", number));
    const std::string what = "memory " + Quoted(memory.name);
    if (of_plan_) {
      BERTH_TRY(CheckKeys(node, what,
                          {"name", "capacity", "base", "alignment", "reserved", "read", "write",
                           "access", "height", "peak"}));
    } else {
      BERTH_TRY(CheckKeys(
          node, what,
          {"name", "capacity", "base", "alignment", "reserved", "read", "write", "access"}));
    }
    const auto named = [&what](const char* key) { return what + ": \"" + key + "\""; };
    if (const auto* const capacity = Given(node, "capacity")) {
      memory.capacity = BERTH_TRY(BytesOf(*capacity, named("capacity")));
    }
    if (const auto* const base = Given(node, "base")) {
      memory.base = BERTH_TRY(AddressOf(*base, named("base")));
    }
    if (const auto* const alignment = Given(node, "alignment")) {
      memory.alignment = BERTH_TRY(BytesOf(*alignment, named("alignment")));
    }
    if (const auto* const read = Given(node, "read")) {
      memory.read = BERTH_TRY(RateOf(*read, named("read")));
    }
    if (const auto* const write = Given(node, "write")) {
      memory.write = BERTH_TRY(RateOf(*write, named("write")));
    }
    if (const auto* const access = Given(node, "access")) {
      memory.access = BERTH_TRY(NumberOf(*access, named("access")));
    }
    if (const auto* const reserved = Given(node, "reserved")) {
      BERTH_TRY(IsList(*reserved, named("reserved")));
      BERTH_TRY(HasAtMost(*reserved, kMostReserved, named("reserved")));
      for (const JsonNode& range : reserved->items) {
        memory.reserved.push_back(BERTH_TRY(ReadReserved(range, what + ": a reserved range")));
      }
    }
    return memory;
  }

  Result<Reserved> ReadReserved(const JsonNode& node, const std::string& what) const {
    BERTH_TRY(CheckKeys(node, what, {"lower", "upper", "start", "end"}));
    Reserved reserved;
    reserved.lower = BERTH_TRY(Need(&MemoriesReader::BytesOf, node, "lower", what));
    reserved.upper = BERTH_TRY(Need(&MemoriesReader::BytesOf, node, "upper", what));
    if (const auto* const start = Given(node, "start")) {
      reserved.start = BERTH_TRY(IntegerOf(*start, what + ": \"start\""));
    }
    if (const auto* const end = Given(node, "end")) {
      reserved.end = BERTH_TRY(IntegerOf(*end, what + ": \"end\""));
    }
    return reserved;
  }

  Result<Rate> RateOf(const JsonNode& node, const std::string& what) const {
    if (node.is(Kind::kText)) {
      const auto bandwidth = ParseBandwidth(node.text);
      if (!bandwidth) return Wrong(node, what, "a bandwidth such as \"8GB/s\"");
      if (units_per_second_) return Rate::OfBandwidth(*bandwidth, *units_per_second_);
      return source_.FailAt(node.position, what + " is a bandwidth, but the unit of costs, " +
                                               Quoted(file_.cost_unit) +
                                               ", is none of time (ps, ns, us, ms, s)");
    }
    BERTH_TRY(CheckKeys(node, what, {"cost", "bytes"}));
    Rate rate;
    rate.cost = BERTH_TRY(Need(&MemoriesReader::NumberOf, node, "cost", what));
    if (const auto* const bytes = Given(node, "bytes")) {
      rate.bytes = BERTH_TRY(BytesOf(*bytes, what + ": \"bytes\""));
    }
    return rate;
  }

  // --- Buffers

  Result<void> ReadBuffers(const JsonNode& list) {
    BERTH_TRY(IsList(list, "\"buffers\""));
    Problem& table = file_.problem.table;
    std::vector<Placing> placings;
    for (std::size_t b = 0; b < list.items.size(); ++b) {
      const JsonNode& node = list.items[b];
      const std::string number = "buffer number " + std::to_string(b + 1);
      if (!node.is(Kind::kObject)) return Wrong(node, number, "an object");
      Buffer buffer;
      buffer.id = BERTH_TRY(Need(&MemoriesReader::TextOf, node, "id", number));
      const std::string what = "buffer " + Quoted(buffer.id);
      if (!buffers_.emplace(buffer.id, b).second) {
        return source_.FailAt(node.position, "two buffers have the id " + Quoted(buffer.id),
                              ErrorCode::kInvalidProblem);
      }
      BERTH_TRY(CheckKeys(
          node, what,
          {"id", "start", "end", "size", "alignment", "hint", "gaps", "offset", "memories",
           "bytes_read", "bytes_written", "accesses", "cost_left_out", "previous"}));
      BERTH_TRY(ReadBuffer(node, what, buffer));
      placings.push_back(BERTH_TRY(ReadPlacing(node, what)));
      positions_.push_back(node.position);
      table.buffers.push_back(std::move(buffer));
    }
    const bool any = std::any_of(placings.begin(), placings.end(),
                                 [](const Placing& each) { return each != Placing(); });
    if (any) file_.problem.placing = std::move(placings);
    SetLines();
    return {};
  }

  // In one pass: positions increase.
  void SetLines() {
    std::size_t line = 1;
    std::size_t at = 0;
    for (const std::size_t position : positions_) {
      const std::string_view text = source_.text().substr(at, position - at);
      line += static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
      at = position;
      file_.lines.push_back(line);
    }
  }

  Result<void> ReadBuffer(const JsonNode& node, const std::string& what, Buffer& buffer) const {
    const auto named = [&what](const char* key) { return what + ": \"" + key + "\""; };
    buffer.start = BERTH_TRY(Need(&MemoriesReader::IntegerOf, node, "start", what));
    buffer.end = BERTH_TRY(Need(&MemoriesReader::IntegerOf, node, "end", what));
    buffer.size = BERTH_TRY(Need(&MemoriesReader::BytesOf, node, "size", what));
    if (const auto* const alignment = Given(node, "alignment")) {
      buffer.alignment = BERTH_TRY(BytesOf(*alignment, named("alignment")));
    }
    if (const auto* const hint = Given(node, "hint")) {
      buffer.hint = BERTH_TRY(NumberOf(*hint, named("hint")));
    }
    if (const auto* const offset = Given(node, "offset")) {
      buffer.offset = BERTH_TRY(NumberOf(*offset, named("offset")));
    }
    const auto* const gaps = Given(node, "gaps");
    if (gaps == nullptr) return {};
    BERTH_TRY(IsList(*gaps, named("gaps")));
    for (const JsonNode& item : gaps->items) {
      const std::string of = what + ": a gap";
      BERTH_TRY(CheckKeys(item, of, {"start", "end", "lower", "upper"}));
      Gap gap;
      gap.start = BERTH_TRY(Need(&MemoriesReader::IntegerOf, item, "start", of));
      gap.end = BERTH_TRY(Need(&MemoriesReader::IntegerOf, item, "end", of));
      if (item.Find("lower") != nullptr || item.Find("upper") != nullptr) {
        Window window;
        window.lower = BERTH_TRY(Need(&MemoriesReader::NumberOf, item, "lower", of));
        window.upper = BERTH_TRY(Need(&MemoriesReader::NumberOf, item, "upper", of));
        gap.window = window;
      }
      buffer.gaps.push_back(gap);
    }
    return {};
  }

  Result<std::size_t> MemoryCalled(const JsonNode& node, const std::string& what) const {
    const std::string name = BERTH_TRY(TextOf(node, what));
    const auto found = by_name_.find(name);
    if (found != by_name_.end()) return found->second;
    return source_.FailAt(node.position, what + ": there is no memory " + Quoted(name),
                          ErrorCode::kInvalidProblem);
  }

  Result<Placing> ReadPlacing(const JsonNode& node, const std::string& what) {
    Placing placing;
    const auto named = [&what](const char* key) { return what + ": \"" + key + "\""; };
    for (const auto& [key, value] : std::initializer_list<std::pair<const char*, std::int64_t*>>{
             {"bytes_read", &placing.bytes_read},
             {"bytes_written", &placing.bytes_written},
             {"accesses", &placing.accesses}}) {
      const JsonNode* const given = Given(node, key);
      if (given == nullptr) continue;
      *value = BERTH_TRY(NumberOf(*given, named(key)));
      file_.has_costs = true;
    }
    if (const auto* const cost = Given(node, "cost_left_out")) {
      placing.cost_left_out = BERTH_TRY(NumberOf(*cost, named("cost_left_out")));
      file_.has_costs = true;
    }
    if (const auto* const memories = Given(node, "memories")) {
      BERTH_TRY(IsList(*memories, named("memories")));
      BERTH_TRY(HasAtMost(*memories, kMostPlaces, named("memories")));
      if (memories->items.empty()) {
        return source_.FailAt(memories->position,
                              named("memories") + " is empty; leave it out to allow all");
      }
      for (const JsonNode& item : memories->items) {
        placing.candidates.push_back(
            BERTH_TRY(ReadCandidate(item, what + ": one of its memories", placing)));
      }
    }
    if (const auto* const previous = Given(node, "previous")) {
      const std::string of = named("previous");
      BERTH_TRY(CheckKeys(*previous, of, {"memory", "offset", "move_cost"}));
      Previous place;
      place.memory = BERTH_TRY(Need(&MemoriesReader::MemoryCalled, *previous, "memory", of));
      place.offset = BERTH_TRY(Need(&MemoriesReader::NumberOf, *previous, "offset", of));
      if (const auto* const cost = Given(*previous, "move_cost")) {
        place.move_cost = BERTH_TRY(NumberOf(*cost, of + ": \"move_cost\""));
      }
      placing.previous = place;
    }
    return placing;
  }

  // A name, or an object. What has no cost costs what the uses do.
  Result<Candidate> ReadCandidate(const JsonNode& node, const std::string& what,
                                  const Placing& placing) {
    Candidate candidate;
    std::optional<std::int64_t> cost;
    if (node.is(Kind::kObject)) {
      BERTH_TRY(CheckKeys(node, what, {"memory", "cost", "offset"}));
      candidate.memory = BERTH_TRY(Need(&MemoriesReader::MemoryCalled, node, "memory", what));
      if (const auto* const offset = Given(node, "offset")) {
        candidate.offset = BERTH_TRY(NumberOf(*offset, what + ": \"offset\""));
      }
      if (const auto* const given = Given(node, "cost")) {
        cost = BERTH_TRY(NumberOf(*given, what + ": \"cost\""));
        file_.has_costs = true;
      }
    } else {
      candidate.memory = BERTH_TRY(MemoryCalled(node, what));
    }
    if (!cost) {
      Placing uses = placing;
      uses.candidates.clear();
      cost = CostOfUses(uses, file_.problem.memories[candidate.memory]);
    }
    if (!cost) {
      return source_.FailAt(node.position, what + ": the cost of its uses is more than 2^60",
                            ErrorCode::kInvalidProblem);
    }
    candidate.cost = *cost;
    return candidate;
  }

  Result<std::size_t> BufferCalled(const JsonNode& node, const std::string& what) const {
    const std::string id = BERTH_TRY(TextOf(node, what));
    const auto found = buffers_.find(id);
    if (found != buffers_.end()) return found->second;
    return source_.FailAt(node.position, what + ": there is no buffer " + Quoted(id),
                          ErrorCode::kInvalidProblem);
  }

  Result<void> ReadTogether(const JsonNode& root) {
    const auto* const groups = Given(root, "together");
    if (groups == nullptr) return {};
    BERTH_TRY(IsList(*groups, "\"together\""));
    for (const JsonNode& group : groups->items) {
      const std::string what = "a group of \"together\"";
      BERTH_TRY(IsList(group, what));
      std::vector<berth::Member>& members = file_.problem.together.emplace_back();
      for (const JsonNode& node : group.items) {
        berth::Member member;
        if (node.is(Kind::kObject)) {
          BERTH_TRY(CheckKeys(node, what, {"buffer", "distance"}));
          member.buffer = BERTH_TRY(Need(&MemoriesReader::BufferCalled, node, "buffer", what));
          if (const auto* const distance = Given(node, "distance")) {
            member.distance = BERTH_TRY(IntegerOf(*distance, what + ": \"distance\""));
            if (member.distance < -kMaxBytes || member.distance > kMaxBytes) {
              return Wrong(*distance, what + ": \"distance\"", "from -2^60 to 2^60");
            }
          }
        } else {
          member.buffer = BERTH_TRY(BufferCalled(node, what));
        }
        members.push_back(member);
      }
    }
    return {};
  }

  Result<void> ReadApart(const JsonNode& root) {
    const auto* const list = Given(root, "apart");
    if (list == nullptr) return {};
    BERTH_TRY(IsList(*list, "\"apart\""));
    for (const JsonNode& node : list->items) {
      const std::string what = "a pair of \"apart\"";
      BERTH_TRY(CheckKeys(node, what, {"first", "second", "different_memories"}));
      Apart apart;
      apart.first = BERTH_TRY(Need(&MemoriesReader::BufferCalled, node, "first", what));
      apart.second = BERTH_TRY(Need(&MemoriesReader::BufferCalled, node, "second", what));
      if (const auto* const different = Given(node, "different_memories")) {
        if (!different->is(Kind::kBool)) {
          return Wrong(*different, what + ": \"different_memories\"", "true or false");
        }
        apart.different_memories = different->boolean;
      }
      file_.problem.apart.push_back(apart);
    }
    return {};
  }

  Result<void> CheckAll() const {
    const auto valid = Validate(file_.problem);
    if (valid) return {};
    const Error& error = valid.error();
    const bool of_buffer = error.subject.kind == Subject::Kind::kBuffer;
    auto placed =
        source_.FailAt(of_buffer ? positions_[error.subject.index] : 0, error.message, error.code);
    if (of_buffer) placed.value().subject = error.subject;
    return placed;
  }

  const Source& source_;
  bool of_plan_ = false;
  MemoryFile file_;
  std::optional<std::int64_t> units_per_second_;
  std::unordered_map<std::string, std::size_t> by_name_;
  std::unordered_map<std::string, std::size_t> buffers_;
  std::vector<std::size_t> positions_;  // Of the buffers.
};

using Json = nlohmann::ordered_json;

Json BufferJson(const MemoryProblem& problem, std::size_t b) {
  const Buffer& buffer = problem.table.buffers[b];
  Json json = {
      {"id", buffer.id}, {"start", buffer.start}, {"end", buffer.end}, {"size", buffer.size}};
  if (buffer.alignment != 1) json["alignment"] = buffer.alignment;
  if (buffer.hint) json["hint"] = *buffer.hint;
  for (const Gap& gap : buffer.gaps) {
    Json each = {{"start", gap.start}, {"end", gap.end}};
    if (gap.window) {
      each["lower"] = gap.window->lower;
      each["upper"] = gap.window->upper;
    }
    json["gaps"].push_back(std::move(each));
  }
  if (buffer.offset) json["offset"] = *buffer.offset;
  if (problem.placing.empty()) return json;
  const Placing& placing = problem.placing[b];
  for (const Candidate& candidate : placing.candidates) {
    Json each = {{"memory", problem.memories[candidate.memory].name}, {"cost", candidate.cost}};
    if (candidate.offset) each["offset"] = *candidate.offset;
    json["memories"].push_back(std::move(each));
  }
  if (placing.bytes_read != 0) json["bytes_read"] = placing.bytes_read;
  if (placing.bytes_written != 0) json["bytes_written"] = placing.bytes_written;
  if (placing.accesses != 0) json["accesses"] = placing.accesses;
  if (placing.cost_left_out) json["cost_left_out"] = *placing.cost_left_out;
  if (placing.previous) {
    json["previous"] = {{"memory", problem.memories[placing.previous->memory].name},
                        {"offset", placing.previous->offset},
                        {"move_cost", placing.previous->move_cost}};
  }
  return json;
}

// A list, an item a line.
void AddList(const char* key, const std::vector<Json>& items, std::string& out) {
  out += std::string(",\n  \"") + key + "\": [";
  const char* separator = "\n    ";
  for (const Json& item : items) {
    out += separator + Line(item);
    separator = ",\n    ";
  }
  out += items.empty() ? "]" : "\n  ]";
}

}  // namespace
}  // namespace internal

std::optional<std::int64_t> UnitsPerSecond(std::string_view cost_unit) {
  for (const internal::TimeUnit& unit : internal::kTimeUnits) {
    if (unit.name == cost_unit) return unit.per_second;
  }
  return std::nullopt;
}

Result<Memory> ParseMemory(std::string_view text) {
  using internal::Bad;
  using internal::Quoted;
  Memory memory;
  const std::size_t mark = std::min(text.find_first_of("=@"), text.size());
  memory.name = text.substr(0, mark);
  if (memory.name.empty()) {
    return Bad(Quoted(text) + " has no name; a memory is NAME, NAME=CAPACITY, NAME@BANDWIDTH or " +
               "NAME=CAPACITY@BANDWIDTH, such as sram=512KiB@8GB/s");
  }
  if (!internal::IsUtf8(memory.name)) {
    return Bad("the name of the memory " + Quoted(text) + " is not in UTF-8");
  }
  std::string_view rest = text.substr(mark);
  const std::size_t at = std::min(rest.find('@'), rest.size());
  if (rest.starts_with('=')) {
    const std::string_view capacity = rest.substr(1, at - 1);
    memory.capacity = ParseBytes(capacity);
    if (!memory.capacity) {
      return Bad("the capacity " + Quoted(capacity) + " of " + Quoted(text) +
                 " is not a size such as 524288, 512KiB or 2MiB");
    }
  }
  if (at < rest.size()) {
    BERTH_TRY(internal::ParseBandwidths(rest.substr(at + 1), text, memory));
  }
  return memory;
}

Result<MemoryFile> ReadMemoriesJson(std::string_view text, std::string_view name) {
  const internal::Source source(text, name);
  return internal::MemoriesReader(source).Read();
}

std::string WriteMemoriesJson(const MemoryProblem& problem, std::string_view cost_unit) {
  using internal::Json;
  std::string out = "{\n  \"format\": " + internal::Line(std::string(internal::kFormat)) +
                    ",\n  \"format_version\": " + std::to_string(internal::kFormatVersion) +
                    ",\n  \"cost_unit\": " + internal::Line(std::string(cost_unit));
  std::vector<Json> items;
  for (const Memory& memory : problem.memories) items.push_back(internal::MemoryJson(memory));
  internal::AddList("memories", items, out);
  items.clear();
  for (std::size_t b = 0; b < problem.table.buffers.size(); ++b) {
    items.push_back(internal::BufferJson(problem, b));
  }
  internal::AddList("buffers", items, out);
  items.clear();
  const auto& buffers = problem.table.buffers;
  for (const std::vector<Member>& group : problem.together) {
    Json members = Json::array();
    for (const Member& member : group) {
      members.push_back({{"buffer", buffers[member.buffer].id}, {"distance", member.distance}});
    }
    items.push_back(std::move(members));
  }
  if (!items.empty()) internal::AddList("together", items, out);
  items.clear();
  for (const Apart& apart : problem.apart) {
    Json pair = {{"first", buffers[apart.first].id}, {"second", buffers[apart.second].id}};
    if (apart.different_memories) pair["different_memories"] = true;
    items.push_back(std::move(pair));
  }
  if (!items.empty()) internal::AddList("apart", items, out);
  return out + "\n}\n";
}

void AssumeUses(MemoryProblem& problem) {
  problem.placing.resize(problem.table.buffers.size());
  for (std::size_t b = 0; b < problem.placing.size(); ++b) {
    Placing& placing = problem.placing[b];
    placing.bytes_read = problem.table.buffers[b].size;
    placing.bytes_written = problem.table.buffers[b].size;
    Placing uses = placing;
    uses.candidates.clear();
    for (Candidate& candidate : placing.candidates) {
      const Memory& memory = problem.memories[candidate.memory];
      candidate.cost = CostOfUses(uses, memory).value_or(kMaxCost);
    }
  }
}

std::string FormatCost(std::int64_t cost, std::string_view cost_unit) {
  using internal::Wide;
  std::string exactly =
      internal::Grouped(cost) + (cost_unit.empty() ? "" : " " + std::string(cost_unit));
  const auto per_second = UnitsPerSecond(cost_unit);
  if (!per_second || cost < 1000) return exactly;
  // The largest unit of which there is at least one, with three significant digits.
  for (std::size_t u = std::size(internal::kTimeUnits); u-- > 0;) {
    const internal::TimeUnit& unit = internal::kTimeUnits[u];
    if (unit.per_second > *per_second) continue;
    const std::int64_t in_unit = *per_second / unit.per_second;
    if (cost / in_unit < 1) continue;
    std::int64_t scale = 1;
    while (scale < 100 && cost / in_unit * scale < 100) scale *= 10;
    const Wide rounded = (Wide(cost) * scale * 2 + in_unit) / (Wide(in_unit) * 2);
    const auto digits = static_cast<std::int64_t>(rounded);
    std::string text = internal::Grouped(digits / scale);
    if (scale > 1) {
      text += "." + std::to_string(scale + digits % scale).substr(1);
    }
    return text + " " + std::string(unit.name);
  }
  return exactly;
}

std::string FormatCostExactly(std::int64_t cost, std::string_view cost_unit) {
  const std::string exactly =
      internal::Grouped(cost) + (cost_unit.empty() ? "" : " " + std::string(cost_unit));
  const std::string text = FormatCost(cost, cost_unit);
  return text == exactly ? text : text + " (" + exactly + ")";
}

}  // namespace berth
