/* SPDX-License-Identifier: BSD-2-Clause */
/* Between stamp.c and timer.c: when the program was started, CLOCK_MONOTONIC in nanoseconds. */
#pragma once

#define STAMP_ENV "BENCH_STARTED"
