/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/command_text.h"

#include "abi/names.h"
#include "cmdlog/adopt.h"

#include <string.h>

const struct wv_command_row *wv_command_row(const struct wv_command_id *c)
{
	return wv_abi_find(c->driver_id, c->object, c->method, c->write_cmd);
}

const char *wv_command_name(const struct wv_command_id *command, char *buffer, size_t capacity)
{
	const struct wv_command_row *row = wv_command_row(command);

	if (row)
		return row->name;
	if (command->write_cmd != WV_NO_WRITE_CMD)
		snprintf(buffer, capacity, "command %#x", command->write_cmd);
	else
		snprintf(buffer, capacity, "object %#x method %#x", command->object,
			 command->method);
	return buffer;
}

bool wv_command_moves_qp(const struct wv_command_id *command)
{
	const struct wv_command_row *row = wv_command_row(command);

	return row && row->class_ == WV_MODIFY;
}

void wv_print_value_name(FILE *out, const struct wv_command_id *command, uint16_t attr,
			 uint32_t offset)
{
	unsigned int n;
	const struct wv_value_row *rows = wv_abi_values(&n);

	for (const struct wv_value_row *row = rows; row < rows + n; row++) {
		if (row->attr != attr ||
		    !wv_abi_value_is_of(row, command->driver_id, command->object, command->method,
					command->write_cmd))
			continue;
		if (row->size && (offset < row->offset || offset >= row->offset + row->size))
			continue;
		fputs(row->name, out);
		return;
	}
	fprintf(out, "byte %u of attribute %#x", offset, attr);
}

static bool is_reason(const char *why, enum wv_why reason)
{
	return !strcmp(why, wv_why_name(reason));
}

/* A lease ends at a privileged command as at an unknown one, but the ABI table knows it. */
void wv_print_reason(FILE *out, const struct wv_command_id *command, const char *why, uint16_t attr,
		     uint32_t offset)
{
	const struct wv_command_row *row = wv_command_row(command);
	bool is_privileged = row && row->class_ == WV_PRIVILEGED && is_reason(why, WV_WHY_UNKNOWN);

	fputs(is_privileged ? "privileged command" : why, out);
	if (!is_reason(why, WV_WHY_VALUE) && !(is_reason(why, WV_WHY_SHAPE) && attr))
		return;
	fputs(": ", out);
	wv_print_value_name(out, command, attr, offset);
}

static void print_value(FILE *out, enum wv_format format, uint64_t value)
{
	switch (format) {
	case WV_QP_TYPE:
		fputs(wv_qp_type_name((unsigned int)value), out);
		break;
	case WV_QP_STATE:
		fputs(wv_qp_state_name((unsigned int)value), out);
		break;
	case WV_HEX:
		fprintf(out, "%#llx", (unsigned long long)value);
		break;
	case WV_MAKER:
		fprintf(out, "of step %llu", (unsigned long long)value);
		break;
	default:
		fprintf(out, "%llu", (unsigned long long)value);
		break;
	}
}

/* Reads the value of @row in a step. 0 if the step has no such value. */
static int read_value(struct wv_step *step, const struct wv_value_row *row, uint64_t *value)
{
	struct wv_attr *attr = wv_step_attr(step, row->attr);
	const uint8_t *bytes = attr ? wv_attr_bytes(step, attr) : NULL;
	size_t size;

	*value = 0;
	if (attr && (attr->kind == WV_HANDLE || attr->kind == WV_FD)) {
		*value = attr->data;
		return 1;
	}
	if (!bytes)
		return 0;
	size = row->size ? row->size : attr->len;
	if (size > sizeof(*value) || row->offset + size > attr->len)
		return 0;
	memcpy(value, bytes + row->offset, size);
	return 1;
}

void wv_print_step_values(FILE *out, uint32_t driver_id, struct wv_step *step)
{
	const char *separator = "";
	unsigned int n;
	const struct wv_value_row *rows = wv_abi_values(&n);

	for (const struct wv_value_row *row = rows; row < rows + n; row++) {
		uint64_t value;

		if (row->format == WV_HIDDEN ||
		    !wv_abi_value_is_of(row, driver_id, step->object, step->method,
					step->write_cmd) ||
		    !read_value(step, row, &value))
			continue;
		fprintf(out, "%s%s ", separator, row->name);
		print_value(out, row->format, value);
		separator = ", ";
	}
}
