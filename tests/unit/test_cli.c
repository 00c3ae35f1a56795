/* The pure parts of the command line: from records and tapes to what a user reads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/base.h"
#include "cli/events.h"
#include "cli/program.h"
#include "cli/report.h"
#include "cli/summary.h"
#include "cli/table.h"
#include "cli/trace_file.h"
#include "cli/units.h"
#include "cli/values.h"
#include "tape/record.h"
#include "wire/wire.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* Text that is printed in a test; freed by its end. */
struct capture {
	char *text;
	size_t bytes;
	FILE *out;
};

static void capture_begin(struct capture *c)
{
	c->out = open_memstream(&c->text, &c->bytes);
	assert_non_null(c->out);
}

static void capture_expect(struct capture *c, const char *expected)
{
	fclose(c->out);
	assert_string_equal(c->text, expected);
	free(c->text);
}

static void test_units(void **state)
{
	static const struct {
		uint64_t value;
		const char *ns, *bytes;
	} cases[] = {
	    {0, "0 ns", "0 B"},
	    {999, "999 ns", "999 B"},
	    {1000, "1.00 us", "1000 B"},
	    {1024, "1.02 us", "1.00 KiB"},
	    {9996, "10.0 us", "9.76 KiB"},
	    {999950, "1.00 ms", "977 KiB"},
	    {4390000, "4.39 ms", "4.19 MiB"},
	    {1500000000, "1.50 s", "1.40 GiB"},
	    {90000000000, "90.0 s", "83.8 GiB"},
	};
	char text[WV_QUANTITY_MAX];

	(void)state;
	for (size_t i = 0; i < WV_ARRAY_SIZE(cases); i++) {
		assert_string_equal(wv_format_ns(cases[i].value, text), cases[i].ns);
		assert_string_equal(wv_format_bytes(cases[i].value, text), cases[i].bytes);
	}
}

static void test_table(void **state)
{
	static const struct wv_column columns[] = {{"n", true}, {"name", false}, {"why", false}};
	struct wv_table table;
	struct capture c;

	(void)state;
	wv_table_begin(&table, columns, WV_ARRAY_SIZE(columns));
	wv_table_cell(&table, "%d", 7);
	wv_table_cell(&table, "a");
	wv_table_cell(&table, "because");
	wv_table_cell(&table, "%d", 123);
	wv_table_cell(&table, "longer");
	wv_table_cell(&table, "%s", "");
	capture_begin(&c);
	assert_int_equal(wv_table_end(&table, c.out), 0);
	capture_expect(&c, "  n  name    why\n"
			   "  7  a       because\n"
			   "123  longer\n");
}

static void test_value_names(void **state)
{
	static const struct {
		uint16_t object, method, attr;
		uint32_t write_cmd, offset;
		const char *name;
	} cases[] = {
	    {UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE, UVERBS_ATTR_CREATE_CQ_CQE, WV_NO_WRITE_CMD,
	     2, "cqe"},
	    {UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE, UVERBS_ATTR_CREATE_QP_CAP, WV_NO_WRITE_CMD,
	     offsetof(struct ib_uverbs_qp_cap, max_inline_data) + 3, "max_inline_data"},
	    {UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE, UVERBS_ATTR_CORE_IN,
	     IB_USER_VERBS_CMD_MODIFY_QP, offsetof(struct ib_uverbs_modify_qp, qp_access_flags),
	     "qp_access_flags"},
	    {UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE, UVERBS_ATTR_CORE_IN,
	     IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_MODIFY_QP,
	     offsetof(struct ib_uverbs_modify_qp, port_num), "port_num"},
	    {UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE, UVERBS_ATTR_UHW_IN, WV_NO_WRITE_CMD, 5,
	     "byte 5 of attribute 0x1000"},
	};

	(void)state;
	for (size_t i = 0; i < WV_ARRAY_SIZE(cases); i++) {
		struct capture c;

		capture_begin(&c);
		wv_print_value_name(c.out, cases[i].object, cases[i].method, cases[i].write_cmd,
				    cases[i].attr, cases[i].offset);
		capture_expect(&c, cases[i].name);
	}
}

/* The recipe of a run recorded from the real kernel. */
static struct wv_tape *load_recipe(const char *fixture, void *memory)
{
	static _Alignas(8) uint8_t record[WV_TAPE_MAX_BYTES];
	wv_auto_free char *path = NULL;
	wv_auto_fd fd = -1;
	ssize_t got;

	assert_true(asprintf(&path, "%s/%s", WV_FIXTURES, fixture) > 0);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	got = read(fd, record, sizeof(record));
	assert_true(got > 0);
	assert_int_equal(wv_tape_check(record, (size_t)got, WV_RECORD), 0);
	assert_int_equal(wv_normalise((struct wv_tape *)record, memory, WV_TAPE_MAX_BYTES), 0);
	return memory;
}

