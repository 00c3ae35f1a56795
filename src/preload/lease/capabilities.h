/* What this process may do that the daemon gave up. */
#pragma once

#include <stdbool.h>

/*
 * Whether this thread has CAP_NET_RAW or CAP_SYS_RAWIO, which some drivers turn into rights of the
 * context that it opens (Linux, drivers/infiniband/hw, devx.c, devx_create()).
 */
bool wv_has_raw_capabilities(void);
