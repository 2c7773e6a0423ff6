//! Polling in closed form for any discipline: the dispatches on one cpu while its current task polls and
//! yields.
//!
//! A dispatch is a switch (unless the task is alone), then cycles of one poll and one yield until the
//! discipline prefers another task. Nothing on the cpu changes before a task observes the end of its wait, or
//! a task that does not poll is picked. Until then dispatches follow from each other, and once they repeat,
//! whole rounds are skipped at once. Pure arithmetic on copies: the engine loads a polling cycle, runs it,
//! and writes it back.

use crate::engine::polling::eevdf::Mark;
use crate::engine::state::{Overhead, Part, ProcessId};
use crate::ids::{AppId, TaskId};
use crate::os::EevdfParams;
use crate::run_queue::cfs::weighted;
use crate::run_queue::multilevel::{Multilevel, Setting, Share};
use crate::run_queue::o1;
use crate::time::{Span, Time};

/// Dispatches that are predicted one by one before an event is armed to continue the prediction.
pub(crate) const DISPATCHES_PREDICTED: usize = 512;

/// How a yield changes the caller's key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum YieldRule {
    /// Virtual runtime is charged, the smallest goes next.
    Fair,
    /// As `Fair`, but first behind the last of the priority.
    Posix,
    /// Behind the last of the priority.
    RoundRobin,
    /// See [`Polling::run_eevdf`].
    Eevdf,
    /// By the rule of a discipline with priorities.
    Multilevel(Multilevel),
}

/// A runnable task of the cpu.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member {
    pub(crate) task: TaskId,
    pub(crate) app: AppId,
    pub(crate) priority: u8,
    pub(crate) weight: u32,
    pub(crate) vruntime: i64,
    pub(crate) vdeadline: i64,
    pub(crate) protection: i64,
    pub(crate) share: Share,
    /// When it will observe the end of its wait or of its spin limit.
    pub(crate) ready: Time,
    /// It polls and yields; any other task ends the closed form when it is picked.
    pub(crate) polls: bool,
    /// Its yields are directed.
    pub(crate) directed: bool,
    /// Switches to it cost as between threads when the previous task has the same number, else as between
    /// processes.
    pub(crate) process: ProcessId,
    /// Cycles it went through in this run of the polling cycle.
    pub(crate) cycles: u64,
    /// Times it was switched out.
    pub(crate) switches: u64,
    /// Cpu time it used.
    pub(crate) used: Span,
    /// When it last ran, if it did.
    pub(crate) last_ran: Option<Time>,
}

/// Prices of a cycle.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Prices {
    pub(crate) poll: Span,
    pub(crate) call: Span,
    pub(crate) thread: Span,
    pub(crate) process: Span,
    /// What of a switch is charged to virtual runtime.
    pub(crate) charged: Span,
}

impl Prices {
    /// What a dispatch of one cycle is charged.
    #[inline]
    fn turn(self) -> Span {
        self.charged + self.cycle()
    }

    #[inline]
    fn cycle(self) -> Span {
        self.poll + self.call
    }
}

/// The runnable tasks of a cpu, their order in its queue, the current one first, and how far its present
/// cycle is.
#[derive(Clone, Debug)]
pub(crate) struct Polling {
    pub(crate) members: Vec<Member>,
    /// Positions in `members`.
    pub(crate) order: Vec<u32>,
    pub(crate) rule: YieldRule,
    /// The minimum follows the waiting members only (CFS of 2.6.27).
    pub(crate) leftmost: bool,
    pub(crate) prices: Prices,
    /// Start of the present cycle, its overhead included.
    pub(crate) since: Time,
    pub(crate) overhead: Overhead,
    /// Up to when the current member's virtual runtime is charged.
    pub(crate) charged: Time,
    pub(crate) minimum: i64,
    /// Time of overheads paid, whole cycles done and switches made in this run of the polling cycle.
    pub(crate) paid: Overhead,
    pub(crate) cycles: u64,
    pub(crate) switches: u64,
    /// Tunables under [`YieldRule::Eevdf`], and where a period may have begun.
    pub(crate) eevdf: Option<EevdfParams>,
    pub(crate) mark: Mark,
}

