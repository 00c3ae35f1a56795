/* SPDX-License-Identifier: BSD-2-Clause */
/* A command log that passed the check can be walked; what is not a command log does not pass. */
#include "fixture.h"

static volatile uint8_t sink;

/* Reads every byte that a loop over the command log may read. */
static void walk(struct wv_cmdlog *cmdlog)
{
	wv_each_step (cmdlog, step) {
		wv_each_attr (step, attr) {
			size_t len = attr->len > 8 ? attr->len : 8;

			for (size_t i = 0; attr->payload && i < len; i++)
				sink ^= *wv_step_at(step, attr->payload + (uint32_t)i);
		}
		sink ^= (uint8_t)*wv_step_row(step)->name;
	}
}

static int check(struct wv_cmdlog *cmdlog, enum wv_form form)
{
	return wv_cmdlog_check(cmdlog, cmdlog->bytes, form);
}

static void test_accepts_every_fixture(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < N_FIXTURES; i++) {
		wv_auto_free struct wv_cmdlog *cmdlog = fixture_load(fixture_names[i]);

		assert_int_equal(check(cmdlog, WV_RECORD), 0);
		assert_int_equal(check(cmdlog, WV_RECIPE), -EPROTO);
		assert_int_equal(check(cmdlog, WV_LEASE), -EPROTO);
		walk(cmdlog);
	}
}

static void test_rejects_every_truncation(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < N_FIXTURES; i++) {
		wv_auto_free struct wv_cmdlog *cmdlog = fixture_load(fixture_names[i]);

		for (uint32_t bytes = 0; bytes < cmdlog->bytes; bytes++) {
			wv_auto_free struct wv_cmdlog *part = copy_exactly(cmdlog, bytes);

			assert_int_equal(wv_cmdlog_check(part, bytes, WV_RECORD), -EPROTO);
			if (bytes < sizeof(*part))
				continue;
			part->bytes = bytes; /* also if it says so itself */
			assert_int_equal(wv_cmdlog_check(part, bytes, WV_RECORD), -EPROTO);
		}
	}
}

static void test_rejects_what_follows(void **state)
{
	wv_auto_free struct wv_cmdlog *cmdlog = fixture_load("devinfo");
	wv_auto_free struct wv_cmdlog *longer = malloc(cmdlog->bytes + 8);

	(void)state;
	memcpy(longer, cmdlog, cmdlog->bytes);
	assert_int_equal(wv_cmdlog_check(longer, cmdlog->bytes + 8, WV_RECORD), -EPROTO);
	longer->bytes += 8;
	assert_int_equal(wv_cmdlog_check(longer, cmdlog->bytes + 8, WV_RECORD), -EPROTO);
}

static void corrupt_everywhere(const char *name, enum wv_form form, struct wv_cmdlog *cmdlog)
{
	static const uint8_t flips[] = {0x01, 0x80, 0xff};
	unsigned int rejected = 0;
	uint8_t *bytes = (uint8_t *)cmdlog;
	uint32_t n = cmdlog->bytes;

	for (uint32_t at = 0; at < n; at++)
		for (size_t f = 0; f < sizeof(flips); f++) {
			bytes[at] ^= flips[f];
			if (wv_cmdlog_check(cmdlog, n, form))
				rejected++;
			else
				walk(cmdlog);
			bytes[at] ^= flips[f];
		}
	if (rejected < n / 8)
		fail_msg("%s: next to nothing was rejected", name);
}

static void test_survives_every_corrupt_byte(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < N_FIXTURES; i++) {
		wv_auto_free struct wv_cmdlog *record = fixture_load(fixture_names[i]);
		wv_auto_free struct wv_cmdlog *recipe = recipe_of(record);

		corrupt_everywhere(fixture_names[i], WV_RECORD, record);
		corrupt_everywhere(fixture_names[i], WV_RECIPE, recipe);
	}
}

#define assert_rejected(statement)                                                                 \
	do {                                                                                       \
		wv_auto_free struct wv_cmdlog *cmdlog = fixture_load("rc_pingpong");               \
		struct wv_step *qp = tape_find(cmdlog, "QP_CREATE", 0);                            \
		struct wv_attr *cap = wv_step_attr(qp, UVERBS_ATTR_CREATE_QP_CAP);                 \
                                                                                                   \
		(void)cap;                                                                         \
		statement;                                                                         \
		assert_int_equal(wv_cmdlog_check(cmdlog, fixture_bytes, WV_RECORD), -EPROTO);      \
	} while (0)

