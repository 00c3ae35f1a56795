#include "preload/providers.h"

#include "base/base.h"
#include "preload/mlx5/mlx5.h"
#include "preload/rxe/rxe.h"

static const struct wv_provider *const rooms[] = {
    &wv_mlx5,
    &wv_rxe,
};

#define each_room(room)                                                                            \
	for (const struct wv_provider *const *at_ = rooms, *room;                                  \
	     at_ < rooms + WV_ARRAY_SIZE(rooms) && (room = *at_); at_++)

const struct wv_provider *wv_provider_find(uint32_t driver_id)
{
	each_room(room) if (room->driver_id == driver_id) return room;
	return NULL;
}

bool wv_provider_queues_are_chosen(void)
{
	each_room(room) if (room->queues_are_chosen && room->queues_are_chosen()) return true;
	return false;
}

bool wv_provider_hides_file(const char *path)
{
	each_room(room) if (room->hides_file && room->hides_file(path)) return true;
	return false;
}

void wv_provider_forked(void)
{
	each_room(room) if (room->forked) room->forked();
}
