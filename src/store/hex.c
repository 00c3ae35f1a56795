/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/hex.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

void wv_hex(const void *data, size_t bytes, char *text)
{
	static const char digits[] = "0123456789abcdef";
	const uint8_t *p = data;

	for (size_t i = 0; i < bytes; i++) {
		*text++ = digits[p[i] >> 4];
		*text++ = digits[p[i] & 15];
	}
	*text = '\0';
}

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -EINVAL;
}

int wv_unhex(const char *text, void *data, size_t bytes)
{
	uint8_t *p = data;

	if (strlen(text) != 2 * bytes)
		return -EINVAL;
	for (size_t i = 0; i < bytes; i++) {
		int high = digit(text[2 * i]), low = digit(text[2 * i + 1]);

		if (high < 0 || low < 0)
			return -EINVAL;
		p[i] = (uint8_t)(high << 4 | low);
	}
	return 0;
}

void wv_hex_u64(uint64_t value, char text[static 17])
{
	value = htobe64(value);
	wv_hex(&value, sizeof(value), text);
}

int wv_unhex_u64(const char *text, uint64_t *value)
{
	uint64_t read;
	int err = wv_unhex(text, &read, sizeof(read));

	if (!err)
		*value = be64toh(read);
	return err;
}
