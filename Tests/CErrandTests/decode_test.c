/* Content codings: the decoder alone, and bodies on the way. */
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "support/rig.h"
#include "http/decode.h"

#define OK "HTTP/1.1 200 OK\r\n"
#define TEXT "decoded text, decoded text, decoded text."

typedef struct sample {
  const char *coding;
  uint32_t feature;
  size_t length;
  const char *bytes;
} sample;

#define SAMPLE(coding, feature, bytes)                                         \
  { coding, feature, sizeof(bytes) - 1, bytes }
#define GZIP                                                                   \
  "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x4b\x49\x4d\xce\x4f\x49\x4d\x51"   \
  "\x28\x49\xad\x28\xd1\x51\x48\xc1\xc9\xd3\x03\x00\xbb\x90\xe9\xfe\x29\x00"   \
  "\x00\x00"
#define BARE                                                                   \
  "\x4b\x49\x4d\xce\x4f\x49\x4d\x51\x28\x49\xad\x28\xd1\x51\x48\xc1\xc9\xd3"   \
  "\x03\x00"
#define ZSTD                                                                   \
  "\x28\xb5\x2f\xfd\x04\x58\xad\x00\x00\x78\x64\x65\x63\x6f\x64\x65\x64\x20"   \
  "\x74\x65\x78\x74\x2c\x20\x2e\x01\x00\x61\x4f\x25\x51\x31\xe4\x5f"

static const sample samples[] = {
    SAMPLE("gzip", ERRAND_FEATURE_GZIP, GZIP),
    SAMPLE("deflate", ERRAND_FEATURE_GZIP, "\x78\x9c" BARE "\x39\xbd\x0e\xce"),
    SAMPLE("Deflate", ERRAND_FEATURE_GZIP, BARE),
    SAMPLE("br", ERRAND_FEATURE_BROTLI,
           "\x1b\x28\x00\x00\x04\x1c\x72\xa4\x9f\xb7\x94\x0a\x2c\x28\x15\x91"
           "\x84\x9f\x7a\xa4\xd2\x8f\x61\xfd\x04\x06"),
    SAMPLE("zstd", ERRAND_FEATURE_ZSTD, ZSTD),
};

static bool is_built(const sample *s) {
  errand_features features;
  errand_features_read(&features);
  return (features.flags & s->feature) != 0;
}

static errand__decoder *decoder_of(const char *field) {
  errand__codings codings = {0};
  errand__decoder *decoder = NULL;
  const char *words = NULL;
  errand__codings_add(&codings, field, strlen(field));
  assert_int_equal(errand__decoder_create(&codings, &decoder, &words),
                   ERRAND_OK);
  return decoder;
}

typedef struct decoded {
  errand_status status;
  bool whole;
  size_t length;
  char bytes[4096];
} decoded;

/* Gives `step` bytes at a time, and room for `space` at a time. */
static decoded decode(const char *field, const char *bytes, size_t length,
                      size_t step, size_t space) {
  decoded out = {ERRAND_OK, false, 0, {0}};
  errand__decoder *decoder = decoder_of(field);
  for (size_t at = 0; at < length && out.status == ERRAND_OK; at += step) {
    size_t n = step < length - at ? step : length - at;
    errand__input input = {(const uint8_t *) bytes + at, n};
    bool more = true;
    while (more && out.status == ERRAND_OK) {
      assert_true(sizeof out.bytes - out.length >= space);
      errand__room room = {(uint8_t *) out.bytes + out.length, space};
      out.status = errand__decoder_run(decoder, &input, &room);
      out.length += space - room.left;
      if (out.status == ERRAND_OK)
        out.status = errand__decoder_look(decoder, &input, &more);
    }
    assert_true(out.status != ERRAND_OK || input.left == 0);
  }
  out.whole = errand__decoder_is_whole(decoder);
  if (!out.whole)
    assert_non_null(errand__decoder_words(decoder));
  errand__decoder_free(decoder);
  return out;
}

static void expect_text(decoded out, const char *text) {
  assert_string_equal(errand_status_name(out.status), "OK");
  assert_true(out.whole);
  assert_int_equal(out.length, strlen(text));
  assert_memory_equal(out.bytes, text, out.length);
}

static void however_it_comes_and_whatever_room_there_is(void **state) {
  (void) state;
  for (size_t i = 0; i < COUNT_OF(samples); i++)
    for (size_t step = 1; is_built(&samples[i]) && step < 48; step += 5)
      for (size_t space = 1; space < 64; space += 6)
        expect_text(decode(samples[i].coding, samples[i].bytes,
                           samples[i].length, step, space),
                    TEXT);
}

