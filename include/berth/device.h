// berth/device.h -- what the operators of a graph cost on a device: a time from their arithmetic and
// their bytes.
//
//   const auto device = berth::ReadDevice(text, "a100.json");
//   if (!device) return Complain(device.error().message);
//   const auto priced = berth::SetCosts(*device, graph);
#ifndef BERTH_DEVICE_H_
#define BERTH_DEVICE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/graph.h"
#include "berth/result.h"

namespace [[gnu::visibility("default")]] berth {

// An operator takes as long as its arithmetic or its bytes need, whichever is longer (the roofline
// model, Williams, Waterman and Patterson 2009), and a time to start.
struct Device {
  std::string name = {};                // For people; may be empty.
  double operations_per_second = 0;     // A multiplication and an addition are two; positive.
  Bytes bytes_per_second = 0;           // Of its memory, read and written together; positive.
  std::int64_t launch_nanoseconds = 0;  // From 0 to 2^40.
  std::optional<Link> link = {};        // To the store behind its memory; none if it is not known.
  friend bool operator==(const Device&, const Device&) = default;
};

// A device in JSON (docs/formats/device.md). `name` is what errors call the text. Error: kParse, with
// line and column.
[[nodiscard]] Result<Device> ReadDevice(std::string_view text, std::string_view name);

// What running an operator once takes, apart from the device.
struct Work {
  // Multiplications and additions of matrix products, convolutions and attention, from the shapes of
  // the tensors; 0 of any other operator, for which its bytes count. None where the operator is known
  // to compute much but its shapes, or the rules for its type, are not known.
  std::optional<double> operations = 0;
  Bytes bytes =
      0;  // Read and written: of inputs, outputs and what is written in place; not of views.
};
[[nodiscard]] Work WorkOf(const Graph& graph, OperatorIndex v);

// What SetCosts() could not take into account.
struct Unpriced {
  std::size_t arithmetic =
      0;  // Operators that are priced by their bytes alone, as WorkOf() has none,
  std::vector<std::string> types = {};  // their types, each once, sorted.
  std::size_t sizes = 0;  // Operators with a tensor whose size is not known, which counts as 0.
};

// Sets the cost of each operator of a valid graph to its time on `device` in nanoseconds, rounded up,
// and the unit to "ns". An operator that makes nothing but views and writes nothing costs nothing.
// Errors: kInvalidProblem, if the graph has costs already or the sum exceeds 2^60 ns; kInvalidOptions
// for a device out of bounds. The graph is unchanged then.
[[nodiscard]] Result<Unpriced> SetCosts(const Device& device, Graph& graph);

}  // namespace berth

#endif  // BERTH_DEVICE_H_
