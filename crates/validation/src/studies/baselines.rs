//! What the baseline of a claim means: the same claim at other conditions.

use notation::declare::Choice;

use crate::claims::{Claim, Family, Texts, Together};

/// A field of a claim.
pub(super) type Field = fn(&mut Texts) -> &mut String;

/// The other side of a comparison.
pub(super) struct Side {
    /// The claim at its conditions.
    pub(super) other: Claim,
    /// What it is called.
    pub(super) name: String,
}

/// The conditions of a claim's baseline: the same with another policy, yield, way to wait, number of tasks,
/// machine or model.
pub(super) fn baselines(claim: &Claim) -> Vec<Side> {
    let (text, at) = (claim.texts.baseline.clone(), &claim.at.baseline);
    let lower = text.to_lowercase();
    let side = |field: Field, name: &str| Side {
        other: claim.with(|texts| name.clone_into(field(texts))),
        name: name.to_owned(),
    };
    if at.none {
        return Vec::new();
    }
    if !at.policies.list.is_empty() {
        return at
            .policies
            .list
            .iter()
            .map(|policy| side(|texts| &mut texts.policy, policy.word()))
            .collect();
    }
    if lower.contains("yield") {
        let name = if lower.contains("posix") { "posix" } else { "cfs" };
        return vec![side(|texts| &mut texts.yields, name)];
    }
    if lower.contains("blocktime") {
        return vec![side(|texts| &mut texts.wait, &text)];
    }
    let machines = machines::entries().iter().filter(|entry| lower.contains(&entry.name.to_lowercase()));
    let machines: Vec<Side> = machines.map(|entry| side(|texts| &mut texts.machine, &entry.name)).collect();
    if !machines.is_empty() {
        return machines;
    }
    if !at.models.is_empty() {
        return at.models.iter().map(|model| side(|texts| &mut texts.model, model.word())).collect();
    }
    if lower.contains("partition") {
        return vec![side(|texts| &mut texts.environment, "partitioned")];
    }
    if let Some(others) = fewer_jobs(claim, &text) {
        return vec![side(|texts| &mut texts.threads, &others)];
    }
    if ["exclusive", "sequence", "dedicated"].iter().any(|word| lower.contains(word)) {
        // Alone, one after the other: on the machine of the paper on SPEC OMP not bound.
        let swomps = claim.at.family == Some(Family::Swomps);
        let other = claim.with(|texts| {
            "dedicated".clone_into(&mut texts.environment);
            if swomps {
                "LOAD".clone_into(&mut texts.policy);
            } else {
                "1 per core each".clone_into(&mut texts.threads);
            }
        });
        return vec![Side { other, name: "alone".to_owned() }];
    }
    if is_one_per_core(&lower) {
        return vec![side(|texts| &mut texts.threads, "1 per core each")];
    }
    Vec::new()
}

/// The numbers of threads of a baseline with fewer jobs: `140 user threads`, `140 jobs`, `single job`.
fn fewer_jobs(claim: &Claim, baseline: &str) -> Option<String> {
    if claim.at.family != Some(Family::Parbench) || !(baseline.contains("thread") || baseline.contains("job"))
    {
        return None;
    }
    let digits: String = baseline.chars().take_while(char::is_ascii_digit).collect();
    let number = if digits.is_empty() { "1".to_owned() } else { digits };
    Some(match claim.at.threads.per_job.first() {
        Some(threads) => format!("{threads} per job, {number} user threads"),
        None if claim.at.models.together == Together::Sequential => number,
        None => format!("{number} user threads"),
    })
}

/// Whether a baseline is the same with one task per core.
pub(super) fn is_one_per_core(text: &str) -> bool {
    ["1 task per core", "1 per core", "one task per core", "one thread per core", "1 thread per core"]
        .iter()
        .any(|words| text.contains(words))
}
