/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether this process is to become a template, and where. */
#pragma once

enum wv_stop { WV_STOP_NOWHERE, WV_STOP_AT_MAIN, WV_STOP_AT_POINT };

/* As the supervisor wants it; nowhere in any other process. */
enum wv_stop wv_stop_place(void);

/* From now on, this process stops nowhere. */
void wv_stop_is_reached(void);
