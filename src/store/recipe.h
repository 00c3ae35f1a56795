/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A recipe as the daemon keeps it: the program it is for, how it has served, and the command log.
 */
#pragma once

#include "cmdlog/adopt.h"
#include "cmdlog/validate.h"
#include "wire/wire.h"

#include <stdbool.h>
#include <sys/queue.h>
#include <sys/types.h>

#define WV_RECIPE_MAX_ARGV 32
#define WV_RECIPE_RUNS	   8
#define WV_KEY_OPENS	   16

/*
 * The program and the device that a recipe is for. Recipes with the same key are variants of each
 * other.
 */
struct wv_key {
	struct wv_build_id program, verbs;
	uint32_t open_number; /* below WV_KEY_OPENS: the last stands for all further opens */
	uint32_t driver_id;
	char ibdev[64];
	char kernel[65];
	char name[33];
};

/* An argument vector that the recipe is known to serve. */
struct wv_argv {
	uint64_t hash;
	uint32_t divergent; /* runs that diverged since the program was last asked to record */
	uint32_t late;	    /* such runs that had connected a queue pair before; not stored */
	uint32_t patience;  /* so many divergent runs until it is asked again; grows each time */
};

struct wv_counters {
	uint64_t hits;	  /* leases handed out */
	uint64_t misses;  /* requests for which no lease was ready */
	uint64_t records; /* recordings that resulted in this recipe */
	uint64_t reports;
	uint64_t warm;					    /* reports without a divergence */
	uint64_t adopted, kernel, diverged, unused, spares; /* sums of wv_msg_report */
};

/* The last divergence that a program reported. */
struct wv_divergence {
	uint32_t driver_id;
	uint16_t object, method;
	uint32_t write_cmd;
	uint16_t why; /* enum wv_why; WV_WHY_NONE: there was none */
	uint16_t attr;
	uint32_t offset;
};

struct wv_pool;

struct wv_recipe {
	TAILQ_ENTRY(wv_recipe) link;	/* of its user's recipes */
	LIST_ENTRY(wv_recipe) key_link; /* of those with this hash of the key */
	uint64_t id;
	uid_t uid;
	struct wv_key key;
	struct wv_build_id provider;
	char comm[17];
	struct wv_argv argv[WV_RECIPE_MAX_ARGV]; /* newest last */
	unsigned int n_argv;
	uint64_t created, used; /* seconds since the epoch */
	struct wv_counters counters;
	struct wv_divergence divergence;
	uint16_t reached[WV_RECIPE_RUNS]; /* steps that the last runs used (store/reached.h) */
	unsigned int n_reached;		  /* so many runs; not stored */
	struct wv_cmdlog *cmdlog;	  /* WV_RECIPE, owned; NULL if refused */
	unsigned int n_steps;
	struct wv_cost cost;
	const char *refused;  /* why it may not be carried out, or NULL; such are not stored */
	bool unfit;	      /* the kernel does not carry it out as recorded */
	uint64_t success;     /* order of the last success among all recipes; not stored */
	uint8_t put_off;      /* if not 0, no lease is handed out in advance; not stored */
	uint32_t asked;	      /* programs in a row that were asked how they connect; not stored */
	bool dirty;	      /* differs from its file: save it soon */
	bool stale;	      /* counters and times differ from its file: save it some time */
	bool stored;	      /* there may be a file of it */
	struct wv_pool *pool; /* the daemon's */
};

/*
 * Makes a recipe for @uid from a copy of @cmdlog, which wv_normalise() wrote and wv_cmdlog_check()
 * passed. If the command log may not be carried out, `refused` says why, and the command log is not
 * kept. 0 and *@recipe, which is the caller's; or -ENOMEM.
 */
int wv_recipe_new(uid_t uid, const struct wv_key *key, const struct wv_build_id *provider,
		  const struct wv_cmdlog *cmdlog, struct wv_recipe **recipe);

/* The same, but @cmdlog itself becomes the recipe's; on failure it is freed. */
int wv_recipe_assemble(uid_t uid, const struct wv_key *key, const struct wv_build_id *provider,
		       struct wv_cmdlog *cmdlog, struct wv_recipe **recipe);

/* A copy of @recipe, which is not refused, without its pool; the caller's. NULL: out of memory. */
struct wv_recipe *wv_recipe_copy(const struct wv_recipe *recipe);

/* Frees @recipe and its command log; the pool must be gone. */
void wv_recipe_free(struct wv_recipe *recipe);

/* @recipe may not be carried out, for the reason @why, which must stay valid. */
void wv_recipe_refuse(struct wv_recipe *recipe, const char *why);

/* The memory that @recipe takes. */
size_t wv_recipe_bytes(const struct wv_recipe *recipe);

/* The same for equal keys. */
uint64_t wv_key_hash(const struct wv_key *key);

/* Whether both keys name the same program on the same device. */
bool wv_key_equal(const struct wv_key *a, const struct wv_key *b);

/*
 * Whether both recipes have the same user, key, provider and command log. Of a refused one only the
 * id tells.
 */
bool wv_recipe_equal(const struct wv_recipe *a, const struct wv_recipe *b);

/* The entry of the argument vector @hash, or NULL. */
struct wv_argv *wv_recipe_argv(struct wv_recipe *recipe, uint64_t hash);

/* The same, but makes the entry if there is none; the oldest may have to give way. */
struct wv_argv *wv_recipe_add_argv(struct wv_recipe *recipe, uint64_t hash);

/* Removes the entry of @hash, if there is one. */
void wv_recipe_remove_argv(struct wv_recipe *recipe, uint64_t hash);
