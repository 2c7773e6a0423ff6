//! Tasks that sleep and work in turn: `interactive` and `services`

use notation::declare::{Duration, Factor, Percent};
use notation::parameter::Values;
use notation::parameters;
use sim_core::ids::ProfileId;
use sim_core::program::{MemoryProfile, Op, Program, Spread};
use sim_core::time::{Span, Work};

use crate::entry::{Built, Context, Entry};
use crate::variation::LONGEST;

parameters! {
    /// Parameters of `interactive`.
    struct Interactive {
        /// Mean time that a user thinks, exponential. Uncertain.
        think: Duration = s(1), in 1..=LONGEST;
        /// Mean work of one request, exponential. Uncertain (one tick at 100 Hz).
        burst: Duration = ms(10), in 1..=LONGEST;
        /// Number of requests of each user. 0 runs without end, in the background.
        requests: u32 = 0, in 0..=u32::MAX as u64;
    }
}

/// Users at terminals.
pub(crate) const INTERACTIVE: Entry = Entry {
    name: "interactive",
    summary: "users who think, request a short piece of work and wait for it; `tasks` is their number \
        (default 1)",
    source: "the time-sharing model with exponential think and service times (Scherr 1967)",
    example: "users: { workload: { interactive: { think: 50ms, burst: 5ms, requests: 4 } }, tasks: 8 \
        }\nhogs: { workload: hog, tasks: 16 }",
    parameters: Interactive::TABLE,
    own: |values, _| {
        let Interactive { think, burst, requests } = values.into();
        let program = bursts(requests, think.ns(), burst.ns())?;
        Ok(Built {
            background: requests == 0,
            requests: true,
            processes: true,
            own_work: true,
            tasks: 1,
            ..Built::even(program)
        })
    },
};

parameters! {
    /// Parameters of `services`.
    struct Services {
        /// Share of the time that a service works when it has a cpu to itself. The default (five services of
        /// 55 %) is uncertain.
        busy: Percent = percent(55), in 1..=9_999;
        /// Mean time of one burst on a core of the speed `core`, exponential. Uncertain.
        burst: Duration = ms(20), in 1..=LONGEST;
        /// Speed of the core for which `busy` and `burst` are given (0.3 for a core of an e25k). On a core of
        /// another speed the services are more or less busy.
        core: Factor = 1_000, in 1..=100_000;
    }
}

/// Services of the operating system.
pub(crate) const SERVICES: Entry = Entry {
    name: "services",
    summary: "busy services of a node: several processes that work in exponential bursts, in the background",
    source: "operating-system services next to batch jobs on shared nodes; noise in bursts longer than an \
        interval costs \
        most (Petrini, Kerbyson, Pakin, SC 2003)",
    example: "code: { workload: { spmd: { work: 1s, intervals: 20 } } }\nservices: { workload: services, \
        cpus: [15] }",
    parameters: Services::TABLE,
    own: services,
};

fn services(values: &Values, _context: &Context<'_>) -> Result<Built, String> {
    let Services { busy, burst, core } = values.into();
    let (busy, burst) = (u128::from(busy.hundredths()), burst.ns());
    // busy = burst / (burst + pause).
    let pause = (u128::from(burst) * (10_000 - busy) / busy).max(1) as u64;
    let work = u128::from(burst) * u128::from(core.thousandths()) / 1_000;
    let program = bursts(0, pause, work.clamp(1, u128::from(u64::MAX)) as u64)?;
    Ok(Built {
        background: true,
        requests: true,
        processes: true,
        own_work: true,
        tasks: 5,
        ..Built::even(program)
    })
}

/// Sleep and work in turn, `times` times (0 = for ever), both exponential with these means in nanoseconds,
/// the work at nominal speed.
fn bursts(times: u32, pause: u64, burst: u64) -> Result<Program, String> {
    let spread = Spread::EXPONENTIAL;
    let work = Work::from_span(Span::from_ns(burst));
    let ops = vec![
        Op::Repeat(times),
        Op::Sleep { span: Span::from_ns(pause), spread },
        Op::Compute { work, spread, profile: ProfileId(0) },
        Op::End,
    ];
    Program::new(ops, vec![MemoryProfile::NONE])
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTEXT: Context<'static> = Context { tasks: 5, runtime: "block", machine: "" };

    #[test]
    fn services_are_busy_for_their_share() {
        let built = (SERVICES.own)(&Values::defaults(Services::TABLE), &CONTEXT).unwrap();
        let Op::Sleep { span, .. } = built.program.ops()[1] else { panic!("no pause") };
        // 20 / (20 + 16.36) = 55 %.
        assert_eq!(span, Span::from_ns(16_363_636));
        assert!(built.background && built.processes && built.tasks == 5);
        // On a core of a third of the speed a burst is a third of the work; the pause stays.
        let mut values = Values::defaults(Services::TABLE);
        values.set("core", 300).unwrap();
        let built = (SERVICES.own)(&values, &CONTEXT).unwrap();
        let [_, Op::Sleep { span, .. }, Op::Compute { work, .. }, ..] = built.program.ops() else { panic!() };
        assert_eq!((*span, *work), (Span::from_ns(16_363_636), Work::from_span(Span::from_ms(6))));
    }

    #[test]
    fn users_with_a_number_of_requests_come_to_an_end() {
        let mut values = Values::defaults(Interactive::TABLE);
        assert!((INTERACTIVE.own)(&values, &CONTEXT).unwrap().background);
        values.set("requests", 7).unwrap();
        let built = (INTERACTIVE.own)(&values, &CONTEXT).unwrap();
        assert_eq!((built.background, built.program.ops()[0]), (false, Op::Repeat(7)));
    }
}
