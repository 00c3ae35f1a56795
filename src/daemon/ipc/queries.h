/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Questions of the command line and their answers, both JSON. An ID is 16 hexadecimal digits.
 *   {"op": "status"}
 *   {"op": "recipe", "id": ID}: the recipe as in its file (store/recipe_json.h)
 *   {"op": "forget", "id": ID or "all"}: {"forgotten": how many}
 *   {"op": "peers"}
 *
 * A question that cannot be answered: {"error": what, "remedy": what to do about it}.
 *
 * The status has what the user who asks may see; bytes, microseconds (_us) and seconds (_s):
 *   version, uptime_s, kernel, socket
 *   devices   [{name, node, driver, driver_id, provider, leased, leases,
 *              unleased_because: why no leases are made of the device, or null,
 *              remedy: what to do about that, or null: nothing}]
 *   budgets   {leases_per_recipe, leases_per_user, leases, memory_per_user, memory, descriptors,
 *              recipes_per_user, recipes, memory_out}
 *   use       {leases, memory, descriptors}, of the user who asks, or of all for root, and
 *             {leases_out, memory_out}: of leases that programs have
 *   clients   {connected}, of that user; for root of all, and with it
 *              {accepted, malformed, silent, over_limit, denied,
 *              closing: descriptors of clients that are not closed yet}
 *   users     [{uid, clients, recipes, use}]
 *   recipes   [as in its file, but steps and argv are how many there are, and with
 *              uid,
 *              pool {ready, target, requested, built, build_us_last, build_us_median, failures},
 *              cost {bytes, pds, cqs, srqs, qps, fds},
 *              divergence: the last one or null,
 *                {command, why, object, method, write_cmd, attr, offset},
 *              unfit: why the recipe is not prepared, or null,
 *              error: of the last attempt to make a lease, or null]
 *
 * The peers are the same for all users, but for what programs do:
 *   on, credentials: why there are none, or no new ones, or null, connections: of any state,
 *   turned_away: connections that strangers tried, for root
 *   peers     [{node, address or null, port, state, why: of a failure, or null,
 *              round_trip_us, up_s,
 *              counters: for root: {edges, pairs, hits, mismatches, reasons {...: how many}}}]
 */
#pragma once

#include "daemon/ipc/client.h"

/* Answers a WV_MSG_CONTROL; a document that is too long for a message is in a sealed memfd. */
enum wv_client_next wv_handle_control(struct wv_client *c, const struct wv_received *in);
