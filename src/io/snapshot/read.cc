// A snapshot as plain structs, from the operations of its pickle.
//
// The machine of pickle has a stack of values and a memo, from which earlier values are fetched
// again. A snapshot of ten million events would be some hundred million Python objects, so none is
// kept longer than it takes to understand it:
//   * a value is 8 bytes: a small number, or the index of a text or of a container;
//   * a dict is a list of pairs until a key tells what it is: an event ("action"), a segment, a
//     block or a frame. From then on it is a row of a table, and further pairs set its fields;
//   * a list of frames becomes the number of a stack, equal ones the same number, when it becomes
//     part of an event or a block;
//   * nothing is nested in memory, so nothing recurses.
// A value takes at least one byte of the file, so memory is linear in the file, whatever the file
// claims. The memo's index is checked against the bytes read so far: each entry took two of them.

#include <algorithm>
#include <array>
#include <deque>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "base/text.h"
#include "base/try.h"
#include "berth/snapshot.h"
#include "io/snapshot/pickle.h"

namespace berth {
namespace internal::snapshot {
namespace {

// The keys that mean something here, of any dict.
enum class Key : unsigned char {
  kOther,
  kAction,
  kAddr,
  kAddress,
  kSize,
  kStream,
  kFrames,
  kPoolId,
  kSegmentPoolId,
  kTotalSize,
  kDevice,
  kIsExpandable,
  kBlocks,
  kState,
  kRequestedSize,
  kName,
  kFilename,
  kLine,
  kSegments,
  kDeviceTraces,
};
struct KeyName {
  const char* name;
  Key key;
};
constexpr KeyName kKeyNames[] = {
    {"action", Key::kAction},
    {"addr", Key::kAddr},
    {"address", Key::kAddress},
    {"size", Key::kSize},
    {"stream", Key::kStream},
    {"frames", Key::kFrames},
    {"pool_id", Key::kPoolId},
    {"segment_pool_id", Key::kSegmentPoolId},
    {"total_size", Key::kTotalSize},
    {"device", Key::kDevice},
    {"is_expandable", Key::kIsExpandable},
    {"blocks", Key::kBlocks},
    {"state", Key::kState},
    {"requested_size", Key::kRequestedSize},
    {"name", Key::kName},
    {"filename", Key::kFilename},
    {"line", Key::kLine},
    {"segments", Key::kSegments},
    {"device_traces", Key::kDeviceTraces},
};

struct ActionName {
  std::string_view name;
  SnapshotAction action;
};
constexpr ActionName kActionNames[] = {
    {"alloc", SnapshotAction::kAlloc},
    {"free_requested", SnapshotAction::kFreeRequested},
    {"free_completed", SnapshotAction::kFreeCompleted},
    {"segment_alloc", SnapshotAction::kSegmentAlloc},
    {"segment_free", SnapshotAction::kSegmentFree},
    {"segment_map", SnapshotAction::kSegmentMap},
    {"segment_unmap", SnapshotAction::kSegmentUnmap},
    {"oom", SnapshotAction::kOutOfMemory},
};

// What a value is.
enum class Tag : unsigned char {
  kOther,  // None, truth values, real numbers, tuples but those of two numbers.
  kTrue,
  kHuge,     // A whole number that no field of a snapshot can be.
  kNumber,   // The number itself.
  kText,     // Index into `texts_`.
  kPair,     // Of two numbers: index into the snapshot's pool ids.
  kObject,   // Index into `objects_`, whose values have the tags below.
  kDict,     // Index into `dicts_`: not understood yet.
  kList,     // Index into `lists_`.
  kStack,    // A list that has become a stack.
  kFrame,    // Index into the snapshot's frames,
  kEvent,    // events,
  kBlock,    // blocks
  kSegment,  // and segments.
};

class Value {
 public:
  Value() = default;
  Value(Tag tag, std::int64_t payload)
      : bits_(static_cast<std::uint64_t>(payload) << 4u | static_cast<std::uint64_t>(tag)) {}
  static Value Of(Tag tag, std::size_t index) { return {tag, static_cast<std::int64_t>(index)}; }
  [[nodiscard]] Tag tag() const { return static_cast<Tag>(bits_ & 15u); }
  [[nodiscard]] std::int64_t number() const { return static_cast<std::int64_t>(bits_) >> 4; }
  [[nodiscard]] std::size_t index() const { return static_cast<std::size_t>(bits_ >> 4u); }

