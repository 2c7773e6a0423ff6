//! The files of tracefs (Documentation/trace/ftrace.rst), and an instance of our own in it: other users of
//! tracing on this host keep their events, buffers and clocks.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};

/// How the names of our instances begin; the process id follows.
const PREFIX: &str = "oversim-";
/// How often the removal of something that is in use is tried again, and after which time.
const TRIES: (u32, Duration) = (40, Duration::from_millis(50));

/// Why nothing can be recorded, and what to do.
pub(crate) fn refusal(what: &str, error: &io::Error) -> String {
    let hint = match error.kind() {
        ErrorKind::NotFound => {
            "This kernel has no tracefs with instances and events (CONFIG_FTRACE, CONFIG_EVENT_TRACING)"
        }
        ErrorKind::PermissionDenied => {
            "`oversim twin record` needs root, whose tracefs is: start it with sudo; in a container, record \
                on the host. Without root, let the administrator execute `sysctl \
                kernel.perf_event_paranoid=-1` and, with a group of yours, `mount -o \
                remount,gid=GROUP,mode=750 /sys/kernel/tracing`; then record with `perf sched record -k \
                CLOCK_MONOTONIC -- COMMAND`, and read that with `oversim twin import perf.data`"
        }
        _ => return format!("cannot record: {what}: {error}"),
    };
    format!("cannot record: {what}: {error}. {hint}")
}

/// The root of tracefs.
#[derive(Debug)]
pub(crate) struct Tracefs {
    root: PathBuf,
    /// A mount that is seen by this process alone, where tracefs is not mounted. It ends with the process.
    _mount: Option<OwnedFd>,
}

