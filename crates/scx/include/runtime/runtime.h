/* What the parts of the runtime share. The runtime is linked into every policy file. */
#ifndef __SCX_RUNTIME_H
#define __SCX_RUNTIME_H

#define SCX_RUNTIME
#include <scx/common.bpf.h>
#include <bpf_arena_common.bpf.h>
#include <scx/percpu.bpf.h>
#include <scx/abi.h>

/* Under another name in C, so that a scheduler can use the name for itself. */
#define EXPORT(name) __attribute__((export_name(#name), used)) __scx_export_##name

/* What a block of the heap holds: it decides what happens when the last reference to it goes. */
enum scx_kind { KIND_PLAIN, KIND_OBJECT, KIND_MASK, KIND_TASK, KIND_CGROUP };

/* The 16 bytes before every block. */
struct scx_block { u32 class, kind, refs, unused; };

/* Slots for the task storage (and as many for the cgroup storage) of one scheduler. */
#define SCX_STORAGE_SLOTS 64

static struct scx_state scx_state;
static struct task_struct scx_idle_task;

static void *scx_heap(u64 size, u32 kind);
static void scx_heap_free(void *memory);
static void *scx_hold(void *memory);
static void scx_release(void *memory);
static u32 scx_format(char *to, u32 size, const char *format, const u64 *data, u32 nr_data);
static void scx_storage_gone(void **storage, u32 type);

#endif /* __SCX_RUNTIME_H */
