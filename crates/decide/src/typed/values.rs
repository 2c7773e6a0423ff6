//! From settings to the text of a variable, an option or a file: one function for each row of the table.

use notation::lists::ranges;

use super::advice::{Layer, Lever, Pages, Quota, Shared, Waiting};
use super::case::Case;
use super::lists::{commas, hexadecimal};
use super::names::{self, Bound};
use super::row::CALLS;
use super::waits;

/// One period of Linux and of the kubelet in nanoseconds (`cpu.max`, `cpuCFSQuotaPeriod`).
const USUAL_PERIOD: u64 = 100_000_000;

fn wait_of(layer: Option<&Layer>) -> Option<Waiting> {
    layer?.wait
}

fn threads_wait(case: &Case<'_>) -> Option<Waiting> {
    wait_of(case.program.threads.as_ref())
}

fn processes_wait(case: &Case<'_>) -> Option<Waiting> {
    wait_of(case.program.processes.as_ref())
}

pub(super) fn threads(case: &Case<'_>) -> Option<String> {
    Some(case.team().to_string())
}

pub(super) fn processes(case: &Case<'_>) -> Option<String> {
    Some(case.processes().to_string())
}

/// `MAKEFLAGS` of a program that calls make; make itself takes an option.
pub(super) fn make_jobs(case: &Case<'_>) -> Option<String> {
    let called = own_number(case).is_some() && CALLS.contains(&case.dialect);
    (!called).then(|| format!("-j{}", case.team()))
}

/// Whether the number of jobs is said by `MAKEFLAGS` to a program that is not make itself.
pub(super) fn calls_make(case: &Case<'_>) -> bool {
    let make = case.program.threads.as_ref().is_some_and(|layer| layer.runtime == "make");
    make && case.asks(Lever::Threads) && own_number(case).is_none()
}

/// The number of tasks of a command that is called by the name of the row's runtime.
pub(super) fn own_number(case: &Case<'_>) -> Option<String> {
    let layer = case.program.threads.as_ref()?;
    (layer.runtime == case.program.name).then(|| case.team().to_string())
}

pub(super) fn java_cpus(case: &Case<'_>) -> Option<String> {
    Some(format!("-XX:ActiveProcessorCount={}", case.team()))
}

// How threads wait.

/// `OMP_WAIT_POLICY` of runtimes where `passive` is to sleep at once.
pub(super) fn wait_policy(case: &Case<'_>) -> Option<String> {
    (threads_wait(case)? == Waiting::Sleep).then(|| "passive".to_owned())
}

/// The same of libgomp, where `active` is to poll without end.
pub(super) fn wait_policy_gnu(case: &Case<'_>) -> Option<String> {
    match threads_wait(case)? {
        Waiting::Spin => Some("active".to_owned()),
        _ => wait_policy(case),
    }
}

/// `KMP_BLOCKTIME`: milliseconds, or with a unit where these are not whole. By default the block time that is
/// simulated, which libraries on hybrid processors do not have.
pub(super) fn block_time(case: &Case<'_>) -> Option<String> {
    match threads_wait(case)? {
        Waiting::Default => waits::default_of("libomp", "block_time").map(|ns| (ns / 1_000_000).to_string()),
        Waiting::Yield | Waiting::Spin => Some("infinite".to_owned()),
        Waiting::SpinFor(ns) if ns % 1_000_000 == 0 => Some((ns / 1_000_000).to_string()),
        Waiting::SpinFor(ns) => Some(format!("{}us", (ns / 1_000).max(1))),
        _ => None,
    }
}

/// The same of Intel's runtime to 2015, which sleeps at once with 0 and knows whole milliseconds only.
pub(super) fn block_time_intel(case: &Case<'_>) -> Option<String> {
    match threads_wait(case)? {
        Waiting::Sleep => Some("0".to_owned()),
        Waiting::SpinFor(ns) if ns % 1_000_000 != 0 => None,
        _ => block_time(case),
    }
}

/// `KMP_LIBRARY`, before which `OMP_WAIT_POLICY` does not count (kmp_settings.cpp, rival settings).
pub(super) fn library(case: &Case<'_>) -> Option<String> {
    match threads_wait(case)? {
        Waiting::Default => Some("throughput".to_owned()),
        Waiting::Spin => Some("turnaround".to_owned()),
        _ => None,
    }
}

