# Debian packages by cpack, for scripts/package: liberrand0, liberrand-dev, and
# errand if ERRAND_TOOL_ROOT has the tool, as installed for /usr.
set(ERRAND_TOOL_ROOT "" CACHE PATH "a folder with the tool's usr/, or empty")
set(ERRAND_MAINTAINER "The Errand authors <errand@packages.invalid>"
    CACHE STRING "who answers for the packages")

if(NOT CMAKE_INSTALL_PREFIX STREQUAL "/usr")
  message(FATAL_ERROR "packages are for -DCMAKE_INSTALL_PREFIX=/usr")
endif()
set(library liberrand${PROJECT_VERSION_MAJOR})
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME errand)
set(CPACK_PACKAGE_VENDOR "The Errand authors")
set(CPACK_PACKAGE_CONTACT "${ERRAND_MAINTAINER}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
# The same permissions with any umask (Debian policy 10.9).
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE
  GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_COMPONENTS_ALL runtime development)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SOURCE errand)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME ${library})
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS ON)
# shlibdeps knows which functions are used, but not which versions are tested.
set(CPACK_DEBIAN_RUNTIME_PACKAGE_DEPENDS "libcurl4 (>= 7.88), libuv1 (>= 1.44)")
set(CPACK_DEBIAN_RUNTIME_DESCRIPTION
"HTTP client engine on libcurl and libuv
Errand runs HTTP requests by the thousand for C and C++ services: libuv loops
drive libcurl, and results come back a batch at a time.

This package has the shared library.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME liberrand-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION
"HTTP client engine on libcurl and libuv (development files)
Errand runs HTTP requests by the thousand for C and C++ services: libuv loops
drive libcurl, and results come back a batch at a time.

This package has the headers, the static library, and the files for pkg-config
and CMake.")
# The packages that errand.pc requires: pkg-config asks for all of them.
set(depends
  "${library} (= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})"
  "libcurl4-openssl-dev (>= 7.88) | libcurl-dev" "libuv1-dev (>= 1.44)"
  zlib1g-dev)
if(BROTLI_FOUND)
  list(APPEND depends libbrotli-dev)
endif()
if(ZSTD_FOUND)
  list(APPEND depends "libzstd-dev (>= 1.4)")
endif()
list(JOIN depends ", " CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS)

set(CPACK_DEBIAN_TOOL_PACKAGE_NAME errand)
set(CPACK_DEBIAN_TOOL_PACKAGE_SECTION web)
set(CPACK_DEBIAN_TOOL_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_TOOL_PACKAGE_DEPENDS "${CPACK_DEBIAN_RUNTIME_PACKAGE_DEPENDS}")
set(CPACK_DEBIAN_TOOL_PACKAGE_RECOMMENDS ca-certificates)
set(CPACK_DEBIAN_TOOL_DESCRIPTION
"HTTP from the command line: requests, downloads, .http files, load
Sends requests and prints what comes back, fetches files and goes on where
it was interrupted, runs the requests of .http files and checks what they get,
and measures a server under load.

Swift's runtime is within the program.")

# A package that links liberrand.so.0 depends on the minor version it was linked
# with, because 0.x may break. The trigger adds the library to the loader's
# cache.
set(control ${PROJECT_BINARY_DIR}/control)
file(WRITE ${control}/shlibs "liberrand ${PROJECT_VERSION_MAJOR} \
${library} (>= ${PROJECT_VERSION}), ${library} (<< \
${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}.999~)\n")
file(WRITE ${control}/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA
  ${control}/shlibs ${control}/triggers)

# Debian policy 12.5 and 12.7.
find_program(GZIP gzip REQUIRED)
set(doc ${PROJECT_BINARY_DIR}/doc)
string(TIMESTAMP today "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(WRITE ${doc}/changelog.Debian
"errand (${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; \
urgency=medium

  * Built from its own repository; changelog.gz has the changes.

 -- ${ERRAND_MAINTAINER}  ${today}
")
configure_file(${PROJECT_SOURCE_DIR}/CHANGELOG.md ${doc}/changelog COPYONLY)
foreach(file changelog changelog.Debian)
  execute_process(COMMAND ${GZIP} -9nkf ${doc}/${file} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
file(READ ${PROJECT_SOURCE_DIR}/LICENSE license)
string(REGEX MATCH "Copyright \\(c\\) ([^\n]*)\n+(.*)" matched "${license}")
set(owners "${CMAKE_MATCH_1}")
string(STRIP "${CMAKE_MATCH_2}" license)
string(REPLACE "\n\n" "\n.\n" license "${license}")
string(REPLACE "\n" "\n " license "${license}")
file(WRITE ${doc}/copyright
"Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: Errand

Files: *
Copyright: ${owners}
License: Expat
 ${license}
")
macro(errand_documents component package)
  install(FILES ${doc}/copyright ${doc}/changelog.gz ${doc}/changelog.Debian.gz
    DESTINATION share/doc/${package} COMPONENT ${component})
endmacro()
errand_documents(runtime ${library})
errand_documents(development liberrand-dev)
if(ERRAND_TOOL_ROOT)
  list(APPEND CPACK_COMPONENTS_ALL tool)
  install(DIRECTORY ${ERRAND_TOOL_ROOT}/usr/ DESTINATION .
    COMPONENT tool USE_SOURCE_PERMISSIONS)
  errand_documents(tool errand)
endif()
include(CPack)
