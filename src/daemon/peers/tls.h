/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * TLS 1.3 with certificates on both sides, by OpenSSL: the credentials of this node, and what the
 * certificate of another node says.
 */
#pragma once

#include <netinet/in.h>
#include <openssl/ssl.h>
#include <stdbool.h>

#define WV_TLS_WHY 160 /* bytes of a text that says why something was refused */

/* Paths of PEM files; a name without a slash is looked for where systemd puts credentials. */
struct wv_tls_files {
	const char *ca, *certificate, *key;
};

/*
 * Reads the credentials; any thread may. The new context is the caller's. 0; or -errno, and then
 * @why says what to do about it.
 */
int wv_tls_load(const struct wv_tls_files *files, SSL_CTX **context, char why[static WV_TLS_WHY]);

/* A number that changes when one of the files is replaced, or others may read it. */
uint64_t wv_tls_stamp(const struct wv_tls_files *files);

/*
 * One end of a connection on @fd, which stays the caller's. An end that has @dialled accepts only a
 * certificate for @name, or, if that is NULL, for @ip. NULL: no memory.
 */
SSL *wv_tls_new(SSL_CTX *context, int fd, bool dialled, const char *name,
		const struct in6_addr *ip);

/* Whether the certificate of the other end is for @ip, or for the name @name. */
bool wv_tls_is_for_ip(const SSL *tls, const struct in6_addr *ip);
bool wv_tls_is_for_name(const SSL *tls, const char *name);

/* Whether the other end's certificate is still good; if not, @why says why. */
bool wv_tls_is_valid(const SSL *tls, SSL_CTX *context, char why[static WV_TLS_WHY]);

/* What became of a call of OpenSSL's that returned @result. */
enum wv_tls_outcome {
	WV_TLS_READ,	/* the call is to be repeated when there is something to read */
	WV_TLS_WRITE,	/* ... when there is room to write */
	WV_TLS_CLOSED,	/* the other end has closed the connection, or the network failed */
	WV_TLS_REFUSED, /* one end does not accept the other, or it speaks no TLS */
};

/* Tells it; of the last two, writes the reason to @why. ERR_clear_error() preceded the call. */
enum wv_tls_outcome wv_tls_outcome(const SSL *tls, int result, char why[static WV_TLS_WHY]);