static void test_step_values(void **state)
{
	static _Alignas(8) uint8_t memory[WV_TAPE_MAX_BYTES];
	struct wv_tape *recipe = load_recipe("rc_pingpong_events.0.record", memory);
	struct capture c;

	(void)state;
	capture_begin(&c);
	wv_each_step (recipe, step) {
		long before = ftell(c.out);

		wv_print_step_values(c.out, step);
		if (ftell(c.out) > before)
			fputc('\n', c.out);
	}
	capture_expect(&c, "cqe 501, comp_channel of step 3, comp_vector 0\n"
			   "qp_type RC, pd of step 4, send_cq of step 5, recv_cq of step 5, "
			   "max_send_wr 1, max_recv_wr 500, max_send_sge 1, max_recv_sge 1, "
			   "max_inline_data 0\n"
			   "qp_handle of step 6, qp_state INIT, port_num 1, pkey_index 0, "
			   "qp_access_flags 0\n");
}

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

static void test_summary(void **state)
{
	struct wv_summary s;

	(void)state;
	wv_summarise(run, WV_ARRAY_SIZE(run), &s);
	assert_int_equal(s.adopted, 1);
	assert_int_equal(s.kernel, 3);
	assert_int_equal(s.diverged, 2);
	assert_int_equal(s.recorded, 0);
	assert_int_equal(s.repairs, 1);
	assert_int_equal(s.opens, 1);
	assert_int_equal(s.leased, 1);
	assert_int_equal(s.to_init, 500000);
	assert_int_equal(s.to_rts, 0); /* it failed */
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
	struct wv_summary s;

	(void)state;
	wv_summarise(both, WV_ARRAY_SIZE(both), &s);
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
		       "always asked of the kernel; failed: EINVAL\n"
		       "0.519      1.0        7  destroy an unused QP  kernel\n"
		       "\n"
		       "commands: 1 from the lease, 3 to the kernel (2 of them diverged from the "
		       "recipe), 0 recorded\n"
		       "repairs: 1 (what the lease had done ahead, undone)\n"
		       "first QP in INIT after 500 us\n"
		       "lease: 1 of 1 opens of a device\n");
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
	assert_non_null(strstr(c.text, "(--no-lease)"));
	wv_report_text(&nothing, c.out);
	fclose(c.out);
	assert_non_null(strstr(c.text, "no RDMA call was seen"));
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

struct program {
	Elf64_Ehdr elf;
	Elf64_Phdr segment;
};

/* A file of @mode with @bytes of @data; its name is good until the next call. */
static const char *put_program(const void *data, size_t bytes, mode_t mode)
{
	static char path[] = "/tmp/warmverbs-test-XXXXXX";
	wv_auto_fd fd = -1;

	strcpy(path + sizeof(path) - 7, "XXXXXX");
	fd = mkostemp(path, O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, bytes), (ssize_t)bytes);
	assert_int_equal(fchmod(fd, mode), 0);
	return path;
}

static void expect_obstacle(const void *data, size_t bytes, mode_t mode, const char *expected)
{
	const char *path = put_program(data, bytes, mode);
	const char *obstacle = wv_program_obstacle(path);

	unlink(path);
	if (expected)
		assert_string_equal(obstacle, expected);
	else
		assert_null(obstacle);
}

static void test_obstacles(void **state)
{
	struct program p = {
	    .elf = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64},
		    .e_phoff = sizeof(Elf64_Ehdr),
		    .e_phentsize = sizeof(Elf64_Phdr),
		    .e_phnum = 1},
	    .segment = {.p_type = PT_INTERP},
	};
	static const char script[] = "#! /bin/sh -e\n";

	(void)state;
	expect_obstacle(&p, sizeof(p), 0755, NULL);
	p.segment.p_type = PT_LOAD;
	expect_obstacle(&p, sizeof(p), 0755, "statically linked");
	expect_obstacle(&p, sizeof(p.elf), 0755, "statically linked"); /* cut off */
	p.elf.e_ident[EI_CLASS] = ELFCLASS32;
	expect_obstacle(&p, sizeof(p), 0755, "of another word size");
	expect_obstacle(script, sizeof(script) - 1, 0755, NULL);
	expect_obstacle("#!/nowhere", 10, 0755, NULL);
	expect_obstacle("#!", 2, 0755, NULL);
	expect_obstacle("", 0, 0755, NULL);
	assert_null(wv_program_obstacle("/nowhere"));
}

static void test_find_program(void **state)
{
	char path[256];

	(void)state;
	setenv("PATH", "/nowhere::/bin", 1);
	assert_int_equal(wv_program_find("sh", path, sizeof(path)), 0);
	assert_string_equal(path, "/bin/sh");
	assert_int_equal(wv_program_find("/bin/sh", path, sizeof(path)), 0);
	assert_int_equal(wv_program_find("/bin", path, sizeof(path)), -ENOENT);
	assert_int_equal(wv_program_find("no-such-program", path, sizeof(path)), -ENOENT);
	assert_int_equal(wv_program_find("", path, sizeof(path)), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_units),	cmocka_unit_test(test_table),
	    cmocka_unit_test(test_value_names), cmocka_unit_test(test_step_values),
	    cmocka_unit_test(test_summary),	cmocka_unit_test(test_summary_of_two_processes),
	    cmocka_unit_test(test_report_text), cmocka_unit_test(test_report_without_lease),
	    cmocka_unit_test(test_report_json), cmocka_unit_test(test_trace_file),
	    cmocka_unit_test(test_obstacles),	cmocka_unit_test(test_find_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
