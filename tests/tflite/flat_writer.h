// Writes FlatBuffers for tests.
#ifndef BERTH_TESTS_TFLITE_FLAT_WRITER_H_
#define BERTH_TESTS_TFLITE_FLAT_WRITER_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace berth::tflite_build {

// Writes each table before what it refers to. Every field has 8 bytes, so that all are aligned.
class FlatWriter {
 public:
  using Child = std::function<std::size_t()>;  // Writes itself and says where it begins.
  struct Field {
    std::size_t id = 0;
    std::int64_t number = 0;
    Child child = {};
  };

  std::size_t Table(const std::vector<Field>& fields) {
    std::size_t count = 0;
    for (const Field& field : fields) count = std::max(count, field.id + 1);
    Align(8);
    const std::size_t vtable = out_.size();
    Add(4 + 2 * count, 2);
    Add(8 + 8 * fields.size(), 2);
    std::vector<std::size_t> places(count);
    for (std::size_t i = 0; i < fields.size(); ++i) places[fields[i].id] = 8 + 8 * i;
    for (const std::size_t place : places) Add(place, 2);
    Align(8);
    const std::size_t table = out_.size();
    Add(table - vtable, 8);
    for (const Field& field : fields) Add(static_cast<std::uint64_t>(field.number), 8);
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (fields[i].child) Refer(table + 8 + 8 * i, fields[i].child());
    }
    return table;
  }
  std::size_t Tables(const std::vector<Child>& children) {
    Align(4);
    const std::size_t at = out_.size();
    Add(children.size(), 4);
    Add(0, 4 * children.size());
    for (std::size_t i = 0; i < children.size(); ++i) Refer(at + 4 + 4 * i, children[i]());
    return at;
  }
  std::size_t Integers(const std::vector<std::int32_t>& numbers) {
    Align(4);
    const std::size_t at = out_.size();
    Add(numbers.size(), 4);
    for (const std::int32_t number : numbers) Add(static_cast<std::uint32_t>(number), 4);
    return at;
  }
  std::size_t Longs(const std::vector<std::int64_t>& numbers) {
    while (out_.size() % 8 != 4) out_ += '\0';
    const std::size_t at = out_.size();
    Add(numbers.size(), 4);
    for (const std::int64_t number : numbers) Add(static_cast<std::uint64_t>(number), 8);
    return at;
  }
  std::size_t Text(const std::string& text) {
    while (out_.size() % 16 != 12) out_ += '\0';
    const std::size_t at = out_.size();
    Add(text.size(), 4);
    out_ += text;
    out_ += '\0';
    return at;
  }
  // Of four bytes, which follow the reference to the root table.
  void Begin(std::string_view identifier) { out_ = std::string(4, '\0') + std::string(identifier); }
  std::string End(std::size_t root) {
    Refer(0, root);
    return out_;
  }

 private:
  void Align(std::size_t alignment) {
    while (out_.size() % alignment != 0) out_ += '\0';
  }
  void Add(std::uint64_t number, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) {
      out_ += i < 8 ? static_cast<char>(number >> (8 * i)) : '\0';
    }
  }
  void Refer(std::size_t from, std::size_t to) {
    for (std::size_t i = 0; i < 4; ++i) out_[from + i] = static_cast<char>((to - from) >> (8 * i));
  }

  std::string out_;
};

}  // namespace berth::tflite_build

#endif  // BERTH_TESTS_TFLITE_FLAT_WRITER_H_
