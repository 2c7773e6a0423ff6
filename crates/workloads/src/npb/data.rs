//! The data files of the NAS Parallel Benchmarks, read once: sizes and counts, and the derived profiles.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::size::{Cg, Ep, Ft, Grid, Is, Mg, Size};
use crate::profile::{self, Derived, Profile, sourced};

const FILE: &str = "npb.yaml";
const TEXT: &str = include_str!("../../data/npb.yaml");
const PROFILES_FILE: &str = "npb_profiles.yaml";
/// The data file of the derived profiles, as text.
pub const PROFILES: &str = include_str!("../../data/npb_profiles.yaml");

/// The catalogue.
#[derive(Debug)]
pub(crate) struct Catalogue {
    codes: BTreeMap<&'static str, Family>,
}

/// A code in all its classes.
#[derive(Debug)]
struct Family {
    sizes: BTreeMap<String, Size>,
    models: BTreeMap<String, Model>,
    /// Profile of the reference class.
    derived: Derived,
}

/// A code in one class.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Code<'a> {
    family: &'a Family,
    /// Its size.
    pub(crate) size: Size,
}

/// What a code demands of the number of its tasks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Tasks {
    /// Nothing.
    #[default]
    Any,
    /// A square: blocks of a square of tasks.
    Square,
    /// A power of two.
    PowerOfTwo,
}

/// Synchronisations in one programming model.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Model {
    /// What it demands of the number of tasks.
    #[serde(default)]
    pub(crate) tasks: Tasks,
    #[serde(default)]
    fixed: u32,
    #[serde(default)]
    level_fixed: u32,
    #[serde(default)]
    per_iteration: u32,
    #[serde(default)]
    per_level: u32,
    #[serde(default)]
    exchanges: u32,
    #[serde(default)]
    exchanges_per_root: u32,
    #[serde(default)]
    exchanges_per_plane: u32,
    #[serde(default)]
    exchanges_per_level: u32,
    #[serde(default)]
    exchanges_per_doubling: u32,
    #[serde(default)]
    exchanges_per_column_doubling: u32,
    /// Ranks wait for messages only: there are no barriers within the iterations.
    #[serde(default)]
    pub(crate) messages_only: bool,
    /// How often what a task gets from others because of the cut is copied: once where the reader copies it,
    /// twice through a buffer; 0 where it is read in place.
    #[serde(default)]
    copies: u32,
    /// One all-to-all transfer per iteration.
    #[serde(default)]
    pub(crate) transposes: bool,
    /// All the work lies in one interval and is the same for every task.
    #[serde(default)]
    pub(crate) single: bool,
    source: String,
    #[serde(default)]
    uncertain: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    sizes_source: String,
    cg: FamilyData<Cg>,
    mg: FamilyData<Mg>,
    ft: FamilyData<Ft>,
    ep: FamilyData<Ep>,
    is: FamilyData<Is>,
    bt: FamilyData<Grid>,
    sp: FamilyData<Grid>,
    lu: FamilyData<Grid>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FamilyData<S> {
    sizes: BTreeMap<String, S>,
    models: BTreeMap<String, Model>,
}

static CATALOGUE: LazyLock<Result<Catalogue, String>> = LazyLock::new(|| read(TEXT, PROFILES));

/// The catalogue.
///
/// # Errors
/// What is wrong with the embedded data files (never in a tested build).
pub(crate) fn catalogue() -> Result<&'static Catalogue, String> {
    CATALOGUE.as_ref().map_err(Clone::clone)
}

fn read(text: &str, profiles: &str) -> Result<Catalogue, String> {
    let file: File = notation::typed::parse(FILE, text)?;
    sourced(FILE, "sizes", &file.sizes_source, false)?;
    let mut derived = profile::read(PROFILES_FILE, profiles)?;
    let derived = &mut derived;
    let codes = BTreeMap::from([
        ("cg", file.cg.resolve("cg", Size::Cg, derived)?),
        ("mg", file.mg.resolve("mg", Size::Mg, derived)?),
        ("ft", file.ft.resolve("ft", Size::Ft, derived)?),
        ("ep", file.ep.resolve("ep", Size::Ep, derived)?),
        ("is", file.is.resolve("is", Size::Is, derived)?),
        ("bt", file.bt.resolve("bt", Size::Bt, derived)?),
        ("sp", file.sp.resolve("sp", Size::Sp, derived)?),
        ("lu", file.lu.resolve("lu", Size::Lu, derived)?),
    ]);
    Ok(Catalogue { codes })
}

impl<S: DeserializeOwned + Copy> FamilyData<S> {
    fn resolve(
        self,
        name: &str,
        size: fn(S) -> Size,
        derived: &mut BTreeMap<String, Derived>,
    ) -> Result<Family, String> {
        let Some(derived) = derived.remove(name) else {
            return Err(format!("{PROFILES_FILE}: there is no profile of {name}"));
        };
        if !self.sizes.contains_key(&derived.class) {
            return Err(format!(
                "{PROFILES_FILE}: {name}: the reference class `{}` has no size",
                derived.class
            ));
        }
        for model in self.models.values() {
            sourced(FILE, name, &model.source, model.uncertain)?;
        }
        let sizes = self.sizes.into_iter().map(|(class, s)| (class, size(s))).collect();
        Ok(Family { sizes, models: self.models, derived })
    }
}

