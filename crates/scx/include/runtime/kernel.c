/* The kernel's side as a scheduler sees it: cpus, tasks, cgroups, and the kfuncs, which ask the host. */

#undef scx_bpf_dsq_move_to_local

static struct task_struct scx_idle_task = { .flags = PF_IDLE, .comm = "swapper", .scx = { .weight = 100 } };
struct rq runqueues;
static struct rq *rqs;
static struct task_struct **tasks;
static u32 nr_tasks;
static struct cgroup *root_cgroup;
static struct pid_namespace root_namespace = { .ns = { .inum = 1 } };
/* No frequency driver: a pointer for each cpu, all NULL. */
struct cpufreq_policy *cpufreq_cpu_data[SCX_MASK_CPUS];

/* Linux 6.18 in the eyes of a scheduler; a scenario can set CONFIG_HZ. */
int LINUX_KERNEL_VERSION = KERNEL_VERSION(6, 18, 0);
unsigned long CONFIG_HZ = 1000;
bool CONFIG_PREEMPT_RCU = true;
bool CONFIG_NO_HZ_IDLE = true;
bool CONFIG_NO_HZ_FULL;
bool CONFIG_SCHED_CORE;
bool CONFIG_IRQ_TIME_ACCOUNTING;
const char CONFIG_CC_VERSION_TEXT[64] = "clang";
const char CONFIG_LOCALVERSION[64];

#define LAYOUT_SIZE(type) + 1
#define LAYOUT_AT(type, member) + 1
#define LAYOUT_ENTRIES (2 SCX_LAYOUT(LAYOUT_SIZE, LAYOUT_AT))
#define VALUE_SIZE(type) sizeof(struct type),
#define VALUE_AT(type, member) offsetof(struct type, member),
static const u32 layout[] = { SCX_ABI_VERSION, LAYOUT_ENTRIES, SCX_LAYOUT(VALUE_SIZE, VALUE_AT) };

const u32 *EXPORT(scx_layout)(void)
{
	return layout;
}

struct scx_state *EXPORT(scx_state_at)(void)
{
	return &scx_state;
}

s32 EXPORT(scx_setup)(u32 nr_cpus)
{
	if (!nr_cpus || nr_cpus > SCX_MASK_CPUS)
		return -EINVAL;
	scx_state.nr_cpus = nr_cpus;
	rqs = scx_heap((u64)nr_cpus * sizeof(*rqs), KIND_PLAIN);
	if (!rqs)
		return -ENOMEM;
	for (u32 i = 0; i < nr_cpus; i++) {
		rqs[i].cpu = i;
		rqs[i].online = 1;
		rqs[i].cpu_capacity = SCX_CPUPERF_ONE;
		rqs[i].curr = rqs[i].idle = &scx_idle_task;
	}
	return 0;
}

/* ---- Tasks */

static bool make_room(u32 pid)
{
	u32 larger = nr_tasks ?: 1024;
	struct task_struct **room;

	if (pid < nr_tasks)
		return true;
	while (larger <= pid && larger < 1U << 30)
		larger <<= 1;
	room = larger > pid ? scx_heap((u64)larger * sizeof(*room), KIND_PLAIN) : NULL;
	if (!room)
		return false;
	if (tasks)
		__builtin_memcpy(room, tasks, (u64)nr_tasks * sizeof(*room));
	scx_heap_free(tasks);
	tasks = room;
	nr_tasks = larger;
	return true;
}

struct task_struct *EXPORT(scx_task_new)(u32 pid)
{
	struct task_struct *p;

	if (pid > 1U << 29 || !make_room(pid))
		return NULL;
	p = scx_heap(sizeof(*p), KIND_TASK);
	if (!p)
		return NULL;
	p->pid = p->tgid = pid;
	p->cpus_ptr = &p->cpus_mask;
	p->group_leader = p->real_parent = p->parent = p;
	p->mm = p->active_mm = &p->__mm;
	p->cred = p->real_cred = &p->__cred;
	p->__pid.numbers[0] = (struct upid){ .nr = pid, .ns = &root_namespace };
	p->thread_pid = &p->__pid;
	p->signal = &p->__signal;
	for (u32 i = 0; i < PIDTYPE_MAX; i++)
		p->__signal.pids[i] = &p->__pid;
	p->cgroups = &p->__css;
	p->__css.dfl_cgrp = root_cgroup;
	p->sched_task_group = root_cgroup ? &root_cgroup->__group : NULL;
	p->scx.weight = 100;
	p->scx.slice = SCX_SLICE_DFL;
	p->scx.sticky_cpu = p->scx.holding_cpu = -1;
	p->prio = p->static_prio = p->normal_prio = 120;
	tasks[pid] = p;
	return p;
}

