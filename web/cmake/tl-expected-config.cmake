# Debian's tl::expected for WebAssembly. It is headers alone, but the folder that they are in has
# those of the machine too, which must stay out.
if(NOT TARGET tl::expected)
  find_path(berth_tl_expected tl/expected.hpp PATHS /usr/include NO_CMAKE_FIND_ROOT_PATH REQUIRED)
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/headers/expected)
  file(CREATE_LINK ${berth_tl_expected}/tl ${CMAKE_BINARY_DIR}/headers/expected/tl SYMBOLIC)
  add_library(tl::expected INTERFACE IMPORTED)
  target_include_directories(tl::expected INTERFACE ${CMAKE_BINARY_DIR}/headers/expected)
endif()