impl Catalogue {
    /// The code `name` in class `class`.
    ///
    /// # Errors
    /// A sentence: no such code or class.
    pub(crate) fn code(&self, name: &str, class: &str) -> Result<Code<'_>, String> {
        let family = self.codes.get(name).ok_or_else(|| format!("{FILE} has no code `{name}`"))?;
        let size = family.sizes.get(class).ok_or_else(|| format!("{name} has no class `{class}`"))?;
        Ok(Code { family, size: *size })
    }
}

impl Code<'_> {
    /// Its profile on a machine: that of the reference class, its work scaled by the ratio of operations.
    ///
    /// # Errors
    /// A sentence when the time does not fit 64 bits.
    pub(crate) fn profile(&self, machine: &str) -> Result<Profile, String> {
        let Derived { class, profile, on } = &self.family.derived;
        let profile = on.get(machine).unwrap_or(profile);
        let reference = self.family.sizes.get(class).map_or(1, Size::operations);
        let ns = u128::from(profile.serial.ns()) * self.size.operations() / reference.max(1);
        let ns = u64::try_from(ns).map_err(|_| "the problem takes more than 584 years".to_owned())?;
        Ok(Profile { serial: sim_core::time::Span::from_ns(ns), ..*profile })
    }

    /// Its synchronisations in a programming model.
    ///
    /// # Errors
    /// A sentence: no such model.
    pub(crate) fn model(&self, name: &str) -> Result<&Model, String> {
        self.family.models.get(name).ok_or_else(|| format!("{FILE} has no model `{name}` for this code"))
    }
}

impl Model {
    /// Barriers of a run; the rule stands at the head of the data file. At least 1.
    pub(crate) fn synchronisations(&self, size: &Size) -> u32 {
        let all = u64::from(self.once(size)) + u64::from(self.iteration(size)) * u64::from(size.iterations());
        all.clamp(1, u64::from(u32::MAX)) as u32
    }

    /// Barriers of an iteration.
    pub(crate) fn iteration(&self, size: &Size) -> u32 {
        above(self.per_iteration, self.per_level, size)
    }

    /// Barriers outside the timed iterations, those of the untimed one included.
    fn once(&self, size: &Size) -> u32 {
        above(self.fixed, self.level_fixed, size)
    }

    /// Point-to-point exchanges of a task between two barriers. Exchanges of a wavefront are counted per
    /// iteration.
    pub(crate) fn exchanges(&self, size: &Size, tasks: u32) -> u32 {
        let planes =
            u64::from(self.exchanges_per_plane) * size.planes() / u64::from(self.per_iteration.max(1));
        let doublings = tasks.max(1).ilog2();
        self.exchanges
            + self.exchanges_per_root * tasks.isqrt()
            + self.exchanges_per_level * size.levels()
            + self.exchanges_per_doubling * doublings
            + self.exchanges_per_column_doubling * doublings.div_ceil(2)
            + planes.min(1_000) as u32
    }

    /// Bytes that one task moves in the whole run because the problem is cut among tasks: a copy
    /// fetches it once, for its target stays in the caches.
    pub(crate) fn moved(&self, size: &Size, tasks: u32) -> u64 {
        u64::from(self.copies) * u64::from(size.iterations()) * size.surface(tasks)
    }

    /// Whether the code runs with so many tasks.
    ///
    /// # Errors
    /// A sentence: what it demands, and the nearest numbers that do.
    pub(crate) fn admits(&self, code: &str, model: &str, tasks: u32) -> Result<(), String> {
        let (fits, what, below, above) = match self.tasks {
            Tasks::Any => return Ok(()),
            Tasks::Square => {
                let root = u64::from(tasks.isqrt());
                (
                    root * root == u64::from(tasks),
                    "a square number of tasks",
                    root * root,
                    (root + 1) * (root + 1),
                )
            }
            Tasks::PowerOfTwo => {
                let below = 1u64 << tasks.max(1).ilog2();
                (tasks.is_power_of_two(), "a number of tasks that is a power of two", below, 2 * below)
            }
        };
        if fits {
            return Ok(());
        }
        Err(format!("{code} ({model}) needs {what}, not {tasks}; the nearest are {below} and {above}"))
    }
}

/// A count, and what each grid level beyond the eight of mg.A and mg.B adds to it.
fn above(count: u32, per_level: u32, size: &Size) -> u32 {
    let levels = if size.levels() == 0 { 0 } else { i64::from(size.levels()) - 8 };
    (i64::from(count) + i64::from(per_level) * levels).clamp(0, i64::from(u32::MAX)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_need_sources() {
        let bare =
            TEXT.replace("source: \"13 barriers in all classes (IPDPS 2010, figure 2)\"", "source: \"\"");
        assert_ne!(bare, TEXT);
        assert!(read(&bare, PROFILES).unwrap_err().contains("without source"));
        assert!(read(&TEXT.replace("fixed: 13,", "fixd: 13,"), PROFILES).is_err());
        assert!(read(TEXT, &PROFILES.replace("demand: { value: \"", "demand: { value: \"-")).is_err());
        assert!(
            read(TEXT, &PROFILES.replace("cg:\n", "cq:\n"))
                .unwrap_err()
                .contains("there is no profile of cg")
        );
        assert!(read(TEXT, &PROFILES.replace("class: B", "class: X")).unwrap_err().contains("class `X`"));
    }
}
