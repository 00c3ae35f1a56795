/* SPDX-License-Identifier: BSD-2-Clause */
#include "control.h"

#include "kernel.h"
#include "port.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NODE_FILE STANDIN_NODES "/" STANDIN_NODE_NAME

static const char *const kind_names[HCA_KINDS] = {
    [HCA_PD] = "pd", [HCA_CQ] = "cq", [HCA_SRQ] = "srq", [HCA_QP] = "qp",
    [HCA_AH] = "ah", [HCA_MR] = "mr", [HCA_UAR] = "uar", [HCA_DEVX] = "devx",
};

static uint64_t pages_of(const struct hca_mem *mem)
{
	uint64_t start = mem->file ? mem->file_offset : mem->va;

	if (!mem->length)
		return 0;
	return (start + mem->length - 1) / HCA_PAGE - start / HCA_PAGE + 1;
}

static uint64_t pinned_pages(const struct hca_object *object)
{
	switch (object->kind) {
	case HCA_CQ:
		return pages_of(&((const struct hca_cq *)object)->buf);
	case HCA_SRQ:
		return pages_of(&((const struct hca_srq *)object)->buf);
	case HCA_QP:
		return pages_of(&((const struct hca_qp *)object)->buf);
	case HCA_MR:
		return pages_of(&((const struct hca_mr *)object)->mem);
	default:
		return 0;
	}
}

struct tally {
	uint64_t kinds[HCA_KINDS];
	uint64_t ufiles, mapped, lingering, contexts, channels, async, pages;
};

static void tally_ufile(struct tally *tally, const struct hca_ufile *ufile)
{
	struct hca_object *object;
	struct hca_events *events;

	tally->ufiles++;
	tally->mapped += hca_ufile_is_mapped(ufile);
	tally->lingering += ufile->closed;
	tally->contexts += ufile->has_context;
	LIST_FOREACH (object, &ufile->objects, of_ufile) {
		tally->kinds[object->kind]++;
		tally->pages += pinned_pages(object);
	}
	LIST_FOREACH (events, &ufile->event_files, of_ufile) {
		if (events->is_channel)
			tally->channels++;
		else
			tally->async++;
	}
}

static void set(json_t *answer, const char *name, uint64_t value)
{
	json_object_set_new(answer, name, json_integer((json_int_t)value));
}

static json_t *objects(struct hca *hca)
{
	struct tally tally = {0};
	struct hca_ufile *ufile;
	json_t *answer = json_object();

	LIST_FOREACH (ufile, &hca->ufiles, of_hca)
		tally_ufile(&tally, ufile);
	for (int i = 0; i < HCA_KINDS; i++)
		set(answer, kind_names[i], tally.kinds[i]);
	set(answer, "ufiles", tally.ufiles);
	set(answer, "mapped", tally.mapped);
	set(answer, "kept_by_mappings", tally.lingering);
	set(answer, "contexts", tally.contexts);
	set(answer, "channels", tally.channels);
	set(answer, "async_files", tally.async);
	set(answer, "pinned_pages", tally.pages);
	return answer;
}

static json_t *refuse(const char *why)
{
	return json_pack("{s:s}", "error", why);
}

static json_t *fail(struct hca *hca, const char *words)
{
	unsigned int nth = 1, times = 1;
	char name[64];
	int error, pid = 0;

	if (sscanf(words, "%63s %d %u %u %d", name, &error, &nth, &times, &pid) < 2 || error <= 0)
		return refuse("fail NAME ERRNO [NTH [TIMES [PID]]]");
	if (hca_oracle_fail(hca->oracle, name, error, nth, times, pid))
		return refuse("no such command");
	return json_object();
}

static json_t *clear(struct hca *hca, const char *words)
{
	(void)words;
	hca_oracle_fail_nothing(hca->oracle);
	return json_object();
}

static json_t *counts(struct hca *hca, const char *words)
{
	json_t *answer = hca_oracle_counts(hca->oracle);

	if (!strcmp(words, " --reset"))
		hca_oracle_reset(hca->oracle);
	return answer;
}

static json_t *list_objects(struct hca *hca, const char *words)
{
	(void)words;
	hca_reap(hca);
	return objects(hca);
}

