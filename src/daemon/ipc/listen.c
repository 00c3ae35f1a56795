/*
 * The listening socket: systemd's, or our own.
 */
#include "base/base.h"
#include "daemon/server.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <systemd/sd-daemon.h>

#define BACKLOG 512 /* programs that start together */

static void set_run_dir(struct wv_server *s)
{
	char *slash;

	strcpy(s->run_dir, s->socket);
	slash = strrchr(s->run_dir, '/');
	if (slash)
		slash[slash == s->run_dir] = '\0';
	else
		strcpy(s->run_dir, ".");
}

/* The socket that systemd passes. */
static int take_activated(struct wv_server *s)
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
	memcpy(s->socket, name.sun_path, sizeof(s->socket) - 1);
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	s->activated = true;
	return fd;
}

/* Whether somebody answers at @to: 0 if not, -EADDRINUSE if so, or why it cannot be told. */
static int probe(const struct sockaddr_un *to)
{
	wv_auto_fd sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (sock < 0)
		return -errno;
	if (!connect(sock, (const struct sockaddr *)to, sizeof(*to)) || errno == EAGAIN ||
	    errno == EPROTOTYPE)
		return -EADDRINUSE;
	return errno == ECONNREFUSED || errno == ENOENT ? 0 : -errno;
}

/* Removes what a daemon that was killed left behind, and nothing else. */
static int clear_stale(const struct sockaddr_un *at)
{
	struct stat st;
	int err = probe(at);

	if (err)
		return err;
	if (lstat(at->sun_path, &st))
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(st.st_mode))
		return -EEXIST;
	return unlink(at->sun_path) ? -errno : 0;
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

/* Who may connect: the group; without it everybody, if root asks, since the nodes decide anyway. */
static int open_to_clients(const struct wv_server *s)
{
	const char *group = s->config.group;
	int err = set_group(s->socket, group);

	if (!err)
		return 0;
	if (geteuid()) {
		wv_log(WV_NOTICE, "%s: group %s cannot be set (%s), so only user %u can connect",
		       s->socket, group, strerror(-err), geteuid());
		return 0;
	}
	wv_log(WV_WARNING,
	       "%s: group %s cannot be set (%s), so every user can connect: create the group, or "
	       "name another by --group",
	       s->socket, group, strerror(-err));
	return chmod(s->socket, 0666) ? -errno : 0;
}

static int bind_privately(int sock, const struct sockaddr_un *at)
{
	mode_t mask = umask(0177);
	int err = bind(sock, (const struct sockaddr *)at, sizeof(*at)) ? -errno : 0;

	umask(mask);
	return err;
}

static int make_own(struct wv_server *s)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	wv_auto_fd sock = -1;
	int err;

	if (strlen(s->config.socket) >= sizeof(at.sun_path))
		return -ENAMETOOLONG;
	strcpy(at.sun_path, s->config.socket);
	strcpy(s->socket, s->config.socket);
	set_run_dir(s);
	if (mkdir(s->run_dir, 0755) && errno != EEXIST)
		return -errno;
	err = clear_stale(&at);
	if (err)
		return err;
	sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (sock < 0)
		return -errno;
	err = bind_privately(sock, &at);
	if (!err)
		err = open_to_clients(s);
	if (!err && listen(sock, BACKLOG))
		err = -errno;
	return err ? err : wv_steal_fd(&sock);
}

int wv_listen(struct wv_server *s)
{
	int n = sd_listen_fds(1);
	int fd;

	if (n > 1)
		wv_log(WV_WARNING, "systemd passes %d sockets, of which the first is used", n);
	fd = n > 0 ? take_activated(s) : make_own(s);
	set_run_dir(s);
	if (fd == -EADDRINUSE)
		wv_log(WV_ERROR,
		       "%s: somebody answers there already: stop the other daemon, or choose "
		       "another --socket",
		       s->config.socket);
	else if (fd < 0)
		wv_log(WV_ERROR, "%s: no socket can be made: %s: correct --socket or the directory",
		       s->config.socket, strerror(-fd));
	return fd;
}

void wv_unlisten(struct wv_server *s)
{
	if (s->activated)
		return;
	unlink(s->socket);
	wv_providers_remove(s->run_dir);
}
