//! Two programs at once: against partitions, against one after the other, with unequal numbers of tasks, in
//! gangs.

mod pairs;
mod spread;
mod unequal;

use pairs::{Job, Models, Pair};

use crate::answer::{Answer, Point, Series, Trouble};
use crate::claims::{Claim, Form};
use crate::fields;
use crate::lab::{Cell, Lab};

/// Degrees of the paper's sharing runs.
const DEGREES: [u32; 3] = [1, 2, 4];

/// What the simulator says about a claim of these groups.
pub(super) fn answer(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let what = format!("{} {}", claim.value.shown(), claim.baseline).to_lowercase();
    match claim.metric.as_str() {
        "share-vs-part" | "share-vs-part-avg" => against_partitions(claim, lab),
        "frac-dedicated" => of_dedicated(claim, lab),
        "throughput-vs-sequence" if claim.group == "predictor" => robust_partner(claim, lab),
        "throughput-vs-sequence" => throughput(claim, lab),
        "variation" if claim.form == Form::Ordering => spread::isolation(claim, lab),
        "variation" => spread::variation(claim, lab),
        "imbalance-change" => unequal::answer(claim, lab),
        "rel-order" if claim.group == "gang" => gangs(claim, lab),
        "rel-order" if what.contains("differ") => differing(claim, lab),
        "rel-order" if claim.group == "share-partition" => more_tasks(claim, lab),
        "rel-order" if what.contains("load") => load(claim, lab),
        "rel-order" if what.contains("throughput") => best_with_many(claim, lab),
        other => Err(Trouble::uncovered(format!("no rule for the metric `{other}` in words `{what}`"))),
    }
}

/// The pairs of a claim in these models; in a quick look every second of many, of mixes every fourth.
fn asked(claim: &Claim, lab: &Lab, models: &Models) -> Vec<Pair> {
    let all = pairs::pairs(claim, models, lab.is_quick());
    if !lab.is_quick() || all.len() < 6 {
        return all;
    }
    let step = if models.0 == models.1 { 2 } else { 4 };
    all.into_iter().skip(1).step_by(step).collect()
}

/// Every machine, combination of models and degree a claim speaks of.
fn settings(claim: &Claim) -> Vec<(String, Models, u32)> {
    let degrees = degrees(claim);
    let mut all = Vec::new();
    for machine in fields::machines(claim) {
        for models in pairs::models(claim) {
            all.extend(degrees.iter().map(|k| (machine.clone(), models.clone(), *k)));
        }
    }
    all
}

fn degrees(claim: &Claim) -> Vec<u32> {
    let named = fields::per_core(claim);
    if named.is_empty() { DEGREES.to_vec() } else { named }
}

fn label(machine: &str, (first, second): &Models, k: u32) -> String {
    if first == second {
        format!("{machine} {first} {k}/core")
    } else {
        format!("{machine} {first}+{second} {k}/core")
    }
}

/// The policy of the measured runs: LOAD where the claim says so, else pinned.
fn policy(claim: &Claim) -> &'static str {
    if claim.policy.contains("LOAD") { "LOAD" } else { "PIN" }
}

/// Whether all quantities of a claim make one number.
fn is_mean(claim: &Claim) -> bool {
    matches!(claim.form, Form::Exact | Form::Approx | Form::Average | Form::Missing)
}

/// Cores of each partition.
fn cores(claim: &Claim) -> u32 {
    let named = claim.baseline.find("partition").map(|at| fields::numbers(&claim.baseline[at..]));
    named.and_then(|numbers| numbers.first().copied()).filter(|n| (1..=64).contains(n)).unwrap_or(8)
}

/// Run times of a program from its start. Not those of the sections that the programs time themselves: what
/// one does before it starts its clock is done while the other's runs, and in shortened programs it is no
/// small part.
fn time(lab: &mut Lab, cell: &Cell, app: &str) -> Result<Series, Trouble> {
    lab.of_app(cell, app, |sample| sample.run_time)
}

