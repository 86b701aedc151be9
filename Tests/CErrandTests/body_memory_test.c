/* Bodies of responses that go into memory of the caller's. */
#include "support/rig.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define OK "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
#define MIB ((size_t) 1 << 20)

/* A block, whose bytes move each time that it grows. */
typedef struct block {
  uint8_t *bytes;
  size_t capacity;
  struct blocks *of;
} block;

typedef struct blocks {
  errand_body_memory memory;
  _Atomic int created;
  _Atomic int grown;
  _Atomic int released;
  _Atomic size_t first_capacity; /* the largest that a block was made with */
  _Atomic int creates_left;      /* before one fails */
  _Atomic int grows_left;
  _Atomic bool lacks_in_create; /* a byte of what is needed */
  _Atomic bool lacks_in_grow;
} blocks;

static void *create(void *context, size_t *capacity, void **owner) {
  blocks *of = context;
  if (of->creates_left-- <= 0)
    return NULL;
  block *made = malloc(sizeof *made);
  assert_non_null(made);
  *made = (block){malloc(*capacity), *capacity, of};
  assert_non_null(made->bytes);
  if (of->first_capacity < *capacity)
    of->first_capacity = *capacity;
  if (of->lacks_in_create)
    *capacity -= 1;
  of->created++;
  *owner = made;
  return made->bytes;
}

static void *grow(void *context, void *owner, size_t used, size_t *capacity) {
  blocks *of = context;
  block *grown = owner;
  assert_ptr_equal(grown->of, of);
  assert_true(used <= grown->capacity && *capacity > grown->capacity);
  if (of->grows_left-- <= 0)
    return NULL;
  if (of->lacks_in_grow)
    *capacity -= 1;
  else
    *capacity *= 2;
  uint8_t *bytes = malloc(*capacity);
  assert_non_null(bytes);
  memcpy(bytes, grown->bytes, used);
  free(grown->bytes);
  grown->bytes = bytes;
  grown->capacity = *capacity;
  of->grown++;
  return bytes;
}

static void release(void *owner) {
  block *released = owner;
  released->of->released++;
  free(released->bytes);
  free(released);
}

/* For one test. Payloads of it are freed after its function has returned. */
static blocks all;

static void use_blocks(void) {
  all = (blocks){.memory = {&all, create, grow, release},
                 .creates_left = 1 << 20,
                 .grows_left = 1 << 20};
}

static errand_request into_blocks(const char *url) {
  errand_request request = rig_request("GET", url);
  request.response_memory = &all.memory;
  return request;
}

/* Every block of a request that has ended is released but for those whose
   payloads are kept. */
static void expect_kept(int kept) {
  assert_int_equal(all.created - all.released, kept);
}

static void expect_in_block(const errand_payload *payload) {
  const block *owner = errand_payload_body_owner(payload);
  assert_non_null(owner);
  errand_bytes body = errand_payload_body(payload);
  assert_ptr_equal(body.data, owner->bytes);
  assert_true(body.length <= owner->capacity);
}

static void a_body_is_in_its_block(void **state) {
  test_rig *rig = *state;
  use_blocks();
  RIG_ON(rig, "/", ERRAND_FAULT_STEP_SEND(OK));
  errand_request request = into_blocks(rig_url(rig, "/"));
  const test_result *result = rig_run(rig, &request);
  rig_expect_response(result, 200, "ok");
  expect_in_block(result->end.payload);
  assert_true(bytes_contain(errand_payload_head(result->end.payload),
                            "Content-Length: 2"));
  assert_true(bytes_contain(errand_payload_remote_address(result->end.payload),
                            "127.0.0.1:"));
  assert_int_equal(all.created, 1);
  expect_kept(1);
  /* Others are not concerned. */
  assert_null(
      errand_payload_body_owner(rig_get(rig, rig_url(rig, "/"))->end.payload));
  assert_int_equal(all.created, 1);
  errand_payload_free(result->end.payload);
  ((test_result *) result)->end.payload = NULL;
  expect_kept(0);
}

static void without_a_body_there_is_no_block(void **state) {
  test_rig *rig = *state;
  use_blocks();
  RIG_ON(
      rig, "/",
      ERRAND_FAULT_STEP_SEND("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"));
  errand_request request = into_blocks(rig_url(rig, "/"));
  const test_result *result = rig_run(rig, &request);
  rig_expect_response(result, 200, "");
  assert_null(errand_payload_body_owner(result->end.payload));
  assert_int_equal(all.created, 0);
}

