# XGBoost's C API, for tools/train only. Sets BERTH_XGBOOST_FOUND and defines the target
# berth_xgboost. Debian's CMake package refers to a program that the package does not contain, so
# header and library are searched for directly.
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
