// TensorFlow Lite models: the plan goes into the model, and a header beside it.
#include "berth/tflite.h"

#include <nlohmann/json.hpp>

#include "tests/cli/berth_process.h"
#include "tests/tflite/builder.h"

namespace berth::cli {
namespace {

using Json = nlohmann::json;

class TfliteTest : public CommandTest {
 protected:
  [[nodiscard]] std::string Model() const {
    return Write("model.tflite", tflite_build::Build(tflite_build::TwoBranches()));
  }
};

TEST_F(TfliteTest, PlansIntoTheModel) {
  const std::string model = Model();
  const std::string planned = Path("planned.tflite");
  const ProcessResult plan = Berth({"plan", model, "-o", planned, "--json"});
  ASSERT_EQ(plan.exit_code, 0) << plan.standard_error;
  const Json json = Json::parse(plan.standard_output);
  EXPECT_EQ(json["height"], 192);
  EXPECT_EQ(json["outcome"], "optimal");
  EXPECT_EQ(json["order"][0], "INPUT");
  EXPECT_EQ(json["notes"][0],
            "TensorFlow Lite Micro's own planner needs 336 bytes for the order of the file.");
  const ProcessResult check = Berth({"check", planned, "--json"});
  ASSERT_EQ(check.exit_code, 0) << check.standard_error;
  EXPECT_EQ(Json::parse(check.standard_output)["height"], 192);
  EXPECT_EQ(Berth({"check", planned, "--capacity", "191"}).exit_code, 1);
  const auto arena = ReadTflmArena(Read(planned), "planned");
  ASSERT_TRUE(arena.has_value());
  EXPECT_EQ(arena->height, 192);
  // The plan of a plan is the same file.
  ASSERT_EQ(Berth({"plan", planned, "-o", Path("again.tflite")}).exit_code, 0);
  EXPECT_EQ(Read(Path("again.tflite")), Read(planned));
}

TEST_F(TfliteTest, ChecksPlansOfOthers) {
  const std::string wrong =
      Write("wrong.tflite", tflite_build::Build(tflite_build::WithPlan(
                                tflite_build::TwoBranches(), {0, 16, 160, 0, 16, 32, -1})));
  const ProcessResult check = Berth({"check", wrong});
  EXPECT_EQ(check.exit_code, 1);
  EXPECT_NE(check.standard_output.find("b1"), std::string::npos) << check.standard_output;
  ExpectRefused(Berth({"check", Model()}), "has no plan inside");
  // A plan in JSON, as of any model.
  ASSERT_EQ(Berth({"plan", Model(), "-o", Path("plan.json")}).exit_code, 0);
  EXPECT_EQ(Berth({"check", Model(), Path("plan.json"), "--execute"}).exit_code, 0);
}

TEST_F(TfliteTest, ReordersTheModel) {
  const std::string model = Model();
  const std::string reordered = Path("reordered.tflite");
  ASSERT_EQ(Berth({"schedule", model, "-o", reordered}).exit_code, 0);
  EXPECT_EQ(Read(reordered).size(), Read(model).size());
  const ProcessResult plan = Berth({"plan", reordered, "--order", "program", "--json"});
  EXPECT_EQ(Json::parse(plan.standard_output)["height"], 192);
  ExpectRefused(Berth({"schedule", model, "-o", Path("m.onnx")}), "is a TensorFlow Lite model");
  // A plan that the file had is for the order that it had.
  const std::string planned = Path("planned.tflite");
  ASSERT_EQ(Berth({"plan", model, "--order", "program", "-o", planned}).exit_code, 0);
  ASSERT_EQ(Berth({"schedule", planned, "-o", reordered}).exit_code, 0);
  EXPECT_EQ(Read(reordered).size(), Read(planned).size());
  const ProcessResult info = Berth({"check", reordered});
  EXPECT_EQ(info.exit_code, 0) << info.standard_output << info.standard_error;
}

TEST_F(TfliteTest, RefusesWhatAnInterpreterWouldNotFollow) {
  const std::string model = Model();
  const std::string out = Path("out.tflite");
  ExpectRefused(Berth({"plan", model, "-o", out, "--budget", "MR"}), "does not move tensors");
  ExpectRefused(Berth({"plan", model, "-o", out, "--count", "all"}),
                "weights are not in the arena");
  ExpectRefused(Berth({"plan", model, "-o", out, "--element-bytes", "2"}), "the sizes of the file");
  ExpectRefused(Berth({"plan", model, "-o", out, "--fuse"}), "does not fuse");
  ExpectRefused(Berth({"plan", model, "-o", out, "--alignment", "8"}), "a multiple of 16, not 8");
  ExpectRefused(Berth({"plan", model, "--emit", "header", out}), "is not tflm-header");
  const std::string graph = Path("graph.json");
  ASSERT_EQ(Berth({"schedule", model, "-o", graph}).exit_code, 0);
  ExpectRefused(Berth({"plan", graph, "-o", out}), "is not a TensorFlow Lite model");
  EXPECT_FALSE(Exists(out));
  // It would not fit, so it is not written.
  EXPECT_EQ(Berth({"plan", model, "-o", out, "--capacity", "100"}).exit_code, 1);
  EXPECT_FALSE(Exists(out));
}

// The header is right for compilers of C and C++, and its assertions for a capacity.
TEST_F(TfliteTest, EmitsAHeader) {
  const std::string header = Path("my-model.h");
  ASSERT_EQ(Berth({"plan", Model(), "--emit", "tflm-header", header}).exit_code, 0);
  EXPECT_NE(Read(header).find("#define MY_MODEL_ARENA_BYTES 192\n"), std::string::npos);
  const ProcessResult shown = Berth({"plan", Model(), "--emit", "tflm-header", "-"});
  EXPECT_NE(shown.standard_output.find("\n#define MODEL_ARENA_BYTES 192\n"), std::string::npos)
      << shown.standard_output;
  Write("use.c",
        "#include \"my-model.h\"\n"
        "int main(void) {\n"
        "  return my_model_arena_offsets()[MY_MODEL_TENSORS - 1] == -1 ? 0 : 1;\n"
        "}\n");
  const ProcessResult compiled =
      Shell("cd '" + Path("") +
            "'\n"
            "flags='-Wall -Wextra -pedantic -Werror'\n"
            "command -v cc > /dev/null && command -v c++ > /dev/null || exit 77\n"
            "cc -std=c11 $flags use.c -o c && ./c && c++ -x c++ -std=c++11 $flags use.c -o cc && "
            "./cc &&\n"
            "cc -std=c11 $flags -DMY_MODEL_ARENA_CAPACITY=192 -fsyntax-only use.c &&\n"
            "! cc -std=c11 $flags -DMY_MODEL_ARENA_CAPACITY=191 -fsyntax-only use.c 2> errors &&\n"
            "grep -q 'the plan does not fit the arena' errors");
  if (compiled.exit_code == 77) GTEST_SKIP() << "no compiler of C and C++";
  EXPECT_EQ(compiled.exit_code, 0) << compiled.standard_error;
}

}  // namespace
}  // namespace berth::cli
