/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/config/config.h"

#include "base/base.h"
#include "base/log.h"
#include "daemon/config/config_file.h"
#include "daemon/config/node_address.h"
#include "wire/wire.h"

#include <argp.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define FIRST_KEY 0x100
#define NONE	  "none" /* the empty list */

WV_PUBLIC const char *argp_program_version = "warmverbsd " WV_VERSION;

/* Reads a value into its member of struct wv_config. 0 or -EINVAL. */
typedef int (*parse_fn)(const char *value, void *to);

struct setting {
	const char *name, *arg, *doc;
	const char *fallback; /* the default, as text */
	parse_fn parse;
	size_t offset;
};

static int parse_text(const char *value, void *to)
{
	if (!*value || strlen(value) >= WV_CONFIG_TEXT)
		return -EINVAL;
	strcpy(to, value);
	return 0;
}

static int parse_number(const char *value, void *to)
{
	unsigned long long number;
	char *end;

	errno = 0;
	number = strtoull(value, &end, 10);
	if (errno || end == value || *end || *value == '-' || number > INT32_MAX)
		return -EINVAL;
	*(uint32_t *)to = (uint32_t)number;
	return 0;
}

static int parse_positive(const char *value, void *to)
{
	uint32_t number;

	if (parse_number(value, &number) || !number)
		return -EINVAL;
	*(uint32_t *)to = number;
	return 0;
}

static int parse_level(const char *value, void *to)
{
	int level = wv_log_level_parse(value);

	if (level < 0)
		return -EINVAL;
	*(uint32_t *)to = (uint32_t)level;
	return 0;
}

static int parse_yes(const char *value, void *to)
{
	bool yes = !strcmp(value, "yes");

	if (!yes && strcmp(value, "no"))
		return -EINVAL;
	*(bool *)to = yes;
	return 0;
}

/* Adds @value to the list @to. */
static int append(const char *value, char to[static WV_CONFIG_LIST])
{
	size_t used = strlen(to), bytes = strlen(value);

	if (used + 1 + bytes >= WV_CONFIG_LIST)
		return -EINVAL;
	if (used)
		to[used++] = ',';
	memcpy(to + used, value, bytes + 1);
	return 0;
}

/* A file may set a list in several lines; "none" begins anew. */
static int parse_peers(const char *value, void *to)
{
	struct wv_config *config = to;
	char item[WV_LIST_ITEM];
	struct wv_node_address node;

	if (!strcmp(value, NONE)) {
		*config->peers = '\0';
		config->any_peer = false;
		return 0;
	}
	for (const char *at = value; (at = wv_list_next(at, item));) {
		if (!strcmp(item, "any"))
			config->any_peer = true;
		else if (wv_node_address_parse(item, WV_PEER_PORT, &node) ||
			 append(item, config->peers))
			return -EINVAL;
	}
	return *value ? 0 : -EINVAL;
}

static int parse_gids(const char *value, void *to)
{
	char item[WV_LIST_ITEM];
	struct wv_gid_row row;

	if (!strcmp(value, NONE)) {
		*(char *)to = '\0';
		return 0;
	}
	for (const char *at = value; (at = wv_list_next(at, item));)
		if (wv_gid_row_parse(item, &row) || append(item, to))
			return -EINVAL;
	return *value ? 0 : -EINVAL;
}

static int parse_pairs(const char *value, void *to)
{
	struct wv_config *config = to;
	bool local = !strcmp(value, "local");

	if (!local && parse_yes(value, &config->pairs_with_peers))
		return -EINVAL;
	config->pairs = local || config->pairs_with_peers;
	config->pairs_with_peers = config->pairs_with_peers && !local;
	return 0;
}

static int parse_address(const char *value, void *to)
{
	struct wv_node_address node;

	if (wv_node_address_parse(value, WV_PEER_PORT, &node) || !node.numeric)
		return -EINVAL;
	return parse_text(value, to);
}

#define TO(member) offsetof(struct wv_config, member)

