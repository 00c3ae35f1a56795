/* SPDX-License-Identifier: BSD-2-Clause */
/* One kit for a test, or for a group of tests; at the end none of its objects may be left. */
#pragma once

#include "kit.h"

extern struct kit kit;
int set_up_kit(void **state);
int tear_down_kit(void **state);
#define KIT_TEST(name) cmocka_unit_test_setup_teardown(name, set_up_kit, tear_down_kit)
