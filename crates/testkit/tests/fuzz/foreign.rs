//! Files of other programs: what an import, a profile or a log becomes is read back, or is refused.

use experiment::neutral;
use import::{Form, Options, Source, export};
use notation::yaml;
use scenario::Overrides;

use crate::{archive, promise, scenarios};

/// The name of the file in messages.
const NAME: &str = "f.txt";
/// How a file begins that is several.
const SEVERAL: &str = "== ";

/// A refusal names the file; a rendered one, in most forms, also a line of it. The program shows invisible
/// characters of the file as pictures.
fn refused(why: &import::Refused, placed: bool) {
    match why {
        import::Refused::Rendered(text) if placed => promise::placed_refusal(text, &[NAME]),
        import::Refused::Sentence(text) | import::Refused::Rendered(text) => {
            promise::refusal(&neutral::lines(text));
            assert!(text.contains(NAME), "the file is not named: {text}");
        }
    }
}

/// A scenario that was written is YAML, and it runs or is refused with its line.
fn written(text: &str) {
    promise::visible(text);
    if let Err(problem) = yaml::tree(0, text) {
        panic!("what is written is no YAML: {}\n{text}", problem.message);
    }
    scenarios::check("written.yaml", text, &Overrides::default());
}

/// A file in this form. Pods of odd length are those of a kubelet that gives whole cpus.
fn imported(form: Form, bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let options = Options { form: Some(form), exclusive: bytes.len() % 2 == 1, ..Options::named("x") };
    match import::import(&[Source { name: NAME, text }], &options) {
        Ok(imported) => {
            imported.notes.iter().for_each(|note| promise::refusal(&neutral::lines(&note.to_string())));
            written(&imported.text);
            exported(&imported.text);
        }
        Err(why) => refused(&why, true),
    }
}

/// What can be written for another program is what that form reads.
fn exported(text: &str) {
    if scenario::load("written.yaml", text, &Overrides::default()).is_err() {
        return;
    }
    let source = Source { name: NAME, text };
    for (form, exported) in [(Form::RtApp, export::rt_app(&source)), (Form::Swf, export::swf(&source))] {
        match exported {
            Ok(exported) => {
                exported.notes.iter().for_each(|note| promise::refusal(&neutral::lines(&note.to_string())));
                let options = Options { form: Some(form), ..Options::named("x") };
                let source = Source { name: NAME, text: &exported.text };
                if let Err(why) = import::import(&[source], &options) {
                    panic!("what was written for {} is refused: {why:?}\n{}", form.name(), exported.text);
                }
            }
            Err(why) => refused(&why, false),
        }
    }
}

/// A job of rt-app.
pub(crate) fn rt_app(bytes: &[u8]) {
    imported(Form::RtApp, bytes);
}

/// A log of jobs.
pub(crate) fn swf(bytes: &[u8]) {
    imported(Form::Swf, bytes);
}

/// A workload of Batsim.
pub(crate) fn batsim(bytes: &[u8]) {
    imported(Form::Batsim, bytes);
}

/// Objects of Kubernetes, also as `advise pod` reads them.
pub(crate) fn kubernetes(bytes: &[u8]) {
    imported(Form::Kubernetes, bytes);
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    for container in [None, Some("a")] {
        match decide::shapes::pod::read(NAME, text, container) {
            Ok(read) => read.remarks.iter().for_each(|remark| promise::refusal(&neutral::lines(remark))),
            Err(why) => refused(&why, false),
        }
    }
}

/// Command lines and compose files of docker.
pub(crate) fn docker(bytes: &[u8]) {
    imported(Form::Docker, bytes);
}

/// Files of cgroup v2, as text or as a folder.
pub(crate) fn cgroup(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if !text.starts_with(SEVERAL) {
        return imported(Form::Cgroup, bytes);
    }
    let folder = tempfile::tempdir().unwrap();
    let files = archive::files(text).into_iter().map(|(path, body)| (path, body.as_bytes().to_vec()));
    archive::write(folder.path(), files);
    if let Ok(text) = import::read_directory(folder.path()) {
        imported(Form::Cgroup, text.as_bytes());
    }
}

/// Command lines and job lists of the textbook's simulators.
pub(crate) fn ostep(bytes: &[u8]) {
    imported(Form::Ostep, bytes);
}

