/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/peers/tls.h"

#include "base/base.h"

#include <errno.h>
#include <limits.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>

#define FOLDER "/etc/warmverbs"
#define ALERTS 1000 /* reasons from here on are alerts (SSL_AD_REASON_OFFSET of ssl.h) */
/* A wildcard would let one node answer for all. */
#define NAME_FLAGS (X509_CHECK_FLAG_NO_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT)

__attribute__((format(printf, 3, 4))) static int fail(int err, char why[static WV_TLS_WHY],
						      const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why, WV_TLS_WHY, format, args);
	va_end(args);
	return err;
}

/* The path of @file, and whether systemd has put it there, for this service alone. */
static bool resolve(const char *file, char path[static PATH_MAX])
{
	const char *credentials = getenv("CREDENTIALS_DIRECTORY");

	if (strchr(file, '/')) {
		snprintf(path, PATH_MAX, "%s", file);
		return false;
	}
	if (credentials) {
		snprintf(path, PATH_MAX, "%s/%s", credentials, file);
		if (!access(path, F_OK))
			return true;
	}
	snprintf(path, PATH_MAX, FOLDER "/%s", file);
	return false;
}

static const char *last_reason(void)
{
	return ERR_reason_error_string(ERR_peek_last_error()) ?: "not in PEM form";
}

static int load_ca(SSL_CTX *context, const char *file, char why[static WV_TLS_WHY])
{
	X509_STORE *store = SSL_CTX_get_cert_store(context);
	char path[PATH_MAX];
	STACK_OF(X509_OBJECT) * all;

	resolve(file, path);
	if (access(path, R_OK))
		return fail(-errno, why, "%s: %s: correct peer-ca", path, strerror(errno));
	if (SSL_CTX_load_verify_file(context, path) != 1)
		return fail(-EINVAL, why, "%s: %s: peer-ca is the certificate of the CA", path,
			    last_reason());
	/* The file may have lists of revoked certificates, too. */
	all = X509_STORE_get0_objects(store);
	for (int i = 0; i < sk_X509_OBJECT_num(all); i++)
		if (X509_OBJECT_get_type(sk_X509_OBJECT_value(all, i)) == X509_LU_CRL)
			X509_STORE_set_flags(store, X509_V_FLAG_CRL_CHECK);
	return 0;
}

static int load_certificate(SSL_CTX *context, const char *file, char why[static WV_TLS_WHY])
{
	char path[PATH_MAX];

	resolve(file, path);
	if (access(path, R_OK))
		return fail(-errno, why, "%s: %s: correct peer-certificate", path, strerror(errno));
	if (SSL_CTX_use_certificate_chain_file(context, path) != 1)
		return fail(-EINVAL, why, "%s: %s: peer-certificate is the node's certificate",
			    path, last_reason());
	if (X509_cmp_current_time(X509_get0_notAfter(SSL_CTX_get0_certificate(context))) < 0)
		return fail(-EKEYEXPIRED, why, "%s: the certificate has expired: renew it", path);
	return 0;
}

/* Nobody is there to type a passphrase. */
static int no_passphrase(char *to, int size, int writing, void *data)
{
	(void)to;
	(void)size;
	(void)writing;
	(void)data;
	return -1;
}

static int load_key(SSL_CTX *context, const char *file, char why[static WV_TLS_WHY])
{
	char path[PATH_MAX];
	bool from_systemd = resolve(file, path);
	struct stat st;

	if (stat(path, &st) || access(path, R_OK))
		return fail(-errno, why, "%s: %s: correct peer-key", path, strerror(errno));
	if (!from_systemd && st.st_mode & (S_IRWXG | S_IRWXO))
		return fail(-EPERM, why,
			    "%s: others may read the private key: chmod 600, owner: the daemon",
			    path);
	if (SSL_CTX_use_PrivateKey_file(context, path, SSL_FILETYPE_PEM) != 1)
		return fail(-EINVAL, why,
			    "%s: %s: peer-key is the key of peer-certificate, "
			    "without a passphrase",
			    path, last_reason());
	if (SSL_CTX_check_private_key(context) != 1)
		return fail(-EINVAL, why, "%s: not the key of peer-certificate", path);
	return 0;
}

static SSL_CTX *new_context(void)
{
	SSL_CTX *context = SSL_CTX_new(TLS_method());

	if (!context)
		return NULL;
	SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION);
	SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
	/* Each connection proves who is there: no sessions are resumed. */
	SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_num_tickets(context, 0);
	SSL_CTX_set_options(context, SSL_OP_IGNORE_UNEXPECTED_EOF);
	SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE |
				      SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
				      SSL_MODE_RELEASE_BUFFERS);
	/* One record for each call: the other end must not keep this one busy with key updates. */
	SSL_CTX_clear_mode(context, SSL_MODE_AUTO_RETRY);
	SSL_CTX_set_default_passwd_cb(context, no_passphrase);
	return context;
}

int wv_tls_load(const struct wv_tls_files *files, SSL_CTX **context, char why[static WV_TLS_WHY])
{
	SSL_CTX *made = new_context();
	int err;

	*why = '\0';
	if (!made)
		return fail(-ENOMEM, why, "no memory for TLS");
	ERR_clear_error();
	err = load_ca(made, files->ca, why);
	if (!err)
		err = load_certificate(made, files->certificate, why);
	if (!err)
		err = load_key(made, files->key, why);
	ERR_clear_error();
	if (err)
		SSL_CTX_free(made);
	else
		*context = made;
	return err;
}

