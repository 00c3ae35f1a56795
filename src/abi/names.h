/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names, for people, of what the rest of the table knows by number. Not linked into programs.
 */
#pragma once

#include "abi/abi.h"

/* How a value is shown in a recipe's step. */
enum wv_format {
	WV_HIDDEN, /* not at all; it has a name only for `explain` */
	WV_DECIMAL,
	WV_HEX,
	WV_QP_TYPE,
	WV_QP_STATE,
	WV_MAKER, /* an object, by the step that creates it */
};

/* A value inside a command that means something to people. */
struct wv_value_row {
	uint32_t driver_id; /* the driver, or WV_ANY_DRIVER */
	uint16_t object, method, attr;
	uint32_t write_cmd;
	uint8_t format;	       /* enum wv_format */
	uint16_t offset, size; /* of size 0: the attribute as a whole */
	const char *name;
};

/* All such rows, in the order in which the values of a command are shown. */
const struct wv_value_row *wv_abi_values(unsigned int *n);

/* Whether @row is about this command of this driver. */
bool wv_abi_value_is_of(const struct wv_value_row *row, uint32_t driver_id, uint16_t object,
			uint16_t method, uint32_t write_cmd);

/* "INIT", "RC"; "?" for what is no state, or no type that can be leased. */
const char *wv_qp_state_name(unsigned int state);
const char *wv_qp_type_name(unsigned int type);

/* Never NULL. */
const char *wv_object_name(uint16_t object);
const char *wv_kind_name(enum wv_kind kind);
const char *wv_class_name(enum wv_class class_);
