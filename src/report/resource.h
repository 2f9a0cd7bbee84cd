// report/resource.h -- the page that app/ builds, as the build puts it into the library.
#ifndef BERTH_REPORT_RESOURCE_H_
#define BERTH_REPORT_RESOURCE_H_

#include <string_view>

namespace berth::internal::report {

// An HTML page with "@BERTH_TITLE@" and, after it, "@BERTH_DATA@" where these go.
[[nodiscard]] std::string_view PageResource();

}  // namespace berth::internal::report

#endif  // BERTH_REPORT_RESOURCE_H_
