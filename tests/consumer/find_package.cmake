include(${CMAKE_CURRENT_LIST_DIR}/build.cmake)
build_and_run(${CMAKE_CURRENT_LIST_DIR}/find_package ${WORK_DIR} app "8 bytes, 8 needed\n"
  -DCMAKE_PREFIX_PATH=${PREFIX})
