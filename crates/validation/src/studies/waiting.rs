//! What yield semantics, binding and block time do to one program alone.

use notation::declare::Choice;

use super::alone::{self, Run, Subject};
use super::{contrast, legal};
use crate::answer::{Answer, Point, Series, Trouble};
use crate::claims::{Claim, Code, Conditions, Form, Metric, Model, Policy, Yield};
use crate::lab::Lab;

/// The degrees of the paper's figures.
const DEGREES: [u32; 3] = [2, 4, 8];

/// What the simulator says about a claim of numbers of these metrics.
pub(super) fn answer(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    match claim.at.metric {
        Some(Metric::YieldGain) => yielding(claim, lab),
        Some(Metric::PinGain) => pinning(claim, lab),
        Some(Metric::Variation) => variation(claim, lab),
        Some(Metric::BlockTimeGain) => block_time(claim, lab),
        _ => Err(legal::no_rule(claim)),
    }
}

/// Whether a claim is a statement about yields that has a rule of its own.
pub(super) fn is_statement(claim: &Claim) -> bool {
    under_both(claim)
        || dominates_claim(claim)
        || (claim.form == Form::Ordering && !contrast::has_sides(claim))
}

/// What the simulator says about such a statement.
pub(super) fn statement(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let policy = claim.at.policy.placer();
    let gain = yield_gain(policy);
    if under_both(claim) {
        return under_load(claim, lab);
    }
    if dominates_claim(claim) {
        return dominates(&by_degree(claim, policy != Policy::Pin), lab, policy, &gain);
    }
    with_degree(claim, &slices(claim, policy != Policy::Pin), lab, &gain)
}

/// Whether binding and the balancer are compared.
fn under_both(claim: &Claim) -> bool {
    let policies = &claim.at.policy;
    policies.versus.is_some() && policies.has(Policy::Pin) && policies.has(Policy::Load)
}

/// Whether the yield is said to matter more than the number of tasks.
fn dominates_claim(claim: &Claim) -> bool {
    claim.form == Form::Qualitative && claim.at.statement.speaks_of(&["dominat"])
}

/// A change from one way of running a subject to another.
type Gain<'a> = &'a dyn Fn(&mut Lab, &Subject, u32) -> Result<Series, Trouble>;

/// Which subjects one number is about: a machine, a model, degrees. With the balancer in them or without.
struct Slice<'a> {
    at: &'a Conditions,
    machine: &'a str,
    model: Model,
    degrees: Vec<u32>,
    loaded: bool,
    /// What `sched_yield` does, where a gain is not about that.
    yields: Yield,
}

impl Slice<'_> {
    fn label(&self) -> String {
        let degrees: Vec<String> = self.degrees.iter().map(ToString::to_string).collect();
        let yields = if self.yields == Yield::Default { ", default yield" } else { "" };
        format!("{} {} {}/core{yields}", self.machine, self.model.word(), degrees.join(","))
    }

    fn runs(&self) -> Vec<(Subject, u32)> {
        let classes = if self.loaded { self.at.classes.middle() } else { self.at.classes.clone() };
        let all = alone::subjects(self.at, (self.machine, self.model), &classes, Run::PINNED);
        alone::runs(&all, &self.degrees)
    }

    /// The mean over its programs, classes and degrees; empty where none runs.
    fn mean(&self, lab: &mut Lab, gain: Gain<'_>) -> Result<Series, Trouble> {
        let mut all = Vec::new();
        for (subject, k) in self.runs() {
            all.push(gain(lab, &subject, k)?);
        }
        Ok(Series::mean_of(&all))
    }

    /// The same at this degree only.
    fn only(&self, degree: u32) -> Self {
        Self { degrees: vec![degree], ..*self }
    }
}

/// Every machine and model of a claim with its degrees together.
fn slices(claim: &Claim, loaded: bool) -> Vec<Slice<'_>> {
    let (at, mut all) = (&claim.at, Vec::new());
    for machine in &at.machines.list {
        for model in &at.models.list {
            let degrees = at.threads.degrees(&DEGREES);
            all.push(Slice { at, machine, model: *model, degrees, loaded, yields: Yield::Posix });
        }
    }
    all
}

/// Those slices with each yield of the claim.
fn by_yield(claim: &Claim, loaded: bool) -> Vec<Slice<'_>> {
    let mut all = Vec::new();
    for yields in claim.at.yields() {
        all.extend(slices(claim, loaded).into_iter().map(|slice| Slice { yields, ..slice }));
    }
    all
}

/// Those slices with each degree by itself.
fn by_degree(claim: &Claim, loaded: bool) -> Vec<Slice<'_>> {
    let mut all = Vec::new();
    for slice in slices(claim, loaded) {
        all.extend(slice.degrees.iter().map(|k| slice.only(*k)));
    }
    all
}

