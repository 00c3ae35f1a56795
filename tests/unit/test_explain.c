/* SPDX-License-Identifier: BSD-2-Clause */
/* What `warmverbs explain` makes of a trace. */
#include "capture.h"
#include "cli/report.h"
#include "cli/summary.h"
#include "cli/trace_events.h"
#include "cli/trace_file.h"

#include <rdma/mlx5_user_ioctl_cmds.h>
#include <sys/mman.h>

/* A run under a lease in which one QP was asked for with another size. */
static const struct wv_trace run[] = {
    {.magic = WV_TRACE_MAGIC, .kind = WV_TRACE_LIST, .pid = 7, .start = 1000, .end = 401000},
    {.magic = WV_TRACE_MAGIC,
     .kind = WV_TRACE_OPEN,
     .how = WV_HOW_ADOPTED,
     .pid = 7,
     .start = 402000,
     .end = 412000},
    {.magic = WV_TRACE_MAGIC,
     .kind = WV_TRACE_COMMAND,
     .how = WV_HOW_ADOPTED,
     .pid = 7,
     .start = 413000,
     .end = 414000,
     .object = UVERBS_OBJECT_CQ,
     .method = UVERBS_METHOD_CQ_CREATE,
     .write_cmd = WV_NO_WRITE_CMD},
    {.magic = WV_TRACE_MAGIC,
     .kind = WV_TRACE_COMMAND,
     .how = WV_HOW_KERNEL,
     .pid = 7,
     .start = 415000,
     .end = 465000,
     .object = UVERBS_OBJECT_QP,
     .method = UVERBS_METHOD_QP_CREATE,
     .write_cmd = WV_NO_WRITE_CMD,
     .why = {.why = WV_WHY_VALUE, .attr = UVERBS_ATTR_CREATE_QP_CAP, .offset = 4}},
    {.magic = WV_TRACE_MAGIC,
     .kind = WV_TRACE_COMMAND,
     .how = WV_HOW_KERNEL,
     .pid = 7,
     .start = 470000,
     .end = 501000,
     .write_cmd = IB_USER_VERBS_CMD_MODIFY_QP,
     .method = UVERBS_METHOD_INVOKE_WRITE,
     .qp_state = IBV_QPS_INIT,
     .why = {.why = WV_WHY_NO_STEP}},
    {.magic = WV_TRACE_MAGIC,
     .kind = WV_TRACE_COMMAND,
     .how = WV_HOW_KERNEL,
     .pid = 7,
     .start = 510000,
     .end = 511000,
     .write_cmd = IB_USER_VERBS_CMD_MODIFY_QP,
     .method = UVERBS_METHOD_INVOKE_WRITE,
     .qp_state = IBV_QPS_RTS,
     .error = EINVAL,
     .why = {.why = WV_WHY_PASS}},
    {.magic = WV_TRACE_MAGIC,
     .kind = WV_TRACE_PURGE,
     .pid = 7,
     .start = 520000,
     .end = 521000,
     .object = UVERBS_OBJECT_QP},
};

/* A method of a driver's own has that driver's name, and is unknown to another. */
static void test_a_command_is_named_by_its_driver(void **state)
{
	struct wv_trace event = {
	    .kind = WV_TRACE_COMMAND,
	    .driver_id = RDMA_DRIVER_MLX5,
	    .object = MLX5_IB_OBJECT_UAR,
	    .method = MLX5_IB_METHOD_UAR_OBJ_ALLOC,
	    .write_cmd = WV_NO_WRITE_CMD,
	};
	char text[WV_EVENT_TEXT];

	(void)state;
	assert_string_equal(wv_event_what(&event, text), "uar_obj_alloc");
	event.driver_id = RDMA_DRIVER_EFA;
	assert_string_not_equal(wv_event_what(&event, text), "uar_obj_alloc");
	event.object = UVERBS_OBJECT_CQ;
	event.method = UVERBS_METHOD_CQ_CREATE;
	assert_string_equal(wv_event_what(&event, text), "CQ_CREATE");
}

