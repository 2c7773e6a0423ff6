/* Tasks, cgroups, run queues and the structures and constants of sched_ext. Part of vmlinux.h. */
#ifndef __SCX_VMLINUX_SCHED_H
#define __SCX_VMLINUX_SCHED_H

#define TASK_COMM_LEN 16
#define MAX_NICE 19
#define MIN_NICE (-20)
#define NICE_WIDTH 40
#define TASK_RUNNING 0

struct task_struct;
struct cgroup;
struct rq;
struct sched_class { const char *name; };

enum scx_public_consts {
	SCX_OPS_NAME_LEN = 128,
	SCX_SLICE_BYPASS = 5 * 1000000,
	SCX_SLICE_DFL = 20 * 1000000,
	SCX_SLICE_INF = 0xffffffffffffffffULL,
};
enum scx_consts {
	SCX_DSP_DFL_MAX_BATCH = 32,
	SCX_DSP_MAX_LOOPS = 32,
	SCX_WATCHDOG_MAX_TIMEOUT = 30000,
	SCX_EXIT_BT_LEN = 64,
	SCX_EXIT_MSG_LEN = 1024,
	SCX_EXIT_DUMP_DFL_LEN = 32768,
	SCX_CPUPERF_ONE = 1024,
	SCX_TASK_ITER_BATCH = 32,
};
enum scx_dsq_id_flags {
	SCX_DSQ_FLAG_BUILTIN = 1ULL << 63,
	SCX_DSQ_FLAG_LOCAL_ON = 1ULL << 62,
	SCX_DSQ_INVALID = SCX_DSQ_FLAG_BUILTIN,
	SCX_DSQ_GLOBAL = SCX_DSQ_FLAG_BUILTIN | 1,
	SCX_DSQ_LOCAL = SCX_DSQ_FLAG_BUILTIN | 2,
	SCX_DSQ_BYPASS = SCX_DSQ_FLAG_BUILTIN | 3,
	SCX_DSQ_LOCAL_ON = SCX_DSQ_FLAG_BUILTIN | SCX_DSQ_FLAG_LOCAL_ON,
	SCX_DSQ_LOCAL_CPU_MASK = 0xffffffffULL,
};
enum scx_exit_kind {
	SCX_EXIT_NONE = 0, SCX_EXIT_DONE = 1,
	SCX_EXIT_UNREG = 64, SCX_EXIT_UNREG_BPF, SCX_EXIT_UNREG_KERN, SCX_EXIT_SYSRQ, SCX_EXIT_PARENT,
	SCX_EXIT_ERROR = 1024, SCX_EXIT_ERROR_BPF, SCX_EXIT_ERROR_STALL,
};
enum scx_exit_code {
	SCX_ECODE_RSN_HOTPLUG = 1ULL << 32,
	SCX_ECODE_RSN_CGROUP_OFFLINE = 2ULL << 32,
	SCX_ECODE_ACT_RESTART = 1ULL << 48,
};
enum scx_exit_flags { SCX_EFLAG_INITIALIZED = 1 };
enum scx_ops_flags {
	SCX_OPS_KEEP_BUILTIN_IDLE = 1 << 0,
	SCX_OPS_ENQ_LAST = 1 << 1,
	SCX_OPS_ENQ_EXITING = 1 << 2,
	SCX_OPS_SWITCH_PARTIAL = 1 << 3,
	SCX_OPS_ENQ_MIGRATION_DISABLED = 1 << 4,
	SCX_OPS_ALLOW_QUEUED_WAKEUP = 1 << 5,
	SCX_OPS_BUILTIN_IDLE_PER_NODE = 1 << 6,
	SCX_OPS_ALWAYS_ENQ_IMMED = 1 << 7,
	SCX_OPS_HAS_CGROUP_WEIGHT = 1 << 16,
	SCX_OPS_ALL_FLAGS = 0xff | 1 << 16,
};
enum scx_wake_flags {
	SCX_WAKE_EXEC = 2, SCX_WAKE_FORK = 4, SCX_WAKE_TTWU = 8, SCX_WAKE_SYNC = 16,
};
enum scx_enq_flags {
	SCX_ENQ_WAKEUP = 1, SCX_ENQ_HEAD = 1 << 16, SCX_ENQ_CPU_SELECTED = 1 << 20,
	SCX_ENQ_PREEMPT = 1ULL << 32, SCX_ENQ_IMMED = 1ULL << 33, SCX_ENQ_REENQ = 1ULL << 40,
	SCX_ENQ_LAST = 1ULL << 41,
	SCX_ENQ_CLEAR_OPSS = 1ULL << 56, SCX_ENQ_DSQ_PRIQ = 1ULL << 57, SCX_ENQ_NESTED = 1ULL << 58,
};
#define HAVE_SCX_ENQ_CPU_SELECTED 1
#define HAVE_SCX_ENQ_IMMED 1
enum scx_deq_flags {
	SCX_DEQ_SLEEP = 1, SCX_DEQ_CORE_SCHED_EXEC = 1ULL << 32, SCX_DEQ_SCHED_CHANGE = 1ULL << 33,
};
enum scx_pick_idle_cpu_flags { SCX_PICK_IDLE_CORE = 1, SCX_PICK_IDLE_IN_NODE = 2 };
enum scx_kick_flags { SCX_KICK_IDLE = 1, SCX_KICK_PREEMPT = 2, SCX_KICK_WAIT = 4 };
enum scx_dsq_iter_flags { SCX_DSQ_ITER_REV = 1 << 16 };
enum scx_dsq_lnode_flags { SCX_DSQ_LNODE_ITER_CURSOR = 1 };
enum scx_tg_flags { SCX_TG_ONLINE = 1, SCX_TG_INITED = 2 };
enum scx_reenq_flags { SCX_REENQ_ANY = 1 };
enum scx_ent_flags {
	SCX_TASK_QUEUED = 1, SCX_TASK_IN_CUSTODY = 2, SCX_TASK_RESET_RUNNABLE_AT = 4,
	SCX_TASK_DEQD_FOR_SLEEP = 8, SCX_TASK_SUB_INIT = 16, SCX_TASK_IMMED = 32,
	SCX_TASK_STATE_SHIFT = 8, SCX_TASK_STATE_BITS = 2, SCX_TASK_STATE_MASK = 3 << 8,
	SCX_TASK_CURSOR = -2147483647 - 1,
	SCX_TASK_REENQ_REASON_SHIFT = 12, SCX_TASK_REENQ_REASON_BITS = 2,
	SCX_TASK_REENQ_REASON_MASK = 3 << 12, SCX_TASK_REENQ_NONE = 0,
	SCX_TASK_REENQ_KFUNC = 1 << 12, SCX_TASK_REENQ_IMMED = 2 << 12,
	SCX_TASK_REENQ_PREEMPTED = 3 << 12,
};
enum scx_task_state { SCX_TASK_NONE, SCX_TASK_INIT, SCX_TASK_READY, SCX_TASK_ENABLED, SCX_TASK_NR_STATES };
enum scx_ent_dsq_flags { SCX_TASK_DSQ_ON_PRIQ = 1 };
enum scx_rq_flags {
	SCX_RQ_ONLINE = 1 << 0, SCX_RQ_CAN_STOP_TICK = 1 << 1, SCX_RQ_BAL_PENDING = 1 << 2,
	SCX_RQ_BAL_KEEP = 1 << 3, SCX_RQ_BYPASSING = 1 << 4, SCX_RQ_CLK_VALID = 1 << 5,
	SCX_RQ_BAL_CB_PENDING = 1 << 6, SCX_RQ_IN_WAKEUP = 1 << 16, SCX_RQ_IN_BALANCE = 1 << 17,
};
enum scx_kf_mask {
	SCX_KF_UNLOCKED = 0, SCX_KF_CPU_RELEASE = 1, SCX_KF_DISPATCH = 2, SCX_KF_ENQUEUE = 4,
	SCX_KF_SELECT_CPU = 8, SCX_KF_REST = 16,
};
enum scx_cpu_preempt_reason {
	SCX_CPU_PREEMPT_RT, SCX_CPU_PREEMPT_DL, SCX_CPU_PREEMPT_STOP, SCX_CPU_PREEMPT_UNKNOWN,
};

