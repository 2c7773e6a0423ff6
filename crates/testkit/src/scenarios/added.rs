//! What is added to random scenarios: locks, commands from outside, real-time tasks.

use std::sync::Arc;

use rand::RngExt;
use rand::rngs::ChaCha8Rng;
use sim_core::admission::{Admission, StartOrder};
use sim_core::command::{Act, Command};
use sim_core::ids::{AppId, CpuId, LockId, ProfileId};
use sim_core::lock::{LockOrder, LockRules, LockWait, LockWord, Protocol};
use sim_core::machine::CpuSet;
use sim_core::os::{DeadlineRules, Discipline, OsModel, RealTimeRules, ServerRules, ServerStop};
use sim_core::program::{AppSpec, MemoryProfile, Op, Program, Reservation, Scheduling, Spread};
use sim_core::reservations;
use sim_core::rng::{Purpose, stream};
use sim_core::time::{Span, Time, Work};

use super::{Small, profile, spread};

/// Gives the tasks of a scenario a program of critical sections of two locks, of any kind.
#[must_use]
pub fn with_locks(mut small: Small, seed: u64) -> Small {
    let mut rng = stream(seed, Purpose::Test, 12);
    let step = [1, 1, 1_000, 4_000][rng.random_range(0..4)];
    for app in &mut small.apps {
        let profiles = vec![profile(&mut rng), profile(&mut rng)];
        let mut ops = vec![Op::Repeat([5, 20, 60][rng.random_range(0..3)])];
        let compute = |rng: &mut ChaCha8Rng, longest: u64| {
            let work = Work::from_span(Span::from_ns(rng.random_range(1..=longest) / step * step + 1));
            let profile = ProfileId(rng.random_range(0..2));
            let spread = if step == 1 { spread(rng) } else { Spread::NONE };
            Op::Compute { work, spread, profile }
        };
        for lock in 0..rng.random_range(1..=2) {
            ops.push(compute(&mut rng, 60_000));
            ops.push(Op::Lock(LockId(lock)));
            let longest = [500, 8_000, 40_000][rng.random_range(0..3)];
            ops.push(compute(&mut rng, longest));
            match rng.random_range(0..12) {
                0 => ops.push(Op::Yield),
                1 => ops.push(Op::Sleep { span: Span::from_ns(5_000), spread: Spread::NONE }),
                _ => {}
            }
            ops.push(Op::Unlock(LockId(lock)));
        }
        match rng.random_range(0..6) {
            0 => ops.push(Op::Barrier),
            1 => ops.push(Op::Yield),
            _ => {}
        }
        ops.push(Op::End);
        app.program = Arc::new(Program::new(ops, profiles).expect("the programs are legal"));
        app.lock = lock(&mut rng);
    }
    small
}

/// The same scenario with four to eight more jobs that arrive early on, and a queue in which short ones
/// overtake. Estimates are anything from far too short to far too long.
#[must_use]
pub fn with_backfilling(mut small: Small, seed: u64) -> Small {
    let mut rng = stream(seed, Purpose::Test, 71);
    let (rng, horizon) = (&mut rng, small.options.horizon.ns());
    let first = small.apps.len();
    for number in 0..rng.random_range(4..=8) {
        let work = Work::from_span(Span::from_ns(rng.random_range(1..horizon / 8)));
        let ops = vec![Op::Compute { work, spread: Spread::NONE, profile: ProfileId(0) }];
        let program = Program::new(ops, vec![MemoryProfile::NONE]).expect("one operation is a program");
        let runtime = small.apps[0].runtime.clone();
        let name = format!("job{number}");
        let mut job = AppSpec::new(name, rng.random_range(1..=4), Arc::new(program), runtime);
        job.start = Time::from_ns(rng.random_range(0..horizon / 4));
        small.apps.push(job);
    }
    for (number, app) in small.apps.iter_mut().enumerate() {
        let most = if number < first { horizon } else { horizon / 4 };
        app.estimate = Some(Span::from_ns(rng.random_range(1..most)));
    }
    let most = small.apps.iter().map(|app| u64::from(app.tasks)).max().unwrap_or(1);
    small.options.admission = Admission {
        jobs: if rng.random_range(0..3) == 0 { rng.random_range(1..=4) } else { u32::MAX },
        tasks: rng.random_range(most..=2 * most),
        order: StartOrder::Easy,
    };
    small
}

