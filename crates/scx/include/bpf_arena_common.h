/* Arenas. */
#include <bpf_arena_common.bpf.h>