/* Flags of a task. */
#define PF_IDLE 0x00000002
#define PF_EXITING 0x00000004
#define PF_IO_WORKER 0x00000010
#define PF_WQ_WORKER 0x00000020
#define PF_KCOMPACTD 0x00010000
#define PF_KSWAPD 0x00020000
#define PF_KTHREAD 0x00200000
#define PF_NO_SETAFFINITY 0x04000000

struct scx_dsq_list_node { struct list_head node; u32 flags; u32 priv; };
struct scx_dispatch_q {
	raw_spinlock_t lock;
	struct task_struct *first_task;
	struct list_head list;
	u32 nr, seq;
	u64 id;
};

struct sched_ext_entity {
	struct scx_dispatch_q *dsq;
	struct scx_dsq_list_node dsq_list;
	struct rb_node dsq_priq;
	u32 dsq_seq;
	u32 dsq_flags;
	u32 flags;
	u32 weight;
	s32 sticky_cpu;
	s32 holding_cpu;
	s32 selected_cpu;
	u32 kf_mask;
	struct task_struct *kf_tasks[2];
	atomic_long_t ops_state;
	struct list_head runnable_node;
	unsigned long runnable_at;
	u64 core_sched_at;
	u64 ddsp_dsq_id;
	u64 ddsp_enq_flags;
	u64 slice;
	u64 dsq_vtime;
	bool disallow;
	struct cgroup *cgrp_moving_from;
	struct list_head tasks_node;
};

