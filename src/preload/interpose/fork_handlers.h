/* What happens around fork(2), everywhere in the preload. */
#pragma once

/* Once per process, before any lock of this library is taken. */
void wv_fork_handlers_install(void);
