//! Makes a scenario of a recording: a team of threads where one is found, jobs and slots, and otherwise who
//! woke whom.

mod page;
mod programs;
mod ranks;
mod team;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use import::{Kind as Matters, Note, Refused};
use notation::yaml::MAX_BYTES;

use crate::check::{Compared, SHORTEST};
use crate::course::{self, Chosen, Courses};
use crate::facts::Facts;
use crate::follow::{Counts, Follower};
use crate::jobs::{self, Jobs};
use crate::ranks::{self as calls, Ranks};
use crate::team::{self as teams, Team};
use crate::threads::{Id, Threads};
use crate::write::{Costs, Writer, plain, time};

pub use page::default_machine;

/// A team stands for its threads where it explains at least this share of their waits.
const EXPLAINED: f64 = 0.6;
/// Threads of a process that are no members of its team are left out below this share of its cpu time.
const BESIDE: f64 = 0.02;
/// A team is looked for in a process with at least this share of the cpu time of the program.
const MAIN: f64 = 0.9;
/// A program uses a cpu on which it has at least this share of its cpu time.
const USED: f64 = 0.02;
/// Threads that have or want a cpu for this share of the time may poll.
const POLLS: f64 = 0.9;
/// A cpu is free if threads have it for less than this share of the time.
const FREE: f64 = 0.5;
/// Threads that wait for a cpu for this share of the time do not have all of them.
const QUEUED: f64 = 0.2;

/// What the caller knows or wants.
#[derive(Clone, Debug)]
pub struct Options {
    /// Name of the scenario.
    pub name: String,
    /// The machine, as a scenario names it.
    pub machine: Option<String>,
    /// The kernel, as a scenario names it.
    pub kernel: Option<String>,
    /// Which threads are the program.
    pub chosen: Chosen,
    /// The runtime of teams and ranks, as a scenario writes it.
    pub runtime: Option<String>,
    /// Which structure is looked for.
    pub form: Form,
    /// The quota under which it was recorded, as `cgroups` of a scenario write it.
    pub quota: Option<String>,
    /// What the head of the recording says.
    pub facts: Facts,
}

/// Structures.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// The first one that explains the waits: a team, ranks, jobs, edges.
    Any,
    /// Who woke whom, alone.
    Edges,
}

/// What was found.
#[derive(Clone, PartialEq, Debug)]
pub enum Found {
    /// A team of threads.
    Team(Team),
    /// Ranks of a message-passing program.
    Ranks(Ranks),
    /// Jobs and slots.
    Jobs(Jobs),
    /// Who woke whom.
    Edges,
}

/// A scenario of a recording.
#[derive(Clone, PartialEq, Debug)]
pub struct Made {
    /// Its text.
    pub text: String,
    /// What differs from the recording, and what was assumed.
    pub notes: Vec<Note>,
    /// What was found, in a few sentences.
    pub findings: Vec<String>,
    /// The structure.
    pub found: Found,
}

/// A recording that has been followed to its end.
#[derive(Clone, Copy)]
pub struct Recording<'a> {
    /// For comments.
    pub name: &'a str,
    /// The spelling.
    pub form: &'a str,
    /// Who ran when.
    pub follower: &'a Follower,
    /// What each thread did.
    pub courses: &'a Courses,
}

/// The program in a recording: its threads, when it began and ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Program {
    /// Its threads.
    pub threads: BTreeSet<Id>,
    /// The first instant of one of them, in ns of the recording.
    pub begin: u64,
    /// The last one.
    pub end: u64,
    /// Their cpu time, in ns.
    pub cpu: u64,
}

/// The program in a recording.
///
/// # Errors
/// No thread is chosen, or those that are have not run.
pub fn program(recording: &Recording<'_>, chosen: &Chosen) -> Result<Program, Refused> {
    let mut threads = course::choose(&recording.follower.threads, recording.courses, chosen);
    threads.retain(|id| recording.courses.list.contains_key(id));
    let courses = || threads.iter().filter_map(|id| recording.courses.list.get(id));
    let begin = courses().map(|course| course.first).min();
    let (Some(begin), Some(end)) = (begin, courses().map(|course| course.last).max()) else {
        let known: BTreeSet<&str> =
            recording.follower.threads.iter().map(|(_, thread)| thread.name.as_str()).take(12).collect();
        let known = known.into_iter().collect::<Vec<_>>().join(", ");
        return Err(Refused::Sentence(format!(
            "{}: no thread of that name or number ran; there are: {}",
            recording.name,
            notation::neutral::line(&known)
        )));
    };
    let cpu = courses().map(|course| course.cpu).sum();
    if cpu == 0 {
        return Err(Refused::Sentence(format!("{}: the program never had a cpu", recording.name)));
    }
    Ok(Program { threads, begin, end, cpu })
}

