// berth/result.h -- how a Berth function says that it could not do what was asked.
//
// Three kinds of failure, three ways to say so:
//   * the caller's input or options are wrong:  Result<T> holds an Error;
//   * a search ended without a proof:           an Outcome (berth/place.h), never an Error;
//   * Berth itself is broken:                   the process aborts with the broken invariant.
#ifndef BERTH_RESULT_H_
#define BERTH_RESULT_H_

#if __cplusplus < 202002L
#error "Berth needs C++20: compile with -std=c++20 or later"
#endif

#include <cstddef>
#include <string>
#include <tl/expected.hpp>
#include <utility>

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

// Which part of the caller's input an error is about, for programs that point at it; the message
// says it in words. Where an error has to do with several parts, it is the one that the message
// names first.
struct Subject {
  enum class Kind {
    kNone,      // The input as a whole, or a part that is none of these.
    kBuffer,    // Problem::buffers[index].
    kTensor,    // Graph::tensors[index].
    kOperator,  // Graph::operators[index].
    kLine,      // Line `index` of a file, the first being 1.
  };
  Kind kind = Kind::kNone;
  std::size_t index = 0;

  [[nodiscard]] static Subject OfBuffer(std::size_t index) { return {Kind::kBuffer, index}; }
  [[nodiscard]] static Subject OfTensor(std::size_t index) { return {Kind::kTensor, index}; }
  [[nodiscard]] static Subject OfOperator(std::size_t index) { return {Kind::kOperator, index}; }
  [[nodiscard]] static Subject OfLine(std::size_t line) { return {Kind::kLine, line}; }
  friend bool operator==(const Subject&, const Subject&) = default;
};

// Something wrong with what the caller gave us. `message` is one sentence that names the file and
// line, or the buffer, and the value seen; it has no trailing newline.
struct Error {
  ErrorCode code;
  std::string message;
  Subject subject = {};
};

template <typename T>
using Result = tl::expected<T, Error>;

// Shorthand for the failing half of a Result.
[[nodiscard]] inline tl::unexpected<Error> Fail(ErrorCode code, std::string message,
                                                Subject subject = {}) {
  return tl::unexpected<Error>(Error{code, std::move(message), subject});
}

}  // namespace berth

#endif  // BERTH_RESULT_H_
