//! Marks: uprobes (Documentation/trace/uprobetracer.rst) at the entry and the return of functions that tell
//! work from waiting. A trace of the scheduler shows a thread that polls as one that computes.
//!
//! Compilers outline the body of an OpenMP region into a function of its own, and an MPI program waits only
//! in calls of its library.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::recorder::elf::{Elf, Table};
use crate::recorder::tracefs::Tracefs;

/// Most marks. Each is two probes, which together take a thread 11 us on a virtual machine (AMD EPYC, Linux
/// 6.18).
const MOST: usize = 256;
/// Most words of the command line that are looked at.
const WORDS: usize = 64;
/// Longest name of a mark: the kernel takes 63 bytes, and `__return` follows.
const LONGEST: usize = 54;
/// Calls of MPI that never wait and that programs make often.
const LOCAL: [&str; 14] = [
    "Wtime",
    "Wtick",
    "Comm_rank",
    "Comm_size",
    "Comm_get_",
    "Comm_set_",
    "Comm_c2f",
    "Comm_f2c",
    "Get_",
    "Type_",
    "Op_",
    "Error_",
    "Info_",
    "Group_",
];

/// A function that is marked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Mark {
    /// The name in the recording.
    pub(crate) name: String,
    /// The name in the file.
    pub(crate) function: String,
    file: PathBuf,
    /// Where it begins in the file, in bytes.
    offset: u64,
}

/// What was found, and what there is to say about it.
#[derive(Default, Debug)]
pub(crate) struct Found {
    /// The marks.
    pub(crate) marks: Vec<Mark>,
    /// Sentences.
    pub(crate) remarks: Vec<String>,
    names: BTreeSet<String>,
    left: usize,
}

/// True for the outlined body of an OpenMP region: `main._omp_fn.0` of GCC, `main.omp_outlined` of LLVM.
/// Parts that were split off (`.cold`) begin in the middle; LLVM calls its `_debug__` functions from the
/// other ones.
fn is_work(name: &str) -> bool {
    let outlined = name.contains("._omp_fn.") || name.contains(".omp_outlined");
    outlined && !name.contains(".cold") && !name.contains("_debug__")
}

/// The name of an MPI call without what the language adds, if it may wait: `MPI_Recv` of C, `mpi_recv_` of
/// Fortran.
fn call(name: &str) -> Option<&str> {
    let of_fortran = || name.strip_prefix("mpi_")?.strip_suffix('_');
    let call = name.strip_prefix("MPI_").or_else(of_fortran)?;
    let same = |begin: &&str| call.get(..begin.len()).is_some_and(|part| part.eq_ignore_ascii_case(begin));
    (!LOCAL.iter().any(same)).then_some(call)
}

impl Found {
    fn add(&mut self, kind: &str, function: &str, of: &str, file: &Path, offset: u64) {
        if self.marks.len() >= MOST {
            self.left += 1;
            return;
        }
        let letter = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let base: String = kind.chars().chain(of.chars().map(letter)).take(LONGEST).collect();
        let mut name = base.clone();
        let mut number = 2;
        while !self.names.insert(name.clone()) {
            name = format!("{base}_{number}");
            number += 1;
        }
        self.marks.push(Mark { name, function: function.to_owned(), file: file.to_owned(), offset });
    }

    /// The functions of work of a program.
    fn work(&mut self, file: &Path, elf: &Elf<File>) -> Result<(), String> {
        let Some(symbols) = elf.symbols(Table::All, &is_work)? else {
            let shown = file.display();
            self.remarks.push(format!("{shown} has no symbols (it is stripped): its functions get no marks"));
            return Ok(());
        };
        for symbol in symbols {
            if let Some(offset) = symbol.offset {
                self.add("w_", &symbol.name, &symbol.name, file, offset);
            }
        }
        Ok(())
    }