static const struct setting settings[] = {
    {"config", "FILE", "Configuration file: lines of 'option = value'",
     "/etc/warmverbs/warmverbsd.conf", parse_text, TO(file)},
    {"socket", "PATH", "Socket to listen on, unless systemd passes one", WV_SOCKET_DEFAULT,
     parse_text, TO(socket)},
    {"state-dir", "DIR", "Where recipes are kept; systemd may set another by StateDirectory=",
     "/var/lib/warmverbs", parse_text, TO(state_dir)},
    {"group", "NAME", "Group whose members may connect", "rdma", parse_text, TO(group)},
    {"provider-dir", "DIR", "Where libibverbs has its provider libraries", WV_PROVIDER_DIR,
     parse_text, TO(provider_dir)},
    {"devices", "NAMES", "RDMA devices to lease: names or patterns, with commas between them", "*",
     parse_text, TO(devices)},
    {"log-level", "LEVEL", "Least urgent messages to log: error, warning, notice, info or debug",
     "notice", parse_level, TO(log_level)},
    {"max-leases-per-recipe", "N", "Pooled leases of one recipe", "64", parse_number,
     TO(max_leases_per_recipe)},
    {"max-leases-per-user", "N", "Pooled leases of one user", "256", parse_number,
     TO(max_leases_per_user)},
    {"max-leases", "N", "Pooled leases in all", "1024", parse_number, TO(max_leases)},
    {"max-memory-per-user", "MIB", "Kernel memory that the pooled leases of one user may take",
     "256", parse_number, TO(max_memory_per_user)},
    {"max-memory", "MIB", "Kernel memory that all pooled leases may take", "1024", parse_number,
     TO(max_memory)},
    {"max-memory-out", "MIB",
     "Kernel memory of all leases that programs have; 0: half of what the daemon may use", "0",
     parse_number, TO(max_memory_out)},
    {"max-recipes-per-user", "N", "Recipes kept of one user, the most recently used", "256",
     parse_positive, TO(max_recipes_per_user)},
    {"max-recipes", "N", "Recipes kept of all users", "1024", parse_positive, TO(max_recipes)},
    {"idle-time", "SECONDS", "Time without use after which a pool is halved", "600", parse_positive,
     TO(idle_time)},
    {"refill-delay", "MS", "Time without requests before pools are refilled", "20", parse_number,
     TO(refill_delay)},
    {"per-container", "ANSWER",
     "Charge each container of a user by itself, since in containers everybody may be root: yes or "
     "no",
     "no", parse_yes, TO(per_container)},
    {"spares", "ANSWER",
     "Let servers create queue pairs ahead, in their own process (warmverbs(7)): yes or no", "yes",
     parse_yes, TO(spares)},
    {"pairs", "ANSWER",
     "Connect queue pairs of programs ahead, to servers that they were connected to before: no; "
     "local: on this node; or yes: on peers, too",
     "no", parse_pairs, 0},
    {"trust-kernel", "ANSWER",
     "Lease devices also where the kernel does not tell whether that is safe: yes or no", "no",
     parse_yes, TO(trust_kernel)},
    {"peers", "LIST",
     "Nodes whose daemons this one connects to: addresses or names, each with :PORT or not; any: "
     "each that shows a certificate",
     NONE, parse_peers, 0},
    {"peer-listen", "ADDRESS", "Address at which daemons of other nodes reach this one",
     "::", parse_address, TO(peer_listen)},
    {"peer-ca", "FILE", "Certificate of the CA of the cluster, and its lists of revoked ones",
     "peer-ca.pem", parse_text, TO(peer_ca)},
    {"peer-certificate", "FILE", "Certificate of this node", "peer-certificate.pem", parse_text,
     TO(peer_certificate)},
    {"peer-key", "FILE", "Private key of this node", "peer-key.pem", parse_text, TO(peer_key)},
    {"peer-gids", "LIST", "Nodes behind GIDs that are no IP addresses: GID=NODE or GID/BITS=NODE",
     NONE, parse_gids, TO(peer_gids)},
    {"max-peers", "N", "Nodes to be connected to", "1024", parse_positive, TO(max_peers)},
};

#define N_SETTINGS WV_ARRAY_SIZE(settings)

