/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every interposed function that deals with devices calls this first, before any lock of this
 * library is taken. Nothing is done when the library is loaded, since it is preloaded into programs
 * that do not use RDMA.
 */
#pragma once

/* Acts once per process, and may take the loader's lock. Later calls are cheap. */
void wv_prepare(void);