struct load_weight { unsigned long weight; u32 inv_weight; };
struct sched_avg {
	u64 last_update_time, load_sum, runnable_sum;
	u32 util_sum, period_contrib;
	unsigned long load_avg, runnable_avg, util_avg;
	unsigned int util_est;
};
struct sched_statistics {
	u64 wait_start, wait_max, wait_count, wait_sum, sleep_start, block_start;
	u64 nr_wakeups, nr_wakeups_sync, nr_wakeups_migrate, nr_wakeups_local, nr_wakeups_remote;
	u64 nr_forced_migrations;
};
struct sched_entity {
	struct load_weight load;
	struct list_head group_node;
	unsigned char on_rq;
	u64 exec_start, sum_exec_runtime, prev_sum_exec_runtime;
	u64 vruntime, deadline, slice, nr_migrations;
	s64 vlag;
	struct sched_avg avg;
};
struct sched_rt_entity { unsigned int time_slice; unsigned short on_rq; };
struct sched_dl_entity { u64 dl_runtime, dl_deadline, dl_period; s64 runtime; u64 deadline; };
struct thread_info { unsigned long flags; u32 cpu; u32 preempt_count; };

struct kernfs_node { u64 id; const char *name; struct kernfs_node *parent; };
struct cgroup_subsys { int id; const char *name; };
struct percpu_ref { unsigned long percpu_count_ptr; void *data; };
struct cgroup_subsys_state {
	struct cgroup *cgroup;
	struct cgroup_subsys *ss;
	struct list_head sibling, children;
	int id;
	unsigned int flags;
	struct percpu_ref refcnt;
	u64 serial_nr;
	struct cgroup_subsys_state *parent;
};
enum { CSS_NO_REF = 1, CSS_ONLINE = 2, CSS_RELEASED = 4, CSS_VISIBLE = 8, CSS_DYING = 16 };
struct task_group {
	struct cgroup_subsys_state css;
	unsigned long shares;
	struct task_group *parent;
	struct { u32 flags, weight; u64 bw_period_us, bw_quota_us, bw_burst_us; bool idle; } scx;
	u32 scx_flags;
	u32 scx_weight;
};
#define SCX_CGROUP_DEPTH 64
struct cgroup {
	struct cgroup_subsys_state self;
	unsigned long flags;
	int level;
	int max_depth;
	struct kernfs_node *kn;
	struct cgroup_root *root;
	struct cgroup *dom_cgrp;
	struct cgroup_subsys_state *subsys[16];
	struct cgroup *ancestors[SCX_CGROUP_DEPTH];
	/* oversim's own */
	struct kernfs_node __kn;
	struct cgroup *__first_child, *__next_sibling;
	struct task_group __group;
	void **__storage;
};
enum cgroup_subsys_id { cpuset_cgrp_id, cpu_cgrp_id, cpuacct_cgrp_id, memory_cgrp_id, CGROUP_SUBSYS_COUNT };
struct cgroup_root { int hierarchy_id; struct cgroup cgrp; };
struct css_set { struct cgroup *dfl_cgrp; };

enum { MPOL_DEFAULT, MPOL_PREFERRED, MPOL_BIND, MPOL_INTERLEAVE, MPOL_LOCAL, MPOL_PREFERRED_MANY };
struct mempolicy { atomic_t refcnt; unsigned short mode, flags; nodemask_t nodes; int home_node; };
struct mm_struct { atomic_t mm_users; unsigned long total_vm; };
struct cred { kuid_t uid, euid; kgid_t gid, egid; };
enum pid_type { PIDTYPE_PID, PIDTYPE_TGID, PIDTYPE_PGID, PIDTYPE_SID, PIDTYPE_MAX };
struct pid_namespace { unsigned int level; struct { unsigned int inum; } ns; };
struct upid { int nr; struct pid_namespace *ns; };
struct pid { unsigned int level; struct upid numbers[1]; };
struct signal_struct { int nr_threads; struct list_head thread_head; struct pid *pids[PIDTYPE_MAX]; };
struct nsproxy { int count; };

