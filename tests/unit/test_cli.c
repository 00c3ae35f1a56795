/* SPDX-License-Identifier: BSD-2-Clause */
/* The pure parts of the command line: from the daemon's documents to what a user reads. */
#include "base/program_file.h"
#include "base/program_path.h"
#include "capture.h"
#include "cli/answer_text.h"
#include "cli/command_text.h"
#include "cli/metrics.h"
#include "cli/table.h"
#include "cli/units.h"
#include "store/steps_json.h"

#include <elf.h>
#include <fcntl.h>
#include <locale.h>
#include <sys/stat.h>

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
	struct wv_table table;
	struct capture c;

	(void)state;
	wv_table_begin(&table);
	wv_table_add_column(&table, "n", true);
	wv_table_add_column(&table, "name", false);
	wv_table_add_column(&table, "why", false);
	wv_table_add_cell(&table, "%d", 7);
	wv_table_add_cell(&table, "a");
	wv_table_add_cell(&table, "because");
	wv_table_add_cell(&table, "%d", 123);
	wv_table_add_cell(&table, "longer");
	wv_table_add_cell(&table, "%s", "");
	capture_begin(&c);
	assert_int_equal(wv_table_end(&table, c.out), 0);
	capture_expect(&c, "  n  name    why\n"
			   "  7  a       because\n"
			   "123  longer\n");
}

/* Names that programs choose: the terminal gets neither control characters nor broken UTF-8. */
static void test_table_of_strange_names(void **state)
{
	struct wv_table table;
	struct capture c;

	(void)state;
	assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
	wv_table_begin(&table);
	wv_table_add_column(&table, NULL, false);
	wv_table_add_column(&table, NULL, false);
	wv_table_add_cell(&table, "red \033[31m");
	wv_table_add_cell(&table, "next\nline");
	wv_table_add_cell(&table, "cafe\u0301 \xff");
	wv_table_add_cell(&table, "%c\t\177", '\r');
	capture_begin(&c);
	assert_int_equal(wv_table_end(&table, c.out), 0);
	capture_expect(&c, "red \\x1b[31m  next\\x0aline\n"
			   "cafe\u0301 \\xff     \\x0d\\x09\\x7f\n");
	setlocale(LC_CTYPE, "C");
}

static void test_empty_table(void **state)
{
	struct wv_table table;
	struct capture c;

	(void)state;
	wv_table_begin(&table);
	wv_table_add_column(&table, "n", true);
	capture_begin(&c);
	assert_int_equal(wv_table_end(&table, c.out), 0);
	capture_expect(&c, "");
}

static void test_value_names(void **state)
{
	static const struct {
		uint16_t object, method, attr;
		uint32_t write_cmd, offset;
		const char *name;
		uint32_t driver_id;
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
	     "buf_addr", RDMA_DRIVER_MLX5},
	    /* The same bytes are another driver's. */
	    {UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE, UVERBS_ATTR_UHW_IN, WV_NO_WRITE_CMD, 5,
	     "byte 5 of attribute 0x1000", RDMA_DRIVER_RXE},
	    {UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE, UVERBS_ATTR_UHW_OUT, WV_NO_WRITE_CMD, 5,
	     "byte 5 of attribute 0x1001"},
	};

	(void)state;
	for (size_t i = 0; i < WV_ARRAY_SIZE(cases); i++) {
		struct wv_command_id command = {cases[i].driver_id, cases[i].object,
						cases[i].method, cases[i].write_cmd};
		struct capture c;

		capture_begin(&c);
		wv_print_value_name(c.out, &command, cases[i].attr, cases[i].offset);
		capture_expect(&c, cases[i].name);
	}
}

