//! Constants that no measurement determines: which verdicts change when each is half or twice as large.

use std::fmt::Write;

use notation::units;
use notation::yaml::{self, Content, Node};

use crate::claims::Claim;
use crate::lab::{self, Campaign, Cell, Setting, Study};
use crate::reproduce::{reproduce, wanted};
use crate::sensitivity::moved;
use crate::verdict::Finding;

/// A constant that was chosen.
struct Chosen {
    name: &'static str,
    value: &'static str,
    turns: &'static [Turn],
}

/// A parameter of a workload; `inverse`: it becomes smaller when the constant becomes larger.
struct Turn {
    workload: &'static str,
    parameter: &'static str,
    inverse: bool,
}

const fn turn(workload: &'static str, parameter: &'static str) -> Turn {
    Turn { workload, parameter, inverse: false }
}

const CHOSEN: &[Chosen] = &[
    Chosen {
        name: "variation of the work between two barriers of NPB",
        value: "15 %",
        turns: &[turn("npb", "variation")],
    },
    Chosen {
        name: "volume of the all-to-all transfers of ft and is",
        value: "1 copy of the data",
        turns: &[turn("npb", "transfer_volume")],
    },
    Chosen {
        name: "part of the NPB programs that is simulated in the studies of dedicated machines and of SPEED",
        value: "0.75 or 2.2 s; SPEED 4 to 100 %",
        turns: &[turn("npb", "scale")],
    },
    Chosen {
        name: "part of the SPEC OMP programs that is simulated, the number of disturbances per run unchanged",
        value: "5 to 10 %",
        turns: &[turn("spec-omp", "scale"), Turn { workload: "services", parameter: "busy", inverse: true }],
    },
    Chosen { name: "work of the daemons", value: "0.025 % each", turns: &[turn("services", "busy")] },
    Chosen { name: "length of a burst of a daemon", value: "0.5 ms", turns: &[turn("services", "burst")] },
];

/// Half and twice as large, in per cent.
const ENDS: [u64; 2] = [50, 200];

/// Seeds of the runs that differ by chance alone; none is a seed of a replicate.
const SEEDS: [u32; 2] = [1_001, 2_001];

impl Turn {
    /// What sets it to `percent` of its value in a cell, as `path=value`; nothing where it does not occur.
    fn of(&self, study: &Study, cell: &Cell, percent: u64, quick: bool) -> Vec<String> {
        let Self { workload, parameter, inverse } = *self;
        let known = workloads::WORKLOADS.resolve(workload).ok().and_then(|entry| {
            let found = entry.parameters.iter().find(|known| known.name == parameter);
            found.copied()
        });
        let (Some(known), Ok(root)) = (known, yaml::tree(0, &study.text)) else { return Vec::new() };
        let percent = if inverse { 10_000 / percent } else { percent };
        let apps = root.get("apps").map_or(&[][..], |entry| entry.value.entries());
        let turned = |app: &yaml::Entry| {
            let path = format!("apps.{}.workload", app.key);
            let (name, own) = workload_of(cell, &path, app, parameter);
            let path = format!("{path}.{parameter}");
            let quickly = study.quick.iter().filter(|_| quick).rev();
            let quickly = quickly.filter_map(|set| set.split_once('=')).find(|(at, _)| *at == path);
            let written = quickly.map(|(_, value)| value.to_owned());
            let written = written.or_else(|| cell.settings().get(&path).map(ToString::to_string)).or(own);
            let value = match written {
                Some(text) => units::parse(known.kind, &text).ok()?,
                None => known.default,
            };
            (name.as_deref() == Some(workload))
                .then(|| moved(&known, value, percent).map(|v| format!("{path}={v}")))?
        };
        apps.iter().filter_map(turned).collect()
    }
}

/// The name of the workload of an application in a cell, and the value of a parameter where the workload
/// sets it.
fn workload_of(
    cell: &Cell,
    path: &str,
    app: &yaml::Entry,
    parameter: &str,
) -> (Option<String>, Option<String>) {
    if let Some(setting) = cell.settings().get(path) {
        let own = match setting {
            Setting::Map(entries) => match entries.first() {
                Some((_, Setting::Map(settings))) => settings.iter().find(|(key, _)| key == parameter),
                _ => None,
            },
            Setting::Word(_) => None,
        };
        return (setting.name().map(ToOwned::to_owned), own.map(|(_, value)| value.to_string()));
    }
    let Some(workload) = app.value.get("workload") else { return (None, None) };
    match &workload.value.content {
        Content::Scalar(name) => (Some(name.clone()), None),
        _ => {
            let named = workload.value.entries().first();
            let own = named.and_then(|named| named.value.get(parameter)).and_then(|own| text(&own.value));
            (named.map(|named| named.key.clone()), own)
        }
    }
}

