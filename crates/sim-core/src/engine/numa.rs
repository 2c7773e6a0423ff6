//! Automatic NUMA balancing: what a pass over a task's pages marks, where its hinting faults move them, and
//! when the next pass is.

use crate::contention::ONE;
use crate::engine::state::MaybeNode;
use crate::ids::NodeId;
use crate::os::NumaBalancing;
use crate::time::Span;

/// Pieces in which the pages of a task move. Each is the same part of them; with few pieces, tasks have few
/// different shares of nodes.
pub(crate) const PIECES: usize = 16;

/// Early in the life of a process, up to this number of complete scans, pages move at their first fault
/// (`should_numa_migrate_memory`).
const EARLY: u32 = 4;

/// The share of private faults, or of local ones, in tenths, above which scans become rarer
/// (`NUMA_PERIOD_THRESHOLD`).
const THRESHOLD: u64 = 7;

/// A node is active that has at least this part of the faults of the most active one, and one with as many
/// times the faults of another one takes its pages (`ACTIVE_NODE_FRACTION`).
const ACTIVE: u64 = 3;

/// A part of the pages of a task.
#[derive(Clone, Copy, Debug)]
struct Piece {
    node: NodeId,
    /// The rank that had the last hinting fault there, and the node where (`page_cpupid_xchg_last`).
    last: Option<(u32, NodeId)>,
}

/// Whether a task that is not on the node that it prefers has asked for a place there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Asked {
    No,
    /// The policy is still to be notified; the pass waits for it.
    Pending,
    /// The policy has done what it could: the pass comes next.
    Answered,
}

/// Hinting faults since the last complete scan, 65,536 for each piece (`numa_faults_locality`).
#[derive(Clone, Copy, Default, Debug)]
struct Tally {
    local: u64,
    remote: u64,
    private: u64,
    shared: u64,
}

/// Tasks that share pages: how many run on each node, and how much of their pages lies there.
pub(crate) struct Group {
    pub(crate) tasks: Vec<u64>,
    pub(crate) pages: Vec<u64>,
}

impl Group {
    /// A shared page moves (the end of `should_numa_migrate_memory`).
    fn moves(&self, from: NodeId, to: NodeId) -> bool {
        let of = |counts: &[u64], node: NodeId| counts[node.0 as usize];
        let (tasks_there, tasks_here) = (of(&self.tasks, from), of(&self.tasks, to));
        tasks_here > ACTIVE * tasks_there
            || 3 * tasks_here * of(&self.pages, from) > 4 * tasks_there * of(&self.pages, to)
    }

    /// `numa_is_active_node`.
    fn is_active(&self, node: NodeId) -> bool {
        let most = self.tasks.iter().max().copied().unwrap_or(0);
        ACTIVE * self.tasks[node.0 as usize] > most
    }
}

/// What a pass finds.
pub(crate) struct Pass<'a> {
    pub(crate) rules: &'a NumaBalancing,
    /// Bytes of the task's pages.
    pub(crate) bytes: u64,
    /// Tasks of its process.
    pub(crate) threads: u32,
    /// Where it runs.
    pub(crate) here: NodeId,
    /// Share of the faults on data of all tasks, which are spread over all nodes, 1/65,536.
    pub(crate) spread: u64,
    /// Where other tasks use its pages, too.
    pub(crate) group: Option<&'a Group>,
}

impl<'a> Pass<'a> {
    /// One over so many bytes of each of so many tasks, on node 0, of pages that nobody shares.
    pub(crate) const fn of(rules: &'a NumaBalancing, bytes: u64, threads: u32) -> Self {
        Self { rules, bytes, threads, here: NodeId(0), spread: 0, group: None }
    }

    /// Bytes of the task that one pass marks: its process has the window together.
    fn window(&self) -> u64 {
        (self.rules.window / u64::from(self.threads.max(1))).max(self.rules.page)
    }

    /// Windows in its process.
    fn windows(&self) -> u64 {
        let process = u128::from(self.bytes) * u128::from(self.threads);
        process.div_ceil(u128::from(self.rules.window)).clamp(1, u128::from(u64::MAX)) as u64
    }

    /// A group scans the more rarely the more members it has and the larger the share of its faults that are
    /// shared.
    fn of_group(&self, period: Span, faults: Tally) -> Span {
        let all = u128::from(faults.private + faults.shared);
        let scaled =
            u128::from(period.ns()) * u128::from(self.threads) * u128::from(faults.shared) / all.max(1);
        period.max(Span::from_ns(scaled.min(1 << 60) as u64))
    }

