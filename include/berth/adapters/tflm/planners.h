// berth/adapters/tflm/planners.h -- two memory planners for TensorFlow Lite Micro.
//
//   Recorder  plans as another planner does, and writes every request as a row of a table for Berth:
//             tensors and the scratch buffers of the kernels, with their exact lifetimes.
//   Replay    gives every request the offset that Berth has found for its row, and fails where the
//             request is not the one that was planned.
//
// On a machine with a console, with the kernels of the target:
//
//   #include "berth/adapters/tflm/planners.h"
//   #include "tensorflow/lite/micro/memory_planner/greedy_memory_planner.h"
//
//   void Print(void*, const char* line) { MicroPrintf("%s", line); }
//
//   tflite::GreedyMemoryPlanner greedy;
//   berth::tflm::Recorder<tflite::MicroMemoryPlanner> recorder(greedy, Print);
//   tflite::MicroInterpreter interpreter(
//       model, resolver, tflite::MicroAllocator::Create(arena, sizeof arena, &recorder));
//   interpreter.AllocateTensors();
//
// and `berth place recorded.csv` says how small the arena can be. On the target, with the offsets:
//
//   constexpr berth::tflm::PlannedBuffer kPlan[] = {{9216, 0, 1, 0}, {4608, 1, 2, 9216}};
//   berth::tflm::Replay<tflite::MicroMemoryPlanner> planner(kPlan, 2);
//
// Both are templates over tflite::MicroMemoryPlanner, so that this header needs no other of
// TensorFlow. C++17; no heap, no exceptions, of the standard library only <cstddef> and
// <cstdint>. They must outlive the interpreter. Not safe for several threads, as TFLM is not.
#ifndef BERTH_ADAPTERS_TFLM_PLANNERS_H_
#define BERTH_ADAPTERS_TFLM_PLANNERS_H_

#include <cstddef>
#include <cstdint>

namespace berth {
namespace tflm {

// What TFLM rounds sizes up to, and so what all offsets are multiples of (bytes).
constexpr int kAlignment = 16;

// One request, and the offset for it.
struct PlannedBuffer {
  std::int32_t size;   // Bytes.
  std::int32_t first;  // Steps; both are live.
  std::int32_t last;
  std::int32_t offset;  // Bytes from the arena's aligned start.
};

namespace internal {

template <typename Base>
struct StatusOf {
  template <typename Status>
  static Status Result(Status (Base::*)(int, int, int));
  using Type = decltype(Result(&Base::AddBuffer));
};

// A line of text in a fixed number of characters.
class Line {
 public:
  void Add(const char* text) {
    while (*text != '\0') AddCharacter(*text++);
  }
  void Add(int number) {
    char digits[12];
    int count = 0;
    // Of the most negative number, too.
    unsigned rest = number < 0 ? 0u - static_cast<unsigned>(number) : static_cast<unsigned>(number);
    do {
      digits[count++] = static_cast<char>('0' + rest % 10);
      rest /= 10;
    } while (rest != 0);
    if (number < 0) AddCharacter('-');
    while (count > 0) AddCharacter(digits[--count]);
  }
  const char* text() const { return text_; }

 private:
  void AddCharacter(char c) {
    if (length_ + 1 < static_cast<int>(sizeof text_)) text_[length_++] = c;
  }
  char text_[96] = {};  // Five numbers and their separators.
  int length_ = 0;
};

}  // namespace internal

// Base is tflite::MicroMemoryPlanner.
template <typename Base>
class Recorder : public Base {
 public:
  using Status = typename internal::StatusOf<Base>::Type;
  // Receives one line without its end; the first is the head of the table.
  using Write = void (*)(void* user, const char* line);

  Recorder(Base& planner, Write write, void* user = nullptr)
      : planner_(planner), write_(write), user_(user) {}

