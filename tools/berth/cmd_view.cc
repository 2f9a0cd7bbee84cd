// berth view -- a file goes in; a page that plans it opens in the browser, with the file inside.
#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <system_error>

#include "berth/bytes.h"
#include "berth/file.h"
#include "src/base/try.h"
#include "tools/berth/command.h"
#include "tools/berth/flags.h"
#include "tools/berth/output.h"
#include "tools/berth/terminal.h"

extern char** environ;

namespace berth::cli {
namespace {

namespace fs = std::filesystem;

// What the page takes (web/src/page/app.ts).
constexpr std::size_t kMostBytes = std::size_t{1} << 30;
constexpr std::string_view kPlace = "@BERTH_FILES@";

struct ViewArguments {
  std::vector<std::string> files;
  std::string output;
  bool no_browser = false;
};

// Beside the installed command, or in the source tree that it was built in. $BERTH_WEB_PAGE comes first.
std::optional<fs::path> FindPage() {
  std::error_code error;
  if (const char* const given = std::getenv("BERTH_WEB_PAGE")) return given;
  const fs::path command = fs::read_symlink("/proc/self/exe", error);
  if (error) return std::nullopt;
  fs::path folder = command.parent_path();
  if (const fs::path page = folder.parent_path() / "share/berth/berth.html";
      fs::exists(page, error)) {
    return page;
  }
  constexpr int kDepth = 5;  // build/release/tools/berth.
  for (int k = 0; k < kDepth; ++k, folder = folder.parent_path()) {
    if (const fs::path page = folder / "web/dist/berth.html"; fs::exists(page, error)) return page;
  }
  return std::nullopt;
}

std::string Base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t left = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      group = group << 8u | (k < left ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      text += k <= left ? kDigits[group >> (18 - 6 * k) & 63u] : '=';
    }
  }
  return text;
}

// The files as the page reads them. Nothing in it can end the element that it stands in.
Result<std::string> Packed(const std::vector<std::string>& paths) {
  std::string text = "[";
  for (const std::string& path : paths) {
    const FileView file = BERTH_TRY(FileView::Open(path));
    if (file.bytes().size() > kMostBytes) {
      return Fail(ErrorCode::kUnsupported,
                  OneLine(path) + ": " + FormatBytes(static_cast<Bytes>(file.bytes().size())) +
                      " are more than a page in a browser can hold (" + FormatBytes(kMostBytes) +
                      "); berth plan --report has no such limit");
    }
    const std::string name = path == "-" ? "standard input" : fs::path(path).filename().string();
    std::string quoted = Json(name).dump(-1, ' ', true, Json::error_handler_t::replace);
    for (std::size_t at = 0; (at = quoted.find('<', at)) != std::string::npos;) {
      quoted.replace(at, 1, "\\u003c");
    }
    text += std::string(text.size() > 1 ? "," : "") + R"({"name":)" + quoted + R"(,"base64":")" +
            Base64(file.bytes()) + "\"}";
  }
  return text + "]";
}

// A new folder that only this user can look into, for as long as the browser may read from it.
Result<std::string> TemporaryPage() {
  std::error_code error;
  std::string pattern = (fs::temp_directory_path(error) / "berth-XXXXXX").string();
  if (error || mkdtemp(pattern.data()) == nullptr) {
    return Fail(ErrorCode::kIo, "no temporary folder can be made; --output names a file");
  }
  return pattern + "/berth.html";
}

// Whether a program that opens files was started.
bool OpenInBrowser(const std::string& path) {
#ifdef __APPLE__
  const char* const opener = "open";
#else
  if (std::getenv("DISPLAY") == nullptr && std::getenv("WAYLAND_DISPLAY") == nullptr) return false;
  const char* const opener = "xdg-open";
#endif
  std::string program = opener;
  std::string argument = path;
  char* const words[] = {program.data(), argument.data(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_RDWR, 0);
  }
  pid_t child = 0;
  const int failed = posix_spawnp(&child, opener, &actions, nullptr, words, environ);
  posix_spawn_file_actions_destroy(&actions);
  return failed == 0;
}

Result<ExitCode> Run(const ViewArguments& arguments) {
  const auto page = FindPage();
  if (!page) {
    return Fail(ErrorCode::kIo,
                "the page is not installed; scripts/web builds it, and $BERTH_WEB_PAGE names it");
  }
  if (!arguments.output.empty()) BERTH_TRY(CheckOutput(arguments.output));
  const FileView whole = BERTH_TRY(FileView::Open(page->string()));
  const std::string_view html = whole.bytes();
  const std::size_t place = html.find(kPlace);
  if (place == std::string_view::npos) {
    return Fail(ErrorCode::kParse,
                OneLine(page->string()) + ": not the page that scripts/web builds");
  }
  const std::string files = BERTH_TRY(Packed(arguments.files));
  const std::string path = arguments.output.empty() ? BERTH_TRY(TemporaryPage()) : arguments.output;
  const std::string_view pieces[] = {html.substr(0, place), files,
                                     html.substr(place + kPlace.size())};
  BERTH_TRY(WriteFile(path, pieces));
  if (IsStandardOutput(path)) return kDone;
  const bool opened = !arguments.no_browser && OpenInBrowser(path);
  Print(OneLine(path) + (opened ? "\n" : ": open it in a browser\n"));
  return kDone;
}

}  // namespace

Command AddViewCommand(CLI::App& berth) {
  CLI::App* app = berth.add_subcommand(
      "view",
      "Open a model, a table or two plans in the browser, and plan again while a slider moves.");
  const auto arguments = std::make_shared<ViewArguments>();
  app->add_option(
         "FILE", arguments->files,
         "A model, a graph, a table of buffers or a PyTorch memory snapshot; or two plans, "
         "to compare them. - is standard input.")
      ->required()
      ->expected(1, 2);
  AddFile(*app, "-o,--output", arguments->output,
          "Where to write the page, which holds the file and needs no network; .html, or - for "
          "standard output. Without it, a temporary file.");
  app->add_flag("--no-browser", arguments->no_browser, "Only write the page and print its path.");
  return {app, [arguments] { return Run(*arguments); }};
}

}  // namespace berth::cli
