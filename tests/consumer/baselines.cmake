include(${CMAKE_CURRENT_LIST_DIR}/build.cmake)
build_and_run(${CMAKE_CURRENT_LIST_DIR}/baselines ${WORK_DIR} app "8 bytes\n"
  -DCMAKE_PREFIX_PATH=${PREFIX})
