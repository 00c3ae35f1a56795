/*
 * libibverbs' own verbs, behind those that are interposed here: bound at their first use.
 */
#pragma once

#include <infiniband/verbs.h>

#define WV_REAL_VERBS(VERB)                                                                        \
	VERB(get_device_list, "IBVERBS_1.1")                                                       \
	VERB(free_device_list, "IBVERBS_1.1")                                                      \
	VERB(open_device, "IBVERBS_1.1")                                                           \
	VERB(close_device, "IBVERBS_1.1")                                                          \
	VERB(create_comp_channel, "IBVERBS_1.0")                                                   \
	VERB(destroy_comp_channel, "IBVERBS_1.0")                                                  \
	VERB(alloc_pd, "IBVERBS_1.1")                                                              \
	VERB(dealloc_pd, "IBVERBS_1.1")                                                            \
	VERB(create_cq, "IBVERBS_1.1")                                                             \
	VERB(destroy_cq, "IBVERBS_1.1")                                                            \
	VERB(create_srq, "IBVERBS_1.1")                                                            \
	VERB(destroy_srq, "IBVERBS_1.1")                                                           \
	VERB(create_qp, "IBVERBS_1.1")                                                             \
	VERB(destroy_qp, "IBVERBS_1.1")                                                            \
	VERB(modify_qp, "IBVERBS_1.1")                                                             \
	VERB(query_qp, "IBVERBS_1.1")

#define VERB(name, version) __typeof__(&ibv_##name) name;
struct wv_real_verbs {
	WV_REAL_VERBS(VERB)
};
#undef VERB

/*
 * The verbs, or NULL if there is no libibverbs. From any thread; may take the loader's lock the
 * first time.
 */
const struct wv_real_verbs *wv_real_verbs(void);
