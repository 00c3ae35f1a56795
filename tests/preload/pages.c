/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program that ends at once pays for each page of the preload that its start writes to. These are
 * only the pages that the loader writes to in any library (see WV_START in base/base.h).
 */
#include <err.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* One with addresses in constants, one with addresses of functions. */
#define LOADERS_PAGES 2

/* Bits of /proc/self/pagemap (Documentation/admin-guide/mm/pagemap.rst of the kernel). */
#define PRESENT	   (UINT64_C(1) << 63)
#define SWAPPED	   (UINT64_C(1) << 62)
#define IS_OF_FILE (UINT64_C(1) << 61)

static uintptr_t page;

static int is_private(int pagemap, uintptr_t number)
{
	uint64_t entry;

	if (pread(pagemap, &entry, sizeof(entry), (off_t)(number * sizeof(entry))) != sizeof(entry))
		err(1, "pagemap");
	return entry & (PRESENT | SWAPPED) && !(entry & IS_OF_FILE);
}

static int private_pages(uintptr_t begin, uintptr_t end)
{
	int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC), found = 0;

	if (pagemap < 0)
		err(77, "skipped: /proc/self/pagemap");
	for (uintptr_t number = begin / page; number <= (end - 1) / page; number++)
		found += is_private(pagemap, number);
	close(pagemap);
	return found;
}

/* Counts the pages of the library's writable segment, into @data. */
static int look(struct dl_phdr_info *library, size_t size, void *data)
{
	(void)size;
	if (!strstr(library->dlpi_name, "libwarmverbs.so"))
		return 0;
	for (int i = 0; i < library->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &library->dlpi_phdr[i];
		uintptr_t begin = library->dlpi_addr + segment->p_vaddr;

		if (segment->p_type == PT_LOAD && segment->p_flags & PF_W)
			*(int *)data += private_pages(begin, begin + segment->p_memsz);
	}
	return 0;
}

int main(void)
{
	int found = 0;

	page = (uintptr_t)sysconf(_SC_PAGESIZE);
	/* Many programs open a file at their start, or libraries do for them. */
	fclose(fopen("/dev/null", "r"));
	dl_iterate_phdr(look, &found);
	printf("pages of the preload that this start wrote to: %d\n", found);
	return !found || found > LOADERS_PAGES;
}
