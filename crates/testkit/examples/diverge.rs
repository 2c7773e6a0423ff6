//! Finds the first observation in which the closed form and the stepwise run of a random scenario differ.
//! `cargo run -p testkit --example diverge -- FIRST LAST`

#![expect(clippy::print_stdout, reason = "a tool for the terminal")]

use sim_core::engine::Simulation;
use sim_core::observe::{Observation, Observer};
use sim_core::outcome::{Options, RunReport};
use sim_core::policy::Policy;
use sim_core::time::{Span, Time};
use testkit::policies::{Fixed, Restless};
use testkit::scenarios::random;

#[derive(Default)]
struct Log(Vec<(Time, Observation)>);

impl Observer for Log {
    fn observe(&mut self, at: Time, what: &Observation) {
        self.0.push((at, *what));
    }
}

fn run(seed: u64, stepwise: bool, horizon: Time) -> (Log, RunReport) {
    let mut small = random(seed);
    small.options.horizon = small.options.horizon.min(horizon);
    let options = Options { stepwise, ..small.options };
    let mut policy: Box<dyn Policy> = if seed.is_multiple_of(3) {
        Box::new(Fixed)
    } else {
        Box::new(Restless::new(seed, Span::from_us(1 + seed % 300)))
    };
    let mut log = Log::default();
    let simulation = Simulation::new(small.machine, small.model, small.apps, options).expect("legal");
    let report = simulation.run(policy.as_mut(), &mut log);
    (log, report)
}

fn main() {
    let mut args = std::env::args().skip(1).filter_map(|a| a.parse::<u64>().ok());
    let (first, last) = (args.next().unwrap_or(0), args.next().unwrap_or(100));
    for seed in first..last {
        let ((fast, a), (slow, b)) = (run(seed, false, Time::NEVER), run(seed, true, Time::NEVER));
        let at = fast.0.iter().zip(&slow.0).position(|(a, b)| a != b);
        let differs = RunReport { events: 0, ..a.clone() } != RunReport { events: 0, ..b.clone() };
        if let Some(at) = at {
            let small = random(seed);
            println!("seed {seed}: differs at {at}");
            let differ = |at: u64| {
                let (a, b) = (run(seed, false, Time::from_ns(at)).1, run(seed, true, Time::from_ns(at)).1);
                (RunReport { events: 0, ..a.clone() } != RunReport { events: 0, ..b.clone() })
                    .then_some((a, b))
            };
            let (mut low, mut high) = (0, fast.0[at].0.ns().max(slow.0[at].0.ns()));
            while low + 1 < high {
                let middle = low.midpoint(high);
                if differ(middle).is_some() { high = middle } else { low = middle }
            }
            if let Some((a, b)) = differ(high) {
                println!("first at {high}");
                for (x, y) in a.cpus.iter().zip(&b.cpus).filter(|(x, y)| x != y) {
                    println!("  {x:?}\n  {y:?}");
                }
                for (x, y) in a.apps.iter().zip(&b.apps).filter(|(x, y)| x != y) {
                    println!("  {x:?}\n  {y:?}");
                }
            }
            println!("{:?} {:?}", small.model.discipline, small.machine.costs);
            for app in &small.apps {
                println!("{} tasks {} weight {} {:?}", app.name, app.tasks, app.weight, app.runtime);
            }
            for i in at.saturating_sub(6)..(at + 3).min(fast.0.len()).min(slow.0.len()) {
                println!("  fast {:?}\n  slow {:?}", fast.0[i], slow.0[i]);
            }
        } else if differs {
            println!("seed {seed}: reports differ\n{a:#?}\n{b:#?}");
        }
    }
}
