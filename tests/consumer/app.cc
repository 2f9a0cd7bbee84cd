// A consumer of all installed headers and libraries.
#include <berth/budget.h>
#include <berth/io.h>
#include <berth/place.h>
#include <berth/problem.h>
#include <berth/report.h>
#include <berth/result.h>

#include <cstdio>

int main() {
  const auto table =
      berth::ReadCsv("id,lower,upper,size\na,0,3,4\nb,3,5,4\nc,2,4,4\n", "three.csv");
  if (!table) return std::puts(table.error().message.c_str()), 1;
  berth::Budget budget;
  const auto answer = berth::Place(table->problem, {}, budget);
  if (!answer) return std::puts(answer.error().message.c_str()), 1;
  const std::string svg =
      berth::WriteSvg(table->problem, berth::PlacementOf(*answer->best), answer->height_bound);
  if (svg.find("<svg") == std::string::npos) return 1;
  std::printf("%lld bytes, %lld needed\n", static_cast<long long>(answer->best->height()),
              static_cast<long long>(answer->height_bound));
}
