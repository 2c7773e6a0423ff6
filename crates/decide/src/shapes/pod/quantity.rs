//! The quantities of a pod as one writes them: cpus, rates, service times, targets.

use notation::parameter::Kind;
use notation::units;
use serde::Serialize;

use super::Procs;

/// Most thousandths of a cpu: more than any node has.
const MOST_MILLI: f64 = 4_096_000.0;

/// Cpus as Kubernetes writes them, in thousandths: `500m`, `1.5`, `2`; rounded up.
///
/// # Errors
/// It is no such number, zero or too large.
pub fn cpus(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let (number, unit) = match text.strip_suffix('m') {
        Some(number) => (number, 1.0),
        None => (text, 1_000.0),
    };
    let digits = |c: char| c.is_ascii_digit() || c == '.';
    let value: Option<f64> = number.chars().all(digits).then(|| number.parse().ok()).flatten();
    let milli = value.map(|value: f64| libm::ceil(value * unit - 1e-6));
    milli
        .filter(|milli| (1.0..=MOST_MILLI).contains(milli))
        .map(|milli| milli as u64)
        .ok_or_else(|| "write cpus as `500m`, `1.5` or `2`, above 0 and at most 4096".to_owned())
}

/// A period of the quota, in ns.
///
/// # Errors
/// It is no length of time, or the kernel does not accept it (`tg_set_cfs_bandwidth` in kernel/sched/core.c).
pub fn period(text: &str) -> Result<u64, String> {
    let ns = units::parse(Kind::Duration, text)?;
    let fits = (1_000_000..=1_000_000_000).contains(&ns);
    if fits { Ok(ns) } else { Err("the kernel accepts periods from 1ms to 1s".to_owned()) }
}

/// A burst of the quota, in ns.
///
/// # Errors
/// It is no length of time, or longer than 1,000 s.
pub fn burst(text: &str) -> Result<u64, String> {
    let ns = units::parse(Kind::Duration, text)?;
    if ns <= 1_000_000_000_000 { Ok(ns) } else { Err("a burst is at most 1000s".to_owned()) }
}

/// GOMAXPROCS: `auto`, `unset` or a number.
///
/// # Errors
/// It is none of them.
pub fn procs(text: &str) -> Result<Procs, String> {
    match text.trim() {
        "auto" => Ok(Procs::Limit),
        "unset" => Ok(Procs::Node),
        number => {
            number.parse().ok().filter(|count| (1..=4_096).contains(count)).map(Procs::Count).ok_or_else(
                || {
                    "write `auto` (the limit rounded up, at least 2, as Go 1.25 does), `unset` (all cpus of \
                 the node, as before Go 1.25) or a number from 1 to 4096"
                        .to_owned()
                },
            )
        }
    }
}

/// Most requests in a second. A run has at least 100 periods, 10 s with the usual ones, so that this is a
/// million requests in each of the runs: some seconds of one core. Servers of small requests on a few cpus
/// were measured with 44,700 in a second (uber-go/automaxprocs, README).
const MOST_RATE: f64 = 1e5;

/// Requests in a second: `200/s`, `12000/min` or `200`.
///
/// # Errors
/// It is no such rate, or not between 0.1 and 100,000 in a second.
pub fn rate(text: &str) -> Result<f64, String> {
    let text = text.trim();
    let (number, per) = match text.split_once('/') {
        None | Some((_, "s")) => (text.split('/').next().unwrap_or_default(), 1.0),
        Some((number, "min")) => (number, 60.0),
        Some(_) => ("", 1.0),
    };
    let value: Option<f64> = number.trim().parse().ok();
    value
        .map(|value| value / per)
        .filter(|rate| (0.1..=MOST_RATE).contains(rate))
        .ok_or_else(|| "write a rate as `200/s` or `6000/min`, 0.1 to 100000 in a second".to_owned())
}

/// Cpu time of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Service {
    /// Its mean, in ns.
    pub ns: u64,
    /// Exponential; else all are equal.
    pub exponential: bool,
}

