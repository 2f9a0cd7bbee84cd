// tests/onnx/random_operator.h -- models of one operator, with random operands and attributes.
#ifndef BERTH_TESTS_ONNX_RANDOM_OPERATOR_H_
#define BERTH_TESTS_ONNX_RANDOM_OPERATOR_H_

#include <cstdint>
#include <string>
#include <vector>

namespace berth::internal::onnx_build {

struct RandomOperator {
  std::string type;
  std::string model;         // The bytes of the file.
  std::string text;          // Description for messages.
  bool may_be_open = false;  // Berth may leave dimensions open that others infer.
};

// Mostly models that can run, and some that cannot.
[[nodiscard]] RandomOperator MakeRandomOperator(std::uint64_t seed);
[[nodiscard]] std::vector<std::string> RandomOperatorTypes();

}  // namespace berth::internal::onnx_build

#endif  // BERTH_TESTS_ONNX_RANDOM_OPERATOR_H_
