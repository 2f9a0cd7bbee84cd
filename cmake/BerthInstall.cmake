# `cmake --install`: libraries, public headers, CMake package, pkg-config files, documents. No
# installed file contains an absolute path, so the tree can be moved after installation.
include(CMakePackageConfigHelpers)

set(berth_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/berth)
set(berth_libraries berth_place)
set(berth_headers answer.h budget.h colocate.h displaced.h memories.h place.h problem.h prove.h
  repack.h result.h)
if(BERTH_BUILD_BERTH)
  list(APPEND berth_libraries berth)
  list(APPEND berth_headers
    advise.h
    bytes.h
    device.h
    diff.h
    event_io.h
    file.h
    graph.h
    graph_memories.h
    graph_io.h
    io.h
    memory_io.h
    model.h
    off_chip.h
    onnx.h
    page.h
    plan.h
    plan_io.h
    planned_problem.h
    profile.h
    recompute.h
    recorded.h
    report.h
    schedule.h
    snapshot.h
    spill.h
    sweep.h
    sweep_io.h
    table_io.h
    tflite.h
    xla.h)
endif()
set(berth_baselines_headers)
if(BERTH_BUILD_BASELINES)
  list(APPEND berth_libraries berth_baselines)
  set(berth_baselines_headers allocators.h baselines.h cosma.h olla.h recompute_baselines.h)
endif()
if(BERTH_BUILD_C)
  list(APPEND berth_headers berth.h berth_analysis.h runtime.h)
endif()
foreach(list IN ITEMS berth_headers berth_baselines_headers)
  list(TRANSFORM ${list} PREPEND ${PROJECT_SOURCE_DIR}/include/berth/)
endforeach()

# Before 1.0 any minor version may break binary compatibility.
set_target_properties(${berth_libraries} PROPERTIES
  VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
  INSTALL_RPATH $ORIGIN)

# Components are the packages of BerthPackages.cmake.
foreach(library IN LISTS berth_libraries)
  set(berth_export berth)
  set(berth_component libberth-dev)
  if(library STREQUAL berth_baselines)
    set(berth_export berth-baselines)
    set(berth_component baselines)
  endif()
  install(TARGETS ${library} EXPORT ${berth_export}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${berth_component}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${berth_component}
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT ${berth_component})
endforeach()
# The C interface is a package of its own for CMake: it needs nothing that the others need.
if(BERTH_BUILD_C)
  install(TARGETS berth_c EXPORT berth-c
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    COMPONENT libberth1 NAMELINK_COMPONENT libberth-dev
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT libberth1)
  install(TARGETS berth_runtime EXPORT berth-c
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT libberth-dev)
  if(TARGET berth_preload)
    install(TARGETS berth_preload LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT berth)
  endif()
  install(EXPORT berth-c NAMESPACE berth:: FILE berth-c-targets.cmake
    DESTINATION ${berth_cmake_dir} COMPONENT libberth-dev)