 private:
  std::uint64_t bits_ = 0;
};
constexpr std::int64_t kMostNumber = (std::int64_t{1} << 59) - 1;

struct Pair {
  Key key;
  Value value;
};
// Texts of frames are cut, as they are looked through for each stack. What those of all frames may have
// for each byte of the file, and in any file.
constexpr std::size_t kLongestText = 1000;
constexpr std::size_t kTextForByte = 32;
constexpr std::size_t kTextOfAny = std::size_t{1} << 20;
// The index of a container without contents.
constexpr std::size_t kNothingYet = 0;

struct FrameKey {
  std::size_t function;
  std::size_t file;
  std::int64_t line;
  friend bool operator==(const FrameKey&, const FrameKey&) = default;
};
std::uint64_t Mix(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 29u;
}
struct FrameHash {
  std::size_t operator()(const FrameKey& frame) const {
    return static_cast<std::size_t>(
        Mix(Mix(Mix(0, frame.function), frame.file), static_cast<std::uint64_t>(frame.line)));
  }
};
struct PairHash {
  std::size_t operator()(const SnapshotPoolId& id) const {
    return static_cast<std::size_t>(
        Mix(Mix(0, static_cast<std::uint64_t>(id.first)), static_cast<std::uint64_t>(id.second)));
  }
};

// The fields of an event that its dict has given.
enum EventField : unsigned char { kHasAddress = 1, kHasSize = 2 };

class Reader {
 public:
  explicit Reader(std::string_view bytes) : pickle_(bytes) {
    snapshot_.stack_ends.push_back(0);
    snapshot_.pool_ids.emplace_back(0, 0);
    pool_ids_.emplace(SnapshotPoolId{0, 0}, 0);
  }
  [[nodiscard]] Result<MemorySnapshot> Read();

 private:
  // The machine.
  [[nodiscard]] Result<void> Execute(const Operation& operation);
  [[nodiscard]] Result<void> Put(std::uint64_t index);
  [[nodiscard]] Result<void> Get(std::uint64_t index);
  [[nodiscard]] Result<std::size_t> PopMark();
  [[nodiscard]] Result<void> Need(std::size_t values) const;
  [[nodiscard]] Result<void> MakeTuple(std::size_t size);
  void Push(const Operation& operation);
  void PushLong(std::string_view bytes);
  void PushText(std::string_view text);
  void PushContainer(Tag tag);
  template <typename Contents>
  [[nodiscard]] std::size_t RoomFor(std::size_t object, std::vector<Contents>& rooms,
                                    std::vector<std::size_t>& unused);
  [[nodiscard]] Result<void> Append(std::size_t from);
  [[nodiscard]] Result<void> SetItems(std::size_t from);

  // What the dicts mean.
  [[nodiscard]] Result<void> Set(std::size_t object, const Pair& pair);
  [[nodiscard]] Result<void> Understand(std::size_t object);
  [[nodiscard]] Result<bool> UnderstandFrame(std::size_t object, const std::vector<Pair>& pairs);
  [[nodiscard]] Result<void> SetInEvent(std::size_t index, Key key, Value value);
  [[nodiscard]] Result<void> SetInSegment(std::size_t index, Key key, Value value);
  [[nodiscard]] Result<void> SetInBlock(std::size_t index, Key key, Value value);
  [[nodiscard]] Result<std::int64_t> NumberOf(Value value, const char* what, const char* key) const;
  [[nodiscard]] Result<Bytes> SizeOf(Value value, const char* what, const char* key) const;
  [[nodiscard]] Result<std::uint32_t> PoolOf(Value value, const char* what) const;
  [[nodiscard]] Result<std::uint32_t> StackOf(Value value, const char* what);
  [[nodiscard]] std::uint32_t Intern(const std::vector<std::uint32_t>& frames);

  [[nodiscard]] Value Resolved(Value value) const {
    return value.tag() == Tag::kObject ? objects_[value.index()] : value;
  }
  [[nodiscard]] std::string Described(Value value) const;
  [[nodiscard]] Result<MemorySnapshot> Finish();
  [[nodiscard]] Result<void> TakeTraces(Value traces);
  [[nodiscard]] Result<void> TakeSegments(Value segments);
  [[nodiscard]] const std::vector<Value>* ListOf(Value value) const;
  [[nodiscard]] std::string FaultOf(std::size_t index);

  Pickle pickle_;
  std::size_t at_ = 0;  // Of the current operation.
  std::vector<Value> stack_;
  std::vector<std::size_t> marks_;  // Heights of the stack.
  std::deque<Value> memo_;
  std::deque<Value> objects_;
  std::vector<std::string_view> texts_;
  std::vector<Key> keys_;  // Of the texts.
  std::unordered_map<std::string_view, std::size_t> text_index_;
  std::vector<std::vector<Pair>> dicts_ = {{}};  // The first of each stays empty.
  std::vector<std::vector<Value>> lists_ = {{}};
  std::vector<std::size_t> unused_dicts_;
  std::vector<std::size_t> unused_lists_;

