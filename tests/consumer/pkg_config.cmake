# A build without CMake: only the compiler and pkg-config.
include(${CMAKE_CURRENT_LIST_DIR}/build.cmake)
file(REMOVE_RECURSE ${WORK_DIR})
file(MAKE_DIRECTORY ${WORK_DIR})
file(GLOB_RECURSE pc ${PREFIX}/*/berth-cxx.pc)
cmake_path(GET pc PARENT_PATH directory)
set(ENV{PKG_CONFIG_PATH} ${directory})
execute_process(COMMAND ${PKG_CONFIG} --static --cflags --libs berth-cxx
  OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(flags)
execute_process(COMMAND ${COMPILER} -std=c++20 ${CMAKE_CURRENT_LIST_DIR}/app.cc -o ${WORK_DIR}/app
  ${flags} COMMAND_ERROR_IS_FATAL ANY)
cmake_path(GET directory PARENT_PATH libraries)
set(ENV{LD_LIBRARY_PATH} ${libraries})
expect_output("8 bytes, 8 needed\n" ${WORK_DIR}/app)
