/* The test program's own getaddrinfo, for libcurl too: */
#ifndef ERRAND_TESTS_DNS_INTERPOSER_H
#define ERRAND_TESTS_DNS_INTERPOSER_H

/*
 * hang*.test   does not return until dns_release, then EAI_AGAIN
 * fail*.test   EAI_NONAME
 * again*.test  EAI_AGAIN
 * local*.test  127.0.0.1
 * two*.test    127.0.0.2 (where nobody listens), then 127.0.0.1
 * turn*.test   127.0.0.1 the first time, and 127.0.0.2 from then on
 * all others are forwarded to the real one.
 */

/* Lets every hanging call return, now and later, and waits for those that
   hang. */
void dns_release(void);
/* Makes calls hang again. */
void dns_hold(void);
/* Calls that hang now. */
int dns_hanging(void);
/* Calls for names of the list above, so far. */
int dns_calls(void);

#endif
