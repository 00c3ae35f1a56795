/* SPDX-License-Identifier: BSD-2-Clause */
/* What this library does around fork(2). */
#pragma once

/* Call once per process, before any lock of this library is taken. */
void wv_fork_handlers_install(void);