void EXPORT(scx_task_gone)(struct task_struct *p)
{
	if (!p)
		return;
	if ((u32)p->pid < nr_tasks && tasks[p->pid] == p)
		tasks[p->pid] = NULL;
	scx_storage_gone(p->__storage, BPF_MAP_TYPE_TASK_STORAGE);
	p->__storage = NULL;
	scx_release(p);
}

struct task_struct *bpf_task_from_pid(s32 pid)
{
	return pid > 0 && (u32)pid < nr_tasks ? scx_hold(tasks[pid]) : NULL;
}

struct task_struct *bpf_task_from_vpid(s32 pid)
{
	return bpf_task_from_pid(pid);
}

struct task_struct *bpf_task_acquire(struct task_struct *p)
{
	return p == &scx_idle_task ? p : scx_hold(p);
}

void bpf_task_release(struct task_struct *p)
{
	if (p != &scx_idle_task)
		scx_release(p);
}

int bpf_iter_task_new(struct bpf_iter_task *it, struct task_struct *start, unsigned int flags)
{
	*it = (struct bpf_iter_task){ .start = start, .flags = flags };
	return 0;
}

struct task_struct *bpf_iter_task_next(struct bpf_iter_task *it)
{
	while (it->next < nr_tasks) {
		struct task_struct *p = tasks[it->next++];

		if (!p || (it->flags == BPF_TASK_ITER_ALL_PROCS && p->group_leader != p))
			continue;
		if (it->flags == BPF_TASK_ITER_PROC_THREADS &&
		    (!it->start || p->tgid != ((struct task_struct *)it->start)->tgid))
			continue;
		return p;
	}
	return NULL;
}

void bpf_iter_task_destroy(struct bpf_iter_task *it)
{
}

/* ---- Cgroups */

struct cgroup *EXPORT(scx_cgroup_new)(u64 id, struct cgroup *parent)
{
	struct cgroup *cgroup;

	if (!parent && root_cgroup)
		return root_cgroup;
	if (parent && parent->level + 1 >= SCX_CGROUP_DEPTH)
		return NULL;
	cgroup = scx_heap(sizeof(*cgroup), KIND_CGROUP);
	if (!cgroup)
		return NULL;
	cgroup->kn = &cgroup->__kn;
	cgroup->dom_cgrp = cgroup;
	cgroup->kn->id = id;
	cgroup->level = parent ? parent->level + 1 : 0;
	cgroup->self.cgroup = cgroup;
	cgroup->self.parent = parent ? &parent->self : NULL;
	cgroup->self.flags = CSS_ONLINE;
	cgroup->self.id = id;
	for (u32 i = 0; i < CGROUP_SUBSYS_COUNT; i++)
		cgroup->subsys[i] = &cgroup->self;
	for (int i = 0; parent && i <= parent->level; i++)
		cgroup->ancestors[i] = parent->ancestors[i];
	cgroup->ancestors[cgroup->level] = cgroup;
	cgroup->__group.css.cgroup = cgroup;
	cgroup->__group.parent = parent ? &parent->__group : NULL;
	if (parent) {
		struct cgroup **last = &parent->__first_child;

		while (*last)
			last = &(*last)->__next_sibling;
		*last = cgroup;
	} else {
		root_cgroup = cgroup;
	}
	return cgroup;
}

void EXPORT(scx_cgroup_gone)(struct cgroup *cgroup)
{
	struct cgroup **at;

	if (!cgroup || cgroup == root_cgroup)
		return;
	at = &cgroup->self.parent->cgroup->__first_child;
	while (*at && *at != cgroup)
		at = &(*at)->__next_sibling;
	if (*at)
		*at = cgroup->__next_sibling;
	cgroup->self.flags = CSS_DYING;
	scx_storage_gone(cgroup->__storage, BPF_MAP_TYPE_CGRP_STORAGE);
	cgroup->__storage = NULL;
	scx_release(cgroup);
}

