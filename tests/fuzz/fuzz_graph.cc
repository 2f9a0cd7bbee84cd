// A graph that ReadGraphJson() accepts is valid, runs in program order, and survives
// WriteGraphJson() and ReadGraphJson(); a rejected one gets one line that begins with the name of
// the file.

#include <cstddef>
#include <cstdint>
#include <string>

#include "berth/graph.h"
#include "berth/io.h"
#include "tests/fuzz/require.h"

using berth::internal::Require;

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto graph = berth::ReadGraphJson(text, "g");
  if (!graph) {
    const std::string& message = graph.error().message;
    Require(message.substr(0, 2) == "g:", message.c_str());
    Require(message.find('\n') == std::string::npos, "an error of several lines");
    return 0;
  }
  Require(berth::Validate(*graph).has_value(), "a graph that was read is not valid");
  const std::string written = berth::WriteGraphJson(*graph);
  const auto again = berth::ReadGraphJson(written, "g");
  Require(again.has_value() && *again == *graph, "what was written reads differently");
  const berth::Order order = berth::ProgramOrder(*graph);
  Require(berth::ValidateOrder(*graph, order).has_value(), "program order cannot run");
  const berth::Liveness liveness = berth::Live(*graph, order, {true, true});
  Require(berth::Validate(liveness.problem).has_value(), "the buffers are not valid");
  Require(liveness.problem.buffers.empty() ||
              berth::MaxLiveLoad(liveness.problem).load == liveness.peak,
          "two ways to the peak");
  const berth::Graph reused = berth::ReuseInPlace(*graph);
  Require(berth::Validate(reused).has_value(), "reuse in place makes the graph invalid");
  Require(berth::Live(reused, order).peak <= berth::Live(*graph, order).peak,
          "reuse in place raises the peak");
  return 0;
}
