/* The verbs that open and close the scope of a request. */
#include "base/base.h"
#include "shim/client.h"
#include "shim/providers.h"
#include "shim/real.h"
#include "shim/settings.h"
#include "shim/trace.h"

#include <errno.h>
#include <infiniband/verbs.h>

WV_PUBLIC struct ibv_device **ibv_get_device_list(int *num_devices);
WV_PUBLIC void ibv_free_device_list(struct ibv_device **list);

/* A lease takes a moment to arrive, which the listing hides. */
static void get_ready(void)
{
	char only[64];
	int saved = errno;

	wv_providers_read();
	if (wv_only_device(only, sizeof(only)))
		wv_client_request(only);
	wv_providers_load(true);
	errno = saved;
}

WV_PUBLIC struct ibv_device **ibv_get_device_list(int *num_devices)
{
	struct ibv_device **(*real)(int *) = real_verb("ibv_get_device_list", "IBVERBS_1.1");
	struct ibv_device **list;
	uint64_t start;

	if (!real) {
		errno = ENOSYS;
		return NULL;
	}
	if (!wv_settings()->enabled)
		return real(num_devices);
	start = wv_trace_now();
	get_ready();
	list = real(num_devices);
	wv_trace_list(start);
	return list;
}

/* A program that gives the list back has opened what it wants: a lease still waiting is not for it.
 */
WV_PUBLIC void ibv_free_device_list(struct ibv_device **list)
{
	void (*real)(struct ibv_device **) = real_verb("ibv_free_device_list", "IBVERBS_1.1");

	wv_client_drop_request();
	if (real)
		real(list);
}