    /// Least and most cpu time between two passes (`task_scan_min`, `task_scan_max`).
    fn periods(&self, faults: Tally) -> (Span, Span) {
        let part = |whole: Span| Span::from_ns(whole.ns() / self.windows());
        let least = self.rules.floor.max(part(self.rules.fastest));
        let most = self.of_group(part(self.rules.slowest), faults);
        (least, most.max(least))
    }

    /// Cpu time between the first passes, and between those after a move (`task_scan_start`; before 4.14
    /// `task_scan_min`).
    fn start(&self, faults: Tally) -> Span {
        let least = self.periods(Tally::default()).0;
        if self.rules.private_slows { self.of_group(least, faults) } else { least }
    }

    /// Where a piece ends, bytes.
    fn end(&self, piece: usize) -> u64 {
        (u128::from(self.bytes) * (piece as u128 + 1) / PIECES as u128) as u64
    }
}

/// A piece that moves to another node.
pub(crate) struct Moved {
    pub(crate) from: NodeId,
    pub(crate) to: NodeId,
    pub(crate) bytes: u64,
}

/// What a pass has led to.
#[derive(Default)]
pub(crate) struct Faults {
    /// Hinting faults.
    pub(crate) count: u64,
    pub(crate) moved: Vec<Moved>,
    /// The scan is complete: each page has been marked once more.
    pub(crate) complete: bool,
}

/// The scan of the pages of a task.
#[derive(Clone, Debug)]
pub(crate) struct Scan {
    /// Cpu time of the task at the next pass.
    pub(crate) due: Span,
    /// Cpu time between two passes (`numa_scan_period`).
    pub(crate) period: Span,
    /// Where the task's pages are, as the pieces have it.
    home: MaybeNode,
    pieces: [Piece; PIECES],
    /// Bytes that this scan has marked so far.
    marked: u64,
    /// Complete scans (`numa_scan_seq`).
    complete: u32,
    tally: Tally,
    /// Those of the last complete scan.
    last_tally: Tally,
    /// Cpu time of the task after the last pass.
    passed: Span,
    asked: Asked,
    /// The task shares its pages with its application, as of the last pass.
    pub(crate) grouped: bool,
    /// Faults by node: those since the last complete scan, and half of what there was before
    /// (`numa_faults`).
    faults: Vec<(u64, u64)>,
    /// The same of faults on data that are spread over all nodes.
    spread: (u64, u64),
    /// The node with most of them (`numa_preferred_nid`).
    pub(crate) preferred: MaybeNode,
}

impl Scan {
    /// That of a process that has used so much cpu time when it begins.
    pub(crate) fn new(rules: &NumaBalancing, used: Span) -> Self {
        Self {
            due: used.saturating_add(rules.delay),
            period: Span::ZERO,
            home: MaybeNode::NONE,
            pieces: [Piece { node: NodeId(0), last: None }; PIECES],
            marked: 0,
            complete: 0,
            tally: Tally::default(),
            last_tally: Tally::default(),
            passed: used,
            asked: Asked::No,
            grouped: false,
            faults: Vec::new(),
            spread: (0, 0),
            preferred: MaybeNode::NONE,
        }
    }

    /// True when the pieces are not known to lie as this home says.
    pub(crate) fn is_stale(&self, home: NodeId) -> bool {
        self.home.node() != Some(home)
    }

    /// The pieces lie on the nodes one after another, in proportion to counts by node.
    pub(crate) fn lay_out(&mut self, home: NodeId, counts: &[u64]) {
        self.home = MaybeNode::at(home);
        self.faults.resize(counts.len(), (0, 0));
        let all: u128 = counts.iter().map(|count| u128::from(*count)).sum();
        for (at, piece) in self.pieces.iter_mut().enumerate() {
            // The middle of the piece.
            let middle = all * (2 * at as u128 + 1);
            let mut before = 0;
            let node = counts.iter().position(|count| {
                before += u128::from(*count) * 2 * PIECES as u128;
                middle < before
            });
            *piece = Piece { node: NodeId(node.unwrap_or(0) as u32), last: None };
        }
    }

