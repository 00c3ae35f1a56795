#include "preload/core/counters.h"

struct wv_statistics wv_counters;