static void test_rejects_bad_headers(void **state)
{
	wv_auto_free struct wv_cmdlog *good = fixture_load("rc_pingpong");
	uint32_t fixture_bytes = good->bytes;

	(void)state;
	assert_rejected(cmdlog->magic++);
	assert_rejected(cmdlog->format++);
	assert_rejected(cmdlog->form = 0);
	assert_rejected(cmdlog->bytes += 8);
	assert_rejected(cmdlog->n_steps++);
	assert_rejected(cmdlog->n_steps--);
	assert_rejected(cmdlog->n_steps = WV_CMDLOG_MAX_STEPS + 1);
	assert_rejected(cmdlog->n_fds = WV_CMDLOG_MAX_FDS + 1);
}

static void test_rejects_bad_steps(void **state)
{
	wv_auto_free struct wv_cmdlog *good = fixture_load("rc_pingpong");
	uint32_t fixture_bytes = good->bytes;

	(void)state;
	assert_rejected(qp->bytes = 0);
	assert_rejected(qp->bytes += 4);
	assert_rejected(qp->bytes = 0xfffffff8);
	assert_rejected(qp->method = 99);
	assert_rejected(qp->class_ = WV_CONSTANT);
	assert_rejected(qp->state = WV_TAKEN);
	assert_rejected(qp->n_attrs = WV_CMDLOG_MAX_ATTRS + 1);
	assert_rejected(qp->n_attrs = 255);
	assert_rejected(tape_find(cmdlog, "alloc_pd", 0)->write_cmd = IB_USER_VERBS_CMD_REG_MR);
}

static void test_rejects_bad_attributes(void **state)
{
	wv_auto_free struct wv_cmdlog *good = fixture_load("rc_pingpong");
	uint32_t fixture_bytes = good->bytes;

	(void)state;
	assert_rejected(cap->id = 99);
	assert_rejected(cap->kind = WV_OUT);
	assert_rejected(cap->payload = 0);
	assert_rejected(cap->payload += 4);
	assert_rejected(cap->payload = 8); /* the step's own head */
	assert_rejected(cap->payload = qp->bytes);
	assert_rejected(cap->payload = qp->bytes - 16); /* of 20 bytes */
	assert_rejected(cap->payload = 0xfffffff8);
	assert_rejected(cap->len = 0xffff);
}

static void test_rejects_misaligned_memory(void **state)
{
	wv_auto_free struct wv_cmdlog *cmdlog = fixture_load("devinfo");
	wv_auto_free uint8_t *shifted = malloc(cmdlog->bytes + 8);

	(void)state;
	for (unsigned int by = 1; by < 8; by++) {
		memcpy(shifted + by, cmdlog, cmdlog->bytes);
		assert_int_equal(wv_cmdlog_check(shifted + by, cmdlog->bytes, WV_RECORD), -EPROTO);
	}
}

static const struct wv_command_row *find_row(uint16_t object, uint16_t method)
{
	return wv_abi_find(WV_ANY_DRIVER, object, method, WV_NO_WRITE_CMD);
}

/* A lease of one step with one attribute of each kind that refers to something. */
struct small_lease {
	_Alignas(8) uint8_t memory[512];
	struct wv_cmdlog_writer w;
	struct wv_step *step;
};

static struct wv_attr *begin_lease(struct small_lease *l, uint16_t object, uint16_t method,
				   uint16_t attr)
{
	const struct wv_command_row *row = find_row(object, method);
	struct wv_attr *to;

	wv_cmdlog_begin(&l->w, l->memory, sizeof(l->memory), WV_LEASE, RDMA_DRIVER_RXE);
	l->step = wv_cmdlog_step(&l->w, row, 1);
	to = wv_step_attrs(l->step);
	*to = (struct wv_attr){.id = attr, .kind = wv_abi_attr(row, attr)->kind};
	return to;
}

