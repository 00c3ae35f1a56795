/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Kinds and classes are written for human readers only. Reading takes them from the ABI table, and
 * checks the result like any command log from an untrusted source.
 */
#include "store/steps_json.h"

#include "abi/names.h"
#include "base/base.h"
#include "cmdlog/writer.h"
#include "store/hex.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int is_reference(uint8_t kind)
{
	return kind == WV_HANDLE || kind == WV_FD;
}

/* The input bytes of @attr, in hexadecimal; NULL if memory is short. */
static json_t *bytes_to_json(struct wv_step *step, const struct wv_attr *attr)
{
	wv_auto_free char *text = malloc(2u * attr->len + 1);

	if (!text)
		return NULL;
	wv_hex(wv_attr_bytes(step, attr), attr->len, text);
	return json_string(text);
}

static json_t *attr_to_json(struct wv_step *step, const struct wv_attr *attr)
{
	json_t *json = json_pack("{s:s, s:i, s:i, s:i}", "kind", wv_kind_name(attr->kind), "id",
				 attr->id, "len", attr->len, "flags", attr->flags);

	if (is_reference(attr->kind))
		json_object_set_new(json, "step", json_integer((json_int_t)attr->data));
	if (attr->kind != WV_EQUAL)
		return json;
	if (json_object_set_new(json, "bytes", bytes_to_json(step, attr))) {
		json_decref(json);
		return NULL;
	}
	return json;
}

static json_t *step_to_json(struct wv_step *step)
{
	const struct wv_command_row *row = wv_step_row(step);
	json_t *json =
	    json_pack("{s:s, s:s, s:i, s:i}", "command", row->name, "class",
		      wv_class_name(step->class_), "object", step->object, "method", step->method);
	json_t *attrs = json_array();
	int err = 0;

	wv_each_attr (step, attr)
		err |= json_array_append_new(attrs, attr_to_json(step, attr));
	if (step->write_cmd != WV_NO_WRITE_CMD)
		json_object_set_new(json, "write_cmd", json_integer(step->write_cmd));
	if (step->error)
		json_object_set_new(json, "error", json_integer(step->error));
	if (step->target != WV_NONE)
		json_object_set_new(json, "target", json_integer(step->target));
	if (err | json_object_set_new(json, "attrs", attrs)) {
		json_decref(json);
		return NULL;
	}
	return json;
}

json_t *wv_steps_to_json(struct wv_cmdlog *cmdlog)
{
	json_t *steps = json_array();

	wv_each_step (cmdlog, step)
		if (json_array_append_new(steps, step_to_json(step))) {
			json_decref(steps);
			return NULL;
		}
	return steps;
}

struct reader {
	struct wv_cmdlog_writer out;
	char *why;
	size_t capacity;
};

static int bad(struct reader *r, const char *what)
{
	snprintf(r->why, r->capacity, "step %u: %s", r->out.cmdlog->n_steps, what);
	return WV_RECIPE_BAD;
}

static int fits(json_int_t value, json_int_t most)
{
	return value >= 0 && value <= most;
}

static int read_payload(struct reader *r, struct wv_attr *attr, const char *bytes)
{
	attr->payload = wv_cmdlog_payload(&r->out, NULL, attr->len);
	if (!attr->payload)
		return bad(r, "the recipe is too large");
	if (!bytes || wv_unhex(bytes, wv_step_at(r->out.step, attr->payload), attr->len))
		return bad(r, "an attribute's bytes are not as many hexadecimal digits as its len");
	return 0;
}

