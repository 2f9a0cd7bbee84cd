# XGBoost's C API, for tools/lab/train alone. Sets BERTH_XGBOOST_FOUND and makes the target
# berth_xgboost. Debian's CMake package names a program that its package does not hold, so header
# and library are looked for by themselves.
find_path(BERTH_XGBOOST_INCLUDE_DIR xgboost/c_api.h)
find_library(BERTH_XGBOOST_LIBRARY xgboost)
mark_as_advanced(BERTH_XGBOOST_INCLUDE_DIR BERTH_XGBOOST_LIBRARY)
set(BERTH_XGBOOST_FOUND OFF)
if(BERTH_XGBOOST_INCLUDE_DIR AND BERTH_XGBOOST_LIBRARY)
  set(BERTH_XGBOOST_FOUND ON)
  add_library(berth_xgboost INTERFACE)
  target_include_directories(berth_xgboost SYSTEM INTERFACE ${BERTH_XGBOOST_INCLUDE_DIR})
  target_link_libraries(berth_xgboost INTERFACE ${BERTH_XGBOOST_LIBRARY})
endif()
