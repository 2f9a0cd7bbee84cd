#include "report/json_text.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace berth::internal::report {
namespace {

using Json = nlohmann::ordered_json;

// Characters that stand for themselves.
bool IsPlain(char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\' && c != '<'; }

}  // namespace

// A "<" stands in strings only.
void AppendTree(const Json& value, std::string& text) {
  for (const char c : value.dump(-1, ' ', false, Json::error_handler_t::replace)) {
    if (c == '<') {
      text += "\\u003c";
    } else {
      text += c;
    }
  }
}

void AppendString(std::string_view value, std::string& text) {
  if (!std::all_of(value.begin(), value.end(), IsPlain)) return AppendTree(Json(value), text);
  text += '"';
  text += value;
  text += '"';
}

void AppendNumber(double value, std::string& text) { AppendTree(Json(value), text); }

}  // namespace berth::internal::report
