# ERRAND_SANITIZE, for everything that is built here.
if(ERRAND_SANITIZE STREQUAL "address")
  set(flags -fsanitize=address,undefined -fno-sanitize-recover=all)
elseif(ERRAND_SANITIZE STREQUAL "thread")
  set(flags -fsanitize=thread)
elseif(NOT ERRAND_SANITIZE STREQUAL "")
  message(FATAL_ERROR
    "ERRAND_SANITIZE is \"${ERRAND_SANITIZE}\": address, thread or empty")
endif()
if(flags)
  add_compile_options(${flags} -fno-omit-frame-pointer)
  add_link_options(${flags})
endif()
