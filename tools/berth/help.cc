#include "tools/berth/help.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <numeric>

#include "tools/berth/terminal.h"

namespace berth::cli {
namespace {

struct Row {
  std::string left;
  std::string right;
};

// Two columns, the right one wrapped; a left cell that is too wide gets a line of its own.
std::string Rows(const std::string& title, const std::vector<Row>& rows) {
  constexpr std::size_t kIndent = 30;
  std::string text = "\n" + Paint(Tone::kStrong, title + ":") + "\n";
  for (const Row& row : rows) {
    std::string left = "  " + row.left;
    if (DisplayWidth(left) + 2 > kIndent) {
      text += left + "\n";
      left.clear();
    }
    left.resize(std::max(kIndent, left.size()), ' ');
    text += left + Wrap(row.right, TextWidth(), kIndent) + "\n";
  }
  return text;
}

// "-o, --output FILE", with room for a short name where there is none.
std::string Flags(const CLI::Option& option) {
  std::string text;
  for (const std::string& name : option.get_snames()) text += "-" + name + ", ";
  if (text.empty()) text = "    ";
  for (const std::string& name : option.get_lnames()) text += "--" + name + ", ";
  text.resize(text.size() - 2);
  if (option.get_items_expected_max() > 0) {
    text += " ";
    text += option.get_type_name();
  }
  return text;
}

// "berth place": the command with the names of the program and of all commands above it.
std::string PathOf(const CLI::App& app) {
  std::string path = app.get_name();
  for (const CLI::App* parent = app.get_parent(); parent != nullptr;
       parent = parent->get_parent()) {
    path = parent->get_name() + " " + path;
  }
  return path;
}

std::string Usage(const CLI::App& app) {
  std::string usage = Paint(Tone::kStrong, "Usage:") + " " + PathOf(app);
  if (!app.get_subcommands({}).empty()) return usage + " COMMAND ...\n";
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_positional()) continue;
    std::string name = option->get_name(true);
    if (option->get_expected_max() > 1) name += "...";
    usage += option->get_required() ? " " + name : " [" + name + "]";
  }
  return usage + " [OPTIONS]\n";
}

// The command that was given, the innermost where commands have commands, or the program itself.
const CLI::App& Given(const CLI::App& program) {
  const auto given = program.get_subcommands();
  return given.empty() ? program : Given(*given.front());
}

// A program, or a command that is nothing without one of its own commands.
bool NeedsCommand(const CLI::App& app) { return !app.get_subcommands({}).empty(); }

bool IsFlag(const std::string& word) { return word.size() > 1 && word.front() == '-'; }

std::string UnknownFlag(const CLI::App& app, std::string flag) {
  flag = flag.substr(0, flag.find('='));
  std::vector<std::string> known;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  }
  const std::string nearest = Nearest(flag, known);
  return "unknown option '" + flag + "'; " +
         (nearest.empty() ? "see " + PathOf(app) + " --help" : "did you mean '" + nearest + "'?");
}

std::string UnknownCommand(const CLI::App& app, const std::string& word) {
  std::vector<std::string> known;
  for (const CLI::App* command : app.get_subcommands({})) {
    if (!command->get_group().empty()) known.push_back(command->get_name());
  }
  const std::string nearest = Nearest(word, known);
  return "unknown command '" + word + "'; " +
         (nearest.empty() ? "see " + PathOf(app) + " --help" : "did you mean '" + nearest + "'?");
}

class HelpFormatter : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App* app, std::string /*name*/,
                        CLI::AppFormatMode /*mode*/) const override {
    std::string text = app->get_description() + "\n\n" + Usage(*app);
    std::vector<Row> rows;
    for (const CLI::App* command : app->get_subcommands({})) {
      if (command->get_group().empty()) continue;
      rows.push_back({command->get_name(), command->get_description()});
    }
    if (!rows.empty()) text += Rows("Commands", rows);
    rows.clear();
    for (const CLI::Option* option : app->get_options()) {
      if (option->get_positional()) {
        rows.push_back({option->get_name(true), option->get_description()});
      }
    }
    if (!rows.empty()) text += Rows("Arguments", rows);
    for (const std::string& group : app->get_groups()) {
      rows.clear();
      for (const CLI::Option* option : app->get_options()) {
        if (option->nonpositional() && option->get_group() == group && !group.empty()) {
          rows.push_back({Flags(*option), option->get_description()});
        }
      }
      if (!rows.empty()) text += Rows(group, rows);
    }
    if (const std::string footer = app->get_footer(); !footer.empty()) text += "\n" + footer + "\n";
    return text;
  }
};

}  // namespace

