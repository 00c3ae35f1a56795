/* SPDX-License-Identifier: BSD-2-Clause */
/* An empty library: the minimum cost of any preloaded library. */
typedef int empty;
