// The wall between C and C++: what is thrown behind it becomes a status, whatever it is.

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>
#include <string>

#include "base/parallel.h"
#include "c/call.h"

namespace berth::internal::c {
namespace {

struct Caught {
  berth_status status;
  std::string message;
  berth_subject subject;
  std::size_t index;
};

template <typename Body>
Caught Behind(Body body) {
  berth_error* error = nullptr;
  const berth_status status = Call(&error, [&]() -> Result<void> { return body(); });
  EXPECT_EQ(berth_error_status(error), status);
  const Caught caught = {status, berth_error_message(error), berth_error_subject(error),
                         berth_error_index(error)};
  berth_error_free(error);
  return caught;
}

TEST(Wall, ErrorsKeepTheirSubject) {
  const Caught caught = Behind([] {
    return Fail(ErrorCode::kInvalidGraph, "tensor \"x\" is too large", Subject::OfTensor(7));
  });
  EXPECT_EQ(caught.status, BERTH_INVALID_GRAPH);
  EXPECT_EQ(caught.message, "tensor \"x\" is too large");
  EXPECT_EQ(caught.subject, BERTH_SUBJECT_TENSOR);
  EXPECT_EQ(caught.index, 7U);
}

TEST(Wall, EveryErrorCodeHasAStatus) {
  for (const auto& [code, status] :
       {std::pair{ErrorCode::kInvalidProblem, BERTH_INVALID_PROBLEM},
        std::pair{ErrorCode::kInvalidGraph, BERTH_INVALID_GRAPH},
        std::pair{ErrorCode::kInvalidPlan, BERTH_INVALID_PLAN},
        std::pair{ErrorCode::kInvalidOptions, BERTH_INVALID_OPTIONS},
        std::pair{ErrorCode::kUnsupported, BERTH_UNSUPPORTED},
        std::pair{ErrorCode::kParse, BERTH_PARSE}, std::pair{ErrorCode::kIo, BERTH_IO}}) {
    EXPECT_EQ(StatusOf(code), status);
    EXPECT_STRNE(berth_status_name(status), "unknown status");
  }
}

TEST(Wall, BrokenInvariantsAreInternalErrors) {
  const Caught caught = Behind([]() -> Result<void> {
    BERTH_CHECK(1 + 1 == 3);
    return {};
  });
  EXPECT_EQ(caught.status, BERTH_INTERNAL);
  EXPECT_NE(caught.message.find("1 + 1 == 3"), std::string::npos) << caught.message;
}

TEST(Wall, BrokenInvariantsOnOtherThreadsAreInternalErrors) {
  const Caught caught = Behind([]() -> Result<void> {
    RunOnThreads(4, 4, [] { BERTH_CHECK(1 + 1 == 4); });
    return {};
  });
  EXPECT_EQ(caught.status, BERTH_INTERNAL);
  EXPECT_NE(caught.message.find("1 + 1 == 4"), std::string::npos) << caught.message;
}

TEST(WallDeathTest, OutsideACallBrokenInvariantsEndTheProcess) {
  static_cast<void>(Behind([]() -> Result<void> { return {}; }));
  EXPECT_DEATH(BERTH_CHECK(1 + 1 == 5), "1 \\+ 1 == 5");
}

TEST(Wall, ExceptionsBecomeAStatus) {
  EXPECT_EQ(Behind([]() -> Result<void> { throw std::bad_alloc(); }).status, BERTH_OUT_OF_MEMORY);
  EXPECT_EQ(Behind([]() -> Result<void> { throw std::bad_alloc(); }).message, "out of memory");
  EXPECT_EQ(Behind([]() -> Result<void> { throw std::length_error("vector"); }).status,
            BERTH_OUT_OF_MEMORY);
  EXPECT_EQ(Behind([]() -> Result<void> { throw std::runtime_error("odd"); }).status,
            BERTH_INTERNAL);
  EXPECT_EQ(Behind([]() -> Result<void> { throw 42; }).status, BERTH_INTERNAL);
  EXPECT_EQ(Behind([]() -> Result<void> {
              Require(false, "x is NULL");
              return {};
            }).message,
            "x is NULL");
}

TEST(Wall, AnErrorThatNobodyWantsIsNotMade) {
  EXPECT_EQ(Call(nullptr, []() -> Result<void> { return Fail(ErrorCode::kIo, "no"); }), BERTH_IO);
  EXPECT_EQ(Call(nullptr, []() -> Result<void> { throw std::bad_alloc(); }), BERTH_OUT_OF_MEMORY);
}

TEST(Wall, SuccessClearsTheError) {
  auto* error = reinterpret_cast<berth_error*>(16);
  EXPECT_EQ(Call(&error, []() -> Result<void> { return {}; }), BERTH_OK);
  EXPECT_EQ(error, nullptr);
}

}  // namespace
}  // namespace berth::internal::c
