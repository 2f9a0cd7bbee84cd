# Berth as part of another project's build; with shared libraries, whose exports are checked too.
# Nothing is optimised, and there is no debug information: all of the library is compiled again.
include(${CMAKE_CURRENT_LIST_DIR}/build.cmake)
build_and_run(${CMAKE_CURRENT_LIST_DIR}/add_subdirectory ${WORK_DIR} app "8 bytes, 8 needed\n"
  -DBERTH=${SOURCE_DIR} -DBUILD_SHARED_LIBS=ON -DCMAKE_CXX_FLAGS=-O0)

file(GLOB_RECURSE libraries ${WORK_DIR}/libberth*.so)
foreach(library IN LISTS libraries)
  execute_process(COMMAND ${NM} -DC --defined-only ${library}
    OUTPUT_VARIABLE exported COMMAND_ERROR_IS_FATAL ANY)
  if(exported MATCHES "[^\n]*berth::internal[^\n]*")
    message(FATAL_ERROR "${library} exports ${CMAKE_MATCH_0}")
  endif()
  if(NOT exported MATCHES "berth::(Place|ReadCsv)\\(")
    message(FATAL_ERROR "${library} does not export its functions:\n${exported}")
  endif()
endforeach()
