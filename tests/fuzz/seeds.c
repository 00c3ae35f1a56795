/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes the inputs that fuzzing begins with: fuzz-seeds FOLDER makes FOLDER/TARGET/NAME. They are
 * made of the recorded commands in tests/fixtures and of what a daemon answers, so they are never
 * out of date.
 */
#include "fuzz.h"

#include "daemon/pairs/links.h"
#include "daemon/peers/frame.h"
#include "daemon_bench.h"
#include "preload/core/script.h"
#include "reply.h"
#include "store/recipe_json.h"
#include "template/start.h"
#include "through.h"
#include "turns.h"
#include "wire/service_note.h"
#include "wire/trace_record.h"

#include <fcntl.h>
#include <link.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <sys/stat.h>

static const char *top;

static void save(const char *target, const char *name, const void *data, size_t bytes)
{
	wv_auto_fd fd = -1;
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", top, target);
	assert_true(!mkdir(path, 0755) || errno == EEXIST);
	snprintf(path, sizeof(path), "%s/%s/%s", top, target, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, bytes), bytes);
}

static void save_text(const char *target, const char *name, const char *text)
{
	save(target, name, text, strlen(text));
}

/* Frees @json. */
static void save_json(const char *target, const char *name, json_t *json)
{
	wv_auto_free char *text = json_dumps(json, JSON_INDENT(1));

	assert_non_null(text);
	save_text(target, name, text);
	json_decref(json);
}

static void save_records(struct wv_cmdlog **records)
{
	for (unsigned int i = 0; i < THROUGH_ORIGINALS; i++)
		save("record", i < N_FIXTURES ? fixture_names[i] : "mlx5", records[i],
		     records[i]->bytes);
}

static void save_recipe(const char *name, struct wv_cmdlog *cmdlog)
{
	struct wv_key key = {.driver_id = cmdlog->driver_id, .ibdev = "rxe0", .kernel = "6.1"};
	static const struct wv_build_id provider;
	struct wv_recipe *recipe;

	assert_int_equal(wv_recipe_new(1000, &key, &provider, cmdlog, &recipe), 0);
	wv_recipe_add_argv(recipe, 7);
	save_json("recipe", name, wv_recipe_to_json(recipe));
	save_json("answer", name, wv_recipe_to_json(recipe));
	wv_recipe_free(recipe);
}

/* A reply and its message, of two parts. */
static void save_reply(const char *name, struct reply reply, void *head, size_t head_bytes,
		       const void *tail, size_t tail_bytes)
{
	static uint8_t all[sizeof(reply) + WV_WIRE_MAX];

	((struct wv_msg *)head)->bytes = (uint32_t)(head_bytes + tail_bytes);
	memcpy(all, &reply, sizeof(reply));
	memcpy(all + sizeof(reply), head, head_bytes);
	if (tail_bytes)
		memcpy(all + sizeof(reply) + head_bytes, tail, tail_bytes);
	save("reply", name, all, sizeof(reply) + head_bytes + tail_bytes);
}

/* Connects the queue pair of @lease, and says so in its message. */
static void connect_lease(struct wv_cmdlog *lease, struct fake_kernel *kernel,
			  struct wv_lease_pair *pair)
{
	const struct wv_qp_peer peer = {.qp_num = 9};
	wv_auto_free struct wv_cmdlog *moves = moves_of(3, &peer);

	*pair = (struct wv_lease_pair){.pair = 1, .peer_qp_num = peer.qp_num};
	pair->create = step_index(lease, tape_find(lease, "QP_CREATE", 0));
	assert_int_equal(wv_replay_moves(lease, WV_CMDLOG_MAX_BYTES, pair->create, moves, &peer,
					 fake_kernel_issue, kernel),
			 0);
}

