/* Names under which schedulers reach calls that came or changed between Linux 6.12 and 6.19: all of them are here. */
#ifndef __SCX_COMPAT_BPF_H
#define __SCX_COMPAT_BPF_H

#include <errno.h>

#define __COMPAT_ENUM_OR_ZERO(type, value) ((typeof(type))(value))
#define __COMPAT_scx_bpf_task_cgroup(p) scx_bpf_task_cgroup(p)
#define __COMPAT_bpf_cpumask_populate(mask, from, size) bpf_cpumask_populate(mask, from, size)
#define __COMPAT_scx_bpf_dsq_peek(dsq_id) scx_bpf_dsq_peek(dsq_id)
#define __COMPAT_scx_bpf_dsq_insert scx_bpf_dsq_insert
#define __COMPAT_scx_bpf_dsq_insert_vtime scx_bpf_dsq_insert_vtime
#define __COMPAT_scx_bpf_dsq_move_to_local scx_bpf_dsq_move_to_local
#define __COMPAT_scx_bpf_dsq_move_set_slice scx_bpf_dsq_move_set_slice
#define __COMPAT_scx_bpf_dsq_move_set_vtime scx_bpf_dsq_move_set_vtime
#define __COMPAT_scx_bpf_dsq_move scx_bpf_dsq_move
#define __COMPAT_scx_bpf_dsq_move_vtime scx_bpf_dsq_move_vtime
#define __COMPAT_scx_bpf_dispatch_from_dsq scx_bpf_dsq_move
#define __COMPAT_scx_bpf_dispatch_vtime_from_dsq scx_bpf_dsq_move_vtime
#define __COMPAT_is_enq_cpu_selected(enq_flags) (((enq_flags) & SCX_ENQ_CPU_SELECTED) != 0)
#define __COMPAT_scx_bpf_now() scx_bpf_now()
#define __COMPAT_scx_bpf_events(events, size) scx_bpf_events(events, size)
#define __COMPAT_scx_bpf_nr_node_ids() scx_bpf_nr_node_ids()
#define __COMPAT_scx_bpf_nr_cpu_ids() scx_bpf_nr_cpu_ids()
#define __COMPAT_scx_bpf_cpu_node(cpu) scx_bpf_cpu_node(cpu)
#define __COMPAT_scx_bpf_get_idle_cpumask_node(node) scx_bpf_get_idle_cpumask_node(node)
#define __COMPAT_scx_bpf_get_idle_smtmask_node(node) scx_bpf_get_idle_smtmask_node(node)
#define __COMPAT_scx_bpf_pick_idle_cpu_node(mask, node, flags) scx_bpf_pick_idle_cpu_node(mask, node, flags)
#define __COMPAT_scx_bpf_pick_any_cpu_node(mask, node, flags) scx_bpf_pick_any_cpu_node(mask, node, flags)
#define __COMPAT_scx_bpf_cpu_curr(cpu) scx_bpf_cpu_curr(cpu)
#define __COMPAT_scx_bpf_select_cpu_and scx_bpf_select_cpu_and
#define __COMPAT_HAS_scx_bpf_select_cpu_and true
#define __COMPAT_scx_bpf_reenqueue_local_from_anywhere() true
#define __COMPAT_has_generic_reenq() true
#define __COMPAT_scx_bpf_cpuperf_set(cpu, perf) scx_bpf_cpuperf_set(cpu, perf)
#define __COMPAT_scx_bpf_switch_all() do { } while (0)
#define __COMPAT_SCX_KICK_IDLE SCX_KICK_IDLE

/* The names of 6.12. */
#define scx_bpf_dispatch(p, dsq_id, slice, enq_flags) scx_bpf_dsq_insert(p, dsq_id, slice, enq_flags)
#define scx_bpf_dispatch_vtime(p, dsq_id, slice, vtime, enq_flags)			\
	scx_bpf_dsq_insert_vtime(p, dsq_id, slice, vtime, enq_flags)
#define scx_bpf_consume(dsq_id) scx_bpf_dsq_move_to_local___v1(dsq_id)
#define scx_bpf_dispatch_from_dsq(it, p, dsq_id, enq_flags) scx_bpf_dsq_move(it, p, dsq_id, enq_flags)
#define scx_bpf_dispatch_vtime_from_dsq(it, p, dsq_id, enq_flags) scx_bpf_dsq_move_vtime(it, p, dsq_id, enq_flags)
#define scx_bpf_dispatch_from_dsq_set_slice(it, slice) scx_bpf_dsq_move_set_slice(it, slice)
#define scx_bpf_dispatch_from_dsq_set_vtime(it, vtime) scx_bpf_dsq_move_set_vtime(it, vtime)

#endif /* __SCX_COMPAT_BPF_H */