/* So is the value that differed. */
static void test_a_value_is_named_by_its_driver(void **state)
{
	struct wv_trace event = {
	    .kind = WV_TRACE_COMMAND,
	    .driver_id = RDMA_DRIVER_MLX5,
	    .object = UVERBS_OBJECT_CQ,
	    .method = UVERBS_METHOD_CQ_CREATE,
	    .write_cmd = WV_NO_WRITE_CMD,
	    .why = {.why = WV_WHY_VALUE, .attr = UVERBS_ATTR_UHW_IN},
	};
	char text[WV_EVENT_TEXT];

	(void)state;
	assert_non_null(strstr(wv_event_why(&event, text), ": buf_addr"));
	event.driver_id = RDMA_DRIVER_EFA;
	assert_null(strstr(wv_event_why(&event, text), "buf_addr"));
}

static void test_summary(void **state)
{
	const struct wv_run of = {run, WV_ARRAY_SIZE(run), true};
	struct wv_summary s;

	(void)state;
	wv_summarise(&of, &s);
	assert_int_equal(s.adopted, 1);
	assert_int_equal(s.kernel, 3);
	assert_int_equal(s.diverged, 2);
	assert_int_equal(s.recorded, 0);
	assert_int_equal(s.creating, 3);
	assert_int_equal(s.ahead, 1);
	assert_int_equal(s.repairs, 1);
	assert_int_equal(s.opens, 1);
	assert_int_equal(s.leased, 1);
	assert_int_equal(s.to_init, 500000);
	assert_int_equal(s.to_rts, 0); /* it failed */
}

/*
 * A lease can contain neither what the kernel refuses nor what it always answers. A constant that
 * it answered diverged, though it is no object.
 */
static void test_warm(void **state)
{
	struct wv_trace events[] = {
	    {.kind = WV_TRACE_OPEN, .how = WV_HOW_ADOPTED, .pid = 7},
	    {.kind = WV_TRACE_COMMAND,
	     .how = WV_HOW_ADOPTED,
	     .pid = 7,
	     .method = UVERBS_METHOD_INVOKE_WRITE,
	     .write_cmd = IB_USER_VERBS_CMD_ALLOC_PD},
	    {.kind = WV_TRACE_COMMAND,
	     .how = WV_HOW_KERNEL,
	     .pid = 7,
	     .object = UVERBS_OBJECT_CQ,
	     .method = UVERBS_METHOD_CQ_CREATE,
	     .write_cmd = WV_NO_WRITE_CMD,
	     .error = EINVAL,
	     .why = {.why = WV_WHY_VALUE, .attr = UVERBS_ATTR_CREATE_CQ_COMP_VECTOR}},
	    {.kind = WV_TRACE_COMMAND,
	     .how = WV_HOW_KERNEL,
	     .pid = 7,
	     .method = UVERBS_METHOD_INVOKE_WRITE,
	     .write_cmd = IB_USER_VERBS_CMD_ALLOC_PD,
	     .why = {.why = WV_WHY_PASS}},
	    {.kind = WV_TRACE_COMMAND,
	     .how = WV_HOW_KERNEL,
	     .pid = 7,
	     .method = UVERBS_METHOD_INVOKE_WRITE,
	     .write_cmd = IB_USER_VERBS_CMD_QUERY_DEVICE,
	     .why = {.why = WV_WHY_NO_STEP}},
	};
	struct wv_run of = {events, WV_ARRAY_SIZE(events) - 1, true};
	struct capture c;

	(void)state;
	for (; of.n <= WV_ARRAY_SIZE(events); of.n++) {
		capture_begin(&c);
		assert_int_equal(wv_report_text(&of, c.out), 0);
		fclose(c.out);
		assert_non_null(strstr(c.text, of.n < WV_ARRAY_SIZE(events)
						   ? "(0 of them diverged"
						   : "(1 of them diverged"));
		assert_non_null(strstr(c.text, of.n < WV_ARRAY_SIZE(events)
						   ? "warm: yes (done ahead: 1 of 1 "
						   : "warm: no (done ahead: 1 of 1 "));
		free(c.text);
	}
}

