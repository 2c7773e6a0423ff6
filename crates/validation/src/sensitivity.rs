//! How headlines move when an uncertain parameter of a machine or a workload is 20 % smaller or larger.

use std::fmt::Write;

use machines::Entry;
use notation::parameter::{Kind, Parameter};
use notation::yaml::{self, Content, Node};

use crate::claims::Claim;
use crate::lab::{self, Campaign, Cell, Setting, Study};
use crate::report::short;
use crate::reproduce::reproduce;
use crate::verdict::Finding;

/// The claims whose dependence is shown: the number each publication is quoted for. Named by id, as they are
/// of the shipped file.
pub const HEADLINES: [&str; 12] = [
    "upc-dedicated-avg-tigerton",
    "upc-dedicated-avg-barcelona",
    "mpi-dedicated-2pc",
    "omp-dedicated-2pc",
    "psx-upc-pin-avg",
    "share-part-upc-1pc",
    "share-part-omp-1pc",
    "seq-upc-upc-1pc",
    "speed-upc-vs-load",
    "swomps-t5a-avg",
    "e25k-spin-8t-144",
    "e25k-t5-144-thr4",
];

/// Parameters of workloads that no measurement determines.
const OF_WORKLOADS: [(&str, &str); 7] = [
    ("npb", "variation"),
    ("npb", "transfer_volume"),
    ("spec-omp", "variation"),
    ("spec-omp", "region"),
    ("parbench", "variation"),
    ("services", "busy"),
    ("services", "burst"),
];

/// Smaller moves than this share of the tolerance are not shown.
const LEAST: f64 = 0.1;
/// By how much a parameter is moved, in per cent.
const MOVE: [u64; 2] = [80, 120];

/// A parameter that is uncertain.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Knob {
    /// Of machines.
    Machine(String),
    /// Of a workload: its name and the parameter's.
    Workload(&'static str, &'static str),
}

impl Knob {
    /// Its name in the table.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Machine(parameter) => format!("machine: {parameter}"),
            Self::Workload(workload, parameter) => format!("{workload}: {parameter}"),
        }
    }

    /// What sets it to `percent` of its value in a cell, as `path=value`; nothing where it does not occur.
    #[must_use]
    pub fn turned(&self, study: &Study, cell: &Cell, percent: u64) -> Vec<String> {
        let Ok(root) = yaml::tree(0, &study.text) else { return Vec::new() };
        match self {
            Self::Machine(parameter) => {
                let named =
                    cell.settings().get("machine").and_then(Setting::name).or_else(|| text(&root, "machine"));
                let entry = named.and_then(|name| machines::resolve(name).ok());
                entry.and_then(|entry| of_machine(&entry, parameter, percent)).into_iter().collect()
            }
            Self::Workload(workload, parameter) => of_workloads(&root, cell, workload, parameter, percent),
        }
    }
}

fn text<'a>(node: &'a Node, key: &str) -> Option<&'a str> {
    match &node.get(key)?.value.content {
        Content::Scalar(text) => Some(text),
        _ => None,
    }
}

fn of_machine(entry: &Entry, parameter: &str, percent: u64) -> Option<String> {
    let known = entry.values.find(parameter)?;
    let value = moved(known, entry.values.number(parameter)?, percent)?;
    entry.notes.iter().find(|note| note.parameter == parameter && note.uncertain)?;
    Some(format!("machine.{parameter}={value}"))
}

/// The value moved, within its bounds, as it is written; `None` for what is no quantity.
pub(crate) fn moved(parameter: &Parameter, value: u64, percent: u64) -> Option<String> {
    if !matches!(
        parameter.kind,
        Kind::Duration | Kind::Rate | Kind::Size | Kind::Factor | Kind::Percent | Kind::Count
    ) {
        return None;
    }
    let target = u64::try_from(u128::from(value) * u128::from(percent) / 100).ok()?;
    let target = target.clamp(parameter.min, parameter.max);
    (target != value).then(|| parameter.kind.show(target))
}

fn of_workloads(root: &Node, cell: &Cell, workload: &str, parameter: &str, percent: u64) -> Vec<String> {
    let Some(known) = workloads::WORKLOADS
        .resolve(workload)
        .ok()
        .and_then(|entry| entry.parameters.iter().find(|p| p.name == parameter))
    else {
        return Vec::new();
    };
    let Some(value) = moved(known, known.default, percent) else { return Vec::new() };
    let apps = root.get("apps").map_or(&[][..], |entry| entry.value.entries());
    let concerned = apps.iter().filter(|app| {
        let chosen = cell.settings().get(&format!("apps.{}.workload", app.key));
        match (chosen, app.value.get("workload").map(|entry| &entry.value)) {
            (Some(chosen), _) => chosen.name() == Some(workload),
            (None, Some(node)) => names(node, workload),
            (None, None) => false,
        }
    });
    let paths = concerned.map(|app| format!("apps.{}.workload.{parameter}", app.key));
    paths.filter(|path| !cell.settings().contains_key(path)).map(|path| format!("{path}={value}")).collect()
}