/// Reads the cpu time of a request: `5ms` or `5ms,exponential`.
///
/// # Errors
/// It is no length from 1 us to 100 s, or another law.
pub fn service(text: &str) -> Result<Service, String> {
    let (length, law) = match text.split_once(',') {
        Some((length, law)) => (length, law.trim()),
        None => (text, "constant"),
    };
    let ns = units::parse(Kind::Duration, length)?;
    if !(1_000..=100_000_000_000).contains(&ns) {
        return Err("the cpu time of a request is from 1us to 100s".to_owned());
    }
    let exponential = match law {
        "exponential" => true,
        "constant" => false,
        _ => return Err("write `5ms`, `5ms,exponential` or `5ms,constant`".to_owned()),
    };
    Ok(Service { ns, exponential })
}

/// A statistic of response times.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Statistic {
    /// The mean.
    Mean,
    /// The median.
    P50,
    /// The 90th percentile.
    P90,
    /// The 99th percentile.
    P99,
}

impl Statistic {
    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::P50 => "p50",
            Self::P90 => "p90",
            Self::P99 => "p99",
        }
    }

    /// The metric of a run.
    pub(super) const fn metric(self) -> &'static str {
        match self {
            Self::Mean => "response_time",
            Self::P50 => "response_time_median",
            Self::P90 => "response_time_p90",
            Self::P99 => "response_time_p99",
        }
    }
}

/// What has to be met: a statistic of the response times is at most this.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Target {
    /// The statistic.
    pub statistic: Statistic,
    /// The most it may be, in ns.
    pub ns: u64,
}

impl Target {
    /// The most it may be, in s.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.ns as f64 * 1e-9
    }
}

/// Reads a target: `p99=50ms`.
///
/// # Errors
/// It is no statistic with a length.
pub fn target(text: &str) -> Result<Target, String> {
    let due = "write a target as `p99=50ms`, with mean, p50, p90 or p99";
    let (name, length) = text.split_once('=').ok_or(due)?;
    let all = [Statistic::Mean, Statistic::P50, Statistic::P90, Statistic::P99];
    let statistic = all.into_iter().find(|of| of.name() == name.trim()).ok_or(due)?;
    let ns = units::parse(Kind::Duration, length)?;
    if !(1_000..=1_000_000_000_000).contains(&ns) {
        return Err("a target is from 1us to 1000s".to_owned());
    }
    Ok(Target { statistic, ns })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpus_are_read_as_kubernetes_writes_them() {
        assert_eq!(
            ["500m", "1.5", "2", "0.1m", "0.0001"].map(|text| cpus(text).unwrap()),
            [500, 1_500, 2_000, 1, 1]
        );
        assert!(
            ["", "0", "-1", "m", "1k", "1e3", "nan", "5000", "1.2.3"].iter().all(|text| cpus(text).is_err())
        );
    }

    #[test]
    fn rates_and_service_times_have_units() {
        assert!(
            (rate("200/s").unwrap() - 200.0).abs() < 1e-9 && (rate("600/min").unwrap() - 10.0).abs() < 1e-9
        );
        assert!(["", "x/s", "-1/s", "0/s", "1/h", "nan", "inf"].iter().all(|text| rate(text).is_err()));
        assert_eq!(service("5ms,exponential"), Ok(Service { ns: 5_000_000, exponential: true }));
        assert_eq!(service("5ms"), Ok(Service { ns: 5_000_000, exponential: false }));
        assert!(["5", "0ms", "5ms,normal", "infinite"].iter().all(|text| service(text).is_err()));
    }

    #[test]
    fn targets_name_a_statistic_and_a_length() {
        assert_eq!(target("p99=50ms"), Ok(Target { statistic: Statistic::P99, ns: 50_000_000 }));
        assert!(["p99", "p98=1ms", "p99=50", "p99=infinite"].iter().all(|text| target(text).is_err()));
    }

    #[test]
    fn gomaxprocs_follows_the_limit_as_go_1_25_does() {
        let value = |limit| Procs::Limit.value(limit, 8);
        assert_eq!([value(250), value(1_000), value(2_000), value(2_001), value(9_000)], [2, 2, 2, 3, 8]);
        assert_eq!((Procs::Limit.value(500, 1), Procs::Node.value(500, 8)), (1, 8));
        assert_eq!(procs("auto"), Ok(Procs::Limit));
        assert_eq!(procs("unset"), Ok(Procs::Node));
        assert!(["", "0", "-1", "many"].iter().all(|text| procs(text).is_err()));
    }
}
