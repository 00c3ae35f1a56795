/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/services/notes.h"

#include "base/base.h"

#include <endian.h>
#include <errno.h>

int wv_service_tell(const struct wv_service_process *process, const struct wv_service_note *note)
{
	struct wv_msg_service msg = {.note = *note};

	wv_msg_init(&msg.msg, WV_MSG_SERVICE, sizeof(msg));
	return wv_send(process->sock, &msg, sizeof(msg), NULL, 0, NULL, 0);
}

void wv_service_note_swap(struct wv_service_note *note)
{
	note->word = htobe16(note->word);
	note->error = htobe16(note->error);
	note->data_bytes = htobe32(note->data_bytes);
	note->number = htobe64(note->number);
	note->from = htobe64(note->from);
	note->qp.qp_num = htobe32(note->qp.qp_num);
	note->qp.psn = htobe32(note->qp.psn);
	note->qp.lid = htobe16(note->qp.lid);
	note->n_regions = htobe32(note->n_regions);
	for (unsigned int i = 0; i < WV_SERVICE_REGIONS; i++) {
		struct wv_service_region *region = &note->regions[i];

		region->addr = htobe64(region->addr);
		region->length = htobe64(region->length);
		region->rkey = htobe32(region->rkey);
	}
}

static bool is_long(const struct wv_service_note *note)
{
	return note->word == WV_SERVICE_ASK || note->word == WV_SERVICE_MAKING;
}

/* Where one node has thousands of connections, most end at once. */
size_t wv_service_note_bytes(const struct wv_service_note *note)
{
	return is_long(note) ? sizeof(*note) : offsetof(struct wv_service_note, name);
}

int wv_service_send(struct wv_peer *peer, const struct wv_service_note *note)
{
	struct wv_service_note swapped = *note;

	wv_service_note_swap(&swapped);
	return wv_peer_send(peer, WV_FRAME_SERVICE, &swapped, wv_service_note_bytes(note));
}

int wv_service_note_read(const void *body, size_t length, struct wv_service_note *note)
{
	if (length > sizeof(*note))
		return -EPROTO;
	*note = (struct wv_service_note){.word = 0};
	memcpy(note, body, length);
	wv_service_note_swap(note);
	if (length != wv_service_note_bytes(note) || !wv_service_note_is_sound(note))
		return -EPROTO;
	/* What has no number there could never be spoken of again. */
	return is_long(note) && !note->from ? -EPROTO : 0;
}