/// True for `npb` and `npb: {...}`.
fn names(node: &Node, workload: &str) -> bool {
    match &node.content {
        Content::Scalar(name) => name == workload,
        _ => node.get(workload).is_some(),
    }
}

/// Every uncertain parameter of a built-in machine, and those of the workloads.
#[must_use]
pub fn knobs() -> Vec<Knob> {
    let uncertain = |entry: &Entry| {
        let notes = entry.notes.iter().filter(|note| note.uncertain);
        notes.map(|note| Knob::Machine(note.parameter.clone())).collect::<Vec<_>>()
    };
    let mut all: Vec<Knob> = machines::entries().iter().flat_map(uncertain).collect();
    all.extend(OF_WORKLOADS.iter().map(|(workload, parameter)| Knob::Workload(workload, parameter)));
    all.sort();
    all.dedup();
    all
}

/// A number for a claim: the one that decides.
fn headline(finding: &Finding) -> Option<f64> {
    finding.pairs.first().map(|(_, simulated)| *simulated).or_else(|| finding.points.first().map(|p| p.value))
}

/// The table in Markdown.
///
/// # Errors
/// The threads cannot be started, or a study is wrong.
pub fn table(claims: &[Claim], campaign: &Campaign<'_>) -> Result<String, String> {
    let headlines: Vec<Claim> =
        claims.iter().filter(|claim| HEADLINES.contains(&claim.id.as_str())).cloned().collect();
    let at = |adjusted: &(dyn Fn(&Study, &Cell) -> Vec<String> + Sync)| {
        let campaign = Campaign { adjusted, quick: true, ..*campaign };
        let done = reproduce(headlines.clone(), &campaign, false)?;
        Ok::<_, String>(done.findings.iter().map(headline).collect::<Vec<_>>())
    };
    let base = at(&lab::as_stated)?;
    let mut rows: Vec<(usize, f64, String)> = Vec::new();
    for knob in knobs() {
        let mut ends = Vec::new();
        for percent in MOVE {
            ends.push(at(&|study, cell| knob.turned(study, cell, percent))?);
        }
        for (i, claim) in headlines.iter().enumerate() {
            let (Some(base), Some(low), Some(high)) = (base[i], ends[0][i], ends[1][i]) else { continue };
            let width = claim.tolerance.beyond(base).max(f64::EPSILON);
            let size = (low - base).abs().max((high - base).abs()) / width;
            if size >= LEAST {
                let cells = [low, high].map(|x| format!("{} ({:+.1})", short(x), (x - base) / width));
                rows.push((i, size, format!("| {} | {} | {} |", knob.name(), cells[0], cells[1])));
            }
        }
    }
    rows.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
    Ok(written(&headlines, &base, &rows))
}

fn written(headlines: &[Claim], base: &[Option<f64>], rows: &[(usize, f64, String)]) -> String {
    let mut text =
        "| headline | published | simulated | parameter | -20 % | +20 % |\n|---|---|---:|---|---:|---:|\n"
            .to_owned();
    for (i, claim) in headlines.iter().enumerate() {
        let value = base[i].map_or("-".to_owned(), short);
        let mut first = format!("| {} | {} | {value} ", claim.id, claim.published());
        let own: Vec<_> = rows.iter().filter(|(of, ..)| *of == i).collect();
        if own.is_empty() {
            let _ = writeln!(text, "{first}| none | | |");
        }
        for (.., row) in own {
            let _ = writeln!(text, "{first}{row}");
            "| | | ".clone_into(&mut first);
        }
    }
    text.push_str("\nIn brackets: the change in units of the claim's tolerance.\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_knob_is_turned_where_it_occurs() {
        let study = lab::find("dedicated").unwrap();
        let cell = Cell::new("dedicated", "PIN").set("machine", "barcelona");
        let knob = Knob::Machine("switch_thread".into());
        assert_eq!(knob.turned(study, &cell, 80), ["machine.switch_thread=640ns"]);
        let knob = Knob::Workload("npb", "variation");
        assert_eq!(knob.turned(study, &cell, 120), ["apps.a.workload.variation=18%"]);
        assert!(Knob::Workload("spec-omp", "region").turned(study, &cell, 80).is_empty());
    }

    #[test]
    fn headlines_are_shipped_claims() {
        let claims = crate::claims::read("", crate::claims::SHIPPED).unwrap();
        assert!(HEADLINES.iter().all(|id| claims.iter().any(|claim| claim.id == *id)));
    }
}