impl Default for Polling {
    fn default() -> Self {
        Self {
            members: Vec::with_capacity(64),
            order: Vec::with_capacity(64),
            rule: YieldRule::Fair,
            leftmost: false,
            prices: Prices::default(),
            since: Time::ZERO,
            overhead: Overhead::NONE,
            charged: Time::ZERO,
            minimum: 0,
            paid: Overhead::NONE,
            cycles: 0,
            switches: 0,
            eevdf: None,
            mark: Mark::default(),
        }
    }
}

impl Polling {
    /// The member at a position of the queue.
    #[inline]
    pub(crate) fn at(&self, position: usize) -> &Member {
        &self.members[self.order[position] as usize]
    }

    #[inline]
    pub(crate) fn at_mut(&mut self, position: usize) -> &mut Member {
        &mut self.members[self.order[position] as usize]
    }

    /// The members in queue order.
    #[inline]
    pub(crate) fn queue(&self) -> impl DoubleEndedIterator<Item = &Member> + ExactSizeIterator {
        self.order.iter().map(|at| &self.members[*at as usize])
    }

    /// Runs until something other than polling is due and returns that instant: the current member's poll (it
    /// observes the end of its wait) or the end of its cycle (a task that does not poll follows). Cycles that
    /// end before `limit` are done; when nothing happens before `limit`, or nothing ever, it stops there.
    pub(crate) fn run(&mut self, limit: Time) -> Time {
        if let Some(params) = self.eevdf {
            return self.run_eevdf(&params, limit);
        }
        let (mut turns, mut try_skip) = (0, 0);
        loop {
            if turns == try_skip {
                if self.skip(limit) {
                    return Time::NEVER;
                }
                // The first dispatch may differ; after that a round-robin cycle shows after one round at the
                // latest.
                try_skip = if turns == 0 { 1 } else { turns + 2 };
            }
            let check = self.since + self.overhead.total() + self.prices.poll;
            let cycle = self.prices.cycle();
            let wanted = self.turn_length(check + self.prices.call);
            let ready = self.at(0).ready;
            let end = if wanted == u64::MAX {
                Time::NEVER
            } else {
                check + self.prices.call + cycle * (wanted - 1)
            };
            // Its last poll of this dispatch comes one call before the end.
            let sees = !ready.is_never() && ready.saturating_add(self.prices.call) <= end;
            if sees || end >= limit {
                return self.stop(limit, check, wanted);
            }
            let next = self.successor(end, wanted);
            if !self.at(next).polls {
                self.cycle(wanted - 1);
                self.note_pick();
                return self.since + self.overhead.total() + cycle;
            }
            self.cycle(wanted);
            self.hand_over(next, end);
            turns += 1;
            if limit.is_never() && turns > DISPATCHES_PREDICTED {
                // A cycle without a simple period: predict anew at the end of this cycle, or when the poll in
                // it succeeds.
                let check = self.since + self.overhead.total() + self.prices.poll;
                return if self.at(0).ready <= check { check } else { check + self.prices.call };
            }
        }
    }

    /// The current member's dispatch does not end before `limit`, or the member observes the end of its wait
    /// in it: runs up to there.
    pub(crate) fn stop(&mut self, limit: Time, check: Time, wanted: u64) -> Time {
        let cycle = self.prices.cycle();
        let ready = self.at(0).ready;
        // It observes the end of its wait at the first poll that is not before `ready`.
        let unaware = if ready.is_never() { u64::MAX } else { ready.since(check).ns().div_ceil(cycle.ns()) };
        let before_limit = self.cycles_before(limit, check + self.prices.call);
        if before_limit < wanted.min(unaware) {
            self.cycle(before_limit);
            self.note_pick();
            return limit;
        }
        if unaware == u64::MAX {
            return Time::NEVER;
        }
        self.cycle(unaware);
        self.note_pick();
        self.since + self.overhead.total() + self.prices.poll
    }

    /// Whole cycles that end strictly before `limit` when the first ends at `first_end`.
    #[inline]
    fn cycles_before(&self, limit: Time, first_end: Time) -> u64 {
        if limit.is_never() {
            u64::MAX
        } else if first_end >= limit {
            0
        } else {
            1 + (limit - first_end - Span::from_ns(1)).ns() / self.prices.cycle().ns()
        }
    }

