/* What happens around fork(2), everywhere in the preload. */
#pragma once

/* Once per process, before any lock of ours is taken. */
void wv_forks_prepare(void);
