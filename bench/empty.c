/* A library of nothing: the least that any preloaded library costs a program. */
typedef int empty;
