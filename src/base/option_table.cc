#include "base/option_table.h"

namespace berth::internal {

bool SetBool(bool& field, std::string_view value) {
  if (value != "on" && value != "off") return false;
  field = value == "on";
  return true;
}

std::string OnOff(bool value) { return value ? "on" : "off"; }

tl::unexpected<Error> NotAllowed(const OptionInfo& info, std::string_view value) {
  return Fail(ErrorCode::kInvalidOptions, "option " + std::string(info.name) + " is \"" +
                                              std::string(value) + "\" but must be " +
                                              std::string(info.allowed));
}

tl::unexpected<Error> UnknownOption(std::string_view name) {
  return Fail(ErrorCode::kInvalidOptions, "there is no option \"" + std::string(name) + "\"");
}

}  // namespace berth::internal
