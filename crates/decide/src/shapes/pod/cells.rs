//! The runs of a pod with a limit: a server with as many threads as GOMAXPROCS in a control group.

use experiment::PolicyRegistry;
use experiment::statistics::{Summary, summarise};
use import::Formula;
use scenario::Overrides;

use super::{Cell, LEAST_QUOTA_NS, Procs, Question, Statistic, Times};
use crate::shapes::words::{length, quoted};
use crate::trial::{self, Failed, Means, Setting, Subject, Trial, Wanted};

/// Requests of a run, in the mean: 40 of them are beyond the 99th percentile.
const REQUESTS: f64 = 4_000.0;
/// Fewest periods of a run: what happens once in a period is seen at all phases.
const PERIODS: u64 = 100;
/// The part of the requests that is answered at least where they do not pile up. The number that comes varies
/// by 1.6 % from seed to seed, 0.7 % in the mean of five.
const LEAST_ANSWERED: f64 = 0.97;
/// Longest run, in ns: 3,000 s, less than the horizon of a scenario.
const LONGEST_NS: f64 = 3e12;

/// A pod on a node.
pub(super) struct Runs<'a> {
    pub(super) question: &'a Question,
    policies: &'a PolicyRegistry,
    means: Means<'a>,
    /// Cpus of the node.
    pub(super) cpus: u32,
    text: String,
}

/// A pod's setting: its limit (none: it has no limit), GOMAXPROCS and burst.
type Place = (Option<u64>, u32, u64);

impl<'a> Runs<'a> {
    /// The pod on its node.
    pub(super) fn new(
        question: &'a Question,
        policies: &'a PolicyRegistry,
        means: Means<'a>,
    ) -> Result<Self, Failed> {
        let mut runs = Self { question, policies, means, cpus: 0, text: base(question) };
        runs.cpus = runs.subject().experiment(&wanted(Vec::new(), 0..1)).map_err(Failed::Refused)?.cpus();
        Ok(runs)
    }

