/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/tenants/tenant.h"

#include "base/base.h"
#include "base/log.h"

#include <string.h>

void wv_tenants_init(struct wv_tenants *t)
{
	int err = wv_subordinates_read(&t->subordinates, WV_SUBUID_FILE);

	LIST_INIT(&t->all);
	if (err)
		wv_log(WV_WARNING,
		       "%s cannot be read: %s: subordinate users have shares of their own: correct "
		       "the file's permissions",
		       WV_SUBUID_FILE, strerror(-err));
}

static void free_tenant(struct wv_tenant *tenant)
{
	LIST_REMOVE(tenant, link);
	free(tenant->clients);
	free(tenant->supply);
	free(tenant);
}

void wv_tenants_finish(struct wv_tenants *t)
{
	while (!LIST_EMPTY(&t->all))
		free_tenant(LIST_FIRST(&t->all));
	wv_subordinates_free(&t->subordinates);
}

static struct wv_tenant *find(struct wv_tenants *t, uid_t uid, uint64_t container)
{
	struct wv_tenant *tenant;

	LIST_FOREACH (tenant, &t->all, link)
		if (tenant->uid == uid && tenant->container == container)
			return tenant;
	return NULL;
}

struct wv_tenant *wv_tenant_get(struct wv_tenants *t, uid_t uid, uint64_t container)
{
	uid_t owner = wv_subordinate_owner(&t->subordinates, uid);
	struct wv_tenant *tenant = find(t, owner, container);

	if (!tenant) {
		tenant = calloc(1, sizeof(*tenant));
		if (!tenant)
			return NULL;
		tenant->all = t;
		tenant->uid = owner;
		tenant->container = container;
		STAILQ_INIT(&tenant->waiting);
		LIST_INSERT_HEAD(&t->all, tenant, link);
	}
	tenant->n_refs++;
	return tenant;
}

struct wv_tenant *wv_tenant_keep(struct wv_tenant *tenant)
{
	tenant->n_refs++;
	return tenant;
}

void wv_tenant_put(struct wv_tenant *tenant)
{
	if (tenant && !--tenant->n_refs)
		free_tenant(tenant);
}

void wv_tenant_hold(struct wv_tenant *tenant, const struct wv_cost *cost)
{
	wv_use_add(&tenant->held, cost);
	wv_use_add(&tenant->all->held, cost);
	wv_tenant_keep(tenant);
}

void wv_tenant_release(struct wv_tenant *tenant, const struct wv_cost *cost)
{
	wv_use_subtract(&tenant->held, cost);
	wv_use_subtract(&tenant->all->held, cost);
	wv_tenant_put(tenant);
}
