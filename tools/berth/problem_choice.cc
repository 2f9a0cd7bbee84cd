#include "tools/berth/problem_choice.h"

#include "src/base/choice.h"
#include "tools/berth/flags.h"
#include "tools/berth/terminal.h"

namespace berth::cli {
namespace {

std::string ShownPath(const std::string& path) {
  return path == "-" ? "standard input" : OneLine(path);
}

}  // namespace

void AddProblem(CLI::App& app, std::string& choice) {
  app.add_option("--problem", choice,
                 "Of a file with several problems (pools of a PyTorch memory snapshot, XLA's "
                 "allocations of temporaries, models, memories): the one to take, by the name or "
                 "the number that berth info says. Default: all, if the command takes several; of "
                 "a snapshot, the pool with the most reserved memory.")
      ->type_name("NAME|N");
}

void AddPool(CLI::App& app, std::string& choice) {
  app.add_option("--problem", choice,
                 "The pool of both snapshots, by the name or the number that berth info says. "
                 "Default: of each, the pool with the most reserved memory.")
      ->type_name("NAME|N");
}

Result<std::size_t> ChooseProblem(const std::string& choice, const std::vector<std::string>& names,
                                  const std::string& path) {
  if (const auto chosen = internal::IndexOfChoice(choice, names)) return *chosen;
  return internal::ChoiceIsUnknown("--problem", Quoted(choice), ShownPath(path), names.size(),
                                   "berth info lists them");
}

tl::unexpected<Error> ProblemMissing(const std::string& what, const std::vector<std::string>& names,
                                     const std::string& path) {
  return internal::ChoiceIsMissing(what, ShownPath(path), names.size(),
                                   "--problem " + ShellWord(OneLine(names.front())));
}

}  // namespace berth::cli
