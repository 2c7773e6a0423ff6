//! What yield semantics, binding and block time do to one program alone.

mod cells;

use cells::{Run, Subject};

use crate::answer::{Answer, Point, Series, Trouble};
use crate::claims::{Claim, Form};
use crate::fields;
use crate::lab::Lab;

/// What the simulator says about a claim of these groups.
pub(super) fn answer(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    match claim.metric.as_str() {
        "psx-gain" => yielding(claim, lab),
        "pin-gain" => pinning(claim, lab),
        "variation" => variation(claim, lab),
        "kmp-gain" => block_time(claim, lab),
        other => Err(Trouble::uncovered(format!("no rule for the metric `{other}`"))),
    }
}

/// A change from one way of running a subject to another.
type Gain<'a> = &'a dyn Fn(&mut Lab, &Subject, u32) -> Result<Series, Trouble>;

/// Which subjects one number is about: a machine, a model, degrees.
struct Slice<'a> {
    machine: &'a str,
    model: &'a str,
    degrees: &'a [u32],
}

impl Slice<'_> {
    fn label(&self) -> String {
        let degrees: Vec<String> = self.degrees.iter().map(ToString::to_string).collect();
        format!("{} {} {}/core", self.machine, self.model, degrees.join(","))
    }

    fn runs(&self, claim: &Claim, loaded: bool) -> Vec<(Subject, u32)> {
        cells::runs(&cells::subjects(claim, self.machine, self.model, loaded), self.degrees)
    }

    /// The mean over its programs, classes and degrees; empty where none runs.
    fn mean(&self, claim: &Claim, lab: &mut Lab, loaded: bool, gain: Gain<'_>) -> Result<Series, Trouble> {
        let mut all = Vec::new();
        for (subject, k) in self.runs(claim, loaded) {
            all.push(gain(lab, &subject, k)?);
        }
        Ok(Series::mean_of(&all))
    }
}

/// Every machine and model of a claim with these degrees together, or with each by itself.
fn slices<'a>(
    machines: &'a [String],
    models: &'a [String],
    degrees: &'a [u32],
    each: bool,
) -> Vec<Slice<'a>> {
    let mut all = Vec::new();
    for machine in machines {
        for model in models {
            let of = |degrees| Slice { machine, model, degrees };
            if each { all.extend(degrees.chunks(1).map(of)) } else { all.push(of(degrees)) }
        }
    }
    all
}

/// The mean of each slice.
fn means(claim: &Claim, lab: &mut Lab, each: bool, loaded: bool, gain: Gain<'_>) -> Result<Answer, Trouble> {
    let (machines, models, degrees) = (fields::machines(claim), fields::models(claim), cells::degrees(claim));
    let mut points = Vec::new();
    for slice in slices(&machines, &models, &degrees, each) {
        let series = slice.mean(claim, lab, loaded, gain)?;
        if !series.0.is_empty() {
            points.push(Point::new(slice.label(), &series));
        }
    }
    Ok(Answer::Points(points))
}

/// One number for each program, class and degree.
fn singles(claim: &Claim, lab: &mut Lab, loaded: bool, gain: Gain<'_>) -> Result<Answer, Trouble> {
    let (machines, models, degrees) = (fields::machines(claim), fields::models(claim), cells::degrees(claim));
    let mut points = Vec::new();
    for slice in slices(&machines, &models, &degrees, false) {
        for (subject, k) in slice.runs(claim, loaded) {
            points.push(Point::new(subject.name(k), &gain(lab, &subject, k)?));
        }
    }
    Ok(Answer::Points(points))
}

/// T(default yield) / T(POSIX yield) - 1, in per cent.
fn psx_gain(lab: &mut Lab, subject: &Subject, k: u32, policy: &'static str) -> Result<Series, Trouble> {
    let run = Run { policy, ..Run::PINNED };
    let default = subject.times(lab, k, &Run { yields: "default", ..run.clone() })?;
    Ok(default.gain_over(&subject.times(lab, k, &run)?))
}