    /// The calls of MPI of a program, in the libraries that it loads.
    fn calls(&mut self, file: &Path, elf: &Elf<File>) -> Result<(), String> {
        let symbols = elf.symbols(Table::Dynamic, &|name| call(name).is_some())?.unwrap_or_default();
        let mut wanted: BTreeSet<String> =
            symbols.into_iter().filter(|symbol| symbol.offset.is_none()).map(|symbol| symbol.name).collect();
        if wanted.is_empty() {
            return Ok(());
        }
        for library in loaded(file, elf)? {
            let Some(elf) = Elf::open(&library)? else { continue };
            if !elf.links()?.name.is_some_and(|name| name.starts_with("libmpi")) {
                continue;
            }
            let symbols = elf.symbols(Table::Dynamic, &|name| wanted.contains(name))?.unwrap_or_default();
            for symbol in symbols {
                let Some(offset) = symbol.offset.filter(|_| wanted.remove(&symbol.name)) else { continue };
                self.add("mpi_", &symbol.name, call(&symbol.name).unwrap_or_default(), &library, offset);
            }
        }
        if !wanted.is_empty() {
            let (count, shown) = (wanted.len(), file.display());
            self.remarks.push(format!("{count} MPI calls of {shown} are in no library that it loads"));
        }
        Ok(())
    }
}

/// The libraries that a program would load, as its loader lists them; the program is not executed.
fn loaded(file: &Path, elf: &Elf<File>) -> Result<Vec<PathBuf>, String> {
    let Some(loader) = elf.interpreter()? else { return Ok(Vec::new()) };
    if !loader.rsplit('/').next().is_some_and(|name| name.starts_with("ld")) {
        return Ok(Vec::new());
    }
    let list = Command::new(&loader).arg("--list").arg(file).stdin(Stdio::null()).output();
    let list = list.map_err(|e| format!("cannot list the libraries of {}: {e}", file.display()))?;
    let text = String::from_utf8_lossy(&list.stdout);
    Ok(text.lines().filter_map(listed).map(PathBuf::from).collect())
}

/// The path in a line of the loader: `libmpi.so.40 => /usr/lib/libmpi.so.40 (0x00007f)`.
fn listed(line: &str) -> Option<&str> {
    let (_, path) = line.split_once(" => ")?;
    let (path, _) = path.rsplit_once(" (0x")?;
    path.starts_with('/').then_some(path)
}

/// The file that a word of a command line names: as a shell finds a command, or a path.
fn file(word: &OsString, is_command: bool) -> Option<PathBuf> {
    let path = Path::new(word);
    let is_file = |path: &PathBuf| fs::metadata(path).is_ok_and(|known| known.is_file());
    let found = if is_command && path.components().count() == 1 && !word.to_string_lossy().contains('/') {
        let folders = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&folders).map(|folder| folder.join(path)).find(is_file)?
    } else {
        path.to_owned()
    };
    fs::canonicalize(found).ok().filter(is_file)
}

/// Finds the marks of a command: in its program, and in programs among its arguments, as those of
/// `mpirun -np 4 ./program`.
pub(crate) fn find(command: &[OsString]) -> Found {
    let mut found = Found::default();
    let (mut seen, mut of_launchers) = (BTreeSet::new(), 0);
    for (at, word) in command.iter().take(WORDS).enumerate() {
        let Some(path) = file(word, at == 0).filter(|path| seen.insert(path.clone())) else { continue };
        let elf = match Elf::open(&path) {
            Ok(Some(elf)) => elf,
            Ok(None) => continue,
            Err(why) => {
                found.remarks.push(format!("no marks: {why}"));
                continue;
            }
        };
        let done = found.work(&path, &elf).and_then(|()| found.calls(&path, &elf));
        if let Err(why) = done {
            found.remarks.push(format!("no marks: {}: {why}", path.display()));
        }
        if found.marks.is_empty() {
            of_launchers = found.remarks.len();
        }
    }
    // A launcher before the program is often stripped: that is no fault.
    found.remarks.drain(..if found.marks.is_empty() { 0 } else { of_launchers });
    if found.marks.is_empty() {
        found.remarks.push(
            "no marks are set: the command names no program with outlined OpenMP functions or MPI calls"
                .into(),
        );
    }
    if found.left > 0 {
        let (left, most) = (found.left, MOST);
        found.remarks.push(format!("{left} functions get no marks: {most} are the most"));
    }
    found
}