/// Run times of both programs of a pair on all cores.
fn shared(lab: &mut Lab, pair: &Pair, machine: &str, k: u32, policy: &str) -> Result<[Series; 2], Trouble> {
    let (cell, [one, other]) = (pair.shared(machine, k, policy), pair.apps());
    Ok([time(lab, &cell, one)?, time(lab, &cell, other)?])
}

/// Run times of both programs of a pair on half of the sockets each.
fn partitioned(lab: &mut Lab, pair: &Pair, machine: &str, cores: u32) -> Result<[Series; 2], Trouble> {
    let (cell, [one, other]) = (pair.partitioned(machine, cores), pair.apps());
    Ok([time(lab, &cell, one)?, time(lab, &cell, other)?])
}

fn alone(lab: &mut Lab, job: &Job, machine: &str, k: u32) -> Result<Series, Trouble> {
    time(lab, &job.alone(machine, k), "a")
}

/// How much faster than `before`, in per cent, by replicate of the measured runs.
fn faster(before: &Series, measured: &Series) -> Series {
    let before = before.mean();
    measured.map(|time| (before / time - 1.0) * 100.0)
}

/// Of each program of a pair what sharing wins against a partition, in per cent.
fn gains(
    lab: &mut Lab,
    pair: &Pair,
    (machine, k): (&str, u32),
    cores: u32,
    policy: &str,
) -> Result<[Series; 2], Trouble> {
    let [a, b] = shared(lab, pair, machine, k, policy)?;
    let [before_a, before_b] = partitioned(lab, pair, machine, cores)?;
    Ok([faster(&before_a, &a), faster(&before_b, &b)])
}

/// The mean over all programs of these pairs of what sharing wins against partitions.
fn mean_gain(claim: &Claim, lab: &mut Lab, pairs: &[Pair], machine: &str, k: u32) -> Result<Series, Trouble> {
    let mut all = Vec::new();
    for pair in pairs {
        all.extend(gains(lab, pair, (machine, k), cores(claim), policy(claim))?);
    }
    Ok(Series::mean_of(&all))
}

/// `share-vs-part`: of the first program of the pair; `share-vs-part-avg`: mean over single programs.
fn against_partitions(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let first = claim.metric == "share-vs-part" && pairs::is_single(claim);
    let mut found = Vec::new();
    for (machine, models, k) in settings(claim) {
        let all = asked(claim, lab, &models);
        let series = match &all[..] {
            [pair] if first => {
                let [gain, _] = gains(lab, pair, (&machine, k), cores(claim), policy(claim))?;
                gain
            }
            _ => mean_gain(claim, lab, &all, &machine, k)?,
        };
        found.push((label(&machine, &models, k), series));
    }
    Ok(summed_up(claim, &found))
}

/// One point of the mean of all, or one of each.
fn summed_up(claim: &Claim, found: &[(String, Series)]) -> Answer {
    if is_mean(claim) && found.len() > 1 {
        let labels: Vec<&str> = found.iter().map(|(label, _)| label.as_str()).collect();
        let label = format!("mean of {}", labels.join(", "));
        let all: Vec<Series> = found.iter().map(|(_, series)| series.clone()).collect();
        return Answer::one(label, &Series::mean_of(&all));
    }
    Answer::Points(found.iter().map(|(label, series)| Point::new(label.clone(), series)).collect())
}

/// Run time alone over run time shared of the first program, in per cent; of a set of pairs the mean over all
/// programs.
fn of_dedicated(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let mut found = Vec::new();
    for (machine, models, k) in settings(claim) {
        let mut shares = Vec::new();
        for pair in asked(claim, lab, &models) {
            let times = shared(lab, &pair, &machine, k, policy(claim))?;
            for (job, time) in [&pair.0, &pair.1].into_iter().zip(times) {
                let alone = alone(lab, job, &machine, 1)?.mean();
                shares.push(time.map(|t| 100.0 * alone / t));
            }
        }
        if pairs::is_single(claim) {
            shares.truncate(1);
        }
        found.push((label(&machine, &models, k), Series::mean_of(&shares)));
    }
    Ok(summed_up(claim, &found))
}

