//! Whether the fields of a claim name what there is: groups, metrics, machines, programs, classes, models,
//! policies, yields, numbers of tasks. What a cell cannot combine, its scenario says.

use notation::declare::Choice;

use crate::answer::Trouble;
use crate::claims::{Claim, Family, Together};

/// Parts of the words by which the papers speak of programs without naming one.
const PROGRAMS: [&str; 12] = [
    "npb",
    "nas",
    "benchmark",
    "application",
    "program",
    "pair",
    "job",
    "kernel",
    "parsec",
    "steal",
    "queue",
    "code",
];
/// Words for a yield that is not stated.
const UNSTATED: [&str; 7] = ["", "none", "any", "all", "both", "not stated", "not applicable"];
/// The machine of the paper on SPEC OMP, and that of PARbench: their programs were measured nowhere else.
const ONLY: [(Family, &str); 2] = [(Family::Swomps, "x4440"), (Family::Parbench, "e25k")];

/// The family of a claim whose fields all name something.
///
/// # Errors
/// The first field that does not: a sentence.
pub(super) fn family(claim: &Claim) -> Result<Family, Trouble> {
    let (at, texts) = (&claim.at, &claim.texts);
    let Some(family) = at.family else {
        return Err(Trouble::uncovered(format!("no study answers the group `{}`", claim.group)));
    };
    if at.metric.is_none() {
        return Err(Trouble::uncovered(format!("no metric is called `{}`", texts.metric)));
    }
    machines(claim, family)?;
    if ONLY.iter().all(|(of, _)| *of != family) {
        classes(claim)?;
    }
    if at.models.together == Together::Unknown {
        return Err(Trouble::uncovered(format!("no programming model is called `{}`", texts.model)));
    }
    if family != Family::Parbench
        && let Some(policy) = at.policy.unknown()
    {
        return Err(Trouble::uncovered(format!("no policy is known by the name `{policy}`")));
    }
    if at.yields.is_empty() && !UNSTATED.contains(&texts.yields.to_lowercase().as_str()) {
        return Err(Trouble::uncovered(format!(
            "`{}` is no meaning of sched_yield: posix or cfs",
            texts.yields
        )));
    }
    programs(claim, family)?;
    if at.threads.per_core && at.threads.counts.iter().any(|k| !(1..=64).contains(k)) {
        return Err(Trouble::uncovered(format!("`{}`: tasks per core go from 1 to 64", texts.threads)));
    }
    Ok(family)
}

fn machines(claim: &Claim, family: Family) -> Result<(), Trouble> {
    let at = &claim.at.machines;
    if at.unnamed {
        return Ok(());
    }
    let only = ONLY.iter().find(|(of, _)| *of == family).map(|(_, machine)| *machine);
    for machine in &at.list {
        if machines::resolve(machine).is_err() {
            return Err(Trouble::uncovered(format!("no machine is called `{machine}`")));
        }
        if let Some(only) = only.filter(|only| only != machine) {
            return Err(Trouble::uncovered(format!(
                "these programs were measured on {only} only, not on {machine}"
            )));
        }
    }
    Ok(())
}

fn classes(claim: &Claim) -> Result<(), Trouble> {
    let beside = claim.at.workload.codes.iter().filter_map(|(_, class)| *class);
    let mut named = claim.at.classes.unknown.iter().copied().chain(beside);
    match named.find(|class| !"SWABC".contains(*class)) {
        Some(class) => {
            Err(Trouble::uncovered(format!("there are the classes S, W, A, B and C, no class {class}")))
        }
        None => Ok(()),
    }
}

fn programs(claim: &Claim, family: Family) -> Result<(), Trouble> {
    let workload = &claim.at.workload;
    let foreign = match family {
        Family::Swomps => !workload.codes.is_empty() || !workload.jobs.is_empty(),
        Family::Parbench => !workload.codes.is_empty() || !workload.programs.is_empty(),
        _ => !workload.programs.is_empty() || !workload.jobs.is_empty(),
    };
    if foreign {
        let (workload, group) = (&claim.texts.workload, &claim.group);
        return Err(Trouble::uncovered(format!("`{workload}` is no workload of the group `{group}`")));
    }
    let (workload, text) = (&claim.at.workload, claim.texts.workload.to_lowercase());
    let named = !workload.codes.is_empty()
        || !workload.programs.is_empty()
        || !workload.jobs.is_empty()
        || workload.is_described()
        || PROGRAMS.iter().any(|word| text.contains(word));
    if named {
        Ok(())
    } else {
        Err(Trouble::uncovered(format!("`{}` names no program", claim.texts.workload)))
    }
}

/// Why a metric has no answer in the experiments of a group.
pub(super) fn no_rule(claim: &Claim) -> Trouble {
    Trouble::uncovered(format!(
        "the experiments of the group `{}` do not measure `{}` as a claim of the form {}",
        claim.group,
        claim.texts.metric,
        claim.form.word()
    ))
}
