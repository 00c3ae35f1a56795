/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/tenants/subordinate.h"

#include "base/base.h"

#include <errno.h>
#include <pwd.h>
#include <string.h>

/* A user's name or number. */
static bool parse_owner(const char *text, uid_t *uid)
{
	const struct passwd *user = getpwnam(text);
	unsigned long number;
	char *end;

	if (user) {
		*uid = user->pw_uid;
		return true;
	}
	errno = 0;
	number = strtoul(text, &end, 10);
	*uid = (uid_t)number;
	return !errno && end != text && !*end && number < UINT32_MAX;
}

static bool parse_line(const char *line, struct wv_subordinate_range *range)
{
	char owner[256];
	unsigned long first, count;

	if (sscanf(line, "%255[^:#]:%lu:%lu", owner, &first, &count) != 3 || first > UINT32_MAX ||
	    count > UINT32_MAX)
		return false;
	range->first = (uid_t)first;
	range->count = (uid_t)count;
	return parse_owner(owner, &range->owner);
}

static int add(struct wv_subordinates *s, const struct wv_subordinate_range *range)
{
	struct wv_subordinate_range *more = reallocarray(s->ranges, s->n + 1, sizeof(*s->ranges));

	if (!more)
		return -ENOMEM;
	s->ranges = more;
	s->ranges[s->n++] = *range;
	return 0;
}

int wv_subordinates_read(struct wv_subordinates *s, const char *path)
{
	wv_auto_file file = fopen(path, "re");
	wv_auto_free char *line = NULL;
	size_t capacity = 0;
	int err = 0;

	*s = (struct wv_subordinates){0};
	if (!file)
		return errno == ENOENT ? 0 : -errno;
	while (!err && getline(&line, &capacity, file) >= 0) {
		struct wv_subordinate_range range;

		if (parse_line(line, &range))
			err = add(s, &range);
	}
	if (!err && ferror(file))
		err = -EIO;
	if (err)
		wv_subordinates_free(s);
	return err;
}

void wv_subordinates_free(struct wv_subordinates *s)
{
	free(s->ranges);
	*s = (struct wv_subordinates){0};
}

uid_t wv_subordinate_owner(const struct wv_subordinates *s, uid_t uid)
{
	for (size_t i = 0; i < s->n; i++)
		if (uid >= s->ranges[i].first && uid - s->ranges[i].first < s->ranges[i].count)
			return s->ranges[i].owner;
	return uid;
}
