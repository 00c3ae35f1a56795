/*
 * warmverbs: RDMA programs that start warm.
 *
 * Nothing here is needed to use warmverbs: a program is served as it is, under LD_PRELOAD or linked
 * with -lwarmverbs in front of -libverbs. These functions are for programs that want to know.
 *
 * All functions may be called from any thread at any time.
 */
#ifndef WARMVERBS_H
#define WARMVERBS_H

#ifdef __cplusplus
extern "C" {
#endif

/**
 * wv_version - the version of the library in use
 *
 * Returns a static string of the form "MAJOR.MINOR.PATCH", never NULL.
 */
const char *wv_version(void);

#ifdef __cplusplus
}
#endif

#endif