/* A queue pair's state, enum ibv_qp_state; -1: there is none of that number. */
static json_t *state(struct hca *hca, const char *words)
{
	unsigned int qpn;
	struct hca_qp *qp;

	if (sscanf(words, "%u", &qpn) != 1)
		return refuse("state QPN");
	qp = hca_qp_at(hca, qpn);
	return json_pack("{s:i}", "state", qp ? (int)qp->state : -1);
}

/* An event as if the adapter had it: of the QP or the first CQ of a number. */
static json_t *event(struct hca *hca, const char *words)
{
	struct hca_qp *qp;
	unsigned int qpn;
	int type;

	if (sscanf(words, "%u %d", &qpn, &type) != 2)
		return refuse("event QPN TYPE");
	qp = hca_qp_at(hca, qpn);
	if (!qp)
		return refuse("no such queue pair");
	hca_qp_async(qp, (enum ibv_event_type)type);
	return json_object();
}

static json_t *notify(struct hca *hca, const char *words)
{
	struct hca_cq *cq;
	unsigned int cqn;

	if (sscanf(words, "%u", &cqn) != 1)
		return refuse("notify CQN");
	LIST_FOREACH (cq, &hca->cqs, of_hca) {
		if (cq->cqn == cqn) {
			hca_cq_event(cq);
			return json_object();
		}
	}
	return refuse("no such completion queue");
}

/* The node goes first, as in the kernel. */
static json_t *remove_device(struct hca *hca, const char *words)
{
	struct hca_ufile *ufile;

	(void)words;
	if (unlinkat(hca->folder, NODE_FILE, 0))
		return refuse("there is no node to remove");
	hca->removed = true;
	LIST_FOREACH (ufile, &hca->ufiles, of_hca)
		hca_ufile_disassociate(ufile);
	return json_object();
}

static json_t *return_device(struct hca *hca, const char *words)
{
	int fd;

	(void)words;
	hca->removed = false;
	fd = openat(hca->folder, NODE_FILE, O_CREAT | O_WRONLY | O_CLOEXEC, 0666);
	if (fd < 0)
		return refuse("the node cannot be made");
	close(fd);
	return json_object();
}

/* The adapter's policy for numbers of queue pairs. */
static json_t *reuse(struct hca *hca, const char *words)
{
	if (strcmp(words, " on") != 0 && strcmp(words, " off") != 0)
		return refuse("reuse on|off");
	hca->qpns.reuse = !strcmp(words, " on");
	return json_object();
}

static json_t *address(struct hca *hca, const char *words)
{
	int error;

	if (!strcmp(words, " remove"))
		error = hca_address_remove(hca);
	else if (!strcmp(words, " add"))
		error = hca_address_add(hca);
	else
		return refuse("address remove|add");
	return error ? refuse(strerror(-error)) : json_object();
}

static json_t *set_link(struct hca *hca, const char *words)
{
	if (strcmp(words, " down") != 0 && strcmp(words, " up") != 0)
		return refuse("link down|up");
	hca_link_set(hca, !strcmp(words, " up"));
	return json_object();
}

static const struct {
	const char *word;
	json_t *(*run)(struct hca *hca, const char *words);
} verbs[] = {
    {"counts", counts},	       {"objects", list_objects}, {"fail", fail},
    {"clear", clear},	       {"event", event},	  {"notify", notify},
    {"remove", remove_device}, {"return", return_device}, {"reuse", reuse},
    {"address", address},      {"link", set_link},	  {"state", state},
};

json_t *hca_control(struct hca *hca, const char *line)
{
	size_t length = strcspn(line, " ");
	json_t *answer;

	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		if (strlen(verbs[i].word) != length || strncmp(verbs[i].word, line, length) != 0)
			continue;
		hca_lock(hca);
		answer = verbs[i].run(hca, line + length);
		hca_unlock(hca);
		return answer;
	}
	return refuse("counts [--reset] | objects | fail NAME ERRNO [NTH [TIMES [PID]]] | clear | "
		      "state QPN | event QPN TYPE | notify CQN | remove | return | reuse on|off | "
		      "address remove|add | link down|up");
}
