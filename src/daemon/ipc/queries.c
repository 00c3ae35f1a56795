/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/ipc/queries.h"

#include "base/base.h"
#include "base/log.h"
#include "daemon/ipc/documents.h"
#include "daemon/ipc/pairing_json.h"
#include "daemon/ipc/status_json.h"
#include "store/hex.h"
#include "store/json_memory.h"
#include "store/recipe_json.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#define MAX_QUESTION 4096

/* Answers @question of user @who. A new document; NULL if memory is short. */
typedef json_t *(*answer_fn)(struct wv_service *s, uid_t who, json_t *question);

static json_t *failure(const char *error, const char *remedy)
{
	return json_pack("{s:s, s:s}", "error", error, "remedy", remedy);
}

static json_t *answer_status(struct wv_service *s, uid_t who, json_t *question)
{
	(void)question;
	return wv_status(s, who);
}

/* The recipe that @question names, if @who may see it. */
static struct wv_recipe *named_recipe(struct wv_service *s, uid_t who, json_t *question)
{
	const char *text = json_string_value(json_object_get(question, "id"));
	struct wv_user *user;
	uint64_t id;

	if (!text || wv_unhex_u64(text, &id))
		return NULL;
	wv_each_user (s->catalog, user) {
		struct wv_recipe *recipe;

		if (!wv_may_see(who, user->uid))
			continue;
		recipe = wv_catalog_find(s->catalog, user->uid, id);
		if (recipe)
			return recipe;
	}
	return NULL;
}

static json_t *no_such_recipe(void)
{
	return failure("there is no such recipe of yours",
		       "give the 16 digits of an id that 'warmverbs recipes list' prints");
}

static json_t *answer_recipe(struct wv_service *s, uid_t who, json_t *question)
{
	struct wv_recipe *recipe = named_recipe(s, who, question);

	return recipe ? wv_recipe_to_json(recipe) : no_such_recipe();
}

static unsigned int forget_all(struct wv_service *s, uid_t who)
{
	struct wv_user *user, *next_user;
	unsigned int n = 0;

	for (user = LIST_FIRST(&s->catalog->users); user; user = next_user) {
		struct wv_recipe *recipe;

		next_user = LIST_NEXT(user, link);
		if (!wv_may_see(who, user->uid))
			continue;
		for (; (recipe = TAILQ_FIRST(&user->recipes)); n++)
			wv_catalog_remove(s->catalog, recipe);
		wv_catalog_tidy_user(s->catalog, user);
	}
	return n;
}

static json_t *answer_forget(struct wv_service *s, uid_t who, json_t *question)
{
	const char *id = json_string_value(json_object_get(question, "id"));
	struct wv_recipe *recipe;

	if (id && !strcmp(id, "all"))
		return json_pack("{s:i}", "forgotten", (int)forget_all(s, who));
	recipe = named_recipe(s, who, question);
	if (!recipe)
		return no_such_recipe();
	wv_catalog_remove(s->catalog, recipe);
	return json_pack("{s:i}", "forgotten", 1);
}

static json_t *answer_peers(struct wv_service *s, uid_t who, json_t *question)
{
	(void)question;
	return wv_peers_json(s, who);
}

static const struct {
	const char *op;
	answer_fn answer;
} operations[] = {
    {"status", answer_status},
    {"recipe", answer_recipe},
    {"forget", answer_forget},
    {"peers", answer_peers},
};

static json_t *answer(struct wv_service *s, uid_t who, const char *text, size_t bytes)
{
	json_t *question = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, NULL);
	const char *op = json_string_value(json_object_get(question, "op"));
	json_t *result = NULL;
	bool known = false;

	for (unsigned int i = 0; op && !known && i < WV_ARRAY_SIZE(operations); i++) {
		known = !strcmp(operations[i].op, op);
		if (known)
			result = operations[i].answer(s, who, question);
	}
	json_decref(question);
	return known ? result
		     : failure("the question is not understood",
			       "use a warmverbs of the daemon's version");
}

/* A memfd that holds @text and is sealed against changes. The caller's; or -errno. */
static int seal(const char *text)
{
	wv_auto_fd memory = memfd_create("warmverbs-answer", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	size_t bytes = strlen(text);

	if (memory < 0)
		return -errno;
	if (write(memory, text, bytes) != (ssize_t)bytes)
		return errno ? -errno : -EIO;
	if (lseek(memory, 0, SEEK_SET) < 0 ||
	    fcntl(memory, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE))
		return -errno;
	return wv_steal_fd(&memory);
}

/* In a message, or in a document if it is too long for one. */
static int send_text(struct wv_client *c, const char *text)
{
	bool fits = sizeof(struct wv_msg) + strlen(text) <= WV_WIRE_MAX;
	wv_auto_fd memory = fits ? -1 : seal(text);
	struct wv_msg head;
	const struct wv_answer_parts parts = {
	    .head = &head,
	    .head_bytes = sizeof(head),
	    .tail = fits ? text : NULL,
	    .tail_bytes = fits ? strlen(text) : 0,
	    .fds = &memory,
	    .n_fds = !fits,
	    .document = !fits,
	};

	if (!fits && memory < 0)
		return memory;
	wv_msg_init(&head, WV_MSG_CONTROL, sizeof(head) + parts.tail_bytes);
	return wv_client_answer(c, &parts);
}

enum wv_client_next wv_handle_control(struct wv_client *c, const struct wv_received *in)
{
	size_t bytes = in->msg->bytes - sizeof(*in->msg);
	wv_auto_free char *text = NULL;
	json_t *json;
	int err;

	c->state = WV_CLIENT_DONE;
	if (bytes > MAX_QUESTION)
		return WV_CLIENT_MALFORMED;
	wv_json_begin();
	json = answer(c->service, c->administrator ? WV_ADMINISTRATOR : c->user->uid,
		      (const char *)(in->msg + 1), bytes);
	text = json_dumps(json, JSON_INDENT(1));
	json_decref(json);
	err = text && !wv_json_was_short() ? send_text(c, text) : -ENOMEM;
	if (err)
		wv_log(WV_INFO, "a question of user %u could not be answered: %s", c->user->uid,
		       strerror(-err));
	return WV_CLIENT_CLOSE;
}
