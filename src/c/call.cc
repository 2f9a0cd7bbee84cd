#include "c/call.h"

namespace berth::internal::c {
namespace {

// Given where there is no memory for another; never freed.
berth_error out_of_memory = {BERTH_OUT_OF_MEMORY, {}, {}};
constexpr char kOutOfMemory[] = "out of memory";

}  // namespace

berth_status StatusOf(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidProblem:
      return BERTH_INVALID_PROBLEM;
    case ErrorCode::kInvalidGraph:
      return BERTH_INVALID_GRAPH;
    case ErrorCode::kInvalidPlan:
      return BERTH_INVALID_PLAN;
    case ErrorCode::kInvalidOptions:
      return BERTH_INVALID_OPTIONS;
    case ErrorCode::kUnsupported:
      return BERTH_UNSUPPORTED;
    case ErrorCode::kParse:
      return BERTH_PARSE;
    case ErrorCode::kIo:
      return BERTH_IO;
  }
  return BERTH_INTERNAL;
}

berth_status Report(berth_error** error, berth_status status, std::string_view message,
                    Subject subject) noexcept {
  if (error == nullptr) return status;
  try {
    *error = new berth_error{status, std::string(message), subject};
  } catch (...) {
    *error = &out_of_memory;
    return BERTH_OUT_OF_MEMORY;
  }
  return status;
}

berth_status ReportException(berth_error** error) noexcept {
  try {
    throw;
  } catch (const ArgumentError& argument) {
    return Report(error, BERTH_INVALID_ARGUMENT, argument.what());
  } catch (const BrokenInvariant& fault) {
    return Report(error, BERTH_INTERNAL, fault.what());
  } catch (const std::bad_alloc&) {
    if (error != nullptr) *error = &out_of_memory;
    return BERTH_OUT_OF_MEMORY;
  } catch (const std::length_error&) {  // A container larger than any memory.
    if (error != nullptr) *error = &out_of_memory;
    return BERTH_OUT_OF_MEMORY;
  } catch (const std::exception& other) {
    return Report(error, BERTH_INTERNAL, other.what());
  } catch (...) {
    return Report(error, BERTH_INTERNAL, "an unknown exception");
  }
}

std::string_view ViewOf(const char* bytes, std::size_t length) {
  Require(bytes != nullptr || length == 0, "the bytes are NULL");
  return bytes == nullptr ? std::string_view("") : std::string_view(bytes, length);
}

}  // namespace berth::internal::c

using berth::Subject;

extern "C" {

int berth_abi_version(void) { return BERTH_ABI_VERSION; }
const char* berth_version_string(void) { return BERTH_VERSION; }

void berth_error_free(berth_error* error) {
  if (error != &berth::internal::c::out_of_memory) delete error;
}

const char* berth_error_message(const berth_error* error) {
  if (error == nullptr) return "";
  if (error == &berth::internal::c::out_of_memory) return berth::internal::c::kOutOfMemory;
  return error->message.c_str();
}

berth_status berth_error_status(const berth_error* error) {
  return error == nullptr ? BERTH_OK : error->status;
}

berth_subject berth_error_subject(const berth_error* error) {
  if (error == nullptr) return BERTH_SUBJECT_NONE;
  switch (error->subject.kind) {
    case Subject::Kind::kNone:
      break;
    case Subject::Kind::kBuffer:
      return BERTH_SUBJECT_BUFFER;
    case Subject::Kind::kTensor:
      return BERTH_SUBJECT_TENSOR;
    case Subject::Kind::kOperator:
      return BERTH_SUBJECT_OPERATOR;
    case Subject::Kind::kLine:
      return BERTH_SUBJECT_LINE;
  }
  return BERTH_SUBJECT_NONE;
}

size_t berth_error_index(const berth_error* error) {
  return berth_error_subject(error) == BERTH_SUBJECT_NONE ? BERTH_NONE : error->subject.index;
}

const char* berth_status_name(berth_status status) {
  switch (berth::internal::c::NumberOf(status)) {
    case BERTH_OK:
      return "ok";
    case BERTH_INVALID_ARGUMENT:
      return "invalid argument";
    case BERTH_INVALID_PROBLEM:
      return "invalid problem";
    case BERTH_INVALID_GRAPH:
      return "invalid graph";
    case BERTH_INVALID_PLAN:
      return "invalid plan";
    case BERTH_INVALID_OPTIONS:
      return "invalid options";
    case BERTH_UNSUPPORTED:
      return "unsupported";
    case BERTH_PARSE:
      return "parse error";
    case BERTH_IO:
      return "input or output error";
    case BERTH_OUT_OF_MEMORY:
      return "out of memory";
    case BERTH_INTERNAL:
      return "internal error";
    default:
      return "unknown status";
  }
}

void berth_text_free(berth_text* text) { delete text; }
const char* berth_text_data(const berth_text* text) {
  return text == nullptr ? "" : text->text.c_str();
}
size_t berth_text_length(const berth_text* text) { return text == nullptr ? 0 : text->text.size(); }

}  // extern "C"
