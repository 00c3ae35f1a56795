/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All recipes in memory, by user, and the choice of the recipe that a program gets. The catalog
 * touches neither files nor leases: it tells its owner when a recipe is dropped.
 *
 * A program whose argument vector was seen before gets the variant that served it then; any other
 * program gets the variant that last served a run without divergence. A program that diverged is
 * asked to record again, once. If that does not help, it is asked again after more and more
 * divergent runs. What a program does after its first connection often differs from run to run, so
 * that it is asked later if it diverges only there.
 */
#pragma once

#include "store/recipe.h"

#define WV_MAX_VARIANTS 64
#define WV_KEY_BUCKETS	128

TAILQ_HEAD(wv_recipes, wv_recipe);
LIST_HEAD(wv_key_bucket, wv_recipe);

/* How many recipes there are, and the memory that they take. */
struct wv_recipe_account {
	unsigned int n;
	uint64_t bytes;
};

struct wv_user {
	LIST_ENTRY(wv_user) link; /* of the catalog's users */
	uid_t uid;
	struct wv_recipes recipes; /* most recently used first */
	/* The same by key. Users have buckets of their own, so that nobody can fill another's. */
	struct wv_key_bucket by_key[WV_KEY_BUCKETS];
	unsigned int n_recipes;
	unsigned int n_clients;	  /* the owner's: open connections */
	struct wv_tenant *tenant; /* the owner's: who is charged for this user */
	struct wv_door *door;	  /* the owner's: a socket of the user's own; or NULL */
	/* Of all users who are charged together. The owner provides it when the user joins. */
	struct wv_recipe_account *account;
};

LIST_HEAD(wv_users, wv_user);

/* What the catalog calls its owner for. */
struct wv_catalog_owner {
	void *arg;
	/* @recipe is about to be freed for good: its file and its leases must go too. */
	void (*drop)(void *arg, struct wv_recipe *recipe);
	/* @user is new, and gets its account. False: it cannot be kept, for memory is short. */
	bool (*join)(void *arg, struct wv_user *user);
	/* @user is about to be freed. */
	void (*leave)(void *arg, struct wv_user *user);
};

struct wv_catalog_limits {
	unsigned int recipes_of_one; /* account */
	unsigned int recipes;	     /* of all */
	uint64_t bytes;		     /* of all */
};

struct wv_catalog {
	struct wv_users users;
	struct wv_catalog_limits limits;
	struct wv_recipe_account all;
	uint64_t successes;
	struct wv_catalog_owner owner;
};

enum wv_choice {
	WV_CHOICE_SERVE,
	WV_CHOICE_RECORD, /* none fits, or the one that does is to be recorded again */
	WV_CHOICE_UNFIT,  /* what the program does cannot be prepared */
};

/* Initialises an empty catalog. */
void wv_catalog_init(struct wv_catalog *c, const struct wv_catalog_limits *limits,
		     const struct wv_catalog_owner *owner);

/* Frees everything; the owner is told of users, but not of recipes. */
void wv_catalog_finish(struct wv_catalog *c);

/*
 * The entry of user @uid, which the catalog keeps; made first if @make. NULL if there is none, or
 * if memory is short.
 */
struct wv_user *wv_catalog_user(struct wv_catalog *c, uid_t uid, bool make);

/* Frees the entry if it has neither recipes nor clients. */
void wv_catalog_tidy_user(struct wv_catalog *c, struct wv_user *user);

/* The recipe @id of user @uid, or NULL. */
struct wv_recipe *wv_catalog_find(struct wv_catalog *c, uid_t uid, uint64_t id);

/*
 * Adds @recipe, which becomes the catalog's. If there is an equal recipe already, @recipe is freed.
 * Recipes in excess of the limits are dropped: the least used variants and the least recently used
 * recipes first, and beyond the limits of all recipes, first those of the account that has most.
 * Returns the recipe that is kept, or NULL (and frees @recipe) if memory is short, or if another
 * recipe of the user has its id: a program can choose what it records so that this is so.
 */
struct wv_recipe *wv_catalog_add(struct wv_catalog *c, struct wv_recipe *recipe);

/* Tells the owner, removes @recipe and frees it. */
void wv_catalog_remove(struct wv_catalog *c, struct wv_recipe *recipe);

/*
 * What to do for a program of @key that was started with @argv. *@recipe, still the catalog's, is
 * set for WV_CHOICE_SERVE and WV_CHOICE_UNFIT.
 */
enum wv_choice wv_catalog_choose(struct wv_catalog *c, uid_t uid, const struct wv_key *key,
				 uint64_t argv, struct wv_recipe **recipe);

/* All recipes of a key, in no particular order. */
struct wv_variants {
	struct wv_recipe *all[WV_MAX_VARIANTS];
	unsigned int n;
};

/* The variants of @recipe, and itself; valid until the catalog changes. */
void wv_catalog_variants(struct wv_catalog *c, const struct wv_recipe *recipe,
			 struct wv_variants *variants);

/* The one that fits a program started with @argv best, or NULL. */
struct wv_recipe *wv_variant_for(const struct wv_variants *variants, uint64_t argv);

/* Notes that @recipe was used at @now, in seconds since the epoch. */
void wv_catalog_touch(struct wv_catalog *c, struct wv_recipe *recipe, uint64_t now);

/* Notes that a recording of a program started with @argv resulted in @recipe. */
void wv_catalog_recorded(struct wv_catalog *c, struct wv_recipe *recipe, uint64_t argv);

enum wv_outcome {
	WV_FIT,
	WV_DIVERGED,
	WV_DIVERGED_LATE, /* not before it had connected a queue pair */
};

/* Notes how a lease of @recipe served a program started with @argv. */
void wv_catalog_served(struct wv_catalog *c, struct wv_recipe *recipe, uint64_t argv,
		       enum wv_outcome outcome);

/*
 * Forbids to carry out any variant of @key from now on, and frees the command logs; @why must stay
 * valid.
 */
void wv_catalog_refuse(struct wv_catalog *c, uid_t uid, const struct wv_key *key, const char *why);

/* Notes that the kernel contradicts @recipe: its programs are asked to record again, once. */
void wv_catalog_unfit(struct wv_recipe *recipe);

/* Loops over all users, and over the recipes of one. */
#define wv_each_user(catalog, user) LIST_FOREACH (user, &(catalog)->users, link)
#define wv_each_recipe(user, r)	    TAILQ_FOREACH (r, &(user)->recipes, link)

/* Loops over the recipes of all users. These are two loops, so it is not to be left by "break". */
#define wv_each_recipe_of_all(catalog, r)                                                          \
	for (struct wv_user *user_ = LIST_FIRST(&(catalog)->users); user_;                         \
	     user_ = LIST_NEXT(user_, link))                                                       \
		for (struct wv_recipe *r = TAILQ_FIRST(&user_->recipes); r; r = TAILQ_NEXT(r, link))
