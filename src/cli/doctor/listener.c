/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/doctor/listener.h"

#include "base/base.h"
#include "cli/doctor/small_file.h"

#include <sys/socket.h>
#include <sys/un.h>

/* The process that listens: the daemon, or systemd on its behalf. 0: not known. */
static pid_t find_listener(const char *path)
{
	wv_auto_fd sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	struct ucred peer = {0};
	socklen_t bytes = sizeof(peer);

	if (sock < 0 || !wv_copy_string(to.sun_path, sizeof(to.sun_path), path) ||
	    connect(sock, (struct sockaddr *)&to, sizeof(to)) ||
	    getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &peer, &bytes))
		return 0;
	return peer.pid;
}

/* Whether the process was stopped, by a signal or a debugger. */
static bool is_stopped(const struct wv_doctor *d, pid_t pid)
{
	char text[256];
	const char *end;

	if (pid <= 0 || !wv_read_start(text, sizeof(text), "%s/proc/%d/stat", d->root, (int)pid))
		return false;
	end = strrchr(text, ')'); /* of the name, which may hold anything */
	return end && (end[2] == 'T' || end[2] == 't');
}

pid_t wv_stopped_listener(const struct wv_doctor *d)
{
	pid_t pid = find_listener(d->socket);

	return is_stopped(d, pid) ? pid : 0;
}