/* The start of a time is that of the same process. */
static void test_summary_of_two_processes(void **state)
{
	struct wv_trace both[] = {
	    {.kind = WV_TRACE_LIST, .pid = 1, .start = 0, .end = 10},
	    {.kind = WV_TRACE_OPEN, .pid = 2, .start = 50, .end = 60, .no_lease = 3},
	    {.kind = WV_TRACE_COMMAND,
	     .how = WV_HOW_KERNEL,
	     .pid = 2,
	     .start = 70,
	     .end = 80,
	     .why = {.why = WV_WHY_UNKNOWN},
	     .write_cmd = IB_USER_VERBS_CMD_MODIFY_QP,
	     .qp_state = IBV_QPS_INIT},
	};
	const struct wv_run of = {both, WV_ARRAY_SIZE(both), true};
	struct wv_summary s;

	(void)state;
	wv_summarise(&of, &s);
	assert_int_equal(s.to_init, 30);
	assert_int_equal(s.diverged, 0); /* there was no lease to leave */
	assert_int_equal(s.without_lease[WV_NO_LEASE_DENIED], 1);
}

static void test_report_text(void **state)
{
	struct wv_run of = {run, WV_ARRAY_SIZE(run), true};
	struct capture c;

	(void)state;
	capture_begin(&c);
	assert_int_equal(wv_report_text(&of, c.out), 0);
	capture_expect(&c,
		       "at ms  took us  process  what                  by       why\n"
		       "0.000    400.0        7  get_device_list       library\n"
		       "0.401     10.0        7  open                  lease\n"
		       "0.412      1.0        7  CQ_CREATE             lease\n"
		       "0.414     50.0        7  QP_CREATE             kernel   "
		       "another value than in the recipe: max_recv_wr\n"
		       "0.469     31.0        7  modify_qp to INIT     kernel   not in the recipe\n"
		       "0.509      1.0        7  modify_qp to RTS      kernel   "
		       "always answered by the kernel; failed: EINVAL\n"
		       "0.519      1.0        7  destroy an unused QP  kernel\n"
		       "\n"
		       "commands: 1 from the lease, 3 to the kernel (2 of them diverged from the "
		       "recipe), 0 recorded\n"
		       "warm: no (done ahead: 1 of 3 commands that create an object or move a QP "
		       "to INIT)\n"
		       "repairs: 1 (steps of the lease that were undone)\n"
		       "first QP in INIT after 500 us\n"
		       "lease: 1 of 1 opens of a device\n");
}

static ssize_t count_write(void *cookie, const char *text, size_t bytes)
{
	size_t *n = cookie;

	(void)text;
	++*n;
	return (ssize_t)bytes;
}

/* Not cell by cell: on a slow file system, each write of stderr waits. */
static void test_a_table_is_written_at_once(void **state)
{
	static struct wv_trace many[1000];
	struct wv_run of = {many, WV_ARRAY_SIZE(many), true};
	size_t n = 0;
	FILE *out = fopencookie(&n, "w", (cookie_io_functions_t){.write = count_write});

	(void)state;
	assert_non_null(out);
	setvbuf(out, NULL, _IONBF, 0);
	for (size_t i = 0; i < WV_ARRAY_SIZE(many); i++)
		many[i] = run[0];
	assert_int_equal(wv_report_text(&of, out), 0);
	fclose(out);
	assert_in_range(n, 1, 20);
}

static void test_report_without_lease(void **state)
{
	static const struct wv_trace opened[] = {
	    {.kind = WV_TRACE_OPEN, .how = WV_HOW_RECORDED, .no_lease = WV_NO_LEASE_RECORD},
	};
	struct wv_run asked = {opened, 1, true}, not_asked = {opened, 1, false};
	struct wv_run nothing = {NULL, 0, true};
	struct capture c;

	(void)state;
	capture_begin(&c);
	wv_report_text(&asked, c.out);
	fflush(c.out);
	assert_non_null(strstr(c.text, "no lease: 1 of 1 opens: the daemon did not know"));
	wv_report_text(&not_asked, c.out);
	fflush(c.out);
	assert_non_null(strstr(c.text, "(--no-lease or WARMVERBS_LEASE=0)"));
	wv_report_text(&nothing, c.out);
	fclose(c.out);
	assert_non_null(strstr(c.text, "no RDMA call was seen"));
	free(c.text);
}

static void expect_line(const struct wv_run *of, const char *line)
{
	struct capture c;

	capture_begin(&c);
	assert_int_equal(wv_report_line(of, c.out), 0);
	capture_expect(&c, line);
}

