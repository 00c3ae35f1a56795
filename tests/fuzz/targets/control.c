/* SPDX-License-Identifier: BSD-2-Clause */
/* A question of the command line to a daemon that knows a recipe, and the answer as printed. */
#include "fuzz.h"

#include "cli/answer_text.h"
#include "daemon_bench.h"

static struct daemon_bench *bench;

static void end_daemon(void)
{
	bench_stop(bench);
	remove_tree(bench->dir);
	free(bench);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	void *state;

	(void)argc;
	(void)argv;
	bench_set_up(&state);
	bench = state;
	atexit(end_daemon);
	return 0;
}

/* The recipe's id is known, so that a question can name it. */
static void have_a_recipe(void)
{
	struct wv_user *user = wv_catalog_user(&bench->server->catalog, getuid(), false);

	if (user && user->n_recipes)
		return;
	bench_record(bench, 1, "rc_pingpong");
}

/* Puts the recipe's id where the question has sixteen zeros. */
static void insert_id(char *text, size_t bytes)
{
	char *place = memmem(text, bytes, "0000000000000000", 16);
	char id[17];

	snprintf(id, sizeof(id), "%016llx", (unsigned long long)bench_recipe(bench)->id);
	if (place)
		memcpy(place, id, 16);
}

/* NULL: the daemon closed the connection without an answer. */
static json_t *ask(const char *text, size_t bytes)
{
	static struct bench_answer answer;
	wv_auto_fd sock = bench_connect(bench);
	struct wv_msg head;

	wv_msg_init(&head, WV_MSG_CONTROL, sizeof(head) + bytes);
	assert_int_equal(wv_send(sock, &head, sizeof(head), text, bytes, NULL, 0), 0);
	bench_receive(bench, sock, &answer);
	return answer.bytes > 0 ? bench_document(&answer) : NULL;
}

static void print(json_t *document)
{
	if (json_object_get(document, "error"))
		assert_non_null(json_object_get(document, "remedy"));
	else if (json_object_get(document, "devices"))
		assert_int_equal(wv_print_status(document, fuzz_nowhere()), 0);
	else if (json_object_get(document, "steps"))
		assert_int_equal(wv_print_recipe(document, fuzz_nowhere()), 0);
	else
		assert_non_null(json_object_get(document, "forgotten"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	wv_auto_free char *text = copy_exactly(data, bytes);
	json_t *document;

	if (bytes > WV_CMDLOG_MAX_BYTES)
		return 0;
	have_a_recipe();
	insert_id(text, bytes);
	document = ask(text, bytes);
	if (document)
		print(document);
	json_decref(document);
	return 0;
}
