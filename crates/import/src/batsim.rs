//! Workloads of Batsim: jobs with profiles. Operations become work; messages are left out, and listed.

use kernels::DEFAULT_KERNEL;

use crate::json::{self, Value};
use crate::page::{self, Names, Page, at};
use crate::swf::MOST_JOBS;
use crate::units::{LONGEST, ns, span};
use crate::{Form, Imported, Options, Refused, Source};

/// Operations per second of a core where none are stated.
const FLOPS: f64 = 1e9;
/// Deepest composition of profiles.
const MAX_DEPTH: usize = 16;
/// Most kinds of processes of a job.
const MOST_KINDS: usize = 256;
/// Most loops inside each other.
const MOST_LOOPS: usize = 4;
/// Most profiles that one job has, with repetitions.
const MOST_READ: usize = 10_000;
/// Most statements of a program.
const MOST_STATEMENTS: usize = 200;
const SECOND: u64 = 1_000_000_000;

/// What a job does, as statements of a program; each with its depth and origin.
#[derive(Default)]
struct Code {
    lines: Vec<(usize, String, String)>,
    /// Profiles that were read for it.
    read: usize,
    /// Profiles around the present one.
    level: usize,
}

/// Reads profiles of a file.
struct Reader<'s, 'p> {
    source: Source<'s>,
    page: &'p mut Page,
    profiles: &'p Value,
    flops: f64,
    /// Tasks of the present job.
    size: u64,
}

/// Imports a workload.
pub(crate) fn import(source: Source<'_>, options: &Options) -> Result<Imported, Refused> {
    let root = json::read(&source)?;
    let none = Value { line: 1, what: json::What::Null };
    let (jobs, profiles) = (root.get("jobs").unwrap_or(&none), root.get("profiles").unwrap_or(&none));
    let mut page = Page::new();
    let (first, most) = (options.from.max(1) - 1, options.jobs.unwrap_or(MOST_JOBS).min(MOST_JOBS));
    let rest = jobs.items().get(first..).unwrap_or_default();
    if rest.len() > most {
        let what = format!("{} of {} jobs behind the first {most} (`--jobs`)", rest.len() - most, rest.len());
        page.notes.left_out("", what);
    }
    let stated = root.get("nb_res").and_then(Value::whole).and_then(|n| u32::try_from(n).ok());
    let cores = match (&options.machine, options.cores) {
        (None, None) => stated.unwrap_or(1).clamp(1, page::MOST_CORES),
        _ => page::cpus(options, 1)?,
    };
    if options.flops.is_none() {
        let what = "a core computes 1e9 operations in a second (`--flops`)";
        page.notes.assumed("", what);
    }
    head(&mut page, options, cores);
    page.line(0, "apps:", "");
    let mut names = Names::default();
    let mut written = 0;
    for job in rest.iter().take(most) {
        let flops = options.flops.unwrap_or(FLOPS);
        let mut reader = Reader { source, page: &mut page, profiles, flops, size: 1 };
        written += usize::from(reader.job(job, &mut names, u64::from(cores))?);
    }
    if written == 0 {
        return Err(source.refused("no job of it can be simulated"));
    }
    page.line(0, "policies: [LOAD]", "");
    Ok(page.done(Form::Batsim, source.name, options))
}

fn head(page: &mut Page, options: &Options, cores: u32) {
    if options.machine.is_some() || options.cores.is_some() {
        page.head(options, 1);
    } else {
        page.line(0, &format!("machine: \"package:1 numa:1 core:{cores} pu:1\""), "nb_res");
        page.line(0, &format!("kernel: {DEFAULT_KERNEL}"), "");
    }
    page.line(0, &format!("admission: {{ threads: {cores} }}"), "a job waits until its resources are free");
    page.line(0, "baseline: none", "");
    page.line(0, "start_jitter: 0s", "");
    page.line(0, "horizon: 240h", "");
}

/// A number of any sign as text, or a text that is one.
fn text_of(value: &Value) -> Option<String> {
    value.number().or_else(|| value.text()).map(str::to_owned)
}

impl Reader<'_, '_> {
    fn wrong(&self, line: usize, message: &str) -> Refused {
        let start = self.source.text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
        self.source.wrong(start, message)
    }

