/*
 * What <bpf/bpf_helpers.h> of libbpf gives to a program, for oversim: attributes, the form of map definitions,
 * loops, and the helpers. The helpers are functions of the runtime (runtime/ *.c).
 */
#ifndef __SCX_BPF_HELPERS_H
#define __SCX_BPF_HELPERS_H

#include "vmlinux.h"
#include <errno.h>
#include <stddef.h>

/* Sections are notes in the debug information: the build finds maps and programs by them. */
#define SEC(name) __attribute__((btf_decl_tag("sec:" name)))
#define __always_inline inline __attribute__((always_inline))
#define __noinline __attribute__((noinline))
#define __weak __attribute__((weak))
#define __hidden __attribute__((visibility("hidden")))
#define __ksym
#define __kconfig
#define __arg_ctx
#define __arg_nonnull
#define __arg_nullable
#define __arg_trusted
#define __arg_untrusted
#define __arg_arena
#define __kptr __attribute__((btf_type_tag("kptr")))
#define __kptr_untrusted
#define __percpu_kptr
#define __uptr
#define __rcu
#define __percpu
#define __user
#define __kernel
#define __bpf_fastcall
#define __maybe_unused __attribute__((unused))
#ifndef __unused
#define __unused __attribute__((unused))
#endif
#ifndef __packed
#define __packed __attribute__((packed))
#endif
#ifndef __aligned
#define __aligned(x) __attribute__((aligned(x)))
#endif
#ifndef offsetof
#define offsetof(type, member) __builtin_offsetof(type, member)
#endif
#ifndef container_of
#define container_of(pointer, type, member)					\
	((type *)((char *)(pointer) - offsetof(type, member)))
#endif
#define barrier() __asm__ volatile("" ::: "memory")
#define barrier_var(x) __asm__ volatile("" : "+r"(x))
/* clang 14 ends in a fault on this one. */
#define __builtin_memcpy_inline(to, from, size) __builtin_memcpy((to), (from), (size))
#define __bpf_unreachable() __builtin_trap()
#define bpf_throw(cookie) __builtin_trap()
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define KERNEL_VERSION(a, b, c) (((a) << 16) + ((b) << 8) + ((c) > 255 ? 255 : (c)))

#define __uint(name, value) int (*name)[value]
#define __type(name, value) typeof(value) *name
#define __array(name, value) typeof(value) *name[]
#define __ulong(name, value) enum { SCX_PASTE(__unique_value, __COUNTER__) = value } name
#define SCX_PASTE_(a, b) a##b
#define SCX_PASTE(a, b) SCX_PASTE_(a, b)
enum libbpf_pin_type { LIBBPF_PIN_NONE, LIBBPF_PIN_BY_NAME };

/* A function that oversim has is there; an unknown weak one has the address 0. */
#define bpf_ksym_exists(symbol) (!!(symbol))

/* Counting arguments, up to twelve. */
#define ___bpf_nth(_, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, n, ...) n
#define ___bpf_narg(...) ___bpf_nth(_, ##__VA_ARGS__, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define ___bpf_concat(a, b) SCX_PASTE(a, b)
#define ___bpf_apply(function, n) SCX_PASTE(function, n)

/* An array of u64 from arguments of any scalar type, as formats take them. */
#define SCX_U64(x) ((unsigned long long)(x))
#define SCX_LIST_0()
#define SCX_LIST_1(a) SCX_U64(a)
#define SCX_LIST_2(a, ...) SCX_U64(a), SCX_LIST_1(__VA_ARGS__)
#define SCX_LIST_3(a, ...) SCX_U64(a), SCX_LIST_2(__VA_ARGS__)
#define SCX_LIST_4(a, ...) SCX_U64(a), SCX_LIST_3(__VA_ARGS__)
#define SCX_LIST_5(a, ...) SCX_U64(a), SCX_LIST_4(__VA_ARGS__)
#define SCX_LIST_6(a, ...) SCX_U64(a), SCX_LIST_5(__VA_ARGS__)
#define SCX_LIST_7(a, ...) SCX_U64(a), SCX_LIST_6(__VA_ARGS__)
#define SCX_LIST_8(a, ...) SCX_U64(a), SCX_LIST_7(__VA_ARGS__)
#define SCX_LIST_9(a, ...) SCX_U64(a), SCX_LIST_8(__VA_ARGS__)
#define SCX_LIST_10(a, ...) SCX_U64(a), SCX_LIST_9(__VA_ARGS__)
#define SCX_LIST_11(a, ...) SCX_U64(a), SCX_LIST_10(__VA_ARGS__)
#define SCX_LIST_12(a, ...) SCX_U64(a), SCX_LIST_11(__VA_ARGS__)
#define SCX_LIST(...) ___bpf_apply(SCX_LIST_, ___bpf_narg(__VA_ARGS__))(__VA_ARGS__)

