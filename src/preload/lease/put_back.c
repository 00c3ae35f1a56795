/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/lease/put_back.h"

bool wv_put_back(const struct wv_put_back *how, int *error)
{
	bool moved = false;
	int err = how->reset(how->qp);

	while (!err) {
		err = how->repeat(how->qp);
		moved = moved || !err;
	}
	*error = err == WV_NO_MOVE ? 0 : err;
	return !moved;
}