static int read_attr(struct reader *r, json_t *json, struct wv_attr *attr,
		     const struct wv_command_row *row)
{
	json_int_t id, len, flags, step = 0;
	const char *kind, *bytes = NULL;
	const struct wv_attr_row *known;
	json_error_t error;

	if (json_unpack_ex(json, &error, JSON_STRICT, "{s:s, s:I, s:I, s:I, s?I, s?s}", "kind",
			   &kind, "id", &id, "len", &len, "flags", &flags, "step", &step, "bytes",
			   &bytes))
		return bad(r, error.text);
	if (!fits(id, UINT16_MAX) || !fits(len, UINT16_MAX) || !fits(flags, UINT8_MAX) ||
	    !fits(step, UINT32_MAX))
		return bad(r, "an attribute's number is out of range");
	known = wv_abi_attr(row, (uint16_t)id);
	if (!known)
		return bad(r, "an attribute that the command does not have");
	attr->id = (uint16_t)id;
	attr->len = (uint16_t)len;
	attr->flags = (uint8_t)flags;
	attr->kind = known->kind;
	if (is_reference(attr->kind))
		attr->data = (uint32_t)step;
	return attr->kind == WV_EQUAL ? read_payload(r, attr, bytes) : 0;
}

static int read_attrs(struct reader *r, json_t *attrs, const struct wv_command_row *row)
{
	size_t i;
	json_t *json;
	int err;

	json_array_foreach (attrs, i, json) {
		err = read_attr(r, json, &wv_step_attrs(r->out.step)[i], row);
		if (err)
			return err;
	}
	return 0;
}

static int read_step(struct reader *r, json_t *json)
{
	json_int_t object, method, write_cmd = WV_NO_WRITE_CMD, failed = 0, target = WV_NONE;
	const char *command, *class_;
	const struct wv_command_row *row;
	json_error_t error;
	json_t *attrs;
	int err;

	if (json_unpack_ex(json, &error, JSON_STRICT, "{s:s, s:s, s:I, s:I, s?I, s?I, s?I, s:o}",
			   "command", &command, "class", &class_, "object", &object, "method",
			   &method, "write_cmd", &write_cmd, "error", &failed, "target", &target,
			   "attrs", &attrs))
		return bad(r, error.text);
	if (!fits(object, UINT16_MAX) || !fits(method, UINT16_MAX) ||
	    !fits(write_cmd, UINT32_MAX) || !fits(failed, INT16_MAX) || !fits(target, UINT32_MAX))
		return bad(r, "a number is out of range");
	row = wv_abi_find(r->out.cmdlog->driver_id, (uint16_t)object, (uint16_t)method,
			  (uint32_t)write_cmd);
	if (!row || !json_is_array(attrs))
		return bad(r, "not a known command");
	if (!wv_cmdlog_step(&r->out, row, (unsigned int)json_array_size(attrs)))
		return bad(r, "too many attributes or steps");
	r->out.step->error = (int32_t)failed;
	r->out.step->target = (uint32_t)target;
	err = read_attrs(r, attrs, row);
	if (!err)
		wv_cmdlog_commit(&r->out);
	return err;
}

static int read_steps(struct reader *r, json_t *steps)
{
	size_t i;
	json_t *json;
	int err;

	if (!json_is_array(steps))
		return bad(r, "steps are not a list");
	json_array_foreach (steps, i, json) {
		err = read_step(r, json);
		if (err)
			return err;
	}
	return wv_cmdlog_check(r->out.cmdlog, r->out.cmdlog->bytes, WV_RECIPE)
		   ? bad(r, "not a well-formed recipe")
		   : 0;
}

int wv_steps_from_json(json_t *steps, uint32_t driver_id, struct wv_cmdlog **cmdlog, char *why,
		       size_t capacity)
{
	wv_auto_free void *memory = malloc(WV_CMDLOG_MAX_BYTES);
	struct reader r = {.why = why, .capacity = capacity};
	int err;

	if (!memory)
		return -ENOMEM;
	wv_cmdlog_begin(&r.out, memory, WV_CMDLOG_MAX_BYTES, WV_RECIPE, driver_id);
	err = read_steps(&r, steps);
	if (err)
		return err;
	*cmdlog = malloc(r.out.cmdlog->bytes);
	if (!*cmdlog)
		return -ENOMEM;
	memcpy(*cmdlog, r.out.cmdlog, r.out.cmdlog->bytes);
	return 0;
}