    /// Cycles after which the discipline prefers another member: at least one; `u64::MAX` when there is no
    /// rival.
    fn turn_length(&self, first_end: Time) -> u64 {
        let current = self.at(0);
        if self.order.len() < 2 || self.at(1).priority > current.priority {
            return u64::MAX;
        }
        let rival = self.at(1);
        // As long as a directed yield finds no task, it is as good as an undirected one.
        let most = if current.directed { self.cycles_before(self.able(), first_end) } else { u64::MAX };
        if rival.priority < current.priority || most == 0 {
            return 1;
        }
        match self.rule {
            YieldRule::Fair => {}
            YieldRule::Multilevel(multilevel) => {
                return self.turn_on_ladder(&multilevel, first_end).min(most);
            }
            YieldRule::Posix | YieldRule::RoundRobin | YieldRule::Eevdf => return 1,
        }
        let first = weighted(first_end.since(self.charged), current.weight);
        let behind = rival.vruntime - current.vruntime - first;
        if behind <= 0 {
            return 1;
        }
        match weighted(self.prices.cycle(), current.weight) {
            // A cycle too short to count: it never falls behind.
            0 => most,
            each => most.min(1 + (behind as u64).div_ceil(each as u64)),
        }
    }

    /// When the first of the members observes the end of its wait: from then on a directed yield may prefer
    /// it. At once where one does not poll.
    fn able(&self) -> Time {
        let able = |m: &Member| if m.polls { m.ready } else { Time::ZERO };
        self.members.iter().map(able).min().unwrap_or(Time::NEVER)
    }

    /// The current member goes through whole cycles and stays current.
    fn cycle(&mut self, cycles: u64) {
        if cycles == 0 || cycles == u64::MAX {
            return;
        }
        let overhead = std::mem::replace(&mut self.overhead, Overhead::NONE);
        let end = self.since + overhead.total() + self.prices.cycle() * cycles;
        self.paid.add(&overhead);
        self.cycles += cycles;
        let last = if self.is_fair() { None } else { self.last_of_priority() };
        let first_end = self.since + overhead.total() + self.prices.cycle();
        let charge = first_end.since(self.charged);
        let rule = self.rule;
        let each = self.prices.cycle();
        let used = end - self.since;
        if let Some(params) = self.eevdf {
            self.age_alone(&params, charge, each, cycles);
        }
        let (setting, base) = (self.setting(self.charged), self.minimum);
        let current = self.at_mut(0);
        match rule {
            YieldRule::Eevdf => {}
            YieldRule::Multilevel(multilevel) => {
                climb(&multilevel, &setting, current, charge + each * (cycles - 1));
                current.vruntime = multilevel.yielded(base, current.vruntime, cycles as i64);
            }
            YieldRule::Posix | YieldRule::Fair => {
                if let (YieldRule::Posix, Some(last)) = (rule, last) {
                    current.vruntime = current.vruntime.max(last + 1);
                }
                current.vruntime += weighted(charge, current.weight);
                current.vruntime += weighted(each, current.weight) * (cycles as i64 - 1);
            }
            YieldRule::RoundRobin => current.vruntime = last.map_or(0, |last| last + 1),
        }
        current.cycles += cycles;
        current.used += used;
        current.last_ran = Some(end);
        self.since = end;
        self.charged = end;
        if self.is_virtual() {
            self.advance_minimum();
        }
    }

    fn advance_minimum(&mut self) {
        let skipped = usize::from(self.leftmost && self.order.len() > 1);
        let least = self.queue().skip(skipped).take(2 - skipped).map(|m| m.vruntime).min();
        self.minimum = self.minimum.max(least.unwrap_or(self.minimum));
    }

    /// After a pick: under O(1) the arrays may have changed places, in 2.6.27 another member may be leftmost.
    #[inline]
    fn note_pick(&mut self) {
        match self.rule {
            YieldRule::Multilevel(Multilevel::O1(_)) => {
                self.minimum = self.minimum.max(o1::array_of(self.at(0).vruntime));
            }
            YieldRule::Fair | YieldRule::Posix if self.leftmost && self.order.len() > 1 => {
                self.advance_minimum();
            }
            _ => {}
        }
    }

