/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files with the types of a kernel, as in /sys/kernel/btf, made by libbpf.
 */
#pragma once

#include <stddef.h>

/*
 * Writes the file "vmlinux" into @folder, and the file of @module unless that is NULL. The last
 * written has a structure @type with two members, the second of which is @member.
 */
void write_btf(const char *folder, const char *module, const char *type, const char *member);

/* Replaces a file by @bytes bytes of @data. */
void write_bytes(const char *folder, const char *name, const void *data, size_t bytes);
