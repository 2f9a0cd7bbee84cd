# build_and_run(SOURCES BINARIES PROGRAM EXPECTED [CMAKE_ARGUMENTS...]) -- builds a consumer's
# project from scratch and compares its output.
function(build_and_run sources binaries program expected)
  file(REMOVE_RECURSE ${binaries})
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${sources} -B ${binaries} -G ${GENERATOR}
    -DCMAKE_CXX_COMPILER=${COMPILER} ${ARGN}
    OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${CMAKE_COMMAND} --build ${binaries}
    OUTPUT_VARIABLE log RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "${log}")
  endif()
  expect_output("${expected}" ${binaries}/${program})
endfunction()

# expect_output(EXPECTED COMMAND...)
function(expect_output expected)
  execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE actual COMMAND_ERROR_IS_FATAL ANY)
  if(NOT actual STREQUAL expected)
    message(FATAL_ERROR "Expected:\n${expected}\nPrinted:\n${actual}")
  endif()
endfunction()