static void test_step_values(void **state)
{
	wv_auto_free struct wv_cmdlog *recipe = fixture_recipe("rc_pingpong_events");
	struct capture c;

	(void)state;
	capture_begin(&c);
	wv_each_step (recipe, step) {
		long before = ftell(c.out);

		wv_print_step_values(c.out, recipe->driver_id, step);
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
	wv_auto_fd own = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	Elf64_Ehdr head;

	(void)state;
	assert_int_equal(pread(own, &head, sizeof(head), 0), sizeof(head));
	p.elf.e_machine = head.e_machine;
	expect_obstacle(&p, sizeof(p), 0755, NULL);
	p.segment.p_type = PT_LOAD;
	expect_obstacle(&p, sizeof(p), 0755, "statically linked");
	expect_obstacle(&p, sizeof(p.elf), 0755, "statically linked"); /* cut off */
	p.segment.p_type = PT_INTERP;
	p.elf.e_machine = EM_S390;
	expect_obstacle(&p, sizeof(p), 0755, "for another processor");
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
	static const char folders[] = "/nowhere::/bin";
	char path[256];

	(void)state;
	assert_int_equal(wv_program_find("sh", NULL, path, sizeof(path)), 0);
	assert_int_equal(wv_program_find("sh", folders, path, sizeof(path)), 0);
	assert_string_equal(path, "/bin/sh");
	assert_int_equal(wv_program_find("/bin/sh", folders, path, sizeof(path)), 0);
	assert_int_equal(wv_program_find("/bin", folders, path, sizeof(path)), -ENOENT);
	assert_int_equal(wv_program_find("no-such-program", folders, path, sizeof(path)), -ENOENT);
	assert_int_equal(wv_program_find("", folders, path, sizeof(path)), -ENOENT);
}

/* As the daemon answers, without what is not printed. */
static const char status_text[] =
    "{'version': '1.2.3', 'socket': '/run/s', 'uptime_s': 3723, 'kernel': '6.1',"
    " 'totals': {'hits': 7}, 'pairs': {'ready': 6, 'made': 9}, 'connections': 1,"
    " 'peers': [{'node': 'one', 'address': '::1', 'state': 'up', 'up_s': 5,"
    "            'round_trip_us': 250, 'counters': {'hits': 8}}],"
    " 'budgets': {'leases': 8, 'memory': 1048576, 'leases_per_user': 4, 'memory_per_user': "
    "524288}, 'clients': {'malformed': 2, 'silent': 0, 'denied': 1}, 'use': {'leases': 2, "
    "'memory': 2048, 'leases_out': 5, 'memory_out': 3072},"
    " 'devices': [{'name': 'rxe0', 'node': '/dev/infiniband/uverbs0', 'driver': 'rxe',"
    "              'leased': true, 'leases': 2},"
    "             {'name': 'x', 'node': '/dev/infiniband/uverbs1', 'driver': null,"
    "              'leased': false, 'leases': 0,"
    "              'unleased_because': 'warmverbs does not know its driver'}],"
    " 'users': [{'uid': 4000000000, 'clients': 1, 'recipes': 1,"
    "            'use': {'leases': 2, 'memory': 2048}}],"
    " 'recipes': [{'id': '00000000000000ab', 'uid': 4000000000, 'comm': 'ping', 'steps': 8,"
    "              'key': {'name': 'night', 'ibdev': 'rxe0', 'open_number': 0},"
    "              'pool': {'ready': 2, 'target': 3, 'requested': 2, 'build_us_median': 1440},"
    "              'cost': {'bytes': 1024, 'cqs': 1, 'srqs': 0, 'qps': 1},"
    "              'counters': {'hits': 3, 'warm': 2, 'misses': 1, 'records': 1, 'adopted': 16,"
    "                           'diverged': 6, 'spares': 4},"
    "              'unfit': null, 'error': 'no memory',"
    "              'divergence': {'command': 'CQ_CREATE', 'object': 3, 'method': 0,"
    "                             'why': 'another value than in the recipe',"
    "                             'write_cmd': null, 'attr': 1, 'offset': 0}}]}";

static json_t *load_json(const char *text)
{
	wv_auto_free char *copy = strdup(text);
	json_t *json;

	for (char *c = copy; *c; c++)
		if (*c == '\'')
			*c = '"';
	json = json_loads(copy, 0, NULL);
	assert_non_null(json);
	return json;
}

static void test_status_text(void **state)
{
	json_t *status = load_json(status_text);
	struct capture c;

	(void)state;
	capture_begin(&c);
	assert_int_equal(wv_print_status(status, c.out), 0);
	capture_expect(&c, "warmverbsd 1.2.3 at /run/s, up 1:02:03\n"
			   "pooled:   2 leases, 2.00 KiB\n"
			   "limit:    8 leases, 1.00 MiB\n"
			   "per user: 4 leases, 512 KiB\n"
			   "in use:   5 leases, 3.00 KiB\n"
			   "problems with clients: 2 malformed, 1 denied\n"
			   "\n"
			   "device  node                     driver  leased  leases\n"
			   "rxe0    /dev/infiniband/uverbs0  rxe     yes          2\n"
			   "x       /dev/infiniband/uverbs1          no           0\n"
			   "x: not leased: warmverbs does not know its driver\n"
			   "\n"
			   "user        connected  recipes  leases    memory\n"
			   "4000000000          1        1       2  2.00 KiB\n"
			   "\n"
			   "recipe            user        program  name   ready  requested  hits  "
			   "warm  misses  records  "
			   "adopted  diverged  spares  made in\n"
			   "00000000000000ab  4000000000  ping     night    2/3          2     3   "
			   "  2       1        1  "
			   "     16         6       4  1.44 ms\n"
			   "00000000000000ab: no lease could be made: no memory\n"
			   "00000000000000ab: last divergence: CQ_CREATE: another value "
			   "than in the recipe: cqe\n");
	json_decref(status);
}

static void test_metrics(void **state)
{
	static const char *const lines[] = {
	    "\n# TYPE warmverbs_uptime_seconds gauge\nwarmverbs_uptime_seconds 3723\n",
	    "\n# TYPE warmverbs_clients_denied_total counter\nwarmverbs_clients_denied_total 1\n",
	    "\nwarmverbs_device_leased{device=\"rxe0\",driver=\"rxe\"} 1\n"
	    "warmverbs_device_leased{device=\"x\",driver=\"\"} 0\n",
	    "\nwarmverbs_build_info{version=\"1.2.3\",kernel=\"6.1\"} 1\n",
	    "\n# TYPE warmverbs_hits_total counter\nwarmverbs_hits_total 7\n",
	    "\nwarmverbs_leases_held 2\n",
	    "\nwarmverbs_pairs_ready 6\n",
	    "\nwarmverbs_pairs_made_total 9\n",
	    "\nwarmverbs_peer_connections 1\n",
	    "\nwarmverbs_peer_state{node=\"one\",state=\"up\"} 1\n",
	    "\nwarmverbs_peer_round_trip_seconds{node=\"one\",address=\"::1\"} 0.00025\n",
	    "\nwarmverbs_peer_hits_total{node=\"one\",address=\"::1\"} 8\n",
	    "\nwarmverbs_user_memory_bytes{uid=\"4000000000\"} 2048\n",
	    "\nwarmverbs_recipe_build_seconds{recipe=\"00000000000000ab\",uid=\"4000000000\","
	    "program=\"pi\\\"ng\\\\\",name=\"night\",device=\"rxe0\",open=\"0\"} 0.00144\n",
	};
	json_t *status = load_json(status_text);
	json_t *recipe = json_array_get(json_object_get(status, "recipes"), 0);
	struct capture c;

	(void)state;
	json_object_set_new(recipe, "comm", json_string("pi\"ng\\"));
	capture_begin(&c);
	assert_int_equal(wv_print_detailed_metrics(status, c.out), 0);
	fclose(c.out);
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(lines); i++)
		assert_non_null(strstr(c.text, lines[i]));
	/* A user's answer does not say what all clients do together. */
	assert_null(strstr(c.text, "\nwarmverbs_clients_accepted_total "));
	free(c.text);
	capture_begin(&c);
	assert_int_equal(wv_print_metrics(status, c.out), 0);
	fclose(c.out);
	assert_non_null(strstr(c.text, "\nwarmverbs_device_leased{"));
	assert_null(strstr(c.text, "warmverbs_user"));
	assert_null(strstr(c.text, "warmverbs_recipe"));
	free(c.text);
	json_decref(status);
}

