/* SPDX-License-Identifier: BSD-2-Clause */
/* Text that a test prints, and what it is to be. */
#pragma once

#include "fixture.h"

#include <stdio.h>

struct capture {
	char *text;
	size_t bytes;
	FILE *out;
};

static inline void capture_begin(struct capture *c)
{
	c->out = open_memstream(&c->text, &c->bytes);
	assert_non_null(c->out);
}

/* Ends the capture. */
static inline void capture_expect(struct capture *c, const char *expected)
{
	fclose(c->out);
	assert_string_equal(c->text, expected);
	free(c->text);
}