#define ___bpf_fill(array, args...)						\
	do {									\
		unsigned long long ___all[] = { SCX_LIST(args) };		\
		__builtin_memcpy((array), ___all, sizeof(___all));		\
	} while (0)

/* ---- Loops */

#define BPF_MAX_LOOPS (8 * 1024 * 1024)
#define MAX_BPF_LOOPS BPF_MAX_LOOPS
#define can_loop true
#define cond_break do { } while (0)
#define cond_break_label(label) do { } while (0)
#define bpf_for(i, start, end)							\
	for (s64 ___next = (s64)(start), ___last = (s64)(end);			\
	     ___next < ___last && ((i) = ___next, ___next++, true); )
#define bpf_repeat(n)								\
	for (s64 ___next = 0, ___last = (s64)(n); ___next < ___last; ___next++)
/* `bpf_for_each(kind, cursor, arguments)` runs bpf_iter_<kind>_{new,next,destroy}(). */
#define bpf_for_each(kind, cursor, args...)					\
	for (struct bpf_iter_##kind ___it					\
	     __attribute__((aligned(8), cleanup(bpf_iter_##kind##_destroy))),	\
	     *___open __attribute__((unused)) =					\
	     (bpf_iter_##kind##_new(&___it, ##args), &___it);			\
	     ((cursor) = bpf_iter_##kind##_next(&___it)); )

int bpf_iter_num_new(struct bpf_iter_num *it, int start, int end);
int *bpf_iter_num_next(struct bpf_iter_num *it);
void bpf_iter_num_destroy(struct bpf_iter_num *it);
/* The callback keeps its own type, so these are loops around a call of it. */
#define bpf_loop(n, function, context, flags)					\
({										\
	u32 ___count = (n), ___i = 0;						\
	while (___i < ___count && !(function)(___i, (context)))			\
		___i++;								\
	(long)(___i < ___count ? ___i + 1 : ___count);				\
})
struct scx_map_cursor { void *map, *entry, *key, *value; u32 next, index; };
bool scx_map_first(struct scx_map_cursor *at, const void *map);
bool scx_map_next(struct scx_map_cursor *at);
#define bpf_for_each_map_elem(the_map, function, context, flags)		\
({										\
	struct scx_map_cursor ___at;						\
	long ___calls = 0;							\
	for (bool ___more = scx_map_first(&___at, (the_map)); ___more;		\
	     ___more = scx_map_next(&___at)) {					\
		___calls++;							\
		if ((function)((void *)(the_map), ___at.key, ___at.value, (context)))	\
			break;							\
	}									\
	___calls;								\
})

/* ---- Maps and storage */

void *bpf_map_lookup_elem(const void *map, const void *key);
long bpf_map_update_elem(const void *map, const void *key, const void *value, u64 flags);
long bpf_map_delete_elem(const void *map, const void *key);
void *bpf_map_lookup_percpu_elem(const void *map, const void *key, u32 cpu);
long bpf_map_push_elem(const void *map, const void *value, u64 flags);
long bpf_map_pop_elem(const void *map, void *value);
long bpf_map_peek_elem(const void *map, void *value);
void *bpf_task_storage_get(const void *map, const struct task_struct *task, const void *value, u64 flags);
long bpf_task_storage_delete(const void *map, const struct task_struct *task);
void *bpf_cgrp_storage_get(const void *map, const struct cgroup *cgroup, const void *value, u64 flags);
long bpf_cgrp_storage_delete(const void *map, const struct cgroup *cgroup);
void *bpf_ringbuf_reserve(void *buffer, u64 size, u64 flags);
void bpf_ringbuf_submit(void *data, u64 flags);
void bpf_ringbuf_discard(void *data, u64 flags);
long bpf_ringbuf_output(void *buffer, const void *data, u64 size, u64 flags);
u64 bpf_ringbuf_query(void *buffer, u64 flags);
long bpf_user_ringbuf_drain(const void *map, void *function, void *context, u64 flags);
long bpf_perf_event_output(void *context, void *map, u64 flags, void *data, u64 size);
u64 bpf_perf_event_read(void *map, u64 flags);
long bpf_perf_event_read_value(void *map, u64 flags, struct bpf_perf_event_value *value, u32 size);

/* ---- Time, cpu, task, random numbers */

u64 bpf_ktime_get_ns(void);
u64 bpf_ktime_get_boot_ns(void);
u64 bpf_ktime_get_coarse_ns(void);
u64 bpf_ktime_get_tai_ns(void);
u64 bpf_jiffies64(void);
u32 bpf_get_smp_processor_id(void);
u32 bpf_get_numa_node_id(void);
u32 bpf_get_prandom_u32(void);
u64 bpf_get_current_pid_tgid(void);
u64 bpf_get_current_uid_gid(void);
u64 bpf_get_current_cgroup_id(void);
long bpf_get_current_comm(void *text, u32 size);
struct task_struct *bpf_get_current_task_btf(void);
u64 bpf_get_current_task(void);
u64 bpf_get_attach_cookie(void *context);
u64 bpf_get_func_ip(void *context);
void *bpf_task_pt_regs(struct task_struct *task);
int bpf_in_interrupt(void);
int bpf_in_nmi(void);
int bpf_in_hardirq(void);
int bpf_in_serving_softirq(void);
int bpf_in_task(void);

/* ---- Locks: a scheduler here runs alone */

static __always_inline long bpf_spin_lock(struct bpf_spin_lock *lock) { (void)lock; return 0; }
static __always_inline long bpf_spin_unlock(struct bpf_spin_lock *lock) { (void)lock; return 0; }
static __always_inline int bpf_res_spin_lock(struct bpf_res_spin_lock *lock) { (void)lock; return 0; }
static __always_inline void bpf_res_spin_unlock(struct bpf_res_spin_lock *lock) { (void)lock; }
static __always_inline int bpf_res_spin_lock_irqsave(struct bpf_res_spin_lock *lock, unsigned long *flags)
{ (void)lock; *flags = 0; return 0; }
static __always_inline void bpf_res_spin_unlock_irqrestore(struct bpf_res_spin_lock *lock, unsigned long *flags)
{ (void)lock; (void)flags; }
static __always_inline void bpf_rcu_read_lock(void) { }
static __always_inline void bpf_rcu_read_unlock(void) { }
static __always_inline void bpf_preempt_disable(void) { }
static __always_inline void bpf_preempt_enable(void) { }
static __always_inline void bpf_local_irq_save(unsigned long *flags) { *flags = 0; }
static __always_inline void bpf_local_irq_restore(unsigned long *flags) { (void)flags; }

/* ---- Timers */

long bpf_timer_init(struct bpf_timer *timer, const void *map, u64 flags);
long scx_timer_set_callback(struct bpf_timer *timer, void *function, u32 returns);
/* With the size of what the callback returns: it is called with its own type. */
#define bpf_timer_set_callback(timer, function)					\
	scx_timer_set_callback((timer), (void *)(function), sizeof((function)(0, 0, 0)))
long bpf_timer_start(struct bpf_timer *timer, u64 nanoseconds, u64 flags);
long bpf_timer_cancel(struct bpf_timer *timer);

/* ---- Memory and text */

long bpf_probe_read_kernel(void *to, u32 size, const void *from);
long bpf_probe_read_user(void *to, u32 size, const void *from);
long bpf_probe_read(void *to, u32 size, const void *from);
long bpf_probe_read_kernel_str(void *to, u32 size, const void *from);
long bpf_probe_read_user_str(void *to, u32 size, const void *from);
long bpf_probe_read_str(void *to, u32 size, const void *from);
long bpf_copy_from_user(void *to, u32 size, const void *from);
long bpf_copy_from_user_task(void *to, u32 size, const void *from, struct task_struct *task, u64 flags);
long bpf_strncmp(const char *text, u32 size, const char *other);
long bpf_strtol(const char *text, unsigned long size, u64 flags, long *result);
long bpf_strtoul(const char *text, unsigned long size, u64 flags, unsigned long *result);
long bpf_snprintf(char *text, u32 size, const char *format, u64 *data, u32 data_size);
void *bpf_kptr_xchg(void *field, void *value);
void *bpf_rdonly_cast(const void *object, u32 type);
void *bpf_cast_to_kern_ctx(void *object);
void *bpf_per_cpu_ptr(const void *variable, u32 cpu);
void *bpf_this_cpu_ptr(const void *variable);

/* What is printed for debugging is dropped. */
long bpf_seq_write(struct seq_file *file, const void *data, u32 size);
#define BPF_SEQ_PRINTF(file, format, args...) ({ 0; })
#define bpf_printk(format, args...) ({ 0; })
#define bpf_trace_printk(format, size, args...) ({ 0; })
#define bpf_stream_printk(stream, format, args...) ({ 0; })
#define BPF_SNPRINTF(text, size, format, args...)				\
({										\
	unsigned long long ___data[___bpf_narg(args) ?: 1] = { SCX_LIST(args) };	\
	bpf_snprintf((text), (size), (format), (u64 *)___data, sizeof(___data));	\
})

void *memset(void *to, int byte, size_t size);
void *memcpy(void *to, const void *from, size_t size);
void *memmove(void *to, const void *from, size_t size);
int memcmp(const void *a, const void *b, size_t size);

#endif /* __SCX_BPF_HELPERS_H */
