#include "tools/lab/suites/sheet.h"

#include <gtest/gtest.h>

namespace berth::lab {
namespace {

TEST(Sheet, IsTextForPeopleAndNumbersForPrograms) {
  Sheet sheet({{"name", "name", false}, {"time", "seconds"}, {"size", "bytes"}});
  sheet.AddRow({TextCell("a, \"b\""), SecondsCell(0.00125), BytesCell(1536)});
  sheet.AddRow({TextCell("c"), NoCell(), CountCell(1234)});
  EXPECT_EQ(sheet.ToCsv(), "name,seconds,bytes\n\"a, \"\"b\"\"\",0.00125,1536\nc,,1234\n");
  EXPECT_NE(sheet.ToText().find("1.2 ms  1.5 KiB"), std::string::npos) << sheet.ToText();
  EXPECT_NE(sheet.ToText().find("1,234"), std::string::npos);
}

}  // namespace
}  // namespace berth::lab
