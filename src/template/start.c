/* SPDX-License-Identifier: BSD-2-Clause */
#include "template/start.h"

#include "base/base.h"

#include <errno.h>
#include <limits.h>
#include <sys/mman.h>

/* Each number once: one that came twice would close the other's file. */
static bool fds_are_sound(const struct wv_start *m)
{
	for (unsigned int i = 0; i < m->n_fds; i++)
		if (m->fds[i] <= (i ? m->fds[i - 1] : -1))
			return false;
	return true;
}

/* Whether @n strings are all that the @bytes at @strings have. */
static bool strings_are_sound(const char *strings, size_t bytes, size_t n)
{
	size_t found = 0;

	for (size_t i = 0; i < bytes; i++)
		found += !strings[i];
	return found == n && (!bytes || !strings[bytes - 1]);
}

/* Returns what follows. */
static char *list(char **to, size_t n, char *strings)
{
	for (size_t i = 0; i < n; i++) {
		to[i] = strings;
		strings += strlen(strings) + 1;
	}
	to[n] = NULL;
	return strings;
}

/* One that is cut to a pid_t may become another thread's. */
static bool thread_is_sound(const struct wv_start *m)
{
	return m->thread > 0 && m->thread <= INT_MAX;
}

static bool is_sound(const struct wv_start *m, size_t bytes, unsigned int n_fds)
{
	return bytes >= sizeof(*m) && m->magic == WV_START_MAGIC &&
	       m->version == WV_START_VERSION && m->n_fds <= WV_START_FDS &&
	       n_fds == m->n_fds + (unsigned int)WV_START_OWN && m->argc && m->argc < bytes &&
	       m->envc < bytes && thread_is_sound(m) && fds_are_sound(m) &&
	       strings_are_sound(m->strings, bytes - sizeof(*m), (size_t)1 + m->argc + m->envc);
}

/* Returns where the strings begin, or NULL. */
static char *make_room(struct wv_started *s, const struct wv_start *m, size_t strings)
{
	size_t words = (size_t)1 + m->argc + 1 + m->envc + 1, lists = words * sizeof(char *);

	s->bytes = lists + WV_START_AUXV * sizeof(*s->auxv) + strings;
	s->mapping =
	    mmap(NULL, s->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (s->mapping == MAP_FAILED)
		return NULL;
	s->argv = (char **)s->mapping + 1;
	s->argv[-1] = (char *)(uintptr_t)m->argc;
	s->environ = s->argv + m->argc + 1;
	s->auxv = (void *)(s->environ + m->envc + 1);
	return (char *)(s->auxv + WV_START_AUXV);
}

int wv_start_read(const struct wv_start *message, size_t bytes, const int *fds, unsigned int n,
		  struct wv_started *s)
{
	size_t strings = bytes - sizeof(*message);
	char *copy;

	if (!is_sound(message, bytes, n))
		return -EPROTO;
	copy = make_room(s, message, strings);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, message->strings, strings);
	s->path = copy;
	list(s->environ, message->envc, list(s->argv, message->argc, copy + strlen(copy) + 1));
	s->argc = (int)message->argc;
	s->thread = (pid_t)message->thread;
	s->cwd = fds[WV_START_CWD];
	s->program = fds[WV_START_PROGRAM];
	s->proof = fds[WV_START_PROOF];
	s->blocked = message->blocked;
	memcpy(s->unseen, message->unseen, sizeof(s->unseen));
	s->n_fds = message->n_fds;
	memcpy(s->from, fds + WV_START_OWN, s->n_fds * sizeof(*fds));
	memcpy(s->to, message->fds, s->n_fds * sizeof(*fds));
	return 0;
}

void wv_start_free(struct wv_started *s)
{
	munmap(s->mapping, s->bytes);
}
