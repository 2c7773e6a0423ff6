/*
 * What a scheduler in BPF C includes as <scx/common.bpf.h>, for oversim: the operations, the kfuncs of sched_ext
 * and of BPF, and the small functions that schedulers share. A scheduler that includes it for the kernel compiles
 * unchanged.
 */
#ifndef __SCX_COMMON_BPF_H
#define __SCX_COMMON_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>
#include <scx/user_exit_info.bpf.h>

#define CLOCK_MONOTONIC 1
#ifndef NR_CPUS
#define NR_CPUS 1024
#endif
#ifndef NUMA_NO_NODE
#define NUMA_NO_NODE (-1)
#endif

extern int LINUX_KERNEL_VERSION;
extern const char CONFIG_CC_VERSION_TEXT[64];
extern const char CONFIG_LOCALVERSION[64];
extern bool CONFIG_PREEMPT_RCU;

/* ---- Operations */

#define BPF_STRUCT_OPS(name, args...) name(args)
#define BPF_STRUCT_OPS_SLEEPABLE(name, args...) name(args)
#define SCX_OPS_DEFINE(name, members...)					\
	SEC(".struct_ops.link") struct sched_ext_ops name = { members, }

/*
 * What the user-space program of a scheduler does before it loads it (filling maps, running programs of the section
 * "syscall"), as a function in a file of its own that is built together with the scheduler:
 *
 *   SCX_USER_SIDE() { ... return 0; }
 *
 * It runs once, after the variables of the scenario are set and right before ops.init(); another result than 0 ends
 * the run as that of init would. SCX_SET(variable, value) sets an integer that the scheduler has as `const volatile`.
 */
#define SCX_USER_SIDE() s32 __scx_user_side(void)
static inline void scx_set(void *variable, size_t size, u64 value) { __builtin_memcpy(variable, &value, size); }
#define SCX_SET(variable, value) scx_set((void *)&(variable), sizeof(variable), (u64)(value))

/* ---- kfuncs of sched_ext */

s32 scx_bpf_create_dsq(u64 dsq_id, s32 node);
void scx_bpf_destroy_dsq(u64 dsq_id);
bool scx_bpf_dsq_insert(struct task_struct *p, u64 dsq_id, u64 slice, u64 enq_flags);
bool scx_bpf_dsq_insert_vtime(struct task_struct *p, u64 dsq_id, u64 slice, u64 vtime, u64 enq_flags);
u32 scx_bpf_dispatch_nr_slots(void);
void scx_bpf_dispatch_cancel(void);
s32 scx_bpf_dsq_nr_queued(u64 dsq_id);
struct task_struct *scx_bpf_dsq_peek(u64 dsq_id);
int bpf_iter_scx_dsq_new(struct bpf_iter_scx_dsq *it, u64 dsq_id, u64 flags);
struct task_struct *bpf_iter_scx_dsq_next(struct bpf_iter_scx_dsq *it);
void bpf_iter_scx_dsq_destroy(struct bpf_iter_scx_dsq *it);
void scx_bpf_dsq_move_set_slice(struct bpf_iter_scx_dsq *it, u64 slice);
void scx_bpf_dsq_move_set_vtime(struct bpf_iter_scx_dsq *it, u64 vtime);
bool scx_bpf_dsq_move(struct bpf_iter_scx_dsq *it, struct task_struct *p, u64 dsq_id, u64 enq_flags);
bool scx_bpf_dsq_move_vtime(struct bpf_iter_scx_dsq *it, struct task_struct *p, u64 dsq_id, u64 enq_flags);
bool scx_bpf_dsq_move_to_local___v2(u64 dsq_id, u64 enq_flags);
bool scx_bpf_dsq_move_to_local___v1(u64 dsq_id);
/* With and without flags: Linux 7.1 added them. */
#define scx_bpf_dsq_move_to_local(args...)					\
	___bpf_apply(SCX_MOVE_TO_LOCAL_, ___bpf_narg(args))(args)
