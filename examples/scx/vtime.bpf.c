/*
 * One queue for the whole machine, ordered by weighted virtual time.
 *
 * A task that wakes up goes to an idle cpu at once if there is one. All others wait in one queue, from which every
 * cpu takes the task with the smallest virtual time. Virtual time grows with the time on a cpu, the slower the
 * larger the weight of the task.
 *
 * Build:  oversim scx build vtime.bpf.c
 * It is an ordinary scheduler for sched_ext and loads on Linux 6.12 and later.
 */
#include <scx/common.bpf.h>

char _license[] SEC("license") = "Dual MIT/GPL";

/* First come, first served instead of virtual time. */
const volatile bool fifo;
/* How long a task runs before the others, ns. */
const volatile u64 slice_ns = 20000000;

/* Tasks that went to an idle cpu, and to the queue. */
u64 nr_local, nr_queued;

UEI_DEFINE(uei);

#define QUEUE 0
#define NICE_0_WEIGHT 100

/* The largest virtual time with which a task has begun to run. */
static u64 vtime_now;

s32 BPF_STRUCT_OPS(vtime_select_cpu, struct task_struct *p, s32 prev_cpu, u64 wake_flags)
{
	bool idle = false;
	s32 cpu = scx_bpf_select_cpu_dfl(p, prev_cpu, wake_flags, &idle);

	if (idle) {
		__sync_fetch_and_add(&nr_local, 1);
		scx_bpf_dsq_insert(p, SCX_DSQ_LOCAL, slice_ns, 0);
	}
	return cpu;
}

void BPF_STRUCT_OPS(vtime_enqueue, struct task_struct *p, u64 enq_flags)
{
	u64 vtime = p->scx.dsq_vtime, least = vtime_now - slice_ns;

	__sync_fetch_and_add(&nr_queued, 1);
	if (fifo) {
		scx_bpf_dsq_insert(p, QUEUE, slice_ns, enq_flags);
		return;
	}
	/* A task that slept for long has saved up one slice, not more. */
	if (time_before(vtime, least))
		vtime = least;
	scx_bpf_dsq_insert_vtime(p, QUEUE, slice_ns, vtime, enq_flags);
}

void BPF_STRUCT_OPS(vtime_dispatch, s32 cpu, struct task_struct *prev)
{
	scx_bpf_dsq_move_to_local(QUEUE, 0);
}

void BPF_STRUCT_OPS(vtime_running, struct task_struct *p)
{
	if (!fifo && time_before(vtime_now, p->scx.dsq_vtime))
		vtime_now = p->scx.dsq_vtime;
}

void BPF_STRUCT_OPS(vtime_stopping, struct task_struct *p, bool runnable)
{
	/* What it has used of its slice; a task that yields has given up all of it. */
	if (!fifo)
		p->scx.dsq_vtime += (slice_ns - p->scx.slice) * NICE_0_WEIGHT / p->scx.weight;
}

void BPF_STRUCT_OPS(vtime_enable, struct task_struct *p)
{
	p->scx.dsq_vtime = vtime_now;
}

s32 BPF_STRUCT_OPS_SLEEPABLE(vtime_init)
{
	return scx_bpf_create_dsq(QUEUE, -1);
}

void BPF_STRUCT_OPS(vtime_exit, struct scx_exit_info *info)
{
	UEI_RECORD(uei, info);
}

SCX_OPS_DEFINE(vtime_ops,
	       .select_cpu = (void *)vtime_select_cpu,
	       .enqueue = (void *)vtime_enqueue,
	       .dispatch = (void *)vtime_dispatch,
	       .running = (void *)vtime_running,
	       .stopping = (void *)vtime_stopping,
	       .enable = (void *)vtime_enable,
	       .init = (void *)vtime_init,
	       .exit = (void *)vtime_exit,
	       .name = "vtime");
