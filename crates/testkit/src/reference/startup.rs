//! Applications and tasks that come up on the reference engine: arrival, admission, creation, touch, start-up
//! barrier.

use sim_core::admission::StartOrder;
use sim_core::ids::{AppId, CpuId, TaskId};
use sim_core::observe::Observation;
use sim_core::outcome::Options;
use sim_core::policy::{Affinity, Enqueue, Placement, Policy, System, TaskState, Why};
use sim_core::program::{AppSpec, Forks, Pages, Touch, release_order};
use sim_core::rng::{Purpose, draw, key};
use sim_core::time::Span;
use sim_core::wait::Scope;

use super::queue::Entry;
use super::state::{OnReturn, Overhead};
use super::{Reference, Timer};

/// From time zero, or the end of the application it follows, to the arrival of an application.
pub(super) fn delay(spec: &AppSpec, app: usize, options: &Options) -> u64 {
    let uniform = u128::from(draw(key(options.seed, Purpose::StartPhase, app as u64), 0));
    let jitter = u128::from(options.start_jitter.ns()) * uniform / (1 << 32);
    spec.start.ns().saturating_add(jitter as u64)
}

impl Reference<'_> {
    /// An application arrives; only foreground ones may have to wait.
    pub(super) fn arrives(&mut self, app: usize, policy: &mut dyn Policy) {
        self.apps[app].arrived = self.now;
        if self.apps[app].spec.background {
            self.start_app(app, policy);
            return;
        }
        self.queue.push(app);
        self.admit(policy);
    }

    /// Starts the first of the queue as long as it fits beside the foreground applications that run. While it
    /// does not, backfilling starts the first of the others that leaves the time as it is at which it will.
    pub(super) fn admit(&mut self, policy: &mut dyn Policy) {
        while !self.queue.is_empty() {
            let running: Vec<usize> = (0..self.apps.len()).filter(|app| self.is_inside(*app)).collect();
            let backfills = self.options.admission.order == StartOrder::Easy;
            let places = if backfills { self.queue.len() } else { 1 };
            let head = self.queue[0];
            let may = |place: &usize| {
                let app = self.queue[*place];
                let mut beside = running.clone();
                beside.push(app);
                self.fit(&beside)
                    && (*place == 0 || self.fits_from(head, &beside) <= self.fits_from(head, &running))
            };
            let Some(place) = (0..places).find(may) else { break };
            let app = self.queue.remove(place);
            self.start_app(app, policy);
        }
    }

    fn is_inside(&self, app: usize) -> bool {
        let app = &self.apps[app];
        app.started && app.end.is_none() && !app.spec.background
    }

    /// Whether these applications may run at the same time.
    fn fit(&self, apps: &[usize]) -> bool {
        let tasks: u64 = apps.iter().map(|app| u64::from(self.apps[*app].spec.tasks)).sum();
        let limit = self.options.admission;
        apps.len() <= limit.jobs as usize && tasks <= limit.tasks
    }

    /// From when on an application fits, if these end by their estimates: those that have not ended by then
    /// now.
    fn fits_from(&self, head: usize, inside: &[usize]) -> u64 {
        let end = |app: usize| {
            let begun = if self.apps[app].started { self.apps[app].begun } else { self.now };
            begun.saturating_add(self.apps[app].spec.estimate.map_or(0, Span::ns)).max(self.now)
        };
        let mut instants: Vec<u64> = inside.iter().map(|app| end(*app)).collect();
        instants.sort_unstable();
        let fits = |at: &u64| {
            let mut later: Vec<usize> = inside.iter().copied().filter(|app| end(*app) > *at).collect();
            later.push(head);
            self.fit(&later)
        };
        instants.into_iter().find(fits).unwrap_or(u64::MAX)
    }

    fn start_app(&mut self, app: usize, policy: &mut dyn Policy) {
        self.apps[app].started = true;
        self.apps[app].begun = self.now;
        for (change, (after, _)) in self.apps[app].spec.rebinds.clone().into_iter().enumerate() {
            self.arm(self.now.saturating_add(after.ns()), Timer::Bind(app, change));
        }
        self.start_yields(app);
        self.observe(Observation::AppStarted(AppId(app as u32)));
        policy.app_started(self, AppId(app as u32));
        self.tell(policy);
        match self.apps[app].spec.runtime.startup.forks {
            Forks::Master => self.fork(self.apps[app].shell, app, 0, policy),
            Forks::Launcher => self.launch(app, policy),
            Forks::Together | Forks::Woken(_) => self.wake_all(app, policy),
        }
    }

    /// All tasks that live may run elsewhere from now on.
    pub(super) fn rebind(&mut self, app: usize, change: usize, policy: &mut dyn Policy) {
        let cpus = std::sync::Arc::new(self.apps[app].spec.rebinds[change].1.clone());
        self.bind(app, &cpus, policy);
    }

    /// Those that have not ended may run here only.
    pub(super) fn bind(
        &mut self,
        app: usize,
        cpus: &std::sync::Arc<sim_core::machine::CpuSet>,
        policy: &mut dyn Policy,
    ) {
        for rank in 0..self.apps[app].spec.tasks {
            let t = self.task(app, rank);
            self.tasks[t].event.cpus_before = None;
            if self.tasks[t].state != TaskState::Exited {
                self.bind_one(t, cpus);
                self.tell(policy);
            }
        }
    }

    /// A task may run here only.
    pub(super) fn bind_one(&mut self, t: usize, cpus: &std::sync::Arc<sim_core::machine::CpuSet>) {
        self.set_affinity(TaskId(t as u32), Affinity::Set(cpus.clone()), Why::NONE);
    }

    /// All tasks, which sleep, wake up at once.
    fn wake_all(&mut self, app: usize, policy: &mut dyn Policy) {
        let ranks = self.apps[app].spec.tasks;
        let cpus = self.machine.cpus();
        for (rank, slept) in release_order(self.options.seed, AppId(app as u32), ranks) {
            let t = self.task(app, rank);
            let own: Vec<u32> = (0..cpus).filter(|cpu| self.tasks[t].affinity.allows(CpuId(*cpu))).collect();
            let parent = CpuId(own[slept as usize % own.len()]);
            let placement = match self.apps[app].spec.runtime.startup.forks {
                Forks::Woken(cpu) => Placement::Wake { waker: cpu, previous: cpu },
                _ => Placement::Fork { parent },
            };
            let c = self.placed(t, placement, policy);
            self.apps[app].forked += 1;
            self.charge(c);
            if self.has_priorities() {
                self.place(c, t, Entry::Fork);
            }
            self.ask(t, c, Enqueue::Created, policy);
            self.enqueue(t, c, Entry::Wake, None);
        }
        self.complete_apps.push(app);
    }

    /// The last task of an application has ended.
    pub(super) fn ends(&mut self, app: usize, policy: &mut dyn Policy) {
        self.apps[app].end = Some(self.now);
        self.observe(Observation::AppExited(AppId(app as u32)));
        self.tell(policy);
        policy.app_exited(self, AppId(app as u32));
        for other in 0..self.apps.len() {
            if self.apps[other].spec.after == Some(AppId(app as u32)) {
                let delay = delay(&self.apps[other].spec, other, &self.options);
                let at = self.now.saturating_add(delay);
                self.arm(at, Timer::Start(other));
            }
        }
        if !self.apps[app].spec.background && !self.queue.is_empty() {
            self.arm(self.now, Timer::Admit);
        }
    }

    fn fork_cost(&self, app: usize, rank: u32) -> u64 {
        let key = key(self.options.seed, Purpose::Fork, app as u64);
        let costs = &self.machine.costs;
        costs.fork_spread.apply(costs.fork.ns(), draw(key, u64::from(rank)))
    }

    /// Whether a launcher creates the first rank of each team, and this one the rest of the team.
    fn by_team(&self, app: usize) -> bool {
        let spec = &self.apps[app].spec;
        spec.team > 1 && spec.runtime.startup.forks == Forks::Launcher
    }

    /// The rank that creates another one; none for those that a shell or a launcher creates.
    fn creator(&self, app: usize, rank: u32) -> Option<u32> {
        match self.apps[app].spec.runtime.startup.forks {
            Forks::Master if rank > 0 => Some(0),
            Forks::Launcher if self.by_team(app) => {
                let first = rank - rank % self.team(app);
                (first != rank).then_some(first)
            }
            _ => None,
        }
    }

    /// The launcher on cpu 0 is busy with the next rank, or creates all it can for nothing.
    fn launch(&mut self, app: usize, policy: &mut dyn Policy) {
        while let Some(rank) = self.next_launched(app) {
            let cost = self.fork_cost(app, rank);
            if cost > 0 {
                System::charge(self, CpuId(self.apps[app].shell as u32), Span::from_ns(cost), false);
                self.arm(self.now + cost, Timer::Create(app));
                return;
            }
            self.apps[app].launched += 1;
            self.fork(self.apps[app].shell, app, rank, policy);
        }
    }

    fn next_launched(&self, app: usize) -> Option<u32> {
        let mut ranks = (0..self.apps[app].spec.tasks).filter(|rank| self.creator(app, *rank).is_none());
        let launched = self.apps[app].launched as usize;
        ranks.nth(launched)
    }

    pub(super) fn create(&mut self, app: usize, policy: &mut dyn Policy) {
        if let Some(rank) = self.next_launched(app) {
            self.apps[app].launched += 1;
            self.fork(self.apps[app].shell, app, rank, policy);
            self.tell(policy);
        }
        self.launch(app, policy);
    }

    /// What a task does before its program; true while that takes time.
    pub(super) fn starts_up(
        &mut self,
        c: usize,
        t: usize,
        overhead: Overhead,
        policy: &mut dyn Policy,
    ) -> bool {
        let (app, rank) = (self.tasks[t].app, self.tasks[t].rank);
        self.apps[app].first_run.get_or_insert(self.now);
        let startup = self.apps[app].spec.runtime.startup;
        if startup.touch == Touch::Master && self.process_mates(t)[0] == t && self.touches(c, t, overhead) {
            return true;
        }
        let by_team = self.by_team(app);
        let first = by_team && rank.is_multiple_of(self.team(app));
        if first && !self.tasks[t].led && startup.barrier && self.apps[app].spec.runtime.processes {
            self.arrive(c, t, Scope::Leaders, overhead);
            return true;
        }
        for next in 0..self.apps[app].spec.tasks {
            let new = self.tasks[self.task(app, next)].state == TaskState::New;
            if !new || self.creator(app, next) != Some(rank) {
                continue;
            }
            let cost = self.fork_cost(app, next);
            if cost > 0 {
                self.call(c, cost, OnReturn::Fork(next), overhead);
                return true;
            }
            self.fork(c, app, next, policy);
        }
        if startup.touch == Touch::Each && self.touches(c, t, overhead) {
            return true;
        }
        let barrier = self.runtime(app, usize::from(by_team)).startup.barrier;
        if barrier {
            self.arrive(c, t, if by_team { Scope::Team } else { Scope::All }, overhead);
        } else {
            self.tasks[t].up = true;
        }
        barrier
    }

    /// Begins to write the next part of its data, or of those of its process; false when there is nothing
    /// left to write.
    fn touches(&mut self, c: usize, t: usize, overhead: Overhead) -> bool {
        if self.tasks[t].home.is_some() {
            return false;
        }
        let pages = self.part(t);
        let costs = &self.machine.costs;
        let bandwidth = u128::from(self.machine.memory.core_bandwidth.max(1));
        let clear = (u128::from(pages) * 4_096 * 1_000_000_000 / bandwidth).min(864_000_000_000_000) as u64;
        let mut ns = costs.page_fault.ns() * pages + clear;
        let lock = costs.fault_lock.ns() * pages;
        let (app, rank) = (self.tasks[t].app, self.tasks[t].rank);
        let threads = self.apps[app].spec.process();
        if lock > 0 && threads > 1 {
            let until = self.apps[app].locked.entry(rank / threads).or_insert(0);
            *until = self.now.max(*until) + lock;
            ns = ns.max(*until - self.now);
        }
        if ns == 0 {
            self.touch(c, t);
            return false;
        }
        self.call(c, ns, OnReturn::Touch, overhead);
        true
    }

    /// All pages that a task touches, or touches for everybody in its process.
    fn pages_to_touch(&self, t: usize) -> u64 {
        let spec = &self.apps[self.tasks[t].app].spec;
        let mut bytes = 0u128;
        for profile in spec.program.profiles() {
            if [Pages::FirstTouch, Pages::NextTouch, Pages::Team].contains(&profile.pages) {
                bytes = bytes.max(u128::from(profile.working_set));
            }
        }
        if spec.runtime.startup.touch == Touch::Master {
            bytes *= self.process_mates(t).len() as u128;
        }
        bytes.div_ceil(4_096) as u64
    }

    /// The pages that it touches next: 2 MiB of them or a 1,024th, if that is more.
    fn part(&self, t: usize) -> u64 {
        let all = self.pages_to_touch(t);
        (all - self.tasks[t].touched.iter().sum::<u64>()).min(all.div_ceil(1_024).max(512))
    }

    /// It has touched them; after the last ones its pages have a home.
    pub(super) fn touch_part(&mut self, c: usize, t: usize) {
        let (part, here) = (self.part(t), self.tasks[t].allotted.unwrap_or(self.node(c)));
        let nodes = self.machine.nodes() as usize;
        self.tasks[t].touched.resize(nodes, 0);
        self.tasks[t].touched[here as usize] += part;
        if self.tasks[t].touched.iter().sum::<u64>() == self.pages_to_touch(t) {
            self.touch(c, t);
        }
    }

    pub(super) fn touch(&mut self, c: usize, t: usize) {
        let (app, here) = (self.tasks[t].app, self.tasks[t].allotted.unwrap_or(self.node(c)));
        let mates = self.process_mates(t);
        let everybody = self.apps[app].spec.runtime.startup.touch == Touch::Master;
        let touched = self.tasks[t].touched.clone();
        let on: Vec<u32> =
            (0..).zip(&touched).filter(|(_, pages)| **pages > 0).map(|(node, _)| node).collect();
        let here = on.first().copied().unwrap_or(here);
        let mixed = (on.len() > 1).then(|| super::memory::shares(&touched));
        for other in 0..self.tasks.len() {
            let mine = other == t || (everybody && mates.contains(&other));
            if mine && self.tasks[other].home.is_none() {
                self.tasks[other].home = Some(here);
                self.tasks[other].mixed = mixed.clone();
            }
        }
    }

    pub(super) fn fork(&mut self, parent: usize, app: usize, rank: u32, policy: &mut dyn Policy) {
        let t = self.task(app, rank);
        let why = Placement::Fork { parent: CpuId(parent as u32) };
        let c = self.placed(t, why, policy);
        self.apps[app].forked += 1;
        if let Some(creator) = self.creator(app, rank) {
            self.tasks[t].parent = Some(self.task(app, creator));
            if self.has_priorities() {
                // Parent and child share a slice or a history: it has to be up to date.
                self.charge(parent);
            }
        }
        self.ask(t, c, Enqueue::Created, policy);
        self.enqueue(t, c, Entry::Fork, Some(parent));
        if self.apps[app].forked == self.apps[app].spec.tasks {
            self.complete_apps.push(app);
        }
    }
}
