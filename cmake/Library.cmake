# The modules that pkg-config found, as "PREFIX=module".
set(ERRAND_MODULES LIBCURL=libcurl LIBUV=libuv ZLIB=zlib)
foreach(coding BROTLI=libbrotlidec ZSTD=libzstd)
  string(REGEX REPLACE "=.*" "" prefix ${coding})
  if(${prefix}_FOUND)
    list(APPEND ERRAND_MODULES ${coding})
  else()
    list(APPEND ERRAND_DEFINITIONS ERRAND_NO_${prefix})
  endif()
endforeach()
string(REGEX REPLACE "([A-Z]+)=[^;]*" "PkgConfig::\\1" ERRAND_LIBRARIES
       "${ERRAND_MODULES}")
string(REGEX REPLACE "[A-Z]+=" "" ERRAND_PC_REQUIRES "${ERRAND_MODULES}")
list(JOIN ERRAND_PC_REQUIRES " " ERRAND_PC_REQUIRES)

# One set of objects, two libraries: errand (shared), errand_static.
list(TRANSFORM ERRAND_SOURCES PREPEND "${PROJECT_SOURCE_DIR}/")
add_library(errand_objects OBJECT ${ERRAND_SOURCES})
set_target_properties(errand_objects PROPERTIES
  POSITION_INDEPENDENT_CODE ON
  C_VISIBILITY_PRESET hidden)
target_include_directories(errand_objects PRIVATE
  ${PROJECT_SOURCE_DIR}/Sources/CErrand)
target_link_libraries(errand_objects PRIVATE
  $<BUILD_INTERFACE:errand_warnings> ${ERRAND_LIBRARIES} Threads::Threads)
target_compile_definitions(errand_objects PRIVATE ${ERRAND_DEFINITIONS})

add_library(errand SHARED $<TARGET_OBJECTS:errand_objects>)
set_target_properties(errand PROPERTIES
  VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR}
  LINKER_LANGUAGE C)
# libcurl keeps the addresses of functions of base/heap.c for as long as it is
# loaded. So the library with these functions must stay loaded too.
target_link_options(errand PRIVATE -Wl,-z,nodelete)
if(NOT ERRAND_SANITIZE)
  target_link_options(errand PRIVATE -Wl,--no-undefined)
endif()

add_library(errand_static STATIC $<TARGET_OBJECTS:errand_objects>)
set_target_properties(errand_static PROPERTIES
  OUTPUT_NAME errand
  LINKER_LANGUAGE C)

target_link_options(errand_static INTERFACE -Wl,-z,nodelete)

foreach(library errand errand_static)
  target_include_directories(${library} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/Sources/CErrand/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/errand>)
  target_link_libraries(${library} PRIVATE
    ${ERRAND_LIBRARIES} Threads::Threads ${CMAKE_DL_LIBS})
  add_library(Errand::${library} ALIAS ${library})
endforeach()
