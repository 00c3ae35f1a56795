/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/* Sends the words to the server at $STANDIN_SOCKET and prints the answer. An exit status. */
int hca_ask(int n_words, char **words);