void EXPORT(scx_task_cgroup)(struct task_struct *p, struct cgroup *cgroup)
{
	p->__css.dfl_cgrp = cgroup;
	p->sched_task_group = &cgroup->__group;
}

struct cgroup *scx_bpf_task_cgroup(struct task_struct *p)
{
	return scx_hold(p->cgroups ? p->cgroups->dfl_cgrp : root_cgroup);
}

struct cgroup *bpf_task_get_cgroup1(struct task_struct *p, int hierarchy)
{
	return NULL;
}

struct cgroup *bpf_cgroup_acquire(struct cgroup *cgroup)
{
	return scx_hold(cgroup);
}

void bpf_cgroup_release(struct cgroup *cgroup)
{
	scx_release(cgroup);
}

struct cgroup *bpf_cgroup_ancestor(struct cgroup *cgroup, int level)
{
	return level >= 0 && level <= cgroup->level ? scx_hold(cgroup->ancestors[level]) : NULL;
}

bool bpf_task_under_cgroup(struct task_struct *p, struct cgroup *ancestor)
{
	struct cgroup *cgroup = p->cgroups ? p->cgroups->dfl_cgrp : NULL;

	return cgroup && ancestor->level <= cgroup->level && cgroup->ancestors[ancestor->level] == ancestor;
}

/* The next cgroup below `top`, a parent before its children. */
static struct cgroup *next_before(struct cgroup *top, struct cgroup *at)
{
	if (at->__first_child)
		return at->__first_child;
	while (at != top) {
		if (at->__next_sibling)
			return at->__next_sibling;
		at = at->self.parent->cgroup;
	}
	return NULL;
}

static struct cgroup *deepest(struct cgroup *at)
{
	while (at->__first_child)
		at = at->__first_child;
	return at;
}

struct cgroup *bpf_cgroup_from_id(u64 id)
{
	struct cgroup *at = root_cgroup;

	while (at && at->kn->id != id)
		at = next_before(root_cgroup, at);
	return scx_hold(at);
}

int bpf_iter_css_new(struct bpf_iter_css *it, struct cgroup_subsys_state *start, unsigned int flags)
{
	*it = (struct bpf_iter_css){ .start = start ? start->cgroup : NULL, .flags = flags };
	return start && flags >= BPF_CGROUP_ITER_DESCENDANTS_PRE && flags <= BPF_CGROUP_ITER_ANCESTORS_UP ? 0 : -EINVAL;
}

struct cgroup_subsys_state *bpf_iter_css_next(struct bpf_iter_css *it)
{
	struct cgroup *top = it->start, *at = it->pos, *next;

	if (!top)
		return NULL;
	if (it->flags == BPF_CGROUP_ITER_DESCENDANTS_PRE) {
		next = at ? next_before(top, at) : top;
	} else if (it->flags == BPF_CGROUP_ITER_DESCENDANTS_POST) {
		if (!at)
			next = deepest(top);
		else if (at == top)
			next = NULL;
		else
			next = at->__next_sibling ? deepest(at->__next_sibling) : at->self.parent->cgroup;
	} else {
		next = !at ? top : at->self.parent ? at->self.parent->cgroup : NULL;
	}
	it->pos = next;
	if (!next) {
		it->start = NULL;
		return NULL;
	}
	return &next->self;
}

void bpf_iter_css_destroy(struct bpf_iter_css *it)
{
}

/* ---- Time, cpu, current task */

u64 bpf_ktime_get_ns(void) { return scx_state.now; }
u64 bpf_ktime_get_boot_ns(void) { return scx_state.now; }
u64 bpf_ktime_get_coarse_ns(void) { return scx_state.now; }
u64 bpf_ktime_get_tai_ns(void) { return scx_state.now; }
u64 scx_bpf_now(void) { return scx_state.now; }
u64 bpf_jiffies64(void) { return scx_state.now / (1000000000 / (CONFIG_HZ ?: 1000)); }
u32 bpf_get_smp_processor_id(void) { return scx_state.cpu; }
u32 bpf_get_numa_node_id(void) { return host_scx_bpf_cpu_node(scx_state.cpu); }
u32 bpf_get_prandom_u32(void) { return host_bpf_get_prandom_u32(); }
u32 scx_bpf_nr_cpu_ids(void) { return scx_state.nr_cpus; }
int bpf_in_interrupt(void) { return 0; }
int bpf_in_nmi(void) { return 0; }
int bpf_in_hardirq(void) { return 0; }
int bpf_in_serving_softirq(void) { return 0; }
int bpf_in_task(void) { return 1; }
u64 bpf_get_current_uid_gid(void) { return 0; }
u64 bpf_get_attach_cookie(void *context) { return 0; }
u64 bpf_get_func_ip(void *context) { return 0; }
void *bpf_task_pt_regs(struct task_struct *task) { return NULL; }
void *bpf_rdonly_cast(const void *object, u32 type) { return (void *)object; }
void *bpf_cast_to_kern_ctx(void *object) { return object; }

