# Each Tests/Fuzz/Core/fuzz_*.c is one libFuzzer program; needs clang. The
# corpus of fuzz_NAME is Tests/Fuzz/corpus/NAME.
set(fuzz ${PROJECT_SOURCE_DIR}/Tests/Fuzz/Core)
file(GLOB fuzz_sources CONFIGURE_DEPENDS ${fuzz}/fuzz_*.c)
foreach(source ${fuzz_sources})
  get_filename_component(name ${source} NAME_WE)
  add_executable(${name} ${source})
  target_include_directories(${name} PRIVATE
    ${fuzz} ${PROJECT_SOURCE_DIR}/Sources/CErrand)
  target_link_libraries(${name} PRIVATE
    errand_static errand_warnings PkgConfig::LIBCURL)
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
endforeach()
