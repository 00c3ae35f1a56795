/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The scripts that children have taught, in memory that a process shares with its children. A child
 * publishes scripts and reports whether they fit; the parent makes sets of them.
 */
#pragma once

#include "preload/core/script.h"

#define WV_PUBLISHED_SCRIPTS 8
#define WV_SCRIPT_MISSES     3 /* children in a row that a script did not fit */

enum wv_publishing { WV_SCRIPT_EMPTY, WV_SCRIPT_WRITING, WV_SCRIPT_THERE };

struct wv_published_script {
	uint32_t phase;	 /* enum wv_publishing */
	uint32_t misses; /* children in a row that it did not fit */
	struct wv_script script;
};

struct wv_published_scripts {
	struct wv_published_script all[WV_PUBLISHED_SCRIPTS];
};

/* Whether there is a script that begins with @open. */
bool wv_scripts_know(struct wv_published_scripts *scripts, const struct wv_verb *open);

/*
 * Publishes @script. If there is already another script that begins with the same open, @script
 * takes its place with @replace, and is ignored without. False: it was ignored, or there is no
 * room.
 */
bool wv_scripts_publish(struct wv_published_scripts *scripts, const struct wv_script *script,
			bool replace);

/* Whether there is any script. */
bool wv_scripts_are_there(const struct wv_published_scripts *scripts);

/* A child reports whether the script that begins with @open fits it. */
void wv_scripts_judge(struct wv_published_scripts *scripts, const struct wv_verb *open, bool fits);
