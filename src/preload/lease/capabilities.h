/* What this process may do that the daemon gave up. */
#pragma once

#include <stdbool.h>

/*
 * Whether this thread has CAP_NET_RAW or CAP_SYS_RAWIO, which an mlx5 context made by it would turn
 * into rights of its own (Linux, hw/mlx5/devx.c, mlx5_ib_devx_create()).
 */
bool wv_has_raw_capabilities(void);
