/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/peers/outbox.h"

#include "base/base.h"

#define LEAST_ROOM 4096u

static bool make_room(struct wv_outbox *o, size_t bytes)
{
	size_t room = o->room ? o->room : LEAST_ROOM;
	uint8_t *grown;

	if (o->end + bytes <= o->room)
		return true;
	if (o->start)
		memmove(o->bytes, o->bytes + o->start, wv_outbox_waiting(o));
	o->end -= o->start;
	o->start = 0;
	while (room < o->end + bytes)
		room *= 2;
	if (room == o->room)
		return true;
	grown = realloc(o->bytes, room);
	if (!grown)
		return false;
	o->bytes = grown;
	o->room = room;
	return true;
}

uint8_t *wv_outbox_add(struct wv_outbox *o, size_t bytes)
{
	if (wv_outbox_waiting(o) + bytes > WV_OUTBOX_MOST || !make_room(o, bytes))
		return NULL;
	o->end += bytes;
	return o->bytes + o->end - bytes;
}

void wv_outbox_sent(struct wv_outbox *o, size_t bytes)
{
	o->start += bytes;
	if (wv_outbox_waiting(o))
		return;
	o->start = o->end = 0;
	if (o->room > LEAST_ROOM)
		wv_outbox_clear(o);
}

void wv_outbox_clear(struct wv_outbox *o)
{
	free(o->bytes);
	*o = (struct wv_outbox){0};
}
