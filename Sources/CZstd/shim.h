/* Without the package the core is built without "zstd". */
#if __has_include(<zstd.h>)
#include <zstd.h>
#endif
