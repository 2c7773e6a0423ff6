//! `PIN`: every task is bound to one cpu for the whole run, evenly or in an even layout drawn from the seed.
//!
//! Idea: remove migration altogether. Source: the `taskset`/`numactl` practice measured as PIN by Iancu, Hofmeyr,
//! Blagojevic, Zheng, "Oversubscription on Multicore Processors" (IPDPS 2010).

use notation::parameter::{Kind, Parameter, Values};
use sim_core::ids::{AppId, CpuId, TaskId};
use sim_core::machine::Level as Tree;
use sim_core::policy::{Affinity, Placement, Policy, System, View};
use sim_core::rng::Purpose;

use crate::registry::{Entry, Level, Setting, Showcase};
use crate::spread::{Draws, allowed_cpus};

/// Its place on the shelf.
pub(crate) const ENTRY: Entry = Entry {
    name: "PIN",
    summary: "each task bound to one cpu, evenly round-robin or in a random even layout",
    source: "Iancu, Hofmeyr, Blagojevic, Zheng: Oversubscription on Multicore Processors, IPDPS 2010",
    level: Level::User,
    parameters: PARAMETERS,
    about: "Binds rank r of every application to the (r modulo m)-th of the m cpus it may use, starting again at the \
first cpu for each application, before the rank first runs; nothing moves afterwards. The first hardware threads of all \
cores come before the second ones, so that as many tasks as cores get a core each. With `layout: random` the same even \
layout is shuffled by the seed: the cpus in random order, the ranks dealt to them in random order.\n\n\
Good when the number of tasks is a multiple of the number of cpus and the machine is yours; an uneven remainder, or a \
stranger on one cpu, slows the whole of a barrier program for the whole run. Background applications are left to the \
kernel unless `background` says otherwise.",
    sees: "The machine and the mask an application is started with; nothing of what happens later.",
    costs: "One `sched_setaffinity` per task before it first runs, not charged: it happens in the launcher.",
    wins: Showcase { scenario: "", label: "PIN", against: "", app: "all", point: "", about: "" },
    loses: Showcase { scenario: "", label: "PIN", against: "", app: "all", point: "", about: "" },
    build,
    example: "17 threads on 16 cpus: ranks 0 and 16 share cpu 0, the others have a cpu each. With a barrier after each \
millisecond of work cpu 0 needs 2 ms and all wait for it: the program runs at half speed, where 16/17 would be \
its share. Two programs of eight threads each both begin at cpu 0: cpus 0 to 7 have two threads each and 8 to 15 \
none. `offset: 8` does not help, as it moves both.",
};

const PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "layout",
        kind: Kind::Choice(&["even", "random"]),
        default: 0,
        min: 0,
        max: 1,
        about: "Round-robin in cpu order, or an even layout drawn from the seed (one per application).",
    },
    Parameter {
        name: "offset",
        kind: Kind::Count,
        default: 0,
        min: 0,
        max: 1 << 22,
        about: "Position among the allowed cpus at which rank 0 starts.",
    },
    Parameter {
        name: "background",
        kind: Kind::Flag,
        default: 0,
        min: 0,
        max: 1,
        about: "Also bind the tasks of background applications.",
    },
];

fn build(values: &Values, _: &Setting<'_>) -> Box<dyn Policy> {
    Box::new(Pin {
        random: values.choice("layout") == "random",
        offset: values.get("offset"),
        background: values.flag("background"),
    })
}

struct Pin {
    random: bool,
    offset: u64,
    background: bool,
}

impl Pin {
    fn layout(&self, view: &dyn View, app: AppId, tasks: usize, mut cpus: Vec<CpuId>) -> Vec<CpuId> {
        let mut draws = Draws::new(view.seed(), Purpose::Layout, u64::from(app.0));
        if self.random {
            draws.shuffle(&mut cpus);
        }
        // A stable sort: without hardware threads it changes nothing.
        let threads = view.machine().topology.span(Tree::Core);
        cpus.sort_by_key(|cpu| cpu.0 % threads);
        let start = (self.offset % cpus.len().max(1) as u64) as usize;
        let mut layout: Vec<CpuId> = cpus.iter().cycle().skip(start).take(tasks).copied().collect();
        if self.random {
            draws.shuffle(&mut layout);
        }
        layout
    }
}

impl Policy for Pin {
    fn app_started(&mut self, system: &mut dyn System, app: AppId) {
        let view = system.app(app);
        if view.background && !self.background {
            return;
        }
        let cpus = allowed_cpus(system, TaskId(view.tasks.start));
        let layout = self.layout(system, app, view.tasks.len(), cpus);
        for (task, cpu) in view.task_ids().zip(layout) {
            system.set_affinity(task, Affinity::One(cpu));
        }
    }

    fn select_cpu(&mut self, view: &dyn View, task: TaskId, _: Placement) -> CpuId {
        view.task(task).cpu
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::FakeSystem;
    use sim_core::machine::CpuSet;
    use std::sync::Arc;

    fn pinned(tasks: u32, random: bool, offset: u64) -> Vec<Option<u32>> {
        let mut system = FakeSystem::new(&[(Tree::Core, 4)]);
        let app = system.add_app(tasks, false);
        Pin { random, offset, background: false }.app_started(&mut system, app);
        system.homes(app)
    }

    #[test]
    fn even_layout_goes_round_and_starts_at_the_offset() {
        assert_eq!(pinned(6, false, 0), [0, 1, 2, 3, 0, 1].map(Some));
        assert_eq!(pinned(3, false, 7), [3, 0, 1].map(Some));
    }

    #[test]
    fn every_core_gets_a_task_before_its_second_thread_does() {
        let threaded = |tasks, random| {
            let mut system = FakeSystem::new(&[(Tree::Core, 4), (Tree::Thread, 2)]);
            let app = system.add_app(tasks, false);
            Pin { random, offset: 0, background: false }.app_started(&mut system, app);
            system.homes(app)
        };
        assert_eq!(threaded(6, false), [0, 2, 4, 6, 1, 3].map(Some));
        let mut cores: Vec<u32> = threaded(4, true).into_iter().flatten().map(|cpu| cpu / 2).collect();
        cores.sort_unstable();
        assert_eq!(cores, [0, 1, 2, 3]);
    }

    #[test]
    fn random_layout_is_even_and_another_order() {
        let layout = pinned(9, true, 0);
        let on = |cpu| layout.iter().filter(|home| **home == Some(cpu)).count();
        let mut counts: Vec<usize> = (0..4).map(on).collect();
        counts.sort_unstable();
        assert_eq!(counts, [2, 2, 2, 3]);
        assert_ne!(layout, pinned(9, false, 0));
        assert_eq!(layout, pinned(9, true, 0));
    }

    #[test]
    fn inherited_affinity_and_background_are_respected() {
        let mut system = FakeSystem::new(&[(Tree::Core, 4)]);
        let app = system.add_app(3, false);
        let hog = system.add_app(1, true);
        let odd = Arc::new(CpuSet::of([CpuId(1), CpuId(3)]));
        for task in &mut system.tasks[..3] {
            task.affinity = Affinity::Set(odd.clone());
        }
        let mut pin = Pin { random: false, offset: 0, background: false };
        pin.app_started(&mut system, app);
        pin.app_started(&mut system, hog);
        assert_eq!(system.homes(app), [1, 3, 1].map(Some));
        assert_eq!(system.homes(hog), [None]);
    }
}
