/* Arenas: memory by pages. Here it is memory of the module like any other, and no cast changes a pointer. */
#ifndef __SCX_BPF_ARENA_COMMON_BPF_H
#define __SCX_BPF_ARENA_COMMON_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#define __PAGE_SIZE 4096
#ifndef PAGE_SIZE
#define PAGE_SIZE __PAGE_SIZE
#endif
#define __arena
#define __arena_global
#define cast_kern(pointer) ((void)0)
#define cast_user(pointer) ((void)0)
#define arena_base(map) ((void *)0)
#define arena_container_of(pointer, type, member) container_of(pointer, type, member)

void *bpf_arena_alloc_pages(void *map, void *at, u32 pages, int node, u64 flags);
void bpf_arena_free_pages(void *map, void *at, u32 pages);
int bpf_arena_reserve_pages(void *map, void *at, u32 pages);
ssize_t bpf_arena_mapping_nr_pages(void *map);

#endif /* __SCX_BPF_ARENA_COMMON_BPF_H */
