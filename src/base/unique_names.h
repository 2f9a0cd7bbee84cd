// base/unique_names.h -- names from files, each made unique.
#ifndef BERTH_BASE_UNIQUE_NAMES_H_
#define BERTH_BASE_UNIQUE_NAMES_H_

#include <cstddef>
#include <string>
#include <unordered_map>

namespace berth::internal {

class UniqueNames {
 public:
  // What comes between a name and its number.
  explicit UniqueNames(const char* mark = "#") : mark_(mark) {}

  // The first of `name`, `name#2`, ... that is not taken; it then is.
  std::string Take(const std::string& name) {
    std::size_t asked = ++asked_[name];
    if (asked == 1) return name;
    for (;; ++asked) {
      std::string other = name + mark_ + std::to_string(asked);
      if (++asked_[other] == 1) {
        asked_[name] = asked;
        return other;
      }
    }
  }

 private:
  const char* mark_;
  std::unordered_map<std::string, std::size_t> asked_;  // How often, of each name.
};

}  // namespace berth::internal

#endif  // BERTH_BASE_UNIQUE_NAMES_H_