/* Its queue pair is connected if the program is to do something with it. */
static void save_lease(const char *name, struct reply reply, struct wv_cmdlog *recipe)
{
	wv_auto_free struct wv_cmdlog *lease = malloc(WV_CMDLOG_MAX_BYTES);
	static struct fake_kernel kernel;
	struct wv_msg_lease head = {0};
	struct wv_replay out;
	struct stat node;

	fake_kernel_init(&kernel);
	assert_int_equal(
	    wv_replay(recipe, fake_kernel_issue, &kernel, lease, WV_CMDLOG_MAX_BYTES, &out), 0);
	assert_true(lease->memory <= REPLY_MEMORY);
	for (unsigned int i = 0; i < out.n_fds; i++)
		close(out.fds[i]);
	wv_close_fd(&out.memory);
	if (reply.how)
		connect_lease(lease, &kernel, &head.pair);
	assert_int_equal(stat(BENCH_NODE, &node), 0);
	wv_msg_init(&head.msg, WV_MSG_LEASE, 0);
	head.rdev = node.st_rdev;
	head.n_fds = lease->n_fds;
	head.flags = reply.how ? WV_ANSWER_CONNECTED : 0;
	reply.n_fds = (uint8_t)(1 + lease->n_fds + !!lease->memory);
	save_reply(name, reply, &head, sizeof(head), lease, lease->bytes);
}

/* Connected ahead, and used in each way. */
static void save_connected(void)
{
	const unsigned int program = 1;
	wv_auto_free struct wv_cmdlog *recipe = fixture_recipe(fixture_names[program]);

	for (uint8_t how = 1;
	     how <= REPLY_ALIVE + REPLY_QUERIES + REPLY_ELSEWHERE + REPLY_OTHERWISE; how++) {
		char name[] = {'c', 'o', 'n', 'n', 'e', 'c', 't', (char)('a' + how), 0};

		save_lease(name, (struct reply){.program = program, .how = how}, recipe);
	}
}

static void save_other_replies(void)
{
	struct wv_msg_no_lease none;
	struct wv_msg_pool_state state = {.granted = 3, .ready = 1};

	for (uint32_t reason = WV_NO_LEASE_RECORD; reason <= WV_NO_LEASE_UNFIT; reason++) {
		char name[] = {'n', 'o', '0' + (char)reason, 0};

		none = (struct wv_msg_no_lease){.reason = reason};
		wv_msg_init(&none.msg, WV_MSG_NO_LEASE, 0);
		save_reply(name, (struct reply){0}, &none, sizeof(none), NULL, 0);
	}
	wv_msg_init(&state.msg, WV_MSG_POOL_STATE, 0);
	save_reply("pool", (struct reply){.to_pool_request = 1}, &state, sizeof(state), NULL, 0);
}

/* Turns of the target "daemon". */
struct turns {
	uint8_t data[64 * 1024];
	size_t bytes;
};

static void add(struct turns *t, uint8_t what, uint8_t n_nodes, const void *data, size_t bytes)
{
	struct turn turn = {.what = what, .n_nodes = n_nodes, .bytes = (uint32_t)bytes};

	memcpy(t->data + t->bytes, &turn, sizeof(turn));
	if (bytes)
		memcpy(t->data + t->bytes + sizeof(turn), data, bytes);
	t->bytes += sizeof(turn) + bytes;
}

/* A message; its header is not stored. */
#define ADD_MESSAGE(turns, type, n_nodes, message)                                                 \
	add(turns, type, n_nodes, &(message).msg + 1, sizeof(message) - sizeof(struct wv_msg))

static void add_question(struct turns *t, const char *text)
{
	add(t, WV_MSG_CONTROL, 0, text, strlen(text));
}

static void add_pool(struct turns *t, struct wv_msg_request program, uint32_t leases)
{
	struct wv_msg_pool pool = {.program = program, .leases = leases};

	add(t, WV_MSG_POOL, 0, (uint8_t *)&pool + sizeof(struct wv_msg),
	    sizeof(pool) - sizeof(struct wv_msg));
}

/* A program's first run and its second one, and what the command line asks then. */
static void save_turns(const char *name, struct wv_cmdlog *record)
{
	static struct turns t;
	struct wv_msg_request request = bench_request(1);
	struct wv_msg_report report = {.adopted = 3, .diverged = 1, .why = WV_WHY_VALUE};
	uint8_t sent[sizeof(struct wv_msg_record) - sizeof(struct wv_msg) + 16 * 1024] = {0};
	size_t head = sizeof(struct wv_msg_record) - sizeof(struct wv_msg);

	t.bytes = 0;
	memcpy(sent + head, record, record->bytes);
	ADD_MESSAGE(&t, WV_MSG_REQUEST, 1, request);
	add(&t, WV_MSG_RECORD, 0, sent, head + record->bytes);
	add(&t, TURN_FILL, 0, NULL, 0);
	ADD_MESSAGE(&t, WV_MSG_REQUEST, 1, request);
	ADD_MESSAGE(&t, WV_MSG_REPORT, 0, report);
	add_pool(&t, request, 2);
	memset(&request.verbs, 0, sizeof(request.verbs)); /* any */
	add_pool(&t, request, 1);
	add(&t, TURN_CLOSE, 0, NULL, 0);
	add_question(&t, "{\"op\": \"status\"}");
	add_question(&t, "{\"op\": \"forget\", \"id\": \"all\"}");
	save("daemon", name, t.data, t.bytes);
}

