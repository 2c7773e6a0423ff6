//! The memory that a plan may take: the smallest of what the user, the shell, the container and the machine
//! allow.

use std::fs;
use std::path::Path;

/// Bytes of an application that is read but not planned yet, alone and in the mix.
pub(crate) const READ: u64 = 1_200;

/// The memory that there is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Limit {
    /// Bytes.
    pub bytes: u64,
    /// Where the limit comes from, as in `the limit of --memory`.
    pub source: String,
    /// Whether it limits the address space, of which threads reserve more than they use.
    pub addresses: bool,
}

/// Where Linux mounts the control groups, of version 2 and of memory in version 1, each with the file of the
/// limit.
const GROUPS: [(&str, &str, &str); 2] =
    [("", "/sys/fs/cgroup", "memory.max"), ("memory", "/sys/fs/cgroup/memory", "memory.limit_in_bytes")];

/// The smallest limit; none where neither the user nor the system says one. `wanted`: bytes of `--memory`.
#[must_use]
pub fn limit(wanted: Option<u64>) -> Option<Limit> {
    let of = |bytes: Option<u64>, source: &str, addresses| {
        bytes.map(|bytes| Limit { bytes, source: source.to_owned(), addresses })
    };
    let limits = [
        of(wanted, "the limit of --memory", false),
        of(address_space(), "the limit of the address space (ulimit -v)", true),
        of(group(), "the memory limit of the control group", false),
        of(machine(), "the free memory of this machine", false),
    ];
    limits.into_iter().flatten().min_by_key(|limit| limit.bytes)
}

/// The limit of the address space, bytes.
#[cfg(unix)]
fn address_space() -> Option<u64> {
    rustix::process::getrlimit(rustix::process::Resource::As).current
}

#[cfg(not(unix))]
fn address_space() -> Option<u64> {
    None
}

/// The smallest limit of the control groups that this process is in, bytes.
fn group() -> Option<u64> {
    let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let limits = GROUPS.iter().flat_map(|(controller, root, file)| {
        let path = path_of(&own, controller).unwrap_or_default();
        let root = Path::new(root);
        // In a container the path may be that of the host, and the files those of the own group.
        let own = root.join(path.trim_start_matches('/'));
        let groups: Vec<_> = own.ancestors().take_while(|group| group.starts_with(root)).collect();
        groups
            .into_iter()
            .filter_map(|group| bytes(&fs::read_to_string(group.join(file)).ok()?))
            .collect::<Vec<_>>()
    });
    limits.min()
}

/// The path of a controller in `/proc/self/cgroup`: lines of number, controllers and path; version 2 names no
/// controller.
fn path_of<'a>(text: &'a str, controller: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next()?, parts.next()?);
        controllers.split(',').any(|one| one == controller).then_some(path)
    })
}

/// A limit of a control group: a number of bytes; `max`, and in version 1 a number beyond all memory, are
/// none.
fn bytes(text: &str) -> Option<u64> {
    text.trim().parse().ok().filter(|bytes| *bytes < 1 << 60)
}

/// Memory that programs can get without swapping, bytes.
fn machine() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    field(&text, "MemAvailable:").or_else(|| field(&text, "MemTotal:"))
}

/// A number of kibibytes in `/proc/meminfo`, in bytes.
fn field(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1_024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_the_system_are_read() {
        let groups = "12:cpu,memory:/a/b\n4:pids:/x\n0::/user.slice/s:1\n";
        assert_eq!(path_of(groups, ""), Some("/user.slice/s:1"));
        assert_eq!(path_of(groups, "memory"), Some("/a/b"));
        assert_eq!(path_of("", "memory"), None);
        assert_eq!(
            (bytes("max\n"), bytes("9223372036854771712\n"), bytes("4096\n")),
            (None, None, Some(4_096))
        );
        let memory = "MemTotal:  8 kB\nMemFree: 1 kB\nMemAvailable:    5 kB\n";
        assert_eq!((field(memory, "MemAvailable:"), field(memory, "MemTotal:")), (Some(5_120), Some(8_192)));
        assert_eq!(field("MemTotal: x kB", "MemTotal:"), None);
    }

    #[test]
    fn the_limit_of_the_user_counts_where_it_is_the_smallest() {
        let limit = limit(Some(1)).unwrap();
        assert_eq!((limit.bytes, limit.source.as_str()), (1, "the limit of --memory"));
    }
}
