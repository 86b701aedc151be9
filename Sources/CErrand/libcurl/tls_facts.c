#include "libcurl/tls_facts.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "libcurl/openssl.h"

#define CERTIFICATES_MAX 8
#define NAMES_MAX 100
#define SHA256_LENGTH 32

/* openssl/asn1.h and x509.h: XN_FLAG_ONELINE without the blanks around '=' and
   without escapes for UTF-8. */
#define NAME_FLAGS 0x2031bul
/* openssl/bio.h: the macro BIO_get_mem_data makes this call. */
#define BIO_CONTROL_INFO 3
/* openssl/obj_mac.h and x509v3.h. */
#define SUBJECT_ALT_NAME 85
#define NAME_EMAIL 1
#define NAME_DNS 2
#define NAME_URI 6
#define NAME_ADDRESS 7

typedef struct functions {
  const char *(*version)(const void *ssl);
  const void *(*cipher)(const void *ssl);
  const char *(*cipher_name)(const void *cipher);
  void (*protocol)(const void *ssl, const unsigned char **name,
                   unsigned *length);
  int (*resumed)(const void *ssl);
  long (*verify_result)(const void *ssl);
  const char *(*verify_text)(long result);
  void *(*certificate)(const void *ssl); /* one reference, the caller's */
  void (*certificate_free)(void *certificate);
  void *(*chain)(const void *ssl); /* borrowed; the server's own first */
  void *(*subject)(const void *certificate);
  void *(*issuer)(const void *certificate);
  const void *(*not_before)(const void *certificate);
  const void *(*not_after)(const void *certificate);
  int (*digest)(const void *certificate, const void *type, unsigned char *out,
                unsigned *length);
  void *(*extension)(const void *certificate, int id, int *critical,
                     int *index);
  void (*names_free)(void *names);
  void *(*name_value)(const void *name, int *type);
  int (*name_print)(void *bio, const void *name, int indent,
                    unsigned long flags);
  const void *(*sha256)(void);
  int (*time_parts)(const void *time, struct tm *out);
  const unsigned char *(*string_bytes)(const void *string);
  int (*string_length)(const void *string);
  int (*count)(const void *stack);
  void *(*item)(const void *stack, int index);
  const void *(*bio_memory)(void);
  void *(*bio_new)(const void *type);
  long (*bio_control)(void *bio, int command, long number, void *pointer);
  int (*bio_free)(void *bio);
  void (*clear_errors)(void);
} functions;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool usable;
static functions openssl;

static void look_up(void) {
  const struct {
    const char *name;
    void *function;
  } table[] = {
      {"SSL_get_version", &openssl.version},
      {"SSL_get_current_cipher", &openssl.cipher},
      {"SSL_CIPHER_get_name", &openssl.cipher_name},
      {"SSL_get0_alpn_selected", &openssl.protocol},
      {"SSL_session_reused", &openssl.resumed},
      {"SSL_get_verify_result", &openssl.verify_result},
      {"X509_verify_cert_error_string", &openssl.verify_text},
      {"X509_free", &openssl.certificate_free},
      {"SSL_get_peer_cert_chain", &openssl.chain},
      {"X509_get_subject_name", &openssl.subject},
      {"X509_get_issuer_name", &openssl.issuer},
      {"X509_get0_notBefore", &openssl.not_before},
      {"X509_get0_notAfter", &openssl.not_after},
      {"X509_digest", &openssl.digest},
      {"X509_get_ext_d2i", &openssl.extension},
      {"GENERAL_NAMES_free", &openssl.names_free},
      {"GENERAL_NAME_get0_value", &openssl.name_value},
      {"X509_NAME_print_ex", &openssl.name_print},
      {"EVP_sha256", &openssl.sha256},
      {"ASN1_TIME_to_tm", &openssl.time_parts},
      {"ASN1_STRING_get0_data", &openssl.string_bytes},
      {"ASN1_STRING_length", &openssl.string_length},
      {"OPENSSL_sk_num", &openssl.count},
      {"OPENSSL_sk_value", &openssl.item},
      {"BIO_s_mem", &openssl.bio_memory},
      {"BIO_new", &openssl.bio_new},
      {"BIO_ctrl", &openssl.bio_control},
      {"BIO_free", &openssl.bio_free},
      {"ERR_clear_error", &openssl.clear_errors},
  };
  usable = true;
  for (size_t i = 0; usable && i < sizeof table / sizeof table[0]; i++)
    usable = errand__openssl_find(table[i].name, table[i].function);
  /* OpenSSL before 3.0 has the second name. */
  usable = usable && (errand__openssl_find("SSL_get1_peer_certificate",
                                           &openssl.certificate) ||
                      errand__openssl_find("SSL_get_peer_certificate",
                                           &openssl.certificate));
}

static void add_distinguished(errand__lines *lines, const char *line,
                              const void *name) {
  void *bio = name ? openssl.bio_new(openssl.bio_memory()) : NULL;
  char *text = NULL;
  long length = 0;
  if (bio && openssl.name_print(bio, name, 0, NAME_FLAGS) >= 0)
    length = openssl.bio_control(bio, BIO_CONTROL_INFO, 0, &text);
  /* The subject is added even if it is empty, as it begins a certificate. */
  errand__lines_add(lines, line, text, length > 0 ? (size_t) length : 0);
  if (bio)
    openssl.bio_free(bio);
}

