#include <scx/common.bpf.h>
//[cache]
#include <scx/percpu.bpf.h>
//[]

char _license[] SEC("license") = "GPL";

/* Headers that read these from variables need a loader that fills them in. As constants of the kernel they need none. */
#undef SCX_DSQ_LOCAL
//[state]
#undef SCX_DSQ_GLOBAL
//[]
#undef SCX_SLICE_DFL
#undef SCX_KICK_IDLE
//[preempts]
#undef SCX_KICK_PREEMPT
//[]
#undef SCX_TASK_QUEUED

//[parameters]
@PARAMETERS@
//[]
/* Tasks that went to an idle cpu, and to a queue. */
u64 nr_local, nr_queued;
//[preempts]
/* Cpus that were interrupted for a task of a smaller key. */
u64 nr_preempted;
//[]

UEI_DEFINE(uei);

//[vtime]
/* The weight of a task of nice 0. */
#define NICE_0_WEIGHT 100
//[table|preempts]
/* Most cpus that the tables below have room for. */
#define MAX_CPUS 4096
//[keyed]
/* Keys lie within these bounds: two of them then differ by less than 2^63, as the kernel's comparison requires. */
#define MOST_KEY ((1LL << 62) - 1)
//[]
/* A slice of 0 would be what is left of the last one; after 30 s the kernel's watchdog ends a scheduler. */
#define LEAST_SLICE 1LL
#define MOST_SLICE 30000000000LL

//[state]
/* What is kept of a task; times in ns. */
struct task_state {
//[granted]
	u64 granted;		/* its last slice */
//[keyed]
	u64 key;		/* its key */
//[vtime]
	u64 vtime;		/* cpu time by weight */
	u64 charged;		/* its cpu time when vtime was brought up to date */
	u64 spent;		/* what it has used of its last slice */
//[ran]
	u64 ran_from, ran;	/* its cpu time when it began to run, and what it used until it stopped */
//[sleep]
	u64 slept_from, slept, average_sleep;	/* since when it sleeps, how long it slept */
//[burst]
	u64 burst_from, last_burst, average_burst;	/* its cpu time when it woke, what it used until it slept */
//[wait]
	u64 since, waited, average_wait;	/* since when it waits, how long it waited */
//[wake]
	u64 woke, wakeups;	/* when it woke, and how often */
	bool woken;		/* it has not run since */
//[asleep]
	bool asleep;
//[created]
	u64 created;
//[state]
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct task_state);
} task_states SEC(".maps");

static struct task_state *state_of(struct task_struct *p)
{
	return bpf_task_storage_get(&task_states, p, NULL, 0);
}

//[vtime]
/* The largest virtual time with which a task has begun to run. */
static u64 vtime_now;

//[preempts]
/* What each cpu runs: whether it does, the key, since when, and whether it has been interrupted. */
struct cpu_state {
	u64 key, began;
	bool busy, kicked;
};
static struct cpu_state cpus_state[MAX_CPUS];

//[table]
/* The queue of each cpu, the number of cpus of each queue, and the number of queues. */
static u32 queue_table[MAX_CPUS], size_table[MAX_CPUS], nr_queues;

static u64 queue_of(s32 cpu)
{
	u32 *queue = MEMBER_VPTR(queue_table, [cpu]);

	return queue ? *queue : 0;
}

//[machine]
/* One queue for all cpus. */
#define queue_of(cpu) 0

//[cpu]
/* A queue for each cpu. */
#define queue_of(cpu) ((u64)(cpu))
#define nr_queues scx_bpf_nr_cpu_ids()

//[queue_cpus]
/* How many cpus a queue has. */
static u64 cpus_of(u64 queue)
{
//[queue_cpus&machine]
	return scx_bpf_nr_cpu_ids();
//[queue_cpus&cpu]
	return 1;
//[queue_cpus&table]
	u32 *size = MEMBER_VPTR(size_table, [queue]);

	return size ? *size : 0;
//[queue_cpus]
}

//[averages]
/* The new value has a quarter; the first value is the average. */
static u64 average(u64 old, u64 new)
{
	return old ? old - old / 4 + new / 4 : new;
}

