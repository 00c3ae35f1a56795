#include "shim/files.h"

#include "base/base.h"

#include <unistd.h>

uint32_t wv_files[WV_MAX_FD];
uint32_t wv_n_files WV_HOT;

static pid_t owner WV_HOT;

union word {
	uint32_t word;
	struct wv_file file;
};

bool wv_file_track(int fd, struct wv_file file)
{
	union word u = {.file = file};

	if (fd < 0 || fd >= WV_MAX_FD)
		return false;
	if (!owner)
		owner = getpid();
	if (!__atomic_exchange_n(&wv_files[fd], u.word, __ATOMIC_ACQ_REL))
		__atomic_fetch_add(&wv_n_files, 1, __ATOMIC_RELAXED);
	return true;
}

struct wv_file wv_file_untrack(int fd)
{
	union word u = {.word = 0};

	if (fd < 0 || fd >= WV_MAX_FD)
		return u.file;
	u.word = __atomic_exchange_n(&wv_files[fd], 0, __ATOMIC_ACQ_REL);
	if (u.word)
		__atomic_fetch_sub(&wv_n_files, 1, __ATOMIC_RELAXED);
	return u.file;
}

void wv_file_close_private(int *fd)
{
	if (*fd < 0)
		return;
	wv_file_untrack(*fd);
	close(*fd);
	*fd = -1;
}

bool wv_files_are_mine(void)
{
	return owner == getpid();
}

void wv_files_adopt_process(void)
{
	owner = getpid();
}
