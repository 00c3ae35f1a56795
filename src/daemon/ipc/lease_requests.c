/*
 * A program asks for a lease.
 */
#include "base/base.h"
#include "daemon/ipc/client.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/*
 * The device that the program proves its right to: it opened the node itself, for reading and
 * writing, so the kernel has judged it as it would without us. A descriptor opened with O_PATH
 * proves nothing.
 */
static const struct wv_device *proven_device(struct wv_server *s, int fd)
{
	int flags = fcntl(fd, F_GETFL);
	struct stat st;

	if (flags < 0 || flags & O_PATH || (flags & O_ACCMODE) != O_RDWR)
		return NULL;
	if (fstat(fd, &st) || !S_ISCHR(st.st_mode))
		return NULL;
	return wv_devices_by_rdev(&s->devices, st.st_rdev);
}

/* Text from a stranger, which goes into logs and documents: printable ASCII only. */
static void copy_printable(char *to, const char *from, size_t capacity)
{
	size_t i = 0;

	for (; i < capacity && from[i]; i++)
		to[i] = isascii((unsigned char)from[i]) && isprint((unsigned char)from[i]) ? from[i]
											   : '?';
	to[i] = '\0';
}

void wv_client_remember(struct wv_client *c, const struct wv_msg_request *request)
{
	struct wv_key *key = &c->key;

	key->program = request->program;
	key->verbs = request->verbs;
	key->open_number = request->open_number;
	strcpy(key->kernel, c->server->kernel);
	copy_printable(key->name, request->name, sizeof(request->name));
	copy_printable(c->comm, request->comm, sizeof(request->comm));
	c->argv = request->argv;
}

static void remember_device(struct wv_client *c, const struct wv_device *device)
{
	c->key.driver_id = device->driver_id;
	strcpy(c->key.ibdev, device->ibdev);
}

/* No lease; but whoever may use @device (NULL: nobody may) gets the answers that never change. */
static enum wv_client_next refuse(struct wv_client *c, enum wv_no_lease reason,
				  const struct wv_device *device)
{
	struct wv_msg_no_lease answer = {.reason = reason};
	struct wv_cmdlog *constants =
	    device ? wv_constants_of(&c->server->constants, device->rdev) : NULL;
	size_t bytes = constants ? constants->bytes : 0;

	wv_msg_init(&answer.msg, WV_MSG_NO_LEASE, sizeof(answer) + bytes);
	if (wv_send(c->fd, &answer, sizeof(answer), constants, bytes, NULL, 0) ||
	    reason != WV_NO_LEASE_RECORD)
		return WV_CLIENT_CLOSE;
	c->state = WV_CLIENT_RECORDING;
	return WV_CLIENT_KEEP;
}

static int send_lease(struct wv_client *c, const struct wv_recipe *recipe,
		      const struct wv_pooled_lease *ready)
{
	struct wv_msg_lease head = {
	    .recipe = recipe->id,
	    .rdev = ready->rdev,
	    .provider = recipe->provider,
	    .n_fds = ready->cmdlog->n_fds,
	};

	wv_msg_init(&head.msg, WV_MSG_LEASE, sizeof(head) + ready->cmdlog->bytes);
	return wv_send(c->fd, &head, sizeof(head), ready->cmdlog, ready->cmdlog->bytes, ready->fds,
		       ready->n_fds);
}

/* A lease of the device as it is now; those of one that had the name before are ended. */
static struct wv_pooled_lease *take_ready(struct wv_pool *pool, const struct wv_device *device,
					  struct wv_reaper *ender)
{
	struct wv_pooled_lease *ready;

	while ((ready = wv_pool_take(pool)) && ready->rdev != device->rdev)
		wv_reaper_give(ender, ready);
	return ready;
}

/*
 * Hands @ready over. From here on the program alone holds its descriptors: our copies are closed at
 * once, since the kernel keeps all objects until the last copy is gone.
 */
static enum wv_client_next hand_out(struct wv_client *c, struct wv_recipe *recipe,
				    struct wv_pooled_lease *ready)
{
	int err = send_lease(c, recipe, ready);

	if (err) {
		wv_log(WV_INFO, "%s: a lease was not taken: %s", recipe->comm, strerror(-err));
		wv_pool_put(recipe->pool, ready);
		return WV_CLIENT_CLOSE;
	}
	wv_pooled_lease_free(ready);
	recipe->counters.hits++;
	c->recipe = recipe->id;
	c->since_us = wv_now(c->server);
	c->state = WV_CLIENT_LEASED;
	return WV_CLIENT_KEEP;
}

static enum wv_client_next serve(struct wv_client *c, struct wv_recipe *recipe,
				 const struct wv_device *device)
{
	struct wv_server *s = c->server;
	struct wv_pooled_lease *ready = NULL;

	if (recipe->pool) {
		wv_demand_claim(&recipe->pool->demand, wv_now(s), wv_idle_us(s));
		ready = take_ready(recipe->pool, device, &s->ender);
	}
	wv_catalog_touch(&s->catalog, recipe, wv_wall_clock());
	if (ready)
		return hand_out(c, recipe, ready);
	recipe->counters.misses++;
	return refuse(c, WV_NO_LEASE_EMPTY, device);
}

enum wv_client_next wv_handle_request(struct wv_client *c, const struct wv_received *in)
{
	struct wv_server *s = c->server;
	const struct wv_msg_request *request = (const void *)in->msg;
	const struct wv_device *device = proven_device(s, in->fds[0]);
	struct wv_recipe *recipe = NULL;

	if (!device) {
		s->tally.denied++;
		return refuse(c, WV_NO_LEASE_DENIED, NULL);
	}
	if (!device->leasable)
		return refuse(c, WV_NO_LEASE_UNFIT, NULL);
	wv_client_remember(c, request);
	remember_device(c, device);
	if (request->flags & WV_REQUEST_UNFIT) {
		wv_catalog_refuse(&s->catalog, c->user->uid, &c->key,
				  "it needs capabilities that a lease does not give");
		return WV_CLIENT_CLOSE;
	}
	wv_scheduler_poke(s);
	switch (wv_catalog_choose(&s->catalog, c->user->uid, &c->key, c->argv, &recipe)) {
	case WV_CHOICE_SERVE:
		return serve(c, recipe, device);
	case WV_CHOICE_RECORD:
		return refuse(c, WV_NO_LEASE_RECORD, device);
	default:
		return refuse(c, WV_NO_LEASE_UNFIT, device);
	}
}
