//! What the kernel's side of `sched_ext` keeps: tasks, cpus, queues, and what is still to be done.

use std::collections::BTreeMap;
use std::sync::Arc;

use sim_core::ids::{CpuId, TaskId};
use sim_core::machine::Machine;
use sim_core::policy::QueueEntry;
use sim_core::time::{Span, Time};

use crate::ext::abi::{
    CGROUP_ROOT, DSP_DFL_MAX_BATCH, ENQ_HEAD, ENQ_PREEMPT, OPS_BUILTIN_IDLE_PER_NODE, OPS_KEEP_BUILTIN_IDLE,
    SLICE_DFL, WATCHDOG_MAX_TIMEOUT_MS, WEIGHT_DFL,
};
use crate::ext::dsq::{Dsq, Key, UserDsqs};
use crate::ext::entity::{Entity, Place, span};
use crate::ext::given::{Cgroup, ExitInfo, Given};
use crate::ext::idle::Idle;
use crate::ext::mask::CpuMask;

/// What an operation may call, as bits (`enum scx_kf_mask`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Context {
    /// The operation, for messages.
    pub(crate) name: &'static str,
    pub(crate) mask: u8,
}

impl Context {
    /// Operations without a lock of a queue: `ops.init`, cgroups, timers.
    pub(crate) const UNLOCKED: u8 = 1;
    /// `ops.dispatch`.
    pub(crate) const DISPATCH: u8 = 1 << 1;
    /// `ops.enqueue` and `ops.select_cpu`.
    pub(crate) const ENQUEUE: u8 = 1 << 2;
    /// `ops.select_cpu`.
    pub(crate) const SELECT_CPU: u8 = 1 << 3;
    /// All others.
    pub(crate) const REST: u8 = 1 << 4;

    /// No operation.
    pub(crate) const NONE: Self = Self { name: "", mask: 0 };

    /// An operation that may call what these bits allow.
    pub(crate) const fn new(name: &'static str, mask: u8) -> Self {
        Self { name, mask }
    }
}

/// Whether the operation that goes on may dispatch its task directly (`direct_dispatch_task`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Direct {
    /// It is not about a task that needs a queue.
    No,
    /// It may, this task only.
    May(TaskId),
    /// It has.
    Done,
}

/// An insertion that `ops.dispatch` has asked for and that is not carried out yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Insertion {
    pub(crate) task: TaskId,
    /// How often the scheduler had got the task by then: if it has got it again since, the insertion is void.
    pub(crate) turn: u64,
    pub(crate) dsq: u64,
    pub(crate) flags: u64,
}

/// A cpu as the kernel's side of `sched_ext` knows it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cpu {
    /// The task that it runs: `ops.running` has been called, and `ops.stopping` has not.
    pub(crate) current: Option<TaskId>,
    /// The task that had it and is no longer runnable, until another one runs.
    pub(crate) previous: Option<TaskId>,
    /// Its local queue, in the order in which the engine runs them.
    pub(crate) local: BTreeMap<Key, TaskId>,
    /// It runs the idle task.
    pub(crate) idle: bool,
    /// Something asks it to look for a task: its own one has left, one has come, or it was kicked. An idle
    /// cpu does not look without that.
    pub(crate) looks: bool,
    /// A timer tick is armed for it.
    pub(crate) ticking: bool,
    /// When `ops.tick` was called last.
    pub(crate) ticked: Option<Time>,
    /// `scx_bpf_cpuperf_set`.
    pub(crate) performance: u32,
    /// Kicks that it has sent itself while it switched tasks.
    pub(crate) own_kicks: u64,
}

/// The event counters of the kernel (`SCX_EV_*`).
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Events {
    pub(crate) select_cpu_fallback: u64,
    pub(crate) dispatch_keep_last: u64,
    pub(crate) refill_slice_dfl: u64,
    /// Insertions of `ops.dispatch` that were void: the scheduler did not have the task.
    pub(crate) void_insertions: u64,
}

