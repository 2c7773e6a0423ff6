//! What yield semantics, binding and block time do to one program alone.

mod cells;

use cells::{Run, Subject};

use notation::declare::Choice;

use crate::answer::{Answer, Point, Series, Trouble};
use crate::claims::{Claim, Code, Conditions, Form, Metric, Model, Policy, Together, Yield};
use crate::lab::Lab;

/// The degrees of the paper's figures.
const DEGREES: [u32; 3] = [2, 4, 8];

/// What the simulator says about a claim of these groups.
pub(super) fn answer(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    match claim.at.metric {
        Some(Metric::YieldGain) => yielding(claim, lab),
        Some(Metric::PinGain) => pinning(claim, lab),
        Some(Metric::Variation) => variation(claim, lab),
        Some(Metric::BlockTimeGain) => block_time(claim, lab),
        _ => Err(Trouble::no_rule(&claim.texts.metric)),
    }
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
}

impl Slice<'_> {
    fn label(&self) -> String {
        let degrees: Vec<String> = self.degrees.iter().map(ToString::to_string).collect();
        format!("{} {} {}/core", self.machine, self.model.word(), degrees.join(","))
    }

    fn runs(&self) -> Vec<(Subject, u32)> {
        cells::runs(&cells::subjects(self.at, self.machine, self.model, self.loaded), &self.degrees)
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
            all.push(Slice { at, machine, model: *model, degrees, loaded });
        }
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
    Ok(Answer::Points(points))
}

