/* SPDX-License-Identifier: BSD-2-Clause */
// The public header in a C++ program.
#include "warmverbs.h"

int main()
{
	wv_status status{};
	wv_statistics statistics{};
	bool good = !wv_query_status(&status, sizeof(status)) &&
		    !wv_query_statistics(&statistics, sizeof(statistics));

	wv_release();
	return good && *wv_version() && *wv_reason_str(wv_reason(status.reason)) ? 0 : 1;
}
