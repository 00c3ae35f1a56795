#include "shim/counters.h"

struct wv_statistics wv_counters;
