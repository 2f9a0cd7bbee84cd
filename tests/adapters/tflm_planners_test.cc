// TFLM's planners, on an interface with the members of TFLM's own.

#include <gtest/gtest.h>

#include <climits>
#include <string>
#include <vector>

#include "berth/adapters/tflm/planners.h"
#include "berth/place.h"
#include "berth/table_io.h"

namespace berth::tflm {
namespace {

enum Status { kOk = 0, kError = 1 };

class MemoryPlanner {
 public:
  virtual ~MemoryPlanner() = default;
  virtual Status AddBuffer(int size, int first_time_used, int last_time_used) = 0;
  virtual Status AddBuffer(int, int, int, int) { return kError; }
  virtual size_t GetMaximumMemorySize() = 0;
  virtual int GetBufferCount() = 0;
  virtual Status GetOffsetForBuffer(int buffer_index, int* offset) = 0;
  virtual Status Init(unsigned char*, int) { return kOk; }
  [[nodiscard]] virtual bool preserves_all_tensors() const = 0;
  virtual void PrintMemoryPlan() {}
};

// One buffer after the other.
class Stack : public MemoryPlanner {
 public:
  Status Init(unsigned char*, int size) override {
    initialized = size;
    return kOk;
  }
  Status AddBuffer(int size, int, int) override {
    offsets_.push_back(height_);
    height_ += size;
    return kOk;
  }
  Status AddBuffer(int size, int first, int last, int) override {
    return AddBuffer(size, first, last);
  }
  size_t GetMaximumMemorySize() override { return static_cast<size_t>(height_); }
  int GetBufferCount() override { return static_cast<int>(offsets_.size()); }
  Status GetOffsetForBuffer(int index, int* offset) override {
    *offset = offsets_[static_cast<std::size_t>(index)];
    return kOk;
  }
  [[nodiscard]] bool preserves_all_tensors() const override { return true; }
  void PrintMemoryPlan() override { ++printed; }

  int initialized = 0;
  int printed = 0;