    /// Writes a job; false when it is left out.
    fn job(&mut self, job: &Value, names: &mut Names, cores: u64) -> Result<bool, Refused> {
        let id = job.get("id").and_then(text_of).unwrap_or_default();
        let place = at(job.line, &format!("job {id}"));
        if !job.is_map() {
            return Err(self.wrong(job.line, "a job is an object"));
        }
        let start = match job.get("subtime").or_else(|| job.get("submission_time")) {
            Some(value) => value.number().and_then(|text| ns(text, SECOND)),
            None => Some(0),
        };
        let Some(start) = start else {
            return Err(self.wrong(job.line, "`subtime` is a number of seconds from 0 to 240 h"));
        };
        let size = job.get("res").or_else(|| job.get("requested_resources")).and_then(Value::whole);
        let Some(size) = size.and_then(|size| u64::try_from(size).ok()).filter(|size| *size > 0) else {
            return Err(self.wrong(job.line, "`res` is a whole number from 1 on"));
        };
        if size > cores {
            self.page.notes.left_out(place, format!("it needs {size} resources of {cores}"));
            return Ok(false);
        }
        let estimate = self.estimate(job, &place);
        let Some(name) = job.get("profile").and_then(text_of) else {
            return Err(self.wrong(job.line, "`profile` is the name of a profile"));
        };
        self.size = size;
        if matches!(self.kind(&name), Some("parallel" | "ptask" | "ParallelTaskProfile")) {
            return self.parallel(job, (&id, &name), names, (start, &place), estimate);
        }
        let mut code = Code::default();
        if !self.profile(&name, job.line, &mut code, 0)? || code.lines.is_empty() {
            self.page
                .notes
                .left_out(place, format!("the profile `{name}` has nothing that can be simulated"));
            return Ok(false);
        }
        self.page.line(2, &format!("{}:", names.unique(&format!("job-{id}"), "job")), &place);
        self.arrival(start, estimate);
        self.page.line(4, "program:", "");
        self.page.line(6, &format!("count: {size}"), "res");
        self.page.line(6, "code: |", "");
        for (depth, text, origin) in &code.lines {
            self.page.line(8 + 2 * depth, text, origin);
        }
        Ok(true)
    }

    /// The time at which Batsim ends a job; -1: none.
    fn estimate(&mut self, job: &Value, place: &str) -> Option<u64> {
        let text = job.get("walltime").and_then(Value::number)?;
        text.parse::<f64>().ok().filter(|seconds| *seconds >= 0.0)?;
        let limit = ns(text, SECOND).filter(|limit| *limit > 0);
        if limit.is_some() {
            self.page.notes.differs(place, "`walltime`: it is the `estimate`, and no job is ended at it");
        } else {
            self.page.notes.left_out(place, "a `walltime` below a ns or above 240 h");
        }
        limit
    }

    /// When a job arrives, and how long it takes by its user.
    fn arrival(&mut self, start: u64, estimate: Option<u64>) {
        self.page.line(4, &format!("start: {}", span(start)), "subtime");
        if let Some(limit) = estimate {
            self.page.line(4, &format!("estimate: {}", span(limit)), "walltime");
        }
    }

    fn kind(&self, name: &str) -> Option<&str> {
        self.profiles.get(name)?.get("type")?.text()
    }

    /// Operations as a time.
    fn work(&self, value: &Value) -> Option<u64> {
        let operations: f64 = value.number()?.parse().ok()?;
        let ns = operations / self.flops * 1e9;
        (ns.is_finite() && (0.0..=LONGEST as f64).contains(&ns)).then(|| ns.round() as u64)
    }

    /// A job whose processes have different amounts of work: one kind for each amount.
    fn parallel(
        &mut self,
        job: &Value,
        (id, name): (&str, &str),
        names: &mut Names,
        (start, place): (u64, &str),
        estimate: Option<u64>,
    ) -> Result<bool, Refused> {
        let Some(profile) = self.profiles.get(name) else { return Ok(false) };
        let path = at(profile.line, &format!("profiles.{name}.cpu"));
        let mut amounts = std::collections::BTreeMap::new();
        for value in profile.get("cpu").map_or(&[][..], Value::items) {
            let Some(work) = self.work(value) else {
                return Err(self.wrong(value.line, "`cpu` is a list of numbers of operations"));
            };
            *amounts.entry(work).or_insert(0_u64) += 1;
        }
        amounts.remove(&0);
        let sends =
            |value: &Value| value.number().is_some_and(|text| text.parse::<f64>().is_ok_and(|n| n > 0.0));
        if profile.get("com").is_some_and(|com| com.items().iter().any(sends)) {
            let what = "messages (`com`) between single processes: there is no network";
            self.page.notes.left_out(at(profile.line, &format!("profiles.{name}.com")), what);
        }
        if amounts.is_empty() || amounts.len() > MOST_KINDS {
            self.page.notes.left_out(
                place,
                format!("the profile `{name}` computes nothing, or has more than 256 amounts of work"),
            );
            return Ok(false);
        }
        let total: u64 = amounts.values().sum();
        if total != self.size {
            let what = format!("`res` is {}, and the profile has {total} processes", self.size);
            self.page.notes.differs(at(job.line, &format!("job {id}")), what);
        }
        self.page.line(2, &format!("{}:", names.unique(&format!("job-{id}"), "job")), place);
        self.arrival(start, estimate);
        self.page.line(4, "program:", "");
        self.page.line(6, "kinds:", "");
        for (number, (work, count)) in amounts.into_iter().enumerate() {
            self.page.line(8, &format!("process-{number}:"), &path);
            self.page.line(10, &format!("count: {count}"), "");
            self.page.line(10, "code: |", "");
            self.page.line(12, &format!("run {}", span(work)), "");
        }
        Ok(true)
    }

