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
#include "io/onnx/types.h"

namespace berth::internal::onnx {

inline constexpr std::int64_t kFoldBudget = std::int64_t{1}
                                            << 24;  // Elements that Fold() computes at most.
inline constexpr int kMaxDepth = 32;  // Of bodies in bodies, of functions in functions.

inline constexpr ValueId kAbsent = static_cast<ValueId>(-1);

// A graph, a body or a function: what its names stand for. Bodies see the names around them.
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

  // What the file says of a value, with the dimensions that are given. For an input, what is still
  // open is recorded, and `cause` says which it is.
  Info Declared(const ValueMessage& message, bool input, int* cause);
  // Keeps `sentence` as a cause of what is not known, once; its number.
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
  // The model's own graph: its inputs are given, and dimensions of theirs may be bound.
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
  // Outputs of an operator of ONNX or onnxruntime by its rule.
  Result<void> ApplyRule(const NodeMessage& node, const std::vector<ValueId>& arguments,
                         const Scope& scope, Step& step, std::vector<Info>& inferred,
                         std::string& reason);

  // ---- Bodies and functions (bodies.cc).

  // Names that a body takes from around it, in order of appearance.
  Result<void> FreeNames(std::string_view body, int depth, std::vector<std::string_view>& names);
  Result<void> FreeNamesOf(const NodeMessage& node, int depth,
                           std::vector<std::string_view>& names);
  // A body, its inputs given.
  Result<void> OpenBody(const GraphMessage& message, Scope& scope, const std::vector<Info>& inputs,
                        const std::vector<int>& causes, Region& region);
  // Reads a body with these inputs. `region` holds it only while `message` lives.
  Result<void> WalkBody(const GraphMessage& message, const Scope& outer,
                        const std::vector<Info>& inputs, const std::vector<int>& causes,
                        Region& region);
  // The results of a body as the operator's: never constant, and with values only where all bodies
  // that may run agree (see CallIf).
  std::vector<Info> Results(const Region& region) const;

  // What a call makes known of its outputs, and if that is not all, why; its workspace goes to
  // `step`.
  Result<void> CallIf(const NodeMessage& node, const std::vector<ValueId>& arguments,
                      const Scope& scope, Step& step, std::vector<Info>& inferred,
                      std::string& reason);
  Result<void> CallLoop(const NodeMessage& node, const std::vector<ValueId>& arguments,
                        const Scope& scope, Step& step, std::vector<Info>& inferred,
                        std::string& reason);
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

  // The body of a Loop or Scan: `inputs` of which those from `first_state` on, `states` of them,
  // come back as results, of which `first_result` is the first. Weakens what is assumed of them
  // until the body gives it back.
  Result<IterationOutcome> Iterate(const GraphMessage& message, const Scope& scope,
                                   std::vector<Info>& inputs, std::vector<int>& causes,
                                   std::size_t first_state, std::size_t first_result,
                                   std::size_t states, const NodeMessage& node);

  // ---- What is said of it in the end.

  void AddNotes(OnnxModel& out);

  OnnxSource& source_;
  const OnnxOptions& options_;
  ModelMessage model_;
  std::map<std::tuple<std::string_view, std::string_view, std::string_view>, const FunctionMessage*>
      functions_;
  Knowledge known_;
  std::unordered_map<std::string, int> cause_index_;
  std::map<std::string, std::int64_t> sizes_;  // As given.
  std::set<std::string> used_;
  std::map<std::string, std::string> open_;  // Open dimensions, and an input that has them.
  std::vector<std::string> notes_;
  std::size_t conflicts_ = 0;
  std::string first_conflict_;
  std::int64_t walked_ = 0;  // Operators in bodies and functions.
  std::int64_t fold_budget_ = kFoldBudget;
};

}  // namespace berth::internal::onnx

#endif  // BERTH_IO_ONNX_IMPORTER_H_