/// Time of the two programs one after the other over the time until both have ended, minus one, in per cent.
fn over_sequence(lab: &mut Lab, pair: &Pair, machine: &str, [a, b]: [Series; 2]) -> Result<Series, Trouble> {
    let sequence = alone(lab, &pair.0, machine, 1)?.mean() + alone(lab, &pair.1, machine, 1)?.mean();
    Ok(a.with(&b, |a, b| (sequence / a.max(b) - 1.0) * 100.0))
}

/// Mean throughput over sequence of all pairs of a claim.
fn mean_throughput(
    claim: &Claim,
    lab: &mut Lab,
    (machine, models, k): (&str, &Models, u32),
) -> Result<Series, Trouble> {
    let mut all = Vec::new();
    for pair in asked(claim, lab, models) {
        let times = shared(lab, &pair, machine, k, policy(claim))?;
        all.push(over_sequence(lab, &pair, machine, times)?);
    }
    Ok(Series::mean_of(&all))
}

fn throughput(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    match claim.form {
        Form::Qualitative => best_with_many(claim, lab),
        Form::Ordering => between_models(claim, lab),
        _ => {
            let mut found = Vec::new();
            for (machine, models, k) in settings(claim) {
                let series = mean_throughput(claim, lab, (&machine, &models, k))?;
                found.push((label(&machine, &models, k), series));
            }
            Ok(summed_up(claim, &found))
        }
    }
}

/// The first model named gains more than the others, at each degree.
fn between_models(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let models = pairs::models(claim);
    let Some((first, others)) = models.split_first() else {
        return Err(Trouble::uncovered("no programming model is named"));
    };
    let mut points = Vec::new();
    for machine in fields::machines(claim) {
        for k in degrees(claim) {
            let most = mean_throughput(claim, lab, (&machine, first, k))?.mean();
            for other in others {
                let gain = mean_throughput(claim, lab, (&machine, other, k))?.mean();
                let label = format!("{} over {}", label(&machine, first, k), other.0);
                points.push(Point::single(label, most - gain));
            }
        }
    }
    Ok(Answer::Points(points))
}

/// The best throughput is that of sharing with several tasks per core: by how much it beats one task per core
/// and, where the claim speaks of them, partitions and the sequence.
fn best_with_many(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let beside = claim.baseline.to_lowercase();
    let mut points = Vec::new();
    for machine in fields::machines(claim) {
        for models in pairs::models(claim) {
            let mut many = f64::NEG_INFINITY;
            let mut rest = mean_throughput(claim, lab, (&machine, &models, 1))?.mean();
            for k in degrees(claim).into_iter().filter(|k| *k > 1) {
                many = many.max(mean_throughput(claim, lab, (&machine, &models, k))?.mean());
            }
            if beside.contains("sequence") {
                rest = rest.max(0.0);
            }
            if beside.contains("partition") {
                let mut all = Vec::new();
                for pair in asked(claim, lab, &models) {
                    let times = partitioned(lab, &pair, &machine, cores(claim))?;
                    all.push(over_sequence(lab, &pair, &machine, times)?);
                }
                rest = rest.max(Series::mean_of(&all).mean());
            }
            points.push(Point::single(label(&machine, &models, 2), many - rest));
        }
    }
    Ok(Answer::Points(points))
}

