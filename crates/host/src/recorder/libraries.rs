//! Which runtime libraries a command has loaded: how its threads wait depends on them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::recorder::elf::Elf;
use crate::recorder::head::Head;
use crate::recorder::tree;

/// When the processes are looked at, from the start of the command on: the first time just after its exec,
/// and again for those that it starts. Each look takes some 100 us a process.
const LOOKS: [Duration; 4] =
    [Duration::from_millis(5), Duration::from_millis(50), Duration::from_millis(400), Duration::from_secs(3)];
/// Beginnings of the names of the libraries.
const NAMES: [&str; 12] = [
    "libgomp",
    "libomp",
    "libiomp",
    "libmpi",
    "libmpich",
    "libopen-pal",
    "libucp",
    "libtbb",
    "libopenblas",
    "libmkl_",
    "libblis",
    "libpsm",
];
/// Most libraries that are listed.
const MOST: usize = 64;

/// The libraries that were seen.
#[derive(Default, Debug)]
pub(crate) struct Libraries {
    looks: usize,
    /// By path: the name under which programs need it.
    known: BTreeMap<String, String>,
}

/// The paths of libraries in `/proc/PID/maps`, each once.
fn mapped(maps: &str) -> Vec<&str> {
    let mut paths: Vec<&str> = maps
        .lines()
        .filter_map(|line| line.find('/').and_then(|at| line.get(at..)))
        .filter(|path| {
            let file = path.rsplit('/').next().unwrap_or_default();
            NAMES.iter().any(|name| file.starts_with(name)) && file.contains(".so")
        })
        .collect();
    paths.sort_unstable();
    paths.dedup();
    paths
}

impl Libraries {
    /// The time until the next look is due, if there is one.
    pub(crate) fn next(&self, since: Duration) -> Option<Duration> {
        LOOKS.get(self.looks).map(|at| at.saturating_sub(since))
    }

    /// Looks at a process and all below it, if that is due.
    pub(crate) fn look(&mut self, pid: u32, since: Duration) {
        let due = LOOKS.iter().filter(|at| **at <= since).count();
        if due <= self.looks {
            return;
        }
        self.looks = due;
        for pid in tree::from(pid, None) {
            let maps = fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
            for path in mapped(&maps) {
                if self.known.len() < MOST && !self.known.contains_key(path) {
                    // A process in a container has another root.
                    let seen = format!("/proc/{pid}/root{path}");
                    let elf = Elf::open(Path::new(&seen)).ok().flatten();
                    let name = elf.and_then(|elf| elf.links().ok()?.name);
                    let file = || path.rsplit('/').next().unwrap_or_default().to_owned();
                    self.known.insert(path.to_owned(), name.unwrap_or_else(file));
                }
            }
        }
    }

    /// Lists them: name, path.
    pub(crate) fn list(&self, head: &mut Head) {
        for (path, name) in &self.known {
            let real = fs::canonicalize(path).unwrap_or_else(|_| path.into());
            head.add("library", format_args!("{name} {}", real.display()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runtime_libraries_are_found_in_maps() {
        let maps = "7f00-7f01 r-xp 0 00:1 5 /usr/lib/libgomp.so.1.0.0\n7f01-7f02 r--p 0 00:1 5 \
            /usr/lib/libgomp.so.1.0.0\n7f03-7f04 r-xp 0 00:1 6 /usr/lib/libc.so.6\n7f05-7f06 rw-p 0 00:0 0\n\
            7f07-7f08 r-xp 0 00:1 7 /opt/my mpi/libmpi.so.40 (deleted)\n7f09-7f0a r-xp 0 0 0 [vdso]\n";
        assert_eq!(mapped(maps), ["/opt/my mpi/libmpi.so.40 (deleted)", "/usr/lib/libgomp.so.1.0.0"]);
    }

    #[test]
    fn looks_become_rare() {
        let mut libraries = Libraries::default();
        assert_eq!(libraries.next(Duration::ZERO), Some(Duration::from_millis(5)));
        libraries.look(std::process::id(), Duration::from_millis(60));
        assert_eq!(libraries.next(Duration::from_millis(100)), Some(Duration::from_millis(300)));
        libraries.look(std::process::id(), Duration::from_secs(9));
        assert_eq!(libraries.next(Duration::from_secs(9)), None);
    }
}