static void add_note(struct turns *t, uint8_t what, struct wv_pair_note note)
{
	note.qp_num = note.peer_qp_num = 1;
	strcpy(note.user, "root");
	if (what == TURN_NOTE)
		wv_pair_note_swap(&note);
	add(t, what, 0, &note, sizeof(note));
}

/* A server that keeps spares, and the daemon of a client, which asks it for all there is. */
static void save_notes(void)
{
	static struct turns t;
	static const uint16_t said[] = {WV_PAIR_KEEPER, WV_PAIR_CONNECTED, WV_PAIR_CONNECTED};
	static const uint16_t asked[] = {WV_PAIR_EDGE,	  WV_PAIR_ASK,	WV_PAIR_CLAIMED,
					 WV_PAIR_MADE,	  WV_PAIR_DROP, WV_PAIR_FORGOTTEN,
					 WV_PAIR_REFUSED, WV_PAIR_LOST, WV_PAIR_STILL};

	t.bytes = 0;
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(said); i++)
		add_note(&t, WV_MSG_PAIR, (struct wv_pair_note){.word = said[i]});
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(asked); i++)
		add_note(&t, TURN_NOTE,
			 (struct wv_pair_note){.word = asked[i], .keeper = i ? 1 : 0, .pair = 7});
	add_note(&t, WV_MSG_PAIR, (struct wv_pair_note){.word = WV_PAIR_MADE, .pair = 1});
	add_note(&t, WV_MSG_PAIR, (struct wv_pair_note){.word = WV_PAIR_USED, .pair = 1});
	save("daemon", "notes", t.data, t.bytes);
}

/* A program with a lease says to which server its queue pair was connected. */
static void add_connected(struct turns *t, struct wv_cmdlog *record)
{
	struct wv_qp_peer peer = {.qp_num = 7, .gid = {0xfe, 0x80, [15] = 1}};
	wv_auto_free struct wv_cmdlog *moves = moves_of(2, &peer);
	wv_auto_free struct wv_cmdlog *recipe = recipe_of(record);
	struct wv_msg_connected msg = {.qp_num = 5};
	uint8_t sent[sizeof(msg) - sizeof(msg.msg) + 4096];
	size_t head = sizeof(msg) - sizeof(msg.msg);

	msg.create = step_index(recipe, tape_find(recipe, "QP_CREATE", 0));
	memcpy(sent, (uint8_t *)&msg + sizeof(msg.msg), head);
	assert_true(moves->bytes <= sizeof(sent) - head);
	memcpy(sent + head, moves, moves->bytes);
	add(t, WV_MSG_CONNECTED, 0, sent, head + moves->bytes);
}

