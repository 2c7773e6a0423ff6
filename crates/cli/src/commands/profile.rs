//! `oversim profile`: a job described by what other programs measured of it.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use decide::goal::Goal;
use decide::trial::{self, Failed, Means, Setting, Subject, Wanted};
use experiment::PolicyRegistry;
use profile::report::{self, Effect, Ranked};
use profile::{Asked, Described, Form, Look, Looks, Options, Profile, Roots, Source, Trial};
use scenario::Overrides;

use crate::args;
use crate::failure::Failure;
use crate::output::{Target, distinct, to_stdout};
use crate::{input, say};

/// Seeds of each trial.
const SEEDS: u32 = 3;
/// Most applications whose missing numbers are tried: those of others are of the same kinds.
const MOST_TRIED: usize = 8;

/// Describes a job, writes its scenario, and asks for what is missing.
pub(crate) fn profile(args: &args::Profile, policies: &PolicyRegistry) -> Result<ExitCode, Failure> {
    let target = args.output.as_deref().map(|path| Target::check(path, args.force)).transpose()?;
    let inputs: Vec<&Path> = args.files.iter().map(PathBuf::as_path).collect();
    distinct(&target.iter().collect::<Vec<_>>(), &inputs)?;
    if let Some(wait) = &args.wait {
        waits(wait)?;
    }
    let read: Vec<(String, String)> = inputs
        .iter()
        .map(|path| input::file(path, profile::MAX_BYTES, "file that describes a job"))
        .collect::<Result<_, _>>()?;
    let sources: Vec<Source<'_>> = read.iter().map(|(name, text)| Source { name, text }).collect();
    let profile = described(args, &sources)?;
    let name =
        target.as_ref().map_or_else(|| "the scenario".into(), |target| target.named().display().to_string());
    loads(policies, &name, &profile.text())?;
    let mut ranked = ranked(args, &profile, policies)?;
    report::rank(&mut ranked);
    deliver(args, target.as_ref(), &profile, &ranked)?;
    super::import::list(&profile.notes);
    for line in report::lines(&ranked) {
        if !say::quiet() {
            say::line(line);
        }
    }
    if let Some(target) = &target {
        let file = target.named().display();
        say::written(&file, format_args!("a scenario; next: oversim run {file}"));
    }
    Ok(ExitCode::SUCCESS)
}

/// Reads files and looks at processes.
fn described(args: &args::Profile, sources: &[Source<'_>]) -> Result<Profile, Failure> {
    let title = args.output.as_deref().or(args.files.first().map(PathBuf::as_path)).and_then(Path::file_stem);
    let title = title.map(|stem| stem.to_string_lossy().into_owned()).or_else(|| args.name.clone());
    let options = Options {
        title: title.unwrap_or_default(),
        name: args.name.clone(),
        form: args.form.as_deref().and_then(Form::named),
        machine: args.machine.clone(),
        kernel: args.kernel.clone(),
        interval: args.interval,
        bandwidth: args.bandwidth,
        wait: args.wait.clone(),
        threads: args.threads,
        ranks: args.ranks,
        work: args.work,
        stretch: args.stretch,
    };
    let roots = Roots { proc: Path::new("/proc"), cgroups: Path::new("/sys/fs/cgroup") };
    let looks = if args.pid.is_empty() { None } else { Some(looked(args, roots)?) };
    let looks =
        looks.as_ref().map(|(first, second, seconds)| Looks { roots, first, second, seconds: *seconds });
    Ok(profile::describe(sources, looks, &options)?)
}

/// Two looks at processes, and the seconds between them.
fn looked(args: &args::Profile, roots: Roots<'_>) -> Result<(Look, Look, f64), Failure> {
    let first = profile::look(roots, &args.pid)?;
    let began = Instant::now();
    std::thread::sleep(Duration::from_nanos(args.time));
    let seconds = began.elapsed().as_secs_f64();
    let second = profile::look(roots, &args.pid)?;
    Ok((first, second, seconds))
}

/// Refuses what is no runtime, with its place in `--wait`. Some runtimes are only of programs whose ranks
/// have threads, others only of those whose ranks have none.
fn waits(wait: &str) -> Result<(), Failure> {
    let overrides = Overrides { set: vec![format!("apps.job.runtime={wait}")], ..Overrides::default() };
    let refused = |workload: &str| {
        let text = format!(
            "name: wait\nmachine: core:2\napps: {{ job: {{ workload: {{ {workload}: {{ work: 1s }} }}, \
             tasks: 2 }} }}\npolicies: [LOAD]\n"
        );
        scenario::load("--wait", &text, &overrides).err()
    };
    match (refused("spmd"), refused("hybrid")) {
        (Some(_), Some(problems)) => Err(Failure::Rendered(problems.replace("--> --set:", "--> --wait:"))),
        _ => Ok(()),
    }
}

/// Refuses a scenario that cannot be read back: of a wrong `--machine`, or of numbers that no scenario can
/// have.
fn loads(policies: &PolicyRegistry, name: &str, text: &str) -> Result<(), Failure> {
    match scenario::load_with(policies, name, text, &Overrides::default()) {
        Ok(_) => Ok(()),
        Err(problems) => Err(Failure::Rendered(problems)),
    }
}

fn deliver(
    args: &args::Profile,
    target: Option<&Target>,
    profile: &Profile,
    ranked: &[Ranked<'_>],
) -> Result<(), Failure> {
    let text = profile.text();
    let (json, markdown) = (report::json(profile, ranked), report::markdown(profile, ranked));
    // The scenario is written once.
    let plain = if target.is_some() { "" } else { text.as_str() };
    let shown = args.format.choose(plain, json.as_str(), markdown.as_str());
    if let Some(target) = target {
        target.write(&|out| out.write_all(text.as_bytes()))?;
    }
    if shown.is_empty() { Ok(()) } else { to_stdout(|out| out.write_all(shown.as_bytes())) }
}

/// What is asked for, with the effects that trials show.
fn ranked<'a>(
    args: &args::Profile,
    profile: &'a Profile,
    policies: &PolicyRegistry,
) -> Result<Vec<Ranked<'a>>, Failure> {
    let mut all = Vec::new();
    for (at, app) in profile.apps.iter().enumerate() {
        let effects = match &app.trial {
            Some(trial) if !args.no_trials && at < MOST_TRIED => tried(args, app, trial, policies)?,
            _ => vec![None; app.asked.len()],
        };
        all.extend(app.asked.iter().zip(effects).map(|(asked, effect)| Ranked { asked, effect }));
    }
    Ok(all)
}

