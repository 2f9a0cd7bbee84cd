// The table of operators: one row each, in order, with its specification.

#include "io/onnx/rules.h"

#include <gtest/gtest.h>

#include <cctype>
#include <functional>
#include <set>
#include <string>

namespace berth::internal::onnx {
namespace {

using Names = std::set<std::string>;

// The operators of ONNX itself of which `chosen` is true.
Names Those(const std::function<bool(const OperatorRule&)>& chosen) {
  Names names;
  for (const OperatorRule& rule : OnnxRules()) {
    if (chosen(rule)) names.emplace(rule.name);
  }
  return names;
}

TEST(OnnxRules, AreSortedAndUniqueAndFound) {
  for (const auto& [rules, domain] :
       {std::pair(OnnxRules(), ""), std::pair(OnnxRuntimeRules(), "com.microsoft")}) {
    ASSERT_FALSE(rules.empty());
    for (std::size_t i = 0; i < rules.size(); ++i) {
      EXPECT_EQ(FindRule(domain, rules[i].name), &rules[i]) << rules[i].name;
      if (i > 0) EXPECT_LT(rules[i - 1].name, rules[i].name);
    }
  }
  EXPECT_EQ(FindRule("", "Nothing"), nullptr);
  EXPECT_EQ(FindRule("", "ZZZ"), nullptr);
  EXPECT_EQ(FindRule("org.example", "Conv"), nullptr);
  EXPECT_EQ(FindRule("com.microsoft", "Conv"), nullptr);
  EXPECT_NE(FindRule("", "FusedMatMul"), nullptr);  // As onnxruntime leaves it.
}

TEST(OnnxRules, NameTheirSpecification) {
  for (const OperatorRule& rule : OnnxRules()) {
    ASSERT_NE(rule.infer, nullptr) << rule.name;
    EXPECT_GE(rule.version, 1) << rule.name;
    EXPECT_LE(rule.version, kNewestOpset) << rule.name;
    std::string small(rule.name);
    for (char& c : small) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    EXPECT_EQ(SpecificationOf(rule), "https://onnx.ai/onnx/operators/onnx__" +
                                         std::string(rule.name) + ".html#" + small + "-" +
                                         std::to_string(rule.version));
  }
  for (const OperatorRule& rule : OnnxRuntimeRules()) {
    ASSERT_NE(rule.infer, nullptr) << rule.name;
    EXPECT_EQ(rule.version, 1) << rule.name;
    EXPECT_TRUE(SpecificationOf(rule).ends_with("/ContribOperators.md#com.microsoft." +
                                                std::string(rule.name)))
        << SpecificationOf(rule);
  }
  EXPECT_EQ(SpecificationOf(*FindRule("", "Conv")),
            "https://onnx.ai/onnx/operators/onnx__Conv.html#conv-22");
}

// What a wrong entry in these columns breaks is not a shape, and no oracle would notice it.
TEST(OnnxRules, ViewsAndRandomOperatorsAreTheseOnly) {
  EXPECT_EQ(Those([](const OperatorRule& rule) { return rule.more.view != nullptr; }),
            (Names{"Dropout", "Flatten", "Identity", "Reshape", "Squeeze", "Unsqueeze"}));
  EXPECT_EQ(Those([](const OperatorRule& rule) { return rule.more.random; }),
            (Names{"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform",
                   "RandomUniformLike"}));
  EXPECT_EQ(Those([](const OperatorRule& rule) { return rule.more.fold_gives_shape; }),
            Names{"NonZero"});
}

// Random results must not be taken for constants, and nothing may be written over an operand by an
// operator that moves elements or reads others than the one it writes.
TEST(OnnxRules, ColumnsDoNotContradictEachOther) {
  for (const OperatorRule& rule : OnnxRules()) {
    if (rule.more.random) EXPECT_EQ(rule.more.fold, nullptr) << rule.name;
    if (rule.more.fold_gives_shape) EXPECT_NE(rule.more.fold, nullptr) << rule.name;
  }
  for (const char* name : {"Concat", "Conv", "CumSum", "Gather", "LayerNormalization", "MatMul",
                           "ReduceSum", "ReverseSequence", "ScatterND", "Softmax", "Transpose"}) {
    ASSERT_NE(FindRule("", name), nullptr) << name;
    EXPECT_EQ(FindRule("", name)->more.overwrite, nullptr) << name;
  }
  for (const OperatorRule& rule : OnnxRuntimeRules()) {
    EXPECT_EQ(rule.more.fold, nullptr) << rule.name;
    EXPECT_EQ(rule.more.view, nullptr) << rule.name;
  }
}

}  // namespace
}  // namespace berth::internal::onnx
