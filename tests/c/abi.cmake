# The binary interface of libberth.so is that of libberth.abi, or an addition to it. After an
# addition: raise BERTH_ABI_VERSION and write the file anew, with BERTH_WRITE_ABI=1.
file(MAKE_DIRECTORY ${WORK_DIR})
set(now ${WORK_DIR}/libberth.abi)
execute_process(COMMAND ${ABIDW} --headers-dir ${HEADERS} --drop-private-types
  --exported-interfaces-only --no-show-locs
  --no-corpus-path --no-comp-dir-path --no-elf-needed --no-parameter-names
  --type-id-style hash --out-file ${now} ${LIBRARY} COMMAND_ERROR_IS_FATAL ANY)
file(READ ${now} text)
string(FIND "${text}" "berth_place" found)
if(found EQUAL -1)
  message(FATAL_ERROR "abidw found no functions in ${LIBRARY}")
endif()
if(DEFINED ENV{BERTH_WRITE_ABI})
  file(COPY_FILE ${now} ${BASELINE})
  message(STATUS "${BASELINE} written")
  return()
endif()
# Bits of its exit code: 1 and 2 are errors of its own, 4 a change, 8 an incompatible one.
execute_process(COMMAND ${ABIDIFF} --fail-no-debug-info ${BASELINE} ${now}
  OUTPUT_VARIABLE report RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "The binary interface differs from ${BASELINE} (abidiff: ${result}):\n${report}")
endif()
message(STATUS "The binary interface is that of ${BASELINE}")
