/* Checks of a request, which copy nothing. */
#ifndef ERRAND_TRANSFER_VALIDATE_H
#define ERRAND_TRANSFER_VALIDATE_H

#include "http/headers.h"
#include "http/url.h"
#include "include/errand_request.h"

/*
 * All checks of errand_submit that open no file.
 * Thread: any.
 * Owns: `host`, as for errand__url_parse.
 * Returns: the status that errand_request_validate documents.
 */
errand_status errand__request_check(const errand_request *request, char *host,
                                    errand__url *url,
                                    errand__header_facts *headers);

#endif
