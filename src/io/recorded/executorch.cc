// Programs of ExecuTorch (.pte): a FlatBuffer with the identifier ET12, then weights, which are not
// read. Each execution plan (a method) has values, some of them tensors with a place in one of its
// memories, and lists of instructions that name values by their indices.
//
// The file does not say from when to when a tensor lives; that follows from the instructions:
//   * step 0 is that of the inputs, instruction k is step k + 1, and outputs live beyond the last one;
//   * a tensor lives from the first instruction that names it to the last one;
//   * a tensor that an instruction reads before any has written it has the bytes of another one: the
//     exporter leaves out instructions that only change a shape. The tensor that wrote these bytes last
//     then lives as long as the one that reads them. Where there is none, the bytes were there before
//     the program began (state that is kept from one run to the next), so the tensor lives throughout;
//   * what a loop uses, and what was written before it, lives to the loop's end; what a loop writes lives
//     from the loop's beginning if it is filled part by part or read after the loop;
//   * of two branches one runs, so what the first one makes is not live in the second one, unless that
//     names it. A branch that ends with a jump on a value that is false, and always was, jumps past the
//     other one.
// Kernels return their last argument, so that is what they write; those whose name ends in _ change
// their first one. Delegates do not say which arguments they write: inputs come first, then outputs,
// of which there is one at least. Where an argument may be either, it lives as long as both would.
//
// Source: the schema program.fbs of ExecuTorch, whose fields are numbered in the order there.
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/arithmetic.h"
#include "base/flatbuffer.h"
#include "base/text.h"
#include "base/try.h"
#include "io/recorded/readers.h"

namespace berth::internal::recorded {
namespace {

constexpr std::string_view kIdentifier = "ET12";
constexpr std::size_t kIdentifierAt = 4;
constexpr std::size_t kMostLoops = 1000;  // Each is a pass over the values.
constexpr std::size_t kNone = static_cast<std::size_t>(-1);

// Operators that write in another way than the rest.
constexpr std::string_view kCopyIndex = "executorch_prim::et_copy_index";  // [all, part, index]
constexpr std::string_view kCopy = "aten::copy_";  // Does not read what it changes.

// Fields of tables, members of unions.
enum ProgramField : std::size_t { kExecutionPlans = 1 };
enum PlanField : std::size_t {
  kPlanName = 0,
  kValues = 2,
  kInputs = 3,
  kOutputs = 4,
  kChains = 5,
  kOperators = 6,
  kDelegates = 7,
  kMemorySizes = 8
};
enum TensorField : std::size_t { kScalarType = 0, kSizes = 2, kDataBuffer = 5, kAllocation = 6 };
enum AllocationField : std::size_t { kMemoryId = 0, kOffsetLow = 1, kOffsetHigh = 2 };
enum class ValueType : std::uint8_t {
  kBool = 3,
  kTensor = 5,
  kTensorList = 10,
  kOptionalTensorList = 11
};
enum class InstructionType : std::uint8_t { kKernel = 1, kDelegate, kMove, kJumpFalse, kFree };

// Bytes of one element, by scalar type.
constexpr std::array<std::uint8_t, 30> kScalarBytes = {
    1, 1, 2, 4, 8, 2, 4, 8, 4, 8, 16, 1, 1, 1, 4, 2, 1, 1, 1, 1, 1, 1, 2, 1, 1, 1, 1, 2, 4, 8};

using Indices = FlatVector<std::int32_t>;

struct Value {
  // Of a tensor with a place.
  bool placed = false;
  bool kept = false;  // Its bytes are there before the program begins.
  std::int64_t memory = 0;
  Bytes offset = 0;
  Bytes size = 0;
  Step first = -1;  // -1: no instruction has named it.
  Step last = -1;
  Step read = -1;            // The last instruction that reads it.
  Step partly = -1;          // One that writes a part of it, in a loop perhaps.
  Step delegate = -1;        // The last delegate that has it as an argument.
  std::string_view maker;    // The operator that writes it, as the file has it.
  Indices list = {};         // Of a list of tensors: their values.
  std::size_t base = kNone;  // The value that it is a view of.
  // What may be state, but does not say so.
  bool fresh = false;  // No other had written any of its bytes before.
  bool given = false;  // An input of the program, or made by a delegate as far as one can tell.
  bool perhaps_kept = false;
  bool unclear = false;  // It may live too long here.
  bool never = false;    // A truth value that is false when the program begins.
  bool written = false;
  std::vector<Gap> gaps = {};  // Branches that do not run where it is live.
};

// Which value wrote each byte of one memory last: intervals without overlaps.
class Writers {
 public:
  void Write(std::size_t value, Bytes begin, Bytes end) {
    Cut(begin);
    Cut(end);
    by_begin_.erase(by_begin_.lower_bound(begin), by_begin_.lower_bound(end));
    by_begin_[begin] = {end, value};
  }
  [[nodiscard]] bool Any(Bytes begin, Bytes end) const {
    const auto after = by_begin_.lower_bound(end);
    return after != by_begin_.begin() && std::prev(after)->second.end > begin;
  }
  // The one that wrote exactly these bytes, if no other has written any of them since; or kNone.
  [[nodiscard]] std::size_t ExactlyOf(Bytes begin, Bytes end) const {
    const auto it = by_begin_.find(begin);
    return it != by_begin_.end() && it->second.end == end ? it->second.value : kNone;
  }
  [[nodiscard]] std::vector<std::size_t> Of(Bytes begin, Bytes end) const {
    std::vector<std::size_t> writers;
    auto it = by_begin_.upper_bound(begin);
    if (it != by_begin_.begin() && std::prev(it)->second.end > begin) --it;
    for (; it != by_begin_.end() && it->first < end; ++it) writers.push_back(it->second.value);
    std::sort(writers.begin(), writers.end());
    writers.erase(std::unique(writers.begin(), writers.end()), writers.end());
    return writers;
  }

