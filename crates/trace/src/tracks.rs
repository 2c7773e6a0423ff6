//! The tracks of a trace: processes, threads and their numbers, nodes and rules.

use std::collections::BTreeSet;

use sim_core::ids::{AppId, CpuId, Id, TaskId};
use sim_core::machine::Machine;
use sim_core::program::{AppSpec, Objects};

use crate::slices::Owners;
use crate::sort::{DEVICE, EVENT, LOCK};

/// The number of a thread. A task keeps its number until it ends; who comes under its rank then has another
/// one.
pub(crate) type Tid = u64;

/// Who runs besides tasks: stand-ins for what is not reported task by task.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum StandIn {
    /// Tasks of this application that poll in turns.
    Turns(u32),
    /// Tasks of several applications that poll in turns.
    Mixed,
    /// The kernel, or a daemon, where no task can run.
    System,
}

/// A process.
pub(crate) struct Process {
    pub(crate) pid: Tid,
    pub(crate) name: String,
}

/// A thread.
pub(crate) struct Thread {
    pub(crate) tid: Tid,
    pub(crate) pid: Tid,
    pub(crate) name: String,
}

/// All tracks of a trace.
pub(crate) struct Tracks {
    pub(crate) owners: Owners,
    apps: Vec<String>,
    /// The node of each cpu.
    pub(crate) node: Vec<u32>,
    /// How often each task has been replaced by another one.
    replaced: Vec<u32>,
    /// The most of these.
    most_replaced: u32,
    /// Tasks that meet at barriers.
    meets: Vec<bool>,
    pub(crate) stand_ins: BTreeSet<(StandIn, u32)>,
    pub(crate) rules: Vec<&'static str>,
    /// Names of locks, events and devices of the run.
    shared: [Vec<String>; 3],
    /// Whether the locks of each application are those of the run.
    named: Vec<bool>,
}

impl Tracks {
    pub(crate) fn new(machine: &Machine, apps: &[AppSpec], owners: Owners) -> Self {
        let tasks = owners.tasks() as usize;
        Self {
            apps: apps.iter().map(|app| app.name.clone()).collect(),
            node: (0..machine.cpus()).map(|cpu| machine.node_of(CpuId(cpu)).0).collect(),
            replaced: vec![0; tasks],
            most_replaced: 0,
            meets: vec![false; tasks],
            owners,
            stand_ins: BTreeSet::new(),
            rules: Vec::new(),
            shared: [const { Vec::new() }; 3],
            named: vec![false; apps.len()],
        }
    }

    /// The names of what the programs of the run share.
    pub(crate) fn share(&mut self, apps: &[AppSpec], objects: &Objects) {
        self.named = apps.iter().map(|app| app.named_locks).collect();
        self.shared = [
            objects.locks.iter().map(|lock| lock.name.clone()).collect(),
            objects.events.iter().map(|event| event.name.clone()).collect(),
            objects.devices.iter().map(|device| device.name.clone()).collect(),
        ];
    }

    /// The name of a lock for which a task waits, or of the event or device for which it sleeps, if it has
    /// one.
    pub(crate) fn shared(&self, task: u32, scope: u32, number: u32) -> Option<&str> {
        let [locks, events, devices] = &self.shared;
        let names = match scope {
            LOCK if self.named.get(self.owners.app(TaskId(task)).index()) == Some(&true) => locks,
            EVENT => events,
            DEVICE => devices,
            _ => return None,
        };
        names.get(number as usize).map(String::as_str)
    }

    /// The task is replaced by another one of the same rank.
    pub(crate) fn another(&mut self, task: u32) {
        if let Some(count) = self.replaced.get_mut(task as usize) {
            *count += 1;
            self.most_replaced = self.most_replaced.max(*count);
        }
    }

    /// The task comes to a barrier.
    pub(crate) fn meets(&mut self, task: u32) {
        if let Some(meets) = self.meets.get_mut(task as usize) {
            *meets = true;
        }
    }

    /// The name of an application.
    pub(crate) fn app(&self, app: u32) -> &str {
        self.apps.get(app as usize).map_or("?", String::as_str)
    }