fn yielding(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let both = claim.policy.contains("PIN") && claim.policy.contains("LOAD");
    let policy = if claim.policy.contains("LOAD") && !both { "LOAD" } else { "PIN" };
    let loaded = policy == "LOAD";
    let gain = move |lab: &mut Lab, subject: &Subject, k: u32| psx_gain(lab, subject, k, policy);
    match claim.form {
        Form::Ordering if both => under_load(claim, lab),
        Form::Ordering if claim.model.contains("vs") => between_models(claim, lab, loaded, &gain),
        Form::Ordering => with_degree(claim, lab, loaded, &gain),
        Form::Qualitative => dominates(claim, lab, loaded, &gain),
        Form::LowerBound | Form::UpperBound => means(claim, lab, false, loaded, &gain),
        Form::Exact | Form::Approx | Form::Average | Form::Missing => overall(claim, lab, loaded, &gain),
        _ => singles(claim, lab, loaded, &gain),
    }
}

/// One mean over all machines, models, programs and degrees.
fn overall(claim: &Claim, lab: &mut Lab, loaded: bool, gain: Gain<'_>) -> Result<Answer, Trouble> {
    let (machines, models, degrees) = (fields::machines(claim), fields::models(claim), cells::degrees(claim));
    let mut all = Vec::new();
    for slice in slices(&machines, &models, &degrees, false) {
        for (subject, k) in slice.runs(claim, loaded) {
            all.push(gain(lab, &subject, k)?);
        }
    }
    let label = format!("mean of {} cells on {}", all.len(), machines.join(", "));
    Ok(Answer::Points(if all.is_empty() { vec![] } else { vec![Point::new(label, &Series::mean_of(&all))] }))
}

/// The gain left to the balancer minus the gain pinned: not negative.
fn under_load(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    means(claim, lab, false, true, &|lab, subject, k| {
        let pinned = psx_gain(lab, subject, k, "PIN")?.mean();
        Ok(psx_gain(lab, subject, k, "LOAD")?.map(|gain| gain - pinned))
    })
}

/// The later of two models gains more.
fn between_models(claim: &Claim, lab: &mut Lab, loaded: bool, gain: Gain<'_>) -> Result<Answer, Trouble> {
    let (machines, models, degrees) = (fields::machines(claim), fields::models(claim), cells::degrees(claim));
    let mut points = Vec::new();
    for machine in &machines {
        for pair in models.windows(2) {
            let slice = |model| Slice { machine, model, degrees: &degrees };
            let less = slice(&pair[0]).mean(claim, lab, loaded, gain)?.mean();
            let more = slice(&pair[1]).mean(claim, lab, loaded, gain)?;
            points.push(Point::new(
                format!("{machine} {} - {}", pair[1], pair[0]),
                &more.map(|gain| gain - less),
            ));
        }
    }
    Ok(Answer::Points(points))
}

/// What each degree gains more than the one before.
fn with_degree(claim: &Claim, lab: &mut Lab, loaded: bool, gain: Gain<'_>) -> Result<Answer, Trouble> {
    let (machines, models, degrees) = (fields::machines(claim), fields::models(claim), cells::degrees(claim));
    let mut points = Vec::new();
    for machine in &machines {
        for model in &models {
            for pair in degrees.windows(2) {
                let at = |k| Slice { machine, model, degrees: std::slice::from_ref(k) };
                let less = at(&pair[0]).mean(claim, lab, loaded, gain)?.mean();
                let more = at(&pair[1]).mean(claim, lab, loaded, gain)?;
                let label = format!("{machine} {model} {} - {}/core", pair[1], pair[0]);
                points.push(Point::new(label, &more.map(|gain| gain - less)));
            }
        }
    }
    Ok(Answer::Points(points))
}

/// The yield semantics move the workload further than the step from one task per core to this degree does:
/// the difference of the two.
fn dominates(claim: &Claim, lab: &mut Lab, loaded: bool, gain: Gain<'_>) -> Result<Answer, Trouble> {
    let run = if loaded { Run { policy: "LOAD", ..Run::PINNED } } else { Run::PINNED };
    let effect = |lab: &mut Lab, subject: &Subject, k: u32| -> Result<Series, Trouble> {
        let one = subject.times(lab, 1, &run)?;
        Ok(subject.times(lab, k, &run)?.gain_over(&one))
    };
    let (machines, models, degrees) = (fields::machines(claim), fields::models(claim), cells::degrees(claim));
    let mut points = Vec::new();
    for slice in slices(&machines, &models, &degrees, true) {
        let step = slice.mean(claim, lab, loaded, &effect)?.mean().abs();
        let series = slice.mean(claim, lab, loaded, gain)?.map(|gain| gain - step);
        if !series.0.is_empty() {
            points.push(Point::new(slice.label(), &series));
        }
    }
    Ok(Answer::Points(points))
}

