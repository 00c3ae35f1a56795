/* SPDX-License-Identifier: BSD-2-Clause */
/* The template's side of its talk with the supervisor. */
#pragma once

#include "template/control.h"

void wv_tell_supervisor(enum wv_control_word word, int value, const char *why);
