// io/source.h -- the text of a file, where things stand in it, and how errors quote it.
//
// Files come from strangers: an error is one line that a terminal shows as it is, whatever bytes
// the file, or its name, is made of.
#ifndef BERTH_IO_SOURCE_H_
#define BERTH_IO_SOURCE_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "base/text.h"
#include "berth/result.h"

namespace berth::internal {

// A named text without the byte order mark that it may have begun with.
class Source {
 public:
  Source(std::string_view text, std::string_view name);

  [[nodiscard]] std::string_view text() const { return text_; }
  [[nodiscard]] std::string_view name() const { return name_; }

  // Nothing is wrong with the encoding of the file as a whole, or an error that names it.
  [[nodiscard]] Result<void> CheckEncoding() const;

  // "NAME:LINE:COLUMN: sentence" for the byte `position`, both counted from 1, columns in
  // characters. Cost: O(position).
  [[nodiscard]] tl::unexpected<Error> FailAt(std::size_t position, std::string_view sentence,
                                             ErrorCode code = ErrorCode::kParse) const;
  // "NAME: sentence".
  [[nodiscard]] tl::unexpected<Error> FailAsWhole(std::string_view sentence,
                                                  ErrorCode code = ErrorCode::kParse) const;

 private:
  std::string_view text_;
  std::string name_;  // Printable.
};

}  // namespace berth::internal

#endif  // BERTH_IO_SOURCE_H_