/// A number of polls (`GOMP_SPINCOUNT`, `O64_OMP_SPIN_COUNT`), for a time by the length of a poll in the
/// model.
pub(super) fn spin_count(case: &Case<'_>) -> Option<String> {
    let layer = case.program.threads.as_ref()?;
    let polls = match layer.wait? {
        Waiting::Default => waits::default_of(&layer.runtime, "spin_count"),
        wait => waits::polls(&layer.runtime, wait),
    };
    polls.map(|polls| polls.to_string())
}

/// Whether libgomp is to wait as by default: `GOMP_SPINCOUNT` alone says that only without `OMP_WAIT_POLICY`.
pub(super) fn without_policy(case: &Case<'_>) -> bool {
    let of = |layer: &Layer| layer.runtime == "libgomp" && layer.wait == Some(Waiting::Default);
    case.program.threads.as_ref().is_some_and(of)
}

pub(super) fn idle_sun(case: &Case<'_>) -> Option<String> {
    match threads_wait(case)? {
        Waiting::Sleep => Some("sleep".to_owned()),
        Waiting::Spin | Waiting::Default => Some("spin".to_owned()),
        Waiting::SpinFor(ns) => Some(format!("sleep({}us)", (ns / 1_000).max(1))),
        _ => None,
    }
}

// How processes wait.

/// `mpi_yield_when_idle` of Open MPI. By default it is on with more processes than cores.
pub(super) fn yield_when_idle(case: &Case<'_>) -> Option<String> {
    let layer = case.program.processes.as_ref()?;
    match layer.wait? {
        Waiting::Default if layer.runtime == "openmpi" => {
            Some(if oversubscribe(case).is_some() { "1" } else { "0" }.to_owned())
        }
        Waiting::Yield => Some("1".to_owned()),
        Waiting::Spin => Some("0".to_owned()),
        _ => None,
    }
}

pub(super) fn yield_option(case: &Case<'_>) -> Option<String> {
    Some(format!("mpi_yield_when_idle {}", yield_when_idle(case)?))
}

pub(super) fn intel_wait_mode(case: &Case<'_>) -> Option<String> {
    (processes_wait(case)? == Waiting::Sleep).then(|| "1".to_owned())
}

pub(super) fn intel_yield(case: &Case<'_>) -> Option<String> {
    match processes_wait(case)? {
        Waiting::Yield => Some("2".to_owned()),
        Waiting::Spin => Some("0".to_owned()),
        _ => None,
    }
}

pub(super) fn polls_before_yield(case: &Case<'_>) -> Option<String> {
    match processes_wait(case)? {
        Waiting::Default => waits::default_of("mpich2", "message_polls").map(|polls| polls.to_string()),
        Waiting::Spin => Some("0".to_owned()),
        Waiting::Yield => Some("1".to_owned()),
        Waiting::SpinCount(count) => Some(count.max(1).to_string()),
        _ => None,
    }
}

// Where tasks run.

fn openmp(case: &Case<'_>) -> Option<Bound> {
    names::openmp(case.node, case.program.place.as_ref(), case.placing.as_ref(), case.mask.as_deref())
}

pub(super) fn proc_bind(case: &Case<'_>) -> Option<String> {
    openmp(case).map(|bound| bound.bind.to_owned())
}

pub(super) fn places(case: &Case<'_>) -> Option<String> {
    openmp(case)?.places
}

/// Threads of a process that are not bound as advised: only their process is.
pub(super) fn threads_float(case: &Case<'_>) -> bool {
    case.program.threads.is_some() && openmp(case).is_some_and(|bound| !bound.exact)
}

/// The cpus of all tasks of a program of one process whose threads nothing binds one by one.
pub(super) fn all_together(case: &Case<'_>) -> Option<String> {
    Some(ranges(case.placing.as_ref()?.all()))
}

/// Whether nothing binds the threads of this program one by one.
pub(super) fn bound_together(case: &Case<'_>) -> bool {
    let placed = case.placing.is_some() && case.program.processes.is_none();
    placed && case.program.threads.as_ref().is_none_or(|layer| !super::libraries::binds(&layer.runtime))
}

/// Whether tasks have other cpus than all tasks together.
pub(super) fn differ(case: &Case<'_>) -> bool {
    case.placing
        .as_ref()
        .is_some_and(|placing| placing.tasks.iter().any(|cpus| Some(cpus) != placing.tasks.first()))
}

/// The list of cpus of `taskset -c`, if memory is not bound, too.
pub(super) fn taskset(case: &Case<'_>) -> Option<String> {
    if bound_together(case) || case.program.pages.is_some() {
        return None;
    }
    case.mask.as_ref().map(|cpus| ranges(cpus.iter().copied()))
}

