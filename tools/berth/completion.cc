#include "tools/berth/completion.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>
#include <vector>

#include "berth/place.h"
#include "berth/schedule.h"
#include "tools/berth/flags.h"

namespace berth::cli {
namespace {

// What --help lists.
std::vector<const CLI::App*> CommandsOf(const CLI::App& program) {
  std::vector<const CLI::App*> commands;
  for (const CLI::App* command : program.get_subcommands({})) {
    if (!command->get_group().empty()) commands.push_back(command);
  }
  return commands;
}

std::vector<const CLI::Option*> OptionsOf(const CLI::App& app) {
  std::vector<const CLI::Option*> options;
  for (const CLI::Option* option : app.get_options()) {
    if (option->nonpositional() && !option->get_group().empty()) options.push_back(option);
  }
  return options;
}

bool TakesValue(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

bool TakesFile(const CLI::Option& option) {
  return option.get_type_name().find("FILE") != std::string::npos;
}

// The values of an option, where there are few; empty for any other.
std::vector<std::string> ValuesOf(const CLI::App& app, const CLI::Option& option) {
  if (option.get_type_name() == "[on|off]") return {"on", "off"};
  if (option.get_name() == "--order") return NamesOf(ScheduleAlgorithms());
  if (option.get_name() == "--count") return {"none", "inputs", "parameters", "all"};
  if (option.get_name() == "--endpoints") {
    return {"by-name", "half-open", "inclusive", "exclusive"};
  }
  if (option.get_name() != "--algorithm") return {};
  return app.get_name() == "schedule" ? NamesOf(ScheduleAlgorithms()) : NamesOf(Algorithms());
}

std::vector<std::string> FlagsOf(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

std::string Joined(const std::vector<std::string>& words, std::string_view separator) {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += separator;
    text += word;
  }
  return text;
}

std::string FirstSentence(const std::string& text) {
  const std::size_t end = std::min(text.find(". "), text.find("; "));
  if (end != std::string::npos) return text.substr(0, end);
  return text.ends_with('.') ? text.substr(0, text.size() - 1) : text;
}

// `text` with a backslash before each of `characters`.
std::string Escaped(std::string_view text, std::string_view characters) {
  std::string escaped;
  for (const char c : text) {
    if (characters.find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

// In single quotes, for any of the shells.
std::string InQuotes(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

std::string AllNames(const CLI::App& app) {
  std::vector<std::string> words;
  for (const CLI::Option* option : OptionsOf(app)) {
    for (std::string& name : FlagsOf(*option)) words.push_back(std::move(name));
  }
  return Joined(words, " ");
}

// One option for _arguments.
std::string ZshOption(const CLI::App& app, const CLI::Option& option) {
  const auto names = FlagsOf(option);
  const std::string text = "[" + Escaped(FirstSentence(option.get_description()), "[]:\\") + "]";
  std::string value;
  if (TakesValue(option)) {
    const auto values = ValuesOf(app, option);
    value = ":" + Escaped(option.get_type_name(), "[]:\\") + ":" +
            (!values.empty()     ? "(" + Joined(values, " ") + ")"
             : TakesFile(option) ? "_files"
                                 : " ");
  }
  std::string rows;
  for (const std::string& name : names) {
    const std::string together = names.size() > 1 ? "(" + Joined(names, " ") + ")" : "";
    rows += " \\\n        " + InQuotes(together + name + text + value);
  }
  return rows;
}

// Text of a page of troff.
std::string Troff(std::string_view text) {
  std::string escaped;
  bool begins = true;
  for (const char c : text) {
    if (begins && (c == '.' || c == '\'')) escaped += "\\&";
    begins = c == '\n';
    if (c == '\\') {
      escaped += "\\e";
    } else if (c == '-') {
      escaped += "\\-";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string ManOptions(const CLI::App& app) {
  std::string text;
  for (const CLI::Option* option : app.get_options()) {
    const bool positional = option->get_positional();
    if (!positional && option->get_group().empty()) continue;
    text += ".TP\n\\fB" +
            Troff(positional ? option->get_name(true) : Joined(FlagsOf(*option), ", ")) + "\\fR";
    if (!positional && TakesValue(*option)) text += " " + Troff(option->get_type_name());
    text += "\n" + Troff(option->get_description()) + "\n";
  }
  return text;
}

std::string ManFooter(const CLI::App& app) {
  const std::string footer = app.get_footer();
  return footer.empty() ? "" : ".PP\n.nf\n" + Troff(footer) + "\n.fi\n";
}

}  // namespace

std::string BashCompletion(const CLI::App& program) {
  const std::string name = program.get_name();
  std::vector<std::string> commands;
  std::string options;
  std::string values;
  for (const CLI::App* command : CommandsOf(program)) {
    commands.push_back(command->get_name());
    options += "    " + command->get_name() + ") words='" + AllNames(*command) + "' ;;\n";
    for (const CLI::Option* option : OptionsOf(*command)) {
      if (!TakesValue(*option)) continue;
      std::vector<std::string> cases = FlagsOf(*option);
      for (std::string& each : cases) each.insert(0, command->get_name() + ":");
      const std::string words = Joined(ValuesOf(*command, *option), " ");
      // Without words, the shell completes names of files.
      values += "    " + Joined(cases, " | ") + ") words='" + words + "'; value=1 ;;\n";
    }
  }
  return "# Completion of " + name + " for bash; made by: " + name +
         " options --completion bash\n"
         "_" +
         name +
         "() {\n"
         "  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
         "  local command= words= value= i\n"
         "  for ((i = 1; i < COMP_CWORD; ++i)); do\n"
         "    case ${COMP_WORDS[i]} in\n"
         "    " +
         Joined(commands, " | ") +
         ") command=${COMP_WORDS[i]}; break ;;\n"
         "    esac\n"
         "  done\n"
         "  case $command in\n"
         "    '') words='" +
         Joined(commands, " ") + " help " + AllNames(program) + "'; value=1 ;;\n" + options +
         "  esac\n"
         "  case $command:$before in\n" +
         values +
         "  esac\n"
         "  COMPREPLY=()\n"
         "  if [[ $value || $current == -* ]]; then\n"
         "    COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
         "  fi\n"
         "}\n"
         "complete -o default -F _" +
         name + " " + name + "\n";
}

std::string ZshCompletion(const CLI::App& program) {
  const std::string name = program.get_name();
  std::string commands;
  std::string cases;
  for (const CLI::App* command : CommandsOf(program)) {
    commands += "    " +
                InQuotes(command->get_name() + ":" +
                         Escaped(FirstSentence(command->get_description()), ":\\")) +
                "\n";
    cases += "    " + command->get_name() + ")\n      _arguments -S";
    for (const CLI::Option* option : OptionsOf(*command)) cases += ZshOption(*command, *option);
    cases += " \\\n        '*:file:_files' ;;\n";
  }
  return "#compdef " + name + "\n# Completion of " + name + " for zsh; made by: " + name +
         " options --completion zsh\n"
         "_" +
         name +
         "() {\n"
         "  local -a commands\n"
         "  commands=(\n" +
         commands +
         "  )\n"
         "  if (( CURRENT == 2 )); then\n"
         "    _describe command commands\n"
         "    compadd -- " +
         AllNames(program) +
         "\n"
         "    return\n"
         "  fi\n"
         "  local command=$words[2]\n"
         "  shift words\n"
         "  (( CURRENT-- ))\n"
         "  case $command in\n" +
         cases +
         "  esac\n"
         "}\n"
         "_" +
         name + " \"$@\"\n";
}

std::string FishCompletion(const CLI::App& program) {
  const std::string name = program.get_name();
  std::string text =
      "# Completion of " + name + " for fish; made by: " + name + " options --completion fish\n";
  const auto add = [&](const CLI::App& app, const std::string& when) {
    for (const CLI::Option* option : OptionsOf(app)) {
      text += "complete -c " + name + " -n " + InQuotes(when);
      for (const std::string& each : option->get_snames()) text += " -s " + each;
      for (const std::string& each : option->get_lnames()) text += " -l " + each;
      if (TakesValue(*option)) {
        const auto values = ValuesOf(app, *option);
        text += TakesFile(*option) ? " -r" : " -x";
        if (!values.empty()) text += " -a " + InQuotes(Joined(values, " "));
      }
      // A quote in fish's single quotes is \'.
      text += " -d '" + Escaped(FirstSentence(option->get_description()), "'\\") + "'\n";
    }
  };
  add(program, "__fish_use_subcommand");
  for (const CLI::App* command : CommandsOf(program)) {
    text += "complete -c " + name + " -n __fish_use_subcommand -f -a " + command->get_name() +
            " -d '" + Escaped(FirstSentence(command->get_description()), "'\\") + "'\n";
    add(*command, "__fish_seen_subcommand_from " + command->get_name());
  }
  return text;
}

std::string ManPage(const CLI::App& program) {
  const std::string name = program.get_name();
  std::string text = ".TH BERTH 1 \"\" \"berth " BERTH_VERSION
                     "\" \"User Commands\"\n"
                     ".SH NAME\n" +
                     name + " \\- " + Troff(program.get_description()) + "\n.SH SYNOPSIS\n.B " +
                     name +
                     "\n\\fICOMMAND\\fR [\\fIOPTIONS\\fR]\n"
                     ".SH OPTIONS\n" +
                     ManOptions(program) + ManFooter(program) + ".SH COMMANDS\n";
  for (const CLI::App* command : CommandsOf(program)) {
    text += ".SS " + name + " " + command->get_name() + "\n" + Troff(command->get_description()) +
            "\n" + ManOptions(*command) + ManFooter(*command);
  }
  return text;
}

}  // namespace berth::cli