/* Trailers stay in the payload, whose body is elsewhere. */
static void trailers_behind_such_a_body(void **state) {
  test_rig *rig = *state;
  use_blocks();
  RIG_ON(rig, "/",
         ERRAND_FAULT_STEP_SEND("HTTP/1.1 200 OK\r\n"
                                "Transfer-Encoding: chunked\r\n\r\n"
                                "3\r\nabc\r\n4\r\ndefg\r\n0\r\n"
                                "X-In: trailers\r\n\r\n"));
  for (int i = 0; i < 2; i++) {
    errand_request request = into_blocks(rig_url(rig, "/"));
    request.flags = i ? ERRAND_REQUEST_STREAM_RESPONSE : 0;
    const test_result *result = rig_run(rig, &request);
    rig_expect_response(result, 200, i ? "" : "abcdefg");
    errand_bytes trailers = errand_payload_trailers(result->end.payload);
    assert_string_equal(bytes_text(trailers), "X-In: trailers\r\n");
    if (i == 0)
      expect_in_block(result->end.payload);
    else
      assert_int_equal(result->chunk_hash, errand_fault_hash(0, "abcdefg", 7));
  }
  expect_kept(1);
}

static uint64_t hash_of(const char *part, size_t times) {
  uint64_t hash = errand_fault_hash(0, "", 0);
  for (size_t i = 0; i < times; i++)
    hash = errand_fault_hash(hash, part, strlen(part));
  return hash;
}

/* No more than 8 MiB are asked for before bytes have come. */
static void a_large_body_grows(void **state) {
  test_rig *rig = *state;
  use_blocks();
  enum { TIMES = 20 << 16 };
  RIG_ON(rig, "/",
         ERRAND_FAULT_STEP_SEND("HTTP/1.1 200 OK\r\n"
                                "Content-Length: 20971520\r\n\r\n"),
         ERRAND_FAULT_STEP_REPEAT(TIMES, "0123456789abcdef"));
  errand_request request = into_blocks(rig_url(rig, "/"));
  const test_result *result = rig_run(rig, &request);
  rig_expect_status(result, ERRAND_OK);
  expect_in_block(result->end.payload);
  errand_bytes body = errand_payload_body(result->end.payload);
  assert_int_equal(body.length, 20 * MIB);
  assert_true(errand_fault_hash(0, body.data, body.length) ==
              hash_of("0123456789abcdef", TIMES));
  assert_int_equal(all.first_capacity, 8 * MIB);
  assert_true(all.grown > 0);
}

/* Each chunk has a block, and no block is larger at first than the credit. */
static void chunks_have_a_block_each(void **state) {
  test_rig *rig = *state;
  use_blocks();
  enum { TIMES = 2 << 16, CREDIT = 100000 };
  RIG_ON(rig, "/",
         ERRAND_FAULT_STEP_SEND("HTTP/1.1 200 OK\r\n"
                                "Content-Length: 2097152\r\n\r\n"),
         ERRAND_FAULT_STEP_REPEAT(TIMES, "0123456789abcdef"));
  errand_request request = into_blocks(rig_url(rig, "/"));
  request.flags = ERRAND_REQUEST_STREAM_RESPONSE;
  request.response_credit = CREDIT;
  collector_grant_to(&rig->collector, rig->group);
  const test_result *result = rig_run(rig, &request);
  rig_expect_response(result, 200, "");
  assert_int_equal(result->chunk_bytes, 2 * MIB);
  assert_true(result->chunk_hash == hash_of("0123456789abcdef", TIMES));
  assert_int_equal(all.created, result->chunks);
  assert_true(all.first_capacity <= CREDIT);
  expect_kept(0);
}

/* The decoder writes into the block. */
static void decoded_bodies(void **state) {
  test_rig *rig = *state;
  use_blocks();
  enum { DECODED = 3 << 20 };
  RIG_ON(rig, "/", ERRAND_FAULT_STEP_GZIP_ZEROS(DECODED));
  errand_options_init init = {.encodings = ERRAND_ENCODING_GZIP};
  errand_options *options = NULL;
  assert_int_equal(errand_options_create(&init, &options), ERRAND_OK);
  static uint8_t zeros[DECODED];
  uint64_t hash = errand_fault_hash(0, zeros, DECODED);
  collector_grant_to(&rig->collector, rig->group);
  for (int i = 0; i < 4; i++) {
    errand_request request = into_blocks(rig_url(rig, "/"));
    request.options = options;
    request.flags = i == 1 ? ERRAND_REQUEST_STREAM_RESPONSE : 0;
    if (i == 2)
      request.limit_decoded_bytes = DECODED - 1;
    if (i == 3)
      request.flags = ERRAND_REQUEST_DISCARD_BODY;
    const test_result *result = rig_run(rig, &request);
    if (i == 2) {
      rig_expect_status(result, ERRAND_LIMIT_DECODED_BYTES);
      continue;
    }
    rig_expect_status(result, ERRAND_OK);
    errand_bytes body = {0};
    if (result->end.payload)
      body = errand_payload_body(result->end.payload);
    if (i == 0) {
      expect_in_block(result->end.payload);
      assert_int_equal(body.length, DECODED);
      assert_true(errand_fault_hash(0, body.data, body.length) == hash);
    } else {
      assert_int_equal(body.length, 0);
    }
    if (i == 1) {
      assert_int_equal(result->chunk_bytes, DECODED);
      assert_true(result->chunk_hash == hash);
    }
  }
  errand_options_release(options);
}

