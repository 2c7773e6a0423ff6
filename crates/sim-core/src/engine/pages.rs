//! Where the pages of tasks are: who puts them there, and what a task computes on.

use std::collections::BTreeMap;

use crate::contention::{ClassId, Origin};
use crate::engine::numa::{Faults, Group, Pass};
use crate::engine::shared::Shared;
use crate::engine::state::{Cpu, MaybeNode, Task};
use crate::ids::{CpuId, NodeId, TaskId};
use crate::machine::Level;
use crate::policy::{Locality, PageGroup, TaskState};
use crate::program::{Pages, Touch};
use crate::rng::{Purpose, below, key, next};
use crate::run_queue::real_time::is_of_class;
use crate::time::{Span, Time};

impl Shared<'_> {
    /// The current task continues with its compute operation after the pending overhead if its pages are
    /// private and stay where they are; else false.
    #[inline]
    pub(crate) fn begin_at_home(&mut self, record: &mut Cpu) -> bool {
        let task = &self.tasks[record.current];
        let pages = self.segments.memory.pages(task.profile);
        let own = !matches!(pages, Pages::Master | Pages::Team | Pages::NextTouch) && self.scans.is_empty();
        if !own || u32::from(task.profile) + 1 == self.apps[task.app()].profiles {
            return false;
        }
        self.emit_running(record);
        let home = self.own_node(record.id, record.current);
        self.begin_segment(record, Origin::at(home), Span::ZERO);
        true
    }

    /// The current task continues with its compute operation after the pending overhead.
    pub(crate) fn begin_compute(&mut self, record: &mut Cpu) {
        if self.begin_at_home(record) {
            return;
        }
        self.emit_running(record);
        let (cpu, id) = (record.id, record.current);
        let copy = self.follow_pages(cpu, id) + self.scan_pages(cpu, id);
        let from = self.origin(cpu, id);
        self.begin_segment(record, from, copy);
    }

    #[inline]
    fn begin_segment(&mut self, record: &mut Cpu, from: Origin, copy: Span) {
        let before = record.class;
        let task = &mut self.tasks[record.current];
        let bytes = self.segments.begin_compute(record, task, (from, copy), self.now);
        if bytes > 0 {
            self.apps[task.app()].counters.bytes_fetched += bytes;
        }
        if record.class != before && record.class != ClassId::FREE {
            self.sources.grow(record.class.0 as usize + 1);
        }
    }

    /// The node that holds the pages of the current task's operation (of its private ones), and of a transfer
    /// the package that serves it.
    fn origin(&mut self, cpu: CpuId, id: TaskId) -> Origin {
        let own = self.own_node(cpu, id);
        let task = &self.tasks[id];
        let (app, pages) = (task.app(), self.segments.memory.pages(task.profile));
        let transfer = self.apps[app].transfer_source(id, task);
        let from = match transfer {
            Some(rank) => rank,
            None if pages == Pages::Master && self.scans.is_empty() => {
                let record = &self.apps[app];
                record.mates(record.rank(id)).start
            }
            None if pages == Pages::Team => return Origin::at(self.team_pages(id)),
            None => return Origin::at(own),
        };
        let source = &self.tasks[self.apps[app].task(from)];
        let machine = &self.machine;
        let node = source.home.node().unwrap_or_else(|| self.segments.memory.node(source.cpu));
        // Blocks whose pages lie on several nodes are not limited.
        let limited = transfer.is_some() && machine.memory.transfer_bandwidth > 0 && node.0 < machine.nodes();
        Origin {
            node,
            server: if limited { 1 + machine.topology.group(Level::Package, source.cpu) } else { 0 },
        }
    }

    /// The code of pages on the home nodes of the tasks of a process, in proportion to the tasks that have
    /// their home there.
    fn team_pages(&mut self, id: TaskId) -> NodeId {
        let app = &mut self.apps[self.tasks[id].app()];
        let (rank, process) = (app.rank(id), app.process_of(id));
        if let Some(known) = app.team_pages.get(process).and_then(|pages| pages.node()) {
            return known;
        }
        let homes = app.mates(rank).filter_map(|rank| self.tasks[app.task(rank)].home.node());
        let pages = self.segments.memory.home(homes.map(|home| (home, 1)));
        if app.team_pages.len() <= process {
            app.team_pages.resize(process + 1, MaybeNode::NONE);
        }
        app.team_pages[process] = MaybeNode::at(pages);
        pages
    }

    /// Pages under next touch follow a task that computes on another node: the time of the copy.
    fn follow_pages(&mut self, cpu: CpuId, id: TaskId) -> Span {
        let (task, memory) = (&self.tasks[id], &self.segments.memory);
        let here = memory.node(cpu);
        let away = task.home.node().filter(|home| *home != here);
        let follows = memory.pages(task.profile) == Pages::NextTouch;
        let Some(home) = away.filter(|_| follows) else { return Span::ZERO };
        let (bytes, copy) = memory.copy(task, home, cpu);
        let counters = &mut self.apps[task.app()].counters;
        counters.bytes_fetched += bytes;
        counters.page_copies += 1;
        self.set_home(id, MaybeNode::at(here));
        copy
    }

    /// Where the pages are put that a task touches first on this cpu.
    #[inline]
    fn touched_node(&self, cpu: CpuId, id: TaskId) -> NodeId {
        self.tasks[id].history.assigned_node.node().unwrap_or_else(|| self.segments.memory.node(cpu))
    }

    /// The node on which a task has touched its pages as it started, or the code of several nodes; this
    /// cpu's if it has not touched any.
    fn touched_pages(&mut self, cpu: CpuId, id: TaskId) -> NodeId {
        let app = &self.apps[self.tasks[id].app()];
        match app.touched.get(app.rank(id) as usize).filter(|pages| !pages.is_empty()) {
            Some(pages) => self.segments.memory.home(pages.iter().map(|(node, count)| (*node, *count))),
            None => self.touched_node(cpu, id),
        }
    }

    /// A task has touched its next piece; the pages lie where it runs.
    pub(crate) fn touch_piece(&mut self, cpu: CpuId, id: TaskId) {
        let node = self.touched_node(cpu, id);
        let app = &mut self.apps[self.tasks[id].app()];
        let rank = app.rank(id);
        let (left, pages) = app.next_piece(rank);
        if app.touched.len() <= rank as usize {
            app.touched.resize(rank as usize + 1, BTreeMap::new());
        }
        *app.touched[rank as usize].entry(node).or_insert(0) += pages;
        if left == pages {
            self.touch(cpu, id);
        }
    }

    /// The data of a task, as a master those of every task of its process that no task has touched yet, lie
    /// where it ran while it touched them, or where it runs if that took no time.
    pub(crate) fn touch(&mut self, cpu: CpuId, id: TaskId) {
        let (app, node) = (self.tasks[id].app(), self.touched_pages(cpu, id));
        self.settle_home(id, node);
        if self.apps[app].runtime.startup.touch == Touch::Master {
            for rank in self.apps[app].mates(self.apps[app].rank(id)) {
                let other = self.apps[app].task(rank);
                self.settle_home(other, node);
            }
        }
    }

    /// Where a task's pages are: where it touches them first on this cpu, if it has not done so yet.
    #[inline]
    fn own_node(&mut self, cpu: CpuId, id: TaskId) -> NodeId {
        self.tasks[id].home.node().unwrap_or_else(|| {
            let here = if self.scans.is_empty() { None } else { self.master_node(id) };
            let here = here.unwrap_or_else(|| self.touched_node(cpu, id));
            self.set_home(id, MaybeNode::at(here));
            here
        })
    }

    /// Where the first task of its process has touched the pages of the current operation of another task, if
    /// it has done that for all. Under automatic NUMA balancing they leave that place one by one.
    fn master_node(&self, id: TaskId) -> Option<NodeId> {
        let task = &self.tasks[id];
        let app = &self.apps[task.app()];
        let master = app.task(app.mates(app.rank(id)).start);
        if self.segments.memory.pages(task.profile) != Pages::Master || master == id {
            return None;
        }
        let master = &self.tasks[master];
        Some(master.home.node().unwrap_or_else(|| self.segments.memory.node(master.cpu)))
    }

    /// A task's pages are on this node unless they are somewhere already.
    fn settle_home(&mut self, id: TaskId, node: NodeId) {
        if self.tasks[id].home.node().is_none() {
            self.set_home(id, MaybeNode::at(node));
        }
    }

    /// A task's pages are somewhere else from now on.
    pub(crate) fn set_home(&mut self, id: TaskId, home: MaybeNode) {
        self.tasks[id].home = home;
        let app = &mut self.apps[self.tasks[id].app()];
        let process = app.process_of(id);
        if let Some(pages) = app.team_pages.get_mut(process) {
            *pages = MaybeNode::NONE;
        }
    }

    /// Automatic NUMA balancing scans the pages that the task uses; not those of the real-time class
    /// (`task_tick_fair`).
    #[inline]
    fn is_scanned(&self, id: TaskId) -> bool {
        if self.scans.is_empty() {
            return false;
        }
        let (task, page) = (&self.tasks[id], self.model.numa_balancing.map_or(u64::MAX, |rules| rules.page));
        self.segments.memory.is_scanned(task.profile)
            && self.apps[task.app()].scanned >= page
            && !is_of_class(task)
    }

    /// When the pages of the task that computes on a cpu are to be scanned next, if it computes on.
    #[inline]
    pub(crate) fn scan_due(&self, record: &Cpu) -> Time {
        let id = record.current;
        if !self.is_scanned(id) || self.scans[id].waits() {
            return Time::NEVER;
        }
        record.since + self.scans[id].due.saturating_sub(self.tasks[id].cpu_time)
    }

    /// A cpu on which the end of computing is armed is also armed for the next pass over the task's pages.
    pub(crate) fn arm_scan(&mut self, record: &Cpu) {
        let (cpu, due) = (record.id.0 as usize, self.scan_due(record));
        if due < self.sources.get(cpu) {
            self.sources.set(cpu, due);
        }
    }

    /// The next pass over the pages of the current task, if it is due: the time of its hinting faults and of
    /// the copies of the pages that move.
    fn scan_pages(&mut self, cpu: CpuId, id: TaskId) -> Span {
        if !self.is_scanned(id) || self.scans[id].due > self.tasks[id].cpu_time {
            return Span::ZERO;
        }
        let here = self.segments.memory.node(cpu);
        let misplaced = &mut self.misplaced;
        if let Some(rules) = &self.model.numa_balancing
            && self.scans[id].asks(rules, here, || misplaced.push(id))
        {
            return Span::ZERO;
        }
        let home = self.own_node(cpu, id);
        if self.scans[id].is_stale(home) {
            let counts = self.segments.memory.counts(std::iter::once(home));
            self.scans[id].lay_out(home, &counts);
        }
        let Faults { count, moved, .. } = self.mark_pages(cpu, id);
        let (task, memory) = (&self.tasks[id], &self.segments.memory);
        let fault = self.model.numa_balancing.map_or(Span::ZERO, |rules| rules.fault);
        let mut time = Span::from_ns(fault.ns().saturating_mul(count));
        let counters = &mut self.apps[task.app()].counters;
        for piece in &moved {
            let there = CpuId(piece.to.0 * self.machine.topology.span(Level::Node));
            time = time.saturating_add(memory.copy_part(task.profile, (piece.from, piece.bytes), there));
            counters.bytes_fetched += piece.bytes;
        }
        counters.page_copies += u64::from(!moved.is_empty());
        let scan = &mut self.scans[id];
        scan.passes(task.cpu_time.saturating_add(time));
        if !moved.is_empty() {
            let home = self.segments.memory.home(scan.parts());
            scan.settle(home);
            self.set_home(id, MaybeNode::at(home));
        }
        time
    }

    /// A part of the pages of the current task is marked, and all of it is used.
    fn mark_pages(&mut self, cpu: CpuId, id: TaskId) -> Faults {
        let Some(rules) = self.model.numa_balancing else { return Faults::default() };
        let task = &self.tasks[id];
        let (app, memory) = (&self.apps[task.app()], &self.segments.memory);
        let (rank, here) = (app.rank(id), memory.node(cpu));
        let shared = memory.pages(task.profile) == Pages::Team;
        let mates = app.mates(rank);
        let tasks = || mates.clone().map(|rank| &self.tasks[app.task(rank)]);
        let exists = |task: &Task| !matches!(task.state, TaskState::New | TaskState::Exited);
        let group = shared.then(|| Group {
            tasks: memory.counts(tasks().filter(|task| exists(task)).map(|task| memory.node(task.cpu))),
            pages: self.group_pages(id),
        });
        let pass = Pass {
            here,
            spread: memory.spread(task.profile),
            group: group.as_ref(),
            ..Pass::of(&rules, app.scanned, app.process.min(app.tasks))
        };
        let mut drawn =
            key(self.options.seed, Purpose::HintingFault, u64::from(id.0)).wrapping_add(task.cpu_time.ns());
        let touch = || {
            if !shared {
                return (rank, here);
            }
            let other = mates.start + below(mates.len() as u64, next(&mut drawn)) as u32;
            let task = &self.tasks[app.task(other)];
            if other == rank || !exists(task) { (rank, here) } else { (other, memory.node(task.cpu)) }
        };
        self.scans[id].pass(&pass, touch)
    }

    /// How much of the pages of all tasks of a task's process is on each node, 65,536 parts of each.
    fn group_pages(&self, id: TaskId) -> Vec<u64> {
        let app = &self.apps[self.tasks[id].app()];
        let mates = app.mates(app.rank(id));
        let homes = mates.filter_map(|rank| self.tasks[app.task(rank)].home.node());
        self.segments.memory.counts(homes)
    }

    /// A task is moved: its scans may begin anew on another node.
    pub(crate) fn note_move(&mut self, id: TaskId, from: CpuId, to: CpuId) {
        let [from, to] = [from, to].map(|cpu| self.segments.memory.node(cpu));
        let Some(rules) = self.model.numa_balancing.filter(|_| from != to && !self.scans.is_empty()) else {
            return;
        };
        let app = &self.apps[self.tasks[id].app()];
        let pass = Pass::of(&rules, app.scanned, app.process.min(app.tasks));
        self.scans[id].changes_node(&pass, from, to);
    }

    /// What the hinting faults of a task say.
    pub(crate) fn locality(&self, id: TaskId) -> Option<Locality> {
        if self.scans.is_empty() {
            return None;
        }
        let scan = &self.scans[id];
        let group = scan.grouped.then(|| {
            let app = &self.apps[self.tasks[id].app()];
            let mates = app.mates(app.rank(id));
            PageGroup { first: app.task(mates.start), tasks: mates.len() as u32 }
        });
        Some(Locality { preferred: scan.preferred.node()?, group })
    }

    /// The part of the faults of a task or of its group on the pages of a node, in thousandths.
    pub(crate) fn fault_share(&self, id: TaskId, node: NodeId, of_group: bool) -> u64 {
        if self.scans.is_empty() {
            return 0;
        }
        if !of_group {
            return self.scans[id].share(node);
        }
        let pages = self.group_pages(id);
        let there = pages.get(node.0 as usize).copied().unwrap_or(0);
        1_000 * there / pages.iter().sum::<u64>().max(1)
    }
}
