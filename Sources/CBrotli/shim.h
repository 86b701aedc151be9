/* Without the package the core is built without "br". */
#if __has_include(<brotli/decode.h>)
#include <brotli/decode.h>
#endif