 private:
  std::vector<int> offsets_;
  int height_ = 0;
};

// What a small model asks for: three tensors, one with an offset of its own, and scratch.
void Request(MemoryPlanner& planner) {
  EXPECT_EQ(planner.AddBuffer(64, 0, 1), kOk);
  EXPECT_EQ(planner.AddBuffer(32, 1, 2, 64), kOk);
  EXPECT_EQ(planner.AddBuffer(64, 2, 3), kOk);
  EXPECT_EQ(planner.AddBuffer(48, 2, 2), kOk);
}

std::string Recorded(MemoryPlanner& planner) {
  std::string text;
  Recorder<MemoryPlanner> recorder(
      planner,
      [](void* user, const char* line) {
        *static_cast<std::string*>(user) += line + std::string("\n");
      },
      &text);
  Request(recorder);
  return text;
}

TEST(TflmRecorder, WritesATableThatBerthReads) {
  Stack stack;
  const std::string text = Recorded(stack);
  EXPECT_EQ(text,
            "id,start,end,size,alignment,offset\n"
            "0,0,1,64,16,\n"
            "1,1,2,32,16,64\n"
            "2,2,3,64,16,\n"
            "3,2,2,48,16,\n");
  const auto table = ReadCsv(text, "recorded");
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_EQ(table->problem.buffers[0].end, 2);
  EXPECT_EQ(table->problem.buffers[1].offset, 64);
}

TEST(TflmRecorder, PlansAsTheOtherPlannerDoes) {
  Stack stack;
  Recorder<MemoryPlanner> recorder(stack, [](void*, const char*) {});
  EXPECT_EQ(recorder.Init(nullptr, 7), kOk);
  EXPECT_EQ(stack.initialized, 7);
  Request(recorder);
  EXPECT_EQ(recorder.GetMaximumMemorySize(), 208u);
  EXPECT_EQ(recorder.GetBufferCount(), 4);
  int offset = 0;
  EXPECT_EQ(recorder.GetOffsetForBuffer(2, &offset), kOk);
  EXPECT_EQ(offset, 96);
  EXPECT_TRUE(recorder.preserves_all_tensors());
  recorder.PrintMemoryPlan();
  EXPECT_EQ(stack.printed, 1);
}

TEST(TflmRecorder, WritesNumbersOfAnyLength) {
  Stack stack;
  std::vector<std::string> lines;
  Recorder<MemoryPlanner> recorder(
      stack,
      [](void* user, const char* line) {
        static_cast<std::vector<std::string>*>(user)->push_back(line);
      },
      &lines);
  EXPECT_EQ(recorder.AddBuffer(INT_MAX, INT_MIN, INT_MAX, INT_MAX), kOk);
  EXPECT_EQ(lines[1], "0,-2147483648,2147483647,2147483647,16,2147483647");
}

std::vector<PlannedBuffer> Planned() {
  Stack stack;
  const auto table = ReadCsv(Recorded(stack), "recorded");
  Budget budget;
  const auto answer = Place(table->problem, {}, budget);
  const auto offsets = PlacementOf(*answer->best).offsets;
  std::vector<PlannedBuffer> rows;
  for (std::size_t b = 0; b < offsets.size(); ++b) {
    const Buffer& buffer = table->problem.buffers[b];
    rows.push_back({static_cast<int32_t>(buffer.size), static_cast<int32_t>(buffer.start),
                    static_cast<int32_t>(buffer.end - 1), static_cast<int32_t>(offsets[b])});
  }
  return rows;
}

TEST(TflmReplay, GivesTheOffsetsOfThePlan) {
  const auto rows = Planned();
  Replay<MemoryPlanner> replay(rows.data(), static_cast<int>(rows.size()));
  int offset = 0;
  EXPECT_EQ(replay.GetOffsetForBuffer(0, &offset), kError);  // Nothing was requested.
  Request(replay);
  EXPECT_EQ(replay.GetBufferCount(), 4);
  EXPECT_EQ(replay.GetMaximumMemorySize(), 144u);
  for (std::size_t b = 0; b < rows.size(); ++b) {
    EXPECT_EQ(replay.GetOffsetForBuffer(static_cast<int>(b), &offset), kOk);
    EXPECT_EQ(offset, rows[b].offset);
  }
  EXPECT_EQ(replay.GetOffsetForBuffer(4, &offset), kError);
  EXPECT_EQ(replay.GetOffsetForBuffer(-1, &offset), kError);
  EXPECT_EQ(replay.AddBuffer(16, 3, 3), kError);  // More than was planned.
  EXPECT_FALSE(replay.preserves_all_tensors());
}

// An interpreter may allocate its tensors twice.
TEST(TflmReplay, BeginsAnew) {
  const auto rows = Planned();
  Replay<MemoryPlanner> replay(rows.data(), static_cast<int>(rows.size()));
  for (int time = 0; time < 2; ++time) {
    EXPECT_EQ(replay.Init(nullptr, 0), kOk);
    EXPECT_EQ(replay.GetBufferCount(), 0);
    Request(replay);
    EXPECT_EQ(replay.GetBufferCount(), 4);
  }
}

TEST(TflmRecorder, BeginsAnotherTable) {
  Stack stack;
  std::string text;
  Recorder<MemoryPlanner> recorder(
      stack,
      [](void* user, const char* line) {
        *static_cast<std::string*>(user) += line + std::string("\n");
      },
      &text);
  Request(recorder);
  const std::string once = text;
  EXPECT_EQ(recorder.Init(nullptr, 0), kOk);
  Request(recorder);
  EXPECT_EQ(text, once + once);
}

TEST(TflmReplay, RefusesAnotherRequest) {
  const auto rows = Planned();
  const auto after = [&](int size, int first, int last) {
    Replay<MemoryPlanner> replay(rows.data(), static_cast<int>(rows.size()));
    return replay.AddBuffer(size, first, last);
  };
  EXPECT_EQ(after(64, 0, 1), kOk);
  EXPECT_EQ(after(80, 0, 1), kError);
  EXPECT_EQ(after(64, 1, 1), kError);
  EXPECT_EQ(after(64, 0, 2), kError);
  Replay<MemoryPlanner> replay(rows.data(), static_cast<int>(rows.size()));
  EXPECT_EQ(replay.AddBuffer(64, 0, 1), kOk);
  EXPECT_EQ(replay.AddBuffer(32, 1, 2, 48), kError);  // Another offset in the model.
  const PlannedBuffer odd[] = {{64, 0, 1, 8}, {64, 0, 1, INT32_MAX - 15}, {64, 0, 1, -16}};
  for (const PlannedBuffer& row : odd) {
    Replay<MemoryPlanner> bad(&row, 1);
    EXPECT_EQ(bad.AddBuffer(64, 0, 1), kError) << row.offset;
  }
}

}  // namespace
}  // namespace berth::tflm
