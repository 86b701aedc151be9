# The rules for our own code; linked by each of our targets.
add_library(errand_warnings INTERFACE)
target_compile_options(errand_warnings INTERFACE
  -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes
  -Wpointer-arith -Wvla -Werror)
target_compile_definitions(errand_warnings INTERFACE _GNU_SOURCE)