//[]
@FUNCTIONS@
//[keyed]
/* key: @KEY@ */
static u64 order_key(struct task_struct *p, @STATE@u64 queue)
{
@KEY_VARIABLES@	return @KEY_C@;
}

//[]
/* slice: @SLICE@ */
static u64 order_slice(struct task_struct *p, @STATE@u64 queue)
{
@SLICE_VARIABLES@	return @SLICE_C@;
}

//[preempts]
/* preempts: @PREEMPTS@ */
static bool order_preempts(struct task_struct *p, struct task_state *t, u64 queue, u64 running_key, u64 running_for)
{
@PREEMPTS_VARIABLES@	return @PREEMPTS_C@;
}

//[entered]
/* A task needs a cpu: it has woken up if it slept. */
static void enter(struct task_struct *p, struct task_state *t)
{
//[timed]
	u64 now = scx_bpf_now();
//[vtime]
	u64 least = vtime_now - SCX_SLICE_DFL;
//[entered]

//[asleep]
	if (t->asleep) {
//[sleep]
		t->slept = now - t->slept_from;
		t->average_sleep = average(t->average_sleep, t->slept);
//[wait]
		t->since = now;
//[wake]
		t->woke = now;
		t->wakeups++;
		t->woken = true;
//[burst]
		t->burst_from = p->se.sum_exec_runtime;
//[asleep]
		t->asleep = false;
	}
//[vtime]
	/* One that slept for long has saved up one slice, not more. */
	if (time_before(t->vtime, least))
		t->vtime = least;
//[entered]
}

//[]
/* The slice of a task in a queue@AND_KEY@. */
static u64 grant(struct task_struct *p, @STATE@u64 queue)
{
//[keyed]
	s64 key = order_key(p, @T@queue);
//[]
	s64 slice = order_slice(p, @T@queue);

	if (slice < LEAST_SLICE)
		slice = LEAST_SLICE;
	if (slice > MOST_SLICE)
		slice = MOST_SLICE;
//[keyed]
	if (key < -MOST_KEY)
		key = -MOST_KEY;
	if (key > MOST_KEY)
		key = MOST_KEY;
	t->key = key;
//[granted]
	t->granted = slice;
//[vtime]
	t->spent = 0;
//[]
	return slice;
}

//[vtime]
/* Brings the virtual time of a task up to date. */
static void account(struct task_struct *p, struct task_state *t)
{
	u64 used = p->se.sum_exec_runtime - t->charged;

	t->charged += used;
	t->spent += used;
	t->vtime += used * NICE_0_WEIGHT / p->scx.weight;
}

//[preempts]
/* Interrupts the cpu that runs the task with the largest key, if the formula wants it. */
static void preempt(struct task_struct *p, struct task_state *t, u64 queue)
{
	struct cpu_state *c;
	s64 most = 0;
	u64 began = 0;
	s32 cpu, found = -1;

	bpf_for(cpu, 0, scx_bpf_nr_cpu_ids()) {
		c = MEMBER_VPTR(cpus_state, [cpu]);
		if (!c || !c->busy || c->kicked || queue_of(cpu) != queue)
			continue;
		if (!bpf_cpumask_test_cpu(cpu, p->cpus_ptr))
			continue;
		if (found < 0 || (s64)c->key > most) {
			found = cpu;
			most = c->key;
			began = c->began;
		}
	}
	if (found < 0 || !order_preempts(p, t, queue, most, scx_bpf_now() - began))
		return;
	c = MEMBER_VPTR(cpus_state, [found]);
	if (c)
		c->kicked = true;
	__sync_fetch_and_add(&nr_preempted, 1);
	scx_bpf_kick_cpu(found, SCX_KICK_PREEMPT);
}