/// The same scenario with commands from outside: some applications are started, or created by another one,
/// and all are stopped, continued, bound and weighed, now and then several at one instant.
#[must_use]
pub fn with_commands(mut small: Small, seed: u64) -> Small {
    let mut rng = stream(seed, Purpose::Test, 24);
    let (rng, cpus) = (&mut rng, small.machine.cpus());
    let weighs = matches!(small.model.discipline, Discipline::Cfs(_) | Discipline::Eevdf(_));
    let groups = small.model.groups.len() as u16;
    let moves = matches!(small.model.discipline, Discipline::Eevdf(_));
    let moves = moves && small.model.groups.iter().all(|group| group.limit.is_none());
    let weighs = weighs && (moves || groups == 0);
    let limited = small.model.groups.iter().any(|group| group.limit.is_some());
    if let Discipline::Eevdf(params) = &mut Arc::make_mut(&mut small.model).discipline {
        params.request_scales = rng.random_range(0..3) > 0;
    }
    // Elsewhere the reference engine charges such a task at other instants, which are rounded.
    let ticks = matches!(&small.model.discipline, Discipline::Eevdf(params) if !params.hrtick);
    let grain = [1, 50_000, 1_000_000][rng.random_range(0..3)];
    let horizon = small.options.horizon.ns();
    for number in 0..small.apps.len() {
        let app = &mut small.apps[number];
        app.kernel_mode = ticks && rng.random_range(0..5) == 0 && !limited;
        let mut add = |rng: &mut ChaCha8Rng, at: u64, act: Act| {
            let at = Time::from_ns(at / grain * grain);
            app.commands.push(Command { at, order: rng.random_range(0..3), act });
        };
        if app.after.is_none() && rng.random_range(0..2) == 0 {
            let at = rng.random_range(0..horizon / 4);
            let parent = AppId(rng.random_range(0..=number as u32));
            add(rng, at, if parent.0 as usize == number { Act::Start } else { Act::Fork(parent) });
        }
        for _ in 0..rng.random_range(1..=12) {
            let at = rng.random_range(0..horizon);
            let act = match rng.random_range(0..11) {
                8 if moves && groups > 0 => Act::Group(Some(rng.random_range(0..groups))),
                9 if moves && groups > 0 => Act::Group(None),
                10 if moves && groups > 0 => {
                    Act::Shares(rng.random_range(0..groups), [2, 300, 1024, 9_000][rng.random_range(0..4)])
                }
                8 => Act::Pause,
                0..=2 => Act::Stop,
                3 | 4 => Act::Continue,
                5 => Act::Bind(CpuSet::of([CpuId(rng.random_range(0..cpus)), CpuId(0)])),
                _ if weighs => Act::Weight([15, 335, 1024, 3121][rng.random_range(0..4)]),
                _ => Act::Stop,
            };
            add(rng, at, act);
        }
        // Whoever was stopped last goes on.
        add(rng, horizon / 8 * 7, Act::Continue);
    }
    small
}

/// Makes some tasks of a scenario real-time tasks, under rules with short periods; none under a kernel that
/// has no such class.
#[must_use]
pub fn with_real_time(mut small: Small, seed: u64) -> Small {
    let mut rng = stream(seed, Purpose::Test, 31);
    let discipline = &small.model.discipline;
    let grouped_cfs = matches!(discipline, Discipline::Cfs(_)) && !small.model.groups.is_empty();
    if grouped_cfs || matches!(discipline, Discipline::Ule(_) | Discipline::Ts(_)) {
        return small;
    }
    let us = |rng: &mut ChaCha8Rng, from, to| Span::from_us(rng.random_range(from..to));
    // Not compared: a fair server beside groups without cpu time.
    let limited = small.model.groups.iter().any(|group| group.limit.is_some());
    let serves = matches!(discipline, Discipline::Eevdf(_)) && rng.random_range(0..2) == 0;
    let mut rules = RealTimeRules {
        quantum: us(&mut rng, 20, 400),
        runtime: [Span::MAX, us(&mut rng, 200, 1_500)][rng.random_range(0..2)],
        period: us(&mut rng, 1_000, 2_500),
        period_starts: rng.random_range(0..2) == 0,
        pinned_first: rng.random_range(0..4) > 0,
        server: ServerRules {
            runtime: if serves { us(&mut rng, 30, 300) } else { Span::ZERO },
            period: us(&mut rng, 400, 1_500),
            stops: [ServerStop::Dequeue, ServerStop::Yield, ServerStop::Pick][rng.random_range(0..3)],
            defers_anew: rng.random_range(0..2) == 0,
            counts_idle: rng.random_range(0..2) == 0,
        },
        deadline: None,
    };
    if limited {
        rules.server.runtime = Span::ZERO;
    }
    small.model = Arc::new(OsModel { real_time: Some(rules), ..(*small.model).clone() });
    let one = |rng: &mut ChaCha8Rng| {
        let priority = [1, 2, 50, 99][rng.random_range(0..4)];
        let round = rng.random_range(0..2) == 0;
        if round { Scheduling::RoundRobin(priority) } else { Scheduling::Fifo(priority) }
    };
    for app in &mut small.apps {
        if app.scheduling != Scheduling::Other {
            continue;
        }
        match rng.random_range(0..4) {
            0 => app.scheduling = one(&mut rng),
            1 => {
                let each = (0..app.tasks).map(|_| match rng.random_range(0..3) {
                    0 => Scheduling::Other,
                    _ => one(&mut rng),
                });
                app.rank_scheduling = each.collect();
            }
            _ => {}
        }
    }
    small
}

