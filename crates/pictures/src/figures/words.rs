//! Numbers and names as figures write them.

pub(crate) use experiment::number::{short as number, short_seconds as seconds, time_unit};
use experiment::provenance::MachineOrigin;
use experiment::result::Results;

/// Machines, kernels and seeds.
pub(crate) fn setting(results: &Results) -> String {
    let p = &results.provenance;
    let many = match p.repeat {
        1 => "one\u{a0}seed: no\u{a0}intervals".to_owned(),
        n => format!("{n}\u{a0}seeds"),
    };
    format!("{}, {}; {many}", listed(&machines(&p.machines)), listed(&p.kernels))
}

/// The names of machines.
pub(crate) fn machines(machines: &[MachineOrigin]) -> Vec<String> {
    machines.iter().map(|machine| machine.name.clone()).collect()
}

/// Up to three names, and how many more.
pub(crate) fn listed(names: &[String]) -> String {
    match names {
        [a, b, c, rest @ ..] if !rest.is_empty() => format!("{a}, {b}, {c} and {} more", rest.len()),
        all => all.join(", "),
    }
}

/// What is needed to find the result again.
pub(crate) fn source(results: &Results) -> String {
    let p = &results.provenance;
    let digest = p.digest.get(..16).unwrap_or(&p.digest);
    format!("{} · {} {} ({}) · digest {digest}", p.scenario, p.tool, p.version, p.model)
}
