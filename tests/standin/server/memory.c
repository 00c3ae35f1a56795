/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernel.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define PAGE_OF(x) ((x) & ~(uint64_t)(HCA_PAGE - 1))

/* Private memory: through its process. */
static int transfer(const struct hca_mem *mem, uint64_t offset, void *local, size_t bytes,
		    bool write)
{
	struct iovec here = {local, bytes};
	struct iovec there = {(void *)(uintptr_t)(mem->va + offset), bytes};
	ssize_t n = write ? process_vm_writev(mem->pid, &here, 1, &there, 1, 0)
			  : process_vm_readv(mem->pid, &here, 1, &there, 1, 0);

	if (n < 0)
		return -errno;
	return (size_t)n == bytes ? 0 : -EFAULT;
}

static bool is_inside(const struct hca_mem *mem, uint64_t offset, uint64_t bytes)
{
	return offset <= mem->length && bytes <= mem->length - offset;
}

int hca_mem_read(const struct hca_mem *mem, uint64_t offset, void *to, size_t bytes)
{
	if (!is_inside(mem, offset, bytes))
		return -EFAULT;
	if (!mem->map)
		return transfer(mem, offset, to, bytes, false);
	memcpy(to, mem->map + offset, bytes);
	return 0;
}

int hca_mem_write(struct hca_mem *mem, uint64_t offset, const void *from, size_t bytes)
{
	if (!is_inside(mem, offset, bytes))
		return -EFAULT;
	if (!mem->map)
		return transfer(mem, offset, (void *)from, bytes, true);
	memcpy(mem->map + offset, from, bytes);
	return 0;
}

int hca_mem_read_be32(const struct hca_mem *mem, uint64_t offset, uint32_t *value)
{
	uint32_t word;
	int error = 0;

	if (!is_inside(mem, offset, sizeof(word)))
		return -EFAULT;
	if (mem->map)
		word = __atomic_load_n((uint32_t *)(mem->map + offset), __ATOMIC_ACQUIRE);
	else
		error = transfer(mem, offset, &word, sizeof(word), false);
	if (!error)
		*value = be32toh(word);
	return error;
}

int hca_mem_write_be32(struct hca_mem *mem, uint64_t offset, uint32_t value)
{
	uint32_t word = htobe32(value);

	if (!is_inside(mem, offset, sizeof(word)))
		return -EFAULT;
	if (!mem->map)
		return transfer(mem, offset, &word, sizeof(word), true);
	__atomic_store_n((uint32_t *)(mem->map + offset), word, __ATOMIC_RELEASE);
	return 0;
}

static struct hca_file *find_file(struct hca *hca, const struct standin_memory *where)
{
	struct hca_file *file;

	LIST_FOREACH (file, &hca->files, of_hca) {
		if (file->inode == where->inode && file->device == where->device)
			return file;
	}
	return NULL;
}

/*
 * The file of a mapping whose descriptor the process has closed; or -1: only a privileged server
 * may.
 */
static int open_mapping(pid_t pid, const struct standin_memory *where)
{
	char path[80];

	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, pid, where->start,
		 where->va + where->bytes);
	return open(path, O_RDWR | O_CLOEXEC);
}

static struct hca_file *new_file(struct hca *hca, const struct standin_memory *where, int fd)
{
	struct hca_file *file;
	struct stat st;

	if (fstat(fd, &st) || st.st_ino != where->inode || st.st_dev != where->device)
		return NULL;
	file = malloc(sizeof(*file));
	if (!file)
		return NULL;
	*file = (struct hca_file){.device = where->device, .inode = where->inode};
	file->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (file->fd < 0) {
		free(file);
		return NULL;
	}
	LIST_INSERT_HEAD(&hca->files, file, of_hca);
	return file;
}

/* NULL if neither the process nor anybody before gave a descriptor, and the server gets none. */
static struct hca_file *get_file(struct hca *hca, pid_t pid, const struct standin_memory *where,
				 int fd)
{
	struct hca_file *file = find_file(hca, where);
	int opened = file || fd >= 0 ? -1 : open_mapping(pid, where);

	if (!file && (fd >= 0 || opened >= 0))
		file = new_file(hca, where, fd >= 0 ? fd : opened);
	if (opened >= 0)
		close(opened);
	return file;
}

