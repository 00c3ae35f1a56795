/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether a process can be a template: its children are to be what exec would have made. */
#pragma once

#include "base/because.h"

/*
 * Whether children of this process, which is at its stop point, would have all that it has, and
 * nothing that it shares with them: one thread, no child, no timer, no locked memory, no memory
 * that is shared for writing or that fork(2) leaves out, and no descriptor but 0, 1, 2 and
 * those from @own up to, but without, @behind.
 *
 * Returns 0 if so. Else 1, and the reason in @why, as "it has a second thread"; or -errno if it
 * cannot be found out.
 */
int wv_quiet_check(int own, int behind, struct wv_reason_text *why);