pub(super) fn taskset_together(case: &Case<'_>) -> Option<String> {
    bound_together(case).then(|| all_together(case)).flatten()
}

/// `--physcpubind` of numactl, where that binds memory as well.
pub(super) fn physcpubind(case: &Case<'_>) -> Option<String> {
    if bound_together(case) || case.program.pages.is_none() {
        return None;
    }
    case.mask.as_ref().map(|cpus| ranges(cpus.iter().copied()))
}

pub(super) fn interleave(case: &Case<'_>) -> Option<String> {
    (*case.program.pages.as_ref()? == Pages::Interleaved).then(|| "all".to_owned())
}

pub(super) fn memory_nodes(case: &Case<'_>) -> Option<String> {
    match case.program.pages.as_ref()? {
        Pages::Nodes(nodes) => Some(commas(nodes.iter().copied())),
        Pages::Interleaved => None,
    }
}

pub(super) fn cpuset(case: &Case<'_>) -> Option<String> {
    if bound_together(case) {
        return all_together(case);
    }
    case.mask.as_ref().map(|cpus| ranges(cpus.iter().copied()))
}

/// The masks of processes without repetition: process r has number r modulo their number.
fn cycle(masks: Vec<Vec<u32>>) -> Vec<Vec<u32>> {
    let repeats =
        |period: &usize| masks.iter().zip(masks.iter().cycle().skip(*period)).take(masks.len() - period);
    let period = (1..masks.len()).find(|period| repeats(period).all(|(a, b)| a == b)).unwrap_or(masks.len());
    masks.into_iter().take(period).collect()
}

/// The masks of the processes in turn, if they are bound.
fn masks(case: &Case<'_>) -> Option<Vec<Vec<u32>>> {
    case.placing.as_ref().map(|placing| cycle(placing.processes()))
}

/// The single cpus of such masks.
fn singles(masks: &[Vec<u32>]) -> Option<Vec<u32>> {
    masks.iter().map(|mask| if let [cpu] = mask[..] { Some(cpu) } else { None }).collect()
}

fn map_by_of(case: &Case<'_>) -> Option<(String, &'static str)> {
    if case.mask.is_some() {
        return None;
    }
    names::open_mpi(case.node, case.placing.as_ref()?)
}

pub(super) fn map_by(case: &Case<'_>) -> Option<String> {
    map_by_of(case).map(|(map, _)| map)
}

/// `--bind-to` of Open MPI: an object, or `none` where the processes are bound otherwise or not at all. A
/// mask alone would be replaced by the launcher's own binding.
pub(super) fn bind_to(case: &Case<'_>) -> Option<String> {
    match map_by_of(case) {
        Some((_, object)) => Some(object.to_owned()),
        None if case.placing.is_some() || case.unbound() || case.mask.is_some() => Some("none".to_owned()),
        None => None,
    }
}

/// A shell between the launcher and the program, which binds each process by its number on the node.
fn by_rank(case: &Case<'_>, variable: &str) -> Option<String> {
    let masks = masks(case)?;
    let lists: Vec<String> = masks.iter().map(|cpus| ranges(cpus.iter().copied())).collect();
    let turn =
        if (case.processes() as usize) > lists.len() { format!(" % {}", lists.len()) } else { String::new() };
    Some(format!("-c 'c=({}); exec taskset -c ${{c[{variable}{turn}]}} \"$0\" \"$@\"'", lists.join(" ")))
}

pub(super) fn by_rank_open_mpi(case: &Case<'_>) -> Option<String> {
    if map_by_of(case).is_some() {
        return None;
    }
    by_rank(case, "OMPI_COMM_WORLD_LOCAL_RANK")
}

pub(super) fn oversubscribe(case: &Case<'_>) -> Option<String> {
    let cores = case.node.topology().count(sim_core::machine::Level::Core);
    (case.processes() > cores).then(String::new)
}

/// Whether Intel MPI is told single cpus, masks, or nothing.
fn intel_pins(case: &Case<'_>) -> Option<Result<String, String>> {
    let masks = masks(case)?;
    if (case.processes() as usize) > masks.len() {
        return None;
    }
    if let Some(cpus) = singles(&masks) {
        return Some(Ok(commas(cpus)));
    }
    let apart = masks.iter().map(Vec::len).sum::<usize>() == super::layout::union(&masks).len();
    let texts: Vec<String> = masks.iter().map(|mask| hexadecimal(mask)).collect();
    apart.then(|| Err(format!("[{}]", texts.join(","))))
}

