/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The daemon's settings. One table of options serves the command line, the configuration file, the
 * defaults and --help.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define WV_CONFIG_TEXT 256
#define WV_CONFIG_LIST (1024 * 261) /* of max-peers nodes, by default, with the longest names */

struct wv_config {
	char file[WV_CONFIG_TEXT];
	char socket[WV_CONFIG_TEXT];
	char state_dir[WV_CONFIG_TEXT];
	char group[WV_CONFIG_TEXT];
	char provider_dir[WV_CONFIG_TEXT];
	char devices[WV_CONFIG_TEXT]; /* as wanted of struct wv_scan_options */
	uint32_t log_level;	      /* enum wv_log_level */
	uint32_t max_leases_per_recipe, max_leases_per_user, max_leases;
	uint32_t max_memory_per_user, max_memory, max_memory_out; /* MiB */
	uint32_t max_recipes_per_user, max_recipes;
	uint32_t idle_time;    /* s */
	uint32_t refill_delay; /* ms */
	bool per_container;
	bool spares;
	bool pairs, pairs_with_peers;
	bool trust_kernel;
	char peers[WV_CONFIG_LIST]; /* node_address.h; "": none, and no listening either */
	bool any_peer;
	char peer_gids[WV_CONFIG_LIST]; /* wv_gid_row_parse() */
	char peer_listen[WV_CONFIG_TEXT];
	char peer_ca[WV_CONFIG_TEXT], peer_certificate[WV_CONFIG_TEXT], peer_key[WV_CONFIG_TEXT];
	uint32_t max_peers;
};

/*
 * Fills @config from the defaults, then the configuration file, then the command line. If one of
 * them is wrong, prints how and ends the process, as argp does.
 */
void wv_config_read(struct wv_config *config, int argc, char **argv);

/* Fills @config with the defaults. */
void wv_config_defaults(struct wv_config *config);

/*
 * Sets the option @name, which is written without dashes. 0; -ENOENT if there is no such option;
 * -EINVAL if @value is not one of its values.
 */
int wv_config_set(struct wv_config *config, const char *name, const char *value);

/*
 * Reads the configuration file @path into @config. 0; -errno if it cannot be read; -EINVAL if a
 * line is wrong, and then @why, of @size bytes, says which and how.
 */
int wv_config_read_file(struct wv_config *config, const char *path, char *why, unsigned int size);
