#include "plan/remedy_search.h"

namespace berth::internal::plan {

void RemedySearch::Missed(std::string_view what) { missed_.emplace_back(what); }

void RemedySearch::Found(std::string_view what) {
  std::erase_if(missed_, [&](const std::string& missed) { return missed == what; });
}

bool RemedySearch::TooLong(std::string_view what, bool is_large) {
  if (!is_large || !budget_.has_time_limit()) return false;
  Missed(what);
  return true;
}

std::optional<Remedy> RemedySearch::Rest() const {
  if (missed_.empty()) return std::nullopt;
  std::string list;
  for (const std::string& what : missed_) list += (list.empty() ? "" : ", ") + what;
  return Remedy{RemedyKind::kNotExamined, "Not fully examined",
                (budget_.cancelled() ? "Interrupted before these were examined: "
                                     : "There was not enough time to examine these: ") +
                    list + (budget_.cancelled() ? "." : ". Set a longer --time-limit.")};
}

}  // namespace berth::internal::plan
