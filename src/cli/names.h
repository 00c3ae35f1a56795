/*
 * Names, for people, of what the ABI table knows by number.
 */
#pragma once

#include "abi/abi.h"

#include <stddef.h>

/*
 * The command's name in the ABI table; its numbers, written into @buffer, where it is not there.
 */
const char *wv_command_name(uint16_t object, uint16_t method, uint32_t write_cmd, char *buffer,
			    size_t capacity);

/* "INIT", "RC"; "?" for what is no state or no type that can be leased. */
const char *wv_qp_state_name(unsigned int state);
const char *wv_qp_type_name(unsigned int type);

/* Whether the command moves a queue pair. */
int wv_is_modify_qp(uint32_t write_cmd);
