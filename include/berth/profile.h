// berth/profile.h -- measured times of operators, as profilers write them, as costs of a graph.
//
//   const auto profile = berth::ReadProfile(text, "profile.json");
//   if (!profile) return Complain(profile.error().message);
//   const auto priced = berth::SetCosts(*profile, nullptr, graph);
#ifndef BERTH_PROFILE_H_
#define BERTH_PROFILE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "berth/device.h"
#include "berth/graph.h"
#include "berth/result.h"

namespace [[gnu::visibility("default")]] berth {

// What one operator took.
struct MeasuredTime {
  std::string op;  // Its name; where the profiler does not know it, its type.
  // With a type: the shapes of its inputs as Tensor::shape has them, sorted, each once, without
  // scalars.
  std::vector<std::string> shapes = {};
  std::int64_t nanoseconds = 0;  // From 0 to 2^60.
  friend bool operator==(const MeasuredTime&, const MeasuredTime&) = default;
};

// Each operator once: where it ran several times, with the median (of two in the middle the lower).
struct Profile {
  std::string name = {};                     // What errors call it.
  std::vector<MeasuredTime> operators = {};  // By name, sorted by it.
  std::vector<MeasuredTime> types = {};      // By type and shapes, sorted by these.
  friend bool operator==(const Profile&, const Profile&) = default;
};

// A profile (docs/formats/profile.md): a table in CSV with the columns operator and ns, a profile that
// onnxruntime writes, or a trace that torch.profiler exports. `name` is what errors call the text.
// Error: kParse, with line and column; also for a profile without times, or one of PyTorch without
// shapes or with the kernels of a GPU.
[[nodiscard]] Result<Profile> ReadProfile(std::string_view text, std::string_view name);

// Sets the cost of each operator of a valid graph to its time in `profile`: that of its name, or else
// that of its type and of the shapes of its inputs. An operator that makes nothing but views costs
// nothing. What the profile lacks costs what it takes on `others`, if given. The unit is "ns".
// Unpriced is about operators priced by `others`. Errors: kInvalidProblem, if the graph has costs
// already, an operator has no time and there is no `others`, or the sum exceeds 2^60 ns;
// kInvalidOptions for a device out of bounds. The graph is unchanged then.
[[nodiscard]] Result<Unpriced> SetCosts(const Profile& profile, const Device* others, Graph& graph);

}  // namespace berth

#endif  // BERTH_PROFILE_H_
