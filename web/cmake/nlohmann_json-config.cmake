# Debian's nlohmann-json for WebAssembly, as tl-expected-config.cmake.
if(NOT TARGET nlohmann_json::nlohmann_json)
  find_path(berth_nlohmann_json nlohmann/json.hpp PATHS /usr/include NO_CMAKE_FIND_ROOT_PATH
    REQUIRED)
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/headers/json)
  file(CREATE_LINK ${berth_nlohmann_json}/nlohmann ${CMAKE_BINARY_DIR}/headers/json/nlohmann
    SYMBOLIC)
  add_library(nlohmann_json::nlohmann_json INTERFACE IMPORTED)
  target_include_directories(nlohmann_json::nlohmann_json INTERFACE
    ${CMAKE_BINARY_DIR}/headers/json)
endif()
