// Reads the table of rooms from ARCHITECTURE.md and checks every #include of the project against it.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace berth::internal {
namespace {

namespace fs = std::filesystem;

// A row of the table. Paths are relative to the repository; a folder stands for everything below
// it.
struct Room {
  std::string path;                      // A folder or a single file.
  std::vector<std::string> may_include;  // Folders and files, in addition to its own.
  std::vector<std::string> libraries;    // Prefixes of other libraries' headers.
};
using Files = std::map<std::string, std::string>;  // The text of each by its path.

// "src/place" holds "src/place" and "src/place/greedy", but not "src/placement".
bool Holds(const std::string& folder, const std::string& path) {
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

std::vector<std::string> InBackticks(const std::string& text) {
  static const std::regex kCode("`([^`]+)`");
  std::vector<std::string> words;
  for (std::sregex_iterator it(text.begin(), text.end(), kCode), end; it != end; ++it) {
    words.push_back((*it)[1]);
  }
  return words;
}

// The rows of the table whose heading is "| room | may include | libraries |".
std::vector<Room> ParseRooms(const std::string& markdown) {
  static const std::regex kRow(R"(\|([^|]*)\|([^|]*)\|([^|]*)\|\s*)");
  std::vector<Room> rooms;
  std::istringstream lines(markdown);
  bool in_table = false;
  for (std::string line; std::getline(lines, line);) {
    std::smatch cells;
    if (line.starts_with("| room | may include | libraries |")) {
      in_table = true;
    } else if (!in_table || line.starts_with("|---")) {
      continue;
    } else if (std::regex_match(line, cells, kRow)) {
      for (const std::string& path : InBackticks(cells[1])) {
        rooms.push_back({path, InBackticks(cells[2]), InBackticks(cells[3])});
      }
    } else {
      in_table = false;
    }
  }
  return rooms;
}

// The innermost room that contains `path`; none if the table has none.
const Room* RoomOf(const std::vector<Room>& rooms, const std::string& path) {
  const Room* innermost = nullptr;
  for (const Room& room : rooms) {
    if (Holds(room.path, path) && (!innermost || room.path.size() > innermost->path.size())) {
      innermost = &room;
    }
  }
  return innermost;
}

// The file of the project that `name` in an #include of `from` means; "" if it is none.
std::string Resolve(const Files& files, const std::string& from, const std::string& name) {
  const std::string beside = (fs::path(from).parent_path() / name).lexically_normal().string();
  for (const std::string& path : {beside, "include/" + name, "src/" + name, name}) {
    if (files.contains(path)) return path;
  }
  return "";
}

// One sentence for each #include that the table does not allow.
std::vector<std::string> Violations(const std::vector<Room>& rooms, const Files& files) {
  static const std::regex kInclude(R"(\s*#\s*include\s*([<"])([^>"]+)[>"].*)");
  std::vector<std::string> violations;
  for (const auto& [path, text] : files) {
    const Room* room = RoomOf(rooms, path);
    if (room == nullptr) {
      violations.push_back(path + " is in no room");
      continue;
    }
    std::istringstream lines(text);
    int number = 0;
    for (std::string line; std::getline(lines, line);) {
      ++number;
      std::smatch match;
      if (!std::regex_match(line, match, kInclude)) continue;
      const std::string name = match[2];
      const std::string ours = Resolve(files, path, name);
      bool allowed = false;
      if (!ours.empty()) {
        allowed = RoomOf(rooms, ours) == room ||
                  std::any_of(room->may_include.begin(), room->may_include.end(),
                              [&](const std::string& entry) { return Holds(entry, ours); });
      } else {
        // Headers without a suffix are those of the standard library.
        allowed = name.find('.') == std::string::npos ||
                  std::any_of(room->libraries.begin(), room->libraries.end(),
                              [&](const std::string& prefix) { return name.starts_with(prefix); });
      }
      if (!allowed) {
        violations.push_back(path + ":" + std::to_string(number) + " includes " + name +
                             ", which " + room->path + " may not");
      }
    }
  }
  return violations;
}

// A cycle in the table, as "a -> b -> a"; "" if there is none.
std::string FindCycle(const std::vector<Room>& rooms) {
  std::map<const Room*, int> state;  // 1: on the current path, 2: done.
  std::string cycle;
  const std::function<bool(const Room&)> visit = [&](const Room& room) {
    state[&room] = 1;
    for (const Room& next : rooms) {
      if (&next == &room) continue;
      const bool included =
          std::any_of(room.may_include.begin(), room.may_include.end(), [&](const auto& entry) {
            return Holds(entry, next.path) || RoomOf(rooms, entry) == &next;
          });
      if (!included || state[&next] == 2) continue;
      if (state[&next] == 1 || visit(next)) {
        cycle = room.path + " -> " + (cycle.empty() ? next.path : cycle);
        return true;
      }
    }
    state[&room] = 2;
    return false;
  };
  for (const Room& room : rooms) {
    if (state[&room] == 0 && visit(room)) return cycle;
  }
  return "";
}

const fs::path kRoot = BERTH_SOURCE_DIR;

std::string Read(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

Files ReadProject() {
  Files files;
  for (const char* folder :
       {"include", "src", "tools", "testing", "tests", "bench", "examples", "docs"}) {
    if (!fs::exists(kRoot / folder)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder)) {
      const std::string suffix = entry.path().extension().string();
      const std::string path = entry.path().lexically_relative(kRoot).generic_string();
      if (suffix != ".h" && suffix != ".cc" && suffix != ".c") continue;
      if (path.find("/node_modules/") != std::string::npos) continue;
      files[path] = Read(entry.path());
    }
  }
  return files;
}

std::vector<Room> ReadRooms() { return ParseRooms(Read(kRoot / "ARCHITECTURE.md")); }

TEST(LayeringTest, EveryIncludeIsInTheTable) {
  const Files files = ReadProject();
  ASSERT_TRUE(files.contains("include/berth/place.h"));
  for (const std::string& violation : Violations(ReadRooms(), files)) {
    ADD_FAILURE() << violation;
  }
}

TEST(LayeringTest, TableNamesOnlyExistingPaths) {
  const std::vector<Room> rooms = ReadRooms();
  ASSERT_FALSE(rooms.empty());
  std::set<std::string> seen;
  for (const Room& room : rooms) {
    EXPECT_TRUE(fs::exists(kRoot / room.path)) << room.path;
    EXPECT_TRUE(seen.insert(room.path).second) << room.path << " has two rows";
    for (const std::string& entry : room.may_include) {
      EXPECT_TRUE(fs::exists(kRoot / entry)) << room.path << " may include " << entry;
    }
  }
}

TEST(LayeringTest, TableHasNoCycle) { EXPECT_EQ(FindCycle(ReadRooms()), ""); }

TEST(LayeringTest, PlacementNeedsNoOtherLibrary) {
  for (const Room& room : ReadRooms()) {
    if (room.path == "include/berth") {
      EXPECT_EQ(room.libraries, std::vector<std::string>{"tl/expected.hpp"});
    } else if (room.path == "src/base" || room.path == "src/model" ||
               Holds("src/place", room.path)) {
      EXPECT_TRUE(room.libraries.empty()) << room.path;
    }
  }
}

// Baselines are a library of their own: only tests and the laboratory reach inside.
TEST(LayeringTest, NothingNeedsTheBaselines) {
  for (const auto& [path, text] : ReadProject()) {
    if (Holds("src/baselines", path) || Holds("tests", path) || Holds("tools/lab", path) ||
        Holds("bench", path)) {
      continue;
    }
    EXPECT_EQ(text.find("#include \"baselines/"), std::string::npos) << path;
  }
}

// The rest makes sure that the checks above can fail.

const char kSmallTable[] =
    "| room | may include | libraries |\n"
    "|---|---|---|\n"
    "| `include/berth` | | `tl/` |\n"
    "| `src/model` | `include/berth` | |\n"
    "| `src/place/one`, `src/place/two` | `src/model`, `include/berth` | |\n"
    "\n"
    "| `not/a/row` | | |\n";

TEST(LayeringCheckTest, ParsesTheTable) {
  const std::vector<Room> rooms = ParseRooms(kSmallTable);
  ASSERT_EQ(rooms.size(), 4u);
  EXPECT_EQ(rooms[3].path, "src/place/two");
  EXPECT_EQ(rooms[3].may_include, (std::vector<std::string>{"src/model", "include/berth"}));
}

TEST(LayeringCheckTest, FindsForbiddenIncludes) {
  const std::vector<Room> rooms = ParseRooms(kSmallTable);
  const Files files = {
      {"include/berth/problem.h", "#include <vector>\n#include <tl/expected.hpp>\n"},
      {"src/model/instance.h", "#include \"berth/problem.h\"\n#include <tl/expected.hpp>\n"},
      {"src/place/one/one.cc", "#include \"model/instance.h\"\n\n#include \"place/two/two.h\"\n"},
      {"src/place/two/two.h", "#include <berth/problem.h>\n#  include <unistd.h> // Why not.\n"},
      {"src/model/model.cc", "#include \"instance.h\"\n#include \"../place/one/one.cc\"\n"},
      {"src/attic/attic.cc", ""},
  };
  EXPECT_EQ(Violations(rooms, files),
            (std::vector<std::string>{
                "src/attic/attic.cc is in no room",
                "src/model/instance.h:2 includes tl/expected.hpp, which src/model may not",
                "src/model/model.cc:2 includes ../place/one/one.cc, which src/model may not",
                "src/place/one/one.cc:3 includes place/two/two.h, which src/place/one may not",
                "src/place/two/two.h:2 includes unistd.h, which src/place/two may not",
            }));
}

TEST(LayeringCheckTest, FindsACycle) {
  EXPECT_EQ(FindCycle({{"a", {"b"}, {}}, {"b", {"c"}, {}}, {"c", {}, {}}}), "");
  EXPECT_EQ(FindCycle({{"a", {"b"}, {}}, {"b", {"c"}, {}}, {"c", {"a/x.h"}, {}}}),
            "a -> b -> c -> a");
}

}  // namespace
}  // namespace berth::internal