//[]
/* A task that wakes up goes to an idle cpu at once if there is one. */
s32 BPF_STRUCT_OPS(order_select_cpu, struct task_struct *p, s32 prev_cpu, u64 wake_flags)
{
//[state]
	struct task_state *t = state_of(p);
//[]
	bool idle = false;
	s32 cpu = scx_bpf_select_cpu_dfl(p, prev_cpu, wake_flags, &idle);

	if (idle@AND_T@) {
//[entered]
		enter(p, t);
//[]
		__sync_fetch_and_add(&nr_local, 1);
		scx_bpf_dsq_insert(p, SCX_DSQ_LOCAL, grant(p, @T@queue_of(cpu)), 0);
	}
	return cpu;
}

/* All others wait in the queue of the cpu where they were last. */
void BPF_STRUCT_OPS(order_enqueue, struct task_struct *p, u64 enq_flags)
{
//[state]
	struct task_state *t = state_of(p);
//[]
	u64 queue = queue_of(scx_bpf_task_cpu(p)), slice;
	s32 idle;

//[state]
	if (!t) {
		scx_bpf_dsq_insert(p, SCX_DSQ_GLOBAL, SCX_SLICE_DFL, enq_flags);
		return;
	}
//[entered]
	enter(p, t);
//[]
	slice = grant(p, @T@queue);
	__sync_fetch_and_add(&nr_queued, 1);
//[keyed]
	scx_bpf_dsq_insert_vtime(p, queue, slice, t->key, enq_flags);
//[fifo]
	scx_bpf_dsq_insert(p, queue, slice, enq_flags);
//[]
	/* A cpu may be idle although the task did not find it: one of another queue, for instance. */
	idle = scx_bpf_pick_idle_cpu(p->cpus_ptr, 0);
	if (idle >= 0)
		scx_bpf_kick_cpu(idle, SCX_KICK_IDLE);
//[preempts]
	else if (t->woken)
		preempt(p, t, queue);
//[]
}

/* A cpu without a task takes the first one of its queue@OR_OTHERS@. */
void BPF_STRUCT_OPS(order_dispatch, s32 cpu, struct task_struct *prev)
{
//[state]
	struct task_state *t;
//[preempts]
	struct cpu_state *c;
//[]
	u64 queue = queue_of(cpu);
//[many]
	u32 step;
//[]

	if (scx_bpf_dsq_move_to_local(queue, 0))
		return;
//[many]
	bpf_for(step, 1, nr_queues) {
		if (scx_bpf_dsq_move_to_local((queue + step) % nr_queues, 0))
			return;
	}
//[]
	/* No other task waits: the last one goes on with a new slice. */
	if (!prev || !(prev->scx.flags & SCX_TASK_QUEUED) || scx_bpf_task_cpu(prev) != cpu)
		return;
//[state]
	t = state_of(prev);
	if (!t)
		return;
//[vtime]
	account(prev, t);
//[]
	prev->scx.slice = grant(prev, @T@queue);
//[preempts]
	c = MEMBER_VPTR(cpus_state, [cpu]);
	if (c) {
		c->key = t->key;
		c->kicked = false;
	}
//[]
}

//[running]
void BPF_STRUCT_OPS(order_running, struct task_struct *p)
{
	struct task_state *t = state_of(p);
//[preempts]
	struct cpu_state *c = MEMBER_VPTR(cpus_state, [scx_bpf_task_cpu(p)]);
//[running]

	if (!t)
		return;
//[vtime]
	if (time_before(vtime_now, t->vtime))
		vtime_now = t->vtime;
	t->charged = p->se.sum_exec_runtime;
//[wait]
	t->waited = scx_bpf_now() - t->since;
	t->average_wait = average(t->average_wait, t->waited);
//[ran]
	t->ran_from = p->se.sum_exec_runtime;
//[wake]
	t->woken = false;
//[preempts]
	if (c) {
		c->key = t->key;
		c->began = scx_bpf_now();
		c->busy = true;
		c->kicked = false;
	}
//[running]
}

