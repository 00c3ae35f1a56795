/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program that asks whether it has functions which only a later libibverbs has, or a library that
 * it has not loaded: the answers are the same with and without the preload.
 *
 * usage: probes FILE LOOKALIKE
 * FILE: whose verbs it gets, "libwarmverbs.so" or, without the preload, "libibverbs.so"
 * LOOKALIKE: a library that has verbs of its own
 */
#include "support/check.h"

#include <dlfcn.h>
#include <stdbool.h>

#define LIBRARY "libibverbs.so.1"

static const char *const lacking[][2] = {
    {"ibv_create_qp", "IBVERBS_1.1"},
    {"ibv_alloc_buf", "IBVERBS_1.17"},
    {"mlx5dv_open_device", "MLX5_1.7"},
    {"rdma_get_cm_event", "RDMACM_1.0"},
};
#define N_LACKING (sizeof(lacking) / sizeof(lacking[0]))

static void check_lacking(void *fn, const char *name)
{
	const char *error = dlerror();

	if (fn || !error || !strstr(error, name))
		give_up(__FILE__, __LINE__, "%s: %p, %s", name, fn, error ? error : "no error");
	EXPECT(!dlerror());
}

static void check_all_lacking(void)
{
	for (unsigned int i = 0; i < N_LACKING; i++) {
		check_lacking(dlsym(RTLD_DEFAULT, lacking[i][0]), lacking[i][0]);
		check_lacking(dlsym(RTLD_NEXT, lacking[i][0]), lacking[i][0]);
		check_lacking(dlvsym(RTLD_DEFAULT, lacking[i][0], lacking[i][1]), lacking[i][0]);
	}
}

static void *loaded(const char *file, int how)
{
	void *library = dlopen(file, RTLD_NOW | how);

	if (!library)
		give_up(__FILE__, __LINE__, "%s", dlerror());
	return library;
}

/* A library that was loaded for itself is not in the program's scope. */
static void check_local(void)
{
	void *library = loaded(LIBRARY, RTLD_LOCAL);

	check_all_lacking();
	EXPECT(!dlclose(library));
}

/* Whoever looks for a verb elsewhere keeps no library loaded. */
static void check_unloaded(const char *lookalike)
{
	void *library = loaded(LIBRARY, RTLD_LOCAL), *other = loaded(lookalike, RTLD_LOCAL);

	EXPECT(dlsym(other, "ibv_reg_mr"));
	EXPECT(!dlclose(library));
	EXPECT(!dlopen(LIBRARY, RTLD_LAZY | RTLD_NOLOAD));
	EXPECT(!dlclose(other));
	dlerror();
}

static void check_global(const char *file)
{
	Dl_info info = {NULL};
	void *fn;

	loaded(LIBRARY, RTLD_GLOBAL);
	fn = dlsym(RTLD_DEFAULT, "ibv_create_qp");
	EXPECT(fn && dladdr(fn, &info) && strstr(info.dli_fname, file));
	EXPECT(dlvsym(RTLD_DEFAULT, "ibv_create_qp", "IBVERBS_1.1") == fn);
	check_lacking(dlsym(RTLD_DEFAULT, "mlx5dv_open_device"), "mlx5dv_open_device");
}

int main(int argc, char **argv)
{
	EXPECT(argc == 3);
	check_all_lacking();
	check_local();
	check_unloaded(argv[2]);
	check_global(argv[1]);
	return 0;
}
