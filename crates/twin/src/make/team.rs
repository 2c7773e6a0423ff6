//! A team of threads as a workload with intervals.

use std::fmt::Write as _;

use import::Kind as Matters;

use super::Making;
use crate::course::Step;
use crate::team::Team;
use crate::write::time;

/// What a thread does outside of regions is a part of its own from this share of the cpu time on.
const ALONE: f64 = 0.005;

impl Making<'_> {
    /// A team as a workload with intervals.
    pub(super) fn team(&mut self, team: &Team) {
        let sums = Sums::of(team);
        let members = team.members.len();
        let how = team.mark.as_ref().map_or_else(
            || "bursts of wake-ups that reach at least half of the threads".to_owned(),
            |mark| format!("the mark `{}`", notation::neutral::line(mark)),
        );
        let explains = team.explained.map_or_else(String::new, |share| {
            format!(": {:.0} % of the waits of its threads", 100.0 * share)
        });
        self.findings.push(format!(
            "found a team of {members} threads with {} parallel regions, by {how}{explains}",
            team.regions.len(),
        ));
        let runtime = self.waits(team);
        let name = self.name();
        let (before, behind) = self.alone(team);
        let keys = self.keys();
        if before > 0 {
            self.hog(&format!("{name}-before"), before, "", "before its first region");
        }
        let text = &mut self.apps;
        let _ = writeln!(text, "  {name}:");
        let _ = writeln!(text, "    # {} regions, found by {how}", team.regions.len());
        let _ = writeln!(text, "    workload:");
        let _ = writeln!(text, "      spmd:");
        let _ = writeln!(
            text,
            "        work: {}  # cpu time of {members} threads in regions, and of the first one between them",
            time(sums.work)
        );
        let _ = writeln!(text, "        intervals: {}", team.regions.len());
        let _ = writeln!(
            text,
            "        serial: {:.2}%  # of the work, by the first thread alone",
            100.0 * sums.serial
        );
        let _ = writeln!(
            text,
            "        imbalance: {:.2}%  # constant differences between the threads",
            100.0 * sums.imbalance
        );
        let _ = writeln!(text, "        shape: {}", sums.shape);
        let _ = writeln!(
            text,
            "        spread: {:.2}%  # half-width of what varies from region to region",
            100.0 * sums.spread
        );
        let _ = writeln!(text, "    runtime: {runtime}");
        text.push_str(&keys);
        let _ = writeln!(text, "    tasks: {members}");
        if before > 0 {
            let _ = writeln!(text, "    after: {name}-before");
        }
        let waits = team.before.saturating_sub(before);
        if waits > 0 {
            let _ =
                writeln!(text, "    start: {}  # sleep of the program before its first region", time(waits));
        }
        if behind > 0 {
            self.hog(&format!("{name}-after"), behind, &name, "behind its last region");
        }
        self.assumed(team, &sums);
    }

    /// The runtime of a team.
    fn waits(&mut self, team: &Team) -> String {
        let passive = self.sleeps(team);
        self.runtime(self.options.facts.team()).unwrap_or_else(|| {
            let (text, why) = if passive {
                (
                    "{ libgomp: { spin_count: 0 } }",
                    "its threads sleep while they wait, as with OMP_WAIT_POLICY=passive",
                )
            } else {
                (
                    "{ libgomp: { spin_count: 30000000000, throttled_spin_count: 1000 } }",
                    "its threads poll while they wait, as with OMP_WAIT_POLICY=active",
                )
            };
            self.note(Matters::Assumed, format!("the runtime of a team: {why} of libgomp (`--runtime`)"));
            text.to_owned()
        })
    }

    /// What the workload of a team takes for granted.
    fn assumed(&mut self, team: &Team, sums: &Sums) {
        let members = team.members.len();
        if sums.shape == "gradient" && members > 1 {
            self.note(
                Matters::Assumed,
                "with another number of threads the work is divided anew; it rises \
                evenly from the part of the first thread to that of the last",
            );
        }
        let left = self.program.threads.len() - members;
        if left > 0 {
            let courses = team.members.iter().filter_map(|id| self.recording.courses.list.get(id));
            let own: u64 = courses.map(|course| course.cpu).sum();
            let share = 100.0 * (self.program.cpu - own) as f64 / self.program.cpu.max(1) as f64;
            let who = if left == 1 { "another thread" } else { "the other threads" };
            self.note(Matters::LeftOut, format!("{who} of the program: {share:.1} % of its cpu time"));
        }
    }

    /// Cpu time of the first thread before the first region and behind the last one, in ns; nothing where it
    /// is little.
    fn alone(&self, team: &Team) -> (u64, u64) {
        let Some(course) = team.members.first().and_then(|id| self.recording.courses.list.get(id)) else {
            return (0, 0);
        };
        let (begin, end) = (course.first + team.before, course.last.saturating_sub(team.after));
        let ran = |within: &dyn Fn(u64) -> bool| -> u64 {
            let runs = course.steps.iter().filter_map(|timed| match timed.step {
                Step::Run(ran) if within(timed.at) => Some(ran),
                _ => None,
            });
            runs.sum()
        };
        let much = |cpu: u64| if cpu as f64 >= ALONE * self.program.cpu as f64 { cpu } else { 0 };
        (much(ran(&|at| at <= begin)), much(ran(&|at| at > end)))
    }

    /// A part of a program that one thread does alone.
    fn hog(&mut self, name: &str, work: u64, after: &str, when: &str) {
        self.parts = true;
        let keys = self.keys();
        let text = &mut self.apps;
        let _ = writeln!(text, "  {name}:  # what the first thread of the team does {when}");
        let _ = writeln!(text, "    workload: {{ hog: {{ work: {} }} }}", time(work));
        let _ = writeln!(text, "    tasks: 1");
        text.push_str(&keys);
        if !after.is_empty() {
            let _ = writeln!(text, "    after: {after}");
        }
    }

    /// The runtime that the caller names, or that the head of the recording shows.
    pub(super) fn runtime(&mut self, shown: Option<(String, String)>) -> Option<String> {
        if self.options.runtime.is_some() {
            return self.options.runtime.clone();
        }
        let (runtime, why) = shown?;
        self.findings.push(format!("the runtime is `{runtime}`: {why}"));
        Some(runtime)
    }

    /// The threads of a team sleep while they wait: they gave up their cpus in most of the regions.
    fn sleeps(&self, team: &Team) -> bool {
        let waits: u64 = team
            .members
            .iter()
            .filter_map(|id| self.recording.courses.list.get(id))
            .map(|course| course.blocked)
            .sum();
        waits as f64 >= 0.5 * team.regions.len() as f64 * (team.members.len() - 1) as f64
    }
}

