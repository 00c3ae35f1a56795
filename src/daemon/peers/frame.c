/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/peers/frame.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

#define MAGIC UINT32_C(0x57765072) /* "WvPr" */

static uint16_t get_u16(const uint8_t *from)
{
	uint16_t value;

	memcpy(&value, from, sizeof(value));
	return be16toh(value);
}

static uint32_t get_u32(const uint8_t *from)
{
	uint32_t value;

	memcpy(&value, from, sizeof(value));
	return be32toh(value);
}

static uint64_t get_u64(const uint8_t *from)
{
	uint64_t value;

	memcpy(&value, from, sizeof(value));
	return be64toh(value);
}

static void put_u16(uint8_t *to, uint16_t value)
{
	value = htobe16(value);
	memcpy(to, &value, sizeof(value));
}

static void put_u32(uint8_t *to, uint32_t value)
{
	value = htobe32(value);
	memcpy(to, &value, sizeof(value));
}

static void put_u64(uint8_t *to, uint64_t value)
{
	value = htobe64(value);
	memcpy(to, &value, sizeof(value));
}

int wv_frame_parse(const uint8_t *from, size_t bytes, struct wv_frame *frame)
{
	uint32_t length;

	if (bytes < sizeof(length))
		return 0;
	length = get_u32(from);
	if (length > WV_FRAME_BODY)
		return -EMSGSIZE;
	if (bytes < WV_FRAME_HEAD + length)
		return 0;
	*frame = (struct wv_frame){
	    .type = get_u16(from + sizeof(length)),
	    .body = from + WV_FRAME_HEAD,
	    .length = length,
	};
	return (int)(WV_FRAME_HEAD + length);
}

void wv_frame_write(uint8_t *to, uint16_t type, const void *body, size_t length)
{
	put_u32(to, (uint32_t)length);
	put_u16(to + sizeof(uint32_t), type);
	if (length)
		memcpy(to + WV_FRAME_HEAD, body, length);
}

void wv_hello_write(uint8_t to[static WV_HELLO_BYTES], const struct wv_hello *hello)
{
	put_u32(to, MAGIC);
	put_u16(to + 4, hello->version);
	memcpy(to + 6, hello->id, WV_NODE_ID);
	put_u64(to + 6 + WV_NODE_ID, hello->number);
	put_u64(to + 14 + WV_NODE_ID, hello->up_us);
}

int wv_hello_read(const struct wv_frame *frame, struct wv_hello *hello)
{
	const uint8_t *from = frame->body;

	/* Of another version, what follows the version may be of any form. */
	if (frame->type != WV_FRAME_HELLO || frame->length < 6 || get_u32(from) != MAGIC)
		return -EPROTO;
	*hello = (struct wv_hello){.version = get_u16(from + 4)};
	if (hello->version != WV_PEER_VERSION)
		return -EPROTONOSUPPORT;
	if (frame->length != WV_HELLO_BYTES)
		return -EPROTO;
	memcpy(hello->id, from + 6, WV_NODE_ID);
	hello->number = get_u64(from + 6 + WV_NODE_ID);
	hello->up_us = get_u64(from + 14 + WV_NODE_ID);
	return 0;
}

void wv_goodbye_read(const struct wv_frame *frame, char *text, size_t capacity)
{
	size_t length = frame->length < capacity - 1 ? frame->length : capacity - 1;

	for (size_t i = 0; i < length; i++) {
		uint8_t c = frame->body[i];

		text[i] = (char)(c >= ' ' && c <= '~' ? c : '?');
	}
	text[length] = '\0';
}