static void test_recipe_list(void **state)
{
	json_t *status = load_json(status_text);
	json_t *nothing = json_object();
	struct capture c;

	(void)state;
	capture_begin(&c);
	assert_int_equal(wv_print_recipes(status, c.out), 0);
	assert_int_equal(wv_print_recipes(nothing, c.out), 0);
	capture_expect(&c,
		       "recipe            user        program  name   device  open  steps  CQs  "
		       "SRQs  QPs    memory\n"
		       "00000000000000ab  4000000000  ping     night  rxe0       0      8    1  "
		       "   0    1  1.00 KiB\n"
		       "no recipes: nothing was recorded yet\n");
	json_decref(nothing);
	json_decref(status);
}

/* Attribute 0, which most commands have their values in, is named as well as others. */
static void test_divergence_of_a_move(void **state)
{
	json_t *divergence =
	    load_json("{'command': 'modify_qp', 'object': 0, 'method': 0, 'attr': 0,"
		      " 'why': 'another value than in the recipe'}");
	json_t *status =
	    json_pack("{s:[{s:s, s:o}]}", "recipes", "id", "ab", "divergence", divergence);
	struct capture c;

	(void)state;
	json_object_set_new(divergence, "write_cmd", json_integer(IB_USER_VERBS_CMD_MODIFY_QP));
	json_object_set_new(divergence, "offset",
			    json_integer(offsetof(struct ib_uverbs_modify_qp, qp_access_flags)));
	capture_begin(&c);
	assert_int_equal(wv_print_status(status, c.out), 0);
	fclose(c.out);
	assert_non_null(
	    strstr(c.text, "modify_qp: another value than in the recipe: qp_access_flags\n"));
	free(c.text);
	json_decref(status);
}

