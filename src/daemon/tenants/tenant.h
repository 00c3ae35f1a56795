/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tenants: who is charged for what the daemon spends. A tenant is a user of the kernel, together
 * with the subordinate users that are lent to that user; or, where the administrator says so, such
 * a user in one container.
 *
 * Recipes belong to users (store/catalog.h), and only what they cost belongs to tenants.
 */
#pragma once

#include "daemon/tenants/share.h"
#include "daemon/tenants/subordinate.h"
#include "daemon/tenants/use.h"

#include "store/catalog.h"

#include <stdint.h>
#include <sys/queue.h>

struct wv_tenants;

struct wv_tenant {
	LIST_ENTRY(wv_tenant) link;
	struct wv_tenants *all;
	uid_t uid;	    /* not a subordinate one */
	uint64_t container; /* number of its cgroup; 0: containers are not told apart */
	unsigned int n_refs;
	/*
	 * The accounts. Each is kept by the module that spends; what no other module reads is its
	 * own struct.
	 */
	struct wv_recipe_account recipes;
	struct wv_tenant_clients *clients; /* daemon/ipc/client.h; NULL: it has never had one */
	struct wv_share turns;		   /* time of the loop */
	STAILQ_HEAD(, wv_turn) waiting;	   /* connections that the loop is to serve */
	LIST_ENTRY(wv_tenant) turns_link;
	struct wv_use held;	  /* by leases that are made, wait or are closed */
	struct wv_use out;	  /* by leases that its programs have */
	uint32_t n_watching;	  /* descriptors that watch these */
	struct wv_supply *supply; /* of leases: daemon/pool/pool.h; NULL: it has never had a pool */
};

struct wv_tenants {
	LIST_HEAD(, wv_tenant) all;
	struct wv_subordinates subordinates;
	struct wv_use held; /* by leases of all */
};

/* Reads who lends users to whom. @t must be zeroed. */
void wv_tenants_init(struct wv_tenants *t);

/* Frees all tenants. */
void wv_tenants_finish(struct wv_tenants *t);

/*
 * The tenant that is charged for @uid in @container, which is made if there is none. The caller
 * gives it back with wv_tenant_put(). NULL if memory is short.
 */
struct wv_tenant *wv_tenant_get(struct wv_tenants *t, uid_t uid, uint64_t container);

/* Takes another reference; @tenant. */
struct wv_tenant *wv_tenant_keep(struct wv_tenant *tenant);

/* @tenant may be NULL. */
void wv_tenant_put(struct wv_tenant *tenant);

/* A lease of @cost is made for @tenant, which exists at least until the lease is released. */
void wv_tenant_hold(struct wv_tenant *tenant, const struct wv_cost *cost);

/* The lease was handed out, or nothing of it is left. */
void wv_tenant_release(struct wv_tenant *tenant, const struct wv_cost *cost);
