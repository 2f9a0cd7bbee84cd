// tools/berth/remedies.h -- the advice of a page (berth/advise.h), found in the time that is left.
#ifndef BERTH_TOOLS_BERTH_REMEDIES_H_
#define BERTH_TOOLS_BERTH_REMEDIES_H_

#include <string>

#include "berth/advise.h"
#include "berth/page.h"
#include "tools/berth/common.h"

namespace berth::cli {

// Of a time limit, for the remedies of a page.
inline constexpr double kShareOfRemedies = 0.25;

// Fills in why the plan does not fit, unless the page says so already, and what would help.
template <typename Look>
void AddAdvice(WatchedSearch& search, PageOptions& page, Look look) {
  search.After([&](Budget& budget) {
    Advice advice = look(AdviceOptions{!page.conflict}, budget);
    if (!page.conflict) page.conflict = std::move(advice.conflict);
    page.remedies = std::move(advice.remedies);
  });
}

// What the page says of the verifier, which has accepted what is shown.
[[nodiscard]] std::string Verdict(const PlanSubject& subject, const PlanAnswer& answer);

}  // namespace berth::cli

#endif  // BERTH_TOOLS_BERTH_REMEDIES_H_