#define SCX_MOVE_TO_LOCAL_1(dsq_id) scx_bpf_dsq_move_to_local___v1(dsq_id)
#define SCX_MOVE_TO_LOCAL_2(dsq_id, enq_flags) scx_bpf_dsq_move_to_local___v2(dsq_id, enq_flags)
void scx_bpf_kick_cpu(s32 cpu, u64 flags);
s32 scx_bpf_select_cpu_dfl(struct task_struct *p, s32 prev_cpu, u64 wake_flags, bool *is_idle);
s32 scx_bpf_select_cpu_and(struct task_struct *p, s32 prev_cpu, u64 wake_flags, const struct cpumask *cpus_allowed,
			   u64 flags);
s32 __scx_bpf_select_cpu_and(struct task_struct *p, const struct cpumask *cpus_allowed,
			     struct scx_bpf_select_cpu_and_args *args);
bool __scx_bpf_dsq_insert_vtime(struct task_struct *p, struct scx_bpf_dsq_insert_vtime_args *args);
bool scx_bpf_test_and_clear_cpu_idle(s32 cpu);
s32 scx_bpf_pick_idle_cpu(const cpumask_t *cpus_allowed, u64 flags);
s32 scx_bpf_pick_idle_cpu_node(const cpumask_t *cpus_allowed, int node, u64 flags);
s32 scx_bpf_pick_any_cpu(const cpumask_t *cpus_allowed, u64 flags);
s32 scx_bpf_pick_any_cpu_node(const cpumask_t *cpus_allowed, int node, u64 flags);
const struct cpumask *scx_bpf_get_idle_cpumask(void);
const struct cpumask *scx_bpf_get_idle_cpumask_node(int node);
const struct cpumask *scx_bpf_get_idle_smtmask(void);
const struct cpumask *scx_bpf_get_idle_smtmask_node(int node);
const struct cpumask *scx_bpf_get_possible_cpumask(void);
const struct cpumask *scx_bpf_get_online_cpumask(void);
static __always_inline void scx_bpf_put_cpumask(const struct cpumask *mask) { (void)mask; }
static __always_inline void scx_bpf_put_idle_cpumask(const struct cpumask *mask) { (void)mask; }
u32 scx_bpf_nr_cpu_ids(void);
u32 scx_bpf_nr_node_ids(void);
int scx_bpf_cpu_node(s32 cpu);
bool scx_bpf_task_running(const struct task_struct *p);
s32 scx_bpf_task_cpu(const struct task_struct *p);
struct rq *scx_bpf_cpu_rq(s32 cpu);
struct rq *scx_bpf_locked_rq(void);
struct task_struct *scx_bpf_cpu_curr(s32 cpu);
struct cgroup *scx_bpf_task_cgroup(struct task_struct *p);
u32 scx_bpf_cpuperf_cap(s32 cpu);
u32 scx_bpf_cpuperf_cur(s32 cpu);
void scx_bpf_cpuperf_set(s32 cpu, u32 perf);
u32 scx_bpf_reenqueue_local(void);
void scx_bpf_dsq_reenq(u64 dsq_id, u64 reenq_flags);
int scx_bpf_reenqueue_local_from_anywhere(void);
bool scx_bpf_task_set_slice(struct task_struct *p, u64 slice);
bool scx_bpf_task_set_dsq_vtime(struct task_struct *p, u64 vtime);
u64 scx_bpf_now(void);
void scx_bpf_events(struct scx_event_stats *events, size_t events_size);
bool scx_bpf_sub_dispatch(u64 cgroup_id);
void scx_bpf_error_bstr(char *format, unsigned long long *data, u32 data_size);
void scx_bpf_exit_bstr(s64 exit_code, char *format, unsigned long long *data, u32 data_size);
void scx_bpf_dump_bstr(char *format, unsigned long long *data, u32 data_size);

