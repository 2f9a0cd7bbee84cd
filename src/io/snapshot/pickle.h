// io/snapshot/pickle.h -- Python's pickles as a sequence of opcodes with their arguments.
//
// A pickle is a program for a small stack machine. Most of its opcodes make plain values; some
// import and call functions, which is why loading a stranger's pickle is as good as executing it.
// This decoder knows the names of all of them and hands out those that make plain values only.
//
// Source: the comments of CPython's Lib/pickletools.py; PEP 307, PEP 3154.
#ifndef BERTH_IO_SNAPSHOT_PICKLE_H_
#define BERTH_IO_SNAPSHOT_PICKLE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "berth/result.h"

namespace berth::internal::snapshot {

// The opcodes that make plain values, as bytes of the file.
enum class Opcode : unsigned char {
  kMark = '(',
  kStop = '.',
  kBinInt = 'J',
  kBinInt1 = 'K',
  kBinInt2 = 'M',
  kNone = 'N',
  kBinUnicode = 'X',
  kAppend = 'a',
  kAppends = 'e',
  kEmptyDict = '}',
  kEmptyList = ']',
  kEmptyTuple = ')',
  kBinGet = 'h',
  kLongBinGet = 'j',
  kBinPut = 'q',
  kLongBinPut = 'r',
  kSetItem = 's',
  kSetItems = 'u',
  kTuple = 't',
  kBinFloat = 'G',
  kProto = 0x80,
  kTuple1 = 0x85,
  kTuple2 = 0x86,
  kTuple3 = 0x87,
  kNewTrue = 0x88,
  kNewFalse = 0x89,
  kLong1 = 0x8a,
  kLong4 = 0x8b,
  kShortBinUnicode = 0x8c,
  kBinUnicode8 = 0x8d,
  kMemoize = 0x94,
  kFrame = 0x95,
};

struct Operation {
  Opcode code = Opcode::kStop;
  std::size_t at = 0;          // The byte at which it begins.
  std::uint64_t number = 0;    // Its argument, if that is a number: in two's complement if signed.
  std::string_view text = {};  // Its argument, if that is text, or the bytes of a long number.
};

class Pickle {
 public:
  explicit Pickle(std::string_view bytes) : bytes_(bytes) {}

  // Decodes the next operation. Error: kParse, "byte N: ...", for opcodes that call functions, by
  // name, for others that no snapshot has, and for arguments beyond the end of the file.
  [[nodiscard]] Result<void> Next(Operation& operation);

 private:
  [[nodiscard]] Result<void> Refuse(std::size_t at) const;
  [[nodiscard]] Result<void> Truncated(std::size_t at, std::uint64_t needed) const;

  std::string_view bytes_;
  std::size_t position_ = 0;
};

// "byte N: SENTENCE".
[[nodiscard]] tl::unexpected<Error> FailAt(std::size_t at, const std::string& sentence);

}  // namespace berth::internal::snapshot

#endif  // BERTH_IO_SNAPSHOT_PICKLE_H_
