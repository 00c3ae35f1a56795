/* SPDX-License-Identifier: BSD-2-Clause */
#include "through.h"

#include "cmdlog/adopt_memory.h"
#include "cmdlog/replay.h"
#include "cmdlog/validate.h"
#include "fake_kernel.h"
#include "fixture.h"
#include "mlx5_bench.h"
#include "program.h"
#include "store/recipe_json.h"
#include "tamper.h"

#include <sys/mman.h>

/* Carrying out recipes with more memory than this takes long, and finds nothing more. */
#define ENOUGH_MEMORY (16u << 20)

struct through_counts through_counts;

static struct wv_cmdlog *originals[THROUGH_ORIGINALS]; /* the last one on mlx5 */

/* The shortest way to be a program: claims, and never mind what is not there. */
static int claim_only(void *lease, struct ib_uverbs_ioctl_hdr *cmd)
{
	struct wv_step *step = wv_lease_claim(lease, cmd, wv_abi_write_cmd(cmd));

	if (!step)
		(void)wv_lease_explain(lease, cmd, wv_abi_write_cmd(cmd));
	through_counts.adopted += step != NULL;
	return step ? step->error : ENOENT;
}

static void do_anything_to(struct wv_lease *lease)
{
	uint64_t token = WV_TOKEN(below(WV_CMDLOG_MAX_STEPS));
	struct wv_step *user;

	switch (below(6)) {
	case 0:
		wv_lease_kill_handle(lease, below(8));
		break;
	case 1:
		wv_lease_kill_moves(lease, below(8));
		break;
	case 2:
		if (lease->cmdlog->n_fds)
			wv_lease_kill_slot(lease, below(lease->cmdlog->n_fds));
		break;
	case 3:
		user = wv_lease_user(lease, below(8));
		if (user)
			user->state = WV_GONE;
		break;
	case 4:
		wv_lease_claim_memory(lease, 512);
		break;
	default:
		wv_lease_translate(lease, &token);
	}
}

/* Memory of the lease, or else of this test's own. */
static void *claim_memory(void *lease, size_t bytes)
{
	static _Alignas(4096) uint8_t own[16384];
	void *at = bytes ? wv_lease_claim_memory(lease, bytes) : NULL;

	assert_true(bytes <= sizeof(own));
	return at || !bytes ? at : own;
}

/* The program is refused what is not in the lease, and goes on as if it were not. */
static void use_on_mlx5(struct wv_lease *lease)
{
	struct mlx5_program program;

	lease->opening = true;
	mlx5_init(&program, claim_only, lease);
	program.alloc = claim_memory;
	program.owner = lease;
	mlx5_run(&program);
	do_anything_to(lease);
}

/* A program that does what some record says, on the lease, in memory of exactly its size. */
static void use_lease(struct wv_lease *lease, struct wv_cmdlog *record)
{
	static struct program program;

	program_init(&program, claim_only, lease, 0x7f0000000000);
	wv_each_step (record, step) {
		program_step(&program, step);
		if (!below(4))
			do_anything_to(lease);
	}
}

/* Its memory is as large as the command log says, and not a byte more is there. */
static void use(struct wv_cmdlog *lease_tape, struct wv_cmdlog *record)
{
	size_t bytes = lease_tape->memory;
	uint8_t *memory = NULL;
	struct wv_lease lease;

	wv_lease_init(&lease, lease_tape);
	for (unsigned int i = 0; i < lease_tape->n_fds; i++)
		lease.fds[i] = 100 + (int)i;
	if (bytes)
		memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	assert_ptr_not_equal(memory, MAP_FAILED);
	if (memory)
		wv_lease_place(&lease, memory);
	if (lease_tape->driver_id == RDMA_DRIVER_MLX5)
		use_on_mlx5(&lease);
	else
		use_lease(&lease, record);
	if (memory)
		munmap(memory, bytes);
}

void through_lease(const void *lease, size_t bytes)
{
	wv_auto_free struct wv_cmdlog *copy = copy_exactly(lease, bytes);

	if (wv_cmdlog_check(copy, bytes, WV_LEASE))
		return;
	through_counts.leases++;
	use(copy, originals[below(N_FIXTURES)]);
}

