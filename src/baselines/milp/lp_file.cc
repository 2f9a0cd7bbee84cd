// The format has dialects. What they share: sections by their long-standing names, one blank around
// every sign, names that look like neither numbers nor keywords, lines shorter than 255 characters,
// constants on the right-hand side only.
#include "baselines/milp/lp_file.h"

#include <array>
#include <cstdlib>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

namespace berth::internal::milp {
namespace {

constexpr std::size_t kLongestLine = 100;
constexpr std::size_t kLongestName = 100;

// A keyword of some dialect, in small letters.
bool IsKeyword(const std::string& name) {
  static constexpr std::array<std::string_view, 29> kKeywords = {
      "bin",      "binaries", "binary",  "bound",    "bounds",   "end",      "free",     "gen",
      "general",  "generals", "inf",     "infinity", "int",      "integer",  "integers", "max",
      "maximise", "maximize", "maximum", "min",      "minimise", "minimize", "minimum",  "semi",
      "semis",    "sin",      "sos",     "st",       "such"};
  std::string small;
  for (const char c : name) small += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  for (const std::string_view keyword : kKeywords) {
    if (small == keyword) return true;
  }
  return false;
}

std::string SafeName(const std::string& name) {
  std::string safe;
  for (const char c : name.substr(0, kLongestName - 20)) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    safe += letter || (c >= '0' && c <= '9') ? c : '_';
  }
  // "e5" is the end of a number in some dialects, and a digit begins one in all.
  const bool begins_well = !safe.empty() && safe.front() != '_' && safe.front() != 'e' &&
                           safe.front() != 'E' && !(safe.front() >= '0' && safe.front() <= '9');
  if (!begins_well || IsKeyword(safe)) safe.insert(0, "n_");
  return safe;
}

// Text in lines that are not too long.
class Lines {
 public:
  void Add(const std::string& word) {
    if (length_ + word.size() + 1 > kLongestLine) {
      text_ << "\n ";
      length_ = 1;
    }
    text_ << ' ' << word;
    length_ += word.size() + 1;
  }
  void AddTerms(const std::vector<Term>& terms, const std::vector<std::string>& names) {
    bool first = true;
    for (const Term& term : terms) {
      std::string word = term.coefficient < 0 ? "- " : first ? "" : "+ ";
      if (std::abs(term.coefficient) != 1) {
        word += std::to_string(std::abs(term.coefficient)) + " ";
      }
      Add(word + names[term.variable.position()]);
      first = false;
    }
  }
  void Line(const std::string& line) {
    text_ << line;
    length_ = line.size();
  }
  void End() {
    text_ << '\n';
    length_ = 0;
  }
  [[nodiscard]] std::string text() const { return text_.str(); }

 private:
  std::ostringstream text_;
  std::size_t length_ = 0;
};

void WriteConstraint(const std::string& name, const Constraint& constraint,
                     const std::vector<std::string>& names, Lines& lines) {
  const auto write = [&](const std::string& suffix, const std::string& relation, Number side) {
    lines.Line(" " + name + suffix + ":");
    lines.AddTerms(constraint.terms, names);
    lines.Add(relation + " " + std::to_string(side));
    lines.End();
  };
  if (constraint.lower == constraint.upper) {
    write("", "=", constraint.lower);
    return;
  }
  const bool has_lower = constraint.lower > -kInfinity;
  if (has_lower) write("", ">=", constraint.lower);
  if (constraint.upper < kInfinity) write(has_lower ? "_upper" : "", "<=", constraint.upper);
}

void WriteBounds(const Variable& variable, const std::string& name, Lines& lines) {
  const bool has_lower = variable.lower > -kInfinity;
  const bool has_upper = variable.upper < kInfinity;
  if (!has_lower && !has_upper) {
    lines.Line(" " + name + " free");
  } else if (variable.lower == variable.upper) {
    lines.Line(" " + name + " = " + std::to_string(variable.lower));
  } else {
    lines.Line(" " + (has_lower ? std::to_string(variable.lower) : std::string("-inf")) + " <= " +
               name + (has_upper ? " <= " + std::to_string(variable.upper) : std::string()));
  }
  lines.End();
}

bool IsBinary(const Variable& variable) {
  return variable.integer && variable.lower == 0 && variable.upper == 1;
}

template <typename Wanted>
void WriteNames(const Model& model, const std::vector<std::string>& names,
                const std::string& section, Wanted wanted, Lines& lines) {
  bool any = false;
  for (const VariableIndex v : model.variables.indices()) {
    if (!wanted(model.variables[v])) continue;
    if (!any) {
      lines.Line(section);
      lines.End();
    }
    any = true;
    lines.Add(names[v.position()]);
  }
  if (any) lines.End();
}

template <typename Indexed>
std::vector<std::string> NamesOf(const Indexed& items) {
  std::vector<std::string> names;
  names.reserve(items.size());
  for (const auto& item : items) names.push_back(item.name);
  return SafeNames(names);
}

}  // namespace

std::vector<std::string> SafeNames(const std::vector<std::string>& names) {
  std::vector<std::string> safe;
  safe.reserve(names.size());
  std::set<std::string> taken;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string base = SafeName(names[i]);
    std::string name = base;
    for (std::size_t number = i; !taken.insert(name).second; ++number) {
      name = base + "_" + std::to_string(number);
    }
    safe.push_back(std::move(name));
  }
  return safe;
}

std::string WriteLp(const Model& model, const std::string& comment) {
  const std::vector<std::string> names = NamesOf(model.variables);
  const std::vector<std::string> rows = NamesOf(model.constraints);
  Lines lines;
  std::istringstream comments(comment);
  for (std::string line; std::getline(comments, line);) {
    lines.Line("\\ " + line);
    lines.End();
  }
  lines.Line("Minimize");
  lines.End();
  lines.Line(" objective:");
  // Some readers want at least one term.
  if (model.objective.empty() && !names.empty()) lines.Add("0 " + names.front());
  lines.AddTerms(model.objective, names);
  lines.End();
  lines.Line("Subject To");
  lines.End();
  for (const ConstraintIndex c : model.constraints.indices()) {
    WriteConstraint(rows[c.position()], model.constraints[c], names, lines);
  }
  lines.Line("Bounds");
  lines.End();
  for (const VariableIndex v : model.variables.indices()) {
    if (!IsBinary(model.variables[v])) WriteBounds(model.variables[v], names[v.position()], lines);
  }
  WriteNames(
      model, names, "Generals",
      [](const Variable& variable) { return variable.integer && !IsBinary(variable); }, lines);
  WriteNames(model, names, "Binaries", IsBinary, lines);
  lines.Line("End");
  lines.End();
  return lines.text();
}

}  // namespace berth::internal::milp