/// A team in a few numbers.
struct Sums {
    work: u64,
    serial: f64,
    imbalance: f64,
    shape: &'static str,
    spread: f64,
}

impl Sums {
    fn of(team: &Team) -> Self {
        let members = team.members.len().max(1);
        let serial: u64 = team.regions.iter().map(|region| region.serial).sum();
        let mut each = vec![0_u64; members];
        for region in &team.regions {
            each.iter_mut().zip(&region.work).for_each(|(sum, work)| *sum += work);
        }
        let parallel: u64 = each.iter().sum();
        let mean = parallel as f64 / members as f64;
        let factors: Vec<f64> = each.iter().map(|sum| *sum as f64 / mean.max(1.0)).collect();
        let (imbalance, shape) = imbalance(&factors);
        // What varies from region to region beside the constant factors, and beside the whole region.
        let (mut squares, mut count) = (0.0, 0_u32);
        for region in &team.regions {
            let whole = region.work.iter().sum::<u64>() as f64 / members as f64;
            for (work, factor) in region.work.iter().zip(&factors) {
                let expected = whole * factor;
                if expected > 0.0 {
                    squares += (*work as f64 / expected - 1.0).powi(2);
                    count += 1;
                }
            }
        }
        let deviation = (squares / f64::from(count.max(1))).sqrt()
            * (members as f64 / (members as f64 - 1.0).max(1.0)).sqrt();
        let work = parallel + serial;
        Self {
            work,
            serial: serial as f64 / work.max(1) as f64,
            imbalance,
            shape,
            // A uniform distribution of half-width w has the standard deviation w / sqrt(3).
            spread: (deviation * 3.0_f64.sqrt()).min(1.0),
        }
    }
}

/// The largest constant difference from the mean, and the shape that is nearest.
fn imbalance(factors: &[f64]) -> (f64, &'static str) {
    let largest = factors.iter().map(|factor| (factor - 1.0).abs()).fold(0.0, f64::max);
    let last = factors.len().saturating_sub(1).max(1) as f64;
    let linear = |slope: f64| -> f64 {
        (0..)
            .zip(factors)
            .map(|(rank, factor)| (factor - (1.0 + slope * (2.0 * f64::from(rank) / last - 1.0))).powi(2))
            .sum()
    };
    // The slope of least squares.
    let (mut products, mut squares) = (0.0, 0.0);
    for (rank, factor) in (0..).zip(factors) {
        let place = 2.0 * f64::from(rank) / last - 1.0;
        products += place * (factor - 1.0);
        squares += place * place;
    }
    let slope = if squares > 0.0 { products / squares } else { 0.0 };
    let flat: f64 = factors.iter().map(|factor| (factor - 1.0).powi(2)).sum();
    if linear(slope) <= 0.5 * flat || largest < 0.02 {
        // The parts of a problem differ less than its ends: n parts by n - 1 n-ths of that.
        let ranks = factors.len().max(2) as f64;
        ((slope.abs() * ranks / (ranks - 1.0)).min(1.0), "gradient")
    } else {
        (largest.min(1.0), "random")
    }
}