  MemorySnapshot snapshot_;
  std::deque<unsigned char> event_fields_;
  std::vector<SnapshotBlock> blocks_;
  std::vector<Value> segment_blocks_;  // Of each segment: its list.
  std::vector<FrameKey> frames_;
  std::unordered_map<FrameKey, std::uint32_t, FrameHash> frame_index_;
  std::unordered_multimap<std::uint64_t, std::uint32_t> stack_index_;
  std::unordered_map<SnapshotPoolId, std::uint32_t, PairHash> pool_ids_;
  // Working memory.
  std::vector<std::uint32_t> scratch_;
  std::vector<Pair> pairs_;
  Bytes total_ = 0;  // Of the sizes of all events.
};

Result<void> Reader::Need(std::size_t values) const {
  const std::size_t floor = marks_.empty() ? 0 : marks_.back();
  if (stack_.size() - floor >= values) return {};
  return FailAt(at_, "the operation needs " + std::to_string(values) +
                         " values, but the stack has " + std::to_string(stack_.size() - floor));
}

Result<std::size_t> Reader::PopMark() {
  if (marks_.empty()) return FailAt(at_, "the operation needs a MARK, but there is none");
  const std::size_t mark = marks_.back();
  marks_.pop_back();
  return mark;
}

Result<void> Reader::Put(std::uint64_t index) {
  BERTH_TRY(Need(1));
  // Each earlier entry took two bytes at least, so only a hostile file needs more room.
  if (index > at_) {
    return FailAt(at_, "entry " + std::to_string(index) + " of the memo cannot exist this early");
  }
  const auto position = static_cast<std::size_t>(index);
  if (position >= memo_.size()) memo_.resize(position + 1);
  memo_[position] = stack_.back();
  return {};
}

Result<void> Reader::Get(std::uint64_t index) {
  if (index >= memo_.size()) {
    return FailAt(at_, "the memo has no entry " + std::to_string(index) + " yet, only " +
                           std::to_string(memo_.size()));
  }
  stack_.push_back(memo_[static_cast<std::size_t>(index)]);
  return {};
}

void Reader::PushLong(std::string_view bytes) {
  // In two's complement, the least significant byte first; the sign fills the rest.
  while (bytes.size() > 1) {
    const auto last = static_cast<unsigned char>(bytes.back());
    const auto next = static_cast<unsigned char>(bytes[bytes.size() - 2]);
    if (!((last == 0 && next < 0x80) || (last == 0xff && next >= 0x80))) break;
    bytes.remove_suffix(1);
  }
  if (bytes.size() > 8) {
    stack_.emplace_back(Tag::kHuge, 0);
    return;
  }
  std::uint64_t number = 0;
  if (!bytes.empty() && static_cast<unsigned char>(bytes.back()) >= 0x80) number = ~number;
  for (std::size_t i = bytes.size(); i-- > 0;) {
    number = number << 8u | static_cast<unsigned char>(bytes[i]);
  }
  const auto value = static_cast<std::int64_t>(number);
  const bool huge = value > kMostNumber || value < -kMostNumber;
  stack_.emplace_back(huge ? Tag::kHuge : Tag::kNumber, huge ? 0 : value);
}

void Reader::PushText(std::string_view text) {
  const auto [found, added] = text_index_.emplace(text, texts_.size());
  if (added) {
    texts_.push_back(text);
    const auto* const known = std::find_if(std::begin(kKeyNames), std::end(kKeyNames),
                                           [&](const KeyName& key) { return text == key.name; });
    keys_.push_back(known == std::end(kKeyNames) ? Key::kOther : known->key);
  }
  stack_.push_back(Value::Of(Tag::kText, found->second));
}

void Reader::PushContainer(Tag tag) {
  stack_.push_back(Value::Of(Tag::kObject, objects_.size()));
  objects_.push_back(Value::Of(tag, kNothingYet));
}

// Room for what is put into a container first; most that are empty stay so.
template <typename Contents>
std::size_t Reader::RoomFor(std::size_t object, std::vector<Contents>& rooms,
                            std::vector<std::size_t>& unused) {
  const Value container = objects_[object];
  if (container.index() != kNothingYet) return container.index();
  std::size_t index = rooms.size();
  if (unused.empty()) {
    rooms.emplace_back();
  } else {
    index = unused.back();
    unused.pop_back();
  }
  objects_[object] = Value::Of(container.tag(), index);
  return index;
}

Result<void> Reader::MakeTuple(std::size_t size) {
  BERTH_TRY(Need(size));
  Value tuple;
  const std::size_t from = stack_.size() - size;
  if (size == 2 && stack_[from].tag() == Tag::kNumber && stack_[from + 1].tag() == Tag::kNumber) {
    const SnapshotPoolId id{stack_[from].number(), stack_[from + 1].number()};
    const auto [found, added] =
        pool_ids_.emplace(id, static_cast<std::uint32_t>(snapshot_.pool_ids.size()));
    if (added) snapshot_.pool_ids.push_back(id);
    tuple = Value::Of(Tag::kPair, found->second);
  }
  stack_.resize(from);
  stack_.push_back(tuple);
  return {};
}

Result<void> Reader::Append(std::size_t from) {
  if (from == 0) return FailAt(at_, "there is no list to append to");
  const Value list = Resolved(stack_[from - 1]);
  if (list.tag() != Tag::kList) {
    return FailAt(at_, "values are appended to " + Described(stack_[from - 1]) +
                           (list.tag() == Tag::kStack ? ", which is in use" : ""));
  }
  auto& values = lists_[RoomFor(stack_[from - 1].index(), lists_, unused_lists_)];
  values.insert(values.end(), stack_.begin() + static_cast<std::ptrdiff_t>(from), stack_.end());
  stack_.resize(from);
  return {};
}

Result<void> Reader::SetItems(std::size_t from) {
  if (from == 0 || (stack_.size() - from) % 2 != 0) {
    return FailAt(at_, from == 0 ? "there is no dict to put values into"
                                 : "a dict is given a key without a value");
  }
  const Value dict = stack_[from - 1];
  const Value is = Resolved(dict);
  if (dict.tag() != Tag::kObject || is.tag() == Tag::kList || is.tag() == Tag::kStack) {
    return FailAt(at_, "keys are put into " + Described(dict) + ", not into a dict");
  }
  for (std::size_t i = from; i < stack_.size(); i += 2) {
    // Only texts are keys of anything here; the allocator's settings may have others.
    if (stack_[i].tag() != Tag::kText) continue;
    const Pair pair{keys_[stack_[i].index()], stack_[i + 1]};
    if (pair.key == Key::kOther) continue;
    if (is.tag() != Tag::kDict) {
      BERTH_TRY(Set(dict.index(), pair));
      continue;
    }
    // One entry for each key, so a dict is never long, however often it is given the same key.
    auto& pairs = dicts_[RoomFor(dict.index(), dicts_, unused_dicts_)];
    const auto known = std::find_if(pairs.begin(), pairs.end(),
                                    [&](const Pair& other) { return other.key == pair.key; });
    if (known == pairs.end()) {
      pairs.push_back(pair);
    } else {
      known->value = pair.value;
    }
  }
  stack_.resize(from);
  return is.tag() == Tag::kDict ? Understand(dict.index()) : Result<void>{};
}

// Looks for the key that tells what a dict is.
Result<void> Reader::Understand(std::size_t object) {
  const std::size_t dict = objects_[object].index();
  if (dict == kNothingYet) return {};
  Value row;
  bool line = false;
  for (const Pair& pair : dicts_[dict]) {
    switch (pair.key) {
      case Key::kAction:
        row = Value::Of(Tag::kEvent, snapshot_.events.size());
        break;
      case Key::kTotalSize:
        row = Value::Of(Tag::kSegment, snapshot_.segments.size());
        break;
      case Key::kState:
        row = Value::Of(Tag::kBlock, blocks_.size());
        break;
      case Key::kFilename:
        line = true;
        break;
      default:
        break;
    }
  }
  // Its room is used again: a dict for each event would be most of the work.
  pairs_.swap(dicts_[dict]);
  bool understood = false;
  if (row.tag() == Tag::kEvent) {
    snapshot_.events.emplace_back();
    event_fields_.push_back(0);
  } else if (row.tag() == Tag::kSegment) {
    snapshot_.segments.emplace_back();
    segment_blocks_.emplace_back();
  } else if (row.tag() == Tag::kBlock) {
    blocks_.emplace_back();
  } else {
    understood = line && BERTH_TRY(UnderstandFrame(object, pairs_));
    if (!understood) {
      pairs_.swap(dicts_[dict]);
      return {};
    }
  }
  if (!understood) {
    objects_[object] = row;
    for (const Pair& pair : pairs_) BERTH_TRY(Set(object, pair));
  }
  pairs_.clear();
  pairs_.swap(dicts_[dict]);
  unused_dicts_.push_back(dict);
  return {};
}

Result<bool> Reader::UnderstandFrame(std::size_t object, const std::vector<Pair>& pairs) {
  std::array<std::optional<Value>, 3> parts;
  for (const Pair& pair : pairs) {
    const Key key = pair.key;
    if (key == Key::kName) parts[0] = pair.value;
    if (key == Key::kFilename) parts[1] = pair.value;
    if (key == Key::kLine) parts[2] = pair.value;
  }
  if (!parts[0] || !parts[1] || !parts[2]) return false;
  for (const std::size_t part : {std::size_t{0}, std::size_t{1}}) {
    if (parts[part]->tag() == Tag::kText) continue;
    return FailAt(at_, std::string("the \"") + (part == 0 ? "name" : "filename") +
                           "\" of a frame is " + Described(*parts[part]) + ", not text");
  }
  const FrameKey frame{parts[0]->index(), parts[1]->index(),
                       BERTH_TRY(NumberOf(*parts[2], "a frame", "line"))};
  const auto [found, added] =
      frame_index_.emplace(frame, static_cast<std::uint32_t>(frames_.size()));
  if (added) frames_.push_back(frame);
  objects_[object] = Value::Of(Tag::kFrame, found->second);
  return true;
}

Result<void> Reader::Set(std::size_t object, const Pair& pair) {
  const Value row = objects_[object];
  const Key key = pair.key;
  switch (row.tag()) {
    case Tag::kEvent:
      return SetInEvent(row.index(), key, pair.value);
    case Tag::kSegment:
      return SetInSegment(row.index(), key, pair.value);
    case Tag::kBlock:
      return SetInBlock(row.index(), key, pair.value);
    default:
      return FailAt(at_, "a frame changes after it was made");
  }
}

Result<void> Reader::SetInEvent(std::size_t index, Key key, Value value) {
  constexpr const char* kWhat = "an event";
  SnapshotEvent& event = snapshot_.events[index];
  switch (key) {
    case Key::kAction: {
      if (value.tag() != Tag::kText) {
        return FailAt(at_, "the \"action\" of an event is " + Described(value) + ", not text");
      }
      const std::string_view text = texts_[value.index()];
      const auto* const known =
          std::find_if(std::begin(kActionNames), std::end(kActionNames),
                       [&](const ActionName& action) { return action.name == text; });
      event.action = known == std::end(kActionNames) ? SnapshotAction::kOther : known->action;
      return {};
    }
    case Key::kAddr:
      event.address = static_cast<std::uint64_t>(BERTH_TRY(SizeOf(value, kWhat, "addr")));
      event_fields_[index] |= kHasAddress;
      return {};
    case Key::kSize:
      event.size = BERTH_TRY(SizeOf(value, kWhat, "size"));
      event_fields_[index] |= kHasSize;
      return {};
    case Key::kStream:
      event.stream = BERTH_TRY(NumberOf(value, kWhat, "stream"));
      return {};
    case Key::kPoolId:
      event.pool = BERTH_TRY(PoolOf(value, kWhat));
      snapshot_.pools_of_events = true;
      return {};
    case Key::kFrames:
      event.stack = BERTH_TRY(StackOf(value, kWhat));
      return {};
    default:
      return {};
  }
}

Result<void> Reader::SetInSegment(std::size_t index, Key key, Value value) {
  constexpr const char* kWhat = "a segment";
  SnapshotSegment& segment = snapshot_.segments[index];
  switch (key) {
    case Key::kAddress:
      segment.address = static_cast<std::uint64_t>(BERTH_TRY(SizeOf(value, kWhat, "address")));
      return {};
    case Key::kTotalSize:
      segment.size = BERTH_TRY(SizeOf(value, kWhat, "total_size"));
      return {};
    case Key::kDevice:
      segment.device = BERTH_TRY(SizeOf(value, kWhat, "device"));
      return {};
    case Key::kStream:
      segment.stream = BERTH_TRY(NumberOf(value, kWhat, "stream"));
      return {};
    case Key::kSegmentPoolId:
      segment.pool = BERTH_TRY(PoolOf(value, kWhat));
      return {};
    case Key::kIsExpandable:
      segment.expandable = value.tag() == Tag::kTrue;
      return {};
    case Key::kBlocks:
      segment_blocks_[index] = value;
      return {};
    default:
      return {};
  }
}

Result<void> Reader::SetInBlock(std::size_t index, Key key, Value value) {
  constexpr const char* kWhat = "a block";
  SnapshotBlock& block = blocks_[index];
  switch (key) {
    case Key::kAddress:
      block.address = static_cast<std::uint64_t>(BERTH_TRY(SizeOf(value, kWhat, "address")));
      return {};
    case Key::kSize:
      block.size = BERTH_TRY(SizeOf(value, kWhat, "size"));
      return {};
    case Key::kRequestedSize:
      block.requested = BERTH_TRY(SizeOf(value, kWhat, "requested_size"));
      return {};
    case Key::kState:
      if (value.tag() != Tag::kText) {
        return FailAt(at_, "the \"state\" of a block is " + Described(value) + ", not text");
      }
      block.active = texts_[value.index()].starts_with("active");
      return {};
    case Key::kFrames:
      block.stack = BERTH_TRY(StackOf(value, kWhat));
      return {};
    default:
      return {};
  }
}

Result<std::int64_t> Reader::NumberOf(Value value, const char* what, const char* key) const {
  if (value.tag() == Tag::kNumber) return value.number();
  return FailAt(at_, std::string("the \"") + key + "\" of " + what + " is " + Described(value) +
                         ", not a number");
}

Result<Bytes> Reader::SizeOf(Value value, const char* what, const char* key) const {
  const std::int64_t number = BERTH_TRY(NumberOf(value, what, key));
  if (number >= 0) return number;
  return FailAt(at_, std::string("the \"") + key + "\" of " + what +
                         " is negative: " + std::to_string(number));
}

Result<std::uint32_t> Reader::PoolOf(Value value, const char* what) const {
  if (value.tag() == Tag::kPair) return static_cast<std::uint32_t>(value.index());
  return FailAt(at_, std::string("the id of the pool of ") + what + " is " + Described(value) +
                         ", not a tuple of two numbers");
}

// The number of the stack that a list of frames is, which is kept in its place.
Result<std::uint32_t> Reader::StackOf(Value value, const char* what) {
  const Value list = Resolved(value);
  if (list.tag() == Tag::kStack) return static_cast<std::uint32_t>(list.index());
  if (list.tag() == Tag::kOther) return kNoStack;  // None.
  if (list.tag() != Tag::kList) {
    return FailAt(at_, std::string("the \"frames\" of ") + what + " are " + Described(value) +
                           ", not a list");
  }
  scratch_.clear();
  if (list.index() == kNothingYet) return kNoStack;
  auto& values = lists_[list.index()];
  for (const Value element : values) {
    const Value frame = Resolved(element);
    if (frame.tag() != Tag::kFrame) {
      return FailAt(at_, std::string("among the \"frames\" of ") + what + " is " +
                             Described(element) + ", not a frame");
    }
    scratch_.push_back(static_cast<std::uint32_t>(frame.index()));
  }
  values.clear();
  unused_lists_.push_back(list.index());
  const std::uint32_t stack = Intern(scratch_);
  objects_[value.index()] = Value::Of(Tag::kStack, stack);
  return stack;
}

std::uint32_t Reader::Intern(const std::vector<std::uint32_t>& frames) {
  if (frames.empty()) return kNoStack;
  std::uint64_t hash = frames.size();
  for (const std::uint32_t frame : frames) hash = Mix(hash, frame);
  const auto [begin, end] = stack_index_.equal_range(hash);
  for (auto it = begin; it != end; ++it) {
    const auto known = snapshot_.StackFrames(it->second);
    if (std::equal(known.begin(), known.end(), frames.begin(), frames.end())) return it->second;
  }
  const auto stack = static_cast<std::uint32_t>(snapshot_.stack_ends.size());
  snapshot_.stack_frames.insert(snapshot_.stack_frames.end(), frames.begin(), frames.end());
  snapshot_.stack_ends.push_back(snapshot_.stack_frames.size());
  stack_index_.emplace(hash, stack);
  return stack;
}

std::string Reader::Described(Value value) const {
  switch (Resolved(value).tag()) {
    case Tag::kOther:
      return "None, a real number or a tuple";
    case Tag::kTrue:
      return "True";
    case Tag::kHuge:
      return "a number beyond 2^59";
    case Tag::kNumber:
      return std::to_string(value.number());
    case Tag::kText:
      return Quoted(texts_[value.index()]);
    case Tag::kPair: {
      const SnapshotPoolId& id = snapshot_.pool_ids[value.index()];
      return "(" + std::to_string(id.first) + ", " + std::to_string(id.second) + ")";
    }
    case Tag::kList:
      return "a list";
    case Tag::kStack:
      return "a list of frames";
    case Tag::kFrame:
      return "a frame";
    case Tag::kEvent:
      return "an event";
    case Tag::kBlock:
      return "a block";
    case Tag::kSegment:
      return "a segment";
    case Tag::kObject:
    case Tag::kDict:
      break;
  }
  return "a dict";
}

// The operations that push one value, and those that do nothing here.
void Reader::Push(const Operation& operation) {
  using enum Opcode;
  switch (operation.code) {
    case kNone:
    case kBinFloat:
    case kEmptyTuple:
    case kNewFalse:
      stack_.emplace_back();
      return;
    case kNewTrue:
      stack_.emplace_back(Tag::kTrue, 0);
      return;
    case kBinInt:
    case kBinInt1:
    case kBinInt2:
      stack_.emplace_back(Tag::kNumber, static_cast<std::int64_t>(operation.number));
      return;
    case kLong1:
    case kLong4:
      return PushLong(operation.text);
    case kShortBinUnicode:
    case kBinUnicode:
    case kBinUnicode8:
      return PushText(operation.text);
    case kEmptyDict:
      return PushContainer(Tag::kDict);
    case kEmptyList:
      return PushContainer(Tag::kList);
    default:  // FRAME only tells how much to read ahead.
      return;
  }
}

Result<void> Reader::Execute(const Operation& operation) {
  using enum Opcode;
  switch (operation.code) {
    case kProto:
      if (operation.number <= 5) return {};
      return FailAt(at_, "protocol " + std::to_string(operation.number) +
                             " of pickle is not known; 2 to 5 are");
    case kMark:
      marks_.push_back(stack_.size());
      return {};
    case kTuple: {
      const std::size_t mark = BERTH_TRY(PopMark());
      return MakeTuple(stack_.size() - mark);
    }
    case kTuple1:
      return MakeTuple(1);
    case kTuple2:
      return MakeTuple(2);
    case kTuple3:
      return MakeTuple(3);
    case kAppend:
      BERTH_TRY(Need(2));
      return Append(stack_.size() - 1);
    case kAppends:
      return Append(BERTH_TRY(PopMark()));
    case kSetItem:
      BERTH_TRY(Need(3));
      return SetItems(stack_.size() - 2);
    case kSetItems:
      return SetItems(BERTH_TRY(PopMark()));
    case kMemoize:
      return Put(memo_.size());
    case kBinPut:
    case kLongBinPut:
      return Put(operation.number);
    case kBinGet:
    case kLongBinGet:
      return Get(operation.number);
    default:
      Push(operation);
      return {};
  }
}

Result<MemorySnapshot> Reader::Read() {
  Operation operation;
  do {
    BERTH_TRY(pickle_.Next(operation));
    at_ = operation.at;
    BERTH_TRY(Execute(operation));
  } while (operation.code != Opcode::kStop);
  if (!marks_.empty() || stack_.size() != 1) {
    return FailAt(at_, "the pickle ends with " + std::to_string(stack_.size()) +
                           " values on its stack, not one");
  }
  return Finish();
}

const std::vector<Value>* Reader::ListOf(Value value) const {
  const Value list = Resolved(value);
  return list.tag() == Tag::kList ? &lists_[list.index()] : nullptr;
}

// The events of each device in a row. In a file that Python wrote they are in a row already.
Result<void> Reader::TakeTraces(Value traces) {
  const auto* const devices = ListOf(traces);
  if (devices == nullptr) {
    return FailAt(at_, "\"device_traces\" is " + Described(traces) + ", not a list");
  }
  std::unordered_set<std::size_t> taken;
  std::size_t next = 0;
  bool in_a_row = true;
  for (std::size_t d = 0; d < devices->size(); ++d) {
    const std::string path = "device_traces[" + std::to_string(d) + "]";
    // An empty list may have been taken for the frames of an event.
    const Value device = Resolved((*devices)[d]);
    const bool none = device.tag() == Tag::kStack && device.index() == kNoStack;
    const auto* const events = ListOf((*devices)[d]);
    // Otherwise a small file would have many events.
    if (events != nullptr && !events->empty() && !taken.insert(device.index()).second) {
      return FailAt(at_, path + " is the same list as that of an earlier device");
    }
    if (events == nullptr && !none) {
      return FailAt(at_, path + " is " + Described((*devices)[d]) + ", not a list of events");
    }
    for (std::size_t i = 0; !none && i < events->size(); ++i) {
      const Value event = Resolved((*events)[i]);
      const auto fault = event.tag() != Tag::kEvent
                             ? " is " + Described((*events)[i]) + ", not an event"
                             : FaultOf(event.index());
      if (!fault.empty()) return FailAt(at_, path + "[" + std::to_string(i) + "]" + fault);
      in_a_row = in_a_row && event.index() == next;
      ++next;
    }
    snapshot_.trace_ends.push_back(next);
  }
  if (in_a_row && next == snapshot_.events.size()) return {};
  std::deque<SnapshotEvent> sorted;
  for (const Value device : *devices) {
    const auto* const events = ListOf(device);
    if (events == nullptr) continue;
    for (const Value event : *events) sorted.push_back(snapshot_.events[Resolved(event).index()]);
  }
  snapshot_.events = std::move(sorted);
  return {};
}

// What is wrong with an event as a whole; empty if nothing is.
std::string Reader::FaultOf(std::size_t index) {
  const SnapshotEvent& event = snapshot_.events[index];
  if (event.action == SnapshotAction::kOther || event.action == SnapshotAction::kOutOfMemory) {
    return "";
  }
  if ((event_fields_[index] & kHasAddress) == 0) return " has no \"addr\"";
  if ((event_fields_[index] & kHasSize) == 0) return " has no \"size\"";
  total_ += event.size;
  return total_ > kMaxBytes ? ": the events so far exceed 2^60 bytes" : "";
}

Result<void> Reader::TakeSegments(Value segments) {
  const auto* const list = ListOf(segments);
  if (list == nullptr) {
    return FailAt(at_, "\"segments\" is " + Described(segments) + ", not a list");
  }
  std::vector<SnapshotSegment> taken;
  taken.reserve(list->size());
  Bytes total = 0;
  for (std::size_t s = 0; s < list->size(); ++s) {
    const std::string path = "segments[" + std::to_string(s) + "]";
    const Value segment = Resolved((*list)[s]);
    if (segment.tag() != Tag::kSegment) {
      return FailAt(at_, path + " is " + Described((*list)[s]) + ", not a segment");
    }
    taken.push_back(snapshot_.segments[segment.index()]);
    total += taken.back().size;
    if (total > kMaxBytes) return FailAt(at_, path + ": all segments exceed 2^60 bytes");
    const Value blocks = segment_blocks_[segment.index()];
    const auto* const elements = ListOf(blocks);
    if (elements == nullptr) continue;  // No key, or no blocks.
    for (std::size_t b = 0; b < elements->size(); ++b) {
      const Value block = Resolved((*elements)[b]);
      if (block.tag() != Tag::kBlock) {
        return FailAt(at_, path + "[\"blocks\"][" + std::to_string(b) + "] is " +
                               Described((*elements)[b]) + ", not a block");
      }
      taken.back().blocks.push_back(blocks_[block.index()]);
      const SnapshotBlock& last = taken.back().blocks.back();
      total_ += std::max(last.size, last.requested);
      if (total_ > kMaxBytes) {
        return FailAt(at_, path + "[\"blocks\"][" + std::to_string(b) +
                               "]: events and blocks so far exceed 2^60 bytes");
      }
    }
    // A list of blocks can be used once: otherwise a small file would have many blocks.
    lists_[Resolved(blocks).index()].clear();
  }
  snapshot_.segments = std::move(taken);
  return {};
}

Result<MemorySnapshot> Reader::Finish() {
  const Value root = Resolved(stack_.front());
  if (root.tag() != Tag::kDict) {
    return FailAt(at_, "the pickle is " + Described(stack_.front()) +
                           ", not a dict with \"segments\" and \"device_traces\"");
  }
  bool traces = false;
  bool segments = false;
  for (const Pair& pair : dicts_[root.index()]) {
    if (pair.key == Key::kDeviceTraces && !traces) {
      traces = true;
      BERTH_TRY(TakeTraces(pair.value));
    }
    if (pair.key == Key::kSegments && !segments) {
      segments = true;
      BERTH_TRY(TakeSegments(pair.value));
    }
  }
  if (!traces && !segments) {
    return FailAt(at_,
                  "the dict has neither \"segments\" nor \"device_traces\": it is not a "
                  "memory snapshot");
  }
  if (!segments) snapshot_.segments.clear();
  if (!traces) snapshot_.events.clear();
  snapshot_.has_segments = segments;
  snapshot_.frames.reserve(frames_.size());
  // Many frames may have the same long text.
  std::size_t allowance = kTextForByte * at_ + kTextOfAny;
  for (const FrameKey& frame : frames_) {
    const std::string_view function = texts_[frame.function].substr(0, kLongestText);
    std::string_view file = texts_[frame.file];  // Its end tells most.
    file.remove_prefix(file.size() - std::min(file.size(), kLongestText));
    if (function.size() + file.size() > allowance) {
      return FailAt(at_, "the frames of all stacks have more text than a file of this size may");
    }
    allowance -= function.size() + file.size();
    snapshot_.frames.push_back(
        {Printable(function), Printable(file), std::max<std::int64_t>(frame.line, 0)});
  }
  return std::move(snapshot_);
}

}  // namespace
}  // namespace internal::snapshot

bool LooksLikeSnapshot(std::string_view bytes) {
  if (bytes.size() < 4 || bytes[0] != '\x80' || bytes[1] < 2 || bytes[1] > 5) return false;
  // The first key of the dict; Python's own order is "segments" first.
  const std::string_view beginning = bytes.substr(0, 64);
  for (const std::string_view key : {"segments", "device_traces", "allocator_settings",
                                     "external_annotations", "host_segments", "host_traces"}) {
    if (beginning.find(key) != std::string_view::npos) return true;
  }
  return false;
}

Result<MemorySnapshot> ReadSnapshot(std::string_view bytes, std::string_view name) {
  auto snapshot = internal::snapshot::Reader(bytes).Read();
  if (!snapshot) {
    return Fail(snapshot.error().code, internal::Printable(name) + ": " + snapshot.error().message);
  }
  return snapshot;
}

}  // namespace berth
