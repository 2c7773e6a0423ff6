//! What the advised setting does to the programs that it is not about.

use experiment::measured::Values;
use experiment::metrics::ALL_APPS;
use notation::number::ratio;
use scenario::objective::Objective;
use scenario::plan::Experiment;
use serde::Serialize;

use crate::advise::levers::Program;
use crate::advise::search::{Found, Tried, WORTH, paired};
use crate::goal::Goal;
use crate::trial::{self, Failed, Means, Subject, Wanted};

/// Another program under the advised setting.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Beside {
    /// Its name.
    pub app: String,
    /// Which of its times.
    pub what: &'static str,
    /// How many times as long that is under the advised setting as it is now, and half of the 95 % interval.
    pub ratio: (f64, f64),
}

/// A value of an application.
type Time = fn(&Values, &str) -> Option<f64>;

/// The times of a program by which it is judged, the first one that it has: for each what it is called.
const TIMES: [(&str, Time); 4] = [
    ("run time", |values, app| values.get(app)?.get("run_time").copied()),
    ("mean response time", |values, app| values.get(app)?.get("response_time").copied()),
    ("time for the same work", |values, app| values.get(app)?.get("time_per_work").copied()),
    // A program without an end runs as long as the others.
    ("time for the same work", |values, app| {
        Some(
            values.get(ALL_APPS)?.get("makespan")?
                / values.get(app)?.get("work").filter(|work| **work > 0.0)?,
        )
    }),
];

/// The programs that are not judged, or, where all are judged together, those that may not be changed.
fn others(experiment: &Experiment, programs: &[Program], goal: &Goal) -> Vec<(String, bool)> {
    let changed = |name: &String| programs.iter().any(|program| program.name == *name);
    let judged = |name: &String| if goal.app == ALL_APPS { changed(name) } else { goal.app == *name };
    let each = experiment.apps.iter().zip(&experiment.background);
    each.filter(|(name, _)| !judged(name)).map(|(name, background)| (name.clone(), *background)).collect()
}

/// What the advised setting does to the other programs of a scenario, with the seeds of the answer: those
/// whose times change by more than the interval, the largest change first.
///
/// # Errors
/// The simulator refuses a run; the user interrupted.
pub fn beside(
    subject: &Subject<'_>,
    experiment: &Experiment,
    (programs, found): (&[Program], &Found),
    means: Means<'_>,
) -> Result<Vec<Beside>, Failed> {
    let others = others(experiment, programs, &found.goal);
    let Some(advised) = found.last.first().filter(|tried| tried.changes() > 0 && !others.is_empty()) else {
        return Ok(Vec::new());
    };
    let both = [advised, &found.as_it_is];
    let seeds = both.iter().map(|tried| tried.values.len()).min().unwrap_or(0) as u32;
    let wanted = both.map(|tried| Wanted {
        setting: tried.setting.clone(),
        replicates: 0..seeds,
        draw: None,
        at_most: None,
    });
    let trials = trial::run(subject, &wanted, None, means)?;
    let [advised, now] = &trials[..] else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for (app, background) in others {
        // The run of a background program ends with the others.
        let mut times = TIMES.iter().skip(usize::from(background));
        found.extend(times.find_map(|(what, time)| {
            let of = |trial: &trial::Trial| Tried {
                choice: Vec::new(),
                setting: trial::Setting::default(),
                values: trial.values.iter().map(|values| time(values.as_ref()?, &app)).collect(),
            };
            let goal = Goal { objective: Objective::RunTime, app: app.clone(), metric: "run_time" };
            let ratio = paired(&goal, &of(advised), &of(now))?;
            Some(Beside { app: app.clone(), what, ratio })
        }));
    }
    found.retain(|other| (other.ratio.0 - 1.0).abs() > other.ratio.1.max(WORTH));
    found.sort_by(|a, b| (b.ratio.0 - 1.0).abs().total_cmp(&(a.ratio.0 - 1.0).abs()));
    Ok(found)
}

impl Beside {
    /// `other: time for the same work 1.52 times that of now (1.45 to 1.60)`.
    pub(super) fn words(&self) -> String {
        let Self { app, what, ratio: (mean, half) } = self;
        format!(
            "{app}: {what} {} times that of now ({} to {})",
            ratio(*mean),
            ratio(mean - half),
            ratio(mean + half)
        )
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use experiment::PolicyRegistry;
    use scenario::Overrides;

    use super::*;
    use crate::advise::levers::{Allowed, Kind};
    use crate::advise::{Effort, advise};

    static NEVER: AtomicBool = AtomicBool::new(false);

    /// What the advised number of threads of `team` does to `other`, and the change of `team`.
    fn effect(other: &str) -> Vec<Beside> {
        let text = format!(
            "name: x\nmachine: core:4\nkernel: linux-6.18\napps:\n  team: {{ workload: {{ spmd: {{ work: \
             100ms, intervals: 100 }} }}, runtime: libgomp, tasks: 4 }}\n  other: {other}\npolicies: [LOAD]\n"
        );
        let policies = PolicyRegistry::default();
        let subject =
            Subject { policies: &policies, name: "x.yaml", text: &text, base: Overrides::default() };
        let means = Means { jobs: 0, progress: &|| {}, stop: &NEVER };
        let allowed =
            Allowed { kinds: vec![Kind::Threads], apps: vec!["team".to_owned()], ..Allowed::default() };
        let effort = Effort { runs: 60, events: u64::MAX, replicates: 3, draws: 0 };
        let advised = advise(&subject, &allowed, effort, means).unwrap();
        assert!(advised.found.last[0].changes() > 0);
        beside(&subject, &advised.experiment, (&advised.programs, &advised.found), means).unwrap()
    }

    #[test]
    fn fewer_threads_leave_a_task_without_end_more_of_a_cpu() {
        // A team that fills its cpus and polls shares one of them with the other task.
        let [other] = &effect("{ workload: hog, background: true, tasks: 1 }")[..] else {
            panic!("one other")
        };
        assert_eq!((other.app.as_str(), other.what), ("other", "time for the same work"));
        assert!(other.ratio.0 + other.ratio.1 < 0.95, "{other:?}");
        assert!(other.words().starts_with("other: time for the same work 0."), "{}", other.words());
    }
}
