# The solvers that berth::baselines can hand problems to. Each is optional; what is found becomes a
# library to link and a BERTH_HAS_... definition. None of them comes with a CMake package but HiGHS.

# berth_find_solver(NAME HEADER LIBRARIES...) -- sets BERTH_<NAME>_FOUND, _INCLUDE_DIR, _LIBRARIES
# (files, for this build) and _NAMES (for programs that link an installed static library).
function(berth_find_solver name header)
  find_path(BERTH_${name}_INCLUDE_DIR ${header})
  mark_as_advanced(BERTH_${name}_INCLUDE_DIR)
  set(found ON)
  if(NOT BERTH_${name}_INCLUDE_DIR)
    set(found OFF)
  endif()
  set(files)
  foreach(library IN LISTS ARGN)
    find_library(BERTH_${name}_${library} ${library})
    mark_as_advanced(BERTH_${name}_${library})
    if(NOT BERTH_${name}_${library})
      set(found OFF)
    endif()
    list(APPEND files ${BERTH_${name}_${library}})
  endforeach()
  set(BERTH_${name}_FOUND ${found} PARENT_SCOPE)
  set(BERTH_${name}_LIBRARIES ${files} PARENT_SCOPE)
  set(BERTH_${name}_NAMES ${ARGN} PARENT_SCOPE)
endfunction()

berth_find_solver(CBC coin/CbcSolver.hpp CbcSolver Cbc Cgl OsiClp ClpSolver Clp Osi CoinUtils)
berth_find_solver(GECODE gecode/int.hh
  gecodesearch gecodeminimodel gecodeint gecodekernel gecodesupport)
berth_find_solver(Z3 z3++.h z3)
find_package(highs CONFIG QUIET)

# What was found, for people; and what a static berth::baselines needs to be linked with.
set(BERTH_SOLVERS_FOUND)
set(BERTH_SOLVERS_NAMES)
set(BERTH_SOLVERS_NEED_HIGHS OFF)
foreach(name IN ITEMS CBC GECODE Z3)
  if(BERTH_${name}_FOUND)
    list(APPEND BERTH_SOLVERS_FOUND ${name})
    list(APPEND BERTH_SOLVERS_NAMES ${BERTH_${name}_NAMES})
  endif()
endforeach()
if(highs_FOUND)
  list(APPEND BERTH_SOLVERS_FOUND HIGHS)
  set(BERTH_SOLVERS_NEED_HIGHS ON)
endif()
list(JOIN BERTH_SOLVERS_FOUND ", " BERTH_SOLVERS_FOUND)
if(NOT BERTH_SOLVERS_FOUND)
  set(BERTH_SOLVERS_FOUND "none, so Berth's own CSP and meta-CSP only")
endif()

# berth_link_solvers(TARGET) -- links TARGET with each solver that was found.
function(berth_link_solvers target)
  foreach(name IN ITEMS CBC GECODE Z3)
    if(BERTH_${name}_FOUND)
      target_compile_definitions(${target} PRIVATE BERTH_HAS_${name})
      target_include_directories(${target} SYSTEM PRIVATE
        $<BUILD_INTERFACE:${BERTH_${name}_INCLUDE_DIR}>)
      target_link_libraries(${target} PRIVATE
        "$<BUILD_INTERFACE:${BERTH_${name}_LIBRARIES}>"
        "$<INSTALL_INTERFACE:${BERTH_${name}_NAMES}>")
    endif()
  endforeach()
  if(highs_FOUND)
    target_compile_definitions(${target} PRIVATE BERTH_HAS_HIGHS)
    target_link_libraries(${target} PRIVATE highs::highs)
  endif()
endfunction()
