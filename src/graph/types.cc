#include "graph/types.h"

#include <algorithm>
#include <cctype>
#include <string>

namespace berth::internal {

bool IsOfType(std::string_view type, std::span<const std::string_view> names) {
  const auto separator = type.rfind("::");
  if (separator != std::string_view::npos) type.remove_prefix(separator + 2);
  for (std::size_t begin = 0; begin <= type.size();) {
    const std::size_t end = std::min(type.find('.', begin), type.size());
    std::string plain;
    for (const char c : type.substr(begin, end - begin)) {
      if (c != '_' && c != '-') {
        plain.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
      }
    }
    if (std::binary_search(names.begin(), names.end(), plain)) return true;
    begin = end + 1;
  }
  return false;
}

}  // namespace berth::internal