    /// Some yields are directed.
    fn is_directed(&self) -> bool {
        self.members.iter().any(|m| m.directed)
    }

    const fn is_fair(&self) -> bool {
        matches!(self.rule, YieldRule::Fair)
    }

    /// Keys are virtual runtimes.
    const fn is_virtual(&self) -> bool {
        matches!(self.rule, YieldRule::Fair | YieldRule::Posix)
    }

    /// Where the current member runs from an instant on. It yields before starvation in the expired array
    /// matters.
    fn setting(&self, from: Time) -> Setting {
        let contested = self.order.len() > 1 && self.at(1).priority <= self.at(0).priority;
        Setting {
            base: self.minimum,
            running: self.order.len() as u32,
            contested,
            from,
            starving: Time::NEVER,
        }
    }

    /// Cycles until a member that comes before its rival may come behind it: those of its slice.
    fn turn_on_ladder(&self, multilevel: &Multilevel, first_end: Time) -> u64 {
        let (current, rival) = (self.at(0), self.at(1));
        if matches!(multilevel, Multilevel::O1(_)) || current.vruntime >= rival.vruntime {
            return 1;
        }
        let room = multilevel.room(&current.share, current.vruntime, current.weight, self.order.len() as u32);
        let rest = room.saturating_sub(first_end.since(self.charged).ns());
        1 + rest.div_ceil(self.prices.cycle().ns())
    }

    /// Virtual runtime of the last waiting member of the current one's priority.
    fn last_of_priority(&self) -> Option<i64> {
        let priority = self.at(0).priority;
        let last = self.queue().skip(1).rev().find(|m| m.priority <= priority);
        last.filter(|m| m.priority == priority).map(|m| m.vruntime)
    }

    /// Position of the member that follows the current one when it yields at `end`, after `cycles`.
    fn successor(&self, end: Time, cycles: u64) -> usize {
        let current = self.at(0);
        if current.directed {
            let able = |m: &Member| !m.polls || m.ready <= end;
            let found = self
                .queue()
                .skip(1)
                .position(|m| m.app == current.app && m.priority == current.priority && able(m));
            if let Some(at) = found {
                return at + 1;
            }
            // Undirected, the fair rule may prefer the caller itself once more.
            if self.is_fair() {
                let (each, more) = (self.prices.cycle(), cycles - 1);
                let first = weighted(end.saturating_sub(each * more).since(self.charged), current.weight);
                let charge = first + weighted(each, current.weight) * more as i64;
                let rival = self.at(1);
                if rival.priority == current.priority && current.vruntime + charge < rival.vruntime {
                    return 0;
                }
            }
        }
        if let YieldRule::Multilevel(multilevel) = self.rule {
            let mut after = *current;
            climb(&multilevel, &self.setting(self.charged), &mut after, end.since(self.charged));
            let key = multilevel.yielded(self.minimum, after.vruntime, cycles as i64);
            let rival = self.at(1);
            return usize::from((after.priority, key) >= (rival.priority, rival.vruntime));
        }
        1
    }

    /// The current member goes into the queue, the one at `next` takes the cpu at `end`.
    fn hand_over(&mut self, next: usize, end: Time) {
        if next == 0 {
            self.note_pick();
            return;
        }
        self.order[1..=next].rotate_right(1);
        self.at_mut(0).switches += 1;
        self.switches += 1;
        let (old, new) = (self.at(0), self.at(1));
        let cost = self.switch_cost(old, new);
        let key = (old.priority, old.vruntime);
        // Behind the last of the others that does not come after it.
        let mut place = self.order.len() - 1;
        while place > 1 && (self.at(place).priority, self.at(place).vruntime) > key {
            place -= 1;
        }
        self.order[..=place].rotate_left(1);
        self.overhead = Overhead::switch(cost);
        self.since = end;
        self.charged = (end + cost).saturating_sub(self.prices.charged);
        self.note_pick();
    }

