/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What Slurm looks up in the plugin by its name (spank.h). All of these functions return
 * ESPANK_SUCCESS: the plugin is of no importance to a job.
 */
#pragma once

#pragma GCC visibility push(default)
#include <slurm/spank.h>

/* In each program of Slurm: @argv has the arguments in plugstack.conf. */
int slurm_spank_init(spank_t spank, int argc, char **argv);

/* In slurmstepd, with the user's rights, before the tasks are forked. */
int slurm_spank_user_init(spank_t spank, int argc, char **argv);
#pragma GCC visibility pop