/* A program that connects to a server of this node in each run, and gets a pair in the third. */
static void save_pairs(struct wv_cmdlog *record)
{
	static const struct spoken
	    keeper = {.word = WV_PAIR_KEEPER},
	    connected = {.word = WV_PAIR_CONNECTED, .shape = 9, .qp_num = 7, .peer_qp_num = 5},
	    made = {.word = WV_PAIR_MADE, .flags = SPOKEN_AS_HEARD, .qp_num = 8},
	    used = {.word = WV_PAIR_USED, .flags = SPOKEN_AS_HEARD, .qp_num = 8};
	static struct turns t;
	struct wv_msg_request request = bench_request(1);
	struct wv_msg_report report = {.adopted = 7};
	size_t head = sizeof(struct wv_msg_record) - sizeof(struct wv_msg);
	uint8_t sent[sizeof(struct wv_msg_record) + 16 * 1024] = {0};

	memcpy(sent + head, record, record->bytes);
	t.bytes = 0;
	ADD_MESSAGE(&t, WV_MSG_REQUEST, 1, request);
	add(&t, WV_MSG_RECORD, 0, sent, head + record->bytes);
	add(&t, TURN_TALK, 0, &keeper, sizeof(keeper));
	add(&t, TURN_FILL, 0, NULL, 0);
	for (unsigned int i = 0; i < 4; i++) {
		add(&t, TURN_CLOSE, 0, NULL, 0);
		ADD_MESSAGE(&t, WV_MSG_REQUEST, 1, request);
		add_connected(&t, record);
		add(&t, TURN_TALK, 0, &connected, sizeof(connected));
		ADD_MESSAGE(&t, WV_MSG_REPORT, 0, report);
		add(&t, TURN_FILL, 0, NULL, 0);
		add(&t, TURN_TALK, 0, &made, sizeof(made));
	}
	add(&t, TURN_TALK, 0, &used, sizeof(used));
	save("daemon", "pairs", t.data, t.bytes);
}

/* Services of this node and of the peer, and their clients, one after another. */
static void save_services(void)
{
	enum { SERVICE, CLIENT, PEER = N_CLIENTS };
	static const struct served
	    here[] = {{WV_SERVICE_OFFER, SERVICE, .from = 1},
		      {WV_SERVICE_ASK, CLIENT, .from = 1},
		      {WV_SERVICE_MAKING, SERVICE, SERVED_AS_HEARD, .qp_num = 7},
		      {WV_SERVICE_MADE, SERVICE, SERVED_AS_HEARD},
		      {WV_SERVICE_GONE, CLIENT, .from = 1},
		      {WV_SERVICE_ASK, CLIENT, .from = 2},
		      {WV_SERVICE_REFUSED, SERVICE, SERVED_AS_HEARD, .error = 12}},
	    asked[] = {{WV_SERVICE_OFFER, SERVICE, SERVED_FOR_OTHERS, .from = 1},
		       {WV_SERVICE_ASK, PEER, .from = 5},
		       {WV_SERVICE_MAKING, SERVICE, SERVED_AS_HEARD, .qp_num = 7},
		       {WV_SERVICE_MADE, SERVICE, SERVED_AS_HEARD},
		       {WV_SERVICE_GONE, PEER, SERVED_AS_HEARD | SERVED_LOST},
		       {WV_SERVICE_ASK, PEER, .from = 6},
		       {WV_SERVICE_MAKING, SERVICE, SERVED_AS_HEARD | SERVED_SLOWLY},
		       {WV_SERVICE_MADE, SERVICE, SERVED_AS_HEARD | SERVED_SLOWLY}},
	    asking[] = {{WV_SERVICE_ASK, CLIENT, SERVED_ELSEWHERE, .from = 1},
			{WV_SERVICE_MAKING, PEER, SERVED_AS_HEARD, .qp_num = 7},
			{WV_SERVICE_MADE, PEER, SERVED_AS_HEARD},
			{WV_SERVICE_STILL, PEER, SERVED_AS_HEARD},
			{WV_SERVICE_GONE, CLIENT, SERVED_SLOWLY, .from = 1}};
	static struct turns t;

	t.bytes = 0;
	add(&t, TURN_SERVE, 0, here, sizeof(here));
	save("daemon", "served_here", t.data, t.bytes);
	t.bytes = 0;
	add(&t, TURN_SERVE, 0, asked, sizeof(asked));
	save("daemon", "served_peer", t.data, t.bytes);
	t.bytes = 0;
	add(&t, TURN_SERVE, 0, asking, sizeof(asking));
	save("daemon", "served_by_peer", t.data, t.bytes);
}

static void save_questions(void)
{
	static const char *const questions[] = {
	    "{\"op\": \"status\"}",
	    "{\"op\": \"recipe\", \"id\": \"0000000000000000\"}",
	    "{\"op\": \"forget\", \"id\": \"0000000000000000\"}",
	    "{\"op\": \"forget\", \"id\": \"all\"}",
	};

	for (unsigned int i = 0; i < WV_ARRAY_SIZE(questions); i++) {
		char name[] = {'0' + (char)i, 0};

		save_text("control", name, questions[i]);
	}
}

