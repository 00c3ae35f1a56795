/* SPDX-License-Identifier: BSD-2-Clause */
#include "template/places.h"

#include "base/base.h"
#include "base/file_id.h"

#include <errno.h>

#define MOST 4096

static struct place {
	char *path;
	struct wv_file_id file;
} places[MOST];
static unsigned int n_places;

static bool is_noted(const char *path)
{
	for (unsigned int i = 0; i < n_places; i++)
		if (!strcmp(places[i].path, path))
			return true;
	return false;
}

int wv_place_note(const char *path)
{
	struct place *place = &places[n_places];

	if (is_noted(path))
		return 0;
	if (n_places == MOST)
		return -E2BIG;
	*place = (struct place){strdup(path), wv_file_id_at(path)};
	if (!place->path)
		return -ENOMEM;
	n_places++;
	return 0;
}

const char *wv_places_change(void)
{
	for (unsigned int i = 0; i < n_places; i++)
		if (!wv_is_same_file(wv_file_id_at(places[i].path), places[i].file))
			return places[i].path;
	return NULL;
}
