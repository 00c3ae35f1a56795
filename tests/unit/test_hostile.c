/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tapes that were tampered with, through everything that the daemon and the preload do with them:
 * whatever is accepted must be walkable, harmless to carry out, and never leak a descriptor. The
 * sanitizers watch; without them this is only a test that nothing crashes or hangs.
 *
 * WV_HOSTILE_SEED and WV_HOSTILE_SECONDS change where it begins and how long it goes on.
 */
#include "cmdlog/adopt.h"
#include "cmdlog/replay.h"
#include "cmdlog/validate.h"
#include "fake_kernel.h"
#include "fixture.h"
#include "mlx5_bench.h"
#include "program.h"

#include <stdio.h>
#include <sys/mman.h>
#include <time.h>

static uint64_t seed;

static struct {
	unsigned long cmdlogs, records, recipes, leases, adopted;
} counts;

static uint32_t below(uint32_t n)
{
	return (uint32_t)(pseudo_random(&seed) % n);
}

/* Numbers that are likely to be near an edge. */
static uint32_t odd_number(void)
{
	static const uint32_t numbers[] = {
	    0,	  1,	2,     3,     7,     8,	     16,     24,	 0x1f,	     0x20,
	    0x7f, 0xff, 0x100, 0x1ff, 0x200, 0x7fff, 0xffff, 0x7fffffff, 0xfffffff8, 0xffffffff};

	return below(4) ? numbers[below(WV_ARRAY_SIZE(numbers))] : (uint32_t)pseudo_random(&seed);
}

/* Overwrites 1, 2 or 4 bytes, mostly where numbers are. */
static void tamper_anywhere(struct wv_cmdlog *cmdlog)
{
	uint32_t size = 1u << below(3), at = below(cmdlog->bytes / size) * size;
	uint32_t number = odd_number();

	memcpy((uint8_t *)cmdlog + at, &number, size);
}

/* A change that leaves the command log well-formed more often than not. */
static void tamper_with_a_step(struct wv_cmdlog *cmdlog)
{
	struct wv_step *step = tape_step(cmdlog, below(cmdlog->n_steps));
	struct wv_attr *attr;

	switch (below(9)) {
	case 0:
		step->error = (int32_t)odd_number();
		return;
	case 1:
		step->new_handle = below(8);
		return;
	case 2:
		step->new_fd = below(8);
		return;
	case 3:
		step->target = odd_number();
		return;
	default:
		break;
	}
	if (!step->n_attrs)
		return;
	attr = &wv_step_attrs(step)[below(step->n_attrs)];
	switch (below(4)) {
	case 0:
		attr->data = odd_number();
		break;
	case 1:
		attr->len = (uint16_t)odd_number();
		break;
	case 2:
		attr->id = wv_step_row(step)->attrs[below(wv_step_row(step)->n_attrs)].id;
		break;
	default:
		if (attr->payload)
			*wv_step_at(step, attr->payload + below(step->bytes - attr->payload)) =
			    (uint8_t)odd_number();
	}
}

/* Steps left out and given twice: references go astray. */
static struct wv_cmdlog *shuffle(struct wv_cmdlog *cmdlog)
{
	wv_auto_free uint8_t *memory = malloc(WV_CMDLOG_MAX_BYTES);
	struct wv_cmdlog *to = (struct wv_cmdlog *)memory;

	*to = *cmdlog;
	to->n_steps = 0;
	to->bytes = sizeof(*to);
	wv_each_step (cmdlog, step)
		for (unsigned int times = below(8) ? 1 : below(3); times--;) {
			if (to->bytes + step->bytes > WV_CMDLOG_MAX_BYTES)
				break;
			memcpy(memory + to->bytes, step, step->bytes);
			to->bytes += step->bytes;
			to->n_steps++;
		}
	return copy_exactly(to, to->bytes);
}

static struct wv_cmdlog *tampered(struct wv_cmdlog *original)
{
	struct wv_cmdlog *cmdlog =
	    below(3) ? copy_exactly(original, original->bytes) : shuffle(original);
	uint32_t bytes = cmdlog->bytes;