/// One number for each program, class and degree.
fn singles(slices: &[Slice<'_>], lab: &mut Lab, gain: Gain<'_>) -> Result<Answer, Trouble> {
    let mut points = Vec::new();
    for (subject, k) in slices.iter().flat_map(Slice::runs) {
        points.push(Point::new(subject.name(k), &gain(lab, &subject, k)?));
    }
    Ok(Answer::Points(points))
}

/// T(default yield) / T(POSIX yield) - 1, in per cent.
fn psx_gain(lab: &mut Lab, subject: &Subject, k: u32, policy: Policy) -> Result<Series, Trouble> {
    let run = Run { policy, ..Run::PINNED };
    let default = subject.times(lab, k, &Run { yields: Yield::Default, ..run })?;
    Ok(default.gain_over(&subject.times(lab, k, &run)?))
}

fn yielding(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let both = claim.at.policy.has(Policy::Pin) && claim.at.policy.has(Policy::Load);
    let policy = if both { Policy::Pin } else { claim.at.policy.load_or_pin() };
    let loaded = policy == Policy::Load;
    let gain = move |lab: &mut Lab, subject: &Subject, k: u32| psx_gain(lab, subject, k, policy);
    match claim.form {
        Form::Ordering if both => under_load(claim, lab),
        Form::Ordering if claim.at.models.together == Together::Versus => {
            between_models(&slices(claim, loaded), lab, &gain)
        }
        Form::Ordering => with_degree(&slices(claim, loaded), lab, &gain),
        Form::Qualitative => dominates(&by_degree(claim, loaded), lab, policy, &gain),
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
    Ok(Answer::Points(if all.is_empty() { vec![] } else { vec![Point::new(label, &Series::mean_of(&all))] }))
}

/// The gain left to the balancer minus the gain pinned: not negative.
fn under_load(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    means(&slices(claim, true), lab, &|lab, subject, k| {
        let pinned = psx_gain(lab, subject, k, Policy::Pin)?.mean();
        Ok(psx_gain(lab, subject, k, Policy::Load)?.map(|gain| gain - pinned))
    })
}

/// The later of two models gains more.
fn between_models(slices: &[Slice<'_>], lab: &mut Lab, gain: Gain<'_>) -> Result<Answer, Trouble> {
    let mut points = Vec::new();
    for pair in slices.windows(2).filter(|pair| pair[0].machine == pair[1].machine) {
        let less = pair[0].mean(lab, gain)?.mean();
        let more = pair[1].mean(lab, gain)?;
        let label = format!("{} {} - {}", pair[0].machine, pair[1].model.word(), pair[0].model.word());
        points.push(Point::new(label, &more.map(|gain| gain - less)));
    }
    Ok(Answer::Points(points))
}

/// What each degree gains more than the one before.
fn with_degree(slices: &[Slice<'_>], lab: &mut Lab, gain: Gain<'_>) -> Result<Answer, Trouble> {
    let mut points = Vec::new();
    for slice in slices {
        for pair in slice.degrees.windows(2) {
            let less = slice.only(pair[0]).mean(lab, gain)?.mean();
            let more = slice.only(pair[1]).mean(lab, gain)?;
            let label = format!("{} {} {} - {}/core", slice.machine, slice.model.word(), pair[1], pair[0]);
            points.push(Point::new(label, &more.map(|gain| gain - less)));
        }
    }
    Ok(Answer::Points(points))
}

/// The yield semantics move the workload further than the step from one task per core to this degree does:
/// the difference of the two.
fn dominates(slices: &[Slice<'_>], lab: &mut Lab, policy: Policy, gain: Gain<'_>) -> Result<Answer, Trouble> {
    let run = Run { policy, ..Run::PINNED };
    let effect = |lab: &mut Lab, subject: &Subject, k: u32| -> Result<Series, Trouble> {
        let one = subject.times(lab, 1, &run)?;
        Ok(subject.times(lab, k, &run)?.gain_over(&one))
    };
    let mut points = Vec::new();
    for slice in slices {
        let step = slice.mean(lab, &effect)?.mean().abs();
        let series = slice.mean(lab, gain)?.map(|gain| gain - step);
        if !series.0.is_empty() {
            points.push(Point::new(slice.label(), &series));
        }
    }
    Ok(Answer::Points(points))
}

/// T(LOAD) / T(PIN) - 1 in per cent, or the same of threads that may move inside their NUMA domain.
fn pinning(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let pinned = Run { yields: claim.at.yields()[0], long: true, ..Run::PINNED };
    let free = if claim.at.policy.within_node {
        Run { by_node: true, ..pinned }
    } else {
        Run { policy: Policy::Load, ..pinned }
    };
    let gain = |lab: &mut Lab, subject: &Subject, k: u32| -> Result<Series, Trouble> {
        let bound = subject.times(lab, k, &pinned)?;
        Ok(subject.times(lab, k, &free)?.gain_over(&bound))
    };
    match claim.form {
        Form::UpTo | Form::Range => singles(&slices(claim, true), lab, &gain),
        Form::LowerBound | Form::UpperBound | Form::Ordering | Form::Qualitative => {
            means(&by_degree(claim, true), lab, &gain)
        }
        _ => means(&slices(claim, true), lab, &gain),
    }
}

/// (max - min) / min over the replicates, in per cent.
fn variation(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let (yields, policy) = (claim.at.yields()[0], claim.at.policy.load_or_pin());
    let random = claim.at.policy.random;
    let run = Run { yields, policy, random, repeated: true, ..Run::PINNED };
    if !random {
        let one = |lab: &mut Lab, subject: &Subject, k: u32| -> Result<Series, Trouble> {
            Ok(Series::from(subject.times(lab, k, &run)?.variation()))
        };
        return singles(&slices(claim, true), lab, &one);
    }
    // Of any two pinnings: the workload averages, each replicate another pinning.
    let relative = |lab: &mut Lab, subject: &Subject, k: u32| -> Result<Series, Trouble> {
        let times = subject.times(lab, k, &run)?;
        let mean = times.mean();
        Ok(times.map(|time| time / mean))
    };
    let mut points = Vec::new();
    for slice in slices(claim, true) {
        let average = slice.mean(lab, &relative)?;
        if !average.0.is_empty() {
            points.push(Point::single(slice.label(), average.variation()));
        }
    }
    Ok(Answer::Points(points))
}

/// What another block time gains over the one of the baseline, in per cent.
fn block_time(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let (yields, policy) = (claim.at.yields()[0], claim.at.policy.load_or_pin());
    let run = |block_time| Run { yields, policy, block_time, ..Run::PINNED };
    let (before, after) = (run(claim.at.baseline.block_time), run(claim.at.wait.block_time));
    let gain = |lab: &mut Lab, subject: &Subject, k: u32| -> Result<Series, Trouble> {
        let faster = subject.times(lab, k, &after)?.mean();
        Ok(subject.times(lab, k, &before)?.map(|time| (time / faster - 1.0) * 100.0))
    };
    let slices = slices(claim, policy == Policy::Load);
    match claim.form {
        Form::UpTo | Form::Range => singles(&slices, lab, &gain),
        Form::Exact | Form::Approx | Form::Average => by_code(&slices, lab, &gain),
        _ => means(&slices, lab, &gain),
    }
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
    Ok(Answer::Points(points))
}
