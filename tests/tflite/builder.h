// Small TensorFlow Lite models, made for tests.
#ifndef BERTH_TESTS_TFLITE_BUILDER_H_
#define BERTH_TESTS_TFLITE_BUILDER_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace berth::tflite_build {

// Codes of builtin operators and of types that tests use.
inline constexpr std::int32_t kAdd = 0, kConv = 3, kReshapeOp = 22, kSvdf = 27, kCustomOp = 32,
                              kIfOp = 118, kWhileOp = 119, kCallOnceOp = 129, kUpdateSlice = 151;
inline constexpr int kFloat = 0, kInt8Type = 9, kStringType = 5, kInt4Type = 17;

struct TfliteTensor {
  std::string name;
  std::vector<std::int32_t> shape;
  int type = kInt8Type;
  std::uint32_t buffer = 0;  // 1 has data: a constant.
  bool variable = false;
  std::vector<std::int32_t> signature = {};
};
struct TfliteOperator {
  std::int32_t code = 0;
  std::vector<std::int32_t> inputs;
  std::vector<std::int32_t> outputs;
  std::vector<std::int32_t> calls = {};  // The subgraphs that it runs.
  std::string custom = {};
  std::vector<std::int32_t> intermediates = {};
};
struct TfliteSubgraph {
  std::vector<TfliteTensor> tensors;
  std::vector<std::int32_t> inputs;
  std::vector<std::int32_t> outputs;
  std::vector<TfliteOperator> operators;
};
struct TfliteFile {
  std::vector<TfliteSubgraph> subgraphs;
  std::vector<std::string> buffers = {"", "weights"};
  std::vector<std::pair<std::string, std::uint32_t>> metadata = {};  // Name and buffer.
};

// The bytes of the file.
[[nodiscard]] std::string Build(const TfliteFile& file);

// The file with metadata of this name that contains these numbers.
[[nodiscard]] TfliteFile WithMetadata(TfliteFile file, const std::string& name,
                                      const std::vector<std::int32_t>& numbers);
// The file with an offline plan of these offsets.
[[nodiscard]] TfliteFile WithPlan(TfliteFile file, const std::vector<std::int32_t>& offsets);

// Branches A1 -> A2 and B1 -> B2 of an input, joined by an addition. In the order of the file, A1 B1
// A2 B2, both large tensors of the branches are live together.
[[nodiscard]] TfliteFile TwoBranches();

}  // namespace berth::tflite_build

#endif  // BERTH_TESTS_TFLITE_BUILDER_H_