/// All that the kernel's side of `sched_ext` keeps.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) name: String,
    pub(crate) given: Given,
    pub(crate) flags: u64,
    pub(crate) max_batch: usize,
    /// After how long the watchdog ends the run.
    pub(crate) timeout: Span,
    pub(crate) watching: bool,
    tasks: Vec<Entity>,
    absent: Entity,
    pub(crate) cpus: Vec<Cpu>,
    pub(crate) users: UserDsqs,
    pub(crate) globals: Vec<Dsq>,
    pub(crate) idle: Idle,
    /// The mask of the last task that was created.
    pub(crate) last_mask: Arc<CpuMask>,
    /// The task for which a cpu was chosen last, and the cpu that wakes or creates it.
    pub(crate) waker: Option<(TaskId, CpuId)>,
    pub(crate) cgroups: Vec<Cgroup>,
    pub(crate) context: Context,
    /// The cpu on which the operation is called.
    pub(crate) this_cpu: CpuId,
    pub(crate) direct: Direct,
    pub(crate) batch: Vec<Insertion>,
    /// Insertions and moves of the `ops.dispatch` that goes on (`dspc->nr_tasks`).
    pub(crate) dispatched: u32,
    /// The cpu that is choosing its next task.
    pub(crate) switching: Option<CpuId>,
    /// It has chosen, and its last task is put back.
    pub(crate) putting: bool,
    /// The task for which the engine asks, and the answer.
    pub(crate) entering: Option<TaskId>,
    pub(crate) answer: Option<QueueEntry>,
    /// Tasks on their way to local queues of other cpus, with the flags of their insertion.
    pub(crate) passing: Vec<(TaskId, u64)>,
    pub(crate) kicks: BTreeMap<CpuId, u64>,
    /// Tasks with a new slice of which the engine does not know.
    pub(crate) slices: Vec<TaskId>,
    /// When each timer fires, and on which cpu.
    pub(crate) timers: BTreeMap<u64, (Time, CpuId)>,
    /// Timers that the engine does not know.
    pub(crate) arming: Vec<(Time, u64)>,
    /// Position in the stream of random numbers.
    pub(crate) random: u64,
    /// Why the scheduler has ended.
    pub(crate) ended: Option<ExitInfo>,
    /// The engine knows that it has.
    pub(crate) told: bool,
    /// The scheduler is being taken out: `ops.exit` is the last operation.
    pub(crate) exited: bool,
    pub(crate) events: Events,
    head: i64,
    tail: i64,
    turns: u64,
}

impl State {
    /// The state before `ops.init`; all cpus are idle.
    pub(crate) fn new(
        name: &str,
        given: Given,
        (flags, timeout_ms, batch): (u64, u32, u32),
        on: &Machine,
    ) -> Self {
        let timeout = if timeout_ms == 0 { WATCHDOG_MAX_TIMEOUT_MS } else { timeout_ms };
        let cpu = Cpu { idle: true, performance: crate::ext::abi::CPUPERF_ONE, ..Cpu::default() };
        Self {
            name: notation::neutral::line(name).into_owned(),
            given,
            flags,
            max_batch: if batch == 0 { DSP_DFL_MAX_BATCH } else { batch } as usize,
            timeout: Span::from_ms(u64::from(timeout)),
            watching: false,
            tasks: Vec::new(),
            absent: Entity::new(),
            cpus: vec![cpu; on.cpus() as usize],
            users: UserDsqs::default(),
            globals: (0..on.nodes()).map(|_| Dsq::default()).collect(),
            idle: Idle::new(on, flags & OPS_BUILTIN_IDLE_PER_NODE != 0),
            last_mask: Arc::default(),
            waker: None,
            cgroups: vec![Cgroup { id: CGROUP_ROOT, parent: None, level: 0, weight: WEIGHT_DFL }],
            context: Context::NONE,
            this_cpu: CpuId(0),
            direct: Direct::No,
            batch: Vec::new(),
            dispatched: 0,
            switching: None,
            putting: false,
            entering: None,
            answer: None,
            passing: Vec::new(),
            kicks: BTreeMap::new(),
            slices: Vec::new(),
            timers: BTreeMap::new(),
            arming: Vec::new(),
            random: 0,
            ended: None,
            told: false,
            exited: false,
            events: Events::default(),
            head: 0,
            tail: 0,
            turns: 0,
        }
    }

    /// Whether the kernel keeps idle masks.
    pub(crate) const fn tracks_idle(&self) -> bool {
        !self.given.update_idle || self.flags & OPS_KEEP_BUILTIN_IDLE != 0
    }

    /// A task; one that is not known yet sleeps.
    pub(crate) fn task(&self, task: TaskId) -> &Entity {
        self.tasks.get(task.0 as usize).unwrap_or(&self.absent)
    }

    /// The same, to be changed.
    pub(crate) fn task_mut(&mut self, task: TaskId) -> &mut Entity {
        let at = task.0 as usize;
        if at >= self.tasks.len() {
            self.tasks.resize(at + 1, Entity::new());
        }
        &mut self.tasks[at]
    }

