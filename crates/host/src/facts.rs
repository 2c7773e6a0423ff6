//! What this host is, and how much of it others use.

use std::fs;

use rustix::process::getpriority_process;
use rustix::system::uname;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Nanoseconds of a unit of /proc/stat (USER_HZ is 100 on every architecture of Linux in use).
pub(crate) const UNIT: u64 = 10_000_000;

/// Other tasks on a cpu.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Others {
    /// Times that one of them ran instead of a thread that computes, for each second of that thread.
    pub per_second: f64,
    /// Mean time that it ran, ns.
    pub length: f64,
    /// Time that the thread lost without a switch, for each second: ticks and other interrupts, ns.
    pub interrupts: f64,
}

/// The host of a measurement.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Host {
    /// Cpus that this process may use.
    pub cpus: u32,
    /// Release of its Linux kernel.
    pub release: String,
    /// Its processor, from /proc/cpuinfo.
    pub processor: String,
    /// True if each session is a separate group to the scheduler (sched_autogroup_enabled). All programs of
    /// a measurement are in one session, and the model has no groups.
    pub autogroup: bool,
    /// True in a virtual machine.
    pub virtual_machine: bool,
    /// What other tasks do on each cpu, where it was looked at: predictions have them, too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<Others>,
}

impl Host {
    /// This host.
    #[must_use]
    pub fn here() -> Self {
        let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let field = |name: &str| {
            let line = info.lines().find(|line| line.starts_with(name))?;
            Some(line.split_once(':')?.1.trim().to_owned())
        };
        let autogroup = fs::read_to_string("/proc/sys/kernel/sched_autogroup_enabled");
        Self {
            cpus: u32::try_from(cpus().len()).unwrap_or(u32::MAX),
            release: uname().release().to_string_lossy().into_owned(),
            processor: field("model name").unwrap_or_else(|| "unknown".into()),
            autogroup: autogroup.is_ok_and(|text| text.trim() == "1"),
            virtual_machine: field("flags").is_some_and(|f| f.split(' ').any(|flag| flag == "hypervisor")),
            others: Vec::new(),
        }
    }

    /// A host of which nothing is known.
    #[must_use]
    pub fn unknown() -> Self {
        let text = || "unknown".to_owned();
        Self {
            cpus: 0,
            release: text(),
            processor: text(),
            autogroup: false,
            virtual_machine: false,
            others: Vec::new(),
        }
    }

    /// The first two numbers of its release.
    #[must_use]
    pub fn version(&self) -> Option<(u32, u32)> {
        let mut numbers = self.release.split(['.', '-']).map(str::parse);
        Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
    }
}

/// The cpus that this process may use, in order.
#[must_use]
pub fn cpus() -> Vec<u32> {
    let set = sched_getaffinity(None).unwrap_or_else(|_| CpuSet::new());
    (0..CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu)).map(|cpu| cpu as u32).collect()
}

/// Context switches of the calling thread so far, both kinds; none where Linux does not say.
#[must_use]
pub fn switches() -> Option<u64> {
    let text = fs::read_to_string("/proc/thread-self/status").ok()?;
    let count = |key: &str| -> Option<u64> {
        text.lines().find_map(|line| line.strip_prefix(key)?.trim().parse().ok())
    };
    Some(count("voluntary_ctxt_switches:")? + count("nonvoluntary_ctxt_switches:")?)
}

/// The nice value of this process; 0 where it cannot be read.
#[must_use]
pub fn nice() -> i32 {
    getpriority_process(None).unwrap_or(0)
}

/// Binds the calling thread to these cpus.
///
/// # Errors
/// A sentence.
pub fn bind(cpus: &[u32]) -> Result<(), String> {
    let mut set = CpuSet::new();
    for cpu in cpus.iter().map(|cpu| *cpu as usize).filter(|cpu| *cpu < CpuSet::MAX_CPU) {
        set.set(cpu);
    }
    sched_setaffinity(None, &set).map_err(|e| format!("cannot bind a thread to the cpus {cpus:?}: {e}"))
}

