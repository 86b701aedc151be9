# Each Tests/CErrandTests/*_test.c is one executable and one ctest test, linked
# with all of support/ and the fault server. A first line such as
#   /* Timeout: 300 s */
# changes the limit of 240 s. Tests/CErrandTests/programs/*.c are programs that
# tests run; the tests find them in the directory ERRAND_TEST_PROGRAMS.
pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)
pkg_check_modules(OPENSSL REQUIRED IMPORTED_TARGET libssl libcrypto)
set(tests ${PROJECT_SOURCE_DIR}/Tests/CErrandTests)
set(fault_server ${PROJECT_SOURCE_DIR}/Sources/CErrandFaultServer)
set(programs ${PROJECT_BINARY_DIR}/test-programs)

# The code that runs in the tests besides the core. The shared library hides
# internal functions, so tests link the static library.
file(GLOB support_sources CONFIGURE_DEPENDS
  ${tests}/support/*.c ${fault_server}/*.c)
add_library(errand_test_support INTERFACE)
target_include_directories(errand_test_support INTERFACE
  ${tests} ${PROJECT_SOURCE_DIR}/Sources/CErrand ${fault_server}/include)
target_link_libraries(errand_test_support INTERFACE
  errand_static errand_warnings PkgConfig::CMOCKA PkgConfig::LIBCURL
  PkgConfig::LIBUV PkgConfig::ZLIB PkgConfig::OPENSSL Threads::Threads
  ${CMAKE_DL_LIBS})
target_compile_definitions(errand_test_support INTERFACE
  ERRAND_TEST_PROGRAMS="${programs}"
  ERRAND_TEST_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
if(support_sources)
  add_library(errand_test_support_objects OBJECT ${support_sources})
  target_include_directories(errand_test_support_objects PRIVATE
    ${fault_server})
  target_link_libraries(errand_test_support_objects PRIVATE
    errand_test_support)
  # Objects, not an archive: nothing refers to an interposer, so the linker
  # would not take it from an archive.
  set(support_objects $<TARGET_OBJECTS:errand_test_support_objects>)
endif()

# Sanitizers make everything slower by a small factor.
set(slowness 1)
set(environment "")
if(ERRAND_SANITIZE)
  set(slowness 3)
  set(environment
    "ASAN_OPTIONS=detect_stack_use_after_return=1:detect_leaks=1"
    "UBSAN_OPTIONS=print_stacktrace=1"
    "TSAN_OPTIONS=halt_on_error=1:history_size=7:atexit_sleep_ms=20:suppressions=${tests}/tsan.supp")
endif()

file(GLOB test_sources CONFIGURE_DEPENDS ${tests}/*_test.c)
foreach(source ${test_sources})
  get_filename_component(name ${source} NAME_WE)
  add_executable(${name} ${source} ${support_objects})
  # -rdynamic: libcurl has to find interposed functions in the executable.
  set_target_properties(${name} PROPERTIES ENABLE_EXPORTS ON)
  target_link_libraries(${name} PRIVATE errand_test_support)
  file(STRINGS ${source} first_line LIMIT_COUNT 1)
  set(timeout 240)
  if(first_line MATCHES "Timeout: ([0-9]+) s")
    set(timeout ${CMAKE_MATCH_1})
  endif()
  math(EXPR timeout "${timeout} * ${slowness}")
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES
    TIMEOUT ${timeout}
    ENVIRONMENT "${environment}")
endforeach()

file(GLOB program_sources CONFIGURE_DEPENDS ${tests}/programs/*.c)
foreach(source ${program_sources})
  get_filename_component(name ${source} NAME_WE)
  add_executable(${name} ${source} ${support_objects})
  set_target_properties(${name} PROPERTIES
    ENABLE_EXPORTS ON
    RUNTIME_OUTPUT_DIRECTORY ${programs})
  target_link_libraries(${name} PRIVATE errand_test_support)
endforeach()

# Installs the library; programs that know nothing of this tree find and use it.
# A sanitized library would require sanitizers in these programs too.
if(ERRAND_INSTALL AND NOT ERRAND_SANITIZE)
  add_executable(consumer_server
    ${PROJECT_SOURCE_DIR}/Tests/Consumers/server.c)
  target_link_libraries(consumer_server PRIVATE errand_warnings)
  add_test(NAME consumers COMMAND
    ${PROJECT_SOURCE_DIR}/Tests/Consumers/run
      ${PROJECT_BINARY_DIR} $<TARGET_FILE:consumer_server>)
  set_tests_properties(consumers PROPERTIES TIMEOUT 900)
endif()