static void test_summary_line(void **state)
{
	static const struct wv_trace taken[] = {
	    {.kind = WV_TRACE_OPEN, .how = WV_HOW_KERNEL, .no_lease = WV_NO_LEASE_DENIED},
	    {.kind = WV_TRACE_OPEN, .how = WV_HOW_RECORDED, .no_lease = WV_NO_LEASE_RECORD},
	    {.kind = WV_TRACE_OPEN, .how = WV_HOW_RECORDED, .no_lease = WV_NO_LEASE_RECORD},
	};

	(void)state;
	expect_line(
	    &(struct wv_run){run, WV_ARRAY_SIZE(run), true},
	    "warmverbs: 1 of 4 commands were done ahead (leases: 1 of 1 opens), first QP in "
	    "INIT after 500 us\n");
	expect_line(&(struct wv_run){taken, 3, true},
		    "warmverbs: no lease: the daemon did not know this program, so this run was "
		    "recorded; run it again: the daemon now prepares leases for it\n");
	expect_line(&(struct wv_run){taken, 3, false},
		    "warmverbs: no lease was requested (--no-lease or WARMVERBS_LEASE=0)\n");
	expect_line(&(struct wv_run){run, 1, true}, "warmverbs: no device was opened\n");
	expect_line(&(struct wv_run){NULL, 0, true},
		    "warmverbs: no RDMA call was seen; see LIMITS in warmverbs(7)\n");
}

static void test_report_of_spares(void **state)
{
	static const struct wv_trace taken[] = {
	    {.kind = WV_TRACE_COMMAND,
	     .how = WV_HOW_SPARE,
	     .object = UVERBS_OBJECT_QP,
	     .method = UVERBS_METHOD_QP_CREATE,
	     .write_cmd = WV_NO_WRITE_CMD},
	    {.kind = WV_TRACE_COMMAND,
	     .how = WV_HOW_SPARE,
	     .write_cmd = IB_USER_VERBS_CMD_MODIFY_QP,
	     .qp_state = IBV_QPS_INIT},
	};
	struct wv_run of = {taken, WV_ARRAY_SIZE(taken), true};
	json_t *report = wv_report_json(&of);
	struct capture c;
	int n = 0;

	(void)state;
	capture_begin(&c);
	assert_int_equal(wv_report_text(&of, c.out), 0);
	fclose(c.out);
	assert_non_null(strstr(c.text, "QP_CREATE          spare\n"));
	assert_non_null(strstr(c.text, "modify_qp to INIT  spare\n"));
	assert_non_null(strstr(c.text, "spares: 2 commands"));
	assert_non_null(strstr(c.text, "warm: yes (done ahead: 2 of 2 commands"));
	free(c.text);
	assert_int_equal(json_unpack(report, "{s:{s:i}}", "summary", "spares", &n), 0);
	assert_int_equal(n, 2);
	json_decref(report);
}

static const struct wv_trace copied[] = {
    {.magic = WV_TRACE_MAGIC, .kind = WV_TRACE_COPIED, .pid = 8, .why = {.offset = 0x1f00}},
    {.magic = WV_TRACE_MAGIC, .kind = WV_TRACE_COPIED, .pid = 9, .why = {.offset = 0x1f01}},
};

static void test_warning_of_copied_memory(void **state)
{
	struct wv_run of = {copied, WV_ARRAY_SIZE(copied), true};
	json_t *report = wv_report_json(&of);
	struct capture c;
	int n = 0;

	(void)state;
	capture_begin(&c);
	assert_int_equal(wv_report_text(&of, c.out), 0);
	fclose(c.out);
	assert_non_null(strstr(c.text, "post with lkey 0x1f00  child  registered by the parent"));
	assert_non_null(strstr(c.text, "warning: 2 (stale memory regions: a forked child posted"));
	assert_non_null(strstr(c.text, "WARMVERBS_SHARE_MR=1"));
	assert_null(strstr(c.text, "repairs:"));
	free(c.text);
	assert_int_equal(json_unpack(report, "{s:{s:i}}", "summary", "copied", &n), 0);
	assert_int_equal(n, 2);
	json_decref(report);
}