/// Gives some tasks of a scenario with a real-time class reservations (SCHED_DEADLINE), mostly more than
/// Linux would admit; none under a kernel that has no such class.
#[must_use]
pub fn with_deadlines(mut small: Small, seed: u64) -> Small {
    let mut rng = stream(seed, Purpose::Test, 32);
    let limits = small.model.groups.iter().any(|group| group.limit.is_some());
    let Some(mut rules) = small.model.real_time.filter(|_| !limits) else { return small };
    let timer = matches!(small.model.discipline, Discipline::Eevdf(_)) && rng.random_range(0..3) == 0;
    let limit = (rng.random_range(0..4) == 0).then_some(Span::from_ms(950));
    let deadline = DeadlineRules { limit, period: Span::from_ms(1_000), timer };
    let one = |rng: &mut ChaCha8Rng| {
        let period = rng.random_range(100_000..1_500_000);
        let deadline = if rng.random_range(0..2) == 0 { period } else { rng.random_range(50_000..=period) };
        let runtime = rng.random_range(10_000..=deadline / if limit.is_some() { 4 } else { 1 });
        let [runtime, deadline, period] = [runtime, deadline, period].map(Span::from_ns);
        Scheduling::Deadline(Reservation { runtime, deadline, period })
    };
    for app in &mut small.apps {
        match rng.random_range(0..3) {
            0 => (app.scheduling, app.rank_scheduling) = (one(&mut rng), Vec::new()),
            1 => {
                let first: Vec<Scheduling> = (0..app.tasks).map(|rank| app.scheduling_of(rank)).collect();
                let each = first.into_iter().map(|other| match rng.random_range(0..2) {
                    0 if other != Scheduling::Idle && other != Scheduling::Batch => one(&mut rng),
                    _ => other,
                });
                app.rank_scheduling = each.collect();
            }
            _ => continue,
        }
        if limit.is_some() {
            (app.allowed, app.rebinds) = (None, Vec::new());
        }
    }
    rules.deadline = Some(deadline);
    let all: Vec<&AppSpec> = small.apps.iter().collect();
    if reservations::refused(small.machine.cpus(), &deadline, &all, &[]).is_some() {
        rules.deadline = Some(DeadlineRules { limit: None, ..deadline });
    }
    small.model = Arc::new(OsModel { real_time: Some(rules), ..(*small.model).clone() });
    small
}

/// Any kind of lock.
pub(super) fn lock(rng: &mut ChaCha8Rng) -> LockRules {
    let order = [LockOrder::Barging, LockOrder::Barging, LockOrder::Arrival][rng.random_range(0..3)];
    let sleep = |spins, again| LockWait::Sleep { spins, again };
    let wait = match rng.random_range(0..6) {
        0 => LockWait::Spin,
        1 => LockWait::Yield,
        2..=3 => sleep(0, false),
        _ => sleep(rng.random_range(1..200), rng.random_range(0..2) == 0),
    };
    // Waiters have words of their own where they stand in a queue.
    let own = order == LockOrder::Arrival && rng.random_range(0..2) == 0;
    let word = if own { LockWord::Own } else { LockWord::Shared };
    LockRules { order, wait, word, protocol: Protocol::Plain }
}