static void a_part_is_never_whole(void **state) {
  (void) state;
  for (size_t i = 0; i < COUNT_OF(samples); i++)
    for (size_t n = 1; is_built(&samples[i]) && n < samples[i].length; n++) {
      decoded out = decode(samples[i].coding, samples[i].bytes, n, n, 100);
      assert_int_equal(out.status, ERRAND_OK);
      if (out.whole)
        fail_msg("%zu bytes of %s are whole", n, samples[i].coding);
    }
}

/* No byte changed makes anything but the text, an error or a part. */
static void damaged_bytes_end(void **state) {
  (void) state;
  for (size_t i = 0; i < COUNT_OF(samples); i++)
    for (size_t at = 0; is_built(&samples[i]) && at < samples[i].length; at++)
      for (int bit = 0; bit < 8; bit++) {
        char bytes[64];
        memcpy(bytes, samples[i].bytes, samples[i].length);
        bytes[at] = (char) (bytes[at] ^ (1 << bit));
        errand__decoder *decoder = decoder_of(samples[i].coding);
        errand__input input = {(const uint8_t *) bytes, samples[i].length};
        uint8_t out[256];
        errand_status status = ERRAND_OK;
        for (int turns = 0; status == ERRAND_OK && input.left > 0; turns++) {
          errand__room room = {out, sizeof out};
          status = errand__decoder_run(decoder, &input, &room);
          assert_true(turns < 100000);
        }
        assert_true(status == ERRAND_OK || status == ERRAND_DECODING_FAILED);
        errand__decoder_free(decoder);
      }
}

/* RFC 1952 2.2; RFC 8878 3. */
static void members_and_frames_are_one_body(void **state) {
  (void) state;
  for (size_t step = 1; step < 80; step += 3) {
    expect_text(decode("gzip", GZIP GZIP, 76, step, 10), TEXT TEXT);
    if (is_built(&samples[4]))
      expect_text(decode("zstd", ZSTD ZSTD, 68, step, 10), TEXT TEXT);
  }
  for (size_t n = 40; n < 76; n++) /* from the second magic on */
    assert_false(decode("gzip", GZIP GZIP, n, n, 100).whole);
}

/* As gzip(1) and browsers do. */
static void what_follows_the_end_is_ignored(void **state) {
  (void) state;
  static const char *const tails[] = {"\0\0\0\0\0\0", "garbage", "\x1f",
                                      "\x1f\x1f\x8b\x08", "x" GZIP};
  static const size_t lengths[] = {6, 7, 1, 4, 39};
  for (size_t i = 0; i < COUNT_OF(tails); i++)
    for (size_t step = 1; step < 90; step += 4) {
      char bytes[128];
      memcpy(bytes, GZIP, 38);
      memcpy(bytes + 38, tails[i], lengths[i]);
      expect_text(decode("gzip", bytes, 38 + lengths[i], step, 7), TEXT);
    }
  expect_text(decode("deflate", BARE "x", 21, 4, 7), TEXT);
  if (is_built(&samples[3])) {
    char bytes[27];
    memcpy(bytes, samples[3].bytes, 26);
    bytes[26] = 'x';
    expect_text(decode("br", bytes, sizeof bytes, 4, 7), TEXT);
  }
}

static size_t gzipped(const char *bytes, size_t length, char *out,
                      size_t room) {
  z_stream z = {0};
  assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 31, 8, 0), Z_OK);
  z.next_in = (Bytef *) (uintptr_t) bytes;
  z.avail_in = (uInt) length;
  z.next_out = (Bytef *) out;
  z.avail_out = (uInt) room;
  assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
  deflateEnd(&z);
  return room - z.avail_out;
}

static void codings_upon_codings(void **state) {
  (void) state;
  for (size_t i = 0; i < COUNT_OF(samples); i++) {
    char bytes[256];
    char field[64];
    if (!is_built(&samples[i]))
      continue;
    size_t n =
        gzipped(samples[i].bytes, samples[i].length, bytes, sizeof bytes);
    snprintf(field, sizeof field, " identity , %s,,\tX-GZIP ",
             samples[i].coding);
    for (size_t step = 1; step < 100; step += 9)
      expect_text(decode(field, bytes, n, step, step), TEXT);
    /* The outer one is whole, the inner one is not, and the other way. */
    size_t cut =
        gzipped(samples[i].bytes, samples[i].length - 1, bytes, sizeof bytes);
    assert_false(decode(field, bytes, cut, 9, 9).whole);
    n = gzipped(samples[i].bytes, samples[i].length, bytes, sizeof bytes);
    assert_false(decode(field, bytes, n - 1, 9, 9).whole);
  }
}