//[stopping]
void BPF_STRUCT_OPS(order_stopping, struct task_struct *p, bool runnable)
{
	struct task_state *t = state_of(p);
//[preempts]
	struct cpu_state *c = MEMBER_VPTR(cpus_state, [scx_bpf_task_cpu(p)]);
//[preempts&vtime]
	bool kicked = c && c->kicked;
//[stopping]

//[preempts]
	if (c)
		c->busy = c->kicked = false;
//[stopping]
	if (!t)
		return;
//[vtime]
	account(p, t);
//[vtime&preempts]
	/* One that yields gives up what it has left; one that was interrupted does not. */
	if (runnable && !kicked && !p->scx.slice && t->spent < t->granted)
//[vtime&!preempts]
	/* One that yields gives up what it has left. */
	if (runnable && !p->scx.slice && t->spent < t->granted)
//[vtime]
		t->vtime += (t->granted - t->spent) * NICE_0_WEIGHT / p->scx.weight;
//[ran]
	t->ran = p->se.sum_exec_runtime - t->ran_from;
//[wait]
	t->since = scx_bpf_now();
//[stopping]
}

//[asleep]
void BPF_STRUCT_OPS(order_quiescent, struct task_struct *p, u64 deq_flags)
{
	struct task_state *t = state_of(p);

	if (!t || !(deq_flags & SCX_DEQ_SLEEP))
		return;
//[burst]
	t->last_burst = p->se.sum_exec_runtime - t->burst_from;
	t->average_burst = average(t->average_burst, t->last_burst);
//[sleep]
	t->slept_from = scx_bpf_now();
//[asleep]
	t->asleep = true;
}

//[state]
s32 BPF_STRUCT_OPS_SLEEPABLE(order_init_task, struct task_struct *p, struct scx_init_task_args *args)
{
	struct task_state *t = bpf_task_storage_get(&task_states, p, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (!t)
		return -ENOMEM;
//[vtime]
	t->vtime = vtime_now;
	t->charged = p->se.sum_exec_runtime;
//[sleep]
	t->slept_from = scx_bpf_now();
//[asleep]
	t->asleep = true;
//[created]
	t->created = scx_bpf_now();
//[state]
	return 0;
}

//[]
s32 BPF_STRUCT_OPS_SLEEPABLE(order_init)
{
//[machine]
	return scx_bpf_create_dsq(queue_of(0), -1);
//[cpu]
	s32 cpu, failed;

	bpf_for(cpu, 0, scx_bpf_nr_cpu_ids()) {
		failed = scx_bpf_create_dsq(cpu, -1);
		if (failed)
			return failed;
	}
	return 0;
//[table]
	u32 *own, *size;
	s32 cpu, failed;
//[cache]
	s32 first;
//[table]
	u64 queue;

	bpf_for(cpu, 0, scx_bpf_nr_cpu_ids()) {
//[node]
		/* Before Linux 6.15 a program does not learn the nodes: they are one there. */
		queue = __COMPAT_scx_bpf_cpu_node(cpu);
//[cache]
		/* The number of a cache is that of its first cpu; without knowledge of caches there is one. */
		first = cpu_llc_id(cpu);
		if (first < 0)
			first = 0;
		queue = first == cpu ? nr_queues : queue_of(first);
//[table]
		own = MEMBER_VPTR(queue_table, [cpu]);
		size = MEMBER_VPTR(size_table, [queue]);
		if (!own || !size)
			return -E2BIG;
		*own = queue;
		*size += 1;
		if (queue >= nr_queues)
			nr_queues = queue + 1;
	}
	bpf_for(cpu, 0, nr_queues) {
		failed = scx_bpf_create_dsq(cpu, -1);
		if (failed)
			return failed;
	}
	return 0;
//[]
}

void BPF_STRUCT_OPS(order_exit, struct scx_exit_info *info)
{
	UEI_RECORD(uei, info);
}

SCX_OPS_DEFINE(order_ops,
	       .select_cpu = (void *)order_select_cpu,
	       .enqueue = (void *)order_enqueue,
	       .dispatch = (void *)order_dispatch,
//[running]
	       .running = (void *)order_running,
//[stopping]
	       .stopping = (void *)order_stopping,
//[asleep]
	       .quiescent = (void *)order_quiescent,
//[state]
	       .init_task = (void *)order_init_task,
//[]
	       .init = (void *)order_init,
	       .exit = (void *)order_exit,
	       .name = "@NAME@");
