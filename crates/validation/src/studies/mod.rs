//! The published experiments: a scenario file each, and how the claims of each group are read off its cells.

mod dedicated;
mod parbench;
mod sharing;
mod speed;
mod swomps;
mod waiting;

use crate::answer::{Answer, Trouble};
use crate::claims::Claim;
use crate::fields;
use crate::lab::{Cell, Lab};
use scenario::{Overrides, load};
use sim_core::time::Span;

/// A published experiment.
pub struct Study {
    /// Its name: that of the file without ending.
    pub name: &'static str,
    /// The scenario; its sweep is the whole grid of the experiment.
    pub text: &'static str,
    /// Settings of a quick look, as `path=value`: fewer replicates, shorter programs.
    pub quick: &'static [&'static str],
    /// Time between two snapshots of where tasks are, as `prstat` takes them; none = nobody looks.
    pub snapshots: Option<Span>,
}

/// A study by the name of its file.
macro_rules! study {
    ($name:literal, $quick:expr) => {
        Study {
            name: $name,
            text: include_str!(concat!("../../data/studies/", $name, ".yaml")),
            quick: $quick,
            snapshots: None,
        }
    };
}

/// `prstat` sleeps a second and then looks at everybody, which takes it about 0.1 s (assumed).
const PRSTAT: Span = Span::from_ms(1_100);

/// All studies.
pub const STUDIES: &[Study] = &[
    study!("dedicated", &["repeat=1"]),
    study!("uneven", &["repeat=1", "apps.a.workload.intervals=5", "apps.a.workload.work=800ms"]),
    study!("sharing", ONCE),
    study!("sequence", ONCE),
    study!("partition", ONCE),
    study!("imbalanced", ONCE),
    study!("gang", ONCE),
    study!("swomps_binding", &["repeat=1", "apps.a.workload.scale=2%", "apps.system.workload.busy=1.25%"]),
    study!(
        "swomps_pairs",
        &[
            "repeat=1",
            "apps.a.workload.scale=2%",
            "apps.b.workload.scale=2%",
            "apps.system.workload.busy=1.25%"
        ]
    ),
    study!("swomps_queue11", QUICK_QUEUE),
    study!("swomps_queue3", &["repeat=1"]),
    study!("speed", SHORT),
    study!("speed_hog", SHORT),
    study!("speed_make", SHORT),
    study!("speed_beside", SHORT),
    study!("speed_pool", &["repeat=1", "apps.a.workload.chunks=1024", "apps.a.workload.work=8s"]),
    study!("parbench_sequential", &["repeat=1", "apps.job.workload.scale=3%"]),
    study!("parbench_mixture", &["repeat=1"]),
    study!("parbench_jobs", &["repeat=1", "apps.job.workload.scale=10%"]),
    Study {
        snapshots: Some(PRSTAT),
        ..study!("parbench_homes", &["repeat=1", "apps.job.workload.scale=50%"])
    },
];

/// A quick look at a queue of eleven.
const QUICK_QUEUE: &[&str] = &[
    "repeat=1",
    "apps.q1.workload.scale=2%",
    "apps.q2.workload.scale=2%",
    "apps.q3.workload.scale=2%",
    "apps.q4.workload.scale=2%",
    "apps.q5.workload.scale=2%",
    "apps.q6.workload.scale=2%",
    "apps.q7.workload.scale=2%",
    "apps.q8.workload.scale=2%",
    "apps.q9.workload.scale=2%",
    "apps.q10.workload.scale=2%",
    "apps.q11.workload.scale=2%",
    "apps.system.workload.busy=1.25%",
];

/// A quick look at two programs; their cells shorten them.
const ONCE: &[&str] = &["repeat=1"];

/// A quick look at the studies of 16 threads on fewer cores: twice, as variation is asked for, one or a few
/// iterations.
const SHORT: &[&str] = &["repeat=2", "apps.a.workload.scale=3%"];

/// How claims of a group are answered.
type Family = fn(&Claim, &mut Lab) -> Result<Answer, Trouble>;

/// The groups of claims and the family that answers them.
const GROUPS: &[(&str, Family)] = &[
    ("dedicated-upc", dedicated::answer),
    ("dedicated-mpi", dedicated::answer),
    ("dedicated-omp", dedicated::answer),
    ("predictor", dedicated::answer),
    ("counters", dedicated::answer),
    ("reversal", dedicated::answer),
    ("expectation", dedicated::answer),
    ("yield", waiting::answer),
    ("affinity", waiting::answer),
    ("kmp", waiting::answer),
    ("share-partition", sharing::answer),
    ("share-dedicated", sharing::answer),
    ("share-variation", sharing::answer),
    ("imbalanced", sharing::answer),
    ("gang", sharing::answer),
    ("speed", speed::answer),
    ("hog", speed::answer),
    ("swomps-t1-binding", swomps::answer),
    ("swomps-t4-pairs", swomps::answer),
    ("swomps-t5-pairs", swomps::answer),
    ("swomps-queue11", swomps::answer),
    ("swomps-queue3", swomps::answer),
    ("parbench-seq", parbench::answer),
    ("parbench-t1", parbench::answer),
    ("parbench-t2", parbench::answer),
    ("parbench-t3", parbench::answer),
    ("parbench-t4", parbench::answer),
    ("parbench-t5", parbench::answer),
];

/// Nothing is set otherwise than the studies and cells say.
#[must_use]
pub fn as_stated(_: &Study, _: &Cell) -> Vec<String> {
    Vec::new()
}

/// The study of this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Study> {
    STUDIES.iter().find(|study| study.name == name)
}

/// What the simulator says about a claim, by its fields.
///
/// # Errors
/// It cannot be resolved, or a run did not complete.
pub fn answer(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let Some((_, family)) = GROUPS.iter().find(|(group, _)| *group == claim.group) else {
        return Err(Trouble::uncovered(format!("no study answers the group `{}`", claim.group)));
    };
    match one_class(claim).filter(|_| lab.is_quick()) {
        Some(claim) => family(&claim, lab),
        None => family(claim, lab),
    }
}

/// For a quick look: of three or more problem classes that all codes of a claim are run in, the middle one.
fn one_class(claim: &Claim) -> Option<Claim> {
    let classes = fields::classes(claim);
    let plain = claim.class.split(',').all(|class| class.trim().len() == 1);
    let middle = classes.get(classes.len() / 2).filter(|_| plain && classes.len() >= 3)?;
    Some(Claim { class: middle.to_string(), ..claim.clone() })
}

/// The whole grid of a study: every configuration of its sweep under every policy of its file.
///
/// # Errors
/// The scenario is wrong: the rendered message.
pub fn grid(study: &'static Study) -> Result<Vec<Cell>, String> {
    let experiment = load(study.name, study.text, &Overrides::default())?;
    let mut cells = Vec::new();
    for configuration in &experiment.configurations {
        for policy in &experiment.policies {
            let cell = Cell::new(study.name, policy);
            let settings = experiment.axes.iter().zip(&configuration.places);
            cells.push(settings.fold(cell, |cell, (axis, at)| cell.set(&axis.path, &axis.values[*at])));
        }
    }
    Ok(cells)
}