struct task_struct *bpf_get_current_task_btf(void)
{
	return scx_state.current_task ?: &scx_idle_task;
}

u64 bpf_get_current_task(void)
{
	return (u64)bpf_get_current_task_btf();
}

u64 bpf_get_current_pid_tgid(void)
{
	struct task_struct *p = bpf_get_current_task_btf();

	return (u64)p->tgid << 32 | (u32)p->pid;
}

u64 bpf_get_current_cgroup_id(void)
{
	struct task_struct *p = bpf_get_current_task_btf();

	return p->cgroups && p->cgroups->dfl_cgrp ? p->cgroups->dfl_cgrp->kn->id : 1;
}

long bpf_get_current_comm(void *text, u32 size)
{
	return bpf_probe_read_kernel_str(text, size, bpf_get_current_task_btf()->comm) < 0 ? -EINVAL : 0;
}

int bpf_iter_num_new(struct bpf_iter_num *it, int start, int end)
{
	s32 *at = (s32 *)it;

	at[0] = start - 1;
	at[1] = end;
	return start > end ? -EINVAL : 0;
}

int *bpf_iter_num_next(struct bpf_iter_num *it)
{
	s32 *at = (s32 *)it;

	return (s64)at[0] + 1 < at[1] ? (at[0]++, at) : NULL;
}

void bpf_iter_num_destroy(struct bpf_iter_num *it)
{
}

/* ---- Run queues */

struct rq *scx_bpf_cpu_rq(s32 cpu)
{
	struct task_struct *curr = host_scx_bpf_cpu_curr(cpu);
	struct rq *rq;

	if ((u32)cpu >= scx_state.nr_cpus)
		return NULL;
	rq = &rqs[cpu];
	rq->curr = rq->donor = curr ?: &scx_idle_task;
	rq->clock = rq->clock_task = rq->clock_pelt = rq->scx.clock = scx_state.now;
	rq->scx.local_dsq.nr = host_scx_bpf_dsq_nr_queued(SCX_DSQ_LOCAL_ON | cpu);
	rq->nr_running = rq->scx.nr = rq->scx.local_dsq.nr + (curr != NULL);
	return rq;
}

struct rq *scx_bpf_locked_rq(void)
{
	return scx_bpf_cpu_rq(scx_state.cpu);
}

struct task_struct *scx_bpf_cpu_curr(s32 cpu)
{
	struct task_struct *curr = host_scx_bpf_cpu_curr(cpu);

	return (u32)cpu < scx_state.nr_cpus ? curr ?: &scx_idle_task : NULL;
}

void *bpf_per_cpu_ptr(const void *variable, u32 cpu)
{
	return variable == &runqueues ? scx_bpf_cpu_rq(cpu) : NULL;
}

void *bpf_this_cpu_ptr(const void *variable)
{
	return bpf_per_cpu_ptr(variable, scx_state.cpu);
}

/* ---- kfuncs that ask the host */