    /// Adds the statements of a profile; false when it cannot be simulated.
    fn profile(&mut self, name: &str, line: usize, code: &mut Code, depth: usize) -> Result<bool, Refused> {
        let Some(profile) = self.profiles.get(name) else {
            return Err(self.wrong(line, &format!("there is no profile `{name}`")));
        };
        let path = format!("profiles.{name}");
        let place = at(profile.line, &path);
        code.read += 1;
        let many = code.lines.len() > MOST_STATEMENTS || code.read > MOST_READ;
        if many || code.level > MAX_DEPTH || depth > MOST_LOOPS {
            self.page.notes.left_out(place, "a profile of too many parts");
            return Ok(false);
        }
        let number = |key: &str| profile.get(key);
        match profile.get("type").and_then(Value::text).unwrap_or_default() {
            "delay" | "DelayProfile" => {
                let time = number("delay").and_then(Value::number).and_then(|text| ns(text, SECOND));
                let Some(time) = time else {
                    return Err(self.wrong(profile.line, "`delay` is a number of seconds from 0 to 240 h"));
                };
                if time > 0 {
                    code.lines.push((depth, format!("sleep {}", span(time)), format!("{place}.delay")));
                }
            }
            kind @ ("parallel_homogeneous"
            | "parallel_homogeneous_total"
            | "ptask_homogeneous"
            | "ParallelTaskHomogeneousProfile") => {
                let strategy = number("generation_strategy").and_then(Value::text).unwrap_or_default();
                let spread = kind == "parallel_homogeneous_total"
                    || matches!(
                        strategy,
                        "DefinedAmountsSpreadUniformly" | "defined_amount_spread_uniformly"
                    );
                let mut work = match number("cpu") {
                    Some(value) => self.work(value),
                    None => Some(0),
                };
                if spread {
                    work = work.map(|work| work / self.size.max(1));
                }
                let Some(work) = work else {
                    return Err(
                        self.wrong(profile.line, "`cpu` is a number of operations, at most 240 h of work")
                    );
                };
                let sends = number("com").and_then(Value::number).and_then(|text| text.parse::<f64>().ok());
                if sends.is_some_and(|bytes| bytes > 0.0) && self.size > 1 {
                    let what = "messages (`com`): there is no network, and the processes only meet";
                    self.page.notes.left_out(format!("{place}.com"), what);
                }
                if work > 0 {
                    code.lines.push((depth, format!("run {}", span(work)), format!("{place}.cpu")));
                }
                if self.size > 1 && work > 0 {
                    code.lines.push((depth, "barrier".to_owned(), String::new()));
                }
            }
            "composed" | "sequence" | "SequentialCompositionProfile" => {
                return self.composed(profile, &path, code, depth);
            }
            other => {
                let kind: String = other.chars().take(40).collect();
                self.page.notes.left_out(place, format!("a profile of the type `{kind}`"));
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn composed(
        &mut self,
        profile: &Value,
        path: &str,
        code: &mut Code,
        depth: usize,
    ) -> Result<bool, Refused> {
        let repeat = profile.get("repeat").or_else(|| profile.get("nb"));
        let repeat = match repeat {
            Some(value) => value.whole().and_then(|n| u32::try_from(n).ok()).filter(|n| *n > 0),
            None => Some(1),
        };
        let Some(repeat) = repeat else {
            return Err(self.wrong(profile.line, "`repeat` is a whole number from 1 on"));
        };
        let inner = if repeat > 1 { depth + 1 } else { depth };
        if repeat > 1 {
            let origin = at(profile.line, &format!("{path}.repeat"));
            code.lines.push((depth, format!("repeat {repeat} {{"), origin));
        }
        let before = code.lines.len();
        for part in profile.get("seq").map_or(&[][..], Value::items) {
            let Some(name) = text_of(part) else {
                return Err(self.wrong(part.line, "`seq` is a list of names of profiles"));
            };
            code.level += 1;
            let whole = self.profile(&name, part.line, code, inner)?;
            code.level -= 1;
            if !whole {
                return Ok(false);
            }
        }
        if repeat > 1 {
            if code.lines.len() == before {
                code.lines.pop();
            } else {
                code.lines.push((depth, "}".to_owned(), String::new()));
            }
        }
        Ok(true)
    }
}
