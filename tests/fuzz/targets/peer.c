/* SPDX-License-Identifier: BSD-2-Clause */
/* What another node sends after TLS: frames, hello, goodbye; and what a configuration names. */
#include "fuzz.h"

#include "daemon/config/node_address.h"
#include "daemon/peers/frame.h"

#include <errno.h>

static void read_bodies(const struct wv_frame *frame)
{
	struct wv_hello hello;
	char text[80];
	int err = wv_hello_read(frame, &hello);

	assert_true(!err || err == -EPROTO || err == -EPROTONOSUPPORT);
	if (!err)
		assert_true(hello.version == WV_PEER_VERSION && frame->length == WV_HELLO_BYTES);
	wv_goodbye_read(frame, text, sizeof(text));
	for (const char *c = text; *c; c++)
		assert_true(*c >= ' ' && *c <= '~');
}

/* All frames, as they come. What remains is less than a frame. */
static void read_frames(const uint8_t *data, size_t bytes)
{
	struct wv_frame frame;
	int took;

	while ((took = wv_frame_parse(data, bytes, &frame)) > 0) {
		assert_true((size_t)took <= bytes && frame.length <= WV_FRAME_BODY);
		assert_true(frame.body + frame.length == data + took);
		read_bodies(&frame);
		data += took;
		bytes -= (size_t)took;
	}
	assert_true(took == -EMSGSIZE || bytes < WV_FRAME_HEAD + WV_FRAME_BODY);
}

static void read_list(const uint8_t *data, size_t bytes)
{
	wv_auto_free char *text = calloc(1, bytes + 1);
	char item[WV_LIST_ITEM];
	struct wv_node_address node;
	struct wv_gid_row row;

	memcpy(text, data, bytes);
	for (const char *at = text; (at = wv_list_next(at, item));) {
		assert_true(*item && strlen(item) < sizeof(item));
		if (!wv_node_address_parse(item, 1, &node))
			assert_true(node.port && *node.name);
		if (!wv_gid_row_parse(item, &row))
			assert_true(wv_gid_row_covers(&row, row.gid) && row.bits <= 128);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	read_frames(data, bytes);
	read_list(data, bytes);
	return 0;
}