/// T(LOAD) / T(PIN) - 1 in per cent, or the same of threads that may move inside their NUMA domain.
fn pinning(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let yields = fields::yields(claim)[0];
    let pinned = Run { yields, long: true, ..Run::PINNED };
    let within = claim.policy.contains("domain") || claim.policy.contains("node");
    let free = if within {
        Run { by_node: true, ..pinned.clone() }
    } else {
        Run { policy: "LOAD", ..pinned.clone() }
    };
    let gain = |lab: &mut Lab, subject: &Subject, k: u32| -> Result<Series, Trouble> {
        let bound = subject.times(lab, k, &pinned)?;
        Ok(subject.times(lab, k, &free)?.gain_over(&bound))
    };
    match claim.form {
        Form::UpTo | Form::Range => singles(claim, lab, true, &gain),
        Form::LowerBound | Form::UpperBound | Form::Ordering | Form::Qualitative => {
            means(claim, lab, true, true, &gain)
        }
        _ => means(claim, lab, false, true, &gain),
    }
}

/// (max - min) / min over the replicates, in per cent.
fn variation(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let random = claim.policy.contains("random");
    let policy = if claim.policy.contains("LOAD") { "LOAD" } else { "PIN" };
    let run = Run { yields: fields::yields(claim)[0], policy, random, repeated: true, ..Run::PINNED };
    if !random {
        let one = |lab: &mut Lab, subject: &Subject, k: u32| -> Result<Series, Trouble> {
            Ok(Series::from(subject.times(lab, k, &run)?.variation()))
        };
        return singles(claim, lab, true, &one);
    }
    // Of any two pinnings: the workload averages, each replicate another pinning.
    let (machines, models, degrees) = (fields::machines(claim), fields::models(claim), cells::degrees(claim));
    let mut points = Vec::new();
    for slice in slices(&machines, &models, &degrees, false) {
        let relative = |lab: &mut Lab, subject: &Subject, k: u32| -> Result<Series, Trouble> {
            let times = subject.times(lab, k, &run)?;
            let mean = times.mean();
            Ok(times.map(|time| time / mean))
        };
        let average = slice.mean(claim, lab, true, &relative)?;
        if !average.0.is_empty() {
            points.push(Point::single(slice.label(), average.variation()));
        }
    }
    Ok(Answer::Points(points))
}

/// What another block time gains over the one of the baseline, in per cent.
fn block_time(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let yields = fields::yields(claim)[0];
    let policy = if claim.policy.contains("LOAD") { "LOAD" } else { "PIN" };
    let run = |text: &str| Run { yields, policy, block_time: cells::block_time(text), ..Run::PINNED };
    let (before, after) = (run(&claim.baseline), run(&claim.wait));
    let gain = |lab: &mut Lab, subject: &Subject, k: u32| -> Result<Series, Trouble> {
        let faster = subject.times(lab, k, &after)?.mean();
        Ok(subject.times(lab, k, &before)?.map(|time| (time / faster - 1.0) * 100.0))
    };
    let loaded = policy == "LOAD";
    match claim.form {
        Form::UpTo | Form::Range => singles(claim, lab, loaded, &gain),
        Form::Exact | Form::Approx | Form::Average => by_code(claim, lab, loaded, &gain),
        _ => means(claim, lab, false, loaded, &gain),
    }
}

/// The mean of each program over its classes and degrees.
fn by_code(claim: &Claim, lab: &mut Lab, loaded: bool, gain: Gain<'_>) -> Result<Answer, Trouble> {
    let (machines, models, degrees) = (fields::machines(claim), fields::models(claim), cells::degrees(claim));
    let mut points = Vec::new();
    for slice in slices(&machines, &models, &degrees, false) {
        let runs = slice.runs(claim, loaded);
        let mut codes: Vec<&str> = runs.iter().map(|(subject, _)| subject.code.as_str()).collect();
        codes.dedup();
        for code in codes {
            let mut all = Vec::new();
            for (subject, k) in runs.iter().filter(|(subject, _)| subject.code == code) {
                all.push(gain(lab, subject, *k)?);
            }
            points.push(Point::new(format!("{} {code}", slice.label()), &Series::mean_of(&all)));
        }
    }
    Ok(Answer::Points(points))
}
