//! What surrounds a program and no trace holds: where it may run, its class and group, the kernel.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use rustix::system::uname;
use rustix::time::{ClockId, clock_getres};

use crate::facts::Host;
use crate::recorder::head::{Head, quoted};
use crate::recorder::tree::field;

/// Beginnings of the names of variables that change how a program runs in parallel.
const VARIABLES: [&str; 16] = [
    "OMP_",
    "GOMP_",
    "KMP_",
    "LIBOMP_",
    "ACC_",
    "MPI",
    "OMPI_",
    "PMIX_",
    "PRTE_",
    "I_MPI_",
    "MPICH_",
    "OPENBLAS_",
    "MKL_",
    "RAYON_",
    "TBB_",
    "JULIA_",
];
/// And whole names.
const NAMES: [&str; 8] = [
    "GOMAXPROCS",
    "MAKEFLAGS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "TOKIO_WORKER_THREADS",
    "LD_PRELOAD",
    "MALLOC_ARENA_MAX",
];

/// True for a variable that belongs into a recording.
fn matters(name: &str) -> bool {
    VARIABLES.iter().any(|begin| name.starts_with(begin)) || NAMES.contains(&name)
}

/// The host: cpus, kernel, tick.
pub(crate) fn host(head: &mut Head) {
    let host = Host::here();
    let online = fs::read_to_string("/sys/devices/system/cpu/online").ok();
    head.add_known("online", online.as_deref().map(str::trim));
    head.add("processor", &host.processor);
    head.add("virtual_machine", if host.virtual_machine { "yes" } else { "no" });
    head.add("kernel", &host.release);
    head.add("kernel_version", uname().version().to_string_lossy());
    // The coarse clock advances with the tick (clock_getres(2)).
    let tick = u64::try_from(clock_getres(ClockId::MonotonicCoarse).tv_nsec).unwrap_or(0);
    head.add_known("hz", 1_000_000_000_u64.checked_div(tick));
    head.add("autogroup", if host.autogroup { "on" } else { "off" });
}

/// The variables of the environment that the command inherits.
pub(crate) fn environment(head: &mut Head, variables: impl Iterator<Item = (OsString, OsString)>) {
    let mut known: Vec<(OsString, OsString)> =
        variables.filter(|(name, _)| matters(&name.to_string_lossy())).collect();
    known.sort();
    for (name, value) in known {
        head.add("env", format_args!("{}={}", name.to_string_lossy(), quoted(&value)));
    }
}

/// The name of a scheduling policy (`include/uapi/linux/sched.h`).
fn class(policy: &str) -> &str {
    match policy {
        "0" => "other",
        "1" => "fifo",
        "2" => "rr",
        "3" => "batch",
        "5" => "idle",
        "6" => "deadline",
        "7" => "ext",
        unknown => unknown,
    }
}

/// The first process of the command, as it is just after its exec.
pub(crate) fn process(head: &mut Head, pid: u32) {
    let read = |name: &str| fs::read_to_string(format!("/proc/{pid}/{name}")).unwrap_or_default();
    let (status, stat) = (read("status"), read("stat"));
    let mask = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    head.add_known("mask", mask.map(str::trim));
    head.add_known("nice", field(&stat, 19));
    head.add_known("class", field(&stat, 41).map(class));
    head.add_known("rt_priority", field(&stat, 40).filter(|priority| *priority != "0"));
    head.add_known("session", field(&stat, 6));
    let autogroup = read("autogroup");
    head.add_known("autogroup_of_process", autogroup.lines().next());
    group(head, &read("cgroup"), &fs::read_to_string("/proc/self/mountinfo").unwrap_or_default());
}

/// A mount of control groups: the folder, and which folder of the hierarchy it shows.
fn mount_of<'a>(mounts: &'a str, kind: &str, option: &str) -> Option<(&'a str, &'a str)> {
    mounts.lines().find_map(|line| {
        let (begin, end) = line.split_once(" - ")?;
        let (mut begin, mut end) = (begin.split(' ').skip(3), end.split(' '));
        let (root, folder) = (begin.next()?, begin.next()?);
        let options = end.clone().nth(2).unwrap_or_default();
        let found = end.next()? == kind && (option.is_empty() || options.split(',').any(|o| o == option));
        found.then_some((folder, root))
    })
}

/// The smallest quota from a group up to the root of its mount, in microseconds each period.
fn quota(folder: &Path, path: &str, read: &dyn Fn(&Path) -> Option<(u64, u64)>) -> Option<(u64, u64)> {
    let mut least: Option<(u64, u64)> = None;
    for above in Path::new(path.trim_start_matches('/')).ancestors().take(64) {
        if let Some((quota, period)) = read(&folder.join(above)).filter(|(_, period)| *period > 0) {
            let smaller = |(known, of): (u64, u64)| {
                u128::from(quota) * u128::from(of) < u128::from(known) * u128::from(period)
            };
            if least.is_none_or(smaller) {
                least = Some((quota, period));
            }
        }
    }
    least
}

