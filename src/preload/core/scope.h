/*
 * Whether this thread is inside ibv_open_device(). The provider asks for the state of ports there
 * only to learn what does not change of it, so that a lease may answer; later the program asks for
 * itself.
 */
#pragma once

#include <stdbool.h>

extern __thread bool wv_opening __attribute__((tls_model("initial-exec")));
