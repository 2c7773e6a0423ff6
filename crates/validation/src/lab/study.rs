//! The published experiments, a scenario file each.

use std::borrow::Cow;

use sim_core::time::Span;

/// A published experiment.
#[derive(PartialEq, Eq, Debug)]
pub struct Study {
    /// Its name: that of the file without ending.
    pub name: Cow<'static, str>,
    /// The scenario; its sweep is the whole grid of the experiment.
    pub text: Cow<'static, str>,
    /// Settings of a quick look, as `path=value`: fewer replicates, shorter programs.
    pub quick: &'static [&'static str],
    /// Time between two snapshots of where tasks are, as `prstat` takes them; none = nobody looks.
    pub snapshots: Option<Span>,
    /// All metrics of its applications are kept, for claims that name one.
    pub measured: bool,
}

impl Study {
    /// A study that is not built in: the path of a scenario and its text.
    #[must_use]
    pub fn own(path: &str, text: String) -> Self {
        let (name, text) = (Cow::Owned(path.to_owned()), Cow::Owned(text));
        Self { name, text, quick: &["repeat=1"], snapshots: None, measured: true }
    }
}

/// A study by the name of its file.
macro_rules! study {
    ($name:literal, $quick:expr) => {
        Study {
            name: Cow::Borrowed($name),
            text: Cow::Borrowed(include_str!(concat!("../../data/studies/", $name, ".yaml"))),
            quick: $quick,
            snapshots: None,
            measured: false,
        }
    };
}

/// A study of the modern chapter by the name of its file.
macro_rules! modern {
    ($name:literal) => {
        Study { measured: true, ..study!($name, &["repeat=1"]) }
    };
}

/// `prstat` sleeps a second and then looks at everybody, which takes it about 0.1 s (assumed).
const PRSTAT: Span = Span::from_ms(1_100);

/// All studies.
pub const STUDIES: &[Study] = &[
    study!("dedicated", &["repeat=1", "apps.a.workload.scale=0.1%"]),
    study!("uneven", &["repeat=1", "apps.a.workload.intervals=5", "apps.a.workload.work=800ms"]),
    study!("sharing", PAIR),
    study!("sequence", &["repeat=1", "apps.a.workload.scale=10%"]),
    study!("partition", PAIR),
    study!("imbalanced", PAIR),
    study!(
        "gang",
        &["repeat=1", "apps.a.workload.scale=10%", "apps.b.workload.scale=10%", "apps.c.workload.scale=10%"]
    ),
    study!("swomps_binding", &["repeat=1", "apps.a.workload.scale=2%", "apps.system.workload.busy=1.25%"]),
    study!(
        "swomps_pairs",
        &[
            "repeat=1",
            "apps.a.workload.scale=2%",
            "apps.b.workload.scale=2%",
            "apps.system.workload.busy=1.25%"
        ]
    ),
    study!("swomps_queue11", QUICK_QUEUE),
    study!("swomps_queue3", &["repeat=1"]),
    study!("speed", SHORT),
    study!("speed_hog", SHORT),
    study!("speed_make", SHORT),
    study!("speed_beside", SHORT),
    study!("speed_pool", &["repeat=1", "apps.a.workload.chunks=1024", "apps.a.workload.work=8s"]),
    study!("parbench_sequential", &["repeat=1", "apps.job.workload.scale=3%"]),
    study!("parbench_mixture", &["repeat=1"]),
    study!("parbench_jobs", &["repeat=1", "apps.job.workload.scale=10%"]),
    Study {
        snapshots: Some(PRSTAT),
        ..study!("parbench_homes", &["repeat=1", "apps.job.workload.scale=50%"])
    },
    modern!("modern_decode"),
    modern!("modern_team"),
    modern!("modern_rival"),
    modern!("modern_two"),
    modern!("modern_quota"),
    modern!("modern_server"),
    modern!("modern_groups"),
    modern!("modern_vms"),
    modern!("modern_sleeper"),
    modern!("modern_poll"),
    modern!("modern_serial"),
    modern!("modern_barriers"),
    modern!("modern_lock"),
    modern!("modern_freebsd"),
    modern!("modern_gbm"),
    modern!("modern_nested"),
    modern!("modern_build"),
];

/// A quick look at a queue of eleven.
const QUICK_QUEUE: &[&str] = &[
    "repeat=1",
    "apps.q1.workload.scale=2%",
    "apps.q2.workload.scale=2%",
    "apps.q3.workload.scale=2%",
    "apps.q4.workload.scale=2%",
    "apps.q5.workload.scale=2%",
    "apps.q6.workload.scale=2%",
    "apps.q7.workload.scale=2%",
    "apps.q8.workload.scale=2%",
    "apps.q9.workload.scale=2%",
    "apps.q10.workload.scale=2%",
    "apps.q11.workload.scale=2%",
    "apps.system.workload.busy=1.25%",
];

/// A quick look at two programs: as much of each, on whose proportions pairs depend.
const PAIR: &[&str] = &["repeat=1", "apps.a.workload.scale=10%", "apps.b.workload.scale=10%"];

/// A quick look at the studies of 16 threads on fewer cores: twice, as variation is asked for, one or a few
/// iterations.
const SHORT: &[&str] = &["repeat=2", "apps.a.workload.scale=3%"];

/// The study of this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Study> {
    STUDIES.iter().find(|study| study.name == name)
}
