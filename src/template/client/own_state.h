/* SPDX-License-Identifier: BSD-2-Clause */
/* What this process has that execve(2) keeps, and no other process can have in its place. */
#pragma once

/* Such a thing, for people; NULL if there is none. */
const char *wv_own_state_obstacle(void);