    fn subject(&self) -> Subject<'_> {
        Subject {
            policies: self.policies,
            name: "the generated scenario",
            text: &self.text,
            base: Overrides::default(),
        }
    }

    /// Cpus that the requests need, in the mean.
    pub(super) fn load(&self) -> f64 {
        self.question.rate * self.question.service.ns as f64 * 1e-9
    }

    /// Cpus that the pod has for certain: its limit, its threads, and its part beside the others.
    fn capacity(&self, (limit, procs, _): Place) -> f64 {
        let limit = limit.map_or(f64::INFINITY, |milli| milli as f64 / 1e3);
        let (width, teams) = threads(self.question.parallel, procs);
        let threads = f64::from(width) * f64::from(teams);
        let (own, others) = (weight(self.request(limit)), weight(self.question.beside));
        let part = if self.question.beside == 0 { 1.0 } else { own / (own + others) };
        limit.min(threads).min(f64::from(self.cpus) * part)
    }

    /// The request of the pod with a limit, in thousandths of a cpu; it is at most the limit, and the limit
    /// where none is stated.
    fn request(&self, limit: f64) -> u64 {
        let limit = if limit.is_finite() { (limit * 1e3) as u64 } else { u64::MAX };
        self.question.request.or(self.question.limit).unwrap_or(limit).min(limit).min(4_096_000)
    }

    /// The applications and groups of a place.
    fn set(&self, (limit, procs, burst): Place) -> Vec<String> {
        let Question { service, parallel, period, beside, rate, .. } = self.question;
        let request = self.request(limit.map_or(f64::INFINITY, |milli| milli as f64 / 1e3));
        let mut group = format!("weight: {}", weight(request));
        if let Some(limit) = limit {
            let quota = quota(limit, *period);
            let (quota, period, burst) = (length(quota), length(*period), length(burst));
            group += &format!(", quota: {quota}, period: {period}, burst: {burst}");
        }
        let others = match beside {
            0 => String::new(),
            milli => format!(", others: {{ weight: {} }}", weight(*milli)),
        };
        let (width, teams) = threads(*parallel, procs);
        let law = if service.exponential { " exponential" } else { "" };
        let work = format!("run {}{law}", length((service.ns / u64::from(width)).max(1)));
        let (threads, work) = match width {
            1 => (String::new(), work),
            _ => (format!("threads: {width}, "), format!("parallel {{ {work} }}")),
        };
        let mean = length(libm::round(1e9 / rate) as u64);
        let mut set = vec![
            format!("cgroups={{ pod: {{ {group} }}{others} }}"),
            format!(
                "apps.pod={{ cgroup: pod, runtime: block, background: true, program: {{ arrivals: {{ \
                 requests: {{ mean: {mean} }} }}, count: {teams}, {threads}code: \"forever {{ receive \
                 requests; {work} }}\" }} }}"
            ),
        ];
        if *beside > 0 {
            let cpus = self.cpus;
            set.push(format!(
                "apps.others={{ workload: hog, tasks: {cpus}, background: true, cgroup: others }}"
            ));
        }
        set
    }

    /// Runs places with seeds.
    fn trials(&self, places: &[Place], seeds: std::ops::Range<u32>) -> Result<Vec<Trial>, Failed> {
        let all: Vec<Wanted> = places.iter().map(|place| wanted(self.set(*place), seeds.clone())).collect();
        let trials = trial::run(&self.subject(), &all, None, self.means)?;
        match trials.iter().find(|trial| !trial.ended.is_empty()) {
            Some(trial) => Err(Failed::Refused(format!("a run of the pod: {}", trial.ended))),
            None => Ok(trials),
        }
    }

    /// The statistic of a limit under a rule of GOMAXPROCS and with the first burst; none where the requests
    /// need more than there is.
    pub(super) fn value(
        &self,
        (limit, rule): (u64, Procs),
        statistic: Statistic,
        seeds: std::ops::Range<u32>,
    ) -> Result<Option<Vec<f64>>, Failed> {
        let procs = rule.value(limit, self.cpus);
        let burst =
            self.question.bursts.first().copied().unwrap_or(0).min(quota(limit, self.question.period));
        let place = (Some(limit), procs, burst);
        if self.load() >= self.capacity(place) {
            return Ok(None);
        }
        let trials = self.trials(&[place], seeds)?;
        let trial = trials.first().ok_or_else(none_answered)?;
        if self.piles_up(trial) {
            return Ok(None);
        }
        of_seeds(trial, statistic.metric()).map(Some).ok_or_else(none_answered)
    }

    /// Whether requests pile up: fewer are answered than come, so that response times grow with the length of
    /// the run.
    fn piles_up(&self, trial: &Trial) -> bool {
        let answered = of_seeds(trial, "request_rate").and_then(|rates| summarise(&rates));
        answered.is_none_or(|rates| rates.mean < LEAST_ANSWERED * self.question.rate)
    }

    /// The cells of limits, rules of GOMAXPROCS and bursts.
    pub(super) fn cells(&self, places: &[(u64, Procs, u64)]) -> Result<Vec<Cell>, Failed> {
        let place = |(limit, rule, burst): &(u64, Procs, u64)| -> Place {
            (Some(*limit), rule.value(*limit, self.cpus), *burst)
        };
        let reason = |at: Place| {
            if self.load() >= self.capacity(at) {
                return Some("overload");
            }
            let quota = at.0.map_or(u64::MAX, |limit| quota(limit, self.question.period));
            (at.2 > quota).then_some("burst above quota")
        };
        let mut wanted: Vec<Place> = Vec::new();
        for at in places.iter().map(place).filter(|at| reason(*at).is_none()) {
            for one in [at, (None, at.1, 0)] {
                if !wanted.contains(&one) {
                    wanted.push(one);
                }
            }
        }
        let trials = self.trials(&wanted, 0..self.question.seeds)?;
        let find = |at: Place| wanted.iter().position(|one| *one == at).and_then(|at| trials.get(at));
        let cell = |asked: &(u64, Procs, u64)| {
            let at = place(asked);
            let with = find(at);
            let without = reason(at).or_else(|| self.piles_up(with?).then_some("overload"));
            let times = match without {
                Some(_) => None,
                None => Some(times(with, find((None, at.1, 0))).ok_or_else(none_answered)?),
            };
            Ok(Cell { limit: asked.0, rule: asked.1, procs: at.1, burst_ns: at.2, times, without })
        };
        places.iter().map(cell).collect()
    }
}

