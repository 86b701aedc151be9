#include "libcurl/curl_traits.h"

#include <assert.h>
#include <stdatomic.h>

#include "libcurl/process.h"

static const errand__curl_trait_row rows[ERRAND__CURL_TRAITS] = {
    [ERRAND__CURL_KEEPS_UNCLEAN_CONNECTIONS] =
        {0, 0x080000, "9fd2d5aa72, 7c5637b8b4",
         "replay_test: an_idle_connection_that_was_reset"},
    [ERRAND__CURL_LOSES_CLEAR_HTTP2] =
        {0, 0x080000, "#10634", "http2_test: prior_knowledge_in_clear_text"},
    [ERRAND__CURL_KEEPS_FREED_FIELDS] =
        {0, 0x080100, "cd1c611b24",
         "hostile_heads_test: a_first_field_that_begins_with_a_blank"},
    [ERRAND__CURL_FORGETS_REST_OF_STREAMS] =
        {0, 0x080100, "744dcf22fa",
         "hostile_http2_test: bodies_that_fill_a_buffer_end"},
    [ERRAND__CURL_ENDS_CUT_HTTP2_BODIES] =
        {0, 0x080200, "48cd032623, 544a7f804d",
         "http2_death_test: of_many_streams_none_ends_well"},
    [ERRAND__CURL_WAITS_AFTER_REFUSAL] =
        {0, 0x080400, "01d8473b25",
         "dns_test: the_next_address_is_tried_at_once"},
    [ERRAND__CURL_LACKS_MEMORY_FOR_LONG_LINES] =
        {0, 0x080600, "CURLE_TOO_LARGE", "bad_server_test: endless_field"},
    [ERRAND__CURL_SHARES_FIRST_ROUNDS] =
        {0, 0x080700, "2254551403",
         "hostile_http2_test: uploads_beside_digest_end"},
    [ERRAND__CURL_SPINS_WHILE_PAUSED] =
        {0x080400, 0x081000, "#21643", "pitfalls_test: a_paused_request_rests"},
    [ERRAND__CURL_READS_ON_WHILE_SENDING] =
        {0x080400, 0x081000, "#21643",
         "pitfalls_test: a_paused_response_beside_an_upload_rests"},
    [ERRAND__CURL_LISTENS_WHILE_PAUSED] = {0x080500, 0x080600, "8e2d7b9fa4",
                                           "hang_up_test: a_paused_response"},
    [ERRAND__CURL_COUNTS_NO_IGNORED_CHUNKS] =
        {0x080500, 0x080700, "ad051e1cbe",
         "digest_test: an_endless_challenge_ends"},
    [ERRAND__CURL_LEAKS_TRAILERS] =
        {0x080000, 0x080600, "d7b6ce64ce",
         "response_test: trailers_on_one_connection"},
    [ERRAND__CURL_LEAVES_PIPES] = {0x080500, 0x080800, "43eb798da0, fd0d2ed74a",
                                   "fork_test: descriptors_are_closed_on_exec"},
    [ERRAND__CURL_BORROWS_BUFFERS] =
        {0x080700, 0, "476adfeac0",
         "receive_buffer_test: large_buffers_cost_nothing_per_request"},
    [ERRAND__CURL_READS_AT_ONCE] =
        {0x080700, 0, "Curl_req_send",
         "slot_test: overrides_outlive_the_multi_handle"},
    [ERRAND__CURL_COUNTS_BODIES_WITH_HEADS] = {0x080700, 0, "Curl_xfer_send",
                                               "report_test: bytes_of_heads"},
    [ERRAND__CURL_COMPARES_BUSY_CONNECTIONS] =
        {0x080a00, 0, "1be704e17e",
         "affinity_test: searches_for_connections_are_short"},
    [ERRAND__CURL_LEAVES_WAITING] =
        {0x080a00, 0, "#18017", "hostile_tls_test: nothing_waits_for_http1"},
    [ERRAND__CURL_READS_AHEAD] =
        {0x080f00, 0, "aea336aa23",
         "hostile_http2_test: what_is_read_ahead_ends"},
    [ERRAND__CURL_DROPS_SHUT_CONNECTIONS] =
        {0x081000, 0, "b453a447ce",
         "hostile_http2_test: streams_that_wait_as_they_end"},
    [ERRAND__CURL_KEEPS_EMPTY_PATHS] = {0, 0x081200, "a093c93994",
                                        "cookies_test: an_empty_path"},
    [ERRAND__CURL_HIDES_FAILED_NAMES] =
        {0x081100, 0x081400, "store_negative_resolve",
         "dns_test: what_waits_behind_a_name_that_fails_asks_no_more"},
    [ERRAND__CURL_KEEPS_PAUSES] = {0x081200, 0x081300, "078b3031ea",
                                   "slot_test: a_pause_ends_with_its_transfer"},
    [ERRAND__CURL_WATCHES_ITS_WAKE_UP] = {0x081400, 0, "9bc8b078eb",
                                          "pitfalls_test: steady_state"},
    [ERRAND__CURL_RESOLVES_TWICE] =
        {0x081400, 0, "39036c9021",
         "pitfalls_test: a_cold_host_is_resolved_a_few_times"},
    [ERRAND__CURL_TAKES_NO_CAPATH] = {0, 0x081500, "CURLOPT_CAPATH",
                                      "trust_test: a_file_is_trusted_alone"},
    [ERRAND__CURL_LACKS_IPV6_BY_PROXY] =
        {0x081500, 0x081600, "a479459ea3",
         "proxy_test: an_ipv6_literal_by_an_http_proxy"},
    [ERRAND__CURL_KEEPS_ENDED_STREAMS] =
        {0, 0, "on_stream_close",
         "hostile_http2_test: streams_that_wait_as_they_end"},
    [ERRAND__CURL_READS_UNLOCKED_COOKIES] = {0x080b00, 0x081000,
                                             "be39ed19a5, c278c508e2",
                                             "cookies_test: everybody_at_once"},
    [ERRAND__CURL_LEAVES_SHUTDOWNS] =
        {0x081500, 0, "#22282", "hostile_tls_test: what_is_not_kept_is_closed"},
    [ERRAND__CURL_SPEAKS_WEBSOCKET] =
        {0x080b00, 0, "8e1f5a0f8c",
         "websocket_test: bytes_go_both_ways_behind_101"},
};