uint64_t wv_tls_stamp(const struct wv_tls_files *files)
{
	const char *const names[] = {files->ca, files->certificate, files->key};
	uint64_t stamp = WV_HASH_START;
	char path[PATH_MAX];

	for (unsigned int i = 0; i < WV_ARRAY_SIZE(names); i++) {
		struct stat st = {0};

		resolve(names[i], path);
		stat(path, &st);
		stamp = wv_hash(stamp, &st.st_ino, sizeof(st.st_ino));
		stamp = wv_hash(stamp, &st.st_mode, sizeof(st.st_mode));
		stamp = wv_hash(stamp, &st.st_size, sizeof(st.st_size));
		stamp = wv_hash(stamp, &st.st_mtim, sizeof(st.st_mtim));
		/* Of what else decides whether it can be read: owner, access list. */
		stamp = wv_hash(stamp, &st.st_ctim, sizeof(st.st_ctim));
	}
	return stamp;
}

/* The bytes of @ip as in a certificate: 4 of an IPv4 address. */
static const uint8_t *ip_bytes(const struct in6_addr *ip, size_t *bytes)
{
	*bytes = IN6_IS_ADDR_V4MAPPED(ip) ? 4 : 16;
	return &ip->s6_addr[16 - *bytes];
}

/* Accepts only that certificate. False: no memory. */
static bool expect(SSL *tls, const char *name, const struct in6_addr *ip)
{
	size_t bytes;
	const uint8_t *at = ip_bytes(ip, &bytes);

	SSL_set_hostflags(tls, NAME_FLAGS);
	if (name)
		return SSL_set1_host(tls, name) == 1 && SSL_set_tlsext_host_name(tls, name) == 1;
	return X509_VERIFY_PARAM_set1_ip(SSL_get0_param(tls), at, bytes) == 1;
}

SSL *wv_tls_new(SSL_CTX *context, int fd, bool dialled, const char *name, const struct in6_addr *ip)
{
	SSL *tls = SSL_new(context);

	if (!tls)
		return NULL;
	if (dialled)
		SSL_set_connect_state(tls);
	else
		SSL_set_accept_state(tls);
	if (SSL_set_fd(tls, fd) == 1 && (!dialled || expect(tls, name, ip)))
		return tls;
	SSL_free(tls);
	return NULL;
}

bool wv_tls_is_for_ip(const SSL *tls, const struct in6_addr *ip)
{
	X509 *certificate = SSL_get0_peer_certificate(tls);
	size_t bytes;
	const uint8_t *at = ip_bytes(ip, &bytes);

	return certificate && X509_check_ip(certificate, at, bytes, NAME_FLAGS) == 1;
}

bool wv_tls_is_for_name(const SSL *tls, const char *name)
{
	X509 *certificate = SSL_get0_peer_certificate(tls);

	return certificate && X509_check_host(certificate, name, 0, NAME_FLAGS, NULL) == 1;
}

bool wv_tls_is_valid(const SSL *tls, SSL_CTX *context, char why[static WV_TLS_WHY])
{
	X509_STORE_CTX *check = X509_STORE_CTX_new();
	bool valid = false;

	if (check && X509_STORE_CTX_init(check, SSL_CTX_get_cert_store(context),
					 SSL_get0_peer_certificate(tls),
					 SSL_get_peer_cert_chain(tls)) == 1) {
		valid = X509_verify_cert(check) == 1;
		if (!valid)
			fail(0, why, "its certificate: %s",
			     X509_verify_cert_error_string(X509_STORE_CTX_get_error(check)));
	}
	X509_STORE_CTX_free(check);
	ERR_clear_error();
	return valid;
}

static void explain(const SSL *tls, char why[static WV_TLS_WHY])
{
	unsigned long error = ERR_peek_last_error();
	int reason = ERR_GET_REASON(error);
	long verdict = SSL_get_verify_result(tls);

	if (reason >= ALERTS)
		fail(0, why, "the other side refuses this node's certificate or TLS: %s",
		     SSL_alert_desc_string_long(reason - ALERTS));
	else if (reason == SSL_R_CERTIFICATE_VERIFY_FAILED)
		fail(0, why, "its certificate: %s", X509_verify_cert_error_string(verdict));
	else if (reason == SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE)
		fail(0, why, "it shows no certificate");
	else
		fail(0, why, "TLS: %s", ERR_reason_error_string(error) ?: "unknown error");
}

enum wv_tls_outcome wv_tls_outcome(const SSL *tls, int result, char why[static WV_TLS_WHY])
{
	int error = errno;

	switch (SSL_get_error(tls, result)) {
	case SSL_ERROR_WANT_READ:
		return WV_TLS_READ;
	case SSL_ERROR_WANT_WRITE:
		return WV_TLS_WRITE;
	case SSL_ERROR_ZERO_RETURN:
		fail(0, why, "the other side closed the connection");
		return WV_TLS_CLOSED;
	case SSL_ERROR_SYSCALL:
		fail(0, why, "%s", error ? strerror(error) : "the connection ended");
		return WV_TLS_CLOSED;
	default:
		explain(tls, why);
		return WV_TLS_REFUSED;
	}
}