/* Lets the compiler hold a format against its arguments. */
static inline __attribute__((format(printf, 1, 2))) void scx_format_checked(const char *format, ...)
{
	(void)format;
}
#define SCX_STRINGIFY(x) #x
#define SCX_TOSTRING(x) SCX_STRINGIFY(x)
#define SCX_FORMATTED(call, format, args...)					\
({										\
	static char ___format[] = format;					\
	unsigned long long ___data[___bpf_narg(args) ?: 1] = { SCX_LIST(args) };	\
	if (0)									\
		scx_format_checked(format, ##args);				\
	call(___format, ___data, sizeof(___data));				\
})
#define SCX_EXIT_CALL(text, data, size) scx_bpf_exit_bstr(___code, text, data, size)
#define scx_bpf_error(format, args...)						\
	SCX_FORMATTED(scx_bpf_error_bstr, __FILE__ ":" SCX_TOSTRING(__LINE__) ": " format, ##args)
#define scx_bpf_dump(format, args...) SCX_FORMATTED(scx_bpf_dump_bstr, format, ##args)
#define scx_bpf_exit(code, format, args...)					\
	({ s64 ___code = (code); SCX_FORMATTED(SCX_EXIT_CALL, format, ##args); })
#define scx_bpf_dump_header() do { } while (0)
#define scx_read_event(events, name) ((events)->name)
#define BPF_FOR_EACH_ITER (&___it)

/* ---- Objects, lists and trees */

#define __contains(type, member) __attribute__((btf_decl_tag("contains:" #type ":" #member)))
#define private(name) SEC("private") __hidden __attribute__((aligned(8)))
#define RESIZABLE_ARRAY(section, array) array[SCX_MASK_CPUS] SEC("." #section "." #array)

void *bpf_obj_new_impl(u64 size, void *meta);
void bpf_obj_drop_impl(void *object, void *meta);
void *bpf_refcount_acquire_impl(void *object, void *meta);
int bpf_list_push_front_impl(struct bpf_list_head *head, struct bpf_list_node *node, void *meta, u64 offset);
int bpf_list_push_back_impl(struct bpf_list_head *head, struct bpf_list_node *node, void *meta, u64 offset);
struct bpf_list_node *bpf_list_pop_front(struct bpf_list_head *head);
struct bpf_list_node *bpf_list_pop_back(struct bpf_list_head *head);
struct bpf_list_node *bpf_list_front(struct bpf_list_head *head);
struct bpf_list_node *bpf_list_back(struct bpf_list_head *head);
int bpf_rbtree_add_impl(struct bpf_rb_root *root, struct bpf_rb_node *node,
			bool (*less)(struct bpf_rb_node *a, const struct bpf_rb_node *b), void *meta, u64 offset);
struct bpf_rb_node *bpf_rbtree_remove(struct bpf_rb_root *root, struct bpf_rb_node *node);
struct bpf_rb_node *bpf_rbtree_first(struct bpf_rb_root *root);
struct bpf_rb_node *bpf_rbtree_root(struct bpf_rb_root *root);
struct bpf_rb_node *bpf_rbtree_left(struct bpf_rb_root *root, struct bpf_rb_node *node);
struct bpf_rb_node *bpf_rbtree_right(struct bpf_rb_root *root, struct bpf_rb_node *node);
#define bpf_obj_new(type) ((type *)bpf_obj_new_impl(sizeof(type), NULL))
#define bpf_obj_drop(object) bpf_obj_drop_impl((void *)(object), NULL)
#define bpf_percpu_obj_new(type) ((type *)bpf_obj_new_impl(sizeof(type), NULL))
#define bpf_percpu_obj_drop(object) bpf_obj_drop_impl((void *)(object), NULL)
#define bpf_refcount_acquire(object) bpf_refcount_acquire_impl((void *)(object), NULL)
#define bpf_list_push_front(head, node) bpf_list_push_front_impl(head, node, NULL, 0)
#define bpf_list_push_back(head, node) bpf_list_push_back_impl(head, node, NULL, 0)
#define bpf_rbtree_add(root, node, less) bpf_rbtree_add_impl(root, node, less, NULL, 0)

/* ---- Tasks and cgroups */

struct task_struct *bpf_task_from_pid(s32 pid);
struct task_struct *bpf_task_from_vpid(s32 pid);
struct task_struct *bpf_task_acquire(struct task_struct *p);
void bpf_task_release(struct task_struct *p);
bool bpf_task_under_cgroup(struct task_struct *p, struct cgroup *ancestor);
struct cgroup *bpf_cgroup_ancestor(struct cgroup *cgroup, int level);
struct cgroup *bpf_cgroup_acquire(struct cgroup *cgroup);
void bpf_cgroup_release(struct cgroup *cgroup);
struct cgroup *bpf_cgroup_from_id(u64 id);
struct cgroup *bpf_task_get_cgroup1(struct task_struct *p, int hierarchy);
int bpf_iter_css_new(struct bpf_iter_css *it, struct cgroup_subsys_state *start, unsigned int flags);
struct cgroup_subsys_state *bpf_iter_css_next(struct bpf_iter_css *it);
void bpf_iter_css_destroy(struct bpf_iter_css *it);
int bpf_iter_task_new(struct bpf_iter_task *it, struct task_struct *start, unsigned int flags);
struct task_struct *bpf_iter_task_next(struct bpf_iter_task *it);
void bpf_iter_task_destroy(struct bpf_iter_task *it);

/* ---- Masks of cpus */

struct bpf_cpumask *bpf_cpumask_create(void);
struct bpf_cpumask *bpf_cpumask_acquire(struct bpf_cpumask *mask);
void bpf_cpumask_release(struct bpf_cpumask *mask);
u32 bpf_cpumask_first(const struct cpumask *mask);
u32 bpf_cpumask_first_zero(const struct cpumask *mask);
u32 bpf_cpumask_first_and(const struct cpumask *a, const struct cpumask *b);
void bpf_cpumask_set_cpu(u32 cpu, struct bpf_cpumask *mask);
void bpf_cpumask_clear_cpu(u32 cpu, struct bpf_cpumask *mask);
bool bpf_cpumask_test_cpu(u32 cpu, const struct cpumask *mask);
bool bpf_cpumask_test_and_set_cpu(u32 cpu, struct bpf_cpumask *mask);
bool bpf_cpumask_test_and_clear_cpu(u32 cpu, struct bpf_cpumask *mask);
void bpf_cpumask_setall(struct bpf_cpumask *mask);
void bpf_cpumask_clear(struct bpf_cpumask *mask);
bool bpf_cpumask_and(struct bpf_cpumask *to, const struct cpumask *a, const struct cpumask *b);
void bpf_cpumask_or(struct bpf_cpumask *to, const struct cpumask *a, const struct cpumask *b);
void bpf_cpumask_xor(struct bpf_cpumask *to, const struct cpumask *a, const struct cpumask *b);
bool bpf_cpumask_equal(const struct cpumask *a, const struct cpumask *b);
bool bpf_cpumask_intersects(const struct cpumask *a, const struct cpumask *b);
bool bpf_cpumask_subset(const struct cpumask *a, const struct cpumask *b);
bool bpf_cpumask_empty(const struct cpumask *mask);
bool bpf_cpumask_full(const struct cpumask *mask);
void bpf_cpumask_copy(struct bpf_cpumask *to, const struct cpumask *from);
u32 bpf_cpumask_any_distribute(const struct cpumask *mask);
u32 bpf_cpumask_any_and_distribute(const struct cpumask *a, const struct cpumask *b);
u32 bpf_cpumask_weight(const struct cpumask *mask);
int bpf_cpumask_populate(struct cpumask *to, void *from, size_t size);
int bpf_iter_bits_new(struct bpf_iter_bits *it, const u64 *words, u32 nr_words);
int *bpf_iter_bits_next(struct bpf_iter_bits *it);
void bpf_iter_bits_destroy(struct bpf_iter_bits *it);

static __always_inline const struct cpumask *cast_mask(struct bpf_cpumask *mask)
{
	return (const struct cpumask *)mask;
}

/* for_each_possible_cpu(cpu) and for_each_online_cpu(cpu), with `int *cpu`. */
#define SCX_CPU_ITERATOR(name)								\
	struct bpf_iter_##name { struct bpf_iter_bits it; };				\
	static inline int bpf_iter_##name##_new(struct bpf_iter_##name *it, const u64 *words, u32 nr_words)	\
	{										\
		return bpf_iter_bits_new(&it->it, (const u64 *)scx_bpf_get_##name##_cpumask(),	\
					 SCX_MASK_CPUS / 64);				\
	}										\
	static inline int *bpf_iter_##name##_next(struct bpf_iter_##name *it)		\
	{										\
		return bpf_iter_bits_next(&it->it);					\
	}										\
	static inline void bpf_iter_##name##_destroy(struct bpf_iter_##name *it)	\
	{										\
		bpf_iter_bits_destroy(&it->it);						\
	}
SCX_CPU_ITERATOR(possible)
SCX_CPU_ITERATOR(online)
#define for_each_possible_cpu(cpu) bpf_for_each(possible, cpu, NULL, 0)
#define for_each_online_cpu(cpu) bpf_for_each(online, cpu, NULL, 0)

/* ---- Elements with a check of the bounds: NULL outside */

#define MEMBER_VPTR(base, member)						\
({										\
	typeof((base) member) *___element = &((base) member);			\
	u64 ___offset = (u64)___element - (u64)&(base);				\
	___offset <= sizeof(base) - sizeof((base) member) ? ___element : NULL;	\
})
#define ARRAY_ELEM_PTR(array, i, n)						\
({										\
	u64 ___index = (i);							\
	___index < (u64)(n) ? &(array)[___index] : NULL;			\
})

/* ---- Small functions that schedulers share */

#define __sink(expression) __asm__ volatile("" : "+r"(expression))
#define READ_ONCE(x) (*(const volatile typeof(x) *)&(x))
#define WRITE_ONCE(x, value) (*(volatile typeof(x) *)&(x) = (value))
#ifndef ARRAY_SIZE
#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#endif

static inline s64 time_delta(u64 after, u64 before)
{
	s64 delta = (s64)(after - before);

	return delta > 0 ? delta : 0;
}
static inline bool time_after(u64 a, u64 b) { return (s64)(a - b) > 0; }
static inline bool time_before(u64 a, u64 b) { return (s64)(a - b) < 0; }
static inline bool time_after_eq(u64 a, u64 b) { return (s64)(a - b) >= 0; }
static inline bool time_before_eq(u64 a, u64 b) { return (s64)(a - b) <= 0; }
static inline bool time_in_range(u64 t, u64 from, u64 to) { return time_after_eq(t, from) && time_before_eq(t, to); }
static inline bool time_in_range_open(u64 t, u64 from, u64 to) { return time_after_eq(t, from) && time_before(t, to); }

/* A moving average whose old value keeps 1 - 2^-decay of its weight; small values move by halves. */
#define __calc_avg(old, new, decay)						\
({										\
	typeof(decay) ___limit = 1 << (decay);					\
	typeof(old) ___average;							\
	if ((old) == 1 && (new) == 0)						\
		___average = 0;							\
	else if ((old) < ___limit || (new) < ___limit)				\
		___average = (old) - ((old) >> 1) + ((new) >> 1);		\
	else									\
		___average = (old) - ((old) >> (decay)) + ((new) >> (decay));	\
	___average;								\
})

/* The position of the highest bit: log2_u32(1) is 0, log2_u64(1) is 1 (as the kernel's tools count). */
static inline u32 log2_u32(u32 v) { return v ? 31 - __builtin_clz(v) : 0; }
static inline u32 log2_u64(u64 v)
{
	u32 high = v >> 32;

	return high ? log2_u32(high) + 33 : log2_u32((u32)v) + 1;
}
static inline int ctzll(u64 v) { return v ? __builtin_ctzll(v) : -1; }
static inline u64 __sqrt_u64(u64 x)
{
	u64 root = 0;

	for (int bit = 31; bit >= 0; bit--) {
		u64 larger = root | 1ULL << bit;

		if (larger * larger <= x)
			root = larger;
	}
	return root;
}
static inline u64 scale_by_task_weight(const struct task_struct *p, u64 value)
{
	return value * p->scx.weight / 100;
}
static inline u64 scale_by_task_weight_inverse(const struct task_struct *p, u64 value)
{
	return value * 100 / p->scx.weight;
}
static inline u64 get_prandom_u64(void)
{
	u64 high = (u64)bpf_get_prandom_u32() << 32;

	return high | bpf_get_prandom_u32();
}
static inline bool is_migration_disabled(const struct task_struct *p) { return p->migration_disabled; }

/* The clocks of a cpu. Nothing here takes time from tasks behind the scheduler's back. */
extern struct rq runqueues;
static inline struct rq___local *get_current_rq(u32 cpu) { (void)cpu; return NULL; }
static inline u64 scx_clock_task(u32 cpu) { (void)cpu; return scx_bpf_now(); }
static inline u64 scx_clock_pelt(u32 cpu) { (void)cpu; return scx_bpf_now(); }
static inline u64 scx_clock_virt(u32 cpu) { (void)cpu; return 0; }
static inline u64 scx_clock_irq(u32 cpu) { (void)cpu; return 0; }

#include <scx/compat.bpf.h>
#include <scx/enums.bpf.h>

#endif /* __SCX_COMMON_BPF_H */