std::shared_ptr<CLI::FormatterBase> MakeHelpFormatter() {
  return std::make_shared<HelpFormatter>();
}

std::string Nearest(std::string_view word, const std::vector<std::string>& candidates) {
  const auto without_dashes = [](std::string_view text) {
    text.remove_prefix(std::min(text.find_first_not_of('-'), text.size()));
    return text;
  };
  word = without_dashes(word);
  // Levenshtein's distance, neighbours swapped being one edit too; three rows at a time.
  const auto distance = [word](std::string_view other) {
    const std::size_t n = other.size();
    std::vector<std::size_t> before(n + 1);  // The row before last.
    std::vector<std::size_t> last(n + 1);
    std::iota(last.begin(), last.end(), std::size_t{0});
    for (std::size_t i = 1; i <= word.size(); ++i) {
      std::vector<std::size_t> row(n + 1, i);
      for (std::size_t j = 1; j <= n; ++j) {
        const std::size_t differs = word[i - 1] == other[j - 1] ? 0 : 1;
        row[j] = std::min({last[j - 1] + differs, last[j] + 1, row[j - 1] + 1});
        const bool swapped =
            i > 1 && j > 1 && word[i - 1] == other[j - 2] && word[i - 2] == other[j - 1];
        if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
      }
      before = std::exchange(last, std::move(row));
    }
    return last.back();
  };
  const auto common_prefix = [word](std::string_view other) {
    const auto end = std::mismatch(word.begin(), word.end(), other.begin(), other.end()).first;
    return static_cast<std::size_t>(end - word.begin());
  };
  // The beginning of a word most likely means that word.
  constexpr std::size_t kShortestPrefix = 3;
  if (word.size() >= kShortestPrefix) {
    for (const std::string& candidate : candidates) {
      if (common_prefix(without_dashes(candidate)) == word.size()) return candidate;
    }
  }
  std::string nearest;
  std::size_t least = (word.size() + 1) / 3;  // Further away is a guess, not a correction.
  std::size_t longest_prefix = 0;
  for (const std::string& candidate : candidates) {
    const std::string_view other = without_dashes(candidate);
    const std::size_t d = distance(other);
    const std::size_t prefix = common_prefix(other);
    if (d < least || (d == least && (nearest.empty() || prefix > longest_prefix))) {
      least = d;
      longest_prefix = prefix;
      nearest = candidate;
    }
  }
  return nearest;
}

std::string UsageMessage(const CLI::App& program, const CLI::ParseError& error) {
  const CLI::App& given = Given(program);
  // An unknown word explains best what else went wrong, so it comes first.
  std::vector<std::string> unknown = given.remaining();
  if (unknown.empty()) unknown = program.remaining(true);
  const auto flag = std::find_if(unknown.begin(), unknown.end(), IsFlag);
  if (flag != unknown.end()) return UnknownFlag(given, *flag);
  if (!unknown.empty() && NeedsCommand(given)) return UnknownCommand(given, unknown.front());
  const std::string help = "; see " + PathOf(given) + " --help";
  if (!unknown.empty()) return "unexpected argument '" + unknown.front() + "'" + help;
  // Errors about one option begin with its name.
  const std::string what = error.what();
  const std::string name = what.substr(0, what.find_first_of(": "));
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    if (NeedsCommand(given)) return "a command is missing" + help;
    return name + " is missing" + help;
  }
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    const CLI::Option* option = given.get_option_no_throw(name);
    if (option != nullptr && option->get_items_expected_max() > 0) {
      return name + " needs a value, " + option->get_type_name() + help;
    }
    return name + " takes no value" + help;
  }
  if (dynamic_cast<const CLI::ConversionError*>(&error) != nullptr) {
    return name + " takes no such value" + help;
  }
  return what;
}

}  // namespace berth::cli