 private:
  struct Interval {
    Bytes end = 0;
    std::size_t value = 0;
  };
  // No interval has `at` within it.
  void Cut(Bytes at) {
    auto it = by_begin_.lower_bound(at);
    if (it == by_begin_.begin()) return;
    --it;
    if (it->second.end <= at) return;
    by_begin_[at] = it->second;
    it->second.end = at;
  }
  std::map<Bytes, Interval> by_begin_;
};

class ProgramReader {
 public:
  ProgramReader(std::string_view bytes, const Source& source)
      : reader_(bytes),
        source_(source),
        effort_(bytes.size() + kFreeEffort),
        names_(bytes.size() + kFreeEffort) {}

  Result<Problems> Read() {
    const FlatTable program = reader_.Root();
    const auto plans = reader_.Vector<std::uint32_t>(program, kExecutionPlans);
    Problems problems;
    for (std::size_t p = 0; p < plans.size() && !reader_.failed(); ++p) {
      BERTH_TRY(ReadPlan(reader_.Element(plans, p), problems));
    }
    if (reader_.failed()) return source_.FailAsWhole(reader_.fault());
    return problems;
  }

 private:
  static constexpr std::size_t kFreeEffort = 65536;

  struct Alias {
    std::size_t value = 0;
    std::size_t base = 0;  // Whose bytes it has, or kNone.
    Step delegate = -1;    // What names both, and does not say whether it has them.
  };
  // A jump to a later step.
  struct Skip {
    Step to = 0;
    std::size_t condition = 0;
  };
  // Of two branches, the first one is in the steps [first, other), the second one in [other, end).
  struct Branches {
    Step first = 0;
    Step other = 0;
    Step end = 0;
  };
  // Results of two branches, with one name from a step on.
  struct Either {
    std::size_t first = 0;
    std::size_t second = 0;
    Step from = 0;
  };
  struct MovedValue {
    std::size_t from = 0;
    Step read = 0;  // What reads the other name before.
    Step step = 0;
  };

  // Lists may share their bytes in the file, so that a small file stands for a large one. False, with
  // a fault: more elements than bytes.
  bool Spend(std::size_t elements, std::size_t at) {
    if (elements > effort_) reader_.FailAt(at, "lists that have more elements than the file bytes");
    effort_ -= std::min(elements, effort_);
    return !reader_.failed();
  }

