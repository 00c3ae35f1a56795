/* SPDX-License-Identifier: BSD-2-Clause */
/* The capabilities that this process may have and the daemon has given up. */
#pragma once

#include <stdbool.h>

/*
 * Whether this thread has CAP_NET_RAW or CAP_SYS_RAWIO. With them, some drivers give extra
 * capabilities to the contexts that it opens (Linux, drivers/infiniband/hw, devx.c, devx_create()).
 */
bool wv_has_raw_capabilities(void);
