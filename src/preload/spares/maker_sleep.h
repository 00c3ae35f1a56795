/* SPDX-License-Identifier: BSD-2-Clause */
/* How the maker sleeps, and is woken by any thread. */
#pragma once

#include <stdbool.h>

/* Before the first use. */
void wv_maker_sleep_init(void);

/*
 * Sleeps until wv_maker_call(), or, if it is to @look_again, for WV_STOCK_IDLE_MS at most. A call
 * is lost while the maker is awake: @has_news says whether there is something to do already.
 */
void wv_maker_sleep(bool look_again, bool (*has_news)(void));

/* Wakes it. */
void wv_maker_call(void);

/* In a forked child: there is no maker. */
void wv_maker_sleep_forked(void);
