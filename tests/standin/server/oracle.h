/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What tests ask and set: which process gave which commands, which firmware commands these caused,
 * which commands are to fail, and how long each takes.
 */
#pragma once

#include <jansson.h>
#include <stdint.h>
#include <sys/types.h>

struct hca_oracle;

/* The firmware commands that the driver gives, as the adapter's programmer's reference has them. */
enum hca_fw {
	FW_CREATE_UCTX,
	FW_DESTROY_UCTX,
	FW_ALLOC_TRANSPORT_DOMAIN,
	FW_DEALLOC_TRANSPORT_DOMAIN,
	FW_QUERY_SPECIAL_CONTEXTS,
	FW_MODIFY_NIC_VPORT_CONTEXT,
	FW_QUERY_NIC_VPORT_CONTEXT,
	FW_QUERY_HCA_CAP,
	FW_QUERY_ADAPTER,
	FW_ACCESS_REG,
	FW_ALLOC_UAR,
	FW_DEALLOC_UAR,
	FW_ALLOC_PD,
	FW_DEALLOC_PD,
	FW_CREATE_MKEY,
	FW_DESTROY_MKEY,
	FW_CREATE_CQ,
	FW_DESTROY_CQ,
	FW_CREATE_RMP,
	FW_QUERY_RMP,
	FW_ARM_RQ,
	FW_DESTROY_RMP,
	FW_CREATE_QP,
	FW_QUERY_QP,
	FW_DESTROY_QP,
	FW_RST2INIT_QP,
	FW_INIT2INIT_QP,
	FW_INIT2RTR_QP,
	FW_RTR2RTS_QP,
	FW_RTS2RTS_QP,
	FW_2ERR_QP,
	FW_2RST_QP,
	FW_CREATE_DCT,
	FW_QUERY_DCT,
	FW_DRAIN_DCT,
	FW_DESTROY_DCT,
	FW_DEVX,
	FW_N,
};

/* One piece of work: whose it is, and how long it takes so far. */
struct hca_work {
	struct hca_oracle *oracle;
	pid_t pid;	/* 0: what the kernel does on its own when a ufile ends */
	uint64_t began; /* when that process did: process.h */
	uint64_t delay; /* nanoseconds */
	/* How many events of the object that it destroyed the program had read. */
	uint32_t comp_events, async_events;
};

struct hca_oracle *hca_oracle_new(void);
void hca_oracle_free(struct hca_oracle *oracle);

/* Reads a model file. Says on stderr what is wrong with it; -EINVAL. */
int hca_oracle_load_model(struct hca_oracle *oracle, const char *path);

/*
 * The program gives a command, or the driver a firmware command: counts it and adds its time to
 * @work. Returns 0, or -errno if a test wants it to fail. @command is an index of the table of
 * commands (commands.h).
 */
int hca_note_command(struct hca_work *work, unsigned int command);
int hca_fw(struct hca_work *work, enum hca_fw fw);
/* /proc/cpuinfo is read. */
void hca_note_cpuinfo(struct hca_work *work);

/* Sleeps for @delay nanoseconds, to some microseconds. Not with a lock held. */
void hca_sleep(uint64_t delay);

/*
 * From now on, the @nth (from 1) next command of that name (of a process, 0 for all) fails with
 * @error, @times over (0: for ever). A later process that gets the number of that one is another.
 * -EINVAL: no such command.
 */
int hca_oracle_fail(struct hca_oracle *oracle, const char *name, int error, unsigned int nth,
		    unsigned int times, pid_t pid);
void hca_oracle_fail_nothing(struct hca_oracle *oracle);

/* All counts; a new reference. */
json_t *hca_oracle_counts(const struct hca_oracle *oracle);
void hca_oracle_reset(struct hca_oracle *oracle);
