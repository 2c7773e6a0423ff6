//! What a program under a real runtime is, and how it is started.

use std::process::Command;

use serde::{Deserialize, Serialize};

/// Beginnings of the names of variables that would change a runtime: those of the caller do not count.
const VARIABLES: [&str; 7] = ["OMP_", "GOMP_", "KMP_", "LIBOMP_", "OMPI_", "PMIX_", "PRTE_"];

/// A real runtime.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum Library {
    /// The OpenMP of GCC.
    Libgomp,
    /// The OpenMP of LLVM.
    Libomp,
    /// Open MPI.
    OpenMpi,
}

impl Library {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Libgomp, Self::Libomp, Self::OpenMpi];

    /// Its name in scenarios.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Libgomp => "libgomp",
            Self::Libomp => "libomp",
            Self::OpenMpi => "openmpi",
        }
    }

    /// The library of a runtime of scenarios, if it is a real one.
    #[must_use]
    pub fn of(runtime: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|library| library.name() == runtime)
    }

    /// Its compiler with the options that it needs.
    #[must_use]
    pub const fn compiler(self) -> &'static [&'static str] {
        match self {
            Self::Libgomp => &["gcc", "-fopenmp"],
            Self::Libomp => &["clang", "-fopenmp"],
            Self::OpenMpi => &["mpicc", "-DMESSAGES"],
        }
    }

    /// What starts its programs, if they do not start themselves.
    #[must_use]
    pub const fn launcher(self) -> Option<&'static str> {
        match self {
            Self::Libgomp | Self::Libomp => None,
            Self::OpenMpi => Some("mpirun"),
        }
    }

    /// The packages of Debian that have it.
    #[must_use]
    pub const fn packages(self) -> &'static str {
        match self {
            Self::Libgomp => "gcc",
            Self::Libomp => "clang and libomp-dev",
            Self::OpenMpi => "openmpi-bin and libopenmpi-dev",
        }
    }
}

/// A program under a real runtime.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Job {
    /// The runtime.
    pub library: Library,
    /// The compiled program; empty until it is.
    pub path: String,
    /// Cpus that the process may use.
    pub mask: Vec<u32>,
    /// Variables of its environment.
    pub variables: Vec<(String, String)>,
    /// Command and arguments of its launcher; empty without one.
    pub launcher: Vec<String>,
    /// Its steps: code and two numbers each ([`crate::real::steps`]).
    pub steps: Vec<[u64; 3]>,
    /// Its first thread does what stands outside of parallel regions.
    pub regions: bool,
    /// Largest message, in bytes.
    pub bytes: u64,
}

impl Job {
    /// What starts it.
    #[must_use]
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.path);
        for (name, _) in std::env::vars_os() {
            if VARIABLES.iter().any(|begin| name.to_string_lossy().starts_with(begin)) {
                command.env_remove(name);
            }
        }
        let cpus: Vec<String> = self.mask.iter().map(u32::to_string).collect();
        command.arg("start").arg(cpus.join(","));
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        if !self.launcher.is_empty() {
            command.args(&self.launcher).arg(&self.path);
        }
        command
    }

    /// True if its launcher removes files at its end, so that it has to be let end.
    #[must_use]
    pub fn ends_itself(&self) -> bool {
        !self.launcher.is_empty()
    }
}
