# Installs into one folder and moves it to another: an installation must be relocatable.
file(REMOVE_RECURSE ${WORK_DIR} ${PREFIX})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${PROJECT_BINARY_DIR} --prefix ${WORK_DIR}
  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
file(RENAME ${WORK_DIR} ${PREFIX})

file(GLOB_RECURSE texts ${PREFIX}/*.cmake ${PREFIX}/*.pc)
foreach(path IN LISTS texts)
  file(READ ${path} text)
  foreach(place IN ITEMS ${SOURCE_DIR} ${WORK_DIR})
    string(FIND "${text}" "${place}" at)
    if(NOT at EQUAL -1)
      message(FATAL_ERROR "${path} names ${place}")
    endif()
  endforeach()
endforeach()

# Everything below include/ is installed, and nothing else.
file(GLOB_RECURSE headers RELATIVE ${PREFIX}/include ${PREFIX}/include/*)
file(GLOB_RECURSE public RELATIVE ${SOURCE_DIR}/include ${SOURCE_DIR}/include/berth/*.h)
if(NOT headers STREQUAL public)
  message(FATAL_ERROR "Installed headers: ${headers}\nPublic headers: ${public}")
endif()
