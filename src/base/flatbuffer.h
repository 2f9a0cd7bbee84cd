// base/flatbuffer.h -- FlatBuffers, read in place.
//
// A table is a signed distance back to its vtable, followed by its fields; the vtable has the place
// of each field in the table, 0 for one that is absent. A field is a number, or the unsigned
// distance forward to a vector, a string or another table. All numbers are little-endian.
//
//   vtable: [bytes of the vtable: u16] [bytes of the table: u16] [place of field 0: u16] ...
//   table:  [distance to the vtable: i32] [fields]
//   vector: [number of elements: u32] [elements]
//
// Nothing that the file says is believed: each position is checked against the end of the file
// before it is read. The first fault is kept, and everything that is read after it is 0 or empty, so
// that callers ask once, at the end. Nothing here allocates, except for the fault's text, or
// recurses.
//
// Source: flatbuffers.dev, "FlatBuffers Internals".
#ifndef BERTH_BASE_FLATBUFFER_H_
#define BERTH_BASE_FLATBUFFER_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/little_endian.h"

namespace berth::internal {

template <typename T>
[[nodiscard]] T LoadLittle(const char* from) {
  return static_cast<T>(LittleEndian({from, sizeof(T)}));
}

template <typename T>
void StoreLittle(T value, char* to) {
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    to[i] = static_cast<char>(static_cast<std::make_unsigned_t<T>>(value) >> (8 * i));
  }
}

// A vector whose elements lie within the file, wherever it came from.
template <typename T>
class FlatVector {
 public:
  FlatVector() = default;
  FlatVector(std::string_view bytes, std::size_t at) : bytes_(bytes), at_(at) {}
  [[nodiscard]] std::size_t size() const { return bytes_.size() / sizeof(T); }
  [[nodiscard]] bool empty() const { return bytes_.empty(); }
  [[nodiscard]] T operator[](std::size_t i) const {
    return LoadLittle<T>(bytes_.data() + i * sizeof(T));
  }
  [[nodiscard]] std::string_view bytes() const { return bytes_; }
  // Of the first element, in the file; 0 where the vector is absent.
  [[nodiscard]] std::size_t at() const { return at_; }
  friend bool operator==(const FlatVector& a, const FlatVector& b) { return a.bytes_ == b.bytes_; }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
};

struct FlatTable {
  std::size_t at = 0;  // 0: there is none.
  std::size_t vtable = 0;
  std::size_t vtable_bytes = 0;
  std::size_t table_bytes = 0;
  [[nodiscard]] bool exists() const { return at != 0; }
  // Of the vtable.
  [[nodiscard]] std::size_t fields() const { return vtable_bytes < 4 ? 0 : (vtable_bytes - 4) / 2; }
};

class FlatReader {
 public:
  explicit FlatReader(std::string_view file) : file_(file) {}

  [[nodiscard]] bool failed() const { return !fault_.empty(); }
  // "byte 12: ...".
  [[nodiscard]] const std::string& fault() const { return fault_; }
  void FailAt(std::size_t at, std::string_view what) {
    if (failed()) return;
    fault_ = "byte " + std::to_string(at) + ": " + std::string(what);
  }

  [[nodiscard]] FlatTable Root() { return TableAt(Follow(0)); }

  [[nodiscard]] FlatTable TableAt(std::size_t at) {
    if (at == 0 || !Has(at, 4, "a table")) return {};
    FlatTable table;
    table.at = at;
    const std::int64_t vtable = static_cast<std::int64_t>(at) - Load<std::int32_t>(at);
    if (vtable < 4 || !Has(static_cast<std::size_t>(vtable), 4, "the vtable of a table")) {
      FailAt(at, "a table whose vtable lies outside the file");
      return {};
    }
    table.vtable = static_cast<std::size_t>(vtable);
    table.vtable_bytes = Load<std::uint16_t>(table.vtable);
    table.table_bytes = Load<std::uint16_t>(table.vtable + 2);
    if (table.vtable_bytes < 4 || !Has(table.vtable, table.vtable_bytes, "the vtable of a table") ||
        table.table_bytes < 4 || !Has(at, table.table_bytes, "a table")) {
      FailAt(at, "a table of a wrong size");
      return {};
    }
    return table;
  }

  // Where a field of `bytes` bytes lies in the file; 0 where the table has none.
  [[nodiscard]] std::size_t Field(const FlatTable& table, std::size_t id, std::size_t bytes) {
    if (!table.exists() || id >= table.fields() || failed()) return 0;
    const std::size_t place = Load<std::uint16_t>(table.vtable + 4 + 2 * id);
    if (place == 0) return 0;
    if (place < 4 || place + bytes > table.table_bytes) {
      FailAt(table.at, "field " + std::to_string(id) + " lies outside its table");
      return 0;
    }
    return table.at + place;
  }

  template <typename T>
  [[nodiscard]] T Number(const FlatTable& table, std::size_t id, T otherwise = 0) {
    const std::size_t at = Field(table, id, sizeof(T));
    return at == 0 ? otherwise : Load<T>(at);
  }

  [[nodiscard]] FlatTable Table(const FlatTable& table, std::size_t id) {
    const std::size_t at = Field(table, id, 4);
    return at == 0 ? FlatTable() : TableAt(Follow(at));
  }

  template <typename T>
  [[nodiscard]] FlatVector<T> Vector(const FlatTable& table, std::size_t id) {
    const std::size_t field = Field(table, id, 4);
    const std::size_t at = field == 0 ? 0 : Follow(field);
    if (at == 0 || !Has(at, 4, "a vector")) return {};
    const std::size_t count = Load<std::uint32_t>(at);
    if (count > (file_.size() - at - 4) / sizeof(T)) {
      FailAt(at, "a vector of " + std::to_string(count) + " elements goes beyond the file's end");
      return {};
    }
    return {file_.substr(at + 4, count * sizeof(T)), at + 4};
  }

  [[nodiscard]] std::string_view Text(const FlatTable& table, std::size_t id) {
    return Vector<char>(table, id).bytes();
  }

  // The table to which element `i` of a vector of tables refers.
  [[nodiscard]] FlatTable Element(const FlatVector<std::uint32_t>& tables, std::size_t i) {
    return TableAt(Follow(tables.at() + 4 * i));
  }

 private:
  [[nodiscard]] bool Has(std::size_t at, std::size_t bytes, std::string_view what) {
    if (failed()) return false;
    if (at <= file_.size() && bytes <= file_.size() - at) return true;
    FailAt(at, std::string(what) + " goes beyond the file's end");
    return false;
  }
  // `at` has been checked.
  template <typename T>
  [[nodiscard]] T Load(std::size_t at) const {
    return LoadLittle<T>(file_.data() + at);
  }
  // The position to which the distance at `at` leads; 0 after a fault.
  [[nodiscard]] std::size_t Follow(std::size_t at) {
    if (!Has(at, 4, "a reference")) return 0;
    const std::size_t distance = Load<std::uint32_t>(at);
    if (distance < 4 || distance > file_.size() - at) {
      FailAt(at, "a reference leads outside the file");
      return 0;
    }
    return at + distance;
  }

  std::string_view file_;
  std::string fault_;
};

}  // namespace berth::internal

#endif  // BERTH_BASE_FLATBUFFER_H_
