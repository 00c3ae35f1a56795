/* SPDX-License-Identifier: BSD-2-Clause */
/* What a client says to a child of a template; first: how many descriptors came with it. */
#include "fuzz.h"

#include "template/start.h"

static void check_list(char *const *list, size_t n, const struct wv_started *s)
{
	const char *begin = s->mapping;

	for (size_t i = 0; i < n; i++) {
		assert_in_range(list[i] - begin, 0, s->bytes - 1);
		assert_in_range(list[i] - begin + strlen(list[i]), 0, s->bytes - 1);
	}
	assert_null(list[n]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static const int fds[WV_START_OWN + WV_START_FDS];
	wv_auto_free struct wv_start *message = NULL;
	struct wv_started s;

	if (!bytes || data[0] > WV_ARRAY_SIZE(fds))
		return 0;
	/* Of exactly this size, so that a sanitizer sees what is read behind it. */
	message = malloc(bytes > 1 ? bytes - 1 : 1);
	assert_non_null(message);
	memcpy(message, data + 1, bytes - 1);
	if (wv_start_read(message, bytes - 1, fds, data[0], &s))
		return 0;
	assert_true(s.argc > 0);
	check_list((char *[]){s.path, NULL}, 1, &s);
	check_list(s.argv, (size_t)s.argc, &s);
	check_list(s.environ, message->envc, &s);
	for (unsigned int i = 1; i < s.n_fds; i++)
		assert_true(s.to[i] > s.to[i - 1]);
	wv_start_free(&s);
	return 0;
}