/* Bytes of the outer coding that give none to the inner one are no calls of it
   without progress. */
static void an_inner_coding_waits_for_as_long_as_it_takes(void **state) {
  (void) state;
  for (size_t i = 0; i < COUNT_OF(samples); i++) {
    char bytes[512];
    char field[64];
    if (!is_built(&samples[i]))
      continue;
    snprintf(field, sizeof field, "%s, gzip", samples[i].coding);
    /* Between the two halves stored blocks that decode to nothing. */
    size_t cut = samples[i].length / 2;
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 31, 8, 0), Z_OK);
    z.next_out = (Bytef *) bytes;
    z.avail_out = sizeof bytes;
    z.next_in = (Bytef *) (uintptr_t) samples[i].bytes;
    z.avail_in = (uInt) cut;
    deflate(&z, Z_FULL_FLUSH);
    size_t before = sizeof bytes - z.avail_out;
    for (int block = 0; block < 38; block++)
      memcpy(bytes + before + block * 5, "\0\0\0\xff\xff", 5);
    z.next_out += 190;
    z.avail_out -= 190;
    z.next_in = (Bytef *) (uintptr_t) samples[i].bytes + cut;
    z.avail_in = (uInt) (samples[i].length - cut);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    size_t n = sizeof bytes - z.avail_out;
    deflateEnd(&z);
    expect_text(decode(field, bytes, n, 1, 64), TEXT);
  }
}

static void fields_that_cannot_be_undone(void **state) {
  (void) state;
  static const char *const fields[] = {"rot13", "gzip, rot13", "gzipp", "b",
                                       "gzip,gzip,gzip,gzip,gzip,gzip"};
  for (size_t i = 0; i < COUNT_OF(fields); i++) {
    errand__codings codings = {0};
    errand__decoder *decoder = NULL;
    const char *words = NULL;
    errand__codings_add(&codings, fields[i], strlen(fields[i]));
    assert_int_equal(errand__decoder_create(&codings, &decoder, &words),
                     ERRAND_DECODING_FAILED);
    assert_null(decoder);
    assert_non_null(words);
  }
  errand__codings many = {0};
  for (int i = 0; i < 1000; i++)
    errand__codings_add(&many, "gzip", 4);
  assert_int_equal(many.count, ERRAND__CODINGS_MAX + 1);
  errand__codings none = {0};
  errand__codings_add(&none, " identity,IDENTITY ,", 20);
  assert_int_equal(none.count, 0);
}

/* RFC 9659: 8 MB at most, where the frame asks for 128. */
static void a_window_that_is_too_large(void **state) {
  (void) state;
  if (!is_built(&samples[4]))
    return;
  decoded out = decode("zstd", "\x28\xb5\x2f\xfd\x00\x88\x01\0\0", 9, 9, 10);
  assert_int_equal(out.status, ERRAND_DECODING_FAILED);
}

static errand_options *all_codings(void) {
  errand_options_init init = {.encodings = ERRAND_ENCODING_ALL};
  errand_options *options = NULL;
  assert_int_equal(errand_options_create(&init, &options), ERRAND_OK);
  return options;
}

/* Serves `head` and the bytes, with their length or to the connection's end. */
static void serve(test_rig *rig, const char *path, const char *head,
                  const char *bytes, size_t length, bool framed) {
  char lines[256];
  int n = framed ? snprintf(lines, sizeof lines,
                            OK "%sContent-Length: %zu\r\n\r\n", head, length)
                 : snprintf(lines, sizeof lines, OK "%s\r\n", head);
  const errand_fault_step steps[] = {
      {.kind = ERRAND_FAULT_SEND, .data = lines, .length = (size_t) n},
      {.kind = ERRAND_FAULT_SEND, .data = bytes, .length = length},
      {.kind = ERRAND_FAULT_FINISH}};
  assert_int_equal(errand_fault_server_on_path(rig->server, path, steps,
                                               framed && length ? 2
                                               : framed         ? 1
                                                                : 3),
                   0);
}

static const test_result *run(test_rig *rig, errand_options *options,
                              const char *path, uint32_t flags) {
  errand_request request = rig_request("GET", rig_url(rig, path));
  request.options = options;
  request.flags = flags;
  return rig_run(rig, &request);
}