/* What a daemon says that knows a program. */
static void save_status(void)
{
	struct daemon_bench *b;
	void *state;

	bench_set_up(&state);
	b = state;
	bench_record(b, 1, "rc_pingpong");
	bench_settle(b);
	bench_run_program(b, 1, 1);
	save_json("answer", "status", bench_question(b, "{\"op\": \"status\"}"));
	save_json("answer", "forgotten",
		  bench_question(b, "{\"op\": \"forget\", \"id\": \"all\"}"));
	bench_tear_down(&state);
}

/* One event of each kind, answered in each way. */
static void save_trace(void)
{
	struct wv_trace events[(WV_TRACE_COPIED + 1) * (WV_HOW_PAIR + 1)];
	unsigned int n = 0;

	for (uint16_t kind = 0; kind <= WV_TRACE_COPIED; kind++)
		for (uint16_t how = 0; how <= WV_HOW_PAIR; how++, n++)
			events[n] = (struct wv_trace){
			    .magic = WV_TRACE_MAGIC,
			    .kind = kind,
			    .how = how,
			    .pid = 7,
			    .start = 1000 * n,
			    .end = 1000 * n + 500,
			    .driver_id = RDMA_DRIVER_RXE,
			    .object = UVERBS_OBJECT_DEVICE,
			    .method = UVERBS_METHOD_INVOKE_WRITE,
			    .write_cmd = IB_USER_VERBS_CMD_MODIFY_QP,
			    .qp_state = IBV_QPS_RTS,
			    .why = {.why = WV_WHY_VALUE, .attr = UVERBS_ATTR_CORE_IN},
			};
	save("trace", "all", events, sizeof(events));
}

/* What a daemon sends: its hello, a ping, a message, its goodbye. */
static void save_frames(void)
{
	static const struct wv_hello hello = {.version = WV_PEER_VERSION};
	uint8_t body[WV_HELLO_BYTES], bytes[128];
	size_t n = 0;

	wv_hello_write(body, &hello);
	wv_frame_write(bytes, WV_FRAME_HELLO, body, sizeof(body));
	n += WV_FRAME_HEAD + sizeof(body);
	wv_frame_write(bytes + n, WV_FRAME_PING, body, 8);
	n += WV_FRAME_HEAD + 8;
	wv_frame_write(bytes + n, WV_FRAME_FIRST_MESSAGE, NULL, 0);
	n += WV_FRAME_HEAD;
	wv_frame_write(bytes + n, WV_FRAME_GOODBYE, "no room", 7);
	n += WV_FRAME_HEAD + 7;
	save("peer", "frames", bytes, n);
	memmove(bytes + 1, bytes, n);
	bytes[0] = 7;
	save("link", "frames", bytes, n + 1);
}

/* The headers and notes of a program, which are at its start. */
static void save_program(void)
{
	uint8_t start[4096];
	wv_auto_fd fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	assert_int_equal(pread(fd, start, sizeof(start), 0), sizeof(start));
	save("program", "elf", start, sizeof(start));
}

/* An address that this node got, and a neighbour. */
static void save_addresses(void)
{
	struct {
		struct nlmsghdr head;
		struct ifaddrmsg address;
		struct nlattr attr;
		uint8_t ip[4];
		struct nlmsghdr next;
		struct ndmsg neighbour;
		struct nlattr to, at;
		uint8_t mac[8];
	} said = {
	    .head = {.nlmsg_len = offsetof(typeof(said), next), .nlmsg_type = RTM_NEWADDR},
	    .attr = {.nla_len = 8, .nla_type = IFA_LOCAL},
	    .next = {.nlmsg_len = sizeof(said) - offsetof(typeof(said), next),
		     .nlmsg_type = RTM_NEWNEIGH},
	    .to = {.nla_len = 4, .nla_type = NDA_DST},
	    .at = {.nla_len = 12, .nla_type = NDA_LLADDR},
	};

	save("addresses", "two", &said, sizeof(said));
}

