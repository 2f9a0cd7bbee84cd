# `bench/size NAME` says at most MOST kB.
execute_process(COMMAND ${SOURCE_DIR}/bench/size ${NAME}
  OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
if(NOT text MATCHES "^${NAME} -Os +([0-9]+[.][0-9]) kB\n$")
  message(FATAL_ERROR "bench/size ${NAME} says ${text}")
endif()
if(CMAKE_MATCH_1 GREATER ${MOST})
  message(FATAL_ERROR "${NAME} takes ${CMAKE_MATCH_1} kB, more than ${MOST}")
endif()