	for (unsigned int n = below(4); n-- && cmdlog->n_steps;)
		tamper_with_a_step(cmdlog);
	for (unsigned int n = below(4) ? 0 : below(3); n--; cmdlog->bytes = bytes)
		tamper_anywhere(cmdlog);
	return cmdlog;
}

/* The shortest way to be a program: claims, and never mind what is not there. */
static int claim_only(void *lease, struct ib_uverbs_ioctl_hdr *cmd)
{
	struct wv_step *step = wv_lease_claim(lease, cmd, wv_abi_write_cmd(cmd));

	if (!step)
		(void)wv_lease_explain(lease, cmd, wv_abi_write_cmd(cmd));
	counts.adopted += step != NULL;
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

static struct wv_cmdlog *originals[N_FIXTURES + 1]; /* and one on mlx5 */

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

/* A program that does what some record says, on the lease, which is in memory of exactly its size.
 */
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

static void try_lease(struct wv_cmdlog *lease, size_t bytes)
{
	wv_auto_free struct wv_cmdlog *copy = copy_exactly(lease, bytes);

	if (wv_cmdlog_check(copy, bytes, WV_LEASE))
		return;
	counts.leases++;
	use(copy, originals[below(N_FIXTURES)]);
}

static void carry_out(struct wv_cmdlog *recipe)
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
	for (unsigned int i = 0; i < out.n_fds; i++)
		assert_int_equal(close(out.fds[i]), 0);
	if (out.memory >= 0)
		assert_int_equal(close(out.memory), 0);
	if (result)
		return;
	assert_int_equal(wv_cmdlog_check(memory, memory->bytes, WV_LEASE), 0);
	try_lease(memory, memory->bytes);
	changed = tampered(memory); /* the daemon is not trusted with the program's memory either */
	try_lease(changed, changed->bytes);
}

static void try_recipe(struct wv_cmdlog *recipe)
{
	struct wv_cost cost;
	const char *why;

	if (wv_cmdlog_check(recipe, recipe->bytes, WV_RECIPE) || wv_validate(recipe, &cost, &why))
		return;
	counts.recipes++;
	carry_out(recipe);
}

static void try_record(struct wv_cmdlog *record)
{
	wv_auto_free struct wv_cmdlog *memory = NULL;
	wv_auto_free struct wv_cmdlog *changed = NULL;

	if (wv_cmdlog_check(record, record->bytes, WV_RECORD))
		return;
	counts.records++;
	memory = malloc(WV_CMDLOG_MAX_BYTES);
	if (wv_normalise(record, memory, WV_CMDLOG_MAX_BYTES))
		return;
	assert_int_equal(wv_cmdlog_check(memory, memory->bytes, WV_RECIPE), 0);
	try_recipe(memory);
	changed = tampered(memory); /* on the disk, say */
	try_recipe(changed);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double setting(const char *name, double otherwise)
{
	const char *value = getenv(name);

	return value ? strtod(value, NULL) : otherwise;
}

static void test_tampered_tapes(void **state)
{
	double until = now() + setting("WV_HOSTILE_SECONDS", 3);
	unsigned int fds = count_fds();

	(void)state;
	seed = (uint64_t)setting("WV_HOSTILE_SEED", 1);
	for (unsigned int i = 0; i < N_FIXTURES; i++)
		originals[i] = fixture_load(fixture_names[i]);
	originals[N_FIXTURES] = mlx5_record();
	while (now() < until) {
		wv_auto_free struct wv_cmdlog *cmdlog =
		    tampered(originals[below(WV_ARRAY_SIZE(originals))]);

		counts.cmdlogs++;
		try_record(cmdlog);
	}
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(originals); i++)
		free(originals[i]);
	assert_int_equal(count_fds(), fds);
	printf("%lu tapes, %lu records, %lu recipes, %lu leases, %lu steps adopted\n",
	       counts.cmdlogs, counts.records, counts.recipes, counts.leases, counts.adopted);
	/* The loop is worth nothing if nearly all is thrown out at the door. */
	assert_true(counts.records > counts.cmdlogs / 4);
	assert_true(counts.recipes > counts.records / 4);
	assert_true(counts.leases > counts.recipes / 4);
	assert_true(counts.adopted > counts.leases);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_tampered_tapes),
	};

	return cmocka_run_group_tests_name("hostile", tests, NULL, NULL);
}