    #[inline]
    pub(crate) fn switch_cost(&self, old: &Member, new: &Member) -> Span {
        if old.process == new.process { self.prices.thread } else { self.prices.process }
    }

    /// Skips as many dispatches of a round-robin cycle as pass without event; true when it continues forever
    /// and there is no limit.
    fn skip(&mut self, limit: Time) -> bool {
        // Nothing to skip when the next member is not in the round-robin cycle.
        if self.order.len() < 2 || !self.at(1).polls || self.at(1).ready <= self.since {
            return false;
        }
        let Some(group) = self.rotating_group() else { return false };
        let switch = self.turn_cost(group, 0);
        let ordinary = self.overhead == Overhead::switch(switch)
            && self.charged == (self.since + switch).saturating_sub(self.prices.charged)
            && self.since > Time::ZERO + self.prices.charged;
        if !ordinary {
            return false;
        }
        let cycle = self.prices.cycle();
        let mut round = Span::ZERO;
        let mut quiet = u64::MAX;
        let mut gain = 0i64;
        let mut ready = if self.is_directed() { self.able() } else { Time::NEVER };
        for at in 0..group {
            let member = self.at(at);
            round += self.turn_cost(group, at) + cycle;
            ready = ready.min(member.ready);
            gain += match self.rule {
                YieldRule::Fair | YieldRule::Eevdf => 0,
                YieldRule::Posix => 1 + weighted(self.prices.turn(), member.weight),
                YieldRule::RoundRobin => 1,
                YieldRule::Multilevel(_) => 0,
            };
            if let YieldRule::Multilevel(multilevel) = self.rule {
                gain = if matches!(multilevel, Multilevel::O1(_)) { o1::ARRAY } else { 0 };
                quiet = quiet.min(self.quiet_turns(&multilevel, member));
            }
        }
        // Every skipped cycle ends before the limit, and every skipped poll precedes every visibility time.
        let end = ready.min(limit);
        let mut rounds = match end.since(self.since).ns() {
            _ if end.is_never() => u64::MAX,
            room => room.saturating_sub(1) / round.ns(),
        };
        let mut bounded = quiet <= rounds && quiet < u64::MAX;
        rounds = rounds.min(quiet);
        if self.is_fair() {
            gain = weighted(self.prices.turn(), self.at(0).weight);
            if self.order.len() > group && self.at(group).priority == self.at(0).priority {
                let room = self.at(group).vruntime - self.at(group - 1).vruntime - 1;
                let most = room.max(0) as u64 / gain.max(1) as u64;
                bounded = most <= rounds;
                rounds = rounds.min(most);
            }
        }
        if rounds == u64::MAX {
            return true;
        }
        let mut partial = 0;
        let mut at = self.since + round * rounds;
        while !bounded && partial + 1 < group {
            at += self.turn_cost(group, partial) + cycle;
            if at >= end {
                break;
            }
            partial += 1;
        }
        self.advance(group, rounds, partial, round, gain);
        false
    }

    /// The switch that begins the dispatch of the member at a position of a round-robin group.
    fn turn_cost(&self, group: usize, at: usize) -> Span {
        self.switch_cost(self.at(if at == 0 { group - 1 } else { at - 1 }), self.at(at))
    }

