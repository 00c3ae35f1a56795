/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/providers.h"

#include "abi/drivers.h"
#include "base/base.h"
#include "preload/mlx5/mlx5.h"
#include "preload/rxe/rxe.h"

#include <string.h>

static const struct wv_provider *const providers[] = {
    &wv_mlx5,
    &wv_rxe,
};

#define each_provider(provider)                                                                    \
	for (const struct wv_provider *const *at_ = providers, *provider;                          \
	     at_ < providers + WV_ARRAY_SIZE(providers) && (provider = *at_); at_++)

const struct wv_provider *wv_provider_find(uint32_t driver_id)
{
	each_provider(p) if (p->driver_id == driver_id) return p;
	return NULL;
}

/* As rdma-core names the file: "libNAME-rdmavABI.so". */
static bool is_in(const struct wv_provider *p, const char *file)
{
	const char *name = wv_provider_name(p->driver_id);
	size_t length = strlen(name);

	return !strncmp(file, "lib", 3) && !strncmp(file + 3, name, length) &&
	       file[3 + length] == '-';
}

bool wv_provider_queues_are_chosen(const char *file)
{
	each_provider(p) if (p->queues_are_chosen && is_in(p, file)) return p->queues_are_chosen();
	return false;
}

bool wv_provider_hides_file(const char *path)
{
	each_provider(p) if (p->hides_file && p->hides_file(path)) return true;
	return false;
}

const struct wv_receives *wv_provider_receives(uint32_t driver_id)
{
	const struct wv_provider *provider = wv_provider_find(driver_id);

	return provider ? provider->receives : NULL;
}

void wv_provider_find_ring(const struct ib_uverbs_ioctl_hdr *create, struct wv_ring *ring)
{
	const struct wv_receives *receives = wv_provider_receives(create->driver_id);

	*ring = (struct wv_ring){.bytes = 0};
	if (receives)
		receives->find(create, ring);
}

void wv_provider_forked(void)
{
	each_provider(p) if (p->forked) p->forked();
}

WV_UNSANITIZED const struct wv_library *
wv_provider_library(bool (*fits)(const struct wv_library *, const char *), const char *text)
{
	each_provider(p) if (p->direct && fits(p->direct, text)) return p->direct;
	return NULL;
}