static const errand__curl_denial denials[] = {
    {0x080900, 0x080900, "#14280",
     "hostile_tls_test: what_is_not_kept_is_closed"},
    {0x081000, 0x081000, "7e91f24c73",
     "pitfalls_test: backpressure_behind_a_decoder"},
};

#define COUNT_OF(list) (sizeof(list) / sizeof(list)[0])

static bool is_in(const errand__curl_trait_row *row, uint32_t version) {
  return version >= row->from && (row->before == 0 || version < row->before);
}

static_assert(ERRAND__CURL_TRAITS < 64, "the highest bit says: known");
#define KNOWN (UINT64_C(1) << 63)

/* One bit for each trait of the libcurl that runs. The traits never change, so
   threads that find them at the same time get the same result. */
static _Atomic uint64_t traits;

static uint64_t find_traits(void) {
  uint64_t found = KNOWN;
  for (int i = 0; i < ERRAND__CURL_TRAITS; i++)
    if (is_in(&rows[i], errand__curl_version()))
      found |= UINT64_C(1) << i;
  atomic_store_explicit(&traits, found, memory_order_relaxed);
  return found;
}

bool errand__curl_does(errand__curl_trait trait) {
  uint64_t found = atomic_load_explicit(&traits, memory_order_relaxed);
  if (!(found & KNOWN))
    found = find_traits();
  return (found >> trait & 1) != 0;
}

const errand__curl_trait_row *
errand__curl_trait_row_of(errand__curl_trait trait) {
  return &rows[trait];
}

size_t errand__curl_denials(const errand__curl_denial **out) {
  *out = denials;
  return COUNT_OF(denials);
}

bool errand__curl_denied(uint32_t version) {
  for (size_t i = 0; i < COUNT_OF(denials); i++)
    if (version >= denials[i].from && version <= denials[i].to)
      return true;
  return false;
}