static void bodies_that_end_too_early_are_errors(void **state) {
  test_rig *rig = *state;
  errand_options *options = all_codings();
  for (size_t i = 0; i < COUNT_OF(samples) * 4; i++) {
    const sample *s = &samples[i / 4];
    if (!is_built(s))
      continue;
    const char *path = text("/%zu", i);
    uint32_t flags = i & 2 ? ERRAND_REQUEST_STREAM_RESPONSE : 0;
    serve(rig, path, text("Content-Encoding: %s\r\n", s->coding), s->bytes,
          s->length - 1, i & 1);
    const test_result *result = run(rig, options, path, flags);
    rig_expect_status(result, ERRAND_DECODING_FAILED);
    assert_int_equal(result->end.http_status, 200);
    assert_true(bytes_contain(errand_payload_error_text(result->end.payload),
                              "body is truncated"));
    const char *whole = text("/whole%zu", i);
    serve(rig, whole, text("Content-Encoding: %s\r\n", s->coding), s->bytes,
          s->length, i & 1);
    result = run(rig, options, whole, flags);
    rig_expect_response(result, 200, flags ? NULL : TEXT);
    assert_true(result->end.flags & ERRAND_RECORD_DECODED);
    assert_int_equal(result->chunk_bytes, flags ? strlen(TEXT) : 0);
  }
  errand_options_release(options);
}

static void several_members_and_fields(void **state) {
  test_rig *rig = *state;
  char twice[128];
  errand_options *options = all_codings();
  serve(rig, "/members", "Content-Encoding: x-gzip\r\n", GZIP GZIP "\0\0", 78,
        true);
  rig_expect_response(run(rig, options, "/members", 0), 200, TEXT TEXT);
  size_t n = gzipped(GZIP, 38, twice, sizeof twice);
  serve(rig, "/fields",
        "Content-Encoding: gzip\r\nX-A: b\r\ncontent-encoding:GZIP\r\n", twice,
        n, true);
  rig_expect_response(run(rig, options, "/fields", 0), 200, TEXT);
  serve(rig, "/six",
        "Content-Encoding: gzip,gzip,gzip\r\nContent-Encoding: "
        "gzip,gzip,gzip\r\n",
        GZIP, 38, true);
  const test_result *result = run(rig, options, "/six", 0);
  rig_expect_status(result, ERRAND_DECODING_FAILED);
  assert_true(bytes_contain(errand_payload_error_text(result->end.payload),
                            "more than five"));
  serve(rig, "/identity", "Content-Encoding: identity\r\n", "plain", 5, true);
  result = run(rig, options, "/identity", 0);
  rig_expect_response(result, 200, "plain");
  assert_false(result->end.flags & ERRAND_RECORD_DECODED);
  errand_options_release(options);
}

/* Also of a coding that nobody knows. */
static void a_body_of_nothing_is_whole(void **state) {
  test_rig *rig = *state;
  errand_options *options = all_codings();
  serve(rig, "/0", "Content-Encoding: gzip\r\n", "", 0, true);
  serve(rig, "/rot13", "Content-Encoding: rot13\r\n", "", 0, true);
  RIG_ON(rig, "/chunked",
         ERRAND_FAULT_STEP_SEND(OK "Content-Encoding: br\r\nTransfer-Encoding: "
                                   "chunked\r\n\r\n0\r\n\r\n"));
  static const char *const paths[] = {"/0", "/rot13", "/chunked"};
  for (size_t i = 0; i < COUNT_OF(paths); i++)
    rig_expect_response(run(rig, options, paths[i], 0), 200, "");
  errand_options_release(options);
}

/* A handle that was given back in the middle of a body. */
static void nothing_of_a_decoder_reaches_the_next_request(void **state) {
  test_rig *rig = *state;
  errand_options *options = all_codings();
  RIG_ON(rig, "/half",
         {.kind = ERRAND_FAULT_SEND,
          .data = OK "Content-Encoding: gzip\r\nContent-Length: 38\r\n\r\n",
          .length = sizeof(OK "Content-Encoding: gzip\r\nContent-Length: "
                              "38\r\n\r\n") -
                    1},
         {.kind = ERRAND_FAULT_SEND, .data = GZIP, .length = 20},
         ERRAND_FAULT_STEP(STALL));
  serve(rig, "/plain", "", "plain", 5, true);
  serve(rig, "/gzip", "Content-Encoding: gzip\r\n", GZIP, 38, true);
  for (int i = 0; i < 3; i++) {
    errand_request half = rig_request("GET", rig_url(rig, "/half"));
    half.options = options;
    half.timeout_idle = 100;
    rig_expect_status(rig_run(rig, &half), ERRAND_TIMEOUT_IDLE);
    rig_expect_response(run(rig, options, "/gzip", 0), 200, TEXT);
    rig_expect_response(run(rig, options, "/plain", 0), 200, "plain");
  }
  errand_options_release(options);
}