/* A libc with two versions. */
static void save_libc(void)
{
	static const char names[] = "\0GLIBC_2.2.5\0GLIBC_2.3";
	struct {
		ElfW(Ehdr) header;
		ElfW(Shdr) sections[3];
		struct {
			ElfW(Verdef) version;
			ElfW(Verdaux) name;
		} versions[2];
		char names[sizeof(names)];
	} libc = {
	    .header = {.e_type = ET_DYN,
		       .e_shoff = offsetof(typeof(libc), sections),
		       .e_shentsize = sizeof(ElfW(Shdr)),
		       .e_shnum = 3},
	    .sections[1] = {.sh_type = SHT_GNU_verdef,
			    .sh_offset = offsetof(typeof(libc), versions),
			    .sh_size = sizeof(libc.versions),
			    .sh_link = 2,
			    .sh_info = 2},
	    .sections[2] = {.sh_offset = offsetof(typeof(libc), names), .sh_size = sizeof(names)},
	    .versions = {{.version = {.vd_aux = sizeof(ElfW(Verdef)),
				      .vd_next = sizeof(libc.versions[0])},
			  .name = {.vda_name = 1}},
			 {.version = {.vd_aux = sizeof(ElfW(Verdef))}, .name = {.vda_name = 13}}},
	};
	ElfW(Ehdr) own;
	wv_auto_fd fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	assert_int_equal(pread(fd, &own, sizeof(own), 0), sizeof(own));
	memcpy(libc.header.e_ident, own.e_ident, EI_NIDENT);
	libc.header.e_machine = own.e_machine;
	memcpy(libc.names, names, sizeof(names));
	save("libc", "versions", &libc, sizeof(libc));
}

/* All kinds of verbs, each of which uses what it can. */
static void save_script(void)
{
	static const uint16_t on[][WV_ON] = {
	    [WV_VERB_CQ] = {1},
	    [WV_VERB_SRQ] = {2},
	    [WV_VERB_QP] = {2, 3, 3, 4},
	    [WV_VERB_MOVE] = {5},
	};
	struct wv_script script = {.n = WV_VERB_MOVE};

	for (enum wv_verb_kind kind = WV_VERB_OPEN; kind <= WV_VERB_MOVE; kind++) {
		struct wv_verb *verb = &script.verbs[kind - WV_VERB_OPEN];

		wv_verb_begin(verb, kind);
		for (unsigned int i = 0; i < WV_ON; i++)
			if (kind < WV_ARRAY_SIZE(on) && on[kind][i])
				verb->on[i] = on[kind][i];
	}
	strcpy(script.verbs[0].open.device, "mlx5_0");
	wv_verb_set_move(&script.verbs[script.n - 1],
			 &(struct ibv_qp_attr){.qp_state = IBV_QPS_INIT, .port_num = 1},
			 IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS);
	save("script", "all", &script, offsetof(struct wv_script, verbs[WV_VERB_MOVE]));
}

/* What a process does with its tickets; in the memory, two that are good. */
static void save_tickets(void)
{
	const struct {
		uint8_t deeds[64];
		struct {
			uint32_t value, handle;
			uint64_t objects[4];
		} places[3];
	} seed = {
	    .deeds = {5, 0, 1, 2, 8, 9, 11, 16, 18, 3, 4, 12, 0, 3, 1},
	    .places = {{3, 7, {1, 2, 2}}, {.value = 8}, {8 + 3, 9, {1, 2, 2}}},
	};

	save("tickets", "some", &seed, sizeof(seed));
}

/* A pair from its beginning to its end, and one that is refused. */
static void save_heard(void)
{
	static const uint16_t words[] = {WV_PAIR_ASK, WV_PAIR_CLAIMED, WV_PAIR_DROP,
					 WV_PAIR_ASK, WV_PAIR_LEAVE,   WV_PAIR_DROPPED};
	struct wv_pair_note notes[WV_ARRAY_SIZE(words)];

	for (unsigned int i = 0; i < WV_ARRAY_SIZE(words); i++) {
		notes[i] = (struct wv_pair_note){
		    .word = words[i], .pair = 1 + i / 3, .shape = 1, .qp_num = 9};
		memset(notes[i].gid, 2, sizeof(notes[i].gid));
		memset(notes[i].peer_gid, 1, sizeof(notes[i].peer_gid));
	}
	save("keeper", "pairs", notes, sizeof(notes));
	notes[0].shape = 2;
	save("keeper", "refused", notes, sizeof(notes[0]));
}