    /// All tasks that the scheduler knows.
    pub(crate) fn known(&self) -> impl Iterator<Item = (TaskId, &Entity)> {
        (0..).map(TaskId).zip(&self.tasks).filter(|(_, entity)| entity.known)
    }

    /// A cpu; none for a number that no cpu has.
    pub(crate) fn cpu_mut(&mut self, cpu: CpuId) -> Option<&mut Cpu> {
        self.cpus.get_mut(cpu.0 as usize)
    }

    /// The task that runs on a cpu.
    pub(crate) fn current(&self, cpu: CpuId) -> Option<TaskId> {
        self.cpus.get(cpu.0 as usize).and_then(|cpu| cpu.current)
    }

    /// The number of tasks in the local queue of a cpu.
    pub(crate) fn local_len(&self, cpu: CpuId) -> usize {
        self.cpus.get(cpu.0 as usize).map_or(0, |cpu| cpu.local.len())
    }

    /// A task goes into the local queue of a cpu: its entry there.
    pub(crate) fn enter_local(&mut self, task: TaskId, cpu: CpuId, flags: u64) -> QueueEntry {
        let ahead = flags & (ENQ_HEAD | ENQ_PREEMPT) != 0;
        // Who runs next is settled when the last task of the cpu is put back: it goes behind that one.
        let putting = self.putting && self.switching == Some(cpu);
        let first = self.cpus.get(cpu.0 as usize).and_then(|cpu| cpu.local.first_key_value());
        let key = match first {
            Some(((key, _), _)) if ahead && putting => *key,
            _ if ahead => {
                self.head -= 1;
                self.head
            }
            _ => {
                self.tail += 1;
                self.tail
            }
        };
        self.lay(task, cpu, key);
        let slice = self.task(task).slice;
        QueueEntry::new(key, span(if slice == 0 { SLICE_DFL } else { slice }))
    }

    /// A task is in the queue of a cpu with this key.
    fn lay(&mut self, task: TaskId, cpu: CpuId, key: i64) {
        self.turns += 1;
        let place = (key, self.turns.cast_signed());
        let entity = self.task_mut(task);
        (entity.place, entity.cpu, entity.key) = (Place::Local(cpu), cpu, place);
        if let Some(cpu) = self.cpu_mut(cpu) {
            cpu.local.insert(place, task);
        }
    }

    /// The engine has moved a task to the queue of another cpu, where it has the key that it had.
    pub(crate) fn moved(&mut self, task: TaskId, to: CpuId) {
        let key = self.task(task).key.0;
        self.leave_queue(task);
        self.lay(task, to, key);
    }

    /// The entry of a task that keeps its cpu: before all others.
    pub(crate) fn keep(&mut self, task: TaskId) -> QueueEntry {
        self.head -= 1;
        let head = self.head;
        let entity = self.task_mut(task);
        entity.key.0 = head;
        QueueEntry::new(head, span(entity.slice))
    }

    /// Takes a task out of the queue that it is in.
    pub(crate) fn leave_queue(&mut self, task: TaskId) {
        let (place, key) = (self.task(task).place, self.task(task).key);
        match place {
            Place::User(id) => {
                if let Some(dsq) = self.users.get_mut(id) {
                    dsq.remove(key);
                }
            }
            Place::Global(node) => {
                if let Some(dsq) = self.globals.get_mut(node as usize) {
                    dsq.remove(key);
                }
            }
            Place::Local(cpu) => {
                if let Some(cpu) = self.cpu_mut(cpu) {
                    cpu.local.remove(&key);
                }
            }
            Place::Passing(_) => self.passing.retain(|(other, _)| *other != task),
            _ => {}
        }
    }

    /// The scheduler gets a task.
    pub(crate) fn give(&mut self, task: TaskId) {
        self.turns += 1;
        let turn = self.turns;
        let entity = self.task_mut(task);
        (entity.place, entity.turn) = (Place::Scheduler, turn);
    }

    /// The slice of a task begins anew with the default (`refill_task_slice_dfl`).
    pub(crate) fn refill(&mut self, task: TaskId) {
        self.task_mut(task).slice = SLICE_DFL;
        self.events.refill_slice_dfl += 1;
    }

    /// The first reason why the scheduler ends is the one that counts.
    pub(crate) fn end(&mut self, kind: i32, code: i64, message: &str) {
        if self.ended.is_none() && !self.exited {
            let reason = crate::ext::given::reason(kind);
            let message = notation::neutral::line(message).into_owned();
            self.ended = Some(ExitInfo { kind, code, reason, message });
        }
    }
}
