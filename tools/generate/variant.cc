#include "tools/generate/variant.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"

namespace berth::internal {
namespace {

// Swaps start and end: step t becomes `mirror` - t, which maps half-open ranges to half-open
// ranges.
Buffer Reversed(Buffer buffer, Step mirror) {
  buffer.start = mirror - std::exchange(buffer.end, mirror - buffer.start);
  for (Gap& gap : buffer.gaps) gap.start = mirror - std::exchange(gap.end, mirror - gap.start);
  std::reverse(buffer.gaps.begin(), buffer.gaps.end());
  return buffer;
}

}  // namespace

Result<Problem> MakeVariant(const Problem& problem, const VariantParameters& parameters) {
  if (parameters.drop_percent < 0 || parameters.drop_percent > 99) {
    return Fail(ErrorCode::kInvalidOptions,
                "drop is " + std::to_string(parameters.drop_percent) + " but must be from 0 to 99");
  }
  const std::vector<Buffer>& buffers = problem.buffers;
  Problem variant;
  variant.capacity = problem.capacity;
  if (buffers.empty()) return variant;
  Step first = buffers.front().start;
  Step last = buffers.front().end;
  for (const Buffer& buffer : buffers) {
    first = std::min(first, buffer.start);
    last = std::max(last, buffer.end);
  }

  const std::size_t share =
      (buffers.size() * static_cast<std::size_t>(parameters.drop_percent) + 99) / 100;
  std::size_t to_drop = std::min(share, buffers.size() - 1);
  Random random(parameters.seed);
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    // Every remaining buffer is equally likely to be among those still to be removed.
    const auto left = static_cast<std::int64_t>(buffers.size() - i);
    if (random.Uniform(1, left) <= static_cast<std::int64_t>(to_drop)) {
      --to_drop;
      continue;
    }
    variant.buffers.push_back(Reversed(buffers[i], first + last));
  }
  return variant;
}

}  // namespace berth::internal