  Result<void> ReadPlan(const FlatTable& plan, Problems& problems) {
    values_.clear();
    writers_.clear();
    aliases_.clear();
    moves_.clear();
    loops_.clear();
    skips_.clear();
    mentions_.clear();
    either_.clear();
    step_ = 0;
    ReadValues(plan);
    WriteAll(reader_.Vector<std::int32_t>(plan, kInputs));
    const auto chains = reader_.Vector<std::uint32_t>(plan, kChains);
    for (std::size_t c = 0; c < chains.size() && Spend(1, chains.at()); ++c) {
      ReadChain(plan, reader_.Element(chains, c));
    }
    ++step_;
    const auto outputs = reader_.Vector<std::int32_t>(plan, kOutputs);
    if (Spend(outputs.size(), outputs.at())) {
      for (std::size_t i = 0; i < outputs.size(); ++i) Read(outputs[i], outputs.at());
    }
    if (reader_.failed()) return {};  // Read() reports it.
    ExtendLifetimes();
    return AddProblems(plan, problems);
  }

  // ---- Values.

  void ReadValues(const FlatTable& plan) {
    const auto values = reader_.Vector<std::uint32_t>(plan, kValues);
    memory_sizes_ = reader_.Vector<std::int64_t>(plan, kMemorySizes);
    if (!Spend(values.size(), values.at())) return;
    values_.resize(values.size());
    for (std::size_t v = 0; v < values.size() && !reader_.failed(); ++v) {
      const FlatTable value = reader_.Element(values, v);
      const auto type = static_cast<ValueType>(reader_.Number<std::uint8_t>(value, 0));
      const FlatTable content = reader_.Table(value, 1);
      if (type == ValueType::kTensor) {
        ReadTensor(content, values_[v]);
      } else if (type == ValueType::kBool) {
        values_[v].never = reader_.Number<std::uint8_t>(content, 0) == 0;
      } else if (type == ValueType::kTensorList || type == ValueType::kOptionalTensorList) {
        values_[v].list = reader_.Vector<std::int32_t>(content, 0);
      }
    }
  }

  void ReadTensor(const FlatTable& tensor, Value& value) {
    value.kept = reader_.Number<std::uint32_t>(tensor, kDataBuffer) > 0;
    const FlatTable allocation = reader_.Table(tensor, kAllocation);
    if (!allocation.exists()) return;
    value.memory = reader_.Number<std::uint32_t>(allocation, kMemoryId);
    value.offset = static_cast<Bytes>(
        std::uint64_t{reader_.Number<std::uint32_t>(allocation, kOffsetHigh)} << 32u |
        reader_.Number<std::uint32_t>(allocation, kOffsetLow));
    value.size = ReadSize(tensor);
    const auto memory = static_cast<std::size_t>(value.memory);
    const Bytes most = memory < memory_sizes_.size() ? memory_sizes_[memory] : 0;
    if (value.offset < 0 || most > kMaxBytes || value.offset > most ||
        value.size > most - value.offset) {
      reader_.FailAt(tensor.at, "a tensor of " + std::to_string(value.size) + " bytes at offset " +
                                    std::to_string(value.offset) + " of memory " +
                                    std::to_string(value.memory) + ", which has " +
                                    std::to_string(most) + " bytes");
      return;
    }
    value.placed = value.size > 0;
  }

  // For shapes with bounds, the largest.
  Bytes ReadSize(const FlatTable& tensor) {
    const auto type = reader_.Number<std::int8_t>(tensor, kScalarType);
    if (type < 0 || static_cast<std::uint8_t>(type) >= kScalarBytes.size()) {
      reader_.FailAt(tensor.at, "the unknown scalar type " + std::to_string(type));
      return 0;
    }
    const auto sizes = reader_.Vector<std::int32_t>(tensor, kSizes);
    if (!Spend(sizes.size(), sizes.at())) return 0;
    Bytes size = kScalarBytes[static_cast<std::uint8_t>(type)];
    for (std::size_t d = 0; d < sizes.size(); ++d) {
      const auto product = sizes[d] < 0 ? std::nullopt : CheckedMul(size, Bytes{sizes[d]});
      if (!product || *product > kMaxBytes) {
        reader_.FailAt(sizes.at() + 4 * d, "the size " + std::to_string(sizes[d]) +
                                               " of a dimension is negative or too large");
        return 0;
      }
      size = *product;
    }
    return size;
  }