fn none_answered() -> Failed {
    Failed::Refused("no request was answered in a run: requests come too seldom, or take too long".into())
}

fn of_seeds(trial: &Trial, metric: &str) -> Option<Vec<f64>> {
    let one =
        |values: &Option<experiment::measured::Values>| values.as_ref()?.get("pod")?.get(metric).copied();
    trial.values.iter().map(one).collect()
}

fn times(with: Option<&Trial>, without: Option<&Trial>) -> Option<Times> {
    let summary =
        |statistic: Statistic| -> Option<Summary> { summarise(&of_seeds(with?, statistic.metric())?) };
    let mean = summary(Statistic::Mean)?;
    let mean_without = summarise(&of_seeds(without?, Statistic::Mean.metric())?)?.mean;
    Some(Times {
        p50: summary(Statistic::P50)?,
        p90: summary(Statistic::P90)?,
        p99: summary(Statistic::P99)?,
        mean,
        mean_without,
        throttled: (1.0 - mean_without / mean.mean).clamp(0.0, 1.0),
    })
}

/// Quota of a limit, in ns, as the kubelet computes it (`MilliCPUToQuota`).
pub(super) fn quota(limit: u64, period: u64) -> u64 {
    (u128::from(limit) * u128::from(period) / 1_000).clamp(u128::from(LEAST_QUOTA_NS), 1_000_000_000_000)
        as u64
}

/// Threads of a request, and how many requests are worked on at a time, so that no more threads compute than
/// GOMAXPROCS.
fn threads(parallel: u32, procs: u32) -> (u32, u32) {
    let width = parallel.min(procs).max(1);
    (width, (procs / width).max(1))
}

/// `cpu.weight` of a request in thousandths of a cpu: `MilliCPUToShares` of the kubelet, and the formula of
/// runc 1.3.2.
fn weight(milli: u64) -> f64 {
    Formula::Quadratic.weight(milli.saturating_mul(1_024) / 1_000) as f64
}

fn wanted(set: Vec<String>, replicates: std::ops::Range<u32>) -> Wanted {
    Wanted { setting: Setting { set, policy: None }, replicates, draw: None, at_most: None }
}

/// The scenario without the pod. The clock ends the run.
fn base(question: &Question) -> String {
    let Question { machine, kernel, seed, .. } = question;
    let requests = (REQUESTS / question.rate * 1e9).min(LONGEST_NS) as u64;
    let run = requests.max(question.period.saturating_mul(PERIODS));
    format!(
        "name: pod\nmachine: {}\nkernel: {}\nstart_jitter: 0s\ncgroups: {{}}\napps: {{ clock: {{ \
         program: {{ code: \"sleep {}\" }} }} }}\npolicies: [LOAD]\nbaseline: none\nseed: {seed}\n",
        quoted(machine),
        quoted(kernel),
        length(run)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_threads_compute_than_gomaxprocs() {
        let all = [(1, 8), (4, 8), (4, 2), (4, 6), (3, 1)].map(|(parallel, procs)| threads(parallel, procs));
        assert_eq!(all, [(1, 8), (4, 2), (2, 1), (4, 1), (1, 1)]);
    }

    #[test]
    fn quotas_are_those_of_the_kubelet() {
        assert_eq!(quota(1_500, 100_000_000), 150_000_000);
        assert_eq!(quota(1, 100_000_000), 1_000_000, "at least 1 ms");
        assert_eq!(quota(333, 50_000_000), 16_650_000);
    }
}
