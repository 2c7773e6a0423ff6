//! Flags of `oversim advise pod`.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use decide::shapes::pod::{self, Procs, Service, Target};

use super::wait::{Answering, Node};

#[derive(Args, Debug)]
pub(crate) struct Pod {
    /// A pod, or what makes pods (Deployment, StatefulSet, ...), as YAML or JSON; `-` reads standard input.
    /// Flags count before it.
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: Option<PathBuf>,
    /// The container of the file, where it has several.
    #[arg(long, value_name = "NAME", requires = "file")]
    pub(crate) container: Option<String>,
    /// Requests in a second, in the mean; they come independently of each other.
    #[arg(long, value_name = "RATE", value_parser = pod::rate)]
    pub(crate) arrivals: f64,
    /// Cpu time of a request: `5ms` for all, or `5ms,exponential`.
    #[arg(long, value_name = "SPAN", value_parser = pod::service)]
    pub(crate) service: Service,
    /// Parts of a request's work that are done side by side.
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) parallel: u32,
    /// Request of the pod in cpus: `500m`, `1.5`. Default: that of the file, or the limit.
    #[arg(long, value_name = "CPUS", value_parser = pod::cpus)]
    pub(crate) request: Option<u64>,
    /// Limit of the pod in cpus: `2`, `1500m`. Default: that of the file.
    #[arg(long, value_name = "CPUS", value_parser = pod::cpus)]
    pub(crate) limit: Option<u64>,
    /// Period of the quota, 1ms to 1s (`cpuCFSQuotaPeriod` of the kubelet).
    #[arg(long, value_name = "SPAN", default_value = "100ms", value_parser = pod::period)]
    pub(crate) period: u64,
    /// `cpu.max.burst`; several: A,B. The first one counts for the target.
    #[arg(long, value_name = "SPAN", value_delimiter = ',', default_value = "0s", value_parser = pod::burst)]
    pub(crate) burst: Vec<u64>,
    /// GOMAXPROCS of the pod: `auto` (the limit rounded up, at least 2, as Go 1.25 does), `unset` (all cpus
    /// of the node, as before Go 1.25) or a number. Default: that of the file, or auto.
    #[arg(long, value_name = "N", value_parser = pod::procs)]
    pub(crate) gomaxprocs: Option<Procs>,
    /// Requests of other pods in cpus, which keep all cpus of the node busy.
    #[arg(long, value_name = "CPUS", value_parser = pod::cpus)]
    pub(crate) beside: Option<u64>,
    /// Limits of the table in cpus: A,B.
    #[arg(long, value_name = "CPUS", value_delimiter = ',', default_value = "500m,1,1500m,2,3,4")]
    #[arg(value_parser = pod::cpus)]
    pub(crate) limits: Vec<u64>,
    /// What has to be met, with mean, p50, p90 or p99: the smallest limit for it is searched.
    #[arg(long, value_name = "p99=SPAN", value_parser = pod::target)]
    pub(crate) target: Option<Target>,
    /// Only judge the limit of the pod, in one line: the exit status is 1 unless it meets the target.
    #[arg(long, requires = "target")]
    pub(crate) check: bool,
    #[command(flatten)]
    pub(crate) node: Node,
    #[command(flatten)]
    pub(crate) answer: Answering,
}
