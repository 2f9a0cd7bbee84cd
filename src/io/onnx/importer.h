// io/onnx/importer.h -- the walk over a model, and over the bodies and functions in it.
#ifndef BERTH_IO_ONNX_IMPORTER_H_
#define BERTH_IO_ONNX_IMPORTER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "berth/onnx.h"
#include "berth/result.h"
#include "io/onnx/lower.h"
#include "io/onnx/model.h"
#include "io/onnx/rules.h"
#include "io/onnx/types.h"

namespace berth::internal::onnx {

// Elements that Fold() computes at most.
inline constexpr std::int64_t kFoldBudget = std::int64_t{1} << 24;
inline constexpr int kMaxDepth = 32;  // Of bodies in bodies, of functions in functions.

inline constexpr ValueId kAbsent = static_cast<ValueId>(-1);

// The names of a graph, a body or a function, and their values. Bodies see the names around them.
struct Scope {
  const Scope* outer = nullptr;
  std::unordered_map<std::string_view, ValueId> names = {};
  std::unordered_map<std::string_view, const ValueMessage*> declared = {};
  const std::vector<OpsetMessage>* opsets = nullptr;
  int depth = 0;
};

// One import.
class Importer {
 public:
  Importer(OnnxSource& source, const OnnxOptions& options) : source_(source), options_(options) {}

  Result<OnnxModel> Import();

 private:
  // ---- Options and dimensions.

  Result<void> CheckOptions();
  Result<void> CheckDimensionsUsed();
  std::optional<std::int64_t> SizeOf(const std::string& name);

  // A value as the file declares it, with the given dimensions filled in. For an input, dimensions
  // that stay open are recorded, and `cause` becomes the first of them.
  Info Declared(const ValueMessage& message, bool input, int* cause);
  // The number of `sentence` among the causes of unknown sizes; it is added if it is new.
  int Cause(std::string sentence);

  // ---- Values and names.

  ValueId NewValue(std::string_view name, Origin origin, Info info, int cause);
  static const ValueId* Lookup(const Scope& scope, std::string_view name);
  Result<void> Define(Scope& scope, std::string_view name, ValueId id);
  // For messages.
  std::string Name(const NodeMessage& node) const;
  std::optional<std::int64_t> OpsetOf(const Scope& scope, std::string_view domain) const;
  Result<void> IndexFunctions();
  const FunctionMessage* FindFunction(const NodeMessage& node) const;

  // ---- Graphs.

  void DeclareValues(const GraphMessage& message, Scope& scope);
  Result<void> AddWeights(const GraphMessage& message, Scope& scope);
  // The model's own graph; dimensions of its inputs may be bound by options.
  Result<void> OpenGraph(const GraphMessage& message, Scope& scope, Region& region);
  Result<void> CloseGraph(const std::vector<ValueMessage>& outputs, const Scope& scope,
                          Region& region);

  // ---- The walk.

  Result<void> Walk(const std::vector<NodeMessage>& nodes, Scope& scope, Region& region);
  Result<void> WalkNode(const NodeMessage& node, Scope& scope, Region& region);
  Result<void> DefineOutputs(const NodeMessage& node, Scope& scope, Step& step,
                             std::vector<Info> inferred, const std::string& reason, Region& region);
  void MergeDeclared(const NodeMessage& node, std::string_view name, const Scope& scope,
                     Info& info);
  static void AddSlides(const OperatorRule& rule, Call& call, const std::vector<ValueId>& arguments,
                        Step& step);
  // The outputs of an operator of ONNX or onnxruntime, by its row in rules.cc.
  Result<void> ApplyRule(const NodeMessage& node, const std::vector<ValueId>& arguments,
                         const Scope& scope, Step& step, std::vector<Info>& inferred,
                         std::string& reason);

  // ---- Bodies and functions (bodies.cc).

  // The names that a body takes from its surroundings, in order of appearance.
  Result<void> FreeNames(std::string_view body, int depth, std::vector<std::string_view>& names);
  Result<void> FreeNamesOf(const NodeMessage& node, int depth,
                           std::vector<std::string_view>& names);
  // A body with the given inputs.
  Result<void> OpenBody(const GraphMessage& message, Scope& scope, const std::vector<Info>& inputs,
                        const std::vector<int>& causes, Region& region);
  // Walks a body with these inputs. `region` is valid only while `message` lives.
  Result<void> WalkBody(const GraphMessage& message, const Scope& outer,
                        const std::vector<Info>& inputs, const std::vector<int>& causes,
                        Region& region);
  // The results of a body as results of its operator: never constant, and without values.
  std::vector<Info> Results(const Region& region) const;

  // Sets what a call makes known of its outputs, the reason if that is not everything, and the
  // workspace in `step`.
  Result<void> CallIf(const NodeMessage& node, const std::vector<ValueId>& arguments,
                      const Scope& scope, Step& step, std::vector<Info>& inferred,
                      std::string& reason);
  Result<void> CallLoop(const NodeMessage& node, const std::vector<ValueId>& arguments,
                        const Scope& scope, Step& step, std::vector<Info>& inferred,
                        std::string& reason);
  Result<std::int64_t> ScanInputs(const NodeMessage& node, const std::vector<ValueId>& arguments,
                                  std::size_t states, const std::vector<std::int64_t>* in_axes,
                                  std::vector<Info>& inputs, std::vector<int>& causes);
  Result<void> CallScan(const NodeMessage& node, const std::vector<ValueId>& arguments,
                        const Scope& scope, Step& step, std::vector<Info>& inferred,
                        std::string& reason);
  Result<void> CallFunction(const FunctionMessage& function, const NodeMessage& node,
                            const std::vector<ValueId>& arguments, const Scope& scope, Step& step,
                            std::vector<Info>& inferred, std::string& reason);

  struct IterationOutcome {
    std::vector<Info> results;
    Workspace workspace;
  };

  // Walks the body of a Loop or Scan. Its `states` inputs from `first_state` on come back as its
  // results from `first_result` on; what is assumed of them is weakened until the body gives it
  // back.
  Result<IterationOutcome> Iterate(const GraphMessage& message, const Scope& scope,
                                   std::vector<Info>& inputs, std::vector<int>& causes,
                                   std::size_t first_state, std::size_t first_result,
                                   std::size_t states, const NodeMessage& node);

  // ---- Notes for the reader of the plan.

  void AddNotes(OnnxModel& out);

  OnnxSource& source_;
  const OnnxOptions& options_;
  ModelMessage model_;
  std::map<std::tuple<std::string_view, std::string_view, std::string_view>, const FunctionMessage*>
      functions_;
  Knowledge known_;
  std::unordered_map<std::string, int> cause_index_;
  std::map<std::string, std::int64_t> sizes_;  // Dimensions, from the options.
  std::set<std::string> used_;
  std::set<std::string> assumed_;  // Open dimensions that take OnnxOptions::other_dimensions.
  std::map<std::string, std::string> open_;  // Open dimensions, and an input that has them.
  std::vector<std::string> notes_;
  std::size_t conflicts_ = 0;
  std::string first_conflict_;
  std::int64_t walked_ = 0;  // Operators in bodies and functions.
  std::int64_t fold_budget_ = kFoldBudget;
};

}  // namespace berth::internal::onnx

#endif  // BERTH_IO_ONNX_IMPORTER_H_
