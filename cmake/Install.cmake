# Headers, both libraries, errand.pc and the CMake package Errand. The component
# `runtime` has the files that a program needs to run, `development` has the
# rest.
include(CMakePackageConfigHelpers)
set(ERRAND_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/Errand)

install(DIRECTORY Sources/CErrand/include/
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/errand
  COMPONENT development
  FILES_MATCHING PATTERN "*.h")
# Two export sets: a program that links the shared library needs no libcurl
# package.
install(TARGETS errand EXPORT ErrandTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  COMPONENT runtime NAMELINK_COMPONENT development)
install(TARGETS errand_static EXPORT ErrandStaticTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
foreach(set ErrandTargets ErrandStaticTargets)
  install(EXPORT ${set} NAMESPACE Errand::
    DESTINATION ${ERRAND_PACKAGE_DIR} COMPONENT development)
endforeach()

configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/ErrandConfig.cmake.in
  ${PROJECT_BINARY_DIR}/ErrandConfig.cmake
  INSTALL_DESTINATION ${ERRAND_PACKAGE_DIR})
# 0.x: a minor version may break.
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/ErrandConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/ErrandConfig.cmake
              ${PROJECT_BINARY_DIR}/ErrandConfigVersion.cmake
  DESTINATION ${ERRAND_PACKAGE_DIR} COMPONENT development)

# errand.pc derives the prefix from its own path, so an installed tree can be
# moved.
file(RELATIVE_PATH ERRAND_PC_TO_PREFIX
  /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
configure_file(${PROJECT_SOURCE_DIR}/cmake/errand.pc.in
  ${PROJECT_BINARY_DIR}/errand.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/errand.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
