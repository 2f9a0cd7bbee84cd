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
//   * what a loop uses, and what was written before it, lives to the loop's end.
// Kernels return their last argument, so that is what they write. Delegates do not say which arguments
// they write: what is new there is written, unless it takes exactly the bytes of one earlier tensor.
//
// Source: the schema program.fbs of ExecuTorch, whose fields are numbered in the order there.
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
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
enum class ValueType : std::uint8_t { kTensor = 5, kTensorList = 10, kOptionalTensorList = 11 };
enum class InstructionType : std::uint8_t { kKernel = 1, kDelegate, kMove, kJumpFalse, kFree };

// Bytes of one element, by scalar type; 0 for those that have none.
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
  std::string maker;  // The operator that writes it.
  Indices list = {};  // Of a list of tensors: their values.
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
  // Each of them once or more.
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
      : reader_(bytes), source_(source), effort_(bytes.size() + kFreeEffort) {}

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
    loops_.clear();
    step_ = 0;
    ReadValues(plan);
    NameAll(reader_.Vector<std::int32_t>(plan, kInputs), "input");
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
      } else if (type == ValueType::kTensorList || type == ValueType::kOptionalTensorList) {
        values_[v].list = reader_.Vector<std::int32_t>(content, 0);
      }
    }
  }

  void ReadTensor(const FlatTable& tensor, Value& value) {
    const FlatTable allocation = reader_.Table(tensor, kAllocation);
    if (!allocation.exists()) return;
    value.memory = reader_.Number<std::uint32_t>(allocation, kMemoryId);
    value.offset = static_cast<Bytes>(
        std::uint64_t{reader_.Number<std::uint32_t>(allocation, kOffsetHigh)} << 32u |
        reader_.Number<std::uint32_t>(allocation, kOffsetLow));
    value.kept = reader_.Number<std::uint32_t>(tensor, kDataBuffer) > 0;
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
          Read(reader_.Number<std::int32_t>(content, 0), content.at);
          Jump(begin + reader_.Number<std::int32_t>(content, 1), content.at);
          break;
        case InstructionType::kFree:
          break;
      }
    }
  }

  void CallKernel(const FlatTable& plan, const FlatTable& call) {
    const auto arguments = reader_.Vector<std::int32_t>(call, 1);
    if (arguments.empty() || !Spend(arguments.size(), arguments.at())) return;
    const std::string name = NameIn(plan, kOperators, reader_.Number<std::int32_t>(call, 0));
    const std::size_t last = arguments.size() - 1;
    const auto same_as_last = [&](std::size_t i) { return arguments[i] == arguments[last]; };
    // Reads come before writes: an output may take the bytes of an input.
    std::vector<std::int32_t> written;
    const Value* const returned = At(arguments[last], arguments.at());
    if (returned == nullptr) return;
    if (returned->list.empty()) {
      written.push_back(arguments[last]);
    } else {
      if (!Spend(returned->list.size(), returned->list.at())) return;
      for (std::size_t i = 0; i < returned->list.size(); ++i) written.push_back(returned->list[i]);
    }
    std::vector<std::int32_t> sorted = written;
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t i = 0; i < last; ++i) {
      if (same_as_last(i)) continue;
      if (std::binary_search(sorted.begin(), sorted.end(), arguments[i])) continue;
      Read(arguments[i], arguments.at());
    }
    for (const std::int32_t value : written) Write(value, name, arguments.at());
  }

  void CallDelegate(const FlatTable& plan, const FlatTable& call) {
    const auto arguments = reader_.Vector<std::int32_t>(call, 1);
    if (!Spend(arguments.size(), arguments.at())) return;
    const std::string name = NameIn(plan, kDelegates, reader_.Number<std::int32_t>(call, 0));
    std::vector<std::int32_t> written;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const Value* const value = At(arguments[i], arguments.at());
      if (value == nullptr) return;
      if (value->placed && value->first < 0 && !TakesBytesOfOne(*value)) {
        written.push_back(arguments[i]);
      } else {
        Read(arguments[i], arguments.at());
      }
    }
    for (const std::int32_t value : written) Write(value, name, arguments.at());
  }

  [[nodiscard]] bool TakesBytesOfOne(const Value& value) const {
    const auto memory = writers_.find(value.memory);
    if (memory == writers_.end()) return false;
    const auto writers = memory->second.Of(value.offset, value.offset + value.size);
    return writers.size() == 1 && values_[writers.front()].offset == value.offset &&
           values_[writers.front()].size == value.size;
  }

  void Move(const FlatTable& move) {
    const auto from = reader_.Number<std::int32_t>(move, 0);
    const auto to = reader_.Number<std::int32_t>(move, 1);
    Read(from, move.at);
    Write(to, "move", move.at);
    if (reader_.failed()) return;
    // From now on the second is another name of the first.
    aliases_.emplace_back(static_cast<std::size_t>(to), static_cast<std::size_t>(from));
  }

  void Jump(Step to, std::size_t at) {
    if (to > step_) return;
    loops_.emplace_back(to, step_);
    if (to < 1 || loops_.size() > kMostLoops) {
      reader_.FailAt(at, to < 1 ? "a jump to before the first instruction" : "too many loops");
    }
  }

  // The operator or delegate of a call.
  std::string NameIn(const FlatTable& plan, PlanField list, std::int32_t index) {
    const auto all = reader_.Vector<std::uint32_t>(plan, list);
    if (index < 0 || static_cast<std::size_t>(index) >= all.size()) return "";
    const std::string_view name =
        reader_.Text(reader_.Element(all, static_cast<std::size_t>(index)), 0);
    constexpr std::size_t kLongest = 200;
    return Printable(name.substr(0, kLongest));
  }

  // ---- Lifetimes.

  Value* At(std::int32_t index, std::size_t at) {
    if (index >= 0 && static_cast<std::size_t>(index) < values_.size()) {
      return &values_[static_cast<std::size_t>(index)];
    }
    // Lists have -1 for an element that is none.
    reader_.FailAt(at, "a list of values names value " + std::to_string(index) + " of " +
                           std::to_string(values_.size()));
    return nullptr;
  }

  void NameAll(const Indices& indices, const std::string& maker) {
    if (!Spend(indices.size(), indices.at())) return;
    for (std::size_t i = 0; i < indices.size(); ++i) Write(indices[i], maker, indices.at());
  }

  void Read(std::int32_t index, std::size_t at) {
    Value* const value = At(index, at);
    if (value == nullptr) return;
    if (!value->list.empty()) {
      const Indices list = value->list;
      if (!Spend(list.size(), list.at())) return;
      for (std::size_t i = 0; i < list.size(); ++i) {
        if (list[i] >= 0) ReadOne(list[i], list.at());
      }
      return;
    }
    ReadOne(index, at);
  }

  void ReadOne(std::int32_t index, std::size_t at) {
    Value* const value = At(index, at);
    if (value == nullptr || !value->placed) return;
    value->last = step_;
    if (value->first >= 0) return;
    value->first = step_;
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
    for (const std::size_t writer : writers) aliases_.emplace_back(number, writer);
  }

  void Write(std::int32_t index, const std::string& maker, std::size_t at) {
    Value* const value = At(index, at);
    if (value == nullptr || !value->placed) return;
    value->last = step_;
    if (value->first < 0) {
      value->first = step_;
      value->maker = maker;
    }
    writers_[value->memory].Write(static_cast<std::size_t>(index), value->offset,
                                  value->offset + value->size);
  }

  void ExtendLifetimes() {
    // The newest first: what it extends may be an alias itself.
    for (std::size_t a = aliases_.size(); a-- > 0;) {
      const auto& [alias, base] = aliases_[a];
      values_[base].last = std::max(values_[base].last, values_[alias].last);
    }
    // Inner loops first.
    std::sort(loops_.begin(), loops_.end(), [](const auto& a, const auto& b) {
      return a.second != b.second ? a.second < b.second : a.first > b.first;
    });
    if (!Spend(loops_.size() > 1 ? loops_.size() * values_.size() / kLoopPasses : 0, 0)) return;
    for (const auto& [begin, end] : loops_) {
      for (Value& value : values_) {
        const bool enters = value.first < begin && value.last >= begin;
        if (enters && value.last < end) value.last = end;
      }
    }
    for (Value& value : values_) {
      if (value.first < 0 || !value.kept) continue;
      value.first = 0;
      value.last = step_;
    }
  }

  // ---- Problems.

  Result<void> AddProblems(const FlatTable& plan, Problems& problems) {
    std::map<std::int64_t, PlacedBuffers> memories;
    for (std::size_t v = 0; v < values_.size(); ++v) {
      const Value& value = values_[v];
      if (!value.placed || value.first < 0) continue;
      PlacedBuffers& placed = memories[value.memory];
      const std::string name = value.maker.empty() ? "" : ": " + value.maker;
      placed.problem.buffers.push_back(
          {std::to_string(v) + name, value.first, value.last + 1, value.size});
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
      problems.push_back(std::move(*problem));
    }
    return {};
  }

  static constexpr std::size_t kLoopPasses =
      64;  // A pass over values costs less than reading them.

  FlatReader reader_;
  const Source& source_;
  std::size_t effort_;  // Elements of lists that may still be read.
  // Of the plan that is being read.
  std::vector<Value> values_;
  FlatVector<std::int64_t> memory_sizes_;
  std::map<std::int64_t, Writers> writers_;                   // By memory.
  std::vector<std::pair<std::size_t, std::size_t>> aliases_;  // A value, and whose bytes it has.
  std::vector<std::pair<Step, Step>> loops_;                  // First and last step.
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
