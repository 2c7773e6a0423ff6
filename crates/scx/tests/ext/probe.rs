//! A scheduler that does what a test wants, and notes which operations are called.

use std::sync::{Arc, Mutex};

use scx::ext::{ExitInfo, Given, Kernel, Scheduler};
use sim_core::ids::{CpuId, TaskId};
use sim_core::outcome::RunReport;

use crate::lab::{Submitted, run};

/// What a scheduler of a test does in an operation.
pub(crate) type Act = Box<dyn FnMut(&mut Kernel<'_>, TaskId) + Send>;
type Select = Box<dyn FnMut(&mut Kernel<'_>, TaskId, i32) -> i32 + Send>;
type Dispatch = Box<dyn FnMut(&mut Kernel<'_>, CpuId, Option<TaskId>) + Send>;
type Fire = Box<dyn FnMut(&mut Kernel<'_>) + Send>;
type Init = Box<dyn FnMut(&mut Kernel<'_>) -> i32 + Send>;

/// A scheduler that does what a test wants, and notes which operations are called.
#[derive(Default)]
pub(crate) struct Probe {
    pub(crate) flags: u64,
    pub(crate) timeout_ms: u32,
    pub(crate) given: Given,
    pub(crate) log: Arc<Mutex<Vec<String>>>,
    pub(crate) enqueue: Option<Act>,
    pub(crate) select: Option<Select>,
    pub(crate) dispatch: Option<Dispatch>,
    pub(crate) running: Option<Act>,
    pub(crate) tick: Option<Act>,
    pub(crate) timer: Option<Fire>,
    pub(crate) init: Option<Init>,
}

impl Probe {
    fn note(&self, kernel: &Kernel<'_>, text: &str) {
        self.log.lock().unwrap().push(format!("{} {text}", kernel.now() / 1_000_000));
    }
}

impl Scheduler for Probe {
    fn name(&self) -> &str {
        "probe"
    }
    fn given(&self) -> Given {
        Given {
            enqueue: self.enqueue.is_some(),
            select_cpu: self.select.is_some(),
            dispatch: self.dispatch.is_some(),
            tick: self.tick.is_some(),
            running: true,
            ..self.given
        }
    }
    fn flags(&self) -> u64 {
        self.flags
    }
    fn timeout_ms(&self) -> u32 {
        self.timeout_ms
    }
    fn init(&mut self, kernel: &mut Kernel<'_>) -> i32 {
        self.init.as_mut().map_or(0, |act| act(kernel))
    }
    fn exit(&mut self, kernel: &mut Kernel<'_>, info: &ExitInfo) {
        self.note(kernel, &format!("exit {} {}", info.kind, info.message));
    }
    fn init_task(&mut self, kernel: &mut Kernel<'_>, task: TaskId, fork: bool, cgroup: u64) -> i32 {
        self.note(kernel, &format!("init_task {task} {fork} {cgroup}"));
        0
    }
    fn enable(&mut self, kernel: &mut Kernel<'_>, task: TaskId) {
        self.note(kernel, &format!("enable {task}"));
    }
    fn disable(&mut self, kernel: &mut Kernel<'_>, task: TaskId) {
        self.note(kernel, &format!("disable {task}"));
    }
    fn exit_task(&mut self, kernel: &mut Kernel<'_>, task: TaskId, _: bool) {
        self.note(kernel, &format!("exit_task {task}"));
    }
    fn select_cpu(&mut self, kernel: &mut Kernel<'_>, task: TaskId, prev: i32, wake_flags: u64) -> i32 {
        self.note(kernel, &format!("select_cpu {task} {prev} {wake_flags:#x}"));
        self.select.as_mut().map_or(prev, |act| act(kernel, task, prev))
    }
    fn runnable(&mut self, kernel: &mut Kernel<'_>, task: TaskId, enq_flags: u64) {
        self.note(kernel, &format!("runnable {task} {enq_flags:#x}"));
    }
    fn enqueue(&mut self, kernel: &mut Kernel<'_>, task: TaskId, enq_flags: u64) {
        self.note(kernel, &format!("enqueue {task} {enq_flags:#x}"));
        if let Some(act) = self.enqueue.as_mut() {
            act(kernel, task);
        }
    }
    fn dequeue(&mut self, kernel: &mut Kernel<'_>, task: TaskId, deq_flags: u64) {
        self.note(kernel, &format!("dequeue {task} {deq_flags:#x}"));
    }
    fn dispatch(&mut self, kernel: &mut Kernel<'_>, cpu: CpuId, prev: Option<TaskId>) {
        self.note(kernel, &format!("dispatch {cpu} {prev:?}"));
        if let Some(act) = self.dispatch.as_mut() {
            act(kernel, cpu, prev);
        }
    }
    fn running(&mut self, kernel: &mut Kernel<'_>, task: TaskId) {
        self.note(kernel, &format!("running {task} {}", kernel.this_cpu()));
        if let Some(act) = self.running.as_mut() {
            act(kernel, task);
        }
    }
    fn tick(&mut self, kernel: &mut Kernel<'_>, task: TaskId) {
        let left = kernel.slice(task);
        self.note(kernel, &format!("tick {task} {left}"));
        if let Some(act) = self.tick.as_mut() {
            act(kernel, task);
        }
    }
    fn stopping(&mut self, kernel: &mut Kernel<'_>, task: TaskId, runnable: bool) {
        let left = kernel.slice(task);
        self.note(kernel, &format!("stopping {task} {runnable} {left}"));
    }
    fn quiescent(&mut self, kernel: &mut Kernel<'_>, task: TaskId, deq_flags: u64) {
        self.note(kernel, &format!("quiescent {task} {deq_flags:#x}"));
    }
    fn set_weight(&mut self, kernel: &mut Kernel<'_>, task: TaskId, weight: u32) {
        self.note(kernel, &format!("set_weight {task} {weight}"));
    }
    fn set_cpumask(&mut self, kernel: &mut Kernel<'_>, task: TaskId) {
        self.note(kernel, &format!("set_cpumask {task} {}", kernel.nr_cpus_allowed(task)));
    }
    fn update_idle(&mut self, kernel: &mut Kernel<'_>, cpu: CpuId, idle: bool) {
        self.note(kernel, &format!("update_idle {cpu} {idle}"));
    }
    fn timer(&mut self, kernel: &mut Kernel<'_>, _: u64) {
        if let Some(act) = self.timer.as_mut() {
            act(kernel);
        }
    }
}

/// All operations that tell a scheduler what happens.
pub(crate) const TOLD: Given = Given {
    select_cpu: false,
    enqueue: false,
    dequeue: true,
    dispatch: false,
    tick: false,
    runnable: true,
    running: true,
    stopping: true,
    quiescent: true,
    yields: false,
    set_weight: true,
    set_cpumask: true,
    update_idle: true,
    init_task: true,
    exit_task: true,
    enable: true,
    disable: true,
    cgroup_init: false,
    cgroup_exit: false,
    cgroup_prep_move: false,
    cgroup_move: false,
    cgroup_cancel_move: false,
    cgroup_set_weight: false,
};

/// Runs a probe; returns what was noted too.
pub(crate) fn probe(
    cpus: u32,
    probe: Probe,
    apps: Vec<Submitted<'_>>,
    horizon: u64,
) -> (RunReport, Vec<String>) {
    let log = Arc::clone(&probe.log);
    let report = run(cpus, probe, apps, horizon);
    let log = log.lock().unwrap().clone();
    (report, log)
}