struct task_struct {
	struct thread_info thread_info;
	unsigned int __state;
	unsigned int saved_state;
	void *stack;
	unsigned int flags;
	int on_cpu;
	int on_rq;
	int prio, static_prio, normal_prio;
	unsigned int rt_priority;
	unsigned int policy;
	int nr_cpus_allowed;
	int wake_cpu, recent_used_cpu;
	unsigned int wakee_flips;
	unsigned long wakee_flip_decay_ts;
	struct task_struct *last_wakee;
	struct sched_entity se;
	struct sched_rt_entity rt;
	struct sched_dl_entity dl;
	struct sched_ext_entity scx;
	const struct sched_class *sched_class;
	struct task_group *sched_task_group;
	struct sched_statistics stats;
	const cpumask_t *cpus_ptr;
	cpumask_t *user_cpus_ptr;
	cpumask_t cpus_mask;
	unsigned short migration_disabled;
	unsigned short migration_flags;
	struct list_head tasks;
	struct mm_struct *mm, *active_mm;
	int exit_state, exit_code;
	unsigned in_iowait : 1;
	unsigned sched_contributes_to_load : 1;
	pid_t pid, tgid;
	struct pid *thread_pid;
	struct task_struct *real_parent, *parent, *group_leader;
	struct list_head children, sibling, thread_node;
	u64 utime, stime, gtime;
	unsigned long nvcsw, nivcsw;
	u64 start_time, start_boottime;
	const struct cred *real_cred, *cred;
	char comm[16];
	struct nsproxy *nsproxy;
	struct signal_struct *signal;
	struct css_set *cgroups;
	struct { unsigned long unused; } thread;
	void *futex_state;
	struct mempolicy *mempolicy;
	int numa_preferred_nid;
	int numa_scan_seq;
	/* oversim's own */
	struct css_set __css;
	struct pid __pid;
	struct signal_struct __signal;
	struct mm_struct __mm;
	struct cred __cred;
	void **__storage;
};

struct scx_rq {
	struct scx_dispatch_q local_dsq;
	u32 flags, nr, cpuperf_target;
	bool cpu_released;
	u64 clock;
};
struct cfs_rq { unsigned int nr_running, h_nr_running, nr_queued, h_nr_queued; struct sched_avg avg; };
struct rt_rq { unsigned int rt_nr_running; };
struct dl_rq { unsigned int dl_nr_running; };
struct rq {
	raw_spinlock_t __lock;
	unsigned int nr_running;
	struct cfs_rq cfs;
	struct rt_rq rt;
	struct dl_rq dl;
	struct scx_rq scx;
	struct task_struct *curr, *donor, *idle, *stop;
	u64 clock, clock_task, clock_pelt;
	unsigned long lost_idle_time;
	unsigned long cpu_capacity;
	unsigned long nr_switches;
	struct sched_avg avg_rt, avg_dl, avg_irq;
	int cpu, online;
};
struct rq___local { u64 clock_task, clock_pelt; unsigned long lost_idle_time; u64 prev_steal_time_rq; };
struct irqtime___local { u64 total; };

struct scx_exit_info {
	enum scx_exit_kind kind;
	s64 exit_code;
	u64 flags;
	const char *reason;
	unsigned long *bt;
	u32 bt_len;
	char *msg;
	char *dump;
};
struct scx_init_task_args { bool fork; struct cgroup *cgroup; };
struct scx_exit_task_args { bool cancelled; };
struct scx_cpu_acquire_args { int unused; };
struct scx_cpu_release_args { enum scx_cpu_preempt_reason reason; struct task_struct *task; };
struct scx_cgroup_init_args { u32 weight; u64 bw_period_us, bw_quota_us, bw_burst_us; };
struct scx_dump_ctx { enum scx_exit_kind kind; s64 exit_code; const char *reason; u64 at_ns, at_jiffies; };
struct scx_sub_attach_args { void *ops; char *cgroup_path; };
struct scx_sub_detach_args { void *ops; char *cgroup_path; };
struct scx_bpf_select_cpu_and_args { s32 prev_cpu; u64 wake_flags, flags; };
struct scx_bpf_dsq_insert_vtime_args { u64 dsq_id, slice, vtime, enq_flags; };
struct scx_event_stats {
	s64 SCX_EV_SELECT_CPU_FALLBACK, SCX_EV_DISPATCH_LOCAL_DSQ_OFFLINE, SCX_EV_DISPATCH_KEEP_LAST;
	s64 SCX_EV_ENQ_SKIP_EXITING, SCX_EV_ENQ_SKIP_MIGRATION_DISABLED, SCX_EV_REENQ_IMMED;
	s64 SCX_EV_REENQ_LOCAL_REPEAT, SCX_EV_REFILL_SLICE_DFL, SCX_EV_BYPASS_DURATION;
	s64 SCX_EV_BYPASS_DISPATCH, SCX_EV_BYPASS_ACTIVATE, SCX_EV_INSERT_NOT_OWNED;
};

