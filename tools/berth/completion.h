// tools/berth/completion.h -- what shells and man(1) know of the command, from its own table of
// subcommands and options.
#ifndef BERTH_TOOLS_BERTH_COMPLETION_H_
#define BERTH_TOOLS_BERTH_COMPLETION_H_

#include <string>

namespace CLI {
class App;
}

namespace berth::cli {

// Scripts for the shells' folders of completions.
[[nodiscard]] std::string BashCompletion(const CLI::App& program);
[[nodiscard]] std::string ZshCompletion(const CLI::App& program);
[[nodiscard]] std::string FishCompletion(const CLI::App& program);
// A page in troff, for section 1.
[[nodiscard]] std::string ManPage(const CLI::App& program);

}  // namespace berth::cli

#endif  // BERTH_TOOLS_BERTH_COMPLETION_H_