    /// The number of a task that came after so many others under its rank.
    pub(crate) fn tid(&self, task: u32, generation: u32) -> Tid {
        1 + u64::from(generation) * u64::from(self.owners.tasks()) + u64::from(task)
    }

    /// `cg.3`
    pub(crate) fn task_name(&self, task: u32) -> String {
        let task = TaskId(task);
        format!("{}.{}", self.app(self.owners.app(task).0), self.owners.rank(task))
    }

    const fn generations(&self) -> u32 {
        self.most_replaced + 1
    }

    /// The number of a stand-in on a cpu, behind those of all tasks.
    pub(crate) fn stand_in(&self, stand_in: StandIn, cpu: u32) -> Tid {
        let row = match stand_in {
            StandIn::Turns(app) => app as usize,
            StandIn::Mixed => self.apps.len(),
            StandIn::System => self.apps.len() + 1,
        };
        self.tid(0, self.generations()) + row as u64 * self.node.len() as u64 + u64::from(cpu)
    }

    /// The first number that may be that of a stand-in.
    pub(crate) fn first_stand_in(&self) -> Tid {
        self.tid(0, self.generations())
    }

    /// Numbers for stand-ins.
    pub(crate) fn stand_in_numbers(&self) -> usize {
        (self.apps.len() + 2) * self.node.len()
    }

    /// The process of an application: its first task, as in Linux.
    fn pid(&self, app: AppId) -> Tid {
        let mut first = (0..self.owners.tasks()).filter(|task| self.owners.app(TaskId(*task)) == app);
        self.tid(first.next().unwrap_or(0), 0)
    }

    /// The number behind all threads: the process of what belongs to no application.
    fn system(&self) -> Tid {
        self.stand_in(StandIn::System, self.node.len() as u32)
    }

    pub(crate) fn processes(&self) -> Vec<Process> {
        let apps = self.apps.iter().enumerate();
        let apps = apps.map(|(at, name)| Process { pid: self.pid(AppId::new(at)), name: name.clone() });
        let system = Process { pid: self.system(), name: "system".into() };
        apps.chain(
            self.stand_ins
                .iter()
                .any(|(stand_in, _)| !matches!(stand_in, StandIn::Turns(_)))
                .then_some(system),
        )
        .collect()
    }

    /// All threads: tasks with those that replaced them, then stand-ins.
    pub(crate) fn threads(&self) -> Vec<Thread> {
        let pids: Vec<Tid> = (0..self.apps.len()).map(|app| self.pid(AppId::new(app))).collect();
        let of = |app: AppId| pids.get(app.index()).copied().unwrap_or(1);
        let mut threads = Vec::new();
        for (task, replaced) in (0..).zip(&self.replaced) {
            for generation in 0..=*replaced {
                let pid = of(self.owners.app(TaskId(task)));
                threads.push(Thread { tid: self.tid(task, generation), pid, name: self.task_name(task) });
            }
        }
        for (stand_in, cpu) in &self.stand_ins {
            let (pid, name) = match stand_in {
                StandIn::Turns(app) => (of(AppId(*app)), format!("{} polling/{cpu}", self.app(*app))),
                StandIn::Mixed => (self.system(), format!("polling/{cpu}")),
                StandIn::System => (self.system(), format!("kernel/{cpu}")),
            };
            threads.push(Thread { tid: self.stand_in(*stand_in, *cpu), pid, name });
        }
        threads
    }

    /// Threads that meet at barriers, with their processes.
    pub(crate) fn meeting(&self) -> Vec<(Tid, Tid)> {
        let meets = |tid: Tid| self.meets.get(((tid - 1) % u64::from(self.owners.tasks().max(1))) as usize);
        let last = self.tid(0, self.generations());
        let threads = self.threads().into_iter().filter(|thread| thread.tid < last);
        threads
            .filter(|thread| meets(thread.tid) == Some(&true))
            .map(|thread| (thread.tid, thread.pid))
            .collect()
    }
}