static void add_time(errand__lines *lines, const char *line, const void *time) {
  struct tm parts;
  char text[24];
  memset(&parts, 0, sizeof parts);
  if (!time || openssl.time_parts(time, &parts) != 1)
    return;
  snprintf(text, sizeof text, "%lld", (long long) timegm(&parts));
  errand__lines_add_text(lines, line, text);
}

static void add_digest(errand__lines *lines, const void *certificate) {
  static const char digits[] = "0123456789abcdef";
  unsigned char digest[64]; /* EVP_MAX_MD_SIZE */
  unsigned length = 0;
  char text[2 * SHA256_LENGTH];
  if (openssl.digest(certificate, openssl.sha256(), digest, &length) != 1 ||
      length != SHA256_LENGTH)
    return;
  for (size_t i = 0; i < SHA256_LENGTH; i++) {
    text[2 * i] = digits[digest[i] >> 4];
    text[2 * i + 1] = digits[digest[i] & 15];
  }
  errand__lines_add(lines, "sha256", text, sizeof text);
}

/* A name with its kind in front. Other kinds (directory names, ...) are left
   out. */
static void add_name(errand__lines *lines, const void *name) {
  int type = 0;
  const void *value = openssl.name_value(name, &type);
  const char *kind = type == NAME_DNS       ? "DNS:"
                     : type == NAME_ADDRESS ? "IP:"
                     : type == NAME_URI     ? "URI:"
                     : type == NAME_EMAIL   ? "email:"
                                            : NULL;
  char text[512];
  char address[INET6_ADDRSTRLEN];
  if (!value || !kind)
    return;
  const void *bytes = openssl.string_bytes(value);
  int given = openssl.string_length(value);
  size_t length = given > 0 ? (size_t) given : 0;
  if (type == NAME_ADDRESS) {
    if ((length != 4 && length != 16) ||
        !inet_ntop(length == 4 ? AF_INET : AF_INET6, bytes, address,
                   sizeof address))
      return;
    bytes = address;
    length = strlen(address);
  }
  size_t before = strlen(kind);
  if (length > sizeof text - before)
    length = sizeof text - before;
  memcpy(text, kind, before);
  if (length > 0)
    memcpy(text + before, bytes, length);
  errand__lines_add(lines, "name", text, before + length);
}

static void add_names(errand__lines *lines, const void *certificate) {
  void *names = openssl.extension(certificate, SUBJECT_ALT_NAME, NULL, NULL);
  if (!names)
    return;
  int count = openssl.count(names);
  for (int i = 0; i < count && i < NAMES_MAX; i++)
    add_name(lines, openssl.item(names, i));
  openssl.names_free(names);
}

static void add_certificate(errand__lines *lines, const void *certificate) {
  add_distinguished(lines, "subject", openssl.subject(certificate));
  add_distinguished(lines, "issuer", openssl.issuer(certificate));
  add_time(lines, "not-before", openssl.not_before(certificate));
  add_time(lines, "not-after", openssl.not_after(certificate));
  add_digest(lines, certificate);
  add_names(lines, certificate);
}

static void add_certificates(errand__lines *lines, const void *ssl) {
  void *own = openssl.certificate(ssl);
  const void *chain = openssl.chain(ssl);
  int count = chain ? openssl.count(chain) : 0;
  if (!own)
    return;
  add_certificate(lines, own);
  openssl.certificate_free(own);
  for (int i = 1; i < count && i < CERTIFICATES_MAX; i++)
    add_certificate(lines, openssl.item(chain, i));
}

static void add_session(errand__lines *lines, const void *ssl) {
  const unsigned char *protocol = NULL;
  unsigned length = 0;
  const void *cipher = openssl.cipher(ssl);
  long result = openssl.verify_result(ssl);
  errand__lines_add_text(lines, "tls-version", openssl.version(ssl));
  if (cipher)
    errand__lines_add_text(lines, "tls-cipher", openssl.cipher_name(cipher));
  openssl.protocol(ssl, &protocol, &length);
  if (protocol && length > 0)
    errand__lines_add(lines, "tls-protocol", protocol, length);
  if (openssl.resumed(ssl))
    errand__lines_add_text(lines, "tls-resumed", "1");
  if (result != 0) /* X509_V_OK */
    errand__lines_add_text(lines, "tls-error", openssl.verify_text(result));
}

void errand__tls_facts(CURL *easy, errand__lines *lines) {
  const struct curl_tlssessioninfo *session = NULL;
  pthread_once(&once, look_up);
  if (!usable ||
      curl_easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, &session) != CURLE_OK ||
      !session || session->backend != CURLSSLBACKEND_OPENSSL ||
      !session->internals)
    return;
  add_session(lines, session->internals);
  add_certificates(lines, session->internals);
  /* libcurl takes errors that are left here for the error of its next call. */
  openssl.clear_errors();
}
