/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/peers/user_names.h"

#include "base/base.h"
#include "daemon/loop/loop.h"

#include <pwd.h>
#include <string.h>

#define FRESH_US   300000000 /* a user may be renamed */
#define ENTRY_SIZE 4096

struct question {
	struct wv_work work;
	struct wv_user_names *names;
	uid_t uid;
	char name[WV_PAIR_USER];
};

/* Runs in the thread. */
static void look_up(struct wv_work *work)
{
	struct question *q = (struct question *)work;
	char memory[ENTRY_SIZE];
	struct passwd entry, *found = NULL;

	if (!getpwuid_r(q->uid, &entry, memory, sizeof(memory), &found) && found &&
	    strlen(found->pw_name) < WV_PAIR_USER)
		strcpy(q->name, found->pw_name);
}

static struct wv_user_entry *find(struct wv_user_names *names, uid_t uid)
{
	for (unsigned int i = 0; i < WV_USER_NAMES; i++) {
		struct wv_user_entry *entry = &names->all[i];

		if (entry->uid == uid && (entry->asking || entry->known_us))
			return entry;
	}
	return NULL;
}

static void keep(struct wv_work *work)
{
	struct question *q = (struct question *)work;
	struct wv_user_entry *entry = find(q->names, q->uid);

	if (entry) {
		strcpy(entry->name, q->name);
		entry->known_us = wv_steady_clock();
		entry->asking = false;
	}
	free(q);
}

static void ask(struct wv_user_names *names, struct wv_user_entry *entry)
{
	struct question *q = calloc(1, sizeof(*q));

	if (!q)
		return;
	entry->asking = true;
	q->work = (struct wv_work){.run = look_up, .done = keep};
	q->names = names;
	q->uid = entry->uid;
	wv_line_give(names->line, &q->work);
}

const char *wv_user_name(struct wv_user_names *names, uid_t uid)
{
	struct wv_user_entry *entry = find(names, uid);

	if (!entry) {
		entry = &names->all[names->n++ % WV_USER_NAMES];
		if (entry->asking) /* so there are never more questions than entries */
			return NULL;
		*entry = (struct wv_user_entry){.uid = uid};
	}
	if (!entry->asking && (!entry->known_us || wv_steady_clock() - entry->known_us > FRESH_US))
		ask(names, entry);
	return entry->known_us ? entry->name : NULL;
}

int wv_user_names_start(struct wv_user_names *names, struct wv_workers *workers)
{
	static const struct wv_line_options one = {
	    .own = 1, .most = 1, .priority = WV_PRIORITY_PEERS};

	return wv_line_open(workers, &one, &names->line);
}

void wv_user_names_stop(struct wv_user_names *names)
{
	wv_line_close(&names->line, WV_LINE_PATIENCE_US);
}
