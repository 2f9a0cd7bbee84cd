// tests/xla/small_proto.h -- the module of small-buffer-assignment.txt as XLA's protocol buffer.
#ifndef BERTH_TESTS_XLA_SMALL_PROTO_H_
#define BERTH_TESTS_XLA_SMALL_PROTO_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "tests/onnx/build.h"

namespace berth::internal::xla_build {

using onnx_build::Field;
using onnx_build::Number;

inline constexpr std::int64_t kAlloc = 0;
inline constexpr std::int64_t kFree = 1;
inline constexpr std::int64_t kShareWith = 2;

inline std::string Instruction(std::string_view name, std::int64_t id) {
  return Field(2, Field(1, name) + Field(2, "custom-call") + Number(35, id));
}
inline std::string Module(std::string_view instructions) {
  return Field(1, Field(1, "jit_f") + Field(2, "main") +
                      Field(3, Field(1, "main") + std::string(instructions)));
}
// A value, defined by an instruction; `index`: its place in the tuple, as one field.
inline std::string Logical(std::int64_t id, std::int64_t instruction, std::string_view index = "") {
  return Field(
      1, Number(1, id) + Field(3, (index.empty() ? "" : Field(3, index)) + Number(4, instruction)));
}
inline std::string Assigned(std::int64_t id, std::int64_t offset, std::int64_t size) {
  return Field(9, Number(1, id) + Number(2, offset) + Number(3, size));
}
inline std::string Allocation(std::int64_t index, std::int64_t size, std::string_view rest) {
  return Field(3, Number(1, index) + Number(2, size) + std::string(rest));
}
inline std::string Event(std::int64_t kind, std::int64_t id, std::int64_t canonical = 0) {
  return Field(1, Number(1, kind) + Number(2, id) + Number(5, canonical));
}
inline std::string Trace(std::string_view events) {
  return Field(4, std::string(events) + Number(3, 99));  // The number of no allocation.
}
inline std::string Assignment(std::string_view parts) { return Field(3, parts); }

inline std::string SmallModule() {
  return Module(Instruction("x", 1) + Instruction("dot.1", 2) + Instruction("fusion", 3) +
                Instruction("tanh", 4) + Instruction("late", 5) + Instruction("copy.5", 6));
}
inline std::string SmallValues() {
  return Logical(3, 1) + Logical(7, 2) + Logical(9, 3, std::string(1, '\0')) + Logical(10, 3) +
         Logical(11, 4) + Logical(12, 5) + Logical(13, 6);
}
inline std::string SmallAllocations() {
  return Allocation(0, 65536, Number(7, 1) + Assigned(13, 0, 65536)) +
         Allocation(1, 4096, Number(5, 1) + Number(6, 0) + Assigned(3, 0, 4096)) +
         Allocation(2, 448,
                    Assigned(7, 0, 128) + Assigned(9, 128, 64) + Assigned(10, 192, 16) +
                        Assigned(11, 0, 128) + Assigned(12, 320, 128));
}
// `tanh` takes over the bytes of `dot.1`, which is freed before.
inline std::string SmallTrace() {
  return Trace(Event(kAlloc, 7) + Event(kAlloc, 9) + Event(kAlloc, 10) + Event(kFree, 7) +
               Event(kShareWith, 11, 7) + Event(kFree, 10) + Event(kFree, 9) + Event(kFree, 11) +
               Event(kAlloc, 12) + Event(kFree, 12));
}
inline std::string SmallProto() {
  return SmallModule() + Assignment(SmallValues() + SmallAllocations() + SmallTrace());
}

}  // namespace berth::internal::xla_build

#endif  // BERTH_TESTS_XLA_SMALL_PROTO_H_