static unsigned int close_all(const struct wv_replay *out)
{
	for (unsigned int i = 0; i < out->n_fds; i++)
		assert_int_equal(close(out->fds[i]), 0);
	if (out->memory >= 0)
		assert_int_equal(close(out->memory), 0);
	return 1 + out->n_fds + (out->memory >= 0); /* with the ufile's */
}

static void carry_out(struct wv_cmdlog *recipe, const struct wv_cost *cost)
{
	wv_auto_free struct wv_cmdlog *memory = malloc(WV_CMDLOG_MAX_BYTES);
	wv_auto_free struct wv_cmdlog *changed = NULL;
	static struct fake_kernel kernel;
	struct wv_replay out;
	int result;

	fake_kernel_init(&kernel);
	if (!below(4)) {
		kernel.fail_at = (int)below(recipe->n_steps + 1u);
		kernel.fail_errno = ENOMEM;
	}
	result = wv_replay(recipe, fake_kernel_issue, &kernel, memory, WV_CMDLOG_MAX_BYTES, &out);
	assert_true(close_all(&out) <= cost->fds);
	if (result)
		return;
	assert_true(memory->memory <= cost->bytes);
	assert_int_equal(wv_cmdlog_check(memory, memory->bytes, WV_LEASE), 0);
	through_lease(memory, memory->bytes);
	changed = tampered(memory); /* the daemon is not trusted with the program's memory either */
	through_lease(changed, changed->bytes);
}

/* A recipe that the daemon would save can be loaded again, and is the same. */
static void save_and_load(const struct wv_cmdlog *cmdlog)
{
	const struct wv_key key = {.driver_id = cmdlog->driver_id, .ibdev = "rxe0"};
	static const struct wv_build_id provider;
	struct wv_recipe *recipe, *again;
	char why[200];
	json_t *json;
	char *text;

	assert_int_equal(wv_recipe_new(getuid(), &key, &provider, cmdlog, &recipe), 0);
	if (recipe->refused) {
		wv_recipe_free(recipe);
		return;
	}
	json = wv_recipe_to_json(recipe);
	text = json_dumps(json, JSON_INDENT(1));
	assert_true(text && strlen(text) <= WV_RECIPE_MAX_BYTES);
	json_decref(json);
	json = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	if (wv_recipe_from_json(json, getuid(), &again, why, sizeof(why)))
		fail_msg("saved, but not loaded: %s", why);
	assert_true(again->id == recipe->id && wv_recipe_equal(again, recipe));
	wv_recipe_free(again);
	json_decref(json);
	free(text);
	wv_recipe_free(recipe);
}

void through_recipe(struct wv_cmdlog *recipe, size_t bytes)
{
	struct wv_cost cost;
	const char *why;

	if (wv_cmdlog_check(recipe, bytes, WV_RECIPE) || wv_validate(recipe, &cost, &why))
		return;
	through_counts.recipes++;
	if (cost.bytes <= ENOUGH_MEMORY)
		carry_out(recipe, &cost);
}

void through_record(struct wv_cmdlog *record, size_t bytes)
{
	wv_auto_free struct wv_cmdlog *memory = NULL;
	wv_auto_free struct wv_cmdlog *changed = NULL;

	if (wv_cmdlog_check(record, bytes, WV_RECORD))
		return;
	through_counts.records++;
	memory = malloc(WV_CMDLOG_MAX_BYTES);
	if (wv_normalise(record, memory, WV_CMDLOG_MAX_BYTES))
		return;
	assert_int_equal(wv_cmdlog_check(memory, memory->bytes, WV_RECIPE), 0);
	save_and_load(memory);
	through_recipe(memory, memory->bytes);
	changed = tampered(memory); /* on the disk, say */
	through_recipe(changed, changed->bytes);
}

struct wv_cmdlog **through_begin(void)
{
	for (unsigned int i = 0; i < N_FIXTURES; i++)
		originals[i] = fixture_load(fixture_names[i]);
	originals[N_FIXTURES] = mlx5_record();
	return originals;
}

void through_end(void)
{
	for (unsigned int i = 0; i < THROUGH_ORIGINALS; i++)
		free(originals[i]);
}