/// Any file, whose form is recognised.
pub(crate) fn any(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match Form::of(text) {
        Some(form) => imported(form, bytes),
        None => {
            let source = Source { name: NAME, text };
            let why = import::import(&[source], &Options::named("x")).map_err(|why| refused(&why, true));
            assert!(why.is_err(), "a file in no form is imported");
        }
    }
}

/// A description of a job, its numbers and its trials.
fn described(profile: &profile::Profile) {
    written(&profile.text());
    profile.notes.iter().for_each(|note| promise::refusal(&neutral::lines(&note.to_string())));
    for app in &profile.apps {
        promise::visible(&format!("{:?} {:?}", app.numbers, app.asked).replace("\\n", " "));
        if let Some(trial) = &app.trial {
            promise::visible(&trial.text);
            if let Err(why) = scenario::load("trial.yaml", &trial.text, &Overrides::default()) {
                promise::refusal(&why);
            }
        }
    }
}

/// One file in this form; several ones, each of which is recognised.
fn profiled(form: Option<profile::Form>, bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let several = text.starts_with(SEVERAL).then(|| archive::files(text));
    let texts: Vec<&str> =
        several.map_or_else(|| vec![text], |files| files.iter().map(|file| file.1).collect());
    let sources: Vec<profile::Source<'_>> =
        texts.iter().map(|text| profile::Source { name: NAME, text }).collect();
    let form = form.filter(|_| sources.len() == 1);
    match profile::describe(&sources, None, &profile::Options { form, ..profile::Options::default() }) {
        Ok(profile) => described(&profile),
        Err(import::Refused::Sentence(text)) => promise::refusal(&neutral::lines(&text)),
        Err(why) => refused(&why, false),
    }
}

/// Counts of `perf stat`.
pub(crate) fn perf_stat(bytes: &[u8]) {
    profiled(Some(profile::Form::Perf), bytes);
}

/// What `time -v` prints.
pub(crate) fn time(bytes: &[u8]) {
    profiled(Some(profile::Form::Time), bytes);
}

/// A table of `sacct`, also as a log of `advise share`.
pub(crate) fn sacct(bytes: &[u8]) {
    profiled(Some(profile::Form::Sacct), bytes);
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let _ = decide::shapes::share::is_log(text);
    let read = decide::shapes::share::Log::read(NAME, text)
        .and_then(|log| decide::shapes::share::Log::mix(&[log], &["cfd".to_owned(), "genes".to_owned()]));
    if let Err(why) = read {
        promise::refusal(&neutral::lines(&why));
        assert!(why.contains(NAME), "the file is not named: {why}");
    }
}

/// A report of mpiP.
pub(crate) fn mpip(bytes: &[u8]) {
    profiled(Some(profile::Form::Mpip), bytes);
}

/// Parallel regions.
pub(crate) fn regions(bytes: &[u8]) {
    profiled(Some(profile::Form::Regions), bytes);
}

/// Any file, and several files of one job.
pub(crate) fn job(bytes: &[u8]) {
    profiled(None, bytes);
}

/// Two looks at processes: the folders `first` and `second` in the place of `/proc`, and `cgroup`.
pub(crate) fn processes(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let folder = tempfile::tempdir().unwrap();
    let files = archive::files(text);
    archive::write(folder.path(), files.iter().map(|(path, body)| (*path, body.as_bytes().to_vec())));
    let cgroups = folder.path().join("cgroup");
    let (first, second) = (folder.path().join("first"), folder.path().join("second"));
    let (before, after) = [&first, &second].map(|proc| profile::Roots { proc, cgroups: &cgroups }).into();
    let pids = [70, 80];
    let of = |roots| profile::look(roots, &pids).or_else(|_| profile::look(roots, &pids[..1]));
    let described_or_refused = || -> Result<(), import::Refused> {
        let (one, other) = (of(before)?, of(after)?);
        let looks = profile::Looks { roots: after, first: &one, second: &other, seconds: 2.0 };
        described(&profile::describe(&[], Some(looks), &profile::Options::default())?);
        Ok(())
    };
    if let Err(import::Refused::Sentence(text) | import::Refused::Rendered(text)) = described_or_refused() {
        promise::refusal(&neutral::lines(&text));
    }
}