  // Another table begins.
  Status Init(unsigned char* scratch_buffer, int scratch_buffer_size) override {
    rows_ = 0;
    return planner_.Init(scratch_buffer, scratch_buffer_size);
  }
  Status AddBuffer(int size, int first_time_used, int last_time_used) override {
    Record(size, first_time_used, last_time_used, -1);
    return planner_.AddBuffer(size, first_time_used, last_time_used);
  }
  Status AddBuffer(int size, int first_time_used, int last_time_used, int offline_offset) override {
    Record(size, first_time_used, last_time_used, offline_offset);
    return planner_.AddBuffer(size, first_time_used, last_time_used, offline_offset);
  }
  std::size_t GetMaximumMemorySize() override { return planner_.GetMaximumMemorySize(); }
  int GetBufferCount() override { return planner_.GetBufferCount(); }
  Status GetOffsetForBuffer(int buffer_index, int* offset) override {
    return planner_.GetOffsetForBuffer(buffer_index, offset);
  }
  bool preserves_all_tensors() const override { return planner_.preserves_all_tensors(); }
  void PrintMemoryPlan() override { planner_.PrintMemoryPlan(); }

 private:
  void Record(int size, int first, int last, int offset) {
    // In Berth's tables, a column called `end` is the last step.
    if (rows_ == 0) write_(user_, "id,start,end,size,alignment,offset");
    internal::Line line;
    line.Add(rows_++);
    for (const int number : {first, last, size, kAlignment}) {
      line.Add(",");
      line.Add(number);
    }
    line.Add(",");
    if (offset >= 0) line.Add(offset);
    write_(user_, line.text());
  }

  Base& planner_;
  const Write write_;
  void* const user_;
  int rows_ = 0;
};

// Base is tflite::MicroMemoryPlanner. `buffers` are the rows of the recorded table, in its order.
template <typename Base>
class Replay : public Base {
 public:
  using Status = typename internal::StatusOf<Base>::Type;

  Replay(const PlannedBuffer* buffers, int count) : buffers_(buffers), count_(count) {}

  // The interpreter calls it before the first request, each time when it allocates its tensors.
  Status Init(unsigned char*, int) override {
    requests_ = 0;
    return kOk;
  }
  // An error if the request is not the one that was planned: another model, other kernels.
  Status AddBuffer(int size, int first_time_used, int last_time_used) override {
    if (requests_ >= count_) return kError;
    const PlannedBuffer& planned = buffers_[requests_];
    if (size != planned.size || first_time_used != planned.first ||
        last_time_used != planned.last || planned.offset < 0 || planned.offset % kAlignment != 0 ||
        planned.offset > INT32_MAX - planned.size) {
      return kError;
    }
    ++requests_;
    return kOk;
  }
  // The same, for a tensor whose offset the model itself states.
  Status AddBuffer(int size, int first_time_used, int last_time_used, int offline_offset) override {
    if (requests_ >= count_ || buffers_[requests_].offset != offline_offset) return kError;
    return AddBuffer(size, first_time_used, last_time_used);
  }
  // The end of the highest buffer (bytes), as all requests were planned.
  std::size_t GetMaximumMemorySize() override {
    std::size_t height = 0;
    for (int i = 0; i < count_; ++i) {
      if (buffers_[i].offset < 0 || buffers_[i].size < 0) continue;  // AddBuffer() refuses it.
      const std::size_t end =
          static_cast<std::size_t>(buffers_[i].offset) + static_cast<std::size_t>(buffers_[i].size);
      if (end > height) height = end;
    }
    return height;
  }
  int GetBufferCount() override { return requests_; }
  // An error before all that was planned has been requested.
  Status GetOffsetForBuffer(int buffer_index, int* offset) override {
    if (buffer_index < 0 || buffer_index >= requests_ || requests_ != count_) return kError;
    *offset = buffers_[buffer_index].offset;
    return kOk;
  }
  // Tensors share bytes over time, unless the plan has all of them apart.
  bool preserves_all_tensors() const override { return false; }
  // Nothing: the plan is known.
  void PrintMemoryPlan() override {}

 private:
  static constexpr Status kOk = static_cast<Status>(0);
  static constexpr Status kError = static_cast<Status>(1);

  const PlannedBuffer* const buffers_;
  const int count_;
  int requests_ = 0;
};

}  // namespace tflm
}  // namespace berth

#endif  // BERTH_ADAPTERS_TFLM_PLANNERS_H_
