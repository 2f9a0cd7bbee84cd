#include "io/snapshot/pickle.h"

#include <array>

#include "base/little_endian.h"
#include "base/text.h"

namespace berth::internal::snapshot {
namespace {

// What follows the byte of an opcode.
enum class Argument : unsigned char {
  kRefused,  // The opcode is not read at all.
  kNothing,
  kNumber,  // `size` bytes, the least significant first.
  kSigned,  // The same in two's complement.
  kReal,    // 8 bytes.
  kText,    // `size` bytes of length, then so many bytes.
};

struct Known {
  Argument argument = Argument::kRefused;
  unsigned char size = 0;
};

constexpr std::array<Known, 256> MakeKnown() {
  std::array<Known, 256> known{};
  const auto add = [&](Opcode code, Argument argument, unsigned char size) {
    known[static_cast<unsigned char>(code)] = {argument, size};
  };
  using enum Opcode;
  for (const Opcode code :
       {kMark, kStop, kNone, kAppend, kAppends, kEmptyDict, kEmptyList, kEmptyTuple, kSetItem,
        kSetItems, kTuple, kTuple1, kTuple2, kTuple3, kNewTrue, kNewFalse, kMemoize}) {
    add(code, Argument::kNothing, 0);
  }
  for (const Opcode code : {kBinInt1, kBinGet, kBinPut, kProto}) add(code, Argument::kNumber, 1);
  add(kBinInt2, Argument::kNumber, 2);
  add(kBinInt, Argument::kSigned, 4);
  for (const Opcode code : {kLongBinGet, kLongBinPut}) add(code, Argument::kNumber, 4);
  add(kFrame, Argument::kNumber, 8);
  add(kBinFloat, Argument::kReal, 8);
  for (const Opcode code : {kShortBinUnicode, kLong1}) add(code, Argument::kText, 1);
  for (const Opcode code : {kBinUnicode, kLong4}) add(code, Argument::kText, 4);
  add(kBinUnicode8, Argument::kText, 8);
  return known;
}
constexpr std::array<Known, 256> kKnown = MakeKnown();

struct RefusedOpcode {
  unsigned char byte;
  const char* name;
  bool executes;
};
constexpr RefusedOpcode kRefusedOpcodes[] = {
    {'c', "GLOBAL", true},
    {0x93, "STACK_GLOBAL", true},
    {'R', "REDUCE", true},
    {'i', "INST", true},
    {'o', "OBJ", true},
    {0x81, "NEWOBJ", true},
    {0x92, "NEWOBJ_EX", true},
    {'b', "BUILD", true},
    {'P', "PERSID", true},
    {'Q', "BINPERSID", true},
    {0x82, "EXT1", true},
    {0x83, "EXT2", true},
    {0x84, "EXT4", true},
    {'0', "POP", false},
    {'1', "POP_MARK", false},
    {'2', "DUP", false},
    {'F', "FLOAT", false},
    {'I', "INT", false},
    {'L', "LONG", false},
    {'S', "STRING", false},
    {'T', "BINSTRING", false},
    {'U', "SHORT_BINSTRING", false},
    {'V', "UNICODE", false},
    {'d', "DICT", false},
    {'l', "LIST", false},
    {'g', "GET", false},
    {'p', "PUT", false},
    {'B', "BINBYTES", false},
    {'C', "SHORT_BINBYTES", false},
    {0x8e, "BINBYTES8", false},
    {0x8f, "EMPTY_SET", false},
    {0x90, "ADDITEMS", false},
    {0x91, "FROZENSET", false},
    {0x96, "BYTEARRAY8", false},
    {0x97, "NEXT_BUFFER", false},
    {0x98, "READONLY_BUFFER", false},
};

std::string Hexadecimal(unsigned char byte) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  return std::string("0x") + kDigits[byte >> 4u] + kDigits[byte & 15u];
}

// What GLOBAL and INST name: two lines, a module and a function.
std::string Named(std::string_view rest) {
  const std::size_t first = rest.find('\n');
  if (first == std::string_view::npos) return "";
  const std::size_t second = rest.find('\n', first + 1);
  if (second == std::string_view::npos) return "";
  return " " + Quoted(std::string(rest.substr(0, first)) + "." +
                      std::string(rest.substr(first + 1, second - first - 1)));
}

}  // namespace

tl::unexpected<Error> FailAt(std::size_t at, const std::string& sentence) {
  return Fail(ErrorCode::kParse, "byte " + std::to_string(at) + ": " + sentence);
}

Result<void> Pickle::Truncated(std::size_t at, std::uint64_t needed) const {
  return FailAt(at, "opcode " + Hexadecimal(static_cast<unsigned char>(bytes_[at])) + " needs " +
                        std::to_string(needed) + " more bytes, but the file ends after " +
                        std::to_string(bytes_.size() - position_));
}

Result<void> Pickle::Refuse(std::size_t at) const {
  const auto byte = static_cast<unsigned char>(bytes_[at]);
  for (const RefusedOpcode& refused : kRefusedOpcodes) {
    if (refused.byte != byte) continue;
    const std::string opcode = std::string("the opcode ") + refused.name;
    if (!refused.executes) {
      return FailAt(at, opcode + " (" + Hexadecimal(byte) + ") is in no memory snapshot");
    }
    const bool named = byte == 'c' || byte == 'i';
    return FailAt(at, opcode + (named ? Named(bytes_.substr(at + 1)) : "") +
                          " makes Python run code when it loads the file; a memory snapshot has "
                          "plain values only, so the file is refused");
  }
  return FailAt(at, Hexadecimal(byte) + " is not an opcode of pickle");
}

Result<void> Pickle::Next(Operation& operation) {
  const std::size_t at = position_;
  if (at >= bytes_.size()) return FailAt(at, "the file ends before the pickle does (no STOP)");
  const auto byte = static_cast<unsigned char>(bytes_[at]);
  const Known known = kKnown[byte];
  if (known.argument == Argument::kRefused) return Refuse(at);
  operation.code = static_cast<Opcode>(byte);
  operation.at = at;
  ++position_;
  if (known.argument == Argument::kNothing) return {};
  const std::size_t left = bytes_.size() - position_;
  const std::size_t size = known.argument == Argument::kReal ? 8 : known.size;
  if (left < size) return Truncated(at, size);
  operation.number = LittleEndian(bytes_.substr(position_, size));
  position_ += size;
  if (known.argument == Argument::kSigned) {
    operation.number = static_cast<std::uint64_t>(
        std::int64_t{static_cast<std::int32_t>(static_cast<std::uint32_t>(operation.number))});
  }
  if (known.argument != Argument::kText) return {};
  if (operation.number > left - size) return Truncated(at, operation.number);
  operation.text = bytes_.substr(position_, static_cast<std::size_t>(operation.number));
  position_ += operation.text.size();
  return {};
}

}  // namespace berth::internal::snapshot
