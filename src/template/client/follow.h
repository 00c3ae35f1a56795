/* SPDX-License-Identifier: BSD-2-Clause */
/* A process that stands for a start, which others take for it. */
#pragma once

#include "warmverbs-template.h"

/*
 * With all signals blocked, and @signals of wv_signals_fd(): closes what this process has, passes
 * on the signals that it gets, and stops when it is to stop with the start, until the start ends.
 * Returns 0 and its status (waitpid(2)); or -EPIPE if the supervisor, who would tell how it ended,
 * does not.
 */
int wv_template_follow(struct wv_template_start *s, int signals, int *status);
