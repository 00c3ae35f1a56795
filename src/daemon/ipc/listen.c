/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/ipc/listen.h"

#include "base/base.h"
#include "base/log.h"
#include "base/stale_socket.h"
#include "daemon/ipc/user_socket.h"
#include "wire/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <libgen.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <systemd/sd-daemon.h>

#define BACKLOG 4096 /* programs that start together, beside those that only connect */

static void set_run_dir(struct wv_listener *l)
{
	char copy[sizeof(l->socket)];

	strcpy(copy, l->socket);
	strcpy(l->run_dir, dirname(copy));
}

/* Checks the socket that systemd passes, and notes its path. 0 or -errno. */
static int check_activated(struct wv_listener *l)
{
	struct sockaddr_un name = {0};
	socklen_t bytes = sizeof(name);
	int fd = SD_LISTEN_FDS_START;

	if (sd_is_socket(fd, AF_UNIX, SOCK_SEQPACKET, 1) <= 0) {
		wv_log(WV_ERROR, "the socket from systemd is not a listening SOCK_SEQPACKET: "
				 "write ListenSequentialPacket= in the socket unit");
		return -EINVAL;
	}
	if (getsockname(fd, (struct sockaddr *)&name, &bytes))
		return -errno;
	if (*name.sun_path != '/') {
		wv_log(WV_ERROR, "the socket from systemd has no path: programs look for the list "
				 "of providers beside it");
		return -EINVAL;
	}
	memcpy(l->socket, name.sun_path, sizeof(l->socket) - 1);
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	l->activated = true;
	return 0;
}

static int set_group(const char *path, const char *name)
{
	struct group *group = getgrnam(name);

	if (!group)
		return -ENOENT;
	if (chown(path, (uid_t)-1, group->gr_gid))
		return -errno;
	return chmod(path, 0660) ? -errno : 0;
}

/*
 * The group may connect. If the group cannot be set, a daemon of root's lets everybody connect: the
 * permissions of the device nodes decide in any case who gets a lease.
 */
static int open_to_clients(const char *socket, const char *group)
{
	int err = set_group(socket, group);

	if (!err)
		return 0;
	if (geteuid()) {
		wv_log(WV_NOTICE, "%s: group %s cannot be set (%s), so only user %u can connect",
		       socket, group, strerror(-err), geteuid());
		return 0;
	}
	wv_log(WV_WARNING,
	       "%s: group %s cannot be set (%s), so every user can connect: create the group, or "
	       "name another by --group",
	       socket, group, strerror(-err));
	return chmod(socket, 0666) ? -errno : 0;
}

/* Makes sure that the socket can be made. 0 or -errno. */
static int clear_place(struct wv_listener *l, const struct wv_config *config)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};

	if (strlen(config->socket) >= sizeof(at.sun_path))
		return -ENAMETOOLONG;
	strcpy(at.sun_path, config->socket);
	strcpy(l->socket, config->socket);
	set_run_dir(l);
	if (mkdir(l->run_dir, 0755) && errno != EEXIST)
		return -errno;
	return wv_stale_socket_clear(&at);
}

static int make_own(const struct wv_listener *l, const struct wv_config *config)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	wv_auto_fd sock = -1;
	int err;

	strcpy(at.sun_path, l->socket);
	sock = wv_bind_closed(&at);
	if (sock < 0)
		return sock;
	err = open_to_clients(l->socket, config->group);
	if (!err && listen(sock, BACKLOG))
		err = -errno;
	return err ? err : wv_steal_fd(&sock);
}

static int logged(int err, const struct wv_config *config)
{
	if (err == -EADDRINUSE)
		wv_log(WV_ERROR,
		       "%s: another daemon answers there: stop that daemon, or choose "
		       "another --socket",
		       config->socket);
	else if (err < 0)
		wv_log(WV_ERROR,
		       "%s: the socket cannot be made: %s: correct --socket or the directory",
		       config->socket, strerror(-err));
	return err;
}

int wv_listener_init(struct wv_listener *l, const struct wv_config *config)
{
	int n = sd_listen_fds(1);
	int err;

	if (n > 1)
		wv_log(WV_WARNING, "systemd passes %d sockets, of which the first is used", n);
	err = n > 0 ? check_activated(l) : clear_place(l, config);
	set_run_dir(l);
	return logged(err, config);
}

static void make_folder(struct wv_listener *l)
{
	int err = wv_user_sockets_prepare(l->socket);

	l->for_users = !err;
	if (err)
		wv_log(WV_NOTICE, "%s" WV_USER_SOCKETS ": users get no sockets of their own: %s",
		       l->socket, strerror(-err));
}

static void make_admin(struct wv_listener *l)
{
	l->admin_fd = wv_admin_socket_listen(l->socket);
	if (l->admin_fd >= 0)
		return;
	wv_log(WV_NOTICE, "the administrator has no socket, so nobody sees what all users do: %s",
	       strerror(-l->admin_fd));
	l->admin_fd = -1;
}

int wv_listen(struct wv_listener *l, const struct wv_config *config)
{
	int fd = l->activated ? SD_LISTEN_FDS_START : logged(make_own(l, config), config);

	l->admin_fd = -1;
	if (fd < 0)
		return fd;
	make_folder(l);
	make_admin(l);
	return fd;
}

void wv_unlisten(const struct wv_listener *l)
{
	wv_user_sockets_remove(l->socket);
	wv_admin_socket_remove(l->socket);
	if (!l->activated)
		unlink(l->socket);
}