static void expect_field(test_rig *rig, size_t index, const char *field) {
  errand_fault_request seen;
  assert_int_equal(errand_fault_server_request(rig->server, index, &seen), 1);
  const char *found = strcasestr(seen.head, "accept-encoding");
  if (!field) {
    assert_null(found);
    return;
  }
  assert_non_null(found);
  assert_memory_equal(found, field, strlen(field));
  assert_null(strcasestr(found + 1, "accept-encoding"));
}

static void the_field_is_sent_once(void **state) {
  test_rig *rig = *state;
  errand_options_init init = {.encodings = ERRAND_ENCODING_GZIP |
                                           ERRAND_ENCODING_DEFLATE};
  errand_options *options = NULL;
  assert_int_equal(errand_options_create(&init, &options), ERRAND_OK);
  serve(rig, "/", "", "ok", 2, true);
  static const struct {
    const char *headers;
    const char *sent;
  } cases[] = {{NULL, "Accept-Encoding: gzip, deflate\r\n"},
               {"X-A: 1\r\n", "Accept-Encoding: gzip, deflate\r\n"},
               {NULL, "Accept-Encoding: gzip, deflate\r\n"},
               {"accept-encoding: br\r\n", "accept-encoding: br\r\n"},
               {"Accept-Encoding: identity\r\nX-A: 1\r\n",
                "Accept-Encoding: identity\r\n"},
               {NULL, "Accept-Encoding: gzip, deflate\r\n"}};
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    errand_request request = rig_request("GET", rig_url(rig, "/"));
    request.options = options;
    if (cases[i].headers)
      request.headers = bytes_of(cases[i].headers);
    rig_expect_response(rig_run(rig, &request), 200, "ok");
    expect_field(rig, i, cases[i].sent);
  }
  rig_expect_response(rig_get(rig, rig_url(rig, "/")), 200, "ok");
  expect_field(rig, COUNT_OF(cases), NULL);
  errand_options_release(options);
}

/* With a credit that is just what there is nothing waits for more. */
static void the_credit_is_exact(void **state) {
  test_rig *rig = *state;
  errand_options *options = all_codings();
  RIG_ON(rig, "/zeros", ERRAND_FAULT_STEP_GZIP_ZEROS(300000));
  errand_request request = rig_request("GET", rig_url(rig, "/zeros"));
  request.options = options;
  request.flags = ERRAND_REQUEST_STREAM_RESPONSE;
  request.response_credit = 300000;
  const test_result *result = rig_run(rig, &request);
  rig_expect_status(result, ERRAND_OK);
  assert_int_equal(result->chunk_bytes, 300000);
  request.response_credit = 299999;
  uint64_t id = rig_submit(rig, &request);
  (void) collector_wait_chunks(&rig->collector, id, 299999);
  assert_int_equal(collector_peek(&rig->collector, id).order, 0);
  assert_int_equal(errand_grant(rig->group, id, 1), ERRAND_OK);
  result = collector_wait(&rig->collector, id);
  rig_expect_status(result, ERRAND_OK);
  assert_int_equal(result->chunk_bytes, 300000);
  errand_options_release(options);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(however_it_comes_and_whatever_room_there_is),
      cmocka_unit_test(a_part_is_never_whole),
      cmocka_unit_test(damaged_bytes_end),
      cmocka_unit_test(members_and_frames_are_one_body),
      cmocka_unit_test(what_follows_the_end_is_ignored),
      cmocka_unit_test(codings_upon_codings),
      cmocka_unit_test(an_inner_coding_waits_for_as_long_as_it_takes),
      cmocka_unit_test(fields_that_cannot_be_undone),
      cmocka_unit_test(a_window_that_is_too_large),
      RIG_TEST(bodies_that_end_too_early_are_errors),
      RIG_TEST(several_members_and_fields),
      RIG_TEST(a_body_of_nothing_is_whole),
      RIG_TEST(nothing_of_a_decoder_reaches_the_next_request),
      RIG_TEST(the_field_is_sent_once),
      RIG_TEST(the_credit_is_exact),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
