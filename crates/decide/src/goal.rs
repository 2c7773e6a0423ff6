//! What settings are judged by: a metric of one application or of the whole run, as in the answer of
//! `oversim run`.

use experiment::measured::Values;
use experiment::metrics::ALL_APPS;
use experiment::statements::ranking::Goal as Stated;
use scenario::objective::Objective;
use scenario::plan::Experiment;

/// What settings are judged by.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Goal {
    /// The objective.
    pub objective: Objective,
    /// The application, or `all`.
    pub app: String,
    /// The metric.
    pub metric: &'static str,
}

impl Goal {
    /// The goal of a scenario: what its objective measures, where these values have it.
    ///
    /// # Errors
    /// A sentence: no run measured it.
    pub fn of(experiment: &Experiment, values: &Values) -> Result<Self, String> {
        let objective = experiment.objective;
        let metric = Stated::metric_of(objective);
        let foreground: Vec<&str> = experiment
            .apps
            .iter()
            .zip(&experiment.background)
            .filter(|(_, background)| !**background)
            .map(|(app, _)| app.as_str())
            .collect();
        let has = |app: &str, metric: &str| values.get(app).is_some_and(|of| of.contains_key(metric));
        let whole = match objective {
            Objective::RunTime => "makespan",
            _ => metric,
        };
        let own = foreground.iter().copied().filter(|app| has(app, metric));
        let own: Vec<&str> = own.collect();
        let found = match own[..] {
            [app] if foreground.len() == 1 || !has(ALL_APPS, whole) => Some((app, metric)),
            _ if has(ALL_APPS, whole) => Some((ALL_APPS, whole)),
            _ => None,
        };
        let (app, metric) = found.ok_or_else(|| {
            format!("no run measured the objective `{}` ({})", objective.name(), objective.words())
        })?;
        Ok(Self { objective, app: app.to_owned(), metric })
    }

    /// What a run reached; none where it does not have the metric.
    #[must_use]
    pub fn value(&self, values: &Values) -> Option<f64> {
        values.get(&self.app)?.get(self.metric).copied()
    }

    /// Whether it is the length of the run, so that a run that is longer than another one need not be
    /// simulated to its end.
    #[must_use]
    pub fn is_end(&self) -> bool {
        matches!(self.metric, "run_time" | "makespan")
    }

    /// Whether values may be negative, so that they have no ratio.
    #[must_use]
    pub fn has_no_ratio(&self) -> bool {
        self.objective == Objective::Lateness
    }

    /// Whether larger values are better.
    #[must_use]
    pub fn higher(&self) -> bool {
        self.metric == "throughput"
    }

    /// How many times as long as with `other` it takes with `value`: below 1 where `value` is better. Values
    /// that may be negative (lateness) have no ratio and are compared by their difference in seconds, as
    /// `exp` of it, so that smaller is better and equal values give 1.
    #[must_use]
    pub fn ratio(&self, value: f64, other: f64) -> f64 {
        if self.has_no_ratio() {
            return libm::exp(value - other);
        }
        if self.higher() { other / value } else { value / other }
    }
}