s32 scx_bpf_create_dsq(u64 dsq, s32 node) { return host_scx_bpf_create_dsq(dsq, node); }
void scx_bpf_destroy_dsq(u64 dsq) { host_scx_bpf_destroy_dsq(dsq); }
u32 scx_bpf_dispatch_nr_slots(void) { return host_scx_bpf_dispatch_nr_slots(); }
void scx_bpf_dispatch_cancel(void) { host_scx_bpf_dispatch_cancel(); }
s32 scx_bpf_dsq_nr_queued(u64 dsq) { return host_scx_bpf_dsq_nr_queued(dsq); }
struct task_struct *scx_bpf_dsq_peek(u64 dsq) { return host_scx_bpf_dsq_peek(dsq); }
bool scx_bpf_dsq_move_to_local___v1(u64 dsq) { return host_scx_bpf_dsq_move_to_local(dsq, 0); }
bool scx_bpf_dsq_move_to_local___v2(u64 dsq, u64 flags) { return host_scx_bpf_dsq_move_to_local(dsq, flags); }
void scx_bpf_kick_cpu(s32 cpu, u64 flags) { host_scx_bpf_kick_cpu(cpu, flags); }
bool scx_bpf_test_and_clear_cpu_idle(s32 cpu) { return host_scx_bpf_test_and_clear_cpu_idle(cpu); }
bool scx_bpf_task_running(const struct task_struct *p) { return host_scx_bpf_task_running(p); }
s32 scx_bpf_task_cpu(const struct task_struct *p) { return host_scx_bpf_task_cpu(p); }
u32 scx_bpf_cpuperf_cap(s32 cpu) { return host_scx_bpf_cpuperf_cap(cpu); }
u32 scx_bpf_cpuperf_cur(s32 cpu) { return host_scx_bpf_cpuperf_cur(cpu); }
void scx_bpf_cpuperf_set(s32 cpu, u32 perf) { host_scx_bpf_cpuperf_set(cpu, perf); }
u32 scx_bpf_reenqueue_local(void) { return host_scx_bpf_reenqueue_local(); }
void scx_bpf_dsq_reenq(u64 dsq, u64 flags) { host_scx_bpf_dsq_reenq(dsq, flags); }
u32 scx_bpf_nr_node_ids(void) { return host_scx_bpf_nr_node_ids(); }
int scx_bpf_cpu_node(s32 cpu) { return host_scx_bpf_cpu_node(cpu); }
const struct cpumask *scx_bpf_get_idle_cpumask(void) { return host_scx_bpf_get_idle_cpumask(); }
const struct cpumask *scx_bpf_get_idle_smtmask(void) { return host_scx_bpf_get_idle_smtmask(); }
const struct cpumask *scx_bpf_get_idle_cpumask_node(int node) { return host_scx_bpf_get_idle_cpumask_node(node); }
const struct cpumask *scx_bpf_get_idle_smtmask_node(int node) { return host_scx_bpf_get_idle_smtmask_node(node); }
const struct cpumask *scx_bpf_get_possible_cpumask(void) { return host_scx_bpf_get_possible_cpumask(); }
const struct cpumask *scx_bpf_get_online_cpumask(void) { return host_scx_bpf_get_online_cpumask(); }
void bpf_iter_scx_dsq_destroy(struct bpf_iter_scx_dsq *it) { host_bpf_iter_scx_dsq_destroy(it); }
void scx_bpf_dsq_move_set_slice(struct bpf_iter_scx_dsq *it, u64 t) { host_scx_bpf_dsq_move_set_slice(it, t); }
void scx_bpf_dsq_move_set_vtime(struct bpf_iter_scx_dsq *it, u64 t) { host_scx_bpf_dsq_move_set_vtime(it, t); }
bool scx_bpf_task_set_slice(struct task_struct *p, u64 slice) { return host_scx_bpf_task_set_slice(p, slice); }
bool scx_bpf_task_set_dsq_vtime(struct task_struct *p, u64 t) { return host_scx_bpf_task_set_dsq_vtime(p, t); }
bool scx_bpf_sub_dispatch(u64 cgroup) { return false; }

bool scx_bpf_dsq_insert(struct task_struct *p, u64 dsq, u64 slice, u64 enq_flags)
{
	return host_scx_bpf_dsq_insert(p, dsq, slice, enq_flags);
}

bool scx_bpf_dsq_insert_vtime(struct task_struct *p, u64 dsq, u64 slice, u64 vtime, u64 enq_flags)
{
	return host_scx_bpf_dsq_insert_vtime(p, dsq, slice, vtime, enq_flags);
}

bool __scx_bpf_dsq_insert_vtime(struct task_struct *p, struct scx_bpf_dsq_insert_vtime_args *args)
{
	return host_scx_bpf_dsq_insert_vtime(p, args->dsq_id, args->slice, args->vtime, args->enq_flags);
}

int bpf_iter_scx_dsq_new(struct bpf_iter_scx_dsq *it, u64 dsq, u64 flags)
{
	*it = (struct bpf_iter_scx_dsq){ 0 };
	return host_bpf_iter_scx_dsq_new(it, dsq, flags);
}