  // ---- Instructions.

  void ReadChain(const FlatTable& plan, const FlatTable& chain) {
    const auto instructions = reader_.Vector<std::uint32_t>(chain, 2);
    const Step begin = step_ + 1;
    for (std::size_t i = 0; i < instructions.size() && Spend(1, instructions.at()); ++i) {
      ++step_;
      const FlatTable instruction = reader_.Element(instructions, i);
      const auto type = static_cast<InstructionType>(reader_.Number<std::uint8_t>(instruction, 0));
      const FlatTable content = reader_.Table(instruction, 1);
      switch (type) {
        case InstructionType::kKernel:
          CallKernel(plan, content);
          break;
        case InstructionType::kDelegate:
          CallDelegate(plan, content);
          break;
        case InstructionType::kMove:
          Move(content);
          break;
        case InstructionType::kJumpFalse:
          JumpFalse(content, begin + reader_.Number<std::int32_t>(content, 1));
          break;
        case InstructionType::kFree:
          break;
      }
    }
  }

  void CallKernel(const FlatTable& plan, const FlatTable& call) {
    const auto arguments = reader_.Vector<std::int32_t>(call, 1);
    if (arguments.empty() || !Spend(arguments.size(), arguments.at())) return;
    const std::string_view name = NameIn(plan, kOperators, reader_.Number<std::int32_t>(call, 0));
    if (name == kCopyIndex) {
      for (std::size_t i = 1; i < arguments.size(); ++i) Read(arguments[i], arguments.at());
      Change(arguments[0], name, arguments.at());
      if (reader_.failed()) return;
      values_[static_cast<std::size_t>(arguments[0])].partly = step_;
      return;
    }
    // Reads come before writes: an output may take the bytes of an input.
    std::vector<std::int32_t> written;
    const std::int32_t last = arguments[arguments.size() - 1];
    const Value* const returned = At(last, arguments.at());
    if (returned == nullptr) return;
    if (returned->list.empty()) {
      written.push_back(last);
    } else {
      if (!Spend(returned->list.size(), returned->list.at())) return;
      for (std::size_t i = 0; i < returned->list.size(); ++i) written.push_back(returned->list[i]);
    }
    const bool in_place = name.ends_with('_');
    if (in_place && arguments[0] != last) written.push_back(arguments[0]);
    std::sort(written.begin(), written.end());
    for (std::size_t i = 0; i + 1 < arguments.size(); ++i) {
      if (std::binary_search(written.begin(), written.end(), arguments[i])) continue;
      if (arguments[i] != last) Read(arguments[i], arguments.at());
    }
    if (in_place) ReadInPlace(arguments[0], name, arguments.at());
    for (const std::int32_t value : written) Change(value, name, arguments.at());
    if (in_place && arguments[0] != last && !reader_.failed()) {
      aliases_.push_back({static_cast<std::size_t>(last), static_cast<std::size_t>(arguments[0])});
    }
  }

  // What an operator changes: it has a value already, which is read, unless all of it is overwritten.
  void ReadInPlace(std::int32_t index, std::string_view name, std::size_t at) {
    Value* const value = At(index, at);
    if (value == nullptr) return;
    if (name != kCopy) {
      Read(index, at);
    } else if (value->first < 0) {
      value->perhaps_kept = true;  // For the next run; or the first value of what a loop changes.
    }
  }

