// Programs of ExecuTorch, made for tests.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "berth/file.h"
#include "berth/recorded.h"
#include "tests/tflite/flat_writer.h"

namespace berth {
namespace {

using Writer = tflite_build::FlatWriter;

constexpr int kKernel = 1, kDelegate = 2, kMove = 3, kJumpFalse = 4;

struct TestValue {
  std::vector<std::int32_t> shape;
  std::int64_t offset = -1;  // -1: without a place.
  std::int64_t memory = 1;
  int type = 6;  // 4 bytes.
  std::int64_t data = 0;
  std::vector<std::int32_t> list = {};  // A list of tensors instead.
  bool never = false;                   // A truth value that is false, without a shape.
};
struct TestInstruction {
  int type = kKernel;
  std::vector<std::int32_t> arguments;  // Of moves and jumps: from and to, condition and target.
  int name = 0;                         // Of TestPlan::names.
};
struct TestPlan {
  std::string name = "forward";
  std::vector<TestValue> values;
  std::vector<std::int32_t> inputs = {};
  std::vector<std::int32_t> outputs = {};
  std::vector<TestInstruction> instructions = {};
  std::vector<std::int64_t> memories = {0, 4096};
  std::vector<std::string> names = {"aten::op"};  // Of operators and delegates.
};

Writer::Child ValueOf(Writer& w, const TestValue& value) {
  return [&w, value] {
    if (!value.list.empty()) {
      return w.Table({{0, 10}, {1, 0, [&] {
                                  return w.Table({{0, 0, [&] { return w.Integers(value.list); }}});
                                }}});
    }
    if (value.shape.empty()) {
      return w.Table({{0, value.never ? 3 : 2}, {1, 0, [&] {
                                                   return w.Table({{0, value.never ? 0 : 7}});
                                                 }}});
    }
    std::vector<Writer::Field> tensor = {
        {0, value.type}, {2, 0, [&] { return w.Integers(value.shape); }}, {5, value.data}};
    if (value.offset >= 0) {
      tensor.push_back({6, 0, [&] {
                          return w.Table({{0, value.memory},
                                          {1, value.offset & 0xffffffff},
                                          {2, value.offset >> 32}});
                        }});
    }
    return w.Table({{0, 5}, {1, 0, [&] { return w.Table(tensor); }}});
  };
}

Writer::Child InstructionOf(Writer& w, const TestInstruction& instruction) {
  return [&w, instruction] {
    const auto& arguments = instruction.arguments;
    return w.Table(
        {{0, instruction.type},
         {1, 0, [&] {
            if (instruction.type == kMove || instruction.type == kJumpFalse) {
              return w.Table({{0, arguments[0]}, {1, arguments[1]}});
            }
            return w.Table({{0, instruction.name}, {1, 0, [&] { return w.Integers(arguments); }}});
          }}});
  };
}

std::string Program(const std::vector<TestPlan>& plans) {
  Writer w;
  w.Begin("ET12");
  std::vector<Writer::Child> written;
  for (const TestPlan& plan : plans) {
    written.push_back([&w, plan] {
      std::vector<Writer::Child> values, instructions;
      for (const TestValue& value : plan.values) values.push_back(ValueOf(w, value));
      for (const TestInstruction& each : plan.instructions) {
        instructions.push_back(InstructionOf(w, each));
      }
      std::vector<Writer::Child> named;
      for (const std::string& name : plan.names) {
        named.push_back([&w, name] { return w.Table({{0, 0, [&] { return w.Text(name); }}}); });
      }
      const Writer::Child chain = [&w, instructions] {
        return w.Table({{2, 0, [&] { return w.Tables(instructions); }}});
      };
      return w.Table({{0, 0, [&] { return w.Text(plan.name); }},
                      {2, 0, [&] { return w.Tables(values); }},
                      {3, 0, [&] { return w.Integers(plan.inputs); }},
                      {4, 0, [&] { return w.Integers(plan.outputs); }},
                      {5, 0, [&] { return w.Tables({chain}); }},
                      {6, 0, [&] { return w.Tables(named); }},
                      {7, 0, [&] { return w.Tables(named); }},
                      {8, 0, [&] { return w.Longs(plan.memories); }}});
    });
  }
  return w.End(w.Table({{0, 0}, {1, 0, [&] { return w.Tables(written); }}}));
}

RecordedFile Read(const std::vector<TestPlan>& plans) {
  const auto file = ReadRecorded(Program(plans), "m.pte");
  EXPECT_TRUE(file.has_value()) << file.error().message;
  return file.value_or(RecordedFile{});
}

std::vector<Buffer> BuffersOf(const TestPlan& plan) {
  const RecordedFile file = Read({plan});
  return file.problems.size() == 1 ? file.problems[0].problem.buffers : std::vector<Buffer>{};
}

// in -> a -> b -> out, and a list, a number and a tensor without a place.
TestPlan Chain() {
  TestPlan plan;
  plan.values = {{{4, 4}, 0}, {{4, 5}, 64}, {{3}, 0}, {{4}, 64}, {{}}, {{9}}};
  plan.inputs = {0, 4};
  plan.outputs = {3};
  plan.instructions = {{kKernel, {0, 4, 1, 1}}, {kKernel, {1, 5, 2, 2}}, {kKernel, {2, 3, 3}}};
  plan.memories = {0, 144};
  return plan;
}

TEST(ExecutorchTest, LifetimesFollowFromTheInstructions) {
  const std::string bytes = Program({Chain()});
  EXPECT_EQ(FormatOfRecorded(bytes), RecordedFormat::kExecutorch);
  const RecordedFile file = Read({Chain()});
  EXPECT_EQ(file.maker, "ExecuTorch");
  ASSERT_EQ(file.problems.size(), 1u);
  const RecordedProblem& problem = file.problems[0];
  EXPECT_EQ(problem.name, "forward");
  EXPECT_EQ(problem.height, 144) << "as the file says";
  EXPECT_EQ(problem.offsets, (std::vector<Bytes>{0, 64, 0, 64}));
  EXPECT_EQ(problem.problem.buffers, (std::vector<Buffer>{{"0: input", 0, 2, 64, 16},
                                                          {"1: aten::op", 1, 3, 80, 16},
                                                          {"2: aten::op", 2, 4, 16, 16},
                                                          {"3: aten::op", 3, 5, 16, 16}}));
  EXPECT_TRUE(problem.notes.empty());
}

TEST(ExecutorchTest, AProblemForEachMethodAndMemory) {
  TestPlan odd = Chain();
  odd.name = "a\xff";
  EXPECT_EQ(Read({odd}).problems.at(0).name, "a\\xff");
  TestPlan two = Chain();
  two.name = "backward";
  two.values[1].memory = 2;
  two.memories = {0, 80, 144};
  const RecordedFile file = Read({Chain(), two, Chain()});
  ASSERT_EQ(file.problems.size(), 4u);
  EXPECT_EQ(file.problems[1].name, "backward, memory 1");
  EXPECT_EQ(file.problems[2].name, "backward, memory 2");
  EXPECT_EQ(file.problems[2].height, 144);
  EXPECT_EQ(file.problems[3].name, "forward#2");
}

TEST(ExecutorchTest, WhatIsReadBeforeItIsWrittenHasTheBytesOfAnother) {
  // The second value is another shape of the first; a step without either is between.
  TestPlan plan;
  plan.values = {{{4, 4}, 0}, {{16}, 0}, {{4}, 64}, {{4}, 80}};
  plan.instructions = {{kKernel, {0}}, {kKernel, {2}}, {kKernel, {1, 3, 3}}};
  plan.outputs = {3};
  EXPECT_EQ(BuffersOf(plan), (std::vector<Buffer>{{"0: aten::op", 1, 4, 64, 16},
                                                  {"2: aten::op", 2, 3, 16, 16},
                                                  {"3: aten::op", 3, 5, 16, 16}}));
}

TEST(ExecutorchTest, StateIsThereThroughout) {
  TestPlan plan;
  plan.values = {{{4}, 0, 1, 6, 3}, {{4}, 16}, {{4}, 32}};
  plan.instructions = {{kKernel, {2, 2}}, {kKernel, {0, 1, 2, 2}}, {kKernel, {2, 2}}};
  // Without data (1) as with (0): it is read, but never written.
  EXPECT_EQ(BuffersOf(plan), (std::vector<Buffer>{{"0: state", 0, 5, 16, 16},
                                                  {"1: state", 0, 5, 16, 16},
                                                  {"2: aten::op", 1, 4, 16, 16}}));
}

TEST(ExecutorchTest, LoopsAndMovesKeepWhatTheyUse) {
  TestPlan plan;
  plan.values = {{{4}, 0}, {{4}, 16}, {{4}, 32}, {{}}};
  plan.instructions = {{kKernel, {0}},       {kKernel, {0, 1, 1}}, {kKernel, {1, 3}},
                       {kJumpFalse, {3, 1}}, {kMove, {1, 2}},      {kKernel, {3}},
                       {kKernel, {2, 3}}};
  EXPECT_EQ(BuffersOf(plan), (std::vector<Buffer>{{"0: aten::op", 1, 5, 16, 16},
                                                  {"1: aten::op", 2, 8, 16, 16},
                                                  {"2: move", 5, 8, 16, 16}}));
}

TEST(ExecutorchTest, ListsAndDelegates) {
  TestPlan plan;
  plan.values = {{{4}, 0}, {{4}, 16}, {{4}, 32}, {{}, -1, 1, 6, 0, {1, 2}}, {{4}, 48}};
  plan.inputs = {0};
  plan.instructions = {{kKernel, {0, 3}}, {kKernel, {3, 4, 4}}, {kDelegate, {4, 0}}};
  EXPECT_EQ(BuffersOf(plan), (std::vector<Buffer>{{"0: input", 0, 4, 16, 16},
                                                  {"1: aten::op", 1, 3, 16, 16},
                                                  {"2: aten::op", 1, 3, 16, 16},
                                                  {"4: aten::op", 2, 4, 16, 16}}));
}

// ---- Loops.

// A step before that leaves bytes, then a loop of a slice, two tensors, and the write of a part of the
// result, which is in those bytes: [all, part, index].
TEST(ExecutorchTest, WhatALoopFillsLivesFromItsBeginning) {
  TestPlan plan;
  plan.names = {"aten::op", "executorch_prim::et_copy_index"};
  plan.values = {{{25}, 0}, {{2}, 200}, {{25}, 200}, {{20}, 100}, {{15}, 300}, {{15}, 360}, {}};
  plan.inputs = {0};
  plan.outputs = {2};
  plan.instructions = {{kKernel, {0, 1}}, {kKernel, {1, 3}},   {kKernel, {0, 3}},
                       {kKernel, {3, 4}}, {kKernel, {4, 5}},   {kKernel, {2, 5, 6}, 1},
                       {kKernel, {6, 6}}, {kJumpFalse, {6, 2}}};
  const RecordedFile file = Read({plan});
  ASSERT_EQ(file.problems.size(), 1u);
  EXPECT_TRUE(file.problems[0].notes.empty());
  EXPECT_EQ(file.problems[0].problem.buffers,
            (std::vector<Buffer>{{"0: input", 0, 9, 100, 4},
                                 {"1: aten::op", 1, 3, 8, 4},
                                 {"2: executorch_prim::et_copy_index", 3, 10, 100, 4},
                                 {"3: aten::op", 2, 9, 80, 4},
                                 {"4: aten::op", 4, 6, 60, 4},
                                 {"5: aten::op", 5, 7, 60, 4}}));
}

// A loop within a loop: the inner one's result begins anew in each round of the outer one.
TEST(ExecutorchTest, WhatAnInnerLoopFillsLivesFromThatLoopsBeginning) {
  TestPlan plan;
  plan.names = {"aten::op", "executorch_prim::et_copy_index"};
  plan.values = {{{4}, 0}, {{4}, 16}, {{4}, 32}, {}};
  plan.outputs = {0};
  plan.instructions = {{kKernel, {3, 3}},    {kKernel, {3, 2}},       {kKernel, {1, 2, 3}, 1},
                       {kJumpFalse, {3, 1}}, {kKernel, {0, 1, 3}, 1}, {kJumpFalse, {3, 0}}};
  EXPECT_EQ(BuffersOf(plan),
            (std::vector<Buffer>{{"0: executorch_prim::et_copy_index", 1, 8, 16, 16},
                                 {"1: executorch_prim::et_copy_index", 2, 6, 16, 16},
                                 {"2: aten::op", 2, 4, 16, 16}}));
}

TEST(ExecutorchTest, WhatIsReadAfterALoopLivesFromTheLoopsBeginning) {
  TestPlan plan;
  plan.values = {{{4}, 0}, {{4}, 16}, {}};
  plan.outputs = {1};
  plan.instructions = {{kKernel, {2, 0}}, {kKernel, {0, 1}}, {kJumpFalse, {2, 0}}};
  const RecordedFile file = Read({plan});
  ASSERT_EQ(file.problems.size(), 1u);
  EXPECT_EQ(file.problems[0].problem.buffers,
            (std::vector<Buffer>{{"0: aten::op", 1, 3, 16, 16}, {"1: aten::op", 1, 5, 16, 16}}));
  EXPECT_EQ(file.problems[0].notes.size(), 1u) << "each round may write it first";
}

// The loop reads value 0, and moves value 1 there for the next round.
TEST(ExecutorchTest, WhatIsMovedToTheNextRoundLivesThroughTheLoop) {
  TestPlan plan;
  plan.values = {{{4}, 0}, {{4}, 16}, {{4}, 32}, {}};
  plan.instructions = {{kKernel, {3, 0}}, {kKernel, {0, 2}}, {kKernel, {2, 1}},
                       {kMove, {1, 0}},   {kKernel, {3}},    {kJumpFalse, {3, 1}}};
  EXPECT_EQ(BuffersOf(plan), (std::vector<Buffer>{{"0: aten::op", 1, 7, 16, 16},
                                                  {"1: aten::op", 2, 7, 16, 16},
                                                  {"2: aten::op", 2, 4, 16, 16}}));
}

// ---- Branches.

// The first branch makes value 2, the second one values 3 and 4; value 5 is the name of either result.
// Values 2 and 3 share bytes in part, which is right, as one branch runs.
TestPlan TwoBranches() {
  TestPlan plan;
  TestValue never;
  never.never = true;
  plan.values = {{{4}, 0}, {{}}, {{8}, 16}, {{8}, 32}, {{8}, 64}, {{8}, 96}, never, {{4}, 128}};
  plan.inputs = {0, 1};
  plan.outputs = {7};
  plan.instructions = {{kJumpFalse, {1, 4}}, {kKernel, {0, 2}}, {kMove, {2, 5}},
                       {kJumpFalse, {6, 7}}, {kKernel, {0, 3}}, {kKernel, {3, 4}},
                       {kMove, {4, 5}},      {kKernel, {5, 7}}};
  return plan;
}

TEST(ExecutorchTest, WhatABranchMakesIsNotLiveInTheOtherOne) {
  const RecordedFile file = Read({TwoBranches()});
  ASSERT_EQ(file.problems.size(), 1u);
  const RecordedProblem& problem = file.problems[0];
  const auto with_gap = [](Buffer buffer) {
    buffer.gaps = {{5, 8}};
    return buffer;
  };
  EXPECT_EQ(problem.problem.buffers, (std::vector<Buffer>{{"0: input", 0, 6, 16, 16},
                                                          with_gap({"2: aten::op", 2, 9, 32, 16}),
                                                          {"3: aten::op", 5, 7, 32, 16},
                                                          {"4: aten::op", 6, 9, 32, 16},
                                                          with_gap({"5: move", 3, 9, 32, 16}),
                                                          {"7: aten::op", 8, 10, 16, 16}}));
  EXPECT_FALSE(problem.exact) << "after the branches only one of 2 and 4 is live";
  EXPECT_EQ(problem.notes.size(), 1u);
}

// Temporary tensors of two branches in one place are no group.
TEST(ExecutorchTest, TensorsOfTwoBranchesInOnePlaceAreTwoBuffers) {
  TestPlan plan = TwoBranches();
  plan.values[3].offset = 16;
  plan.values[4].offset = 48;
  const RecordedFile file = Read({plan});
  ASSERT_EQ(file.problems.size(), 1u);
  EXPECT_EQ(file.problems[0].problem.buffers.size(), 6u);
}

// One of them is there, so that they may share bytes in part; with what is made later they may not.
TEST(ExecutorchTest, ResultsOfTwoBranchesMayShareBytesInPart) {
  const auto is_valid = [](const TestPlan& plan) {
    const RecordedFile file = Read({plan});
    if (file.problems.size() != 1) return false;
    const RecordedProblem& problem = file.problems[0];
    const Placement requests{problem.request_offsets,
                             Height(problem.requests, problem.request_offsets)};
    const bool requests_hold = ValidatePlacement(problem.requests, requests).has_value();
    const Placement placement{problem.offsets, Height(problem.problem, problem.offsets)};
    EXPECT_EQ(ValidatePlacement(problem.problem, placement).has_value(), requests_hold);
    EXPECT_FALSE(problem.exact);
    return requests_hold;
  };
  TestPlan plan = TwoBranches();
  plan.values[3].offset = 160;
  plan.values[4].offset = 32;
  EXPECT_TRUE(is_valid(plan));
  std::vector<Buffer> buffers = BuffersOf(plan);
  ASSERT_EQ(buffers.size(), 5u);
  EXPECT_EQ(buffers[0].id, "2 or 4");
  EXPECT_EQ(buffers[0].size, 48);
  plan.values[7].offset = 56;
  EXPECT_FALSE(is_valid(plan)) << "made while either of them is live";
}

TEST(ExecutorchTest, WhatBothBranchesNameLivesInBoth) {
  const auto gaps_of = [](const TestPlan& plan, std::size_t buffer) {
    const std::vector<Buffer> buffers = BuffersOf(plan);
    return buffer < buffers.size() ? buffers[buffer].gaps.size() : 100;
  };
  ASSERT_EQ(gaps_of(TwoBranches(), 1), 1u);
  TestPlan named = TwoBranches();
  named.values[3].offset = 128;
  named.values[7].offset = 160;
  named.instructions[4] = {kKernel, {2, 3}};
  EXPECT_EQ(gaps_of(named, 1), 0u) << "read in the second branch";
  TestPlan changed = TwoBranches();
  changed.values[3].offset = 128;
  changed.values[7].offset = 160;
  changed.instructions[2] = {kKernel, {2, 6}};  // The jump's condition.
  EXPECT_EQ(gaps_of(changed, 1), 0u) << "the first branch may go on with the second one";
}

// ---- State.

TEST(ExecutorchTest, WhatIsChangedInPlaceIsReadFirst) {
  TestPlan plan;
  plan.names = {"aten::op", "aten::index_put_"};
  plan.values = {{{16}, 256}, {{64}, 0}, {{64}, 320}, {{16}, 576}};
  plan.inputs = {0};
  plan.outputs = {3};
  plan.instructions = {
      {kKernel, {0, 2}}, {kKernel, {2, 0}}, {kKernel, {1, 0, 1}, 1}, {kKernel, {1, 3}}};
  EXPECT_EQ(BuffersOf(plan), (std::vector<Buffer>{{"0: input", 0, 6, 64, 16},
                                                  {"1: state", 0, 6, 256, 16},
                                                  {"2: aten::op", 1, 3, 256, 16},
                                                  {"3: aten::op", 4, 6, 64, 16}}));
}

// A delegate has the old state and makes the new one, which is copied at the end.
TEST(ExecutorchTest, WhatADelegateNamesAndAKernelChangesIsState) {
  TestPlan plan;
  plan.names = {"aten::op", "aten::copy_", "Backend"};
  plan.values = {{{16}, 512}, {{64}, 0}, {{64}, 256}, {{16}, 576}};
  plan.inputs = {0};
  plan.outputs = {3};
  plan.instructions = {{kDelegate, {0, 1, 2, 3}, 2}, {kKernel, {1, 2, 1}, 1}};
  const RecordedFile file = Read({plan});
  ASSERT_EQ(file.problems.size(), 1u);
  EXPECT_EQ(file.problems[0].problem.buffers, (std::vector<Buffer>{{"0: input", 0, 2, 64, 16},
                                                                   {"1: Backend", 0, 4, 256, 16},
                                                                   {"2: Backend", 1, 3, 256, 16},
                                                                   {"3: Backend", 1, 4, 64, 16}}));
  EXPECT_EQ(file.problems[0].notes.size(), 1u);
  // Behind it is a tensor that was there, so the state is an input for certain.
  plan.instructions.insert(plan.instructions.begin(), {kKernel, {0, 2}});
  const RecordedFile certain = Read({plan});
  ASSERT_EQ(certain.problems.size(), 1u);
  EXPECT_EQ(certain.problems[0].problem.buffers[1], (Buffer{"1: state", 0, 5, 256, 16}));
  EXPECT_TRUE(certain.problems[0].notes.empty());
}

TEST(ExecutorchTest, CopiesMakeStateOnlyOfBytesThatNoOtherHas) {
  TestPlan plan;
  plan.names = {"aten::op", "aten::copy_"};
  plan.values = {{{4}, 0}, {{4}, 16}, {{4}, 32}, {{4}, 16}};
  plan.inputs = {0};
  // The first is the beginning of what a loop changes, the other is state for the next run.
  plan.instructions = {
      {kKernel, {1, 0, 1}, 1}, {kKernel, {1}}, {kKernel, {0, 3}}, {kKernel, {2, 0, 2}, 1}};
  EXPECT_EQ(BuffersOf(plan), (std::vector<Buffer>{{"0: input", 0, 5, 16, 16},
                                                  {"1: aten::copy_", 1, 3, 16, 16},
                                                  {"2: aten::copy_", 0, 6, 16, 16},
                                                  {"3: aten::op", 3, 4, 16, 16}}));
}

TEST(ExecutorchTest, AnInputThatIsChangedLivesThroughout) {
  TestPlan plan;
  plan.names = {"aten::op", "aten::copy_"};
  plan.values = {{{4}, 0}, {{4}, 16}};
  plan.inputs = {0};
  plan.instructions = {{kKernel, {0, 1}}, {kKernel, {0, 1, 0}, 1}, {kKernel, {1}}};
  EXPECT_EQ(BuffersOf(plan),
            (std::vector<Buffer>{{"0: input", 0, 5, 16, 16}, {"1: aten::op", 1, 4, 16, 16}}));
}

// ---- Delegates.

TEST(ExecutorchTest, TheLastArgumentOfADelegateIsAnOutput) {
  TestPlan plan;
  plan.values = {{{25}, 0}, {{25}, 100}, {{25}, 200}, {{25}, 0}};
  plan.inputs = {0};
  plan.outputs = {3};
  plan.instructions = {{kDelegate, {0, 1}}, {kDelegate, {1, 2}}, {kDelegate, {2, 3}}};
  plan.memories = {0, 300};
  const RecordedFile file = Read({plan});
  ASSERT_EQ(file.problems.size(), 1u);
  EXPECT_TRUE(file.problems[0].notes.empty());
  EXPECT_EQ(MaxLiveLoad(file.problems[0].problem).load, 200);
  // After a tensor that was there, all others may be outputs: here the bytes of the first one.
  plan.instructions = {{kDelegate, {0, 1}}, {kDelegate, {1, 3, 2}}, {kKernel, {2, 3, 2}}};
  const RecordedFile unclear = Read({plan});
  ASSERT_EQ(unclear.problems.size(), 1u);
  EXPECT_EQ(unclear.problems[0].notes.size(), 2u);  // And that two share bytes.
  EXPECT_FALSE(unclear.problems[0].exact);
  EXPECT_EQ(MaxLiveLoad(unclear.problems[0].problem).load, 300);
}

// The cost of repeated arguments, and of arguments in the bytes of many, is that of reading them.
TEST(ExecutorchTest, RepeatedArgumentsOfADelegateAreOne) {
  constexpr std::int32_t kMany = 3000;
  TestPlan plan;
  for (std::int32_t i = 0; i < kMany; ++i) {
    plan.values.push_back({{4}, 16 * std::int64_t{i}});
    plan.inputs.push_back(i);
  }
  plan.values.push_back({{4 * kMany}, 0});
  plan.instructions = {{kDelegate, std::vector<std::int32_t>(10 * kMany, kMany)}};
  plan.memories = {0, 16 * kMany};
  EXPECT_EQ(BuffersOf(plan).size(), kMany + 1u);
}

// Many jumps to one place: each value would have a gap for each of them.
TEST(ExecutorchTest, GapsAreNoMoreThanTheFileIsLong) {
  constexpr std::int32_t kMany = 1000;
  TestPlan plan;
  TestValue never;
  never.never = true;
  plan.values = {never, {{}}};
  for (std::int32_t i = 0; i < kMany; ++i) {
    plan.instructions.push_back({kJumpFalse, {1, 2 * kMany + 1}});
  }
  for (std::int32_t i = 0; i < kMany; ++i) {
    plan.values.push_back({{4}, 16 * std::int64_t{i}});
    plan.outputs.push_back(i + 2);
    plan.instructions.push_back({kKernel, {i + 2}});
  }
  plan.instructions.push_back({kJumpFalse, {0, 2 * kMany + 2}});
  plan.instructions.push_back({kKernel, {1}});
  plan.memories = {0, 16 * kMany};
  const auto file = ReadRecorded(Program({plan}), "m.pte");
  ASSERT_FALSE(file.has_value());
  EXPECT_NE(file.error().message.find("more elements than the file"), std::string::npos);
  plan.instructions.erase(plan.instructions.begin(), plan.instructions.begin() + kMany - 10);
  for (TestInstruction& each : plan.instructions) {
    if (each.type == kJumpFalse) each.arguments[1] -= kMany - 10;
  }
  EXPECT_EQ(BuffersOf(plan).size(), kMany + 0u);
}

// A program as ExecuTorch 1.5 exports it: a branch on the sum of the input.
TEST(ExecutorchTest, RealProgram) {
  const auto bytes = ReadFile(BERTH_SOURCE_DIR "/tests/recorded/files/branches.pte");
  ASSERT_TRUE(bytes.has_value()) << bytes.error().message;
  const auto file = ReadRecorded(*bytes, "branches.pte");
  ASSERT_TRUE(file.has_value()) << file.error().message;
  ASSERT_EQ(file->problems.size(), 1u);
  const RecordedProblem& problem = file->problems[0];
  EXPECT_EQ(problem.name, "forward");
  EXPECT_EQ(problem.problem.buffers.size(), 9u);
  EXPECT_FALSE(problem.exact) << "either branch's result may be live after them";
  EXPECT_EQ(problem.problem.buffers[0], (Buffer{"0: input", 0, 10, 4096, 16}));
  EXPECT_EQ(problem.height, 16416);
  EXPECT_EQ(Height(problem.problem, problem.offsets), 16416);
  const auto valid = ValidatePlacement(problem.problem, {problem.offsets, 16416});
  EXPECT_TRUE(valid.has_value()) << valid.error().message;
}

void ExpectRefused(const TestPlan& plan, const std::string& words) {
  const auto file = ReadRecorded(Program({plan}), "m.pte");
  ASSERT_FALSE(file.has_value()) << words;
  EXPECT_TRUE(file.error().message.starts_with("m.pte: byte ")) << file.error().message;
  EXPECT_NE(file.error().message.find(words), std::string::npos) << file.error().message;
}

// A name is in the file once, however many values an operator of this name makes.
TEST(ExecutorchTest, NamesOfOperatorsAreNoLongerThanTheFile) {
  TestPlan plan;
  plan.names = {std::string(200, '\x01')};
  for (int v = 0; v < 2000; ++v) {
    plan.values.push_back({{4}, 16 * v});
    plan.instructions.push_back({kKernel, {v, v}});
  }
  plan.memories = {0, 16 * 2000};
  const std::vector<Buffer> buffers = BuffersOf(plan);
  ASSERT_EQ(buffers.size(), 2000u);
  EXPECT_GT(buffers.front().id.size(), 200u);
  EXPECT_EQ(buffers.back().id, "1999");
  std::size_t characters = 0;
  for (const Buffer& buffer : buffers) characters += buffer.id.size();
  EXPECT_LT(characters, Program({plan}).size() + 100'000);
}

TEST(ExecutorchTest, FaultsAreNamed) {
  TestPlan plan = Chain();
  plan.values[1].offset = 80;
  ExpectRefused(plan, "a tensor of 80 bytes at offset 80 of memory 1, which has 144 bytes");
  plan = Chain();
  plan.values[1].memory = 7;
  ExpectRefused(plan, "of memory 7, which has 0 bytes");
  plan = Chain();
  plan.values[1].type = 99;
  ExpectRefused(plan, "the unknown scalar type 99");
  plan = Chain();
  plan.values[1].shape = {1 << 30, 1 << 30, 4};
  ExpectRefused(plan, "of a dimension is negative or too large");
  plan = Chain();
  plan.outputs = {6};
  ExpectRefused(plan, "a list of values names value 6 of 6");
  plan = Chain();
  plan.instructions.push_back({kJumpFalse, {4, -1}});
  ExpectRefused(plan, "a jump to before the first instruction");
}

TEST(ExecutorchTest, BrokenFilesAreReadOrRefused) {
  const std::string bytes = Program({Chain()});
  for (std::size_t at = 8; at < bytes.size(); ++at) {
    for (const int change : {1, 0x7f, 0xff}) {
      std::string broken = bytes;
      broken[at] = static_cast<char>(broken[at] ^ change);
      const auto file = ReadRecorded(broken, "m.pte");
      if (!file) {
        EXPECT_EQ(file.error().message.find('\n'), std::string::npos);
        continue;
      }
      for (const RecordedProblem& each : file->problems) EXPECT_TRUE(Validate(each.problem));
    }
    static_cast<void>(ReadRecorded(bytes.substr(0, at), "m.pte"));
  }
}

}  // namespace
}  // namespace berth