/// Makes the scenario.
///
/// # Errors
/// No thread is chosen, or a scenario cannot hold what they did.
pub fn make(recording: &Recording<'_>, options: &Options, costs: Costs) -> Result<Made, Refused> {
    let program = program(recording, &options.chosen)?;
    let mut making = Making {
        recording: *recording,
        options,
        costs,
        program,
        notes: Vec::new(),
        findings: Vec::new(),
        apps: String::new(),
        window: None,
        cpus: None,
        parts: false,
    };
    making.read();
    making.mask();
    let found = making.found();
    making.polls(&found);
    match &found {
        Found::Team(team) => making.team(team),
        Found::Ranks(ranks) => making.ranks(ranks),
        Found::Jobs(jobs) => making.programs(Some(jobs))?,
        Found::Edges => making.programs(None)?,
    }
    making.others();
    let text = making.page();
    if text.len() > MAX_BYTES {
        let (bytes, most) = (text.len(), MAX_BYTES);
        return Err(making.too_large(&format!("a scenario of {bytes} bytes, and at most {most} are read")));
    }
    Ok(Made { text, notes: making.notes, findings: making.findings, found })
}

struct Making<'a> {
    recording: Recording<'a>,
    options: &'a Options,
    costs: Costs,
    program: Program,
    notes: Vec<Note>,
    findings: Vec<String>,
    apps: String,
    /// The run is stopped after so long, in ns.
    window: Option<u64>,
    /// The cpus that the program may use.
    cpus: Option<String>,
    /// The program is several applications, one after the other.
    parts: bool,
}

impl Making<'_> {
    fn threads(&self) -> &Threads {
        &self.recording.follower.threads
    }

    fn note(&mut self, kind: Matters, what: impl Into<String>) {
        self.notes.push(Note { kind, place: String::new(), what: what.into() });
    }

    /// What the threads did does not fit into a scenario.
    fn too_large(&self, what: &str) -> Refused {
        Refused::Sentence(format!(
            "{}: what the program did makes {what}: keep a part of the recording with `--from` and `--to`, \
             or a part of the program with `--task`",
            self.recording.name
        ))
    }

    fn name(&self) -> String {
        app(&self.recording, &self.program)
    }

    /// What was read and mended.
    fn read(&mut self) {
        let Counts { events, switches, missing, wakes, unseen, early, lost, .. } =
            self.recording.follower.counts;
        let Program { threads, begin, end, cpu } = &self.program;
        let (lasted, many, cpu) = (time(end - begin), threads.len(), time(*cpu));
        self.findings.push(format!(
            "{} ({}): {events} events, {switches} switches and {missing} that were missing, {wakes} \
                wake-ups, {early} of them before the sleeper gave up its cpu, {unseen} waits with an unseen \
                end, {lost} events lost",
            self.recording.name, self.recording.form
        ));
        self.findings.push(format!(
            "the program: {many} threads, {lasted} from the first to the last instant, {cpu} of cpu time"
        ));
    }

    /// The processes of the program, each with its threads.
    fn processes(&self) -> BTreeMap<u32, BTreeSet<Id>> {
        let mut processes: BTreeMap<u32, BTreeSet<Id>> = BTreeMap::new();
        for id in &self.program.threads {
            let Some(thread) = self.threads().get(*id) else { continue };
            // Without numbers of processes: threads of one name whose parent is in the same process.
            let parent = thread.parent.and_then(|parent| self.threads().get(parent));
            let own = match (thread.process, parent) {
                (Some(process), _) => process,
                (None, Some(parent)) if parent.name == thread.name && thread.file.is_none() => parent.tid,
                _ => thread.tid,
            };
            processes.entry(own).or_default().insert(*id);
        }
        processes
    }

    fn found(&mut self) -> Found {
        if self.options.form == Form::Edges {
            return Found::Edges;
        }
        let courses = self.recording.courses;
        let marks = &self.recording.follower.marks;
        let Program { threads, begin, end, .. } = &self.program;
        if let Some(ranks) = calls::find(self.threads(), courses, marks, threads, (*begin, *end)) {
            return Found::Ranks(ranks);
        }
        let cpu = |ids: &BTreeSet<Id>| -> u64 {
            ids.iter().filter_map(|id| courses.list.get(id)).map(|course| course.cpu).sum()
        };
        let processes = self.processes();
        let most = processes.values().max_by_key(|ids| cpu(ids));
        if let Some(ids) = most
            && ids.len() > 1
            && cpu(ids) as f64 >= MAIN * self.program.cpu as f64
        {
            let members = teams::members(self.threads(), courses, ids);
            let beside: u64 = cpu(ids) - cpu(&members.iter().copied().collect());
            let marked = teams::marked(courses, marks, &members, &|mark| calls::statement(mark).is_none());
            let team = marked.or_else(|| teams::released(courses, &members));
            if let Some(team) = team
                && members.len() > 1
                && team.explained.is_none_or(|share| share >= EXPLAINED)
                && (beside as f64) < BESIDE * cpu(ids) as f64
            {
                return Found::Team(team);
            }
        }
        match jobs::find(self.threads(), courses, &self.program.threads) {
            Some(jobs) => Found::Jobs(jobs),
            None => Found::Edges,
        }
    }

    /// Warns of threads that compute nearly all the time and never wait for each other: they may poll.
    fn polls(&mut self, found: &Found) {
        if *found != Found::Edges {
            return;
        }
        let lasted = (self.program.end - self.program.begin) as f64;
        let busy = |id: &&Id| {
            let course = self.recording.courses.list.get(id);
            course.is_some_and(|course| (course.cpu + course.queued) as f64 >= POLLS * lasted)
        };
        let busy = self.program.threads.iter().filter(busy).count();
        if busy > 1 {
            self.note(
                Matters::Differs,
                format!(
                    "{busy} threads compute or are queued nearly all the time: if they poll while they wait, \
                        the twin takes that for work and is wrong about changes; record with `--marks`"
                ),
            );
        }
    }

    /// The cpus of the program, if its threads waited for them while others were free: they may use no
    /// others.
    fn mask(&mut self) {
        if let Some(mask) = self.options.facts.mask() {
            self.findings.push(format!("the program could not use other cpus than {mask}"));
            self.cpus = Some(format!("'linux:{mask}'"));
            return;
        }
        let courses = || self.program.threads.iter().filter_map(|id| self.recording.courses.list.get(id));
        let mut times: BTreeMap<u32, u64> = BTreeMap::new();
        for (cpu, time) in courses().flat_map(|course| &course.cpus) {
            *times.entry(*cpu).or_default() += time;
        }
        // What was before the mask was set is brief.
        let much = |time: u64| time as f64 >= USED * self.program.cpu as f64;
        let used: BTreeSet<u32> =
            times.into_iter().filter(|(_, time)| much(*time)).map(|(cpu, _)| cpu).collect();
        let queued = courses().fold(0_u64, |sum, course| sum.saturating_add(course.queued));
        let lasted = self.program.end - self.program.begin;
        let free = self
            .recording
            .courses
            .busy
            .iter()
            .any(|(cpu, busy)| !used.contains(cpu) && (*busy as f64) < FREE * lasted as f64);
        if free && queued as f64 >= QUEUED * lasted as f64 {
            let list = used.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
            self.note(
                Matters::Assumed,
                format!(
                    "the program may not use other cpus than {list}: its threads \
                    waited while others idled (`cpus`)"
                ),
            );
            self.cpus = Some(format!("[{list}]"));
        }
    }

    /// What holds for each application of the program: its cpus, its control group.
    fn keys(&self) -> String {
        let mut keys = String::new();
        if let Some(cpus) = &self.cpus {
            let _ = writeln!(keys, "    cpus: {cpus}");
        }
        if self.quota().is_some() {
            keys.push_str("    cgroup: twin\n");
        }
        keys
    }

    /// The quota under which the program was recorded.
    fn quota(&self) -> Option<String> {
        self.options.quota.clone().or_else(|| self.options.facts.quota())
    }
}

