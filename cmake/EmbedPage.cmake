# cmake -D PAGE=page.html -D OUTPUT=resource.cc -P EmbedPage.cmake -- writes the page as a C++ array
# of bytes.
file(READ ${PAGE} bytes HEX)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "(................................................................................)"
  "\\1\n" bytes "${bytes}")
file(WRITE ${OUTPUT}
"#include \"report/resource.h\"

namespace berth::internal::report {
namespace {

constexpr unsigned char kPage[] = {
${bytes}};

}  // namespace

std::string_view PageResource() {
  return {reinterpret_cast<const char*>(kPage), sizeof(kPage)};
}

}  // namespace berth::internal::report
")