  void CallDelegate(const FlatTable& plan, const FlatTable& call) {
    const auto arguments = reader_.Vector<std::int32_t>(call, 1);
    if (!Spend(arguments.size(), arguments.at())) return;
    const std::string_view name = NameIn(plan, kDelegates, reader_.Number<std::int32_t>(call, 0));
    std::size_t inputs = 0;  // The first ones, which cannot be outputs.
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const Value* const value = At(arguments[i], arguments.at());
      if (value == nullptr) return;
      if (value->first >= 0 || value->kept || !value->list.empty()) inputs = i + 1;
    }
    std::vector<std::int32_t> others;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      Value& value = values_[static_cast<std::size_t>(arguments[i])];
      if (std::exchange(value.delegate, step_) == step_) continue;
      if (i < inputs) {
        Read(arguments[i], arguments.at());
      } else {
        others.push_back(arguments[i]);
      }
    }
    // All but the last may be inputs.
    for (std::size_t i = 0; i + 1 < others.size(); ++i) {
      const auto index = static_cast<std::size_t>(others[i]);
      aliases_.push_back({index, BaseOf(values_[index]), step_});
    }
    for (const std::int32_t index : others) {
      Write(index, name, arguments.at());
      values_[static_cast<std::size_t>(index)].given = true;
    }
  }

  // The one tensor that has exactly the bytes of another, or kNone.
  [[nodiscard]] std::size_t BaseOf(const Value& value) const {
    const auto memory = writers_.find(value.memory);
    if (!value.placed || memory == writers_.end()) return kNone;
    const std::size_t base = memory->second.ExactlyOf(value.offset, value.offset + value.size);
    const bool same =
        base != kNone && values_[base].offset == value.offset && values_[base].size == value.size;
    return same ? base : kNone;
  }

  void Move(const FlatTable& move) {
    const auto from = reader_.Number<std::int32_t>(move, 0);
    const auto to = reader_.Number<std::int32_t>(move, 1);
    if (At(to, move.at) == nullptr) return;
    const Step read = values_[static_cast<std::size_t>(to)].read;
    Read(from, move.at);
    Name(to, "move", move.at);
    if (reader_.failed()) return;
    // From now on the second is another name of the first.
    aliases_.push_back({static_cast<std::size_t>(to), static_cast<std::size_t>(from)});
    if (read >= 0) moves_.push_back({static_cast<std::size_t>(from), read, step_});
  }

  void JumpFalse(const FlatTable& jump, Step to) {
    const auto condition = reader_.Number<std::int32_t>(jump, 0);
    Read(condition, jump.at);
    if (reader_.failed()) return;
    if (to > step_) {
      skips_[step_] = {to, static_cast<std::size_t>(condition)};
      return;
    }
    loops_.emplace_back(to, step_);
    if (to < 1 || loops_.size() > kMostLoops) {
      reader_.FailAt(jump.at, to < 1 ? "a jump to before the first instruction" : "too many loops");
    }
  }

  // The operator or delegate of a call.
  std::string_view NameIn(const FlatTable& plan, PlanField list, std::int32_t index) {
    const auto all = reader_.Vector<std::uint32_t>(plan, list);
    if (index < 0 || static_cast<std::size_t>(index) >= all.size()) return "";
    return reader_.Text(reader_.Element(all, static_cast<std::size_t>(index)), 0);
  }

  // ---- Lifetimes.

  Value* At(std::int32_t index, std::size_t at) {
    if (index >= 0 && static_cast<std::size_t>(index) < values_.size()) {
      return &values_[static_cast<std::size_t>(index)];
    }
    reader_.FailAt(at, "a list of values names value " + std::to_string(index) + " of " +
                           std::to_string(values_.size()));
    return nullptr;
  }