/// A path of `/proc/self/mounts`, in which blanks are written `\040`.
fn unescaped(text: &str) -> PathBuf {
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let [first, tail @ ..] = rest {
        let code = match (first, tail) {
            (b'\\', [a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', ..]) => {
                Some((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'))
            }
            _ => None,
        };
        bytes.push(code.unwrap_or(*first));
        rest = tail.get(if code.is_some() { 3 } else { 0 }..).unwrap_or_default();
    }
    PathBuf::from(std::ffi::OsString::from_vec(bytes))
}

/// Where tracefs is mounted.
fn mounted(mounts: &str) -> Option<PathBuf> {
    mounts.lines().find_map(|line| {
        let mut fields = line.split(' ').skip(1);
        let path = fields.next()?;
        (fields.next()? == "tracefs").then(|| unescaped(path))
    })
}

impl Tracefs {
    /// Opens tracefs: where it is mounted, else by a mount of our own that no other process sees.
    ///
    /// # Errors
    /// A sentence with what is needed.
    pub(crate) fn open() -> Result<Self, String> {
        let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
        if let Some(root) = mounted(&mounts) {
            return Ok(Self { root, _mount: None });
        }
        let mount = || -> rustix::io::Result<OwnedFd> {
            let opened = fsopen("tracefs", FsOpenFlags::FSOPEN_CLOEXEC)?;
            fsconfig_create(&opened)?;
            fsmount(&opened, FsMountFlags::FSMOUNT_CLOEXEC, MountAttrFlags::empty())
        };
        let mount = mount().map_err(|e| match e {
            // The kernel does not know the file system, or is older than 5.2.
            rustix::io::Errno::NODEV => refusal("mount tracefs", &ErrorKind::NotFound.into()),
            rustix::io::Errno::NOSYS => {
                "cannot record: tracefs is not mounted; mount it with `mount -t tracefs \
                nodev /sys/kernel/tracing`"
                    .to_owned()
            }
            other => refusal("tracefs is not mounted, and to mount it", &other.into()),
        })?;
        Ok(Self { root: PathBuf::from(format!("/proc/self/fd/{}", mount.as_raw_fd())), _mount: Some(mount) })
    }

    /// A file or directory in it.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// The directory of an instance.
    pub(crate) fn instance(&self, name: &str) -> PathBuf {
        self.root.join("instances").join(name)
    }

    /// Adds a line to a file that holds several, such as `uprobe_events`: opening it otherwise would remove
    /// the lines of others.
    pub(crate) fn append(&self, name: &str, line: &str) -> io::Result<()> {
        OpenOptions::new().append(true).open(self.path(name))?.write_all(line.as_bytes())
    }

    /// Removes instances that earlier recordings could not remove. One that is in use stays.
    pub(crate) fn remove_leftovers(&self) {
        let Ok(entries) = fs::read_dir(self.root.join("instances")) else { return };
        for entry in entries.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let Some(pid) = name.strip_prefix(PREFIX).filter(|pid| pid.parse::<u32>().is_ok()) else {
                continue;
            };
            if !Path::new("/proc").join(pid).exists() && fs::remove_dir(entry.path()).is_ok() {
                // Without their file nothing is left of its probes.
                let _ = self.remove_probes(&group(pid));
            }
        }
    }

    /// Removes all probes of a group.
    pub(crate) fn remove_probes(&self, group: &str) -> io::Result<()> {
        let known = match fs::read_to_string(self.path("uprobe_events")) {
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(()),
            known => known?,
        };
        for line in known.lines() {
            // `p:group/name file:offset`
            let event = line.split_once(':').and_then(|(_, rest)| rest.split(' ').next()).unwrap_or_default();
            if event.split_once('/').is_some_and(|(of, _)| of == group) {
                again(|| self.append("uprobe_events", &format!("-:{event}\n")))?;
            }
        }
        Ok(())
    }
}

/// Tries again while something is in use: the kernel ends tracing with a delay.
fn again(mut attempt: impl FnMut() -> io::Result<()>) -> io::Result<()> {
    for _ in 0..TRIES.0 {
        match attempt() {
            Err(e) if e.kind() == ErrorKind::ResourceBusy => std::thread::sleep(TRIES.1),
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(()),
            done => return done,
        }
    }
    attempt()
}

/// The group of the probes of a process: a name of C.
pub(crate) fn group(pid: impl std::fmt::Display) -> String {
    format!("oversim_{pid}")
}

/// What a recording leaves in tracefs until it is removed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Remains {
    /// The name of the instance.
    pub(crate) instance: String,
    /// The group of the probes.
    pub(crate) group: String,
}

impl Remains {
    /// Those of a process.
    pub(crate) fn of(pid: u32) -> Self {
        Self { instance: format!("{PREFIX}{pid}"), group: group(pid) }
    }

    /// Removes them.
    ///
    /// # Errors
    /// What stays.
    pub(crate) fn remove(&self, tracefs: &Tracefs) -> Result<(), String> {
        let path = tracefs.instance(&self.instance);
        // Ends recording at once; the directory may be gone.
        let _ = fs::write(path.join("tracing_on"), "0");
        let instance = again(|| fs::remove_dir(&path));
        instance.map_err(|e| format!("the instance {} of tracefs stays: {e}", self.instance))?;
        let probes = tracefs.remove_probes(&self.group);
        probes.map_err(|e| format!("the probes {} of tracefs stay: {e}", self.group))
    }
}

/// What the kernel counts of the buffers of an instance, over all cpus.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Counts {
    /// Events that were read.
    pub(crate) read: u64,
    /// Events that were lost: written over before they were read, or without room.
    pub(crate) lost: u64,
    /// Bytes in the fullest buffer.
    pub(crate) fullest: u64,
}

impl Counts {
    /// Adds the counts of a cpu (`per_cpu/cpuN/stats`).
    fn add(&mut self, stats: &str) {
        for line in stats.lines() {
            let Some((key, value)) = line.split_once(':') else { continue };
            let Ok(value) = value.trim().parse::<u64>() else { continue };
            match key {
                "read events" => self.read = self.read.saturating_add(value),
                "overrun" | "commit overrun" | "dropped events" => {
                    self.lost = self.lost.saturating_add(value);
                }
                "bytes" => self.fullest = self.fullest.max(value),
                _ => {}
            }
        }
    }
}

/// An instance of our own. Dropping it removes it, and the probes of its group.
#[derive(Debug)]
pub(crate) struct Instance<'a> {
    tracefs: &'a Tracefs,
    path: PathBuf,
    remains: Remains,
    cpus: Vec<PathBuf>,
    gone: bool,
}