static int end_lease(struct small_lease *l, unsigned int n_fds)
{
	wv_cmdlog_commit(&l->w);
	l->w.cmdlog->n_fds = (uint16_t)n_fds;
	return check(l->w.cmdlog, WV_LEASE);
}

static void test_lease_slots_are_in_bounds(void **state)
{
	struct small_lease l;

	(void)state;
	for (uint32_t slot = 0; slot < 4; slot++) {
		begin_lease(&l, UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE,
			    UVERBS_ATTR_CREATE_CQ_EVENT_FD)
		    ->data = slot;
		assert_int_equal(end_lease(&l, 2), slot < 2 ? 0 : -EPROTO);
		begin_lease(&l, UVERBS_OBJECT_ASYNC_EVENT, UVERBS_METHOD_ASYNC_EVENT_ALLOC,
			    UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE);
		l.step->new_fd = slot;
		assert_int_equal(end_lease(&l, 2), slot < 2 ? 0 : -EPROTO);
	}
}

/* Adoption looks up the slot of every new descriptor, and copies every answer. */
static void test_lease_has_what_adoption_gives(void **state)
{
	struct small_lease l;
	struct wv_attr *out;

	(void)state;
	begin_lease(&l, UVERBS_OBJECT_ASYNC_EVENT, UVERBS_METHOD_ASYNC_EVENT_ALLOC,
		    UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE);
	assert_int_equal(end_lease(&l, 2), -EPROTO);
	out = begin_lease(&l, UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE,
			  UVERBS_ATTR_CREATE_CQ_RESP_CQE);
	out->len = 400;
	assert_int_equal(end_lease(&l, 0), -EPROTO);
	out = begin_lease(&l, UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE,
			  UVERBS_ATTR_CREATE_CQ_RESP_CQE);
	out->len = 4;
	out->payload = wv_cmdlog_payload(&l.w, NULL, out->len);
	assert_int_equal(end_lease(&l, 0), 0);
}

/* Appends the steps of @cmdlog to a command log of @capacity bytes; how many fitted. */
static unsigned int copy_into(struct wv_cmdlog *cmdlog, void *memory, size_t capacity)
{
	struct wv_cmdlog_writer w;

	wv_cmdlog_begin(&w, memory, capacity, WV_RECORD, cmdlog->driver_id);
	wv_each_step (cmdlog, step) {
		struct wv_step *to = wv_cmdlog_step(
		    &w, wv_abi_find(WV_ANY_DRIVER, step->object, step->method, step->write_cmd),
		    step->n_attrs);
		unsigned int i = 0;

		if (!to)
			break;
		wv_each_attr (step, attr) {
			struct wv_attr *copy = &wv_step_attrs(to)[i++];

			*copy = *attr;
			if (attr->payload)
				copy->payload =
				    wv_cmdlog_payload(&w, wv_attr_bytes(step, attr), attr->len);
		}
		to->error = step->error;
		to->new_handle = step->new_handle;
		to->new_fd = step->new_fd;
		to->target = step->target;
		wv_cmdlog_commit(&w);
	}
	assert_int_equal(w.full, w.cmdlog->bytes < cmdlog->bytes);
	return w.cmdlog->n_steps;
}

static void test_a_full_tape_is_a_prefix(void **state)
{
	wv_auto_free struct wv_cmdlog *cmdlog = fixture_load("rc_pingpong_events");

	(void)state;
	for (size_t capacity = sizeof(*cmdlog); capacity <= cmdlog->bytes; capacity++) {
		wv_auto_free struct wv_cmdlog *part = malloc(capacity);
		unsigned int n = copy_into(cmdlog, part, capacity);

		assert_true(part->bytes <= capacity);
		assert_int_equal(check(part, WV_RECORD), 0);
		assert_int_equal(part->n_steps, n);
		assert_memory_equal(part + 1, cmdlog + 1, part->bytes - sizeof(*part));
		if (n < cmdlog->n_steps) /* the next step really did not fit */
			assert_true(part->bytes + tape_step(cmdlog, n)->bytes > capacity);
	}
}

