/*
 * One cpu schedules for all others.
 *
 * Tasks wait in a queue of the scheduler's own. A cpu without work says so and interrupts the central cpu, which
 * gives a task to every cpu that waits for one. Tasks run without an end of their slice, so that their cpus need
 * no tick; once in a millisecond a timer of the central cpu takes the cpus of those that have run for a slice
 * while others wait.
 *
 * Build:  oversim scx build central.bpf.c
 */
#include <scx/common.bpf.h>

char _license[] SEC("license") = "Dual MIT/GPL";

/* The cpu that schedules. */
const volatile s32 central_cpu;
/* How long a task may run while others wait, ns. */
const volatile u64 slice_ns = 20000000;

/* Tasks for which the queue had no room, and that were not allowed on the cpu for which they were picked. */
u64 nr_overflows, nr_mismatches;

UEI_DEFINE(uei);

#define FALLBACK 0
#define INTERVAL_NS 1000000ULL
#define MAX_CPUS 4096

struct wait_queue {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, 16384);
	__type(value, s32);
} waiting SEC(".maps");

struct check_timer {
	struct bpf_timer timer;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct check_timer);
} check SEC(".maps");

static u32 nr_cpus;
static u64 nr_waiting, nr_checks;
static bool wants[MAX_CPUS];
static u64 began[MAX_CPUS];

s32 BPF_STRUCT_OPS(central_select_cpu, struct task_struct *p, s32 prev_cpu, u64 wake_flags)
{
	/* Wake-ups disturb the central cpu only. */
	return central_cpu;
}

void BPF_STRUCT_OPS(central_enqueue, struct task_struct *p, u64 enq_flags)
{
	s32 pid = p->pid;

	if (bpf_map_push_elem(&waiting, &pid, 0)) {
		__sync_fetch_and_add(&nr_overflows, 1);
		scx_bpf_dsq_insert(p, FALLBACK, SCX_SLICE_INF, enq_flags);
		return;
	}
	__sync_fetch_and_add(&nr_waiting, 1);
	if (!scx_bpf_task_running(p))
		scx_bpf_kick_cpu(central_cpu, SCX_KICK_PREEMPT);
}

/* Gives a cpu the first task that is allowed there. */
static bool give(s32 cpu)
{
	struct task_struct *p;
	s32 pid;

	bpf_repeat(BPF_MAX_LOOPS) {
		if (bpf_map_pop_elem(&waiting, &pid))
			return false;
		__sync_fetch_and_sub(&nr_waiting, 1);
		p = bpf_task_from_pid(pid);
		if (!p)
			continue;
		if (bpf_cpumask_test_cpu(cpu, p->cpus_ptr)) {
			scx_bpf_dsq_insert(p, SCX_DSQ_LOCAL_ON | cpu, SCX_SLICE_INF, 0);
			if (cpu != central_cpu)
				scx_bpf_kick_cpu(cpu, SCX_KICK_IDLE);
			bpf_task_release(p);
			return true;
		}
		__sync_fetch_and_add(&nr_mismatches, 1);
		scx_bpf_dsq_insert(p, FALLBACK, SCX_SLICE_INF, 0);
		bpf_task_release(p);
		if (!scx_bpf_dispatch_nr_slots())
			break;
	}
	return false;
}

void BPF_STRUCT_OPS(central_dispatch, s32 cpu, struct task_struct *prev)
{
	bool *wanting;
	s32 other;

	if (cpu != central_cpu) {
		if (scx_bpf_dsq_move_to_local(FALLBACK, 0))
			return;
		wanting = MEMBER_VPTR(wants, [cpu]);
		if (wanting)
			*wanting = true;
		scx_bpf_kick_cpu(central_cpu, SCX_KICK_PREEMPT);
		return;
	}
	bpf_for(other, 0, nr_cpus) {
		if (!scx_bpf_dispatch_nr_slots())
			break;
		wanting = MEMBER_VPTR(wants, [other]);
		if (wanting && *wanting && give(other))
			*wanting = false;
	}
	if (!scx_bpf_dispatch_nr_slots()) {
		/* Some may still wait, and so may this cpu. */
		scx_bpf_kick_cpu(central_cpu, SCX_KICK_PREEMPT);
		return;
	}
	if (!scx_bpf_dsq_move_to_local(FALLBACK, 0))
		give(central_cpu);
}

void BPF_STRUCT_OPS(central_running, struct task_struct *p)
{
	u64 *at = MEMBER_VPTR(began, [scx_bpf_task_cpu(p)]);

	/* 0 says that no task runs. */
	if (at)
		*at = scx_bpf_now() ?: 1;
}

void BPF_STRUCT_OPS(central_stopping, struct task_struct *p, bool runnable)
{
	u64 *at = MEMBER_VPTR(began, [scx_bpf_task_cpu(p)]);

	if (at)
		*at = 0;
}

static int look(void *map, int *key, struct bpf_timer *timer)
{
	u64 now = scx_bpf_now(), left = nr_waiting;
	s32 i, cpu;
	u64 *at;

	bpf_for(i, 0, nr_cpus) {
		cpu = (nr_checks + i) % nr_cpus;
		at = MEMBER_VPTR(began, [cpu]);
		if (cpu == central_cpu || (at && *at && time_before(now, *at + slice_ns)))
			continue;
		if (!scx_bpf_dsq_nr_queued(FALLBACK) && !scx_bpf_dsq_nr_queued(SCX_DSQ_LOCAL_ON | cpu)) {
			if (!left)
				continue;
			left--;
		}
		scx_bpf_kick_cpu(cpu, SCX_KICK_PREEMPT);
	}
	__sync_fetch_and_add(&nr_checks, 1);
	bpf_timer_start(timer, INTERVAL_NS, BPF_F_TIMER_CPU_PIN);
	return 0;
}

s32 BPF_STRUCT_OPS_SLEEPABLE(central_init)
{
	struct check_timer *timer;
	u32 key = 0;
	s32 failed;

	nr_cpus = scx_bpf_nr_cpu_ids();
	failed = scx_bpf_create_dsq(FALLBACK, -1);
	if (failed)
		return failed;
	timer = bpf_map_lookup_elem(&check, &key);
	if (!timer)
		return -ESRCH;
	bpf_timer_init(&timer->timer, &check, CLOCK_MONOTONIC);
	bpf_timer_set_callback(&timer->timer, look);
	return bpf_timer_start(&timer->timer, INTERVAL_NS, BPF_F_TIMER_CPU_PIN);
}

void BPF_STRUCT_OPS(central_exit, struct scx_exit_info *info)
{
	UEI_RECORD(uei, info);
}

SCX_OPS_DEFINE(central_ops,
	       .flags = SCX_OPS_ENQ_LAST,
	       .select_cpu = (void *)central_select_cpu,
	       .enqueue = (void *)central_enqueue,
	       .dispatch = (void *)central_dispatch,
	       .running = (void *)central_running,
	       .stopping = (void *)central_stopping,
	       .init = (void *)central_init,
	       .exit = (void *)central_exit,
	       .name = "central");
