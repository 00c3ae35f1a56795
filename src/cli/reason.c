#include "cli/reason.h"

#include "abi/abi.h"
#include "cmdlog/adopt.h"

#include <string.h>

const char *wv_reason(uint16_t object, uint16_t method, uint32_t write_cmd, const char *why)
{
	const struct wv_command_row *row = wv_abi_find_any(object, method, write_cmd);

	if (row && row->class_ == WV_PRIVILEGED && !strcmp(why, wv_why_name(WV_WHY_UNKNOWN)))
		return "privileged command";
	return why;
}
