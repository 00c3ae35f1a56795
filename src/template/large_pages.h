/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fork(2) copies the page tables of a process: 10 ms for each 100 MB. Those of large pages are 512
 * times smaller. A mapping of a file in its place would cost nothing, but it is no anonymous memory
 * any more: mremap(2) and madvise(2) do something else to it, on which malloc(3) relies.
 */
#pragma once

/*
 * Has the memory of this process in large pages, as far as the kernel finds some. What the program
 * can see of its memory stays the same.
 */
void wv_large_pages_use(void);
