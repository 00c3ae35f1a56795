/* SPDX-License-Identifier: BSD-2-Clause */
/* The configuration file: an INI file of at most one section, [warmverbsd]. */
#pragma once

struct wv_config;

/* Sets the option @name of @config. 0, -ENOENT: there is none, or -EINVAL: @value does not fit. */
typedef int (*wv_config_set_fn)(struct wv_config *config, const char *name, const char *value);

/*
 * Gives each option of the file @path to @set, with @config. 0; -errno if it cannot be read;
 * -EINVAL if a line is wrong, and then @why, of @size bytes, says which and how.
 */
int wv_config_file_read(const char *path, wv_config_set_fn set, struct wv_config *config, char *why,
			unsigned int size);
