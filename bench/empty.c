/* An empty library: the minimum cost of any preloaded library. */
typedef int empty;