static void bodies_beyond_the_limit(void **state) {
  test_rig *rig = *state;
  use_blocks();
  RIG_ON(rig, "/", ERRAND_FAULT_STEP_SEND("HTTP/1.1 200 OK\r\n\r\n"),
         ERRAND_FAULT_STEP_REPEAT(-1, "0123456789abcdef"));
  for (int i = 0; i < 2; i++) {
    errand_request request = into_blocks(rig_url(rig, "/"));
    request.limit_body_bytes = 3 * MIB;
    request.flags = i ? ERRAND_REQUEST_STREAM_RESPONSE : 0;
    request.response_credit = 8 * MIB;
    const test_result *result = rig_run(rig, &request);
    rig_expect_status(result, ERRAND_LIMIT_BODY_BYTES);
    if (i == 0)
      expect_in_block(result->end.payload);
  }
  expect_kept(1);
}

/* The body of a challenge that libcurl answers is not the response's. */
static void rounds_of_an_authentication(void **state) {
  test_rig *rig = *state;
  use_blocks();
  RIG_ON(rig, "/", ERRAND_FAULT_STEP_DIGEST("ada:right", 0),
         ERRAND_FAULT_STEP_SEND(OK));
  for (int i = 0; i < 4; i++) {
    errand_request request = into_blocks(rig_url(rig, "/"));
    request.authentication = ERRAND_AUTHENTICATION_DIGEST;
    request.username = bytes_of("ada");
    request.password = bytes_of(i & 1 ? "wrong" : "right");
    request.flags = i & 2 ? ERRAND_REQUEST_STREAM_RESPONSE : 0;
    const test_result *result = rig_run(rig, &request);
    const char *body = i & 1 ? "denied\n" : "ok";
    rig_expect_response(result, i & 1 ? 401 : 200, i & 2 ? "" : body);
    if (i & 2)
      assert_int_equal(result->chunk_hash,
                       errand_fault_hash(0, body, strlen(body)));
    else
      expect_in_block(result->end.payload);
  }
  expect_kept(2);
}

/* libcurl passes on neither of them. */
static void a_round_with_a_body_and_trailers(void **state) {
  test_rig *rig = *state;
  use_blocks();
  RIG_ON(rig, "/",
         ERRAND_FAULT_STEP_SEND(
             "HTTP/1.1 401 Who\r\nWWW-Authenticate: Digest realm=\"r\", "
             "nonce=\"n\", qop=\"auth\"\r\nTransfer-Encoding: chunked\r\n\r\n"
             "4\r\nlost\r\n0\r\nX-In: trailers\r\n\r\n"),
         ERRAND_FAULT_STEP(READ_HEAD), ERRAND_FAULT_STEP_SEND(OK));
  errand_request request = into_blocks(rig_url(rig, "/"));
  request.authentication = ERRAND_AUTHENTICATION_DIGEST;
  request.username = bytes_of("ada");
  request.password = bytes_of("right");
  const test_result *result = rig_run(rig, &request);
  rig_expect_response(result, 200, "ok");
  expect_in_block(result->end.payload);
  expect_kept(1);
}

/* libcurl gives two parts of a body in one turn. */
static void on_parts(test_rig *rig) {
  RIG_ON(rig, "/parts",
         ERRAND_FAULT_STEP_SEND("HTTP/1.1 200 OK\r\n"
                                "Transfer-Encoding: chunked\r\n\r\n"
                                "3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n"));
}

