//! One cpu schedules for all others.

use std::collections::VecDeque;

use sim_core::ids::{CpuId, TaskId};
use sim_core::machine::PerCpu;

use crate::ext::abi::{DSQ_LOCAL_ON, KICK_IDLE, KICK_PREEMPT, OPS_ENQ_LAST, SLICE_DFL, SLICE_INF};
use crate::ext::{Given, Kernel, Scheduler};

/// The queue of tasks that may not run on the cpu for which they were picked; each cpu looks there first.
const FALLBACK: u64 = 0;
/// How often the central cpu looks for tasks whose time is over, ns.
const INTERVAL: u64 = 1_000_000;
/// The timer of that.
const TIMER: u64 = 0;
/// The central cpu.
const CENTRAL: CpuId = CpuId(0);

/// The first cpu schedules. All tasks wait in one queue of the scheduler's own. A cpu that needs one says
/// so and interrupts the central cpu, which gives tasks to all that wait. Tasks run without an end of
/// their slice; a timer of the central cpu takes the cpu from those that have run for 20 ms while others
/// wait.
#[derive(Clone, Debug, Default)]
pub struct Central {
    queue: VecDeque<TaskId>,
    /// Cpus that need a task.
    wanting: PerCpu<bool>,
    /// When the task of each cpu has begun to run.
    began: PerCpu<Option<u64>>,
    /// Timers so far.
    timers: u64,
    /// Tasks that the central cpu and others have dispatched.
    dispatched: (u64, u64),
}

impl Central {
    /// Gives a cpu the first task that may run there; false without one.
    fn dispatch_to(&mut self, kernel: &mut Kernel<'_>, cpu: CpuId) -> bool {
        while let Some(task) = self.queue.pop_front() {
            let (central, others) = &mut self.dispatched;
            *if kernel.this_cpu() == CENTRAL { central } else { others } += 1;
            if kernel.cpus_allowed(task).contains(cpu) {
                kernel.dsq_insert(task, DSQ_LOCAL_ON | u64::from(cpu.0), SLICE_INF, 0);
                if cpu != CENTRAL {
                    kernel.kick_cpu(cpu.0 as i32, KICK_IDLE);
                }
                return true;
            }
            kernel.dsq_insert(task, FALLBACK, SLICE_INF, 0);
            if kernel.dispatch_nr_slots() == 0 {
                break;
            }
        }
        false
    }

    fn dispatch_to_all(&mut self, kernel: &mut Kernel<'_>) {
        for cpu in self.wanting.ids() {
            if kernel.dispatch_nr_slots() > 0 && self.wanting[cpu] && self.dispatch_to(kernel, cpu) {
                self.wanting[cpu] = false;
            }
        }
        if kernel.dispatch_nr_slots() == 0 {
            // Some may still need one.
            kernel.kick_cpu(CENTRAL.0 as i32, KICK_PREEMPT);
        } else if !kernel.dsq_move_to_local(FALLBACK) {
            self.dispatch_to(kernel, CENTRAL);
        }
    }
}

impl Scheduler for Central {
    fn name(&self) -> &str {
        "central"
    }

    fn flags(&self) -> u64 {
        OPS_ENQ_LAST
    }

    fn given(&self) -> Given {
        Given {
            select_cpu: true,
            enqueue: true,
            dispatch: true,
            running: true,
            stopping: true,
            ..Given::default()
        }
    }

    fn init(&mut self, kernel: &mut Kernel<'_>) -> i32 {
        let cpus = kernel.nr_cpu_ids() as usize;
        self.wanting = PerCpu::filled(cpus, false);
        self.began = PerCpu::filled(cpus, None);
        kernel.timer_start(TIMER, INTERVAL);
        kernel.create_dsq(FALLBACK, -1)
    }

    /// Wake-ups disturb the central cpu only.
    fn select_cpu(&mut self, _: &mut Kernel<'_>, _: TaskId, _: i32, _: u64) -> i32 {
        CENTRAL.0 as i32
    }

    fn enqueue(&mut self, kernel: &mut Kernel<'_>, task: TaskId, _: u64) {
        self.queue.push_back(task);
        if !kernel.task_running(task) {
            kernel.kick_cpu(CENTRAL.0 as i32, KICK_PREEMPT);
        }
    }

    fn dispatch(&mut self, kernel: &mut Kernel<'_>, cpu: CpuId, _: Option<TaskId>) {
        if cpu == CENTRAL {
            self.dispatch_to_all(kernel);
        } else if !kernel.dsq_move_to_local(FALLBACK) {
            self.wanting[cpu] = true;
            kernel.kick_cpu(CENTRAL.0 as i32, KICK_PREEMPT);
        }
    }

    fn running(&mut self, kernel: &mut Kernel<'_>, _: TaskId) {
        self.began[kernel.this_cpu()] = Some(kernel.now());
    }

    fn stopping(&mut self, kernel: &mut Kernel<'_>, _: TaskId, _: bool) {
        self.began[kernel.this_cpu()] = None;
    }

    fn timer(&mut self, kernel: &mut Kernel<'_>, _: u64) {
        let (now, cpus) = (kernel.now(), u64::from(kernel.nr_cpu_ids()));
        let mut waiting = self.queue.len();
        for at in 0..cpus {
            let cpu = CpuId(((self.timers + at) % cpus) as u32);
            if cpu == CENTRAL || self.began[cpu].is_some_and(|began| now < began + SLICE_DFL) {
                continue;
            }
            let queues = [FALLBACK, DSQ_LOCAL_ON | u64::from(cpu.0)];
            if queues.iter().all(|queue| kernel.dsq_nr_queued(*queue) == 0) {
                if waiting == 0 {
                    continue;
                }
                waiting -= 1;
            }
            kernel.kick_cpu(cpu.0 as i32, KICK_PREEMPT);
        }
        self.timers += 1;
        kernel.timer_start(TIMER, INTERVAL);
    }

    fn counters(&self) -> Vec<(String, u64)> {
        let (central, others) = self.dispatched;
        vec![("dispatched_by_central".into(), central), ("dispatched_by_others".into(), others)]
    }
}
