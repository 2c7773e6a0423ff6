/*
 * The types of the kernel that schedulers in BPF C use, for oversim. Members and values are those that the
 * interface of sched_ext names (Linux 6.12 to 6.19); the layout is oversim's own.
 */
#ifndef __VMLINUX_H__
#define __VMLINUX_H__

#ifndef NULL
#define NULL ((void *)0)
#endif

typedef signed char __s8;
typedef unsigned char __u8;
typedef short __s16;
typedef unsigned short __u16;
typedef int __s32;
typedef unsigned int __u32;
typedef long long __s64;
typedef unsigned long long __u64;
typedef __s8 s8;
typedef __u8 u8;
typedef __s16 s16;
typedef __u16 u16;
typedef __s32 s32;
typedef __u32 u32;
typedef __s64 s64;
typedef __u64 u64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u64 __be64;
typedef __u32 __wsum;
typedef unsigned long size_t;
typedef long ssize_t;
typedef int pid_t;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef unsigned int gfp_t;
typedef long long loff_t;
typedef long long ktime_t;
typedef unsigned int uid_t;
typedef unsigned int gid_t;
typedef struct { uid_t val; } kuid_t;
typedef struct { gid_t val; } kgid_t;
#include <stdbool.h>
#include <stdint.h>

typedef struct { int counter; } atomic_t;
typedef struct { s64 counter; } atomic64_t;
typedef struct { long counter; } atomic_long_t;
typedef struct { atomic_t refs; } refcount_t;
typedef struct { int unused; } raw_spinlock_t;
typedef struct { int unused; } spinlock_t;

/* The number of cpus that a mask of this build can hold. */
#define SCX_MASK_CPUS 4096

struct list_head { struct list_head *next, *prev; };
struct hlist_node { struct hlist_node *next, **pprev; };
struct rb_node { unsigned long __rb_parent_color; struct rb_node *rb_right, *rb_left; };
struct rcu_head { void *next, *func; };
struct callback_head { void *next, *func; };

struct cpumask { unsigned long bits[SCX_MASK_CPUS / 64]; };
typedef struct cpumask cpumask_t;
typedef struct cpumask *cpumask_var_t;
typedef struct { unsigned long bits[16]; } nodemask_t;
struct bpf_cpumask { cpumask_t cpumask; refcount_t usage; };

/* ---- BPF: objects that live in memory of the scheduler; what they hold is the runtime's affair */

struct bpf_spin_lock { u32 val; };
struct bpf_res_spin_lock { u32 val; };
struct bpf_refcount { u32 refs; } __attribute__((aligned(4)));
struct bpf_timer { u64 word[2]; };
struct bpf_wq { u64 word[2]; };
struct bpf_task_work { u64 word; };
struct bpf_list_head { u64 word[2]; };
struct bpf_list_node { u64 word[3]; };
struct bpf_rb_root { u64 word[2]; };
struct bpf_rb_node { u64 word[4]; };
struct bpf_dynptr { u64 word[2]; };
struct bpf_iter_num { u64 word; };
struct bpf_iter_bits { const u64 *words; u32 nr_words; s32 bit; };
struct bpf_iter_scx_dsq { u64 word[6]; };
struct bpf_iter_css { void *start, *pos; u32 flags; };
struct bpf_iter_task { void *start; u32 next, flags; };
struct bpf_iter_task_vma { u64 word; };
struct bpf_iter_css_task { u64 word; };
struct bpf_raw_tracepoint_args { u64 args[12]; };
struct bpf_perf_event_value { u64 counter, enabled, running; };
struct bpf_perf_event_data { u64 sample_period, addr; };
struct bpf_prog_aux { u32 id; };
struct pt_regs { unsigned long word[21]; };

