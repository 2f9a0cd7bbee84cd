// ReadSnapshot(): small files that Python's pickle wrote (make_files.py), and files that lie.
#include <gtest/gtest.h>

#include <string>

#include "berth/file.h"
#include "berth/snapshot.h"

namespace berth {
namespace {

using std::string_literals::operator""s;

std::string FileNamed(const std::string& name) {
  const auto text = ReadFile(BERTH_SOURCE_DIR "/tests/snapshot/files/" + name + ".pickle");
  EXPECT_TRUE(text.has_value()) << name;
  return text.value_or("");
}

void ExpectRefused(const std::string& bytes, const std::string& message) {
  const auto snapshot = ReadSnapshot(bytes, "s.pickle");
  ASSERT_FALSE(snapshot.has_value());
  EXPECT_EQ(snapshot.error().code, ErrorCode::kParse);
  EXPECT_EQ(snapshot.error().message, "s.pickle: " + message);
}

TEST(SnapshotReaderTest, EveryProtocolReadsTheSame) {
  for (const std::string name : {"small_2", "small_3", "small_4", "small_5"}) {
    SCOPED_TRACE(name);
    const std::string bytes = FileNamed(name);
    EXPECT_TRUE(LooksLikeSnapshot(bytes));
    const auto snapshot = ReadSnapshot(bytes, name);
    ASSERT_TRUE(snapshot.has_value()) << snapshot.error().message;
    EXPECT_EQ(snapshot->trace_ends, (std::vector<std::size_t>{8, 8}));
    ASSERT_EQ(snapshot->events.size(), 8u);
    EXPECT_EQ(snapshot->events[0].action, SnapshotAction::kFreeCompleted);
    EXPECT_EQ(snapshot->events[0].stack, kNoStack);
    EXPECT_EQ(snapshot->events[2].address, 0x7f0000002000u);
    EXPECT_EQ(snapshot->events[2].size, 2000);
    EXPECT_EQ(snapshot->events[7].stream, 7);
    ASSERT_EQ(snapshot->segments.size(), 3u);
    EXPECT_EQ(snapshot->segments[0].size, 16384);
    EXPECT_EQ(snapshot->segments[0].blocks.size(), 5u);
    EXPECT_TRUE(snapshot->segments[1].blocks[0].active) << "freed, but not completely";
    // Four different stacks and the empty one; the block's own is that of an event.
    EXPECT_EQ(snapshot->stack_count(), 5u);
    EXPECT_EQ(snapshot->frames.size(), 5u);
    const auto frames = snapshot->StackFrames(snapshot->events[1].stack);
    ASSERT_EQ(frames.size(), 4u);
    EXPECT_EQ(ToString(snapshot->frames[frames[2]]), "step (/home/user/train.py:5)");
    EXPECT_EQ(UsefulFrame(*snapshot, snapshot->events[1].stack), frames[2]);
  }
}

TEST(SnapshotReaderTest, CodeIsRefusedByName) {
  ExpectRefused(
      FileNamed("bad_reduce_2"),
      "byte 50: the opcode GLOBAL \"posix.system\" makes Python run code when it loads the "
      "file; a memory snapshot has plain values only, so the file is refused");
  ExpectRefused(FileNamed("bad_reduce"),
                "byte 64: the opcode STACK_GLOBAL makes Python run code when it loads the file; a "
                "memory snapshot has plain values only, so the file is refused");
  ExpectRefused("\x80\x02)R."s,
                "byte 3: the opcode REDUCE makes Python run code when it loads the file; a memory "
                "snapshot has plain values only, so the file is refused");
  ExpectRefused("\x80\x02)0."s, "byte 3: the opcode POP (0x30) is in no memory snapshot");
  ExpectRefused("\x80\x02\xfe"s, "byte 2: 0xfe is not an opcode of pickle");
}

TEST(SnapshotReaderTest, BadValuesAreNamed) {
  for (const auto& [name, message] : std::initializer_list<std::pair<const char*, const char*>>{
           {"bad_size", "byte 173: the \"size\" of an event is negative: -7"},
           {"bad_no_addr", "byte 80: device_traces[0][0] has no \"addr\""},
           {"bad_action", "byte 60: the \"action\" of an event is 5, not text"},
           {"bad_frames", "byte 174: among the \"frames\" of an event is \"x\", not a frame"},
           {"bad_trace", "byte 52: device_traces[0][0] is 17, not an event"},
           {"bad_traces", "byte 53: \"device_traces\" is a dict, not a list"},
           {"bad_huge", "byte 178: the \"addr\" of an event is a number beyond 2^59, not a number"},
           {"bad_keys",
            "byte 39: the dict has neither \"segments\" nor \"device_traces\": it is not a memory "
            "snapshot"}}) {
    SCOPED_TRACE(name);
    ExpectRefused(FileNamed(name), message);
  }
}

TEST(SnapshotReaderTest, BrokenMachinesAreRefused) {
  ExpectRefused("", "byte 0: the file ends before the pickle does (no STOP)");
  ExpectRefused("\x80\x09."s, "byte 0: protocol 9 of pickle is not known; 2 to 5 are");
  ExpectRefused("\x80\x04."s, "byte 2: the pickle ends with 0 values on its stack, not one");
  ExpectRefused("\x80\x04}}."s, "byte 4: the pickle ends with 2 values on its stack, not one");
  ExpectRefused("\x80\x04u."s, "byte 2: the operation needs a MARK, but there is none");
  ExpectRefused("\x80\x04]K\x01K\x02s."s, "byte 7: keys are put into a list, not into a dict");
  ExpectRefused("\x80\x04}(K\x01u."s, "byte 6: a dict is given a key without a value");
  ExpectRefused("\x80\x04}a."s, "byte 3: the operation needs 2 values, but the stack has 1");
  ExpectRefused("\x80\x04}K\x01"s + "a."s, "byte 5: values are appended to a dict");
  ExpectRefused("\x80\x04h\x03."s, "byte 2: the memo has no entry 3 yet, only 0");
  ExpectRefused("\x80\x04}\x94h\x09."s, "byte 4: the memo has no entry 9 yet, only 1");
  ExpectRefused("\x80\x04"s + "X\xff\xff\xff\xffsegments"s,
                "byte 2: opcode 0x58 needs 4294967295 more bytes, but the file ends after 8");
  ExpectRefused("\x80\x04"s + "J\x01"s,
                "byte 2: opcode 0x4a needs 4 more bytes, but the file ends after 1");
  // Without this check the file would take 32 GiB.
  ExpectRefused("\x80\x02}r\xff\xff\xff\xff."s,
                "byte 3: entry 4294967295 of the memo cannot exist this early");
}

TEST(SnapshotReaderTest, DeepNestingTakesNoStack) {
  std::string bytes = "\x80\x04";
  constexpr int kDepth = 500'000;
  for (int i = 0; i < kDepth; ++i) bytes += ']';
  for (int i = 1; i < kDepth; ++i) bytes += 'a';
  bytes += '.';
  const auto snapshot = ReadSnapshot(bytes, "s");
  ASSERT_FALSE(snapshot.has_value());
  EXPECT_NE(snapshot.error().message.find("the pickle is a list, not a dict"), std::string::npos);
}

// One list of many events, as the trace of many devices, would be a large snapshot in a small file.
TEST(SnapshotReaderTest, ListsAreNotMultiplied) {
  const std::string event = "}(\x8c\x06"s + "actionq\x01\x8c\x05"s + "allocq\x02\x8c\x04"s +
                            "addrK\x01\x8c\x04sizeK\x01u";
  const std::string bytes =
      "\x80\x04}\x8c\x0d"s + "device_traces](]"s + "q\x00"s + event + "a" + "h\x00h\x00"s + "es.";
  ExpectRefused(bytes, "byte " + std::to_string(bytes.size() - 1) +
                           ": device_traces[1] is the same list as that of an earlier device");
}

std::string Text(const std::string& text) {
  std::string bytes = "X";
  for (int shift = 0; shift < 32; shift += 8) {
    bytes += static_cast<char>(text.size() >> shift & 255u);
  }
  return bytes + text;
}

// An event with a stack of `frames`, which may fetch the texts that are put before it.
std::string SnapshotWith(const std::string& texts, const std::string& frames) {
  return "\x80\x04}("s + Text("allocator_settings") + "(" + texts + "t" + Text("device_traces") +
         "]]}(" + Text("action") + Text("alloc") + Text("addr") + "K\x01" + Text("size") + "K\x01" +
         Text("frames") + "](" + frames + "euaau.";
}

// One long text in many frames: their names must not take more memory, nor the search for the one to
// name a buffer after more time, than the file has bytes for.
TEST(SnapshotReaderTest, TextsAreNotMultiplied) {
  const std::string texts = Text("name") + "q\x01" + Text(std::string(500'000, 'a')) + "q\x02" +
                            Text("filename") + "q\x03" + Text("line") + "q\x04";
  const auto frames = [](int count) {
    std::string all;
    for (int i = 0; i < count; ++i) {
      all += "}(h\x01h\x02h\x03h\x02h\x04J"s + static_cast<char>(i & 255) +
             static_cast<char>(i >> 8 & 255) + static_cast<char>(i >> 16) + '\0' + 'u';
    }
    return all;
  };
  const auto few = ReadSnapshot(SnapshotWith(texts, frames(1000)), "s");
  ASSERT_TRUE(few.has_value()) << few.error().message;
  EXPECT_EQ(few->frames[999].function, std::string(1000, 'a'));
  EXPECT_LT(UseOf(*few).pools[0].problem.buffers[0].id.size(), 220u);
  const std::string many = SnapshotWith(texts, frames(100'000));
  ExpectRefused(many, "byte " + std::to_string(many.size() - 1) +
                          ": the frames of all stacks have more text than a file of this size may");
}

TEST(SnapshotReaderTest, NamesLoseAllAnonymousNamespaces) {
  const std::string anonymous = "(anonymous namespace)::";
  EXPECT_EQ(ShortName({"a::" + anonymous + "b::" + anonymous + "c(int)", "x.cpp", 1}), "a::b::c");
  std::string many;
  for (int i = 0; i < 500'000; ++i) many += anonymous;
  EXPECT_EQ(ShortName({many + "f(int)", "x.cpp", 1}), "f");
}

TEST(SnapshotReaderTest, EveryPrefixAndEveryChangedByteIsAnAnswer) {
  const std::string bytes = FileNamed("pools");
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto snapshot = ReadSnapshot(bytes.substr(0, size), "s");
    ASSERT_FALSE(snapshot.has_value()) << size;
    EXPECT_EQ(snapshot.error().message.substr(0, 8), "s: byte ");
  }
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (const char change : {'\x01', '\x20', '\x80', '\xff'}) {
      std::string changed = bytes;
      changed[at] = static_cast<char>(changed[at] ^ change);
      const auto snapshot = ReadSnapshot(changed, "s");
      if (snapshot) static_cast<void>(UseOf(*snapshot));
    }
  }
}

}  // namespace
}  // namespace berth