fn text(node: &Node) -> Option<String> {
    match &node.content {
        Content::Scalar(text) => Some(text.clone()),
        _ => None,
    }
}

/// The table in Markdown: each constant, and the claims whose verdict is another one. The first row is
/// that of two other seeds.
///
/// # Errors
/// The threads cannot be started, or a study is wrong.
pub fn table(claims: &[Claim], campaign: &Campaign<'_>) -> Result<String, String> {
    let base = reproduce(claims.to_vec(), &Campaign { adjusted: &lab::as_stated, ..*campaign }, false)?;
    let mut text =
        "| constant | chosen | claims | verdicts that change with half of it | with twice of it |\n\
        |---|---|---:|---|---|\n"
            .to_owned();
    // What chance alone changes.
    let mut chance = Vec::new();
    for seed in SEEDS {
        let adjusted = |_: &Study, _: &Cell| vec![format!("seed={seed}")];
        let done = reproduce(claims.to_vec(), &Campaign { adjusted: &adjusted, ..*campaign }, false)?;
        chance.push(changes(claims, &base.findings, &done.findings));
    }
    // Writing to a string does not fail.
    let _ = writeln!(text, "| none: other random numbers | | {} | {} |", claims.len(), chance.join(" | "));
    for constant in CHOSEN {
        let turned = |study: &Study, cell: &Cell, percent| {
            constant.turns.iter().flat_map(|turn| turn.of(study, cell, percent, campaign.quick)).collect()
        };
        let is_concerned = |cell: &Cell| {
            lab::find(cell.study()).is_some_and(|study| !Vec::is_empty(&turned(study, cell, ENDS[0])))
        };
        // Claims that the constant does not concern are not simulated again.
        let is_concerned =
            |claim: &Claim| wanted(std::slice::from_ref(claim), campaign.quick).iter().any(is_concerned);
        let (concerned, before): (Vec<Claim>, Vec<Finding>) = claims
            .iter()
            .zip(&base.findings)
            .filter(|(claim, _)| is_concerned(claim))
            .map(|(claim, finding)| (claim.clone(), finding.clone()))
            .unzip();
        let mut ends = Vec::new();
        for percent in ENDS {
            let adjusted = |study: &Study, cell: &Cell| turned(study, cell, percent);
            let campaign = Campaign { adjusted: &adjusted, ..*campaign };
            let done = reproduce(concerned.clone(), &campaign, false)?;
            ends.push(changes(&concerned, &before, &done.findings));
        }
        let number = concerned.len();
        let _ =
            writeln!(text, "| {} | {} | {number} | {} |", constant.name, constant.value, ends.join(" | "));
    }
    Ok(text)
}

/// The claims whose verdict differs.
fn changes(claims: &[Claim], before: &[Finding], after: &[Finding]) -> String {
    let differ = claims.iter().zip(before.iter().zip(after)).filter(|(_, (a, b))| a.verdict != b.verdict);
    let named: Vec<String> =
        differ.map(|(claim, (_, after))| format!("`{}` ({})", claim.id, after.verdict.name())).collect();
    if named.is_empty() { "none".into() } else { format!("{}: {}", named.len(), named.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(study: &'static str, constant: usize, percent: u64, cell: fn(Cell) -> Cell) -> Vec<String> {
        let cell = cell(Cell::new(study, "PIN"));
        let study = lab::find(study).unwrap();
        CHOSEN[constant].turns.iter().flat_map(|turn| turn.of(study, &cell, percent, false)).collect()
    }

    #[test]
    fn a_constant_is_turned_from_the_value_that_a_cell_has() {
        // As the parameter has it, as the file has it, as the cell has it.
        assert_eq!(of("dedicated", 0, 50, |cell| cell), ["apps.a.workload.variation=7.5%"]);
        assert_eq!(of("dedicated", 2, 200, |cell| cell), ["apps.a.workload.scale=4%"]);
        let own = |cell: Cell| cell.set("apps.a.workload", Setting::named("npb", &[("scale", "10%".into())]));
        assert_eq!(of("speed", 2, 200, own), ["apps.a.workload.scale=20%"]);
        // Twice the part of a program with half of the disturbances a second.
        let both = ["apps.a.workload.scale=20%", "apps.system.workload.busy=0.12%"];
        assert_eq!(of("swomps_binding", 3, 200, |cell| cell)[..], both);
        assert!(of("swomps_binding", 0, 200, |cell| cell).is_empty());
    }
}
