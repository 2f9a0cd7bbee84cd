#include <algorithm>
#include <cctype>

#include "base/text.h"
#include "berth/tflite.h"
#include "io/tflite/tflm.h"

namespace berth {
namespace {

std::string Upper(std::string_view text) {
  std::string upper(text);
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return upper;
}

// What may stand in a comment of C, whatever the file is called.
std::string InComment(std::string_view name) {
  std::string text;
  for (const char c : name) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_' ||
                       c == '-' || c == ' ';
    text += plain ? c : '_';
  }
  return text;
}

// The offsets as the lines of an array.
std::string OffsetLines(const TflmArena& arena) {
  std::string lines;
  std::string line = "   ";
  for (const std::optional<Bytes>& offset : arena.tensor_offsets) {
    const std::string number = " " + std::to_string(offset.value_or(-1)) + ",";
    if (line.size() + number.size() > 96) {
      lines += line + "\n";
      line = "   ";
    }
    line += number;
  }
  return lines + line + "\n";
}

}  // namespace

// NOLINTNEXTLINE(readability-function-size): one text.
std::string WriteTflmHeader(const TflmArena& arena, std::string_view name,
                            std::string_view prefix) {
  const std::string upper = Upper(prefix);
  const std::string guard = upper + "_ARENA_H_";
  const std::string tensors = std::to_string(arena.tensor_offsets.size());
  return "/* The arena of " + InComment(name) +
         " in TensorFlow Lite Micro. Written by Berth; do not edit.\n"
         " *\n"
         " * The interpreter needs " +
         upper +
         "_ARENA_BYTES for tensors and, in the same array, its\n"
         " * persistent part, which depends on its version and on the kernels.\n"
         " */\n"
         "#ifndef " +
         guard + "\n#define " + guard +
         "\n\n#include <stdint.h>\n\n"
         "#define " +
         upper + "_ARENA_BYTES " + std::to_string(arena.height) +
         "\n"
         "#define " +
         upper + "_ARENA_ALIGNMENT " + std::to_string(internal::tflite::kArenaAlignment) +
         "\n"
         "#define " +
         upper + "_VARIABLE_BYTES " + std::to_string(arena.variables) +
         "\n"
         "#define " +
         upper + "_TENSORS " + tensors +
         "\n\n"
         "/* By number of the tensor, over all subgraphs: its offset in the arena; -1 for "
         "weights,\n"
         " * variables and empty tensors.\n"
         " */\n"
         "static const int32_t " +
         std::string(prefix) + "_offsets[" +
         (arena.tensor_offsets.empty() ? "1" : upper + "_TENSORS") + "] = {\n" +
         (arena.tensor_offsets.empty() ? "    -1,\n" : OffsetLines(arena)) +
         "};\n\n"
         "/* Define " +
         upper +
         "_ARENA_CAPACITY before this line to have the compiler check that the\n"
         " * plan fits.\n"
         " */\n"
         "#if defined(__cplusplus)\n"
         "#define " +
         upper +
         "_ASSERT(condition, text) static_assert(condition, text)\n"
         "#else\n"
         "#define " +
         upper +
         "_ASSERT(condition, text) _Static_assert(condition, text)\n"
         "#endif\n" +
         upper + "_ASSERT(" + upper + "_ARENA_BYTES % " + upper +
         "_ARENA_ALIGNMENT == 0, \"the arena is not a multiple of its alignment\");\n"
         "#if defined(" +
         upper + "_ARENA_CAPACITY)\n" + upper + "_ASSERT(" + upper + "_ARENA_BYTES <= " + upper +
         "_ARENA_CAPACITY, \"the plan does not fit the arena\");\n"
         "#endif\n\n"
         "/* Not every user needs the offsets. */\n"
         "static inline const int32_t* " +
         std::string(prefix) + "_arena_offsets(void) { return " + std::string(prefix) +
         "_offsets; }\n\n"
         "#endif /* " +
         guard + " */\n";
}

}  // namespace berth
