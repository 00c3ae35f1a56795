/*
 * A recipe as the daemon keeps it: for which program it is, what was seen of it, and the command
 * log.
 */
#pragma once

#include "cmdlog/adopt.h"
#include "cmdlog/validate.h"
#include "wire/wire.h"

#include <jansson.h>
#include <stdbool.h>
#include <sys/queue.h>
#include <sys/types.h>

#define WV_RECIPE_FORMAT    1
#define WV_RECIPE_MAX_ARGV  32
#define WV_RECIPE_MAX_BYTES (1u << 20) /* as JSON; the largest command log stays well below */

/* Which program, started where, a recipe is for. Several recipes of one key are its variants. */
struct wv_key {
	struct wv_build_id program, verbs;
	uint32_t open_number;
	uint32_t driver_id;
	char ibdev[64];
	char kernel[65];
	char name[33];
};

/* An argument vector that the recipe is known to serve. */
struct wv_argv {
	uint64_t hash;
	uint32_t divergent; /* runs that diverged since the program was last asked to record */
	uint32_t patience;  /* how many such runs until it is asked again; grows each time */
};

struct wv_counters {
	uint64_t hits;	  /* leases handed out */
	uint64_t misses;  /* none was ready */
	uint64_t records; /* recordings that came to this recipe */
	uint64_t reports;
	uint64_t adopted, kernel, diverged, unused; /* sums of wv_msg_report */
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
	TAILQ_ENTRY(wv_recipe) link; /* of its user's recipes */
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
	struct wv_cmdlog *cmdlog; /* WV_RECIPE, owned */
	unsigned int n_steps;
	struct wv_cost cost;
	const char
	    *refused; /* why the command log may not be carried out, or NULL; such are not stored */
	bool unfit;   /* the kernel does not carry it out as recorded */
	uint64_t success;     /* order of the last success among all recipes; not stored */
	bool dirty;	      /* is not in its file: save it soon */
	bool stale;	      /* the file's counters and times are old: save it some time */
	struct wv_pool *pool; /* the daemon's */
};

/*
 * A recipe for @uid from a command log that wv_normalise() wrote and wv_cmdlog_check() passed; it
 * is copied. If the command log may not be carried out, `refused` says why. 0 and *@recipe, the
 * caller's; -ENOMEM.
 */
int wv_recipe_new(uid_t uid, const struct wv_key *key, const struct wv_build_id *provider,
		  const struct wv_cmdlog *cmdlog, struct wv_recipe **recipe);
/* The same from a command log that is taken over, on failure too. */
int wv_recipe_assemble(uid_t uid, const struct wv_key *key, const struct wv_build_id *provider,
		       struct wv_cmdlog *cmdlog, struct wv_recipe **recipe);
void wv_recipe_free(struct wv_recipe *recipe);

/* Both are for the same program on the same device. */
bool wv_key_equal(const struct wv_key *a, const struct wv_key *b);
/* @b does the same as @a. */
bool wv_recipe_equal(const struct wv_recipe *a, const struct wv_recipe *b);

/* The entry of @hash, or NULL. */
struct wv_argv *wv_recipe_argv(struct wv_recipe *recipe, uint64_t hash);
/* The entry of @hash, made if need be at the price of the oldest. */
struct wv_argv *wv_recipe_add_argv(struct wv_recipe *recipe, uint64_t hash);
void wv_recipe_remove_argv(struct wv_recipe *recipe, uint64_t hash);

/* A new JSON document of all of the recipe, as in its file; NULL if memory is short. */
json_t *wv_recipe_to_json(const struct wv_recipe *recipe);

enum wv_recipe_outcome {
	WV_RECIPE_BAD = 1, /* not a recipe, or not one that may be carried out */
	WV_RECIPE_NEWER,   /* of a format that this version does not know */
};

/*
 * Reads what wv_recipe_to_json() made, trusting nothing in it. 0 and *@recipe, the caller's;
 * -ENOMEM; or an outcome, with the reason written to @why.
 */
int wv_recipe_from_json(json_t *json, uid_t uid, struct wv_recipe **recipe, char *why,
			size_t capacity);

/* The command log alone: an array of steps. wv_steps_from_json() returns as wv_recipe_from_json().
 */
json_t *wv_steps_to_json(struct wv_cmdlog *cmdlog);
int wv_steps_from_json(json_t *steps, uint32_t driver_id, struct wv_cmdlog **cmdlog, char *why,
		       size_t capacity);

#define WV_HEX_BUILD_ID (2 * sizeof(struct wv_build_id) + 1)

/* Lower-case hexadecimal, 0-terminated; @text has room for 2 * @bytes + 1. */
void wv_hex(const void *data, size_t bytes, char *text);
/* Exactly @bytes bytes and nothing else; 0 or -EINVAL. */
int wv_unhex(const char *text, void *data, size_t bytes);
/* A 64-bit name, 16 digits. */
void wv_hex_u64(uint64_t value, char text[static 17]);
int wv_unhex_u64(const char *text, uint64_t *value);