static void memory_that_runs_out(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/", ERRAND_FAULT_STEP_SEND("HTTP/1.1 200 OK\r\n\r\n"),
         ERRAND_FAULT_STEP_REPEAT(1 << 18, "0123456789abcdef"));
  on_parts(rig);
  RIG_ON(rig, "/gzip", ERRAND_FAULT_STEP_GZIP_ZEROS(4 << 20));
  errand_options_init init = {.encodings = ERRAND_ENCODING_GZIP};
  errand_options *options = NULL;
  assert_int_equal(errand_options_create(&init, &options), ERRAND_OK);
  for (int i = 0; i < 8; i++) {
    use_blocks();
    bool streamed = i & 1, grows = i & 2, encoded = i & 4;
    if (grows)
      all.grows_left = streamed ? 0 : 1;
    else
      all.creates_left = 0;
    /* A stream grows where a turn brings several parts. */
    const char *path = streamed && grows ? "/parts" : "/";
    errand_request request =
        into_blocks(rig_url(rig, encoded ? "/gzip" : path));
    request.options = encoded ? options : NULL;
    request.flags = streamed ? ERRAND_REQUEST_STREAM_RESPONSE : 0;
    request.response_credit = 8 * MIB;
    const test_result *result = rig_run(rig, &request);
    rig_expect_status(result, ERRAND_OUT_OF_MEMORY);
    if (!grows)
      assert_int_equal(all.created, 0);
    else
      assert_true(all.created > 0);
    if (result->end.payload) {
      errand_payload_free(result->end.payload);
      ((test_result *) result)->end.payload = NULL;
    }
    expect_kept(0);
  }
  errand_options_release(options);
}

/* A block with fewer bytes than were needed is no memory. */
static void blocks_that_are_too_small(void **state) {
  test_rig *rig = *state;
  on_parts(rig);
  for (int i = 0; i < 4; i++) {
    use_blocks();
    bool streamed = i & 1, grows = i & 2;
    errand_request request = into_blocks(rig_url(rig, "/parts"));
    request.flags = streamed ? ERRAND_REQUEST_STREAM_RESPONSE : 0;
    all.lacks_in_create = !grows;
    all.lacks_in_grow = grows;
    const test_result *result = rig_run(rig, &request);
    rig_expect_status(result, ERRAND_OUT_OF_MEMORY);
    assert_int_equal(all.created, 1);
    assert_int_equal(all.grown, grows ? 1 : 0);
    if (grows && !streamed) {
      expect_in_block(result->end.payload);
      assert_string_equal(bytes_text(errand_payload_body(result->end.payload)),
                          "abc");
    }
    if (result->end.payload) {
      errand_payload_free(result->end.payload);
      ((test_result *) result)->end.payload = NULL;
    }
    expect_kept(0);
  }
}

static void requests_that_are_cancelled(void **state) {
  test_rig *rig = *state;
  use_blocks();
  RIG_ON(rig, "/",
         ERRAND_FAULT_STEP_SEND("HTTP/1.1 200 OK\r\n"
                                "Content-Length: 1000000\r\n\r\n0123"),
         ERRAND_FAULT_STEP(STALL));
  for (int i = 0; i < 3; i++) {
    errand_request request = into_blocks(rig_url(rig, "/"));
    request.flags = i == 1 ? ERRAND_REQUEST_STREAM_RESPONSE : 0;
    int before = all.created;
    uint64_t id = rig_submit(rig, &request);
    for (int n = 0; n < 15000 && all.created == before; n++)
      nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    assert_int_equal(all.created, before + 1);
    if (i < 2)
      errand_cancel(rig->group, id);
    else
      assert_int_equal(errand_group_stop(rig->group, ERRAND_STOP_CANCEL, 0),
                       ERRAND_OK);
    const test_result *result = collector_wait(&rig->collector, id);
    rig_expect_status(result, ERRAND_CANCELLED);
  }
  /* The first and the third, whose payloads are in their completions. */
  expect_kept(2);
}

static void tables_with_holes_are_refused(void **state) {
  test_rig *rig = *state;
  RIG_ON(rig, "/", ERRAND_FAULT_STEP_SEND(OK));
  for (int i = 0; i < 3; i++) {
    use_blocks();
    if (i == 0)
      all.memory.create = NULL;
    if (i == 1)
      all.memory.grow = NULL;
    if (i == 2)
      all.memory.release = NULL;
    errand_request request = into_blocks(rig_url(rig, "/"));
    assert_int_equal(errand_submit(rig->group, &request, 1), 0);
    assert_int_equal(request.status, ERRAND_INVALID_OPTION);
    assert_int_equal(errand_request_validate(&request), ERRAND_INVALID_OPTION);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      RIG_TEST(a_body_is_in_its_block),
      RIG_TEST(without_a_body_there_is_no_block),
      RIG_TEST(trailers_behind_such_a_body),
      RIG_TEST(a_large_body_grows),
      RIG_TEST(chunks_have_a_block_each),
      RIG_TEST(decoded_bodies),
      RIG_TEST(bodies_beyond_the_limit),
      RIG_TEST(rounds_of_an_authentication),
      RIG_TEST(a_round_with_a_body_and_trailers),
      RIG_TEST(memory_that_runs_out),
      RIG_TEST(blocks_that_are_too_small),
      RIG_TEST(requests_that_are_cancelled),
      RIG_TEST(tables_with_holes_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