static void test_the_format_has_limits_of_its_own(void **state)
{
	const struct wv_command_row *row =
	    find_row(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT);
	wv_auto_free uint8_t *memory = malloc(4 * WV_CMDLOG_MAX_BYTES);
	struct wv_cmdlog_writer w;

	(void)state;
	wv_cmdlog_begin(&w, memory, 4 * WV_CMDLOG_MAX_BYTES, WV_RECORD, RDMA_DRIVER_RXE);
	for (unsigned int i = 0; i < WV_CMDLOG_MAX_STEPS + 9; i++) {
		wv_cmdlog_step(&w, row, 0);
		wv_cmdlog_commit(&w);
	}
	assert_true(w.full);
	assert_int_equal(w.cmdlog->n_steps, WV_CMDLOG_MAX_STEPS);
	assert_int_equal(check(w.cmdlog, WV_RECORD), 0);

	wv_cmdlog_begin(&w, memory, 4 * WV_CMDLOG_MAX_BYTES, WV_RECORD, RDMA_DRIVER_RXE);
	for (unsigned int i = 0; i < 4; i++) {
		if (wv_cmdlog_step(&w, row, 0))
			wv_cmdlog_payload(&w, NULL, 40000);
		wv_cmdlog_commit(&w);
	}
	assert_int_equal(w.cmdlog->n_steps, 2);
	assert_int_equal(check(w.cmdlog, WV_RECORD), 0);

	wv_cmdlog_begin(&w, memory, 4 * WV_CMDLOG_MAX_BYTES, WV_RECORD, RDMA_DRIVER_RXE);
	assert_null(wv_cmdlog_step(&w, row, WV_CMDLOG_MAX_ATTRS + 1));
	assert_true(w.full);
}

static void test_an_abandoned_step_leaves_nothing(void **state)
{
	const struct wv_command_row *row =
	    find_row(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT);
	_Alignas(8) uint8_t memory[256];
	struct wv_cmdlog_writer w;

	(void)state;
	wv_cmdlog_begin(&w, memory, sizeof(memory), WV_RECORD, RDMA_DRIVER_RXE);
	wv_cmdlog_step(&w, row, 1);
	wv_cmdlog_abandon(&w);
	wv_cmdlog_commit(&w);
	assert_int_equal(w.cmdlog->n_steps, 0);
	assert_int_equal(check(w.cmdlog, WV_RECORD), 0);
	wv_cmdlog_step(&w, row, 0);
	wv_cmdlog_commit(&w);
	assert_int_equal(w.cmdlog->n_steps, 1);
	assert_int_equal(check(w.cmdlog, WV_RECORD), 0);
}

/* Short inputs are compared and sent as eight bytes: the rest must be zero. */
static void test_short_payloads_are_padded_with_zeroes(void **state)
{
	static const uint8_t input[3] = {1, 2, 3}, expected[8] = {1, 2, 3};
	_Alignas(8) uint8_t memory[256];
	struct wv_cmdlog_writer w;
	uint32_t offset;

	(void)state;
	memset(memory, 0xee, sizeof(memory));
	wv_cmdlog_begin(&w, memory, sizeof(memory), WV_RECORD, RDMA_DRIVER_RXE);
	wv_cmdlog_step(&w, find_row(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT), 0);
	offset = wv_cmdlog_payload(&w, input, sizeof(input));
	assert_int_equal(offset % 8, 0);
	assert_memory_equal(wv_step_at(w.step, offset), expected, sizeof(expected));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_accepts_every_fixture),
	    cmocka_unit_test(test_rejects_every_truncation),
	    cmocka_unit_test(test_rejects_what_follows),
	    cmocka_unit_test(test_survives_every_corrupt_byte),
	    cmocka_unit_test(test_rejects_bad_headers),
	    cmocka_unit_test(test_rejects_bad_steps),
	    cmocka_unit_test(test_rejects_bad_attributes),
	    cmocka_unit_test(test_rejects_misaligned_memory),
	    cmocka_unit_test(test_lease_slots_are_in_bounds),
	    cmocka_unit_test(test_lease_has_what_adoption_gives),
	    cmocka_unit_test(test_a_full_tape_is_a_prefix),
	    cmocka_unit_test(test_the_format_has_limits_of_its_own),
	    cmocka_unit_test(test_an_abandoned_step_leaves_nothing),
	    cmocka_unit_test(test_short_payloads_are_padded_with_zeroes),
	};

	return cmocka_run_group_tests_name("cmdlog", tests, NULL, NULL);
}
