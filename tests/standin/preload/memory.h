/* Where memory that a command names is: the server's view of get_user_pages(). */
#pragma once

#include "../protocol.h"

/* A mapping that others may share was made; from now on it is looked for in /proc/self/maps. */
void standin_note_shared(void);

/*
 * Fills in what @memory's va is mapped to. If that is a file that this process has open, its
 * descriptor, still the program's, is put in @fds at *@n_fds, which grows.
 */
void standin_describe(struct standin_memory *memory, int *fds, unsigned int *n_fds);