/// Every pair with a program that more tasks per core do not hurt (by more than 2 %) when alone.
fn robust_partner(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let mut points = Vec::new();
    for machine in fields::machines(claim) {
        for models in pairs::models(claim) {
            for pair in asked(claim, lab, &models) {
                let mut robust = false;
                for job in [&pair.0, &pair.1] {
                    let one = alone(lab, job, &machine, 1)?.mean();
                    let mut hurt = false;
                    for k in degrees(claim) {
                        hurt |= alone(lab, job, &machine, k)?.mean() > 1.02 * one;
                    }
                    robust |= !hurt;
                }
                for k in degrees(claim) {
                    let times = shared(lab, &pair, &machine, k, "PIN")?;
                    let gain = over_sequence(lab, &pair, &machine, times)?;
                    if robust {
                        let label = format!("{} {}", label(&machine, &models, k), pair.label());
                        points.push(Point::new(label, &gain));
                    }
                }
            }
        }
    }
    Ok(Answer::Points(points))
}

/// Sharing wins more for pairs of different programs than for pairs of equal ones.
fn differing(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let mut points = Vec::new();
    for (machine, models, k) in settings(claim) {
        let (equal, different): (Vec<Pair>, Vec<Pair>) =
            asked(claim, lab, &models).into_iter().partition(|pair| pair.0.code == pair.1.code);
        let more = mean_gain(claim, lab, &different, &machine, k)?.mean();
        let less = mean_gain(claim, lab, &equal, &machine, k)?.mean();
        points.push(Point::single(label(&machine, &models, k), more - less));
    }
    Ok(Answer::Points(points))
}

/// Sharing wins more with several tasks per core than with one.
fn more_tasks(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let mut points = Vec::new();
    for (machine, models, k) in settings(claim) {
        let all = asked(claim, lab, &models);
        let one = mean_gain(claim, lab, &all, &machine, 1)?.mean();
        if k > 1 {
            let many = mean_gain(claim, lab, &all, &machine, k)?.mean();
            points.push(Point::single(label(&machine, &models, k), many - one));
        }
    }
    Ok(Answer::Points(points))
}

/// How much longer programs take under LOAD than pinned.
fn load(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let mut points = Vec::new();
    for (machine, models, k) in settings(claim) {
        let mut all = Vec::new();
        for pair in asked(claim, lab, &models) {
            let pinned = shared(lab, &pair, &machine, k, "PIN")?;
            let free = shared(lab, &pair, &machine, k, "LOAD")?;
            all.extend(free.iter().zip(&pinned).map(|(free, pinned)| free.gain_over(pinned)));
        }
        points.push(Point::new(label(&machine, &models, k), &Series::mean_of(&all)));
    }
    Ok(Answer::Points(points))
}

/// How much sooner everything is done when sharing than in gangs, in per cent: negative where gangs win.
fn gangs(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let mut points = Vec::new();
    for (machine, models, k) in settings(claim) {
        let mut all = Vec::new();
        // A quick look asks a few pairs only.
        let most = if lab.is_quick() { 4 } else { usize::MAX };
        for pair in asked(claim, lab, &models).into_iter().take(most) {
            // Runs that no other claim needs: once is enough for a sign.
            let once = |cell: Cell| cell.set("repeat", 1);
            let pinned = pair.shared(&machine, k, "PIN");
            let pinned = if DEGREES.contains(&k) { pinned } else { once(pinned) };
            let gangs = once(pair.shared(&machine, k, "gang"));
            let gangs = lab.of_run(&gangs, |run| run.makespan)?;
            all.push(gangs.gain_over(&lab.of_run(&pinned, |run| run.makespan)?));
        }
        points.push(Point::new(
            format!("{}, two programs", label(&machine, &models, k)),
            &Series::mean_of(&all),
        ));
        if claim.workload.contains("three") {
            let quick = lab.is_quick();
            let mut ends = |policy| {
                lab.of_run(&pairs::three(&machine, &models.0, k, (policy, quick)), |run| run.makespan)
            };
            let (pinned, gangs) = (ends("PIN")?, ends("gang")?);
            let label = format!("{}, three programs", label(&machine, &models, k));
            points.push(Point::new(label, &gangs.gain_over(&pinned)));
        }
    }
    Ok(Answer::Points(points))
}
