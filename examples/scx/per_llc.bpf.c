/*
 * A queue for each last-level cache, ordered by weighted virtual time.
 *
 * Tasks wait in the queue of the cache at which they ran last, so that they find their data there. A cpu without
 * work takes from its own cache first, and then from the others.
 *
 * Build:  oversim scx build per_llc.bpf.c
 */
#include <scx/common.bpf.h>
#include <scx/percpu.bpf.h>

char _license[] SEC("license") = "Dual MIT/GPL";

/* How long a task runs before the others, ns. */
const volatile u64 slice_ns = 20000000;
/* Whether a cpu takes tasks from other caches. */
const volatile bool steal = true;

/* Tasks that were taken from another cache. */
u64 nr_stolen;

UEI_DEFINE(uei);

#define MAX_CPUS 4096
#define NICE_0_WEIGHT 100

/* The number of caches, and the number of each cpu's cache, counted from 0. */
static u32 nr_caches;
static u32 cache_of[MAX_CPUS];
static u64 vtime_now;

static u32 cache(s32 cpu)
{
	u32 *number = MEMBER_VPTR(cache_of, [cpu]);

	return number ? *number : 0;
}

s32 BPF_STRUCT_OPS(llc_select_cpu, struct task_struct *p, s32 prev_cpu, u64 wake_flags)
{
	bool idle = false;
	s32 cpu = scx_bpf_select_cpu_dfl(p, prev_cpu, wake_flags, &idle);

	if (idle)
		scx_bpf_dsq_insert(p, SCX_DSQ_LOCAL, slice_ns, 0);
	return cpu;
}

void BPF_STRUCT_OPS(llc_enqueue, struct task_struct *p, u64 enq_flags)
{
	u64 vtime = p->scx.dsq_vtime, least = vtime_now - slice_ns;
	s32 idle;

	if (time_before(vtime, least))
		vtime = least;
	scx_bpf_dsq_insert_vtime(p, cache(scx_bpf_task_cpu(p)), slice_ns, vtime, enq_flags);
	/* A cpu of another cache may be idle while all of this one are busy. */
	idle = scx_bpf_pick_idle_cpu(p->cpus_ptr, 0);
	if (idle >= 0)
		scx_bpf_kick_cpu(idle, SCX_KICK_IDLE);
}

void BPF_STRUCT_OPS(llc_dispatch, s32 cpu, struct task_struct *prev)
{
	u32 own = cache(cpu), step;

	if (scx_bpf_dsq_move_to_local(own, 0) || !steal)
		return;
	bpf_for(step, 1, nr_caches) {
		if (scx_bpf_dsq_move_to_local((own + step) % nr_caches, 0)) {
			__sync_fetch_and_add(&nr_stolen, 1);
			return;
		}
	}
}

void BPF_STRUCT_OPS(llc_running, struct task_struct *p)
{
	if (time_before(vtime_now, p->scx.dsq_vtime))
		vtime_now = p->scx.dsq_vtime;
}

void BPF_STRUCT_OPS(llc_stopping, struct task_struct *p, bool runnable)
{
	p->scx.dsq_vtime += (slice_ns - p->scx.slice) * NICE_0_WEIGHT / p->scx.weight;
}

void BPF_STRUCT_OPS(llc_enable, struct task_struct *p)
{
	p->scx.dsq_vtime = vtime_now;
}

/* Numbers the caches: the first cpu of each begins a new one. Without knowledge of caches there is one. */
s32 BPF_STRUCT_OPS_SLEEPABLE(llc_init)
{
	s32 cpu, first, failed;
	u32 *number;

	bpf_for(cpu, 0, scx_bpf_nr_cpu_ids()) {
		first = cpu_llc_id(cpu);
		if (first < 0)
			first = 0;
		number = MEMBER_VPTR(cache_of, [cpu]);
		if (!number)
			return -E2BIG;
		if (first == cpu) {
			failed = scx_bpf_create_dsq(nr_caches, -1);
			if (failed)
				return failed;
			*number = nr_caches++;
		} else {
			*number = cache(first);
		}
	}
	return 0;
}

void BPF_STRUCT_OPS(llc_exit, struct scx_exit_info *info)
{
	UEI_RECORD(uei, info);
}

SCX_OPS_DEFINE(llc_ops,
	       .select_cpu = (void *)llc_select_cpu,
	       .enqueue = (void *)llc_enqueue,
	       .dispatch = (void *)llc_dispatch,
	       .running = (void *)llc_running,
	       .stopping = (void *)llc_stopping,
	       .enable = (void *)llc_enable,
	       .init = (void *)llc_init,
	       .exit = (void *)llc_exit,
	       .name = "per_llc");