    /// Charges whole rounds of a round-robin group and one more dispatch for its first `partial` members.
    fn advance(&mut self, group: usize, rounds: u64, partial: usize, round: Span, gain: i64) {
        if rounds == 0 && partial == 0 {
            return;
        }
        let cycle = self.prices.cycle();
        let turn = self.prices.turn();
        let setting = self.setting(self.charged);
        let rule = self.rule;
        let begun = self.since;
        let mut offset = Span::ZERO;
        for at in 0..group {
            let cost = self.turn_cost(group, at);
            offset += cost + cycle;
            let extra = u64::from(at < partial);
            let turns = rounds + extra;
            if turns == 0 {
                break;
            }
            let member = self.at_mut(at);
            let key = member.vruntime;
            if let YieldRule::Multilevel(multilevel) = rule {
                climb(&multilevel, &setting, member, turn * turns);
            }
            member.vruntime = key + gain * turns as i64;
            member.cycles += turns;
            member.switches += turns;
            member.used += (cost + cycle) * turns;
            member.last_ran = Some(begun + round * (turns - 1) + offset);
            self.paid.grow(Part::Switch, cost * turns);
            if extra == 1 {
                self.since = begun + round * rounds + offset;
            }
        }
        if partial == 0 {
            self.since = begun + round * rounds;
        }
        let turns = rounds * group as u64 + partial as u64;
        self.cycles += turns;
        self.switches += turns;
        self.order[..group].rotate_left(partial);
        let cost = self.turn_cost(group, 0);
        self.overhead = Overhead::switch(cost);
        self.charged = (self.since + cost).saturating_sub(self.prices.charged);
        if self.is_virtual() && !self.leftmost {
            // As at the last dispatch: its member and the one that followed.
            let least = self.at(0).vruntime.min(self.at(group - 1).vruntime);
            self.minimum = self.minimum.max(least);
        }
        self.note_pick();
    }

    /// Dispatches of one cycle after which a member's key has changed by nothing but its yields.
    fn quiet_turns(&self, multilevel: &Multilevel, member: &Member) -> u64 {
        if multilevel.steady(member.vruntime, member.weight, &member.share) {
            return u64::MAX;
        }
        let room = multilevel.room(&member.share, member.vruntime, member.weight, self.order.len() as u32);
        room.saturating_sub(1) / self.prices.turn().ns()
    }

    /// The number of members at the front that run one after the other, each for one cycle, if they do.
    fn rotating_group(&self) -> Option<usize> {
        let first = self.at(0);
        let fair = self.is_fair();
        let alike =
            |m: &Member| m.priority == first.priority && m.polls && (m.weight == first.weight || !fair);
        let mut group = self.queue().take_while(|m| alike(m)).count();
        if fair {
            let each = weighted(self.prices.turn(), first.weight);
            let near = |m: &Member| (0..=each).contains(&(m.vruntime - first.vruntime));
            group = self.queue().take(group).take_while(|m| near(m)).count();
        } else if let YieldRule::Multilevel(Multilevel::Ule(_) | Multilevel::Ts(_)) = self.rule {
            group = self.queue().take(group).take_while(|m| m.vruntime == first.vruntime).count();
            let equal = |m: &Member| m.priority == first.priority && m.vruntime == first.vruntime;
            if self.queue().nth(group).is_some_and(equal) {
                return None;
            }
        } else if self.order.len() > group && self.at(group).priority == first.priority {
            return None;
        }
        // A directed yield leaves the round-robin cycle for a task that does not poll.
        if group < 2 || (self.is_directed() && self.members.iter().any(|m| !m.polls)) {
            return None;
        }
        (fair || self.evenly_spaced(group)).then_some(group)
    }

    /// True when each member's key is one dispatch behind the next one's, as it is once all have run.
    fn evenly_spaced(&self, group: usize) -> bool {
        let turn = self.prices.turn();
        (1..group).all(|at| {
            let step = match self.rule {
                YieldRule::Multilevel(_) => return self.in_step(group),
                YieldRule::RoundRobin => 1,
                YieldRule::Posix | YieldRule::Fair | YieldRule::Eevdf => {
                    1 + weighted(turn, self.at(at).weight)
                }
            };
            self.at(at).vruntime - self.at(at - 1).vruntime == step
        })
    }

    /// True when each member of a group comes behind all others when it yields.
    fn in_step(&self, group: usize) -> bool {
        let (first, last) = (self.at(0).vruntime, self.at(group - 1).vruntime);
        match self.rule {
            YieldRule::Multilevel(Multilevel::O1(_)) => {
                let sorted = (1..group).all(|at| self.at(at - 1).vruntime <= self.at(at).vruntime);
                sorted && first + o1::ARRAY >= last && o1::array_of(first) == self.minimum
            }
            _ => true,
        }
    }
}

/// A member runs for a span and yields.
fn climb(multilevel: &Multilevel, setting: &Setting, member: &mut Member, span: Span) {
    multilevel.run(setting, member.weight, &mut member.vruntime, &mut member.share, span);
    member.share.expired = false;
    member.share.front = false;
}