/// The quota of a group of cgroup v2 (`cpu.max`).
fn second(folder: &Path) -> Option<(u64, u64)> {
    let text = fs::read_to_string(folder.join("cpu.max")).ok()?;
    let (quota, period) = text.trim().split_once(' ')?;
    Some((quota.parse().ok()?, period.parse().ok()?))
}

/// The quota of a group of cgroup v1.
fn first(folder: &Path) -> Option<(u64, u64)> {
    let number = |name: &str| fs::read_to_string(folder.join(name)).ok()?.trim().parse().ok();
    Some((number("cpu.cfs_quota_us")?, number("cpu.cfs_period_us")?))
}

/// The control group with its quota and weight. The cpu controller is in one of the two hierarchies.
fn group(head: &mut Head, groups: &str, mounts: &str) {
    let of = |wanted: &dyn Fn(&str, &str) -> bool| {
        groups.lines().find_map(|line| {
            let (id, rest) = line.split_once(':')?;
            let (controllers, path) = rest.split_once(':')?;
            wanted(id, controllers).then_some(path)
        })
    };
    let old = of(&|_, controllers| controllers.split(',').any(|one| one == "cpu"));
    let Some(path) = old.or_else(|| of(&|id, _| id == "0")) else { return };
    head.add("cgroup", path);
    let (kind, option) = if old.is_some() { ("cgroup", "cpu") } else { ("cgroup2", "") };
    let Some((folder, root)) = mount_of(mounts, kind, option) else { return };
    let folder = Path::new(folder);
    // Inside a container the mount begins below the root of the hierarchy.
    let inside = if root == "/" { path } else { path.strip_prefix(root).unwrap_or("/") };
    let read: &dyn Fn(&Path) -> Option<(u64, u64)> = if old.is_some() { &first } else { &second };
    let least = quota(folder, inside, read);
    head.add(
        "cpu_max",
        least.map_or_else(|| "max".to_owned(), |(quota, period)| format!("{quota} {period}")),
    );
    let own = folder.join(inside.trim_start_matches('/'));
    for (key, name) in [("cpu_weight", "cpu.weight"), ("cpu_shares", "cpu.shares")] {
        let text = fs::read_to_string(own.join(name)).ok();
        head.add_known(key, text.as_deref().map(str::trim));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_variables_of_parallel_programs_are_kept() {
        let mut head = Head::new();
        let all = [
            ("PATH", "/bin"),
            ("OMP_NUM_THREADS", "4"),
            ("GOMAXPROCS", "2"),
            ("MAKEFLAGS", "-j 4"),
            ("KEY", "x"),
        ];
        environment(&mut head, all.iter().map(|(name, value)| (name.into(), value.into())));
        let text = head.text();
        let lines: Vec<&str> = text.lines().skip(1).collect();
        assert_eq!(lines, ["# env: GOMAXPROCS=2", "# env: MAKEFLAGS='-j 4'", "# env: OMP_NUM_THREADS=4"]);
    }

    #[test]
    fn the_smallest_quota_above_a_group_holds() {
        let read = |path: &Path| match path.to_str()? {
            "/g/a/b" => Some((200_000, 100_000)),
            "/g/a" => Some((15_000, 10_000)),
            "/g" => Some((5, 0)),
            _ => None,
        };
        assert_eq!(quota(Path::new("/g"), "/a/b", &read), Some((15_000, 10_000)));
        assert_eq!(quota(Path::new("/g"), "/c", &read), None);
    }

    #[test]
    fn mounts_of_both_versions_are_found() {
        let mounts = "30 23 0:26 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw\n\
            31 23 0:27 /docker /sys/fs/cpu rw - cgroup cgroup rw,cpu,cpuacct\nbroken - x\n";
        assert_eq!(mount_of(mounts, "cgroup2", ""), Some(("/sys/fs/cgroup", "/")));
        assert_eq!(mount_of(mounts, "cgroup", "cpu"), Some(("/sys/fs/cpu", "/docker")));
        assert_eq!(mount_of(mounts, "cgroup", "cpuset"), None);
    }

    #[test]
    fn this_process_has_a_mask_and_a_class() {
        let mut head = Head::new();
        host(&mut head);
        process(&mut head, std::process::id());
        let text = head.text();
        assert!(
            ["# kernel: ", "# hz: ", "# mask: ", "# nice: ", "# class: "]
                .iter()
                .all(|key| text.contains(key))
        );
    }
}
