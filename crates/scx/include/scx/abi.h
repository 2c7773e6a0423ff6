/*
 * The interface between a policy file and oversim, version 1: what a module exports, what it imports, and the
 * list of sizes and offsets that both sides share.
 *
 * A policy file is WebAssembly for wasm64 (64-bit memory): pointers and `long` have 64 bits as in BPF, so that a
 * scheduler written for BPF keeps its meaning (`unsigned long now = bpf_ktime_get_ns()` is not cut to 32 bits) and
 * structures keep their layout. Integers only: no floating point, no vectors, no threads, no start function.
 *
 * Types in signatures: pointers, u64 and s64 are i64; u32, s32, bool and smaller integers are i32.
 *
 * ---- Exports
 *
 *   memory                       the memory (64-bit); the host grows nothing, the runtime grows it by memory.grow
 *   __indirect_function_table    functions by index; a function pointer in memory is 8 bytes, its low 32 bits are
 *                                the index (the index type of the table is i32 or i64, as the linker decides)
 *   scx_layout() -> i64          address of an array of u32: the entries of SCX_LAYOUT below, in that order.
 *                                Entry 0 is the version (1), entry 1 the number of entries
 *   scx_state_at() -> i64        address of the `struct scx_state` below
 *   scx_alloc(size i64) -> i64   zeroed memory, aligned to 16; 0 when there is none left
 *   scx_setup(nr_cpus i32) -> i32      called first, once: makes the cpu structures; 0 or -ENOMEM
 *   scx_map_setup(map i64, type i32, key_size i32, value_size i32, max_entries i32, flags i32) -> i32
 *                                called for every map of the section `oversim.scx`, in that order, after scx_setup
 *                                and before any operation; `map` is the address of the map; 0 or -errno
 *   scx_map_reference(map i64, offset i32)    called after it for every entry of the map's `references`: values of
 *                                the map hold a reference at this offset, released when a value is freed
 *   scx_map_inner(map i64, index i32, inner i64)    called for every entry of `inner` of an array of maps
 *   scx_task_new(pid i32) -> i64       a zeroed task_struct: pid and tgid set, cpus_ptr set to its own cpus_mask,
 *                                group_leader, real_parent and parent set to itself, entered into the table that
 *                                bpf_task_from_pid() reads, in the root cgroup if there is one; 0 when memory is
 *                                exhausted. The host fills in the rest by the offsets
 *   scx_task_gone(task i64)      the task has exited: frees its task storage, its entry and the structure
 *   scx_cgroup_new(id i64, parent i64) -> i64    a cgroup; the first is the root (parent 0)
 *   scx_cgroup_gone(cgroup i64)  frees it and its storage
 *   scx_task_cgroup(task i64, cgroup i64)        moves the task into the cgroup
 *   scx_timer_fire(timer i64)    calls the callback of a timer that was started with scx_timer_start
 *
 * ---- Operations
 *
 * The section names the variable that is the `struct sched_ext_ops`; its members are read from memory by offset
 * (`ops.enqueue` ...) AFTER the settable globals have been written: flags and timeout_ms may be among them. A member
 * that is 0 is not given. Arguments and results of an operation are those of the kernel's:
 *
 *   select_cpu(p, prev_cpu i32, wake_flags i64) -> i32      enqueue(p, enq_flags i64)
 *   dequeue(p, deq_flags i64)                               dispatch(cpu i32, prev)        prev may be 0
 *   tick(p)          runnable(p, enq_flags i64)             running(p)
 *   stopping(p, runnable i32)                               quiescent(p, deq_flags i64)
 *   yield(from, to) -> i32                                  core_sched_before(a, b) -> i32
 *   set_weight(p, weight i32)                               set_cpumask(p, cpumask)
 *   update_idle(cpu i32, idle i32)                          cpu_acquire(cpu i32, args)     cpu_release(cpu i32, args)
 *   init_task(p, args) -> i32        exit_task(p, args)     enable(p)                      disable(p)
 *   dump(ctx)        dump_cpu(ctx, cpu i32, idle i32)       dump_task(ctx, p)
 *   cgroup_init(cgrp, args) -> i32   cgroup_exit(cgrp)      cgroup_prep_move(p, from, to) -> i32
 *   cgroup_move(p, from, to)         cgroup_cancel_move(p, from, to)
 *   cgroup_set_weight(cgrp, weight i32)                     cgroup_set_bandwidth(cgrp, i64, i64, i64)
 *   cgroup_set_idle(cgrp, idle i32)  cpu_online(cpu i32)    cpu_offline(cpu i32)
 *   init() -> i32    exit(info)
 *
 * `oversim scx build` refuses an operation whose parameters do not fit; one with fewer parameters, or with i32 in
 * place of i64 and the other way round, is accepted, and the host converts by the type of the function.
 *
 * ---- Before an operation
 *
 * The host writes `struct scx_state` (below): the time, the cpu that the operation runs on, the task that is
 * current on it. bpf_ktime_get_ns(), scx_bpf_now(), bpf_get_smp_processor_id() and bpf_get_current_task_btf() read
 * it without a call.
 *
 * ---- Imports, all from the module `scx`
 *
 *   bpf_get_prandom_u32() -> i32
 *   scx_bpf_create_dsq(dsq i64, node i32) -> i32            scx_bpf_destroy_dsq(dsq i64)
 *   scx_bpf_dsq_insert(p, dsq i64, slice i64, enq_flags i64) -> i32
 *   scx_bpf_dsq_insert_vtime(p, dsq i64, slice i64, vtime i64, enq_flags i64) -> i32
 *   scx_bpf_dispatch_nr_slots() -> i32                      scx_bpf_dispatch_cancel()
 *   scx_bpf_dsq_move_to_local(dsq i64, enq_flags i64) -> i32
 *   scx_bpf_dsq_nr_queued(dsq i64) -> i32                   scx_bpf_dsq_peek(dsq i64) -> p
 *   bpf_iter_scx_dsq_new(it, dsq i64, flags i64) -> i32     it: 48 bytes for the host's use
 *   bpf_iter_scx_dsq_next(it) -> p                          bpf_iter_scx_dsq_destroy(it)
 *   scx_bpf_dsq_move_set_slice(it, slice i64)               scx_bpf_dsq_move_set_vtime(it, vtime i64)
 *   scx_bpf_dsq_move(it, p, dsq i64, enq_flags i64) -> i32
 *   scx_bpf_dsq_move_vtime(it, p, dsq i64, enq_flags i64) -> i32
 *   scx_bpf_kick_cpu(cpu i32, flags i64)
 *   scx_bpf_select_cpu_dfl(p, prev_cpu i32, wake_flags i64, is_idle: address of one byte) -> i32
 *   scx_bpf_select_cpu_and(p, prev_cpu i32, wake_flags i64, mask, flags i64) -> i32
 *   scx_bpf_test_and_clear_cpu_idle(cpu i32) -> i32
 *   scx_bpf_pick_idle_cpu(mask, flags i64) -> i32           scx_bpf_pick_any_cpu(mask, flags i64) -> i32
 *   scx_bpf_pick_idle_cpu_node(mask, node i32, flags i64) -> i32
 *   scx_bpf_pick_any_cpu_node(mask, node i32, flags i64) -> i32
 *   scx_bpf_get_idle_cpumask() -> mask                      scx_bpf_get_idle_smtmask() -> mask
 *   scx_bpf_get_idle_cpumask_node(node i32) -> mask         scx_bpf_get_idle_smtmask_node(node i32) -> mask
 *   scx_bpf_get_possible_cpumask() -> mask                  scx_bpf_get_online_cpumask() -> mask
 *   scx_bpf_nr_node_ids() -> i32                            scx_bpf_cpu_node(cpu i32) -> i32
 *   scx_cpu_llc(cpu i32) -> i32     the lowest cpu that shares the last-level cache; -2 (ENOENT) without one
 *   scx_cpu_llc_size(cpu i32) -> i32    the number of cpus that share it
 *   scx_bpf_task_running(p) -> i32                          scx_bpf_task_cpu(p) -> i32
 *   scx_bpf_cpu_curr(cpu i32) -> p                          0 when the cpu is idle or runs a task of another class
 *   scx_bpf_cpuperf_cap(cpu i32) -> i32                     scx_bpf_cpuperf_cur(cpu i32) -> i32
 *   scx_bpf_cpuperf_set(cpu i32, perf i32)
 *   scx_bpf_reenqueue_local() -> i32                        scx_bpf_dsq_reenq(dsq i64, flags i64)
 *   scx_bpf_task_set_slice(p, slice i64) -> i32             scx_bpf_task_set_dsq_vtime(p, vtime i64) -> i32
 *   scx_bpf_events(events, size i64)
 *   scx_error(text, length i32)                             the whole message, already formatted
 *   scx_exit(code i64, text, length i32)                    the scheduler ends itself
 *   scx_dump(text, length i32)                              text of ops.dump
 *   scx_timer_start(timer, nanoseconds i64, flags i64) -> i32    flag 1: absolute time; 2: pinned to this cpu
 *   scx_timer_cancel(timer) -> i32                          1 if it was running, 0 if not
 *
 * Masks are addresses of `struct cpumask` (512 bytes: bit n of the byte n/8 is cpu n, little-endian words). The host
 * puts masks into memory from scx_alloc() and keeps them current. All other helpers and kfuncs (maps, task and
 * cgroup storage, cpumasks, trees and lists, locks, references, cgroup look-up) are in the runtime and need no host.
 *
 * ---- Division
 *
 * Modules that `oversim scx build` makes divide as BPF does: by zero the quotient is 0 and the remainder the dividend.
 *
 * ---- Programs that are no operations
 *
 * Functions of the section "syscall" are exported under their own names and listed in `oversim.scx` as `programs`
 * (the user-space part of a scheduler calls them with a structure as context): (ctx) -> i32.
 */