pub(super) fn intel_list(case: &Case<'_>) -> Option<String> {
    intel_pins(case)?.ok()
}

pub(super) fn intel_domain(case: &Case<'_>) -> Option<String> {
    intel_pins(case)?.err()
}

/// `I_MPI_PIN=off`: nothing is to be bound, or a mask or a shell binds instead.
pub(super) fn intel_pin(case: &Case<'_>) -> Option<String> {
    let otherwise = case.placing.is_some() && intel_pins(case).is_none();
    let masked = case.placing.is_none() && case.mask.is_some();
    (otherwise || masked || case.unbound()).then(|| "off".to_owned())
}

pub(super) fn by_rank_intel(case: &Case<'_>) -> Option<String> {
    if intel_pins(case).is_some() {
        return None;
    }
    by_rank(case, "MPI_LOCALRANKID")
}

/// `-bind-to` of Hydra.
pub(super) fn hydra_bind(case: &Case<'_>) -> Option<String> {
    if case.unbound() {
        return Some("none".to_owned());
    }
    let plus = |mask: &Vec<u32>| commas(mask.iter().copied()).replace(',', "+");
    Some(format!("user:{}", masks(case)?.iter().map(plus).collect::<Vec<_>>().join(",")))
}

/// `--cpu-bind` of srun, with Linux's numbers of the node.
pub(super) fn cpu_bind(case: &Case<'_>) -> Option<String> {
    if case.unbound() && case.mask.is_none() {
        return Some("none".to_owned());
    }
    let only = case.mask.clone().filter(|_| case.program.cpus.is_some());
    let masks = masks(case).or_else(|| only.map(|mask| vec![mask]))?;
    if let Some(cpus) = singles(&masks) {
        return Some(format!("map_cpu:{}", commas(cpus)));
    }
    let texts: Vec<String> = masks.iter().map(|mask| format!("0x{}", hexadecimal(mask))).collect();
    Some(format!("mask_cpu:{}", texts.join(",")))
}

/// `--hint=nomultithread`, which excludes `--cpu-bind`.
pub(super) fn hint(case: &Case<'_>) -> Option<String> {
    (case.program.one_thread_per_core && cpu_bind(case).is_none()).then(|| "nomultithread".to_owned())
}

/// Cpus that a process can use for its threads.
fn cpus_of_a_process(case: &Case<'_>) -> u32 {
    let placed = case.placing.as_ref().and_then(|placing| placing.processes().iter().map(Vec::len).max());
    case.team().min(placed.unwrap_or_else(|| case.cpus().len()).max(1) as u32)
}

pub(super) fn cpus_per_task(case: &Case<'_>) -> Option<String> {
    let cpus = cpus_of_a_process(case);
    (case.team() > 1).then(|| cpus.to_string())
}

pub(super) fn overcommit(case: &Case<'_>) -> Option<String> {
    let wanted = u64::from(case.processes()) * u64::from(cpus_of_a_process(case));
    let there = case.placing.as_ref().map_or_else(|| case.cpus().len(), |placing| placing.all().len());
    (wanted > there as u64).then(String::new)
}

pub(super) fn overlap(case: &Case<'_>) -> Option<String> {
    matches!(case.shared, Some(Shared::Cores(_))).then(String::new)
}

pub(super) fn exclusive(case: &Case<'_>) -> Option<String> {
    (case.shared == Some(Shared::Nothing)).then(String::new)
}

pub(super) fn oversubscribe_partition(case: &Case<'_>) -> Option<String> {
    match case.shared? {
        Shared::Cores(jobs) => Some(format!("FORCE:{}", jobs.max(2))),
        Shared::Node => Some("NO".to_owned()),
        Shared::Nothing => None,
    }
}

// Cpu time.

pub(super) fn nice(case: &Case<'_>) -> Option<String> {
    case.program.nice.map(|nice| nice.to_string())
}

fn quota(case: &Case<'_>) -> Option<Quota> {
    case.program.quota.filter(|quota| quota.period > 0)
}

/// A part of a whole in parts of `scale`, rounded down.
fn parts(part: u64, whole: u64, scale: u64) -> u64 {
    (u128::from(part) * u128::from(scale) / u128::from(whole.max(1))).min(u128::from(u64::MAX)) as u64
}

