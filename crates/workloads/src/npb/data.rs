//! The data file of the NAS Parallel Benchmarks, read once.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use notation::parameter::Kind;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::size::{Cg, Ep, Ft, Mg, Size};

const FILE: &str = "npb.yaml";
const TEXT: &str = include_str!("../../data/npb.yaml");

/// The catalogue.
#[derive(Debug)]
pub(crate) struct Catalogue {
    codes: BTreeMap<&'static str, Family>,
    /// Bytes per grid point of a transpose.
    pub(crate) transpose_bytes: u64,
}

/// A code in all its classes.
#[derive(Debug)]
struct Family {
    sizes: BTreeMap<String, Size>,
    reference: Size,
    /// Nanoseconds of the reference class on one nominal core without contention.
    reference_ns: u64,
    demand: u64,
    models: BTreeMap<String, Model>,
}

/// A code in one class.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Code<'a> {
    family: &'a Family,
    /// Its size.
    pub(crate) size: Size,
    /// Memory traffic of a task alone, bytes per second.
    pub(crate) demand: u64,
}

/// Synchronisations in one programming model.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Model {
    #[serde(default)]
    fixed: u32,
    #[serde(default)]
    level_fixed: u32,
    #[serde(default)]
    per_iteration: u32,
    #[serde(default)]
    per_level: u32,
    /// Point-to-point exchanges between two barriers.
    #[serde(default)]
    pub(crate) exchanges: u32,
    /// One all-to-all transpose per iteration.
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
    transpose: Datum,
    cg: FamilyData<Cg>,
    mg: FamilyData<Mg>,
    ft: FamilyData<Ft>,
    ep: FamilyData<Ep>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FamilyData<S> {
    serial: Serial,
    demand: Datum,
    sizes: BTreeMap<String, S>,
    models: BTreeMap<String, Model>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Serial {
    class: String,
    value: String,
    source: String,
    #[serde(default)]
    uncertain: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Datum {
    value: String,
    source: String,
    #[serde(default)]
    uncertain: bool,
}

static CATALOGUE: LazyLock<Result<Catalogue, String>> = LazyLock::new(|| read(TEXT));

/// The catalogue.
///
/// # Errors
/// What is wrong with the embedded data file (never in a tested build).
pub(crate) fn catalogue() -> Result<&'static Catalogue, String> {
    CATALOGUE.as_ref().map_err(Clone::clone)
}

fn read(text: &str) -> Result<Catalogue, String> {
    let file: File = notation::yaml::parse(FILE, text)?;
    sourced("sizes", &file.sizes_source, false)?;
    let transpose_bytes = value(Kind::Size, "transpose", &file.transpose)?;
    let codes = BTreeMap::from([
        ("cg", file.cg.resolve("cg", Size::Cg)?),
        ("mg", file.mg.resolve("mg", Size::Mg)?),
        ("ft", file.ft.resolve("ft", Size::Ft)?),
        ("ep", file.ep.resolve("ep", Size::Ep)?),
    ]);
    Ok(Catalogue { codes, transpose_bytes })
}

impl<S: DeserializeOwned + Copy> FamilyData<S> {
    fn resolve(self, name: &str, size: fn(S) -> Size) -> Result<Family, String> {
        let Serial { class, value: text, source, uncertain } = self.serial;
        let Some(reference) = self.sizes.get(&class).copied().map(size) else {
            return Err(format!("{FILE}: {name}: its reference class `{class}` has no size"));
        };
        for model in self.models.values() {
            sourced(name, &model.source, model.uncertain)?;
        }
        Ok(Family {
            sizes: self.sizes.into_iter().map(|(class, s)| (class, size(s))).collect(),
            reference,
            reference_ns: value(Kind::Duration, name, &Datum { value: text, source, uncertain })?,
            demand: value(Kind::Rate, name, &self.demand)?,
            models: self.models,
        })
    }
}

fn value(kind: Kind, name: &str, datum: &Datum) -> Result<u64, String> {
    sourced(name, &datum.source, datum.uncertain)?;
    notation::units::parse(kind, &datum.value).map_err(|e| format!("{FILE}: {name}: {e}"))
}

/// Every number states its source; an uncertain one at least says why it was chosen.
fn sourced(name: &str, source: &str, uncertain: bool) -> Result<(), String> {
    let word = if uncertain { "reason" } else { "source" };
    if source.trim().is_empty() { Err(format!("{FILE}: {name}: a number without {word}")) } else { Ok(()) }
}

impl Catalogue {
    /// The code `name` in class `class`.
    ///
    /// # Errors
    /// A sentence: no such code or class.
    pub(crate) fn code(&self, name: &str, class: &str) -> Result<Code<'_>, String> {
        let family = self.codes.get(name).ok_or_else(|| format!("{FILE} has no code `{name}`"))?;
        let size = family.sizes.get(class).ok_or_else(|| format!("{name} has no class `{class}`"))?;
        Ok(Code { family, size: *size, demand: family.demand })
    }
}

impl Code<'_> {
    /// Nanoseconds of one nominal core without contention: the reference class's time, scaled by operations.
    ///
    /// # Errors
    /// A sentence when the time does not fit 64 bits.
    pub(crate) fn serial_ns(&self) -> Result<u64, String> {
        let reference = u128::from(self.family.reference_ns);
        let ns = reference * self.size.operations() / self.family.reference.operations();
        u64::try_from(ns).map_err(|_| "the problem takes more than 584 years".to_owned())
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
        // Counted from the eight levels of mg.A and mg.B.
        let above = if size.levels() == 0 { 0 } else { i64::from(size.levels()) - 8 };
        let each = i64::from(self.per_iteration) + i64::from(self.per_level) * above;
        let fixed = i64::from(self.fixed) + i64::from(self.level_fixed) * above;
        (fixed + each * i64::from(size.iterations())).clamp(1, i64::from(u32::MAX)) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_need_sources() {
        let bare =
            TEXT.replace("source: \"13 barriers in all classes (IPDPS 2010, figure 2)\"", "source: \"\"");
        assert_ne!(bare, TEXT);
        assert!(read(&bare).unwrap_err().contains("without source"));
        assert!(read(&TEXT.replace("fixed: 13,", "fixd: 13,")).is_err());
        assert!(read(&TEXT.replace("\"225s\"", "\"225\"")).unwrap_err().contains("cg"));
    }
}
