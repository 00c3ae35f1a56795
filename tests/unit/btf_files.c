/* SPDX-License-Identifier: BSD-2-Clause */
#include "btf_files.h"

#include "fixture.h"

#include <bpf/btf.h>
#include <stdio.h>

void write_bytes(const char *folder, const char *name, const void *data, size_t bytes)
{
	char path[256];
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	out = fopen(path, "we");
	assert_non_null(out);
	assert_int_equal(fwrite(data, 1, bytes, out), bytes);
	assert_int_equal(fclose(out), 0);
}

static void write_types(const char *folder, const char *name, const struct btf *btf)
{
	__u32 bytes;
	const void *data = btf__raw_data(btf, &bytes);

	assert_non_null(data);
	write_bytes(folder, name, data, bytes);
}

static void add_type(struct btf *btf, int of_int, const char *type, const char *member)
{
	assert_true(btf__add_struct(btf, type, 8) > 0);
	assert_int_equal(btf__add_field(btf, "first", of_int, 0, 0), 0);
	assert_int_equal(btf__add_field(btf, member, of_int, 32, 0), 0);
}

void write_btf(const char *folder, const char *module, const char *type, const char *member)
{
	struct btf *kernel = btf__new_empty(), *own = NULL;
	int of_int = btf__add_int(kernel, "int", 4, BTF_INT_SIGNED);

	assert_true(of_int > 0);
	if (module)
		own = btf__new_empty_split(kernel);
	add_type(own ? own : kernel, of_int, type, member);
	write_types(folder, "vmlinux", kernel);
	if (own)
		write_types(folder, module, own);
	btf__free(own);
	btf__free(kernel);
}