/// Sets the probes of a group; those that are set, and what there is to say about the others.
pub(crate) fn set(tracefs: &Tracefs, group: &str, marks: Vec<Mark>) -> (Vec<Mark>, Option<String>) {
    if !tracefs.path("uprobe_events").exists() {
        let why = "no marks are set: this kernel has no uprobes (CONFIG_UPROBE_EVENTS)";
        return (Vec::new(), Some(why.to_owned()));
    }
    let (mut set, mut failed, mut first) = (Vec::new(), 0, None);
    for mark in marks {
        match probe(tracefs, group, &mark) {
            Ok(()) => set.push(mark),
            Err(why) => {
                failed += 1;
                first = first.or(Some(format!("{}: {why}", mark.function)));
            }
        }
    }
    let remark = first.map(|why| format!("{failed} marks cannot be set, the first one is {why}"));
    (set, remark)
}

/// Sets the two probes of a mark.
fn probe(tracefs: &Tracefs, group: &str, mark: &Mark) -> Result<(), String> {
    let file = File::open(&mark.file).map_err(|e| e.to_string())?;
    let path = mark.file.to_string_lossy();
    // The line is divided at blanks, without a way to write one in a path.
    let path = if path.contains(char::is_whitespace) || path.contains('\u{fffd}') {
        format!("/proc/self/fd/{}", file.as_raw_fd())
    } else {
        path.into_owned()
    };
    let (name, offset) = (&mark.name, mark.offset);
    let add = |line: &str| tracefs.append("uprobe_events", line).map_err(|e| e.to_string());
    add(&format!("p:{group}/{name} {path}:{offset:#x}\n"))?;
    add(&format!("r:{group}/{name}__return {path}:{offset:#x}\n")).inspect_err(|_| {
        // Entries without returns would be half a mark.
        let _ = add(&format!("-:{group}/{name}\n"));
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outlined_functions_are_work() {
        let work = ["main._omp_fn.0", "f._omp_fn.12.constprop.0", "main.omp_outlined", ".omp_outlined..2"];
        assert!(work.iter().all(|name| is_work(name)));
        let other = ["main", "main._omp_fn.0.cold", "main.omp_outlined_debug__", "main._omp_cpyfn.1"];
        assert!(!other.iter().any(|name| is_work(name)));
    }

    #[test]
    fn calls_that_may_wait_are_marked() {
        assert_eq!(call("MPI_Allreduce"), Some("Allreduce"));
        assert_eq!(call("mpi_allreduce_"), Some("allreduce"));
        let local =
            ["MPI_Comm_rank", "mpi_comm_rank_", "MPI_Wtime", "MPI_Type_commit", "main", "mpi_x", "MPI"];
        assert!(local.iter().all(|name| call(name).is_none()));
    }

    #[test]
    fn names_of_marks_are_names_of_c_and_differ() {
        let mut found = Found::default();
        for function in ["a._omp_fn.0", "a__omp_fn.0", &"x".repeat(300)] {
            found.add("w_", function, function, Path::new("/a"), 16);
        }
        let names: Vec<&str> = found.marks.iter().map(|mark| mark.name.as_str()).collect();
        assert_eq!(names[..2], ["w_a__omp_fn_0", "w_a__omp_fn_0_2"]);
        assert_eq!(names[2].len(), LONGEST);
        (0..MOST).for_each(|at| found.add("w_", "f", &at.to_string(), Path::new("/a"), 16));
        assert_eq!((found.marks.len(), found.left), (MOST, 3));
    }

    #[test]
    fn a_loader_lists_paths() {
        assert_eq!(
            listed("\tlibmpi.so.40 => /opt/a b/libmpi.so.40 (0x00007f5e)"),
            Some("/opt/a b/libmpi.so.40")
        );
        assert_eq!(listed("\tlinux-vdso.so.1 (0x00007fff)"), None);
        assert_eq!(listed("\tlibx.so => not found"), None);
    }

    #[test]
    fn commands_without_marks_say_so() {
        let words = ["sh", "/etc/passwd", "-x"].map(OsString::from);
        let found = find(&words);
        let last = found.remarks.last().unwrap();
        assert!(found.marks.is_empty() && last.starts_with("no marks are set"), "{last}");
        assert!(find(&[]).marks.is_empty());
    }
}