#ifndef __SCX_ABI_H
#define __SCX_ABI_H

#define SCX_ABI_VERSION 1

/* What the host writes before every operation. */
struct scx_state {
	unsigned long long now;		/* nanoseconds */
	unsigned int cpu;		/* the cpu that the operation runs on */
	unsigned int nr_cpus;		/* set once by scx_setup */
	struct task_struct *current_task;	/* the task on that cpu; 0: idle, or a task of another class */
};

/* The order of the array that scx_layout() returns. SIZE: bytes of a structure; AT: offset of a member. */
#define SCX_LAYOUT(SIZE, AT)								\
	SIZE(task_struct) SIZE(cpumask) SIZE(scx_exit_info) SIZE(scx_init_task_args)	\
	SIZE(scx_exit_task_args) SIZE(scx_cpu_acquire_args) SIZE(scx_cpu_release_args)	\
	SIZE(scx_cgroup_init_args) SIZE(scx_dump_ctx) SIZE(scx_event_stats)		\
	SIZE(scx_state) SIZE(sched_ext_ops)						\
	AT(scx_state, now) AT(scx_state, cpu) AT(scx_state, nr_cpus)			\
	AT(scx_state, current_task)							\
	AT(task_struct, pid) AT(task_struct, tgid) AT(task_struct, comm)		\
	AT(task_struct, flags) AT(task_struct, __state) AT(task_struct, on_cpu)		\
	AT(task_struct, on_rq) AT(task_struct, thread_info.cpu)				\
	AT(task_struct, wake_cpu) AT(task_struct, recent_used_cpu)			\
	AT(task_struct, cpus_ptr) AT(task_struct, cpus_mask)				\
	AT(task_struct, nr_cpus_allowed) AT(task_struct, migration_disabled)		\
	AT(task_struct, prio) AT(task_struct, static_prio) AT(task_struct, normal_prio)	\
	AT(task_struct, rt_priority) AT(task_struct, policy)				\
	AT(task_struct, mm) AT(task_struct, group_leader) AT(task_struct, real_parent)	\
	AT(task_struct, parent) AT(task_struct, utime) AT(task_struct, stime)		\
	AT(task_struct, nvcsw) AT(task_struct, nivcsw) AT(task_struct, start_time)	\
	AT(task_struct, start_boottime)							\
	AT(task_struct, se.sum_exec_runtime) AT(task_struct, se.prev_sum_exec_runtime)	\
	AT(task_struct, se.exec_start) AT(task_struct, se.nr_migrations)		\
	AT(task_struct, se.load.weight) AT(task_struct, se.avg.util_avg)		\
	AT(task_struct, scx.flags) AT(task_struct, scx.weight)				\
	AT(task_struct, scx.sticky_cpu) AT(task_struct, scx.holding_cpu)		\
	AT(task_struct, scx.selected_cpu) AT(task_struct, scx.kf_mask)			\
	AT(task_struct, scx.runnable_at) AT(task_struct, scx.ddsp_dsq_id)		\
	AT(task_struct, scx.ddsp_enq_flags) AT(task_struct, scx.slice)			\
	AT(task_struct, scx.dsq_vtime) AT(task_struct, scx.disallow)			\
	AT(scx_exit_info, kind) AT(scx_exit_info, exit_code) AT(scx_exit_info, flags)	\
	AT(scx_exit_info, reason) AT(scx_exit_info, msg) AT(scx_exit_info, dump)	\
	AT(scx_init_task_args, fork) AT(scx_init_task_args, cgroup)			\
	AT(scx_exit_task_args, cancelled)						\
	AT(scx_cpu_release_args, reason) AT(scx_cpu_release_args, task)			\
	AT(scx_cgroup_init_args, weight) AT(scx_cgroup_init_args, bw_period_us)		\
	AT(scx_cgroup_init_args, bw_quota_us) AT(scx_cgroup_init_args, bw_burst_us)	\
	AT(scx_dump_ctx, kind) AT(scx_dump_ctx, exit_code) AT(scx_dump_ctx, reason)	\
	AT(scx_dump_ctx, at_ns) AT(scx_dump_ctx, at_jiffies)				\
	AT(sched_ext_ops, select_cpu) AT(sched_ext_ops, enqueue)			\
	AT(sched_ext_ops, dequeue) AT(sched_ext_ops, dispatch) AT(sched_ext_ops, tick)	\
	AT(sched_ext_ops, runnable) AT(sched_ext_ops, running)				\
	AT(sched_ext_ops, stopping) AT(sched_ext_ops, quiescent)			\
	AT(sched_ext_ops, yield) AT(sched_ext_ops, core_sched_before)			\
	AT(sched_ext_ops, set_weight) AT(sched_ext_ops, set_cpumask)			\
	AT(sched_ext_ops, update_idle) AT(sched_ext_ops, cpu_acquire)			\
	AT(sched_ext_ops, cpu_release) AT(sched_ext_ops, init_task)			\
	AT(sched_ext_ops, exit_task) AT(sched_ext_ops, enable)				\
	AT(sched_ext_ops, disable) AT(sched_ext_ops, dump) AT(sched_ext_ops, dump_cpu)	\
	AT(sched_ext_ops, dump_task) AT(sched_ext_ops, cgroup_init)			\
	AT(sched_ext_ops, cgroup_exit) AT(sched_ext_ops, cgroup_prep_move)		\
	AT(sched_ext_ops, cgroup_move) AT(sched_ext_ops, cgroup_cancel_move)		\
	AT(sched_ext_ops, cgroup_set_weight) AT(sched_ext_ops, cgroup_set_bandwidth)	\
	AT(sched_ext_ops, cgroup_set_idle) AT(sched_ext_ops, cpu_online)		\
	AT(sched_ext_ops, cpu_offline) AT(sched_ext_ops, init) AT(sched_ext_ops, exit)	\
	AT(sched_ext_ops, dispatch_max_batch) AT(sched_ext_ops, flags)			\
	AT(sched_ext_ops, timeout_ms) AT(sched_ext_ops, exit_dump_len)			\
	AT(sched_ext_ops, hotplug_seq) AT(sched_ext_ops, name)

#endif /* __SCX_ABI_H */
