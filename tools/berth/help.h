// tools/berth/help.h -- what --help looks like, and what a mistyped word might have meant.
#ifndef BERTH_TOOLS_BERTH_HELP_H_
#define BERTH_TOOLS_BERTH_HELP_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
class FormatterBase;
class ParseError;
}  // namespace CLI

namespace berth::cli {

// Usage first, one line for each flag with its text wrapped beside it, examples last.
[[nodiscard]] std::shared_ptr<CLI::FormatterBase> MakeHelpFormatter();

// The candidate nearest to `word`, if it is near enough to be what was meant; else nothing.
[[nodiscard]] std::string Nearest(std::string_view word,
                                  const std::vector<std::string>& candidates);

// One sentence about what is wrong with the command line.
[[nodiscard]] std::string UsageMessage(const CLI::App& program, const CLI::ParseError& error);

}  // namespace berth::cli

#endif  // BERTH_TOOLS_BERTH_HELP_H_
