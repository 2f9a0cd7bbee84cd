// The child leads a process group of its own, so that killing the group ends what a wrapper script
// started too. A watchdog thread kills it at the limit while this thread waits; polling instead
// would blur times of a few milliseconds. The wait does not reap the child (WNOWAIT): until the
// watchdog has been told, the group's number stays taken and the kill cannot hit another group.
//
// Output goes to anonymous temporary files, not pipes: however much a program prints, it is never
// held up by this one.
#include "tools/lab/bench/subprocess.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>

extern char** environ;

namespace berth::lab {
namespace {

using Clock = std::chrono::steady_clock;

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

std::string Contents(std::FILE* file) {
  std::string text;
  std::rewind(file);
  char chunk[65536];
  for (std::size_t got = 0; (got = std::fread(chunk, 1, sizeof chunk, file)) > 0;) {
    text.append(chunk, got);
  }
  return text;
}

std::atomic<pid_t> running_group{0};

extern "C" void KillRunningGroup(int signal_number) {
  const pid_t group = running_group.load();
  if (group > 0) kill(-group, SIGKILL);
  // SA_RESETHAND has restored the default: this ends the process, as the signal asks.
  raise(signal_number);
}

// While it lives, SIGINT and SIGTERM also end the running child.
class InterruptGuard {
 public:
  InterruptGuard() {
    struct sigaction action {};
    action.sa_handler = KillRunningGroup;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, &old_interrupt_);
    sigaction(SIGTERM, &action, &old_terminate_);
  }
  ~InterruptGuard() {
    sigaction(SIGINT, &old_interrupt_, nullptr);
    sigaction(SIGTERM, &old_terminate_, nullptr);
  }
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

 private:
  struct sigaction old_interrupt_ {};
  struct sigaction old_terminate_ {};
};

// Kills a process group at a deadline unless told in time that its leader has ended.
class Watchdog {
 public:
  Watchdog(pid_t group, Clock::time_point deadline)
      : thread_([this, group, deadline] {
          std::unique_lock lock(mutex_);
          if (!wake_.wait_until(lock, deadline, [this] { return ended_; })) {
            fired_ = true;
            kill(-group, SIGKILL);
          }
        }) {}
  // True if the deadline came first.
  bool Stop() {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    wake_.notify_all();
    thread_.join();
    return fired_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  bool ended_ = false;
  bool fired_ = false;
  std::thread thread_;  // Last: it uses all of the above.
};

// Starts the process in a group of its own. Gives 0, or why not (errno).
int Spawn(const std::vector<std::string>& words, std::FILE* out, std::FILE* err, pid_t* pid) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, fileno(out), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, fileno(err), STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  const int error =
      posix_spawnp(pid, arguments[0], &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

}  // namespace

Result<std::vector<std::string>> SplitCommand(std::string_view command) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  char quote = '\0';
  for (std::size_t i = 0; i < command.size(); ++i) {
    const char c = command[i];
    const bool has_next = i + 1 < command.size();
    if (quote != '\0') {
      // Within "...", a backslash quotes only itself and the quotation mark.
      const bool escapes = c == '\\' && quote == '"' && has_next &&
                           (command[i + 1] == '"' || command[i + 1] == '\\');
      if (c == quote) {
        quote = '\0';
      } else {
        word += escapes ? command[++i] : c;
      }
    } else if (c == ' ' || c == '\t' || c == '\n') {
      if (in_word) words.push_back(std::move(word));
      word.clear();
      in_word = false;
    } else {
      in_word = true;
      if (c == '\'' || c == '"') {
        quote = c;
      } else {
        word += c == '\\' && has_next ? command[++i] : c;
      }
    }
  }
  if (in_word) words.push_back(std::move(word));
  const std::string quoted = "'" + std::string(command) + "'";
  if (quote != '\0') {
    return Fail(ErrorCode::kInvalidOptions, "the command " + quoted + " opens a quotation with " +
                                                quote + " and never closes it");
  }
  if (words.empty() || words.front().empty()) {
    return Fail(ErrorCode::kInvalidOptions, "the command " + quoted + " names no program");
  }
  return words;
}

ProcessResult RunProcess(const std::vector<std::string>& words,
                         std::optional<double> time_limit_seconds) {
  ProcessResult result;
  const File out(std::tmpfile());
  const File err(std::tmpfile());
  if (!out || !err) {
    result.not_started = std::string("no temporary file: ") + std::strerror(errno);
    return result;
  }
  // Children must not inherit these under their own numbers.
  fcntl(fileno(out.get()), F_SETFD, FD_CLOEXEC);
  fcntl(fileno(err.get()), F_SETFD, FD_CLOEXEC);

  const InterruptGuard guard;
  const auto begin = Clock::now();
  pid_t pid = 0;
  const int error = Spawn(words, out.get(), err.get(), &pid);
  if (error != 0) {
    result.not_started = std::strerror(error);
    return result;
  }
  running_group = pid;
  const double limit = time_limit_seconds.value_or(1e9);
  Watchdog watchdog(pid, begin + std::chrono::duration_cast<Clock::duration>(
                                     std::chrono::duration<double>(limit)));
  siginfo_t info{};
  while (waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
  }
  result.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  result.timed_out = watchdog.Stop();
  running_group = 0;
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (!result.timed_out) {
    if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
    if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  }
  result.standard_output = Contents(out.get());
  result.standard_error = Contents(err.get());
  return result;
}

}  // namespace berth::lab
