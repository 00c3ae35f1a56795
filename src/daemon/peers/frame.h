/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What travels on a connection between two daemons, inside TLS: frames. A frame is the length of
 * its body (4 bytes), its type (2 bytes) and its body; numbers are in network order. The first
 * frame of either side is its hello. Pure functions.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define WV_FRAME_HEAD 6
#define WV_FRAME_BODY 4096 /* bytes at most */

#define WV_PEER_VERSION 4 /* of frames and of all that they carry; equal on both sides */

enum wv_frame_type {
	WV_FRAME_HELLO = 1,
	WV_FRAME_PING,	  /* 8 bytes, which the pong repeats */
	WV_FRAME_PONG,	  /* answers a ping */
	WV_FRAME_GOODBYE, /* the sender closes the connection, and this says why: text */
	/* From here on: messages of the layer above. */
	WV_FRAME_FIRST_MESSAGE = 16,
	WV_FRAME_PAIR = WV_FRAME_FIRST_MESSAGE, /* wire/pair.h */
	WV_FRAME_SERVICE,			/* wire/service_note.h */
};

struct wv_frame {
	uint16_t type;
	const uint8_t *body; /* in the buffer that was parsed */
	size_t length;
};

#define WV_NODE_ID 16

/* Who is there. */
struct wv_hello {
	uint16_t version;
	uint8_t id[WV_NODE_ID]; /* of the daemon; random, and new at each start */
	uint64_t number; /* of this connection, among those that its sender has made or taken */
	uint64_t up_us;	 /* how long the sender's node has been up (CLOCK_BOOTTIME) */
};

#define WV_HELLO_BYTES (4 + 2 + WV_NODE_ID + 8 + 8)

/*
 * Finds the first frame of @bytes that were received. How many bytes it takes; 0 if it is not
 * complete; -EMSGSIZE if it is longer than a frame may be.
 */
int wv_frame_parse(const uint8_t *from, size_t bytes, struct wv_frame *frame);

/* Writes a frame, of WV_FRAME_HEAD + @length bytes. */
void wv_frame_write(uint8_t *to, uint16_t type, const void *body, size_t length);

/* Writes the body of a hello. */
void wv_hello_write(uint8_t to[static WV_HELLO_BYTES], const struct wv_hello *hello);

/*
 * Reads a hello. 0; -EPROTO if it is none; -EPROTONOSUPPORT if it is of another version, and then
 * nothing but the version is set.
 */
int wv_hello_read(const struct wv_frame *frame, struct wv_hello *hello);

/*
 * Copies the text of a goodbye, cut off at @capacity; it goes into logs, so only printable ASCII is
 * kept.
 */
void wv_goodbye_read(const struct wv_frame *frame, char *text, size_t capacity);