  void WriteAll(const Indices& inputs) {
    if (!Spend(inputs.size(), inputs.at())) return;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      Write(inputs[i], "input", inputs.at());
      if (reader_.failed()) return;
      values_[static_cast<std::size_t>(inputs[i])].given = true;
    }
  }

  void Read(std::int32_t index, std::size_t at) {
    Value* const value = At(index, at);
    if (value == nullptr) return;
    if (!value->list.empty()) {
      const Indices list = value->list;
      if (!Spend(list.size(), list.at())) return;
      for (std::size_t i = 0; i < list.size(); ++i) {
        if (list[i] >= 0) ReadOne(list[i], list.at());  // -1: an element that is none.
      }
      return;
    }
    ReadOne(index, at);
  }

  void ReadOne(std::int32_t index, std::size_t at) {
    Value* const value = At(index, at);
    if (value == nullptr) return;
    value->last = step_;
    value->read = step_;
    Mention(index);
    if (value->first >= 0) return;
    value->first = step_;
    if (!value->placed) return;
    const auto number = static_cast<std::size_t>(index);
    Writers& memory = writers_[value->memory];
    const auto writers = memory.Of(value->offset, value->offset + value->size);
    if (!Spend(writers.size(), at)) return;
    if (writers.empty()) {
      value->kept = true;
      value->maker = "state";
      memory.Write(number, value->offset, value->offset + value->size);
      return;
    }
    value->maker = values_[writers.front()].maker;
    value->base = BaseOf(*value);
    for (const std::size_t writer : writers) aliases_.push_back({number, writer});
  }

  // A kernel writes this value, perhaps not the first one.
  void Change(std::int32_t index, std::string_view maker, std::size_t at) {
    Value* const value = At(index, at);
    if (value == nullptr) return;
    Value& changed = value->base == kNone ? *value : values_[value->base];
    if (changed.given) changed.perhaps_kept = true;
    // Not a view of one tensor, but read before: perhaps what the loop's last round has written.
    if (value->first >= 0 && value->first == value->read && value->base == kNone) {
      value->partly = step_;
    }
    Write(index, maker, at);
  }

  // Before the first jump to a later step there are no branches.
  void Mention(std::int32_t index) {
    if (!skips_.empty()) mentions_.emplace_back(static_cast<std::size_t>(index), step_);
  }

  void Write(std::int32_t index, std::string_view maker, std::size_t at) {
    Name(index, maker, at);
    if (!reader_.failed()) Mention(index);
  }

  // Something makes this value. A move does so without the bytes that the value had before.
  void Name(std::int32_t index, std::string_view maker, std::size_t at) {
    Value* const value = At(index, at);
    if (value == nullptr) return;
    value->last = step_;
    value->written = true;
    const bool named = std::exchange(value->first, value->first < 0 ? step_ : value->first) >= 0;
    if (!named) value->maker = maker;
    if (!value->placed) return;
    Writers& memory = writers_[value->memory];
    const Bytes end = value->offset + value->size;
    if (!named) value->fresh = !memory.Any(value->offset, end);
    memory.Write(value->base == kNone ? static_cast<std::size_t>(index) : value->base,
                 value->offset, end);
  }

  void ExtendLifetimes() {
    // The newest first: what it extends may be an alias itself.
    for (std::size_t a = aliases_.size(); a-- > 0;) ExtendBase(aliases_[a]);
    // Inner loops first.
    std::sort(loops_.begin(), loops_.end(), [](const auto& a, const auto& b) {
      return a.second != b.second ? a.second < b.second : a.first > b.first;
    });
    const std::size_t pass = values_.size() + moves_.size();
    if (!Spend(loops_.size() > 1 ? loops_.size() * pass / kLoopPasses : 0, 0)) return;
    for (const auto& [begin, end] : loops_) ExtendOverLoop(begin, end);
    for (std::size_t v = 0; v < values_.size(); ++v) {
      Value& value = values_[v];
      if (value.first < 0) continue;
      // State shares its bytes with no other tensor.
      if (value.perhaps_kept && value.fresh && BaseOf(value) == v) {
        value.kept = true;
        value.unclear = true;
      }
      if (!value.kept) continue;
      value.first = 0;
      value.last = step_;
    }
    FindGaps();
  }

  // In the branch that does not run where the other one has made a value.
  void FindGaps() {
    std::vector<Branches> branches;
    for (const auto& [step, skip] : skips_) {
      const auto past = skips_.find(skip.to - 1);
      if (past == skips_.end() || past->first <= step) continue;
      const Value& condition = values_[past->second.condition];
      if (condition.never && !condition.written) {
        branches.push_back({step + 1, skip.to, past->second.to});
      }
    }
    const std::size_t pass = values_.size() + mentions_.size() + aliases_.size();
    if (!Spend(branches.size() > 1 ? branches.size() * pass / kLoopPasses : 0, 0)) return;
    for (const Branches& each : branches) {
      if (!reader_.failed()) FindGapsIn(each);
    }
  }

  void FindGapsIn(const Branches& branches) {
    const auto [first, other, end] = branches;
    std::vector<bool> named(values_.size());  // In the second branch, by this name or another one.
    for (const auto& [value, step] : mentions_) {
      if (step >= other && step < end) named[value] = true;
    }
    for (std::size_t a = aliases_.size(); a-- > 0;) {
      const Alias& alias = aliases_[a];
      if (alias.base != kNone && named[alias.value]) named[alias.base] = true;
    }
    for (std::size_t v = 0; v < values_.size(); ++v) {
      Value& value = values_[v];
      if (named[v] || value.first < first || value.first >= other || value.last < end) continue;
      if (!Spend(1, 0)) return;
      value.gaps.push_back({other, end});
    }
    // One name for the results of both: after the branches each counts as live, as either may be.
    std::vector<std::size_t> result(values_.size(), kNone);  // Of the first branch.
    for (const Alias& alias : aliases_) {
      if (alias.base == kNone) continue;
      Value& base = values_[alias.base];
      if (!base.gaps.empty() && base.gaps.back().start == other) result[alias.value] = alias.base;
      if (base.first < other || base.first >= end || result[alias.value] == kNone) continue;
      if (!Spend(kForEither, 0)) return;
      base.unclear = true;
      values_[result[alias.value]].unclear = true;
      either_.push_back({result[alias.value], alias.base, end});
    }
  }

  void ExtendBase(const Alias& alias) {
    Value& value = values_[alias.value];
    if (alias.delegate >= 0) {
      // An output, or an input: a view if it has the bytes of another, or else state if nothing reads
      // it again.
      const bool read = value.last > alias.delegate;
      if (alias.base == kNone) value.perhaps_kept = value.perhaps_kept || !read;
      value.unclear = value.unclear || alias.base != kNone;
    }
    if (alias.base == kNone) return;
    Value& base = values_[alias.base];
    base.last = std::max(base.last, value.last);
  }

  void ExtendOverLoop(Step begin, Step end) {
    for (Value& value : values_) {
      if (value.first < begin) {
        if (value.last >= begin) value.last = std::max(value.last, end);
        continue;
      }
      if (value.first > end) continue;
      const bool filled = value.partly >= 0 && value.partly <= end;
      if (filled) {
        value.partly = -1;  // Loops around this one begin with another value.
      } else if (value.last > end) {
        value.unclear = true;  // Each round may write it before it is read.
      } else {
        continue;
      }
      value.first = begin;
      value.last = std::max(value.last, end);
    }
    // What the next round reads by another name.
    for (const MovedValue& moved : moves_) {
      if (moved.step < begin || moved.step > end || moved.read < begin) continue;
      Value& from = values_[moved.from];
      from.first = std::min(from.first, begin);
      from.last = std::max(from.last, end);
    }
  }

  // ---- Problems.

  // "12: aten::add.out". Many values may name one operator: all names together have no more characters
  // than the file, and those that come after that are left out.
  std::string IdOf(std::size_t v) {
    constexpr std::size_t kLongest = 200;
    std::string id = std::to_string(v);
    const std::string maker = Printable(values_[v].maker.substr(0, kLongest));
    if (maker.empty() || maker.size() > names_) return id;
    names_ -= maker.size();
    return id + ": " + maker;
  }

  // Results of two branches may share bytes in part, as only one of them is there. Where they have one
  // name, a buffer with the bytes of both takes their place.
  void AddEither(std::map<std::int64_t, PlacedBuffers>& memories) {
    for (const Either& each : either_) {
      Value& a = values_[each.first];
      Value& b = values_[each.second];
      const Bytes a_end = a.offset + a.size;
      const Bytes b_end = b.offset + b.size;
      const bool partly = a.offset < b.offset
                              ? b.offset < a_end && a_end < b_end
                              : a.offset < b_end && b_end < a_end && a.offset > b.offset;
      if (!a.placed || !b.placed || a.memory != b.memory || !partly || a.last < each.from ||
          b.last < each.from) {
        continue;
      }
      const Bytes offset = std::min(a.offset, b.offset);
      PlacedBuffers& placed = memories[a.memory];
      placed.problem.buffers.push_back(
          {std::to_string(each.first) + " or " + std::to_string(each.second), each.from,
           std::max(a.last, b.last) + 1, std::max(a_end, b_end) - offset});
      placed.offsets.push_back(offset);
      // At one step both are in it, so that they stay where they are in it.
      a.last = b.last = each.from;
    }
  }

  Result<void> AddProblems(const FlatTable& plan, Problems& problems) {
    std::map<std::int64_t, PlacedBuffers> memories;
    std::set<std::int64_t> unclear;
    AddEither(memories);
    for (std::size_t v = 0; v < values_.size(); ++v) {
      const Value& value = values_[v];
      if (!value.placed || value.first < 0) continue;
      PlacedBuffers& placed = memories[value.memory];
      if (value.unclear) unclear.insert(value.memory);
      placed.problem.buffers.push_back({IdOf(v), value.first, value.last + 1, value.size});
      placed.problem.buffers.back().gaps = Joined(value.gaps);
      placed.offsets.push_back(value.offset);
    }
    const std::string_view method = reader_.Text(plan, kPlanName);
    if (!Spend(method.size() * memories.size(), plan.at)) return {};
    for (auto& [memory, placed] : memories) {
      std::string name(method.empty() ? "method" : method);
      if (memories.size() > 1) name += ", memory " + std::to_string(memory);
      const Bytes size = memory_sizes_[static_cast<std::size_t>(memory)];
      // The exporter pads tensors, and its memories have room for that.
      const Bytes alignment = CommonAlignment(placed.offsets, kMostAlignment);
      for (std::size_t b = 0; b < placed.offsets.size(); ++b) {
        Bytes& bytes = placed.problem.buffers[b].size;
        bytes =
            std::min(bytes + (alignment - bytes % alignment) % alignment, size - placed.offsets[b]);
      }
      auto problem = ProblemOfPlan(std::move(name), std::move(placed));
      if (!problem) return source_.FailWith(std::move(problem.error()));
      problem->height = size;
      if (unclear.contains(memory)) {
        problem->exact = false;
        problem->notes.emplace_back(
            "The program does not say from when to when each tensor lives; where it is not clear, "
            "the longest time is taken, so a lower plan may exist.");
      }
      problems.push_back(std::move(*problem));
    }
    return {};
  }

  static constexpr std::size_t kForEither = 16;  // Such a pair may become a buffer.
  static constexpr std::size_t kLoopPasses =
      64;  // A pass over values costs less than reading them.

  FlatReader reader_;
  const Source& source_;
  std::size_t effort_;  // Elements of lists that may still be read.
  std::size_t names_;   // Characters of names that may still be copied.
  // Of the plan that is being read.
  std::vector<Value> values_;
  FlatVector<std::int64_t> memory_sizes_;
  std::map<std::int64_t, Writers> writers_;  // By memory.
  std::vector<Alias> aliases_;
  std::vector<MovedValue> moves_;             // Where the new name had another value before.
  std::vector<std::pair<Step, Step>> loops_;  // First and last step.
  std::map<Step, Skip> skips_;                // By the step of the jump.
  std::vector<Either> either_;
  std::vector<std::pair<std::size_t, Step>> mentions_;  // Of values that are read or written.
  Step step_ = 0;
};

}  // namespace

bool LooksLikeExecutorch(std::string_view bytes) {
  return bytes.size() > kIdentifierAt && bytes.substr(kIdentifierAt).starts_with(kIdentifier);
}

Result<Problems> ReadExecutorch(std::string_view bytes, const Source& source) {
  return ProgramReader(bytes, source).Read();
}

}  // namespace berth::internal::recorded