/* A lease is no longer followed after either; only one of the two is unknown. */
static void test_privileged_command(void **state)
{
	static const struct wv_trace both[] = {
	    {.kind = WV_TRACE_COMMAND,
	     .method = UVERBS_METHOD_INVOKE_WRITE,
	     .write_cmd = IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_CREATE_FLOW,
	     .why = {.why = WV_WHY_UNKNOWN}},
	    {.kind = WV_TRACE_COMMAND,
	     .object = 0x7fff,
	     .write_cmd = WV_NO_WRITE_CMD,
	     .why = {.why = WV_WHY_UNKNOWN}},
	};
	struct wv_run of = {both, WV_ARRAY_SIZE(both), true};
	struct capture c;

	(void)state;
	capture_begin(&c);
	assert_int_equal(wv_report_text(&of, c.out), 0);
	fclose(c.out);
	assert_non_null(strstr(c.text, "create_flow             kernel  privileged command\n"));
	assert_non_null(strstr(c.text, "object 0x7fff method 0  kernel  unknown command\n"));
	free(c.text);
}

static void test_report_json(void **state)
{
	struct wv_run of = {run, WV_ARRAY_SIZE(run), true};
	json_t *report = wv_report_json(&of);
	int adopted = 0, diverged = 0, at = 0;
	const char *what = NULL, *by = NULL;
	json_t *to_rts = NULL;

	(void)state;
	assert_int_equal(json_unpack(report, "{s:{s:i, s:i, s:o}}", "summary", "adopted", &adopted,
				     "diverged", &diverged, "to_rts_ns", &to_rts),
			 0);
	assert_int_equal(adopted, 1);
	assert_int_equal(diverged, 2);
	assert_true(json_is_null(to_rts));
	assert_int_equal(json_array_size(json_object_get(report, "events")), WV_ARRAY_SIZE(run));
	assert_int_equal(json_unpack(json_array_get(json_object_get(report, "events"), 4),
				     "{s:s, s:s, s:i}", "what", &what, "by", &by, "at_ns", &at),
			 0);
	assert_string_equal(what, "modify_qp to INIT");
	assert_string_equal(by, "kernel");
	assert_int_equal(at, 469000);
	json_decref(report);
}

static int make_file(const void *data, size_t bytes)
{
	int fd = memfd_create("test", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, bytes), (ssize_t)bytes);
	return fd;
}

static void test_trace_file(void **state)
{
	struct wv_trace two[2] = {run[1], run[0]};
	wv_auto_free struct wv_trace *records = NULL;
	wv_auto_fd whole = make_file(two, sizeof(two));
	wv_auto_fd torn = make_file(two, sizeof(two) - 1);
	wv_auto_fd empty = make_file(two, 0);
	wv_auto_fd other = -1;
	struct wv_trace *more;
	size_t n;

	(void)state;
	assert_int_equal(wv_trace_read(whole, &records, &n), 0);
	assert_int_equal(n, 2);
	assert_int_equal(records[0].start, 1000); /* in order */
	assert_int_equal(wv_trace_read(torn, &more, &n), 0);
	assert_int_equal(n, 1);
	free(more);
	assert_int_equal(wv_trace_read(empty, &more, &n), 0);
	assert_int_equal(n, 0);
	free(more);
	two[1].magic = 0;
	other = make_file(two, sizeof(two));
	assert_int_equal(wv_trace_read(other, &more, &n), -EPROTO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_a_command_is_named_by_its_driver),
	    cmocka_unit_test(test_a_value_is_named_by_its_driver),
	    cmocka_unit_test(test_summary),
	    cmocka_unit_test(test_warm),
	    cmocka_unit_test(test_summary_of_two_processes),
	    cmocka_unit_test(test_report_text),
	    cmocka_unit_test(test_a_table_is_written_at_once),
	    cmocka_unit_test(test_report_without_lease),
	    cmocka_unit_test(test_summary_line),
	    cmocka_unit_test(test_report_json),
	    cmocka_unit_test(test_report_of_spares),
	    cmocka_unit_test(test_warning_of_copied_memory),
	    cmocka_unit_test(test_trace_file),
	    cmocka_unit_test(test_privileged_command),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
