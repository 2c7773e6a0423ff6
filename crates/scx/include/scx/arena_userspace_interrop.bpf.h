/* Contexts of programs by which the user side takes pages of an arena. */
#ifndef __SCX_ARENA_USERSPACE_INTERROP_BPF_H
#define __SCX_ARENA_USERSPACE_INTERROP_BPF_H

#include "vmlinux.h"

struct scx_userspace_arena_alloc_pages_args { u32 sz; void *ret; };
struct scx_userspace_arena_free_pages_args { void *addr; u32 sz; };

#endif /* __SCX_ARENA_USERSPACE_INTERROP_BPF_H */
