// bench/instructions/count.cc -- counts the instructions of an emulated program between its readings
// of the processor's clock.
//
// A plugin of QEMU's user-mode emulator. berth-lab reads the processor time of its process directly
// before and after each run that it measures (tools/lab/bench/runner.cc), which emulated programs do by
// a system call. So the instructions from one such call to the next are those of a run, or of what
// lies between two runs. One line for each call: the instructions since the one before it.
//
//     qemu-aarch64 -plugin ./libcount.so,out=counts.txt ./berth-lab suite ...
//
// Exact for programs with one thread: a block of code adds its length when it is entered, and leaves
// only at its end. The API is version 1 of qemu-plugin.h (QEMU 4.2 and later), repeated here because
// Debian's package does not have that header.
#include <cinttypes>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>

extern "C" {

using qemu_plugin_id_t = std::uint64_t;
struct qemu_plugin_tb;

// Only its beginning, which is all that is read.
struct qemu_info_t {
  const char* target_name;
};

enum qemu_plugin_op { QEMU_PLUGIN_INLINE_ADD_U64 };

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
                                           void (*callback)(qemu_plugin_id_t, qemu_plugin_tb*));
std::size_t qemu_plugin_tb_n_insns(const qemu_plugin_tb* tb);
void qemu_plugin_register_vcpu_tb_exec_inline(qemu_plugin_tb* tb, qemu_plugin_op op, void* pointer,
                                              std::uint64_t immediate);
void qemu_plugin_register_vcpu_syscall_cb(
    qemu_plugin_id_t id,
    void (*callback)(qemu_plugin_id_t, unsigned vcpu, std::int64_t number, std::uint64_t a1,
                     std::uint64_t a2, std::uint64_t a3, std::uint64_t a4, std::uint64_t a5,
                     std::uint64_t a6, std::uint64_t a7, std::uint64_t a8));
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, void (*callback)(qemu_plugin_id_t, void*),
                                    void* data);

__attribute__((visibility("default"))) extern const int qemu_plugin_version = 1;
__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id,
                                                               const qemu_info_t* info, int argc,
                                                               char** argv);

}  // extern "C"

namespace {

constexpr std::uint64_t kProcessClock = 2;  // CLOCK_PROCESS_CPUTIME_ID, on every Linux.

std::uint64_t executed = 0;
std::uint64_t at_last_reading = 0;
std::int64_t clock_gettime_number = -1;  // Of the emulated machine.
std::FILE* output = nullptr;

void Translated(qemu_plugin_id_t /*id*/, qemu_plugin_tb* block) {
  qemu_plugin_register_vcpu_tb_exec_inline(block, QEMU_PLUGIN_INLINE_ADD_U64, &executed,
                                           qemu_plugin_tb_n_insns(block));
}

void Called(qemu_plugin_id_t /*id*/, unsigned /*vcpu*/, std::int64_t number, std::uint64_t a1,
            std::uint64_t /*a2*/, std::uint64_t /*a3*/, std::uint64_t /*a4*/, std::uint64_t /*a5*/,
            std::uint64_t /*a6*/, std::uint64_t /*a7*/, std::uint64_t /*a8*/) {
  if (number != clock_gettime_number || a1 != kProcessClock) return;
  std::fprintf(output, "%" PRIu64 "\n", executed - at_last_reading);
  at_last_reading = executed;
}

void Ended(qemu_plugin_id_t /*id*/, void* /*data*/) { std::fclose(output); }

}  // namespace

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t* info, int argc, char** argv) {
  if (std::strcmp(info->target_name, "aarch64") == 0) clock_gettime_number = 113;
  if (std::strcmp(info->target_name, "x86_64") == 0) clock_gettime_number = 228;
  if (clock_gettime_number < 0 || argc != 1 || std::strncmp(argv[0], "out=", 4) != 0) {
    std::fprintf(stderr, "libcount.so: needs out=FILE, and a program for aarch64 or x86_64\n");
    return 1;
  }
  output = std::fopen(argv[0] + 4, "w");
  if (output == nullptr) {
    std::perror(argv[0] + 4);
    return 1;
  }
  qemu_plugin_register_vcpu_tb_trans_cb(id, Translated);
  qemu_plugin_register_vcpu_syscall_cb(id, Called);
  qemu_plugin_register_atexit_cb(id, Ended, nullptr);
  return 0;
}