enum bpf_map_type {
	BPF_MAP_TYPE_UNSPEC, BPF_MAP_TYPE_HASH, BPF_MAP_TYPE_ARRAY, BPF_MAP_TYPE_PROG_ARRAY,
	BPF_MAP_TYPE_PERF_EVENT_ARRAY, BPF_MAP_TYPE_PERCPU_HASH, BPF_MAP_TYPE_PERCPU_ARRAY,
	BPF_MAP_TYPE_STACK_TRACE, BPF_MAP_TYPE_CGROUP_ARRAY, BPF_MAP_TYPE_LRU_HASH,
	BPF_MAP_TYPE_LRU_PERCPU_HASH, BPF_MAP_TYPE_LPM_TRIE, BPF_MAP_TYPE_ARRAY_OF_MAPS,
	BPF_MAP_TYPE_HASH_OF_MAPS, BPF_MAP_TYPE_DEVMAP, BPF_MAP_TYPE_SOCKMAP, BPF_MAP_TYPE_CPUMAP,
	BPF_MAP_TYPE_XSKMAP, BPF_MAP_TYPE_SOCKHASH, BPF_MAP_TYPE_CGROUP_STORAGE_DEPRECATED,
	BPF_MAP_TYPE_REUSEPORT_SOCKARRAY, BPF_MAP_TYPE_PERCPU_CGROUP_STORAGE_DEPRECATED,
	BPF_MAP_TYPE_QUEUE, BPF_MAP_TYPE_STACK, BPF_MAP_TYPE_SK_STORAGE, BPF_MAP_TYPE_DEVMAP_HASH,
	BPF_MAP_TYPE_STRUCT_OPS, BPF_MAP_TYPE_RINGBUF, BPF_MAP_TYPE_INODE_STORAGE,
	BPF_MAP_TYPE_TASK_STORAGE, BPF_MAP_TYPE_BLOOM_FILTER, BPF_MAP_TYPE_USER_RINGBUF,
	BPF_MAP_TYPE_CGRP_STORAGE, BPF_MAP_TYPE_ARENA,
};

enum {
	BPF_ANY = 0, BPF_NOEXIST = 1, BPF_EXIST = 2, BPF_F_LOCK = 4,
	BPF_F_NO_PREALLOC = 1 << 0, BPF_F_NO_COMMON_LRU = 1 << 1, BPF_F_NUMA_NODE = 1 << 2,
	BPF_F_RDONLY_PROG = 1 << 7, BPF_F_WRONLY_PROG = 1 << 8, BPF_F_CLONE = 1 << 9,
	BPF_F_MMAPABLE = 1 << 10, BPF_F_INNER_MAP = 1 << 12, BPF_F_SEGV_ON_FAULT = 1 << 17,
	BPF_F_NO_USER_CONV = 1 << 18,
	BPF_LOCAL_STORAGE_GET_F_CREATE = 1,
	BPF_F_TIMER_ABS = 1, BPF_F_TIMER_CPU_PIN = 2,
	BPF_RB_NO_WAKEUP = 1, BPF_RB_FORCE_WAKEUP = 2,
	BPF_RB_AVAIL_DATA = 0, BPF_RB_RING_SIZE = 1, BPF_RB_CONS_POS = 2, BPF_RB_PROD_POS = 3,
	BPF_RINGBUF_BUSY_BIT = 1U << 31, BPF_RINGBUF_DISCARD_BIT = 1U << 30, BPF_RINGBUF_HDR_SZ = 8,
	BPF_TASK_ITER_ALL_PROCS = 0, BPF_TASK_ITER_ALL_THREADS = 1, BPF_TASK_ITER_PROC_THREADS = 2,
};
#define BPF_F_CURRENT_CPU 0xffffffffULL
#define BPF_F_INDEX_MASK 0xffffffffULL

enum bpf_cgroup_iter_order {
	BPF_CGROUP_ITER_ORDER_UNSPEC, BPF_CGROUP_ITER_SELF_ONLY, BPF_CGROUP_ITER_DESCENDANTS_PRE,
	BPF_CGROUP_ITER_DESCENDANTS_POST, BPF_CGROUP_ITER_ANCESTORS_UP, BPF_CGROUP_ITER_CHILDREN,
};

#include "vmlinux_sched.h"

#endif /* __VMLINUX_H__ */