/// The effect of each missing number: runs with both ends of its range, alone and beside a copy.
fn tried(
    args: &args::Profile,
    app: &Described,
    trial: &Trial,
    policies: &PolicyRegistry,
) -> Result<Vec<Option<Effect>>, Failure> {
    let base = Overrides::default();
    let subject = Subject { policies, name: "trial", text: &trial.text, base };
    let wanted = |set: Vec<String>| Wanted {
        setting: Setting { set, policy: None },
        replicates: 0..SEEDS,
        draw: None,
        at_most: None,
    };
    let copy = format!("apps.{}.copies=2", app.name);
    let both = |asked: &Asked| {
        let (low, high) = asked.settings();
        [vec![low.clone()], vec![high.clone()], vec![low, copy.clone()], vec![high, copy.clone()]]
    };
    let all: Vec<Wanted> = app.asked.iter().flat_map(both).map(wanted).collect();
    if all.is_empty() {
        return Ok(Vec::new());
    }
    let stop = AtomicBool::new(false);
    let means = Means { jobs: args.jobs.map_or(0, NonZeroUsize::get), progress: &|| (), stop: &stop };
    let trials = trial::run(&subject, &all, None, means).map_err(|failed| match failed {
        Failed::Refused(why) => Failure::Rendered(why),
        Failed::Stopped => Failure::Input("stopped".into()),
    })?;
    let times: Vec<Option<f64>> = all
        .iter()
        .zip(&trials)
        .map(|(wanted, trial)| time(&subject, wanted, trial))
        .collect::<Result<_, _>>()?;
    let effect = |times: &[Option<f64>]| match *times {
        [low, high, low_beside, high_beside] => {
            let alone = factor((low, high), trial.horizon, false);
            let beside = factor((low_beside, high_beside), trial.horizon, true);
            match (alone, beside) {
                (Some(alone), Some(beside)) if alone.factor >= beside.factor => Some(alone),
                (alone, beside) => beside.or(alone),
            }
        }
        _ => None,
    };
    Ok(times.chunks(4).map(effect).collect())
}

/// The mean run time over the seeds, in s; none where a run was cut off.
fn time(subject: &Subject<'_>, wanted: &Wanted, trial: &trial::Trial) -> Result<Option<f64>, Failure> {
    let experiment = subject.experiment(wanted).map_err(Failure::Rendered)?;
    let mut sum = 0.0;
    for values in &trial.values {
        let Some(values) = values else { return Ok(None) };
        let goal = Goal::of(&experiment, values).map_err(Failure::Input)?;
        sum += goal.value(values).unwrap_or_default();
    }
    Ok(Some(sum / trial.values.len().max(1) as f64).filter(|time| *time > 0.0))
}

/// How much two times differ; one that is missing was cut off at the horizon.
fn factor(times: (Option<f64>, Option<f64>), horizon: f64, beside: bool) -> Option<Effect> {
    let (factor, at_least) = match times {
        (Some(low), Some(high)) => ((low / high).max(high / low), false),
        (Some(one), None) | (None, Some(one)) => ((horizon / one).max(1.0), true),
        (None, None) => return None,
    };
    Some(Effect { factor, at_least, beside })
}