endif()
install(FILES ${berth_headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/berth
  COMPONENT libberth-dev)
install(FILES ${berth_baselines_headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/berth
  COMPONENT baselines)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/berth/adapters
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/berth COMPONENT libberth-dev)
install(FILES ${PROJECT_SOURCE_DIR}/include/berth/internal/spending.h
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/berth/internal COMPONENT libberth-dev)

if(TARGET berth_check_proof)
  install(TARGETS berth_check_proof RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT berth)
endif()
if(TARGET berth_tool)
  file(RELATIVE_PATH berth_rpath ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
  set_target_properties(berth_tool PROPERTIES INSTALL_RPATH $ORIGIN/${berth_rpath})
  install(TARGETS berth_tool RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT berth)
  # The page of `berth view`, if scripts/web has built it.
  install(FILES ${PROJECT_SOURCE_DIR}/web/dist/berth.html DESTINATION ${CMAKE_INSTALL_DATADIR}/berth
    COMPONENT berth OPTIONAL)
  # The command itself writes what shells and man know of it; another machine's cannot run here.
  if(NOT CMAKE_CROSSCOMPILING)
    set(berth_shell_dir ${PROJECT_BINARY_DIR}/shell)
    set(berth_shell_files)
    foreach(shell bash zsh fish man)
      set(berth_arguments --completion ${shell})
      if(shell STREQUAL man)
        set(berth_arguments --man)
      endif()
      add_custom_command(OUTPUT ${berth_shell_dir}/${shell}
        COMMAND ${CMAKE_COMMAND} -E make_directory ${berth_shell_dir}
        COMMAND berth_tool options ${berth_arguments} > ${berth_shell_dir}/${shell}
        DEPENDS berth_tool VERBATIM)
      list(APPEND berth_shell_files ${berth_shell_dir}/${shell})
    endforeach()
    add_custom_target(berth_shell ALL DEPENDS ${berth_shell_files})
    install(FILES ${berth_shell_dir}/bash RENAME berth
      DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT berth)
    install(FILES ${berth_shell_dir}/zsh RENAME _berth
      DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT berth)
    install(FILES ${berth_shell_dir}/fish RENAME berth.fish
      DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT berth)
    install(FILES ${berth_shell_dir}/man RENAME berth.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1
      COMPONENT berth)
  endif()
endif()

install(EXPORT berth NAMESPACE berth:: FILE berth-targets.cmake DESTINATION ${berth_cmake_dir}
  COMPONENT libberth-dev)
if(BERTH_BUILD_BASELINES)
  install(EXPORT berth-baselines NAMESPACE berth:: FILE berth-baselines-targets.cmake
    DESTINATION ${berth_cmake_dir} COMPONENT baselines)
endif()
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/berth-config.cmake.in
  ${PROJECT_BINARY_DIR}/berth-config.cmake INSTALL_DESTINATION ${berth_cmake_dir}
  NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/berth-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/berth-config.cmake
              ${PROJECT_BINARY_DIR}/berth-config-version.cmake
  DESTINATION ${berth_cmake_dir} COMPONENT libberth-dev)

# pkg-config files derive their prefix from their own location.
file(RELATIVE_PATH berth_pc_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
file(RELATIVE_PATH berth_pc_libdir ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_LIBDIR})
file(RELATIVE_PATH berth_pc_includedir ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_INCLUDEDIR})
set(berth_pc_files berth-place.pc)
if(BERTH_BUILD_BERTH)
  list(APPEND berth_pc_files berth-cxx.pc)
endif()
if(BERTH_BUILD_BASELINES)
  set(berth_baselines_libs)
  if(BERTH_WITH_SOLVERS)
    list(TRANSFORM BERTH_SOLVERS_NAMES PREPEND -l OUTPUT_VARIABLE berth_baselines_libs)
    list(JOIN berth_baselines_libs " " berth_baselines_libs)
  endif()
  list(APPEND berth_pc_files berth-baselines.pc)
endif()
if(BERTH_BUILD_C)
  list(APPEND berth_pc_files berth.pc)
endif()
foreach(pc IN LISTS berth_pc_files)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/${pc}.in ${PROJECT_BINARY_DIR}/${pc} @ONLY)
  set(berth_component libberth-dev)
  if(pc STREQUAL berth-baselines.pc)
    set(berth_component baselines)
  endif()
  install(FILES ${PROJECT_BINARY_DIR}/${pc} DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
    COMPONENT ${berth_component})
endforeach()

# All that the documents link to, at the same relative places: tests/consumer checks the links.
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md
              ${PROJECT_SOURCE_DIR}/ARCHITECTURE.md ${PROJECT_SOURCE_DIR}/CONTRIBUTING.md
              ${PROJECT_SOURCE_DIR}/CHANGELOG.md
  DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT berth)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT berth)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/bench/results DESTINATION ${CMAKE_INSTALL_DOCDIR}/bench
  COMPONENT berth)

include(cmake/BerthPackages.cmake)
