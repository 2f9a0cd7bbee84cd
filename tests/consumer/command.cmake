# The installed command finds its libraries and reads a table.
include(${CMAKE_CURRENT_LIST_DIR}/build.cmake)
expect_output("berth ${VERSION}\n" ${PREFIX}/bin/berth --version)
file(MAKE_DIRECTORY ${WORK_DIR})
file(WRITE ${WORK_DIR}/one.csv "id,lower,upper,size\na,0,3,4\n")
expect_output("id,lower,upper,size,offset\na,0,3,4,0\n" ${PREFIX}/bin/berth place
  ${WORK_DIR}/one.csv --output -)
