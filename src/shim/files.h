/*
 * Which descriptor numbers of this process are ours to look at, and whose they are.
 *
 * Numbers are used again as soon as they are closed, by files of any kind; so every call that ends
 * or makes a descriptor is interposed (shim/libc_fd.c), and what is not tracked here is not
 * touched.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define WV_MAX_FD 32768 /* a descriptor beyond this is used plainly */

enum wv_file_kind {
	WV_FILE_NONE,
	WV_FILE_COMMAND, /* the ufile */
	WV_FILE_EVENTS,	 /* async or completion events of a lease; has a slot */
	WV_FILE_PRIVATE, /* the preload's own: the program does not know of it */
};

struct wv_file {
	uint8_t kind; /* enum wv_file_kind */
	uint8_t slot;
	uint16_t context; /* index for wv_context_at() */
};

extern uint32_t wv_files[WV_MAX_FD]; /* struct wv_file, read and written as one word */
extern uint32_t wv_n_files;	     /* how many are tracked */

static inline struct wv_file wv_file_get(int fd)
{
	union {
		uint32_t word;
		struct wv_file file;
	} u = {.word = 0};

	if (__atomic_load_n(&wv_n_files, __ATOMIC_RELAXED) && fd >= 0 && fd < WV_MAX_FD)
		u.word = __atomic_load_n(&wv_files[fd], __ATOMIC_ACQUIRE);
	return u.file;
}

/* Starts tracking @fd. False if the number is too large. */
bool wv_file_track(int fd, struct wv_file file);

/* Stops tracking @fd; what it was. */
struct wv_file wv_file_untrack(int fd);

/* Closes *@fd, which is the preload's own, and sets it to -1; nothing if it is that already. */
void wv_file_close_private(int *fd);

/*
 * Whether this process is the one that the table describes. False in a child of vfork(), which
 * shares the memory but has descriptors of its own.
 */
bool wv_files_are_mine(void);
void wv_files_adopt_process(void);
