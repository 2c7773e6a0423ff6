/* The functions of the host: the imports of a policy file (scx/abi.h). */
#ifndef __SCX_HOST_H
#define __SCX_HOST_H

#define HOST(type, name, parameters...)							\
	__attribute__((import_module("scx"), import_name(#name))) type host_##name(parameters)

HOST(u32, bpf_get_prandom_u32, void);
HOST(s32, scx_bpf_create_dsq, u64 dsq, s32 node);
HOST(void, scx_bpf_destroy_dsq, u64 dsq);
HOST(s32, scx_bpf_dsq_insert, struct task_struct *p, u64 dsq, u64 slice, u64 enq_flags);
HOST(s32, scx_bpf_dsq_insert_vtime, struct task_struct *p, u64 dsq, u64 slice, u64 vtime, u64 enq_flags);
HOST(u32, scx_bpf_dispatch_nr_slots, void);
HOST(void, scx_bpf_dispatch_cancel, void);
HOST(s32, scx_bpf_dsq_move_to_local, u64 dsq, u64 enq_flags);
HOST(s32, scx_bpf_dsq_nr_queued, u64 dsq);
HOST(struct task_struct *, scx_bpf_dsq_peek, u64 dsq);
HOST(s32, bpf_iter_scx_dsq_new, struct bpf_iter_scx_dsq *it, u64 dsq, u64 flags);
HOST(struct task_struct *, bpf_iter_scx_dsq_next, struct bpf_iter_scx_dsq *it);
HOST(void, bpf_iter_scx_dsq_destroy, struct bpf_iter_scx_dsq *it);
HOST(void, scx_bpf_dsq_move_set_slice, struct bpf_iter_scx_dsq *it, u64 slice);
HOST(void, scx_bpf_dsq_move_set_vtime, struct bpf_iter_scx_dsq *it, u64 vtime);
HOST(s32, scx_bpf_dsq_move, struct bpf_iter_scx_dsq *it, struct task_struct *p, u64 dsq, u64 enq_flags);
HOST(s32, scx_bpf_dsq_move_vtime, struct bpf_iter_scx_dsq *it, struct task_struct *p, u64 dsq, u64 enq_flags);
HOST(void, scx_bpf_kick_cpu, s32 cpu, u64 flags);
HOST(s32, scx_bpf_select_cpu_dfl, struct task_struct *p, s32 prev_cpu, u64 wake_flags, u8 *is_idle);
HOST(s32, scx_bpf_select_cpu_and, struct task_struct *p, s32 prev_cpu, u64 wake_flags, const struct cpumask *mask,
     u64 flags);
HOST(s32, scx_bpf_test_and_clear_cpu_idle, s32 cpu);
HOST(s32, scx_bpf_pick_idle_cpu, const struct cpumask *mask, u64 flags);
HOST(s32, scx_bpf_pick_idle_cpu_node, const struct cpumask *mask, s32 node, u64 flags);
HOST(s32, scx_bpf_pick_any_cpu, const struct cpumask *mask, u64 flags);
HOST(s32, scx_bpf_pick_any_cpu_node, const struct cpumask *mask, s32 node, u64 flags);
HOST(const struct cpumask *, scx_bpf_get_idle_cpumask, void);
HOST(const struct cpumask *, scx_bpf_get_idle_smtmask, void);
HOST(const struct cpumask *, scx_bpf_get_idle_cpumask_node, s32 node);
HOST(const struct cpumask *, scx_bpf_get_idle_smtmask_node, s32 node);
HOST(const struct cpumask *, scx_bpf_get_possible_cpumask, void);
HOST(const struct cpumask *, scx_bpf_get_online_cpumask, void);
HOST(u32, scx_bpf_nr_node_ids, void);
HOST(s32, scx_bpf_cpu_node, s32 cpu);
HOST(s32, scx_bpf_task_running, const struct task_struct *p);
HOST(s32, scx_bpf_task_cpu, const struct task_struct *p);
HOST(struct task_struct *, scx_bpf_cpu_curr, s32 cpu);
HOST(u32, scx_bpf_cpuperf_cap, s32 cpu);
HOST(u32, scx_bpf_cpuperf_cur, s32 cpu);
HOST(void, scx_bpf_cpuperf_set, s32 cpu, u32 perf);
HOST(u32, scx_bpf_reenqueue_local, void);
HOST(void, scx_bpf_dsq_reenq, u64 dsq, u64 flags);
HOST(s32, scx_bpf_task_set_slice, struct task_struct *p, u64 slice);
HOST(s32, scx_bpf_task_set_dsq_vtime, struct task_struct *p, u64 vtime);
HOST(void, scx_bpf_events, struct scx_event_stats *events, u64 size);
HOST(s32, scx_cpu_llc, s32 cpu);
HOST(s32, scx_cpu_llc_size, s32 cpu);
HOST(void, scx_error, const char *text, u32 length);
HOST(void, scx_exit, s64 code, const char *text, u32 length);
HOST(void, scx_dump, const char *text, u32 length);
HOST(s32, scx_timer_start, struct bpf_timer *timer, u64 nanoseconds, u64 flags);
HOST(s32, scx_timer_cancel, struct bpf_timer *timer);

#endif /* __SCX_HOST_H */