/* The values of the command line, which are applied last. */
static const char *given[N_SETTINGS];

static int apply(struct wv_config *config, const struct setting *setting, const char *value)
{
	return setting->parse(value, (uint8_t *)config + setting->offset);
}

int wv_config_set(struct wv_config *config, const char *name, const char *value)
{
	for (unsigned int i = 0; i < N_SETTINGS; i++)
		if (!strcmp(settings[i].name, name))
			return apply(config, &settings[i], value);
	return -ENOENT;
}

int wv_config_read_file(struct wv_config *config, const char *path, char *why, unsigned int size)
{
	return wv_config_file_read(path, wv_config_set, config, why, size);
}

void wv_config_defaults(struct wv_config *config)
{
	const char *state_dir = getenv("STATE_DIRECTORY");

	for (unsigned int i = 0; i < N_SETTINGS; i++)
		apply(config, &settings[i], settings[i].fallback);
	if (state_dir)
		parse_text(state_dir, config->state_dir);
}

static error_t take_option(int key, char *arg, struct argp_state *state)
{
	static struct wv_config scratch;
	unsigned int i = (unsigned int)(key - FIRST_KEY);

	if (key == ARGP_KEY_ARG)
		argp_error(state, "'%s' is not an option", arg);
	if (key < FIRST_KEY || i >= N_SETTINGS)
		return ARGP_ERR_UNKNOWN;
	if (apply(&scratch, &settings[i], arg))
		argp_error(state, "--%s cannot be '%s'", settings[i].name, arg);
	given[i] = arg;
	return 0;
}

/* Writes the table in argp's form; each text ends with the default. */
static void describe(struct argp_option to[static N_SETTINGS + 1])
{
	static char docs[N_SETTINGS][160];

	for (unsigned int i = 0; i < N_SETTINGS; i++) {
		snprintf(docs[i], sizeof(docs[i]), "%s (default %s)", settings[i].doc,
			 settings[i].fallback);
		to[i] = (struct argp_option){
		    .name = settings[i].name,
		    .key = FIRST_KEY + (int)i,
		    .arg = settings[i].arg,
		    .doc = docs[i],
		};
	}
}

static void give_up(const char *why)
{
	wv_log(WV_ERROR, "%s", why);
	exit(EXIT_FAILURE);
}

static void read_command_line(int argc, char **argv)
{
	static struct argp_option described[N_SETTINGS + 1];
	static const struct argp argp = {
	    .options = described,
	    .parser = take_option,
	    .doc = "Keeps RDMA resources of programs ready: carries out their commands to the "
		   "kernel ahead of time, and hands the results to them when they start.\v"
		   "The configuration file has options of the same names. See "
		   "warmverbsd(8) and warmverbsd.conf(5).",
	};

	describe(described);
	/* Without memory, argp returns before it has called the parser. */
	if (argp_parse(&argp, argc, argv, 0, NULL, NULL))
		give_up("the arguments cannot be read: no memory");
}

/* Unless @must_exist, the configuration file may be missing. */
static void read_file(struct wv_config *config, bool must_exist)
{
	char why[512];
	int err = wv_config_read_file(config, config->file, why, sizeof(why));

	if (!err || (err == -ENOENT && !must_exist))
		return;
	if (err != -EINVAL)
		snprintf(why, sizeof(why), "%s: %s: correct --config or the file's permissions",
			 config->file, strerror(-err));
	give_up(why);
}

/* The command line's list takes the place of the file's. */
static void override(struct wv_config *config, const struct setting *setting, const char *value)
{
	if (!strcmp(setting->fallback, NONE))
		apply(config, setting, NONE);
	apply(config, setting, value);
}

void wv_config_read(struct wv_config *config, int argc, char **argv)
{
	const unsigned int file = 0;

	read_command_line(argc, argv);
	wv_config_defaults(config);
	if (given[file])
		apply(config, &settings[file], given[file]);
	read_file(config, given[file] != NULL);
	for (unsigned int i = 0; i < N_SETTINGS; i++)
		if (given[i])
			override(config, &settings[i], given[i]);
}
