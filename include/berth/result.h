// berth/result.h -- how a Berth function says that it could not do what was asked.
//
// Three kinds of failure, three ways to say so:
//   * the caller's input or options are wrong:  Result<T> holds an Error;
//   * a search ended without a proof:           an Outcome (berth/place.h), never an Error;
//   * Berth itself is broken:                   the process aborts with the broken invariant.
#ifndef BERTH_RESULT_H_
#define BERTH_RESULT_H_

#include <string>
#include <tl/expected.hpp>

namespace [[gnu::visibility("default")]] berth {

enum class ErrorCode {
  kInvalidProblem,  // A buffer or the capacity breaks a rule of berth/problem.h.
  kInvalidGraph,    // An operator or a tensor breaks a rule of berth/graph.h.
  kInvalidPlan,     // Offsets that overlap, are misaligned or do not fit.
  kInvalidOptions,  // An option outside its bounds, or options that contradict each other.
  kUnsupported,     // The chosen algorithm cannot honour something that the problem asks for.
  kParse,           // A file is not in the format it should be in.
  kIo,              // A file cannot be read or written.
};

// Something wrong with what the caller gave us. `message` is one sentence that names the file and
// line, or the buffer, and the value seen; it has no trailing newline.
struct Error {
  ErrorCode code;
  std::string message;
};

template <typename T>
using Result = tl::expected<T, Error>;

// Shorthand for the failing half of a Result.
[[nodiscard]] inline tl::unexpected<Error> Fail(ErrorCode code, std::string message) {
  return tl::unexpected<Error>(Error{code, std::move(message)});
}

}  // namespace berth

#endif  // BERTH_RESULT_H_
