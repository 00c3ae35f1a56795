/*
 * What every interposed function that deals with devices does first, before any lock of this
 * library is taken: nothing was done when the library was loaded, since it is preloaded into
 * programs that have nothing to do with RDMA.
 */
#pragma once

/* Once per process; may take the loader's lock. Cheap after that. */
void wv_prepare(void);
