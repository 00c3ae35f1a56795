/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of files in a user's directory of the store.
 */
#pragma once

#define WV_SUFFIX     ".json"
#define WV_BAD_SUFFIX ".bad"
#define WV_NEW_PREFIX ".new-" /* being written; after a crash such a file stays behind */
