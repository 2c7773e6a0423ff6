//! What a recording of `oversim twin record` says in its head and the scheduler's events do not: the first
//! process, its cpus, the libraries that wait for it, its environment, its quota.

use std::io::{BufRead, BufReader, Read};

/// Most lines of a head.
const MOST_LINES: usize = 4_096;
/// Most bytes of a line.
const MOST_BYTES: u64 = 1 << 16;

/// The head of a recording; all of it empty where the file has none.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Facts {
    lines: Vec<(String, String)>,
}

impl Facts {
    /// Reads the head of a file, perhaps compressed by gzip. A file that cannot be read has none.
    #[must_use]
    pub fn read(from: &mut dyn Read) -> Self {
        let mut from = BufReader::new(from);
        let packed = from.fill_buf().is_ok_and(|bytes| bytes.starts_with(b"\x1f\x8b"));
        if packed {
            Self::lines(&mut BufReader::new(flate2::bufread::GzDecoder::new(from)))
        } else {
            Self::lines(&mut from)
        }
    }

    fn lines(from: &mut dyn BufRead) -> Self {
        let mut facts = Self::default();
        for _ in 0..MOST_LINES {
            let mut line = Vec::new();
            let read = from.take(MOST_BYTES).read_until(b'\n', &mut line);
            let text = String::from_utf8_lossy(&line);
            let Some(text) = text.strip_prefix("# ").filter(|_| read.is_ok_and(|bytes| bytes > 0)) else {
                break;
            };
            if let Some((key, value)) = text.trim_end().split_once(": ") {
                facts.lines.push((key.to_owned(), value.to_owned()));
            }
        }
        facts
    }

    /// The values of a key.
    pub fn all<'a>(&'a self, key: &'a str) -> impl Iterator<Item = &'a str> {
        self.lines.iter().filter(move |(known, _)| known == key).map(|(_, value)| value.as_str())
    }

    /// The value of a key.
    #[must_use]
    pub fn get<'a>(&'a self, key: &'a str) -> Option<&'a str> {
        self.all(key).next()
    }

    /// A variable of the environment.
    #[must_use]
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.all("env")
            .find_map(|line| line.split_once('=').filter(|(known, _)| *known == name))
            .map(|(_, value)| value)
    }

    /// A library whose name begins so was mapped.
    #[must_use]
    pub fn library(&self, name: &str) -> bool {
        self.all("library").any(|line| line.starts_with(name))
    }

    /// The number of the first process.
    #[must_use]
    pub fn pid(&self) -> Option<&str> {
        self.get("pid")
    }

    /// The cpus that the first process could use, if not all that were online.
    #[must_use]
    pub fn mask(&self) -> Option<&str> {
        let list =
            |mask: &&str| mask.chars().all(|letter| letter.is_ascii_digit() || matches!(letter, ',' | '-'));
        self.get("mask").filter(|mask| !mask.is_empty() && self.get("online") != Some(mask)).filter(list)
    }

    /// The quota, as `cgroups` of a scenario write it: `50000 100000` is cpu time in each period, in us.
    #[must_use]
    pub fn quota(&self) -> Option<String> {
        let (quota, period) = self.get("cpu_max")?.split_once(' ')?;
        let (quota, period): (u64, u64) = (quota.parse().ok()?, period.parse().ok()?);
        Some(format!("{{ quota: {quota}us, period: {period}us }}"))
    }

    /// The runtime of a team of threads, as a scenario writes it, and what says so.
    #[must_use]
    pub fn team(&self) -> Option<(String, String)> {
        if self.library("libgomp") {
            let policy = self.variable("OMP_WAIT_POLICY").map(str::to_ascii_lowercase);
            let spins = self.variable("GOMP_SPINCOUNT").and_then(|count| count.trim().parse::<u64>().ok());
            let (text, why) = match (spins, policy.as_deref()) {
                (Some(spins), _) => {
                    (format!("{{ libgomp: {{ spin_count: {spins} }} }}"), format!("GOMP_SPINCOUNT={spins}"))
                }
                (None, Some("passive")) => {
                    ("{ libgomp: { spin_count: 0 } }".into(), "OMP_WAIT_POLICY=passive".into())
                }
                (None, Some("active")) => (
                    "{ libgomp: { spin_count: 30000000000, throttled_spin_count: 1000 } }".into(),
                    "OMP_WAIT_POLICY=active".into(),
                ),
                _ => ("libgomp".into(), "no wait policy is set".into()),
            };
            return Some((text, format!("libgomp was mapped, {why}")));
        }
        if self.library("libomp") || self.library("libiomp") {
            let time = self.variable("KMP_BLOCKTIME").map(str::to_ascii_lowercase);
            let time = match time.as_deref() {
                Some("infinite") => Some("infinite".to_owned()),
                Some(text) => {
                    text.trim_end_matches("ms").trim().parse::<u64>().ok().map(|ms| format!("{ms}ms"))
                }
                None => None,
            };
            return Some(match time {
                Some(time) => (
                    format!("{{ libomp: {{ block_time: {time} }} }}"),
                    format!("libomp was mapped, KMP_BLOCKTIME={time}"),
                ),
                None => ("libomp".into(), "libomp was mapped, no KMP_BLOCKTIME is set".into()),
            });
        }
        None
    }

    /// The runtime of ranks, and what says so.
    #[must_use]
    pub fn ranks(&self) -> Option<(String, String)> {
        let mpich = self.library("libmpich");
        let open = self.library("libmpi.") || self.library("libopen-pal");
        let name = if mpich { "mpich2" } else { "openmpi" };
        (mpich || open).then(|| (name.into(), format!("the library of `{name}` was mapped")))
    }
}