/// The mean of each slice that has runs.
fn means(slices: &[Slice<'_>], lab: &mut Lab, gain: Gain<'_>) -> Result<Answer, Trouble> {
    let mut points = Vec::new();
    for slice in slices {
        let series = slice.mean(lab, gain)?;
        if !series.0.is_empty() {
            points.push(Point::new(slice.label(), &series));
        }
    }
    Ok(Answer(points))
}

/// One number for each program, class and degree.
fn singles(slices: &[Slice<'_>], lab: &mut Lab, gain: Gain<'_>) -> Result<Answer, Trouble> {
    let mut points = Vec::new();
    for (subject, k) in slices.iter().flat_map(Slice::runs) {
        points.push(Point::new(subject.name(k), &gain(lab, &subject, k)?));
    }
    Ok(Answer(points))
}

/// T(default yield) / T(POSIX yield) - 1, in per cent.
fn psx_gain(lab: &mut Lab, subject: &Subject, k: u32, policy: Policy) -> Result<Series, Trouble> {
    let run = Run { policy, ..subject.run };
    let default = subject.with(Run { yields: Yield::Default, ..run }).times(lab, k)?;
    Ok(default.gain_over(&subject.with(run).times(lab, k)?))
}

/// The gain of the POSIX yield under a policy.
fn yield_gain(policy: Policy) -> impl Fn(&mut Lab, &Subject, u32) -> Result<Series, Trouble> {
    move |lab, subject, k| psx_gain(lab, subject, k, policy)
}

fn yielding(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let policy = claim.at.policy.placer();
    let loaded = policy != Policy::Pin;
    let gain = yield_gain(policy);
    match claim.form {
        Form::LowerBound | Form::UpperBound => means(&slices(claim, loaded), lab, &gain),
        form if form.is_mean() => overall(claim, lab, loaded, &gain),
        _ => singles(&slices(claim, loaded), lab, &gain),
    }
}

/// One mean over all machines, models, programs and degrees.
fn overall(claim: &Claim, lab: &mut Lab, loaded: bool, gain: Gain<'_>) -> Result<Answer, Trouble> {
    let mut all = Vec::new();
    for (subject, k) in slices(claim, loaded).iter().flat_map(Slice::runs) {
        all.push(gain(lab, &subject, k)?);
    }
    let label = format!("mean of {} cells on {}", all.len(), claim.at.machines.list.join(", "));
    Ok(Answer(if all.is_empty() { vec![] } else { vec![Point::new(label, &Series::mean_of(&all))] }))
}

/// The gain left to the balancer minus the gain pinned: not negative, or not positive where the claim says
/// so.
fn under_load(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let [pinned, loaded] = [Policy::Pin, Policy::Load].map(yield_gain);
    let sign = if claim.at.statement.first_has_more("PIN", "LOAD", false) { -1.0 } else { 1.0 };
    means(&slices(claim, true), lab, &|lab, subject, k| {
        let pinned = pinned(lab, subject, k)?.mean();
        Ok(loaded(lab, subject, k)?.map(|gain| sign * (gain - pinned)))
    })
}

/// What each degree gains more than the one before, or less where the claim says so.
fn with_degree(
    claim: &Claim,
    slices: &[Slice<'_>],
    lab: &mut Lab,
    gain: Gain<'_>,
) -> Result<Answer, Trouble> {
    let sign = if contrast::rises(claim, true) { 1.0 } else { -1.0 };
    let mut points = Vec::new();
    for slice in slices {
        for pair in slice.degrees.windows(2) {
            let less = slice.only(pair[0]).mean(lab, gain)?.mean();
            let more = slice.only(pair[1]).mean(lab, gain)?;
            let label = format!("{} {} {} - {}/core", slice.machine, slice.model.word(), pair[1], pair[0]);
            points.push(Point::new(label, &more.map(|gain| sign * (gain - less))));
        }
    }
    Ok(Answer(points))
}

/// The yield semantics move the workload further than the step from one task per core to this degree does:
/// the difference of the two.
fn dominates(slices: &[Slice<'_>], lab: &mut Lab, policy: Policy, gain: Gain<'_>) -> Result<Answer, Trouble> {
    let effect = |lab: &mut Lab, subject: &Subject, k: u32| -> Result<Series, Trouble> {
        let subject = subject.with(Run { policy, ..subject.run });
        let one = subject.times(lab, 1)?;
        Ok(subject.times(lab, k)?.gain_over(&one))
    };
    let mut points = Vec::new();
    for slice in slices {
        let step = slice.mean(lab, &effect)?.mean().abs();
        let series = slice.mean(lab, gain)?.map(|gain| gain - step);
        if !series.0.is_empty() {
            points.push(Point::new(slice.label(), &series));
        }
    }
    Ok(Answer(points))
}

/// T(LOAD) / T(PIN) - 1 in per cent, or the same of threads that may move inside their NUMA domain, or under
/// another balancer that the claim names.
fn pinning(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let mut answer = Vec::new();
    for yields in claim.at.yields() {
        let pinned = Run { yields, ..Run::PINNED };
        let other = claim.at.baseline.policies.list.iter().copied().find(|policy| *policy != Policy::Pin);
        let free = if claim.at.policy.within_node {
            Run { by_node: true, ..pinned }
        } else {
            Run { policy: other.unwrap_or(Policy::Load), ..pinned }
        };
        let gain = |lab: &mut Lab, subject: &Subject, k: u32| -> Result<Series, Trouble> {
            let bound = subject.with(pinned).times(lab, k)?;
            Ok(subject.with(free).times(lab, k)?.gain_over(&bound))
        };
        let among = |of: fn(&Claim, bool) -> Vec<Slice<'_>>| -> Vec<Slice<'_>> {
            of(claim, true).into_iter().map(|slice| Slice { yields, ..slice }).collect()
        };
        let points = match claim.form {
            Form::UpTo | Form::Range => singles(&among(slices), lab, &gain),
            Form::LowerBound | Form::UpperBound => means(&among(by_degree), lab, &gain),
            _ => means(&among(slices), lab, &gain),
        };
        answer.extend(points?.0);
    }
    Ok(Answer(answer))
}

/// (max - min) / min over the replicates, in per cent.
fn variation(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let (policy, random) = (claim.at.policy.placer(), claim.at.policy.random);
    let run = Run { policy, random, repeated: true, ..Run::PINNED };
    let mut points = Vec::new();
    for slice in by_yield(claim, true) {
        let run = Run { yields: slice.yields, ..run };
        if !random {
            let one = |lab: &mut Lab, subject: &Subject, k: u32| -> Result<Series, Trouble> {
                Ok(Series::from(subject.with(run).times(lab, k)?.variation()))
            };
            points.extend(singles(std::slice::from_ref(&slice), lab, &one)?.0);
            continue;
        }
        // Of any two pinnings: the workload averages, each replicate another pinning.
        let relative = |lab: &mut Lab, subject: &Subject, k: u32| -> Result<Series, Trouble> {
            let times = subject.with(run).times(lab, k)?;
            let mean = times.mean();
            Ok(times.map(|time| time / mean))
        };
        let average = slice.mean(lab, &relative)?;
        if !average.0.is_empty() {
            points.push(Point::single(slice.label(), average.variation()));
        }
    }
    Ok(Answer(points))
}

/// What another block time gains over the one of the baseline, in per cent: of OpenMP, whose setting it is.
fn block_time(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    if !claim.at.models.list.contains(&Model::OpenMp) {
        return Err(Trouble::uncovered(
            "the block time is a setting of OpenMP, and the claim is about other models",
        ));
    }
    let policy = claim.at.policy.placer();
    let mut points = Vec::new();
    let mut slices = by_yield(claim, policy != Policy::Pin);
    slices.retain(|slice| slice.model == Model::OpenMp);
    for slice in &slices {
        let run = Run { yields: slice.yields, policy, ..Run::PINNED };
        let (before, after) = (claim.at.baseline.block_time, claim.at.wait.block_time);
        let gain = |lab: &mut Lab, subject: &Subject, k: u32| -> Result<Series, Trouble> {
            let with = |time| subject.polling(time).with(run);
            let faster = with(after).times(lab, k)?.mean();
            Ok(with(before).times(lab, k)?.map(|time| (time / faster - 1.0) * 100.0))
        };
        let one = std::slice::from_ref(slice);
        let answer = match claim.form {
            Form::UpTo | Form::Range => singles(one, lab, &gain),
            Form::Exact | Form::Approx | Form::Average => by_code(one, lab, &gain),
            _ => means(one, lab, &gain),
        };
        points.extend(answer?.0);
    }
    Ok(Answer(points))
}

/// The mean of each program over its classes and degrees.
fn by_code(slices: &[Slice<'_>], lab: &mut Lab, gain: Gain<'_>) -> Result<Answer, Trouble> {
    let mut points = Vec::new();
    for slice in slices {
        let runs = slice.runs();
        let mut codes: Vec<Code> = runs.iter().map(|(subject, _)| subject.code).collect();
        codes.dedup();
        for code in codes {
            let mut all = Vec::new();
            for (subject, k) in runs.iter().filter(|(subject, _)| subject.code == code) {
                all.push(gain(lab, subject, *k)?);
            }
            points.push(Point::new(format!("{} {}", slice.label(), code.word()), &Series::mean_of(&all)));
        }
    }
    Ok(Answer(points))
}
