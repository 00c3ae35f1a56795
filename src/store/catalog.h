/*
 * All recipes in memory, by user, and which of them a program gets. Pure: files and leases are the
 * business of the owner, who is told when a recipe is dropped.
 *
 * A program that starts with an argument vector seen before gets the variant that served it; with
 * another one, the variant that last served any run well. One that diverged is asked to record
 * again, once; if that does not help, it is asked again only after ever more divergent runs.
 */
#pragma once

#include "store/recipe.h"

#define WV_MAX_VARIANTS 8

TAILQ_HEAD(wv_recipes, wv_recipe);

struct wv_user {
	LIST_ENTRY(wv_user) link; /* of the catalog's users */
	uid_t uid;
	struct wv_recipes recipes; /* most recently used first */
	unsigned int n_recipes;
	unsigned int n_clients; /* the server's: open connections */
};

LIST_HEAD(wv_users, wv_user);

/* Told before @recipe is dropped for good: its file and leases are to go too. */
typedef void (*wv_catalog_drop_fn)(void *arg, struct wv_recipe *recipe);

struct wv_catalog {
	struct wv_users users;
	unsigned int max_recipes; /* of one user */
	uint64_t successes;
	wv_catalog_drop_fn drop;
	void *arg;
};

enum wv_choice {
	WV_CHOICE_SERVE,
	WV_CHOICE_RECORD, /* none fits, or the one that does is to be recorded again */
	WV_CHOICE_UNFIT,  /* what this program does cannot be prepared */
};

void wv_catalog_init(struct wv_catalog *c, unsigned int max_recipes, wv_catalog_drop_fn drop,
		     void *arg);
/* Frees all, without telling anybody. */
void wv_catalog_finish(struct wv_catalog *c);

/* The user's entry, made if @make; NULL if there is none, or memory is short. */
struct wv_user *wv_catalog_user(struct wv_catalog *c, uid_t uid, bool make);
/* Frees the entry if it has neither recipes nor clients. */
void wv_catalog_tidy_user(struct wv_user *user);

struct wv_recipe *wv_catalog_find(struct wv_catalog *c, uid_t uid, uint64_t id);

/*
 * Adds @recipe, which is taken over: if an equal one is there already, @recipe is freed. What
 * exceeds the limits is dropped, least used variants and least recently used recipes first.
 * Returns the one that is kept, or NULL (and @recipe freed) if memory is short.
 */
struct wv_recipe *wv_catalog_add(struct wv_catalog *c, struct wv_recipe *recipe);

/* Tells the owner, takes @recipe out and frees it. */
void wv_catalog_remove(struct wv_catalog *c, struct wv_recipe *recipe);

/* What to do for a program. *@recipe is set for WV_CHOICE_SERVE and WV_CHOICE_UNFIT. */
enum wv_choice wv_catalog_choose(struct wv_catalog *c, uid_t uid, const struct wv_key *key,
				 uint64_t argv, struct wv_recipe **recipe);

/* The recipe of @key that fits programs started with @argv best, or NULL. Changes nothing. */
struct wv_recipe *wv_catalog_variant(struct wv_catalog *c, uid_t uid, const struct wv_key *key,
				     uint64_t argv);

/* @recipe was used at @now, in seconds since the epoch. */
void wv_catalog_touch(struct wv_catalog *c, struct wv_recipe *recipe, uint64_t now);

/* A recording of @argv turned out as @recipe. */
void wv_catalog_recorded(struct wv_catalog *c, struct wv_recipe *recipe, uint64_t argv);

/* A program with @argv used a lease of @recipe: all as prepared, or not. */
void wv_catalog_served(struct wv_catalog *c, struct wv_recipe *recipe, uint64_t argv,
		       bool diverged);

/* No variant of @key is to be carried out from now on; @why stays the caller's. */
void wv_catalog_refuse(struct wv_catalog *c, uid_t uid, const struct wv_key *key, const char *why);

/* The kernel refuses @recipe: its programs are asked to record again, once. */
void wv_catalog_unfit(struct wv_recipe *recipe);

/* Loops over all users, and over the recipes of one. */
#define wv_each_user(catalog, user) LIST_FOREACH (user, &(catalog)->users, link)
#define wv_each_recipe(user, r)	    TAILQ_FOREACH (r, &(user)->recipes, link)
