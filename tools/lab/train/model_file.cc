#include "tools/lab/train/model_file.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>

#include "base/check.h"

namespace berth::internal {
namespace {

constexpr std::size_t kWidth = 100;

// The shortest text that gives the same bits.
std::string Literal(float value) {
  if (std::isinf(value)) return "kEnd";
  std::array<char, 32> digits{};
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  BERTH_CHECK(error == std::errc());
  std::string text(digits.data(), end);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text + "F";
}

// Items in lines of at most kWidth characters.
class Lines {
 public:
  void Add(const std::string& item) {
    if (line_.size() + item.size() + 1 > kWidth) Break();
    line_ += line_.empty() ? "    " : " ";
    line_ += item;
  }
  [[nodiscard]] std::string Take() {
    Break();
    return std::move(text_);
  }

 private:
  void Break() {
    if (!line_.empty()) text_ += line_ + "\n";
    line_.clear();
  }
  std::string line_;
  std::string text_;
};

}  // namespace

std::string WriteModel(const Forest& forest, const std::vector<std::string>& provenance) {
  std::string text =
      "// The model of learned backtracking; made by berth-lab train fit, not by hand.\n//\n";
  for (const std::string& line : provenance) text += line.empty() ? "//\n" : "// " + line + "\n";
  text +=
      "\n#include <array>\n#include <limits>\n\n#include \"baselines/telamalloc/forest.h\"\n\n"
      "namespace berth::internal {\nnamespace {\n\n"
      "// clang-format off\n"
      "constexpr float kEnd = std::numeric_limits<float>::infinity();\n\n";
  Lines nodes;
  for (const ForestNode& node : forest.nodes) {
    nodes.Add("{" + Literal(node.threshold) + "," + std::to_string(node.feature) + "},");
  }
  text += "constexpr std::array<ForestNode, " + std::to_string(forest.nodes.size()) +
          "> kNodes = {{\n" + nodes.Take() + "}};\n\n";
  Lines leaves;
  for (const float leaf : forest.leaves) leaves.Add(Literal(leaf) + ",");
  text += "constexpr std::array<float, " + std::to_string(forest.leaves.size()) +
          "> kLeaves = {\n" + leaves.Take() + "};\n// clang-format on\n\n}  // namespace\n\n" +
          "const Forest& ShippedForest() {\n  static const Forest kForest{" +
          std::to_string(forest.features) + ", " + std::to_string(forest.depth) +
          ", kNodes, kLeaves, " + Literal(forest.base) +
          "};\n  return kForest;\n}\n\n}  // namespace berth::internal\n";
  return text;
}

}  // namespace berth::internal