/* A state and a configuration. */
static void save_containers(void)
{
	save_text("hook", "runc",
		  "{\"ociVersion\":\"1.0.2\",\"id\":\"one\",\"pid\":1,\"bundle\":\"/bundle\"}"
		  "{\"process\":{\"env\":[\"PATH=/bin\",\"LD_PRELOAD=libx.so\"]},"
		  "\"root\":{\"path\":\"rootfs\"},\"hooks\":{\"createRuntime\":[]},"
		  "\"linux\":{\"resources\":{\"devices\":[{\"allow\":false}]},\"devices\":["
		  "{\"path\":\"/dev/infiniband/rdma_cm\"}]}}");
	save_text("hook", "own",
		  "{\"id\":\"two\"}{\"process\":{\"env\":[\"LD_PRELOAD=libwarmverbs.so.0\"]},"
		  "\"root\":{\"path\":\"/root\"}}");
	save_text("hook", "bare", "{\"id\":\"three\"}");
	save_text("cgroup", "user", "0::/user.slice/user-1000.slice/session-2.scope\n");
	save_text("cgroup", "slurm", "0::/system.slice/slurmstepd.scope/job_12/step_0\n");
	save_text("cgroup", "old_slurm", "12:pids:/a\n0::/slurm/uid_1000/job_12/step_0\n");
	save_text("cgroup", "runtime",
		  "0::/kubepods/burstable/pod1/"
		  "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\n");
	save_text("cgroup", "other", "1:name=systemd:/\n0::/a/b/c\n");
}

static void save_texts(void)
{
	char long_line[256];

	save_text("providers", "one",
		  "uverbs0 /usr/lib/x86_64-linux-gnu/libibverbs/libmlx5-rdmav34.so\n");
	save_text("providers", "two", "uverbs0 librxe-rdmav34.so\nuverbs1 -\n");
	save_text("config", "all",
		  "# comment\n[warmverbsd]\nsocket = /run/socket\nlog-level = debug\n"
		  "max-leases-per-recipe = 1\nmax-memory = 0\nidle-time = 1\n"
		  "devices = mlx5_0,rxe*\ntrust-kernel = yes\nstate-dir = /s ; comment\n");
	save_text("config", "peers",
		  "peers = any, 10.0.0.1,\n  node7:99\npeer-listen = [fd00::1]:99\n"
		  "peer-gids = fec0::/64=10.0.0.1\n");
	save_text("peer", "nodes", "10.0.0.1:9, [fd00::1]:9 node7 fe80::1=node7 fec0::/10=a:1");
	save_text("config", "wrong", "max-leases = -1\n");
	snprintf(long_line, sizeof(long_line), "peers =%*s\n", 200, "10.0.0.1");
	save_text("config", "long", long_line);
}

static void save_start(void)
{
	struct {
		uint8_t n_fds;
		struct wv_start start;
		char strings[24];
	} __attribute__((packed)) message = {
	    .n_fds = 6,
	    .start = {.magic = WV_START_MAGIC,
		      .version = WV_START_VERSION,
		      .n_fds = 3,
		      .argc = 2,
		      .envc = 2,
		      .fds = {0, 1, 7}},
	    .strings = "/program\0program\0-v\0A=",
	};

	save("start", "start", &message, sizeof(message));
}

int main(int argc, char **argv)
{
	struct wv_cmdlog **records = through_begin();

	assert_int_equal(argc, 2);
	top = argv[1];
	assert_true(!mkdir(top, 0755) || errno == EEXIST);
	save_records(records);
	for (unsigned int i = 0; i < THROUGH_ORIGINALS; i++) {
		const char *name = i < N_FIXTURES ? fixture_names[i] : "mlx5";
		wv_auto_free struct wv_cmdlog *recipe = recipe_of(records[i]);

		save_recipe(name, recipe);
		save_lease(name, (struct reply){.program = (uint8_t)i}, recipe);
		save_turns(name, records[i]);
	}
	save_pairs(records[1]);
	through_end();
	save_connected();
	save_other_replies();
	save_notes();
	save_services();
	save_questions();
	save_status();
	save_trace();
	save_program();
	save_libc();
	save_addresses();
	save_texts();
	save_script();
	save_tickets();
	save_heard();
	save_containers();
	save_frames();
	save_start();
	return 0;
}