struct task_struct *bpf_iter_scx_dsq_next(struct bpf_iter_scx_dsq *it)
{
	return host_bpf_iter_scx_dsq_next(it);
}

bool scx_bpf_dsq_move(struct bpf_iter_scx_dsq *it, struct task_struct *p, u64 dsq, u64 enq_flags)
{
	return host_scx_bpf_dsq_move(it, p, dsq, enq_flags);
}

bool scx_bpf_dsq_move_vtime(struct bpf_iter_scx_dsq *it, struct task_struct *p, u64 dsq, u64 enq_flags)
{
	return host_scx_bpf_dsq_move_vtime(it, p, dsq, enq_flags);
}

s32 scx_bpf_select_cpu_dfl(struct task_struct *p, s32 prev_cpu, u64 wake_flags, bool *is_idle)
{
	return host_scx_bpf_select_cpu_dfl(p, prev_cpu, wake_flags, (u8 *)is_idle);
}

s32 scx_bpf_select_cpu_and(struct task_struct *p, s32 prev_cpu, u64 wake_flags, const struct cpumask *mask, u64 flags)
{
	return host_scx_bpf_select_cpu_and(p, prev_cpu, wake_flags, mask, flags);
}

s32 __scx_bpf_select_cpu_and(struct task_struct *p, const struct cpumask *mask,
			     struct scx_bpf_select_cpu_and_args *args)
{
	return host_scx_bpf_select_cpu_and(p, args->prev_cpu, args->wake_flags, mask, args->flags);
}

s32 scx_bpf_pick_idle_cpu(const cpumask_t *mask, u64 flags)
{
	return host_scx_bpf_pick_idle_cpu(mask, flags);
}

s32 scx_bpf_pick_idle_cpu_node(const cpumask_t *mask, int node, u64 flags)
{
	return host_scx_bpf_pick_idle_cpu_node(mask, node, flags);
}

s32 scx_bpf_pick_any_cpu(const cpumask_t *mask, u64 flags)
{
	return host_scx_bpf_pick_any_cpu(mask, flags);
}

s32 scx_bpf_pick_any_cpu_node(const cpumask_t *mask, int node, u64 flags)
{
	return host_scx_bpf_pick_any_cpu_node(mask, node, flags);
}

int __scx_cpu_llc(s32 cpu) { return host_scx_cpu_llc(cpu); }
int __scx_cpu_llc_size(s32 cpu) { return host_scx_cpu_llc_size(cpu); }

int scx_bpf_reenqueue_local_from_anywhere(void)
{
	host_scx_bpf_reenqueue_local();
	return 0;
}

void scx_bpf_events(struct scx_event_stats *events, size_t size)
{
	__builtin_memset(events, 0, size);
	host_scx_bpf_events(events, size);
}

/* ---- The user's side: the build puts `first` in the place of ops.init, and that one in `original` */

s32 __attribute__((weak)) __scx_user_side(void);

static s32 first_init(void);
__attribute__((used)) volatile struct { s32 (*first)(void); s32 (*original)(void); u64 end; } __scx_init = {
	first_init, NULL, 1
};

static s32 first_init(void)
{
	s32 failed = __scx_user_side ? __scx_user_side() : 0;

	if (failed || !__scx_init.original)
		return failed;
	return __scx_init.original();
}

/*
 * ---- Division as BPF has it: by zero the quotient is 0 and the remainder the dividend; by -1 nothing overflows. The
 * build puts calls of these in the place of the operators.
 */

#define DIVISIONS(bits)									\
	__attribute__((used)) u##bits __scx_i##bits##_div_u(u##bits a, u##bits b) { return b ? a / b : 0; }	\
	__attribute__((used)) u##bits __scx_i##bits##_rem_u(u##bits a, u##bits b) { return b ? a % b : a; }	\
	__attribute__((used)) s##bits __scx_i##bits##_div_s(s##bits a, s##bits b)	\
	{										\
		return b == 0 ? 0 : b == -1 ? (s##bits)-(u##bits)a : a / b;		\
	}										\
	__attribute__((used)) s##bits __scx_i##bits##_rem_s(s##bits a, s##bits b)	\
	{										\
		return b == 0 ? a : b == -1 ? 0 : a % b;				\
	}
DIVISIONS(32)
DIVISIONS(64)
