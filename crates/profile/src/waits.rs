//! How a program waits: the runtime of a scenario by its mapped libraries and its environment.

use crate::job::Word;

/// What a process maps and what its environment sets.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Surroundings {
    /// File names of mapped libraries.
    pub(crate) libraries: Vec<String>,
    /// Variables that concern threads and waiting.
    pub(crate) variables: Vec<(String, String)>,
}

/// The beginnings of names of variables that are read; others stay unseen.
const PREFIXES: [&str; 9] = [
    "OMP_",
    "GOMP_",
    "KMP_",
    "OPENBLAS_",
    "GOMAXPROCS",
    "GOTO_NUM_THREADS",
    "MKL_",
    "OMPI_MCA_mpi_yield_when_idle",
    "I_MPI_",
];

impl Surroundings {
    /// Of the text of `/proc/PID/maps` and of `/proc/PID/environ`.
    pub(crate) fn of(maps: &str, environ: &str) -> Self {
        let mut libraries: Vec<String> = maps
            .lines()
            .filter_map(|line| line.rsplit_once('/').map(|(_, name)| name.trim().to_owned()))
            .filter(|name| name.starts_with("lib"))
            .collect();
        libraries.sort_unstable();
        libraries.dedup();
        let variables = environ
            .split('\0')
            .filter_map(|pair| pair.split_once('='))
            .filter(|(name, _)| PREFIXES.iter().any(|prefix| name.starts_with(prefix)))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        Self { libraries, variables }
    }

    fn library(&self, name: &str) -> bool {
        self.libraries.iter().any(|known| known.starts_with(name))
    }

    fn variable(&self, name: &str) -> Option<&str> {
        self.variables.iter().find(|(known, _)| known == name).map(|(_, value)| value.trim())
    }

    /// The runtime of its threads.
    pub(crate) fn team(&self) -> Option<Word> {
        let word = |text: String, origin: String| Some(Word { text, origin });
        let policy = self.variable("OMP_WAIT_POLICY").map(str::to_ascii_lowercase);
        if self.library("libgomp.") {
            // As the manual of libgomp has it: GOMP_SPINCOUNT counts, else 0 with passive, 30 billion with
            // active.
            let count = self.variable("GOMP_SPINCOUNT").and_then(|count| match count {
                "infinite" | "infinity" => Some(1_000_000_000_000),
                text => text.parse::<u64>().ok().map(|count| count.min(1_000_000_000_000)),
            });
            return match (count, policy.as_deref()) {
                (Some(count), _) => word(
                    format!("{{ libgomp: {{ spin_count: {count} }} }}"),
                    "libgomp is mapped, GOMP_SPINCOUNT is set".into(),
                ),
                (None, Some("passive")) => word(
                    "{ libgomp: { spin_count: 0 } }".into(),
                    "libgomp is mapped, OMP_WAIT_POLICY=passive".into(),
                ),
                (None, Some("active")) => word(
                    "{ libgomp: { spin_count: 30000000000, throttled_spin_count: 1000 } }".into(),
                    "libgomp is mapped, OMP_WAIT_POLICY=active".into(),
                ),
                _ => word("libgomp".into(), "libgomp is mapped, no wait policy is set".into()),
            };
        }
        if self.library("libomp.") || self.library("libomp5.") || self.library("libiomp5.") {
            let time = self.variable("KMP_BLOCKTIME").and_then(block_time);
            let (time, why) = match (time, policy.as_deref()) {
                (Some(time), _) => (time, "KMP_BLOCKTIME is set"),
                (None, Some("passive")) => ("0s".to_owned(), "OMP_WAIT_POLICY=passive"),
                (None, Some("active")) => ("infinite".to_owned(), "OMP_WAIT_POLICY=active"),
                _ => return word("libomp".into(), "libomp is mapped, no wait policy is set".into()),
            };
            return word(
                format!("{{ libomp: {{ block_time: {time} }} }}"),
                format!("libomp is mapped, {why}"),
            );
        }
        if self.library("libopenblas") {
            // blas_server.c: a thread without work polls for 2^26 clocks (THREAD_TIMEOUT) and yields, then it
            // sleeps: 27 ms at 2.5 GHz.
            return word(
                "{ yield: { wait: spin-then-block, block_time: 27ms } }".into(),
                "libopenblas is mapped: its threads yield for 2^26 clocks, then sleep".into(),
            );
        }
        None
    }

    /// The runtime of its ranks.
    pub(crate) fn ranks(&self) -> Option<Word> {
        let word = |text: &str, why: &str| Some(Word { text: text.into(), origin: why.into() });
        if self.library("libmpich") || self.library("libmpi.so.12") {
            return word("mpich2", "the library of MPICH or Intel MPI is mapped");
        }
        if self.library("libmpi.") || self.library("libopen-pal") {
            return match self.variable("OMPI_MCA_mpi_yield_when_idle") {
                Some("1" | "true") => word(
                    "{ openmpi: { yielding: always } }",
                    "Open MPI is mapped, mpi_yield_when_idle is set",
                ),
                _ => word("openmpi", "Open MPI is mapped, mpi_yield_when_idle is not set"),
            };
        }
        None
    }
}

/// A value of `KMP_BLOCKTIME` as a scenario writes it: milliseconds without a unit.
fn block_time(text: &str) -> Option<String> {
    let text = text.to_ascii_lowercase();
    if text == "infinite" || text == "infinity" {
        return Some("infinite".into());
    }
    let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[number.len()..] {
        "" | "ms" => "ms",
        "us" => "us",
        "s" => "s",
        _ => return None,
    };
    let count: u32 = number.trim().parse().ok()?;
    Some(if count == 0 { "0s".into() } else { format!("{count}{unit}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(library: &str, environ: &str) -> Option<String> {
        let maps = format!("7f00-7f01 r-xp 00000000 fe:00 12 /usr/lib/x86_64-linux-gnu/{library}\n");
        let seen = Surroundings::of(&maps, environ);
        seen.team().or_else(|| seen.ranks()).map(|word| word.text)
    }

    #[test]
    fn the_library_and_the_environment_say_how_threads_wait() {
        for (library, environ, expected) in [
            ("libgomp.so.1.0.0", "A=b\0HOME=/x\0", "libgomp"),
            ("libgomp.so.1", "OMP_WAIT_POLICY=PASSIVE\0", "{ libgomp: { spin_count: 0 } }"),
            ("libgomp.so.1", "GOMP_SPINCOUNT=5\0OMP_WAIT_POLICY=active", "{ libgomp: { spin_count: 5 } }"),
            ("libomp.so.5", "KMP_BLOCKTIME=0", "{ libomp: { block_time: 0s } }"),
            ("libiomp5.so", "KMP_BLOCKTIME=50us", "{ libomp: { block_time: 50us } }"),
            ("libomp.so.5", "KMP_BLOCKTIME=-3", "libomp"),
            ("libmpi.so.40.30.4", "", "openmpi"),
            ("libmpi.so.12.1", "", "mpich2"),
            ("libmpi.so.40", "OMPI_MCA_mpi_yield_when_idle=1", "{ openmpi: { yielding: always } }"),
        ] {
            assert_eq!(text(library, environ).as_deref(), Some(expected), "{library} {environ:?}");
        }
        assert_eq!(text("libc.so.6", "OMP_WAIT_POLICY=active"), None);
    }
}