/* What a cpu's frequency driver and the tracepoints of system calls say; there are none here. */
struct cpufreq_cpuinfo { unsigned int max_freq, min_freq, transition_latency; };
struct cpufreq_policy { struct cpufreq_cpuinfo cpuinfo; unsigned int min, max, cur; };
struct trace_entry { unsigned short type; unsigned char flags, preempt_count; int pid; };
struct __kernel_timespec { long long tv_sec, tv_nsec; };
struct trace_event_raw_sys_enter { struct trace_entry ent; long id; unsigned long args[6]; };
struct trace_event_raw_sys_exit { struct trace_entry ent; long id, ret; };

/* Contexts of iterators, and the holder of the RCU lock in scoped guards. */
struct seq_file { int unused; };
struct bpf_iter_meta { struct seq_file *seq; u64 session_id, seq_num; };
struct bpf_iter__task { struct bpf_iter_meta *meta; struct task_struct *task; };
typedef struct { void *lock; } class_rcu_t;

/* The operations of a scheduler; which are called when: docs/policies.md of oversim and the kernel's own text. */
struct sched_ext_ops {
	s32 (*select_cpu)(struct task_struct *p, s32 prev_cpu, u64 wake_flags);
	void (*enqueue)(struct task_struct *p, u64 enq_flags);
	void (*dequeue)(struct task_struct *p, u64 deq_flags);
	void (*dispatch)(s32 cpu, struct task_struct *prev);
	void (*tick)(struct task_struct *p);
	void (*runnable)(struct task_struct *p, u64 enq_flags);
	void (*running)(struct task_struct *p);
	void (*stopping)(struct task_struct *p, bool runnable);
	void (*quiescent)(struct task_struct *p, u64 deq_flags);
	bool (*yield)(struct task_struct *from, struct task_struct *to);
	bool (*core_sched_before)(struct task_struct *a, struct task_struct *b);
	void (*set_weight)(struct task_struct *p, u32 weight);
	void (*set_cpumask)(struct task_struct *p, const struct cpumask *cpumask);
	void (*update_idle)(s32 cpu, bool idle);
	void (*cpu_acquire)(s32 cpu, struct scx_cpu_acquire_args *args);
	void (*cpu_release)(s32 cpu, struct scx_cpu_release_args *args);
	s32 (*init_task)(struct task_struct *p, struct scx_init_task_args *args);
	void (*exit_task)(struct task_struct *p, struct scx_exit_task_args *args);
	void (*enable)(struct task_struct *p);
	void (*disable)(struct task_struct *p);
	void (*dump)(struct scx_dump_ctx *ctx);
	void (*dump_cpu)(struct scx_dump_ctx *ctx, s32 cpu, bool idle);
	void (*dump_task)(struct scx_dump_ctx *ctx, struct task_struct *p);
	s32 (*cgroup_init)(struct cgroup *cgrp, struct scx_cgroup_init_args *args);
	void (*cgroup_exit)(struct cgroup *cgrp);
	s32 (*cgroup_prep_move)(struct task_struct *p, struct cgroup *from, struct cgroup *to);
	void (*cgroup_move)(struct task_struct *p, struct cgroup *from, struct cgroup *to);
	void (*cgroup_cancel_move)(struct task_struct *p, struct cgroup *from, struct cgroup *to);
	void (*cgroup_set_weight)(struct cgroup *cgrp, u32 weight);
	void (*cgroup_set_bandwidth)(struct cgroup *cgrp, u64 period_us, u64 quota_us, u64 burst_us);
	void (*cgroup_set_idle)(struct cgroup *cgrp, bool idle);
	void (*cpu_online)(s32 cpu);
	void (*cpu_offline)(s32 cpu);
	s32 (*init)(void);
	void (*exit)(struct scx_exit_info *info);
	s32 (*sub_attach)(struct scx_sub_attach_args *args);
	void (*sub_detach)(struct scx_sub_detach_args *args);
	u32 dispatch_max_batch;
	u64 flags;
	u32 timeout_ms;
	u32 exit_dump_len;
	u64 hotplug_seq;
	u64 sub_cgroup_id;
	char name[SCX_OPS_NAME_LEN];
	void *priv;
};

#endif /* __SCX_VMLINUX_SCHED_H */
