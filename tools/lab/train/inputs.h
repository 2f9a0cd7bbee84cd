// tools/lab/train/inputs.h -- the inputs of training and those of the evaluation.
//
// Both are generated, from seeds that never meet: problems of four families, each at four sizes of
// memory, from 105 to 125 % of the most bytes that are live at one step. TelaMalloc's authors used
// the models of their own product at different memory sizes (7.2), which are not public. Tables of
// models can take the place of both, to see what a model knows of inputs of another kind.
#ifndef BERTH_TOOLS_LAB_TRAIN_INPUTS_H_
#define BERTH_TOOLS_LAB_TRAIN_INPUTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "berth/problem.h"
#include "berth/result.h"

namespace berth::internal {

enum class InputSet { kTraining, kEvaluation };

struct Input {
  std::string name;  // "planted n=120 seed=7 at 110 %".
  std::string family;
  int percent;
  Problem problem;  // With its capacity.
};

inline constexpr std::int64_t kSizesOfOne = 4;    // Inputs of one problem, one after the other.
inline constexpr std::int64_t kPartsOfTable = 4;  // Problems of one table: InputSource::OfTables().

// Input `index`, at least 0, of a set without end. Cost: O(n log n).
[[nodiscard]] Input MakeInput(InputSet set, std::int64_t index);

// Where the inputs of a command come from.
class InputSource {
 public:
  explicit InputSource(InputSet set) : set_(set) {}
  // Tables from files or folders: each as it is, and what of it a fast memory of 25, 50 and 75 % of its
  // load keeps (tools/generate/on_chip.h, seed 1); each of these at four sizes of memory, from 100 to
  // 110 % of the most live bytes, as almost nothing is hard at more. Errors: kIo, kParse,
  // kInvalidProblem.
  [[nodiscard]] static Result<InputSource> OfTables(const std::vector<std::string>& paths);

  // `index` is at least 0 and below the count, if there is one.
  [[nodiscard]] Input Make(std::int64_t index) const;
  // None: without end.
  [[nodiscard]] std::optional<std::int64_t> count() const;
  // What the numbers of inputs mean, in a line: "generated training inputs", or of tables how many problems
  // they make and a hash of these. The same only for the same inputs. Cost: linear in the tables.
  [[nodiscard]] std::string Describe() const;

 private:
  struct Table {
    std::string name;
    Problem problem;
  };
  InputSet set_ = InputSet::kTraining;
  std::vector<Table> parts_;  // kPartsOfTable of each table; empty: the generated set.
};

}  // namespace berth::internal

#endif  // BERTH_TOOLS_LAB_TRAIN_INPUTS_H_
