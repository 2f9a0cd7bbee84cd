# What `cpack -G DEB` packs for scripts/make-packages: the packages berth (the command), libberth1 (the C interface)
# and libberth-dev (headers, libraries for C++). Other people's methods (berth::baselines) are in
# none.
set(CPACK_PACKAGE_VENDOR "Berth")
set(CPACK_PACKAGE_CONTACT "the Berth developers <berth@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL berth libberth1 libberth-dev)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_BERTH_PACKAGE_NAME berth)
set(CPACK_DEBIAN_LIBBERTH1_PACKAGE_NAME libberth1)
set(CPACK_DEBIAN_LIBBERTH1_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBBERTH1_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/cmake/debian/triggers)
set(CPACK_DEBIAN_LIBBERTH-DEV_PACKAGE_NAME libberth-dev)
set(CPACK_DEBIAN_LIBBERTH-DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_LIBBERTH-DEV_PACKAGE_DEPENDS
  "libberth1 (= ${PROJECT_VERSION}), libexpected-dev")
set(CPACK_COMPONENT_BERTH_DESCRIPTION
  "The command, its manual page, its completions and the documents.")
set(CPACK_COMPONENT_LIBBERTH1_DESCRIPTION "The C interface, for programs in any language.")
set(CPACK_COMPONENT_LIBBERTH-DEV_DESCRIPTION
  "Headers, pkg-config and CMake files, and the libraries for C++20.")
include(CPack)
