/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/wire.h"

#include "base/base.h"
#include "wire/service_note.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

/* Whether the path of @bytes ends in a name, so that more letters make it one beside it. */
static bool ends_in_name(const char *path, size_t bytes)
{
	const char *slash = memrchr(path, '/', bytes);
	const char *last = slash ? slash + 1 : path;

	return strspn(last, ".") < bytes - (size_t)(last - path);
}

int wv_admin_socket(struct sockaddr_un *at, const char *socket)
{
	const char *name = strrchr(socket, '/');
	size_t folder = name ? (size_t)(name - socket) : 0;
	int bytes;

	if (!ends_in_name(socket, folder))
		return -EINVAL;
	bytes = snprintf(at->sun_path, sizeof(at->sun_path), "%.*s" WV_ADMIN_FOLDER "%s",
			 (int)folder, socket, name);
	at->sun_family = AF_UNIX;
	return bytes < (int)sizeof(at->sun_path) ? 0 : -ENAMETOOLONG;
}

int wv_user_socket(struct sockaddr_un *at, const char *socket, uid_t uid)
{
	int bytes =
	    snprintf(at->sun_path, sizeof(at->sun_path), "%s" WV_USER_SOCKETS "/%u", socket, uid);

	at->sun_family = AF_UNIX;
	return bytes < (int)sizeof(at->sun_path) ? 0 : -ENAMETOOLONG;
}

void wv_msg_init(struct wv_msg *msg, enum wv_msg_type type, size_t bytes)
{
	*msg = (struct wv_msg){
	    .magic = WV_WIRE_MAGIC,
	    .version = WV_WIRE_VERSION,
	    .type = (uint16_t)type,
	    .bytes = (uint32_t)bytes,
	};
}

/* Smallest size of each type, and whether anything may follow. */
static const struct {
	uint16_t bytes;
	uint8_t open_ended;
} sizes[] = {
    [WV_MSG_REQUEST] = {sizeof(struct wv_msg_request), 0},
    [WV_MSG_LEASE] = {sizeof(struct wv_msg_lease), 1},
    [WV_MSG_NO_LEASE] = {sizeof(struct wv_msg_no_lease), 1},
    [WV_MSG_RECORD] = {sizeof(struct wv_msg_record), 1},
    [WV_MSG_REPORT] = {sizeof(struct wv_msg_report), 0},
    [WV_MSG_CONTROL] = {sizeof(struct wv_msg), 1},
    [WV_MSG_POOL] = {sizeof(struct wv_msg_pool), 0},
    [WV_MSG_POOL_STATE] = {sizeof(struct wv_msg_pool_state), 0},
    [WV_MSG_PAIR] = {sizeof(struct wv_msg_pair), 0},
    [WV_MSG_CONNECTED] = {sizeof(struct wv_msg_connected), 1},
    [WV_MSG_PAIR_GONE] = {sizeof(struct wv_msg_pair_gone), 0},
    [WV_MSG_SERVICE] = {sizeof(struct wv_msg_service), 0},
};

int wv_msg_check(const void *data, size_t bytes)
{
	const struct wv_msg *msg = data;

	if (bytes < sizeof(*msg) || msg->magic != WV_WIRE_MAGIC ||
	    msg->version != WV_WIRE_VERSION || msg->bytes != bytes)
		return -EPROTO;
	if (msg->type < WV_MSG_REQUEST || msg->type >= WV_ARRAY_SIZE(sizes))
		return -EPROTO;
	if (bytes < sizes[msg->type].bytes ||
	    (!sizes[msg->type].open_ended && bytes != sizes[msg->type].bytes))
		return -EPROTO;
	return msg->type;
}

ssize_t wv_recv(int sock, void *data, size_t capacity, int *fds, unsigned int max_fds,
		unsigned int *n_fds)
{
	int all[WV_MESSAGE_FDS];
	unsigned int n;
	ssize_t got = wv_recv_any(sock, data, capacity, all, &n, NULL);

	*n_fds = 0;
	if (n > max_fds)
		got = -EPROTO;
	if (got <= 0) {
		for (unsigned int i = 0; i < n; i++)
			close(all[i]);
		return got;
	}
	for (; *n_fds < n; ++*n_fds)
		fds[*n_fds] = all[*n_fds];
	return got;
}

bool wv_provider_list_is_trusted(int fd, const char *folder)
{
	struct stat file, owner;

	if (fstat(fd, &file) || !S_ISREG(file.st_mode) || file.st_mode & (S_IWGRP | S_IWOTH))
		return false;
	return file.st_uid == 0 || file.st_uid == geteuid() ||
	       (!stat(folder, &owner) && file.st_uid == owner.st_uid);
}