/// Moves the calling thread to a cpu of its affinity mask, which stays as it is.
///
/// # Errors
/// A sentence: the kernel refuses it. A cpu outside of the mask is left out.
pub fn visit(cpu: u32) -> Result<(), String> {
    let own = sched_getaffinity(None).map_err(|e| format!("cannot read the affinity of a thread: {e}"))?;
    if !own.is_set(cpu as usize) {
        return Ok(());
    }
    bind(&[cpu])?;
    sched_setaffinity(None, &own).map_err(|e| format!("cannot restore the affinity of a thread: {e}"))
}

/// Cpu time of the cpus that this process may use at an instant, in nanoseconds since the boot of the host.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Usage {
    /// Time that all cpus were idle or waited for a device.
    pub idle: u64,
    /// Time that the hypervisor gave to others.
    pub steal: u64,
}

impl Usage {
    /// Now; zero where /proc/stat cannot be read.
    #[must_use]
    pub fn now() -> Self {
        fs::read_to_string("/proc/stat").map_or_else(|_| Self::default(), |text| Self::parse(&text, &cpus()))
    }

    fn parse(text: &str, cpus: &[u32]) -> Self {
        let mut usage = Self::default();
        for line in text.lines() {
            let Some((cpu, rest)) = line.strip_prefix("cpu").and_then(|line| line.split_once(' ')) else {
                continue;
            };
            if cpu.parse().is_ok_and(|cpu: u32| cpus.contains(&cpu)) {
                let fields: Vec<u64> =
                    rest.split_whitespace().map_while(|field| field.parse().ok()).collect();
                let of = |at: usize| fields.get(at).copied().unwrap_or(0).saturating_mul(UNIT);
                usage.idle = usage.idle.saturating_add(of(3)).saturating_add(of(4));
                usage.steal = usage.steal.saturating_add(of(7));
            }
        }
        usage
    }

    /// Cpu time of others and steal from an earlier instant to this one, in which `own` was used on `cpus`
    /// cpus in `elapsed` nanoseconds. Multiples of 10 ms are all that the kernel reports.
    #[must_use]
    pub fn others(self, before: Self, own: u64, elapsed: u64, cpus: u32) -> (u64, u64) {
        let whole = elapsed.saturating_mul(u64::from(cpus));
        let steal = self.steal.saturating_sub(before.steal);
        let known = self.idle.saturating_sub(before.idle).saturating_add(own).saturating_add(steal);
        (whole.saturating_sub(known), steal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_have_numbers() {
        let version = |release: &str| Host { release: release.into(), ..Host::unknown() }.version();
        assert_eq!(version("6.18.44-fc-v509"), Some((6, 18)));
        assert_eq!(version("6.6-rc1"), Some((6, 6)));
        assert_eq!(version("unknown"), None);
    }

    #[test]
    fn what_is_neither_idle_nor_own_is_of_others() {
        // The third cpu is not one of this process.
        let of = |text: &str| Usage::parse(&format!("cpu  7 7 7 7 7\n{text}cpu2 1 2 3 4 5\n"), &[0, 1]);
        let before = of("cpu0 1 2 3 60 10 0 0 5 0 0\ncpu1 0 0 0 40 0\n");
        let after = of("cpu0 9 2 3 65 12 0 0 6 0 0\ncpu1 0 0 0 45 0\n");
        // 400 ms of two cpus: 120 ms idle, 200 ms own, 10 ms stolen, 70 ms of others.
        assert_eq!(after.others(before, 200_000_000, 200_000_000, 2), (70_000_000, 10_000_000));
        assert_eq!(Usage::parse("intr 5", &[0]), Usage::default());
    }

    #[test]
    fn this_host_has_cpus() {
        let host = Host::here();
        assert!(host.cpus > 0 && host.version().is_some());
    }
}
