/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/peers/frame.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

#define MAGIC UINT32_C(0x57765072) /* "WvPr" */

/* As they travel: numbers in network order. */
struct __attribute__((packed)) head {
	uint32_t length;
	uint16_t type;
};

struct __attribute__((packed)) hello {
	uint32_t magic;
	uint16_t version;
	/* Of another version, what follows may be of any form. */
	uint8_t id[WV_NODE_ID];
	uint64_t number, up_us;
};

_Static_assert(sizeof(struct head) == WV_FRAME_HEAD, "wire");
_Static_assert(sizeof(struct hello) == WV_HELLO_BYTES, "wire");

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

int wv_frame_parse(const uint8_t *from, size_t bytes, struct wv_frame *frame)
{
	struct head head = {0};
	uint32_t length;

	memcpy(&head, from, least(bytes, sizeof(head)));
	length = be32toh(head.length);
	if (bytes < sizeof(head.length))
		return 0;
	if (length > WV_FRAME_BODY)
		return -EMSGSIZE;
	if (bytes < sizeof(head) + length)
		return 0;
	*frame = (struct wv_frame){
	    .type = be16toh(head.type), .body = from + sizeof(head), .length = length};
	return (int)(sizeof(head) + length);
}

void wv_frame_write(uint8_t *to, uint16_t type, const void *body, size_t length)
{
	const struct head head = {.length = htobe32((uint32_t)length), .type = htobe16(type)};

	memcpy(to, &head, sizeof(head));
	if (length)
		memcpy(to + sizeof(head), body, length);
}

void wv_hello_write(uint8_t to[static WV_HELLO_BYTES], const struct wv_hello *hello)
{
	struct hello body = {
	    .magic = htobe32(MAGIC),
	    .version = htobe16(hello->version),
	    .number = htobe64(hello->number),
	    .up_us = htobe64(hello->up_us),
	};

	memcpy(body.id, hello->id, sizeof(body.id));
	memcpy(to, &body, sizeof(body));
}

int wv_hello_read(const struct wv_frame *frame, struct wv_hello *hello)
{
	struct hello body = {0};

	if (frame->type != WV_FRAME_HELLO || frame->length < offsetof(struct hello, id))
		return -EPROTO;
	memcpy(&body, frame->body, least(frame->length, sizeof(body)));
	if (be32toh(body.magic) != MAGIC)
		return -EPROTO;
	*hello = (struct wv_hello){.version = be16toh(body.version)};
	if (hello->version != WV_PEER_VERSION)
		return -EPROTONOSUPPORT;
	if (frame->length != sizeof(body))
		return -EPROTO;
	memcpy(hello->id, body.id, sizeof(body.id));
	hello->number = be64toh(body.number);
	hello->up_us = be64toh(body.up_us);
	return 0;
}

void wv_goodbye_read(const struct wv_frame *frame, char *text, size_t capacity)
{
	size_t length = least(frame->length, capacity - 1);

	for (size_t i = 0; i < length; i++) {
		uint8_t c = frame->body[i];

		text[i] = (char)(c >= ' ' && c <= '~' ? c : '?');
	}
	text[length] = '\0';
}
