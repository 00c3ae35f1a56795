/* SPDX-License-Identifier: BSD-2-Clause */
#include "oracle.h"

#include "commands.h"
#include "process.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <time.h>

#define MAX_COMMANDS 64
#define N_BUCKETS    256
#define CPUINFO	     "proc_cpuinfo"

static const char *const fw_names[FW_N] = {
    [FW_CREATE_UCTX] = "CREATE_UCTX",
    [FW_DESTROY_UCTX] = "DESTROY_UCTX",
    [FW_ALLOC_TRANSPORT_DOMAIN] = "ALLOC_TRANSPORT_DOMAIN",
    [FW_DEALLOC_TRANSPORT_DOMAIN] = "DEALLOC_TRANSPORT_DOMAIN",
    [FW_QUERY_SPECIAL_CONTEXTS] = "QUERY_SPECIAL_CONTEXTS",
    [FW_MODIFY_NIC_VPORT_CONTEXT] = "MODIFY_NIC_VPORT_CONTEXT",
    [FW_QUERY_NIC_VPORT_CONTEXT] = "QUERY_NIC_VPORT_CONTEXT",
    [FW_QUERY_HCA_CAP] = "QUERY_HCA_CAP",
    [FW_QUERY_ADAPTER] = "QUERY_ADAPTER",
    [FW_ACCESS_REG] = "ACCESS_REG",
    [FW_ALLOC_UAR] = "ALLOC_UAR",
    [FW_DEALLOC_UAR] = "DEALLOC_UAR",
    [FW_ALLOC_PD] = "ALLOC_PD",
    [FW_DEALLOC_PD] = "DEALLOC_PD",
    [FW_CREATE_MKEY] = "CREATE_MKEY",
    [FW_DESTROY_MKEY] = "DESTROY_MKEY",
    [FW_CREATE_CQ] = "CREATE_CQ",
    [FW_DESTROY_CQ] = "DESTROY_CQ",
    [FW_CREATE_RMP] = "CREATE_RMP",
    [FW_QUERY_RMP] = "QUERY_RMP",
    [FW_ARM_RQ] = "ARM_RQ",
    [FW_DESTROY_RMP] = "DESTROY_RMP",
    [FW_CREATE_QP] = "CREATE_QP",
    [FW_QUERY_QP] = "QUERY_QP",
    [FW_DESTROY_QP] = "DESTROY_QP",
    [FW_RST2INIT_QP] = "RST2INIT_QP",
    [FW_INIT2INIT_QP] = "INIT2INIT_QP",
    [FW_INIT2RTR_QP] = "INIT2RTR_QP",
    [FW_RTR2RTS_QP] = "RTR2RTS_QP",
    [FW_RTS2RTS_QP] = "RTS2RTS_QP",
    [FW_2ERR_QP] = "2ERR_QP",
    [FW_2RST_QP] = "2RST_QP",
    [FW_CREATE_DCT] = "CREATE_DCT",
    [FW_QUERY_DCT] = "QUERY_DCT",
    [FW_DRAIN_DCT] = "DRAIN_DCT",
    [FW_DESTROY_DCT] = "DESTROY_DCT",
    [FW_DEVX] = "DEVX",
};

/* All that can be counted, delayed and made to fail: firmware, then commands, then the file. */
enum { N_EVENTS = FW_N + MAX_COMMANDS + 1, EVENT_CPUINFO = N_EVENTS - 1 };

struct process {
	pid_t pid;
	uint64_t began;
	uint64_t counts[N_EVENTS];
	LIST_ENTRY(process) next;
};
LIST_HEAD(processes, process);

struct fault {
	unsigned int event, nth, times;
	int error;
	pid_t pid;
	uint64_t began;
	LIST_ENTRY(fault) next;
};

struct hca_oracle {
	struct processes processes[N_BUCKETS];
	LIST_HEAD(, fault) faults;
	uint64_t delays[N_EVENTS];
};

static const char *event_name(unsigned int event)
{
	if (event < FW_N)
		return fw_names[event];
	if (event == EVENT_CPUINFO)
		return CPUINFO;
	return event - FW_N < hca_n_commands ? hca_commands[event - FW_N].name : NULL;
}

/* N_EVENTS if there is none. */
static unsigned int find_event(const char *name)
{
	unsigned int event = 0;

	while (event < N_EVENTS && (!event_name(event) || strcmp(event_name(event), name) != 0))
		event++;
	return event;
}

struct hca_oracle *hca_oracle_new(void)
{
	return calloc(1, sizeof(struct hca_oracle));
}

static void free_processes(struct hca_oracle *oracle)
{
	struct process *process;

	for (unsigned int i = 0; i < N_BUCKETS; i++) {
		while ((process = LIST_FIRST(&oracle->processes[i]))) {
			LIST_REMOVE(process, next);
			free(process);
		}
	}
}

void hca_oracle_free(struct hca_oracle *oracle)
{
	free_processes(oracle);
	hca_oracle_fail_nothing(oracle);
	free(oracle);
}

static struct process *find_process(const struct processes *bucket, pid_t pid)
{
	struct process *process;

	LIST_FOREACH (process, bucket, next) {
		if (process->pid == pid)
			return process;
	}
	return NULL;
}

