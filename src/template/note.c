/* SPDX-License-Identifier: BSD-2-Clause */
#include "template/note.h"

#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

#define OLD_S 60 /* what hindered a template may be gone by then */

/* Absolute: the supervisor leaves its working directory. */
static int find(char path[static PATH_MAX], const char *socket)
{
	char folder[PATH_MAX] = "";
	int n;

	if (*socket != '/' && !getcwd(folder, sizeof(folder)))
		return -errno;
	n = snprintf(path, PATH_MAX, "%s%s%s" WV_NOTE_SUFFIX, folder, *folder ? "/" : "", socket);
	return n < PATH_MAX ? 0 : -ENAMETOOLONG;
}

int wv_note_take(struct wv_note *note, const char *socket)
{
	int err = find(note->path, socket);

	note->fd = -1;
	while (!err && note->fd < 0) {
		wv_auto_fd fd = open(note->path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
		struct stat st;

		if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) || fstat(fd, &st))
			err = errno == EWOULDBLOCK ? -EADDRINUSE : -errno;
		else if (st.st_nlink) /* else another supervisor has just removed it */
			note->fd = wv_steal_fd(&fd);
	}
	return err;
}

void wv_note_give(struct wv_note *note, const char *reason)
{
	if (note->fd < 0)
		return;
	/* One that cannot be written is removed: others find out by themselves. */
	if (!reason || ftruncate(note->fd, 0) ||
	    pwrite(note->fd, reason, strlen(reason), 0) != (ssize_t)strlen(reason))
		unlink(note->path);
	wv_close_fd(&note->fd);
}

bool wv_note_forbids(const char *socket, struct wv_reason_text *why)
{
	char path[PATH_MAX];
	wv_auto_fd fd = find(path, socket) ? -1 : open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st))
		return false;
	if (flock(fd, LOCK_SH | LOCK_NB)) {
		wv_because(why, "its template is being made, or has just ended");
		return true;
	}
	if (!st.st_size || time(NULL) - st.st_mtime > OLD_S)
		return false;
	n = pread(fd, why->text, sizeof(why->text) - 1, 0);
	why->text[n > 0 ? n : 0] = '\0';
	return true;
}