/// The name of the application of a program.
#[must_use]
pub fn app(recording: &Recording<'_>, program: &Program) -> String {
    let (threads, marks) = (&recording.follower.threads, &recording.follower.marks);
    if let Some(ranks) =
        calls::find(threads, recording.courses, marks, &program.threads, (program.begin, program.end))
    {
        return ranks
            .members
            .first()
            .and_then(|id| threads.get(*id))
            .map_or_else(String::new, |thread| plain(&thread.name));
    }
    let first = program.threads.first().and_then(|id| threads.get(*id));
    plain(first.map_or("program", |thread| thread.name.as_str()))
}

/// The name of the kind of each thread of a program.
#[must_use]
pub fn names(recording: &Recording<'_>, program: &Program) -> BTreeMap<Id, String> {
    let Recording { follower, courses, .. } = recording;
    let writer = Writer::new(
        &follower.threads,
        courses,
        &program.threads,
        None,
        Costs::default(),
        (program.begin, program.end),
    );
    program.threads.iter().map(|id| (*id, writer.name(*id).to_owned())).collect()
}

/// How far a replay is off, in a sentence; of a recording that is too short to tell, that it is.
#[must_use]
pub fn sentence(compared: &Compared) -> String {
    let percent = |share: Option<f64>| match share {
        Some(share) => format!(" ({:+.1} %)", 100.0 * share),
        None => String::new(),
    };
    let short = match compared.error() {
        Some(_) => String::new(),
        None => format!("; a recording of less than {} is too short to state an error", time(SHORTEST)),
    };
    format!(
        "the replay takes {} for what took {} in the recording{}, and {} of cpu time for {}{}{short}",
        time(compared.replayed.lasted / 1_000 * 1_000),
        time(compared.recorded.lasted / 1_000 * 1_000),
        percent(compared.error()),
        time(compared.replayed.cpu / 1_000 * 1_000),
        time(compared.recorded.cpu / 1_000 * 1_000),
        percent(compared.cpu_error()),
    )
}

/// The text of a scenario with what its replay has shown.
#[must_use]
pub fn with_error(text: &str, compared: &Compared) -> String {
    let about = format!("\nabout: \"A twin of a recording: {}.\"\nmachine:", sentence(compared));
    text.replacen("\nmachine:", &about, 1)
}