/* That of an earlier process with this number is forgotten. */
static struct process *get_process(const struct hca_work *work)
{
	struct processes *bucket = &work->oracle->processes[(unsigned int)work->pid % N_BUCKETS];
	struct process *process = find_process(bucket, work->pid);

	if (process && process->began != work->began) {
		LIST_REMOVE(process, next);
		free(process);
		process = NULL;
	}
	if (process)
		return process;
	process = calloc(1, sizeof(*process));
	if (!process)
		return NULL;
	process->pid = work->pid;
	process->began = work->began;
	LIST_INSERT_HEAD(bucket, process, next);
	return process;
}

static bool is_for(const struct fault *fault, const struct hca_work *work)
{
	return !fault->pid || (fault->pid == work->pid && fault->began == work->began);
}

static int check_faults(const struct hca_work *work, unsigned int event)
{
	struct hca_oracle *oracle = work->oracle;
	struct fault *fault;

	LIST_FOREACH (fault, &oracle->faults, next) {
		int error = fault->error;

		if (fault->event != event || !is_for(fault, work))
			continue;
		if (fault->nth > 1) {
			fault->nth--;
			continue;
		}
		if (fault->times && !--fault->times) {
			LIST_REMOVE(fault, next);
			free(fault);
		}
		return -error;
	}
	return 0;
}

static int note(struct hca_work *work, unsigned int event)
{
	struct process *process = get_process(work);

	if (process)
		process->counts[event]++;
	if (!work->pid)
		return 0;
	work->delay += work->oracle->delays[event];
	return check_faults(work, event);
}

int hca_fw(struct hca_work *work, enum hca_fw fw)
{
	return note(work, fw);
}

int hca_note_command(struct hca_work *work, unsigned int command)
{
	return note(work, FW_N + command);
}

void hca_note_cpuinfo(struct hca_work *work)
{
	note(work, EVENT_CPUINFO);
}

int hca_oracle_fail(struct hca_oracle *oracle, const char *name, int error, unsigned int nth,
		    unsigned int times, pid_t pid)
{
	unsigned int event = find_event(name);
	struct fault *fault;

	if (event == N_EVENTS)
		return -EINVAL;
	fault = malloc(sizeof(*fault));
	if (!fault)
		return -ENOMEM;
	*fault = (struct fault){.event = event,
				.nth = nth,
				.times = times,
				.error = error,
				.pid = pid,
				.began = pid ? hca_process_began(pid) : 0};
	LIST_INSERT_HEAD(&oracle->faults, fault, next);
	return 0;
}

void hca_oracle_fail_nothing(struct hca_oracle *oracle)
{
	struct fault *fault;

	while ((fault = LIST_FIRST(&oracle->faults))) {
		LIST_REMOVE(fault, next);
		free(fault);
	}
}

static json_t *describe_range(const struct process *process, unsigned int from, unsigned int to)
{
	json_t *counts = json_object();

	for (unsigned int event = from; event < to; event++) {
		if (process->counts[event])
			json_object_set_new(counts, event_name(event),
					    json_integer((json_int_t)process->counts[event]));
	}
	return counts;
}

json_t *hca_oracle_counts(const struct hca_oracle *oracle)
{
	json_t *all = json_object();
	struct process *process;

	for (unsigned int i = 0; i < N_BUCKETS; i++) {
		LIST_FOREACH (process, &oracle->processes[i], next) {
			char name[16];

			snprintf(name, sizeof(name), "%d", process->pid);
			json_object_set_new(all, process->pid ? name : "cleanup",
					    json_pack("{s:o, s:o}", "firmware",
						      describe_range(process, 0, FW_N), "commands",
						      describe_range(process, FW_N, N_EVENTS)));
		}
	}
	return all;
}

void hca_oracle_reset(struct hca_oracle *oracle)
{
	free_processes(oracle);
}

/* "NAME MICROSECONDS # source"; empty lines and lines that begin with # are skipped. */
static int take_line(struct hca_oracle *oracle, const char *line)
{
	char name[64];
	double microseconds;
	unsigned int event;
	int n = sscanf(line, " %63[^ \t\n#] %lf", name, &microseconds);

	if (n <= 0)
		return 0;
	event = find_event(name);
	if (n != 2 || event == N_EVENTS || microseconds < 0)
		return -EINVAL;
	oracle->delays[event] = (uint64_t)(microseconds * 1000);
	return 0;
}

int hca_oracle_load_model(struct hca_oracle *oracle, const char *path)
{
	FILE *file = fopen(path, "re");
	char line[512];
	int error = file ? 0 : -errno;

	for (int number = 1; !error && fgets(line, sizeof(line), file); number++) {
		error = take_line(oracle, line);
		if (error)
			fprintf(stderr, "standin-hca: %s:%d: not a command and microseconds: %s",
				path, number, line);
	}
	if (file)
		fclose(file);
	else
		fprintf(stderr, "standin-hca: %s: %s\n", path, strerror(-error));
	return error;
}

/* Spins at the end, since waking a thread takes time that would make each delay longer. */
#define WAKE_NS 60000

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void hca_sleep(uint64_t delay)
{
	uint64_t end = now() + delay;

	if (!delay)
		return;
	if (delay > WAKE_NS) {
		uint64_t rest = delay - WAKE_NS;
		struct timespec t = {(time_t)(rest / 1000000000u), (long)(rest % 1000000000u)};

		nanosleep(&t, NULL);
	}
	while (now() < end)
		;
}