impl<'a> Instance<'a> {
    /// Makes it; nothing is recorded yet.
    ///
    /// # Errors
    /// A sentence with what is needed.
    pub(crate) fn new(tracefs: &'a Tracefs, remains: Remains) -> Result<Self, String> {
        let path = tracefs.instance(&remains.instance);
        let mut made = DirBuilder::new().create(&path);
        if made.as_ref().is_err_and(|e| e.kind() == ErrorKind::AlreadyExists) {
            // Of an earlier process with this number.
            let _ = remains.remove(tracefs);
            made = DirBuilder::new().create(&path);
        }
        made.map_err(|e| refusal("make an instance in tracefs", &e))?;
        let mut new = Self { tracefs, path, remains, cpus: Vec::new(), gone: false };
        new.write("tracing_on", "0")?;
        let cpus = fs::read_dir(new.path.join("per_cpu")).map_err(|e| refusal("read tracefs", &e))?;
        new.cpus = cpus.flatten().map(|entry| entry.path().join("stats")).collect();
        Ok(new)
    }

    /// Writes a file of it.
    ///
    /// # Errors
    /// A sentence.
    pub(crate) fn write(&self, name: &str, text: &str) -> Result<(), String> {
        self.set(name, text).map_err(|e| format!("cannot write {text} to {name} of tracefs: {e}"))
    }

    /// As [`write`](Self::write), with the error of the system.
    pub(crate) fn set(&self, name: &str, text: &str) -> io::Result<()> {
        // Not `fs::write`, which would make files of other names.
        OpenOptions::new().write(true).open(self.path.join(name))?.write_all(text.as_bytes())
    }

    /// True if it has such a file.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.path.join(name).exists()
    }

    /// The comments at the beginning of its text.
    pub(crate) fn head(&self) -> String {
        let text = fs::read_to_string(self.path.join("trace")).unwrap_or_default();
        let lines = text.lines().take_while(|line| line.starts_with('#'));
        lines.flat_map(|line| [line, "\n"]).collect()
    }

    /// Its text as a stream: what is read is removed from the buffers.
    ///
    /// # Errors
    /// A sentence.
    pub(crate) fn pipe(&self) -> Result<File, String> {
        use std::os::unix::fs::OpenOptionsExt;
        let nonblocking = rustix::fs::OFlags::NONBLOCK.bits();
        let flags = i32::try_from(nonblocking).unwrap_or(0);
        let opened = OpenOptions::new().read(true).custom_flags(flags).open(self.path.join("trace_pipe"));
        opened.map_err(|e| format!("cannot read trace_pipe of tracefs: {e}"))
    }

    /// Number of cpus that have a buffer.
    pub(crate) fn buffers(&self) -> u64 {
        self.cpus.len().max(1) as u64
    }

    /// What the kernel has counted so far.
    pub(crate) fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for cpu in &self.cpus {
            counts.add(&fs::read_to_string(cpu).unwrap_or_default());
        }
        counts
    }

    /// Removes it and the probes.
    ///
    /// # Errors
    /// What stays.
    pub(crate) fn remove(mut self) -> Result<(), String> {
        self.gone = true;
        self.remains.remove(self.tracefs)
    }
}

impl Drop for Instance<'_> {
    fn drop(&mut self) {
        if !self.gone {
            // The failure that is reported is the first one.
            let _ = self.remains.remove(self.tracefs);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts_are_found() {
        let mounts = "proc /proc proc rw 0 0\nnodev /sys/kernel/tra\\040cing\\134 tracefs rw 0 0\n";
        assert_eq!(mounted(mounts), Some(PathBuf::from("/sys/kernel/tra cing\\")));
        assert_eq!(mounted("a b\n\nx\n"), None);
        assert_eq!(unescaped("\\999\\04\\400"), PathBuf::from("\\999\\04\\400"));
    }

    #[test]
    fn counts_are_those_of_all_cpus() {
        let mut counts = Counts::default();
        counts.add(
            "entries: 5\noverrun: 2\ncommit overrun: 1\nbytes: 400\noldest event ts:  9.1\nread events: 7\n",
        );
        counts.add("overrun: 1\nbytes: 30\ndropped events: 4\nread events: x\nread events: 3\n");
        assert_eq!(counts, Counts { read: 10, lost: 8, fullest: 400 });
    }

    #[test]
    fn a_refusal_names_the_privilege_and_the_other_ways() {
        let text = refusal("make an instance", &ErrorKind::PermissionDenied.into());
        let ways = ["needs root", "sudo", "perf_event_paranoid", "perf sched record", "oversim twin import"];
        assert!(ways.iter().all(|way| text.contains(way)), "{text}");
        assert!(refusal("x", &ErrorKind::NotFound.into()).contains("CONFIG_EVENT_TRACING"));
    }
}