static void test_privileged_divergence(void **state)
{
	json_t *divergence =
	    load_json("{'command': 'create_flow', 'why': 'unknown command', 'object': 0,"
		      " 'method': 0, 'write_cmd': null, 'attr': 0, 'offset': 0}");
	json_t *status;
	struct capture c;

	(void)state;
	json_object_set_new(
	    divergence, "write_cmd",
	    json_integer(IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_CREATE_FLOW));
	status = json_pack("{s:[{s:s, s:o}]}", "recipes", "id", "ab", "divergence", divergence);
	capture_begin(&c);
	assert_int_equal(wv_print_status(status, c.out), 0);
	fclose(c.out);
	assert_non_null(strstr(c.text, "ab: last divergence: create_flow: privileged command\n"));
	free(c.text);
	json_decref(status);
}

/* Whatever a daemon of another version says, nothing worse than gaps comes of it. */
static void test_strange_documents(void **state)
{
	static const char *const documents[] = {
	    "{}",
	    "{'recipes': 1, 'devices': 'none', 'users': null}",
	    "{'recipes': [1, null, [], {}], 'devices': [[]], 'users': [{'uid': 'root'}]}",
	    "{'recipes': [{'divergence': {}, 'key': 7, 'pool': [], 'id': 3, 'counters': null}]}",
	};
	struct capture c;

	(void)state;
	capture_begin(&c);
	for (size_t i = 0; i < WV_ARRAY_SIZE(documents); i++) {
		json_t *document = load_json(documents[i]);

		assert_int_equal(wv_print_status(document, c.out), 0);
		assert_int_equal(wv_print_recipes(document, c.out), 0);
		assert_int_equal(wv_print_recipe(document, c.out), -EPROTO);
		json_decref(document);
	}
	fclose(c.out);
	free(c.text);
}

static void test_recipe_text(void **state)
{
	wv_auto_free struct wv_cmdlog *cmdlog = fixture_recipe("rc_pingpong");
	json_t *recipe = json_pack(
	    "{s:s, s:s, s:i, s:i, s:{s:s, s:s, s:i, s:i}, s:o}", "id", "00000000000000ab", "comm",
	    "ping", "created", 0, "used", 1, "key", "name", "", "ibdev", "rxe0", "driver_id",
	    (int)cmdlog->driver_id, "open_number", 2, "steps", wv_steps_to_json(cmdlog));
	struct capture c;

	(void)state;
	setenv("TZ", "UTC", 1);
	capture_begin(&c);
	assert_int_equal(wv_print_recipe(recipe, c.out), 0);
	capture_expect(
	    &c,
	    "recipe:     00000000000000ab\n"
	    "program:    ping\n"
	    "device:     rxe0, open number 2\n"
	    "recorded:   1970-01-01 00:00:00\n"
	    "last used:  1970-01-01 00:00:01\n"
	    "step  command            error   asks for\n"
	    "   0  query_device       ENOSPC\n"
	    "   1  GET_CONTEXT\n"
	    "   2  ASYNC_EVENT_ALLOC\n"
	    "   3  alloc_pd\n"
	    "   4  CQ_CREATE                  cqe 501, comp_vector 0\n"
	    "   5  QP_CREATE                  qp_type RC, pd of step 3, send_cq of step 4, "
	    "recv_cq of step 4, max_send_wr 1, max_recv_wr 500, max_send_sge 1, max_recv_sge 1, "
	    "max_inline_data 0\n"
	    "   6  query_qp\n"
	    "   7  modify_qp                  qp_handle of step 5, qp_state INIT, port_num 1, "
	    "pkey_index 0, qp_access_flags 0\n");
	json_decref(recipe);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_units),
	    cmocka_unit_test(test_table),
	    cmocka_unit_test(test_table_of_strange_names),
	    cmocka_unit_test(test_empty_table),
	    cmocka_unit_test(test_value_names),
	    cmocka_unit_test(test_step_values),
	    cmocka_unit_test(test_obstacles),
	    cmocka_unit_test(test_find_program),
	    cmocka_unit_test(test_status_text),
	    cmocka_unit_test(test_metrics),
	    cmocka_unit_test(test_divergence_of_a_move),
	    cmocka_unit_test(test_privileged_divergence),
	    cmocka_unit_test(test_recipe_list),
	    cmocka_unit_test(test_strange_documents),
	    cmocka_unit_test(test_recipe_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
