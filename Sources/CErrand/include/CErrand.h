/* The C core of Errand: HTTP requests by libcurl on libuv loops. */
#ifndef CERRAND_H
#define CERRAND_H

#include "errand_base.h"
#include "errand_status.h"
#include "errand_options.h"
#include "errand_record.h"
#include "errand_request.h"
#include "errand_group.h"
#include "errand_cookies.h"
#include "errand_host.h"
#include "errand_stats.h"

#endif
