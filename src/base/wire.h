// base/wire.h -- the wire format of protocol buffers, read in place.
//
// A message is a sequence of entries, each a tag (field number and wire type) and a value whose
// length is known without knowing the field. So a reader that keeps views into the file can skip
// fields without touching their bytes: gigabytes of weights cost nothing when the file is mapped.
// Nothing here allocates or recurses.
//
// Source: protobuf.dev, "Encoding".
#ifndef BERTH_BASE_WIRE_H_
#define BERTH_BASE_WIRE_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/little_endian.h"

namespace berth::internal {

enum class WireType : std::uint8_t {
  kVarint = 0,
  kFixed64 = 1,
  kBytes = 2,
  kGroupBegin = 3,  // Groups are obsolete; they are skipped as one entry.
  kGroupEnd = 4,
  kFixed32 = 5,
};

struct WireEntry {
  std::uint32_t field = 0;
  WireType type = WireType::kVarint;
  std::uint64_t number = 0;  // Of kVarint, kFixed64 and kFixed32.
  std::string_view bytes;    // Of kBytes: without tag and length.
  std::string_view whole;    // With them.

  [[nodiscard]] std::int64_t Signed() const { return static_cast<std::int64_t>(number); }
  [[nodiscard]] bool IsBytes() const { return type == WireType::kBytes; }
  [[nodiscard]] bool IsVarint() const { return type == WireType::kVarint; }
};

class WireReader {
 public:
  explicit WireReader(std::string_view message) : rest_(message) {}

  // The next entry; nothing at the end, or if the bytes are not an entry, and then failed().
  [[nodiscard]] std::optional<WireEntry> Next();
  [[nodiscard]] bool failed() const { return failed_; }
  // The unread bytes; after a failure, from the faulty entry on.
  [[nodiscard]] std::string_view rest() const { return rest_; }

  // Takes a number, seven bits in each byte, least first, off the front of `text`.
  [[nodiscard]] static std::optional<std::uint64_t> TakeVarint(std::string_view& text);

 private:
  [[nodiscard]] bool TakeTag(std::string_view& text, WireEntry& entry);
  [[nodiscard]] bool TakeValue(std::string_view& text, WireEntry& entry);
  [[nodiscard]] bool SkipGroup(std::string_view& text, std::uint32_t field);

  std::string_view rest_;
  bool failed_ = false;
};

// The elements of a repeated number, one in each entry or many in one entry ("packed"). Calls `take`
// with each; false if the bytes are damaged.
template <typename Take>
[[nodiscard]] bool ForEachVarint(const WireEntry& entry, const Take& take) {
  if (entry.IsVarint()) {
    take(entry.Signed());
    return true;
  }
  if (!entry.IsBytes()) return false;
  std::string_view rest = entry.bytes;
  while (!rest.empty()) {
    const std::optional<std::uint64_t> value = WireReader::TakeVarint(rest);
    if (!value) return false;
    take(static_cast<std::int64_t>(*value));
  }
  return true;
}

// Implementation.

inline std::optional<std::uint64_t> WireReader::TakeVarint(std::string_view& text) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < 10 && i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    value |= std::uint64_t{byte & 0x7fU} << (7 * i);  // Of the tenth byte, only one bit counts.
    if (byte < 0x80) {
      text.remove_prefix(i + 1);
      return value;
    }
  }
  return std::nullopt;
}

inline bool WireReader::TakeTag(std::string_view& text, WireEntry& entry) {
  const std::optional<std::uint64_t> tag = TakeVarint(text);
  if (!tag || *tag >> 32 != 0 || *tag >> 3 == 0) return false;
  entry.field = static_cast<std::uint32_t>(*tag >> 3);
  entry.type = static_cast<WireType>(*tag & 7);
  return true;
}

inline bool WireReader::TakeValue(std::string_view& text, WireEntry& entry) {
  switch (entry.type) {
    case WireType::kVarint: {
      const std::optional<std::uint64_t> value = TakeVarint(text);
      entry.number = value.value_or(0);
      return value.has_value();
    }
    case WireType::kFixed64:
    case WireType::kFixed32: {
      const std::size_t size = entry.type == WireType::kFixed64 ? 8 : 4;
      if (text.size() < size) return false;
      entry.number = LittleEndian(text.substr(0, size));
      text.remove_prefix(size);
      return true;
    }
    case WireType::kBytes: {
      const std::optional<std::uint64_t> size = TakeVarint(text);
      if (!size || *size > text.size()) return false;
      entry.bytes = text.substr(0, static_cast<std::size_t>(*size));
      text.remove_prefix(entry.bytes.size());
      return true;
    }
    case WireType::kGroupBegin:
      return SkipGroup(text, entry.field);
    case WireType::kGroupEnd:
      break;
  }
  return false;
}

// Groups within groups are counted instead of followed. Only the end of the outermost is checked for
// the right field number.
inline bool WireReader::SkipGroup(std::string_view& text, std::uint32_t field) {
  for (std::uint64_t depth = 1; depth > 0;) {
    WireEntry inner;
    if (!TakeTag(text, inner)) return false;
    if (inner.type == WireType::kGroupBegin) {
      ++depth;
    } else if (inner.type == WireType::kGroupEnd) {
      --depth;
      if (depth == 0 && inner.field != field) return false;
    } else if (!TakeValue(text, inner)) {
      return false;
    }
  }
  return true;
}

inline std::optional<WireEntry> WireReader::Next() {
  if (rest_.empty() || failed_) return std::nullopt;
  std::string_view text = rest_;
  WireEntry entry;
  if (!TakeTag(text, entry) || !TakeValue(text, entry)) {
    failed_ = true;
    return std::nullopt;
  }
  entry.whole = rest_.substr(0, rest_.size() - text.size());
  rest_ = text;
  return entry;
}

}  // namespace berth::internal

#endif  // BERTH_BASE_WIRE_H_