/// Hundredths as a number with at most two decimals.
fn decimal(hundredths: u64) -> String {
    let (whole, rest) = (hundredths / 100, hundredths % 100);
    match rest {
        0 => whole.to_string(),
        rest if rest % 10 == 0 => format!("{whole}.{}", rest / 10),
        rest => format!("{whole}.{rest:02}"),
    }
}

/// `CPUQuota=` of systemd: percent of one cpu.
pub(super) fn cpu_quota(case: &Case<'_>) -> Option<String> {
    let quota = quota(case)?;
    Some(format!("{}%", decimal(parts(quota.quota, quota.period, 10_000).max(1))))
}

/// `CPUQuotaPeriodSec=`, if it is not the usual one.
pub(super) fn quota_period(case: &Case<'_>) -> Option<String> {
    let quota = quota(case).filter(|quota| quota.period != USUAL_PERIOD)?;
    Some(if quota.period % 1_000_000 == 0 {
        format!("{}ms", quota.period / 1_000_000)
    } else {
        format!("{}us", quota.period / 1_000)
    })
}

pub(super) fn cpu_max(case: &Case<'_>) -> Option<String> {
    quota(case).map(|quota| format!("{} {}", quota.quota / 1_000, quota.period / 1_000))
}

pub(super) fn burst(case: &Case<'_>) -> Option<String> {
    quota(case).filter(|quota| quota.burst > 0).map(|quota| (quota.burst / 1_000).to_string())
}

pub(super) fn quota_us(case: &Case<'_>) -> Option<String> {
    quota(case).map(|quota| (quota.quota / 1_000).to_string())
}

pub(super) fn period_us(case: &Case<'_>) -> Option<String> {
    quota(case).map(|quota| (quota.period / 1_000).to_string())
}

pub(super) fn weight(case: &Case<'_>) -> Option<String> {
    case.program.weight.map(|weight| weight.to_string())
}

/// Cpu shares for which container runtimes set this weight or the next one: weight =
/// ceil(10^((l^2 + 125 l) / 612 - 7 / 34)), l the logarithm of the shares to base 2.
fn shares(weight: u32) -> u64 {
    let exponent = libm::log10(f64::from(weight.clamp(1, 10_000))) + 7.0 / 34.0;
    // The positive root of l^2 + 125 l - 612 exponent.
    let log = (libm::sqrt(125.0 * 125.0 + 4.0 * 612.0 * exponent) - 125.0) / 2.0;
    (libm::floor(libm::exp2(log)) as u64).clamp(2, 262_144)
}

pub(super) fn cpu_shares(case: &Case<'_>) -> Option<String> {
    case.program.weight.map(|weight| shares(weight).to_string())
}

/// Thousandths of a cpu as Kubernetes writes them.
fn cpus(milli: u64) -> String {
    if milli.is_multiple_of(1_000) { (milli / 1_000).to_string() } else { format!("{milli}m") }
}

/// Whole cpus for the kubelet's static policy: it gives a container as many as it requests.
fn exclusive_cpus(case: &Case<'_>) -> Option<u64> {
    let count = cpuset_size(case)?;
    (case.program.quota.is_none() && case.program.weight.is_none()).then_some(count)
}

fn cpuset_size(case: &Case<'_>) -> Option<u64> {
    let together =
        bound_together(case).then(|| case.placing.as_ref().map(|placing| placing.all().len())).flatten();
    together.or_else(|| case.mask.as_ref().map(Vec::len)).map(|count| count as u64)
}

fn limit_milli(case: &Case<'_>) -> Option<u64> {
    let quota = quota(case)?;
    Some(parts(quota.quota, quota.period, 1_000).max(1))
}

pub(super) fn limit(case: &Case<'_>) -> Option<String> {
    limit_milli(case).or_else(|| exclusive_cpus(case).map(|count| count * 1_000)).map(cpus)
}

/// `requests.cpu`: what the weight needs, if that is not above the limit; the kubelet makes 1,024 shares of
/// one cpu.
pub(super) fn request(case: &Case<'_>) -> Option<String> {
    let Some(weight) = case.program.weight else {
        return exclusive_cpus(case).map(|count| cpus(count * 1_000));
    };
    let milli = (shares(weight) * 1_000).div_ceil(1_024);
    limit_milli(case).is_none_or(|limit| milli <= limit).then(|| cpus(milli))
}

pub(super) fn static_policy(case: &Case<'_>) -> Option<String> {
    exclusive_cpus(case).map(|_| "static".to_owned())
}

pub(super) fn kubelet_period(case: &Case<'_>) -> Option<String> {
    quota_period(case)
}