    /// The pieces by node.
    pub(crate) fn parts(&self) -> impl Iterator<Item = (NodeId, u64)> + '_ {
        self.pieces.iter().map(|piece| (piece.node, 1))
    }

    /// The pieces are where this home says.
    pub(crate) const fn settle(&mut self, home: NodeId) {
        self.home = MaybeNode::at(home);
    }

    /// The task is not on the node that it prefers, and the pass that is due waits for the policy, which is
    /// to be notified (`notify`, once).
    pub(crate) fn asks(&mut self, rules: &NumaBalancing, here: NodeId, mut notify: impl FnMut()) -> bool {
        let misplaced = rules.moves_tasks && self.preferred.node().is_some_and(|node| node != here);
        match self.asked {
            Asked::Pending => return true,
            Asked::No if misplaced => {
                self.asked = Asked::Pending;
                notify();
                return true;
            }
            Asked::No | Asked::Answered => self.asked = Asked::No,
        }
        false
    }

    /// The pass that is due waits for the policy.
    pub(crate) fn waits(&self) -> bool {
        self.asked == Asked::Pending
    }

    /// The policy has been notified; a task of a group prefers the node where it is now.
    pub(crate) fn answer(&mut self, here: NodeId) {
        self.asked = Asked::Answered;
        if self.grouped {
            self.preferred = MaybeNode::at(here);
        }
    }

    /// The part of its faults on pages of a node, in thousandths (`task_weight`).
    pub(crate) fn share(&self, node: NodeId) -> u64 {
        let all = self.spread.1 + self.faults.iter().map(|(_, old)| old).sum::<u64>();
        let there = self.faults.get(node.0 as usize).map_or(0, |(_, old)| *old);
        1_000 * there / all.max(1)
    }

    /// The task leaves a node: scans begin anew, unless it goes where it prefers to be or comes from where it
    /// did not (`update_scan_period`).
    pub(crate) fn changes_node(&mut self, pass: &Pass<'_>, from: NodeId, to: NodeId) {
        let preferred = self.preferred.node();
        let expected = preferred == Some(to) || preferred.is_some_and(|node| node != from);
        if self.period == Span::ZERO || (self.complete > 0 && expected) {
            return;
        }
        self.period = pass.start(self.last_tally);
        self.due = self.passed.saturating_add(self.period);
    }

    /// A pass has taken so long that the task has used this cpu time at its end: the next one is due a period
    /// later.
    pub(crate) fn passes(&mut self, used: Span) {
        self.passed = used;
        self.due = used.saturating_add(self.period);
    }

    /// The next part of the pages is marked, and each page of it has a hinting fault. `touch`: who has that
    /// of a piece, and on which node.
    pub(crate) fn pass(&mut self, pass: &Pass<'_>, mut touch: impl FnMut() -> (u32, NodeId)) -> Faults {
        if self.period == Span::ZERO {
            self.period = pass.start(Tally::default());
        }
        self.grouped = pass.group.is_some();
        let from = self.marked.min(pass.bytes);
        let until = from.saturating_add(pass.window()).min(pass.bytes);
        let mut faults = Faults { count: (until - from).div_ceil(pass.rules.page), ..Faults::default() };
        for at in 0..PIECES {
            let end = pass.end(at);
            if from < end && end <= until {
                let bytes = end - at.checked_sub(1).map_or(0, |before| pass.end(before));
                let source = self.pieces[at].node;
                if let Some(to) = self.fault(at, pass, touch()) {
                    faults.moved.push(Moved { from: source, to, bytes });
                }
            }
        }
        self.marked = until;
        faults.complete = until == pass.bytes;
        if faults.complete {
            self.end(pass);
        }
        faults
    }

    /// The hinting faults of a piece (`task_numa_fault`); the node that its pages move to, if they do.
    fn fault(&mut self, at: usize, pass: &Pass<'_>, (rank, to): (u32, NodeId)) -> Option<NodeId> {
        let Piece { node: from, last } = self.pieces[at];
        let private = last.is_none_or(|(other, _)| other == rank);
        let own = ONE - pass.spread.min(ONE);
        let active = |group: &Group| group.is_active(from) && group.is_active(to);
        let local = from == to || (!private && pass.group.is_some_and(active));
        let moves = from != to && self.moves(pass, (last, private), (from, to));
        let piece = &mut self.pieces[at];
        piece.last = Some((rank, to));
        if moves {
            piece.node = to;
        }
        // Data spread over all nodes are shared among active ones.
        let tally = &mut self.tally;
        *(if private { &mut tally.private } else { &mut tally.shared }) += own;
        *(if local { &mut tally.local } else { &mut tally.remote }) += own;
        tally.shared += ONE - own;
        tally.local += ONE - own;
        self.faults[piece.node.0 as usize].0 += own;
        self.spread.0 += ONE - own;
        moves.then_some(to)
    }

    /// `should_numa_migrate_memory`.
    fn moves(
        &self,
        pass: &Pass<'_>,
        (last, private): (Option<(u32, NodeId)>, bool),
        (from, to): (NodeId, NodeId),
    ) -> bool {
        if pass.rules.early && private && (self.complete <= EARLY || self.preferred.node().is_none()) {
            return true;
        }
        if last.is_some_and(|(_, node)| node != to) {
            return false;
        }
        private || pass.group.is_none_or(|group| group.moves(from, to))
    }

    /// Each page has been marked once more (`task_numa_placement`).
    fn end(&mut self, pass: &Pass<'_>) {
        self.marked = 0;
        self.complete = self.complete.saturating_add(1);
        for (new, old) in self.faults.iter_mut().chain([&mut self.spread]) {
            *old = *old / 2 + std::mem::take(new);
        }
        let found = |node: usize| pass.group.map_or(self.faults[node].1, |group| group.pages[node]);
        let here = pass.here.0 as usize;
        let mut best = (found(here), here);
        for node in 0..self.faults.len() {
            if found(node) > best.0 {
                best = (found(node), node);
            }
        }
        if best.0 > 0 {
            self.preferred = MaybeNode::at(NodeId(best.1 as u32));
        }
        self.last_tally = std::mem::take(&mut self.tally);
        self.adapt(self.last_tally, pass.periods(self.last_tally), pass.rules.private_slows);
    }

    /// `update_task_scan_period`.
    fn adapt(&mut self, faults: Tally, (least, most): (Span, Span), private_slows: bool) {
        if faults.local + faults.shared == 0 {
            self.period = most.min(self.period * 2);
            return;
        }
        let slot = self.period.ns().div_ceil(10);
        let local = 10 * faults.local / (faults.local + faults.remote).max(1);
        let all = faults.private + faults.shared;
        let private = 10 * faults.private / all.max(1);
        let longer = [private, local].into_iter().skip(usize::from(!private_slows));
        let period = match longer.into_iter().find(|share| *share >= THRESHOLD) {
            Some(share) => self.period.ns() + (share - THRESHOLD).max(1) * slot,
            None if private_slows => self.period.ns().saturating_sub((THRESHOLD - private.max(local)) * slot),
            // The less, the more of the faults are shared.
            None => {
                let part = (10 * faults.private).div_ceil(all + 1);
                self.period.ns().saturating_sub((THRESHOLD - local) * slot * part / 10)
            }
        };
        self.period = Span::from_ns(period).clamp(least, most);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: NumaBalancing = NumaBalancing::linux(false);
    const GIB: u64 = 1 << 30;

    fn pass(bytes: u64, here: u32) -> Pass<'static> {
        Pass { rules: &RULES, bytes, threads: 1, here: NodeId(here), spread: 0, group: None }
    }

    /// A scan of pages that lie on node 0 of two.
    fn scan() -> Scan {
        let mut scan = Scan::new(&RULES, Span::ZERO);
        scan.lay_out(NodeId(0), &[1, 0]);
        scan
    }

    /// All passes of a scan by a task on a node: how many there were, and the bytes that moved.
    fn complete(scan: &mut Scan, bytes: u64, here: u32) -> (u32, u64) {
        let (mut passes, mut moved) = (0, 0);
        loop {
            let faults = scan.pass(&pass(bytes, here), || (0, NodeId(here)));
            passes += 1;
            moved += faults.moved.iter().map(|piece| piece.bytes).sum::<u64>();
            if faults.complete {
                return (passes, moved);
            }
        }
    }

    #[test]
    fn a_process_of_two_and_a_half_gigabytes_is_scanned_in_ten_passes() {
        let mut scan = scan();
        let bytes = 10 * RULES.window;
        let faults = scan.pass(&pass(bytes, 0), || (0, NodeId(0)));
        // 256 MB are 65,536 pages of 4 KiB; the period is 1 s / 10.
        assert_eq!((faults.count, scan.period, faults.complete), (65_536, Span::from_ms(100), false));
        assert_eq!(complete(&mut scan, bytes, 0), (9, 0));
        // Three bytes more are another window.
        let longest = Span::from_ns(60_000_000_000 / 11);
        assert_eq!(pass(bytes + 3, 0).periods(Tally::default()), (RULES.floor, longest));
        assert_eq!(pass(1, 0).periods(Tally::default()), (RULES.fastest, RULES.slowest));
    }

    #[test]
    fn early_pages_move_at_their_first_fault_and_later_at_the_second() {
        let (mut scan, bytes) = (scan(), GIB);
        // Four passes of 256 MB; all of it moves.
        assert_eq!(complete(&mut scan, bytes, 1), (4, bytes));
        for _ in 0..4 {
            assert_eq!(complete(&mut scan, bytes, 1), (4, 0));
        }
        // Five complete scans: from now on the first fault on another node only notes it.
        assert_eq!(complete(&mut scan, bytes, 0), (4, 0));
        assert_eq!(complete(&mut scan, bytes, 0), (4, bytes));
    }

    #[test]
    fn the_node_with_most_faults_is_preferred_and_the_period_grows_by_tenths() {
        let (mut scan, bytes) = (scan(), RULES.window);
        complete(&mut scan, bytes, 0);
        // All faults were private: (10 - 7) tenths longer.
        assert_eq!((scan.preferred.node(), scan.period), (Some(NodeId(0)), Span::from_ms(1_300)));
        for _ in 0..20 {
            complete(&mut scan, bytes, 0);
        }
        assert_eq!(scan.period, RULES.slowest);
        // No fault is local or shared: twice as long, at most the longest.
        scan.period = Span::from_ms(2_000);
        complete(&mut scan, bytes, 1);
        assert_eq!((scan.preferred.node(), scan.period), (Some(NodeId(0)), Span::from_ms(4_000)));
    }

    #[test]
    fn shared_faults_on_remote_pages_make_scans_more_frequent() {
        let mut scan = scan();
        scan.period = Span::from_ms(2_000);
        let faults = Tally { local: 20, remote: 80, private: 50, shared: 50 };
        // 7 - max(5, 2) = 2 tenths shorter.
        scan.adapt(faults, (Span::from_ms(100), RULES.slowest), true);
        assert_eq!(scan.period, Span::from_ms(1_600));
        scan.adapt(Tally { local: 80, remote: 20, ..faults }, (Span::from_ms(100), RULES.slowest), true);
        assert_eq!(scan.period, Span::from_ms(1_760));
        // To 4.13: (7 - 2) tenths of 1.76 s, of which the rounded share of private faults, 5 tenths, counts.
        scan.adapt(faults, (Span::from_ms(100), RULES.slowest), false);
        assert_eq!(scan.period, Span::from_ms(1_760 - 440));
        // Private faults alone slow nothing there.
        let own = Tally { local: 20, remote: 80, private: 100, shared: 0 };
        scan.adapt(own, (Span::from_ms(100), RULES.slowest), false);
        assert_eq!(scan.period, Span::from_ms(1_320 - 660));
        // A group of 8 with as many shared faults as private ones: 60 s x 8 / 2.
        let group = Pass { threads: 8, ..pass(1_000, 0) };
        assert_eq!(group.periods(faults).1, Span::from_ms(240_000));
    }

    #[test]
    fn shared_pages_spread_over_the_nodes_whose_tasks_use_them() {
        let even = Group { tasks: vec![4, 4], pages: vec![16, 0] };
        assert!(even.moves(NodeId(0), NodeId(1)) && even.is_active(NodeId(1)));
        // 3 x 4 x 9 = 108 is less than 4 x 4 x 7 = 112.
        let nearly = Group { tasks: vec![4, 4], pages: vec![9, 7] };
        assert!(!nearly.moves(NodeId(0), NodeId(1)));
        let alone = Group { tasks: vec![1, 7], pages: vec![1, 15] };
        assert!(alone.moves(NodeId(0), NodeId(1)) && !alone.is_active(NodeId(0)));
    }

    #[test]
    fn pieces_lie_in_proportion() {
        let mut scan = scan();
        scan.lay_out(NodeId(3), &[3 * ONE / 4, ONE / 4]);
        let here = scan.parts().filter(|(node, _)| *node == NodeId(0)).count();
        assert_eq!((here, scan.is_stale(NodeId(3)), scan.is_stale(NodeId(0))), (12, false, true));
    }
}