static void put_file(struct hca_file *file)
{
	if (file->users)
		return;
	LIST_REMOVE(file, of_hca);
	close(file->fd);
	free(file);
}

/* Pinned pages exist, so all of them are allocated now. */
static bool map_file(struct hca_mem *mem, struct hca_file *file, uint64_t offset)
{
	uint64_t first = PAGE_OF(offset);
	uint8_t *at = mmap(NULL, offset - first + mem->length, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_POPULATE, file->fd, (off_t)first);

	if (at == MAP_FAILED)
		return false;
	file->users++;
	mem->map = at + (offset - first);
	mem->file = file;
	mem->file_offset = offset;
	return true;
}

/* Pinning memory that is not mapped fails, so both ends are checked. */
static int check_private(const struct hca_mem *mem)
{
	uint8_t byte;
	int error = transfer(mem, 0, &byte, 1, false);

	if (!error)
		error = transfer(mem, mem->length - 1, &byte, 1, false);
	return error ? -EFAULT : 0;
}

int hca_mem_pin(struct hca *hca, struct hca_mem *mem, pid_t pid, uint64_t va, uint64_t length,
		const struct standin_memory *where, int fd)
{
	struct hca_file *file = NULL;

	*mem = (struct hca_mem){.pid = pid, .va = va, .length = length};
	if (!length)
		return 0;
	if (where->inode && where->bytes >= length)
		file = get_file(hca, pid, where, fd);
	if (file) {
		if (map_file(mem, file, where->offset))
			return 0;
		put_file(file);
	}
	return check_private(mem);
}

void hca_mem_unpin(struct hca_mem *mem)
{
	uint64_t before = mem->file_offset % HCA_PAGE;

	if (!mem->map)
		return;
	munmap(mem->map - before, before + mem->length);
	mem->map = NULL;
	mem->file->users--;
	put_file(mem->file);
}

bool hca_mem_share_page(const struct hca_mem *a, const struct hca_mem *b)
{
	uint64_t start_a = a->file ? a->file_offset : a->va;
	uint64_t start_b = b->file ? b->file_offset : b->va;

	if (!a->length || !b->length || a->file != b->file || (!a->file && a->pid != b->pid))
		return false;
	return PAGE_OF(start_a) <= PAGE_OF(start_b + b->length - 1) &&
	       PAGE_OF(start_b) <= PAGE_OF(start_a + a->length - 1);
}

/*
 * Whether the two, which different processes have pinned, share a byte. In one process that is no
 * mistake: an object made ahead may be about to take the place of another.
 */
static bool overlap(const struct hca_mem *a, const struct hca_mem *b)
{
	uint64_t start_a = a->file ? a->file_offset : a->va;
	uint64_t start_b = b->file ? b->file_offset : b->va;

	return a->pid != b->pid && hca_mem_share_page(a, b) && start_a < start_b + b->length &&
	       start_b < start_a + a->length;
}

/* Whether any memory of a living object is in conflict with the memory that is asked for. */
static bool in_use(struct hca *hca, const struct hca_mem *buf, const struct hca_mem *db)
{
	struct hca_cq *cq;
	struct hca_srq *srq;
	struct hca_qp *qp;

	LIST_FOREACH (cq, &hca->cqs, of_hca) {
		if (hca_mem_share_page(&cq->buf, buf) || overlap(&cq->db, db))
			return true;
	}
	LIST_FOREACH (srq, &hca->srqs, of_hca) {
		if (hca_mem_share_page(&srq->buf, buf) || overlap(&srq->db, db))
			return true;
	}
	LIST_FOREACH (qp, &hca->qps, of_hca) {
		if (hca_mem_share_page(&qp->buf, buf) || overlap(&qp->db, db))
			return true;
	}
	return false;
}

static const struct hca_mem none;

bool hca_mem_is_queue(struct hca *hca, const struct hca_mem *mem)
{
	return in_use(hca, mem, &none);
}

bool hca_mem_is_record(struct hca *hca, const struct hca_mem *mem)
{
	return in_use(hca, &none, mem);
}
