/* Checks of a request that need no copy of it. */
#ifndef ERRAND_TRANSFER_VALIDATE_H
#define ERRAND_TRANSFER_VALIDATE_H

#include "http/headers.h"
#include "http/url.h"
#include "include/errand_request.h"

/*
 * All checks of errand_submit that open nothing.
 * Thread: any.  Owns: `host`, as errand__url_parse has it.  Returns: what
 * errand_request_validate documents.
 */
errand_status errand__request_check(const errand_request *request, char *host,
                                    errand__url *url,
                                    errand__header_facts *headers);

#endif
