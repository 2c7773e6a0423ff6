//! Makes a scenario of a recording: a team of threads where one is found, jobs and slots, and otherwise who
//! woke whom.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use import::{Kind as Matters, Note, Refused};

use crate::check::Compared;
use crate::costs::Estimated;
use crate::course::{self, Chosen, Courses, Step};
use crate::follow::{Counts, Follower};
use crate::jobs::{self, Jobs};
use crate::fold::{self, Lengths, Part};
use crate::ranks::{self, Ranks};
use crate::team::{self, Team};
use crate::threads::{Id, Threads};
use crate::write::{Costs, Kind, Writer, Written, plain, time};

/// Other programs with less than this share of the cpu time of the recording are left out.
const OTHERS: f64 = 0.03;
/// A team stands for its threads where it explains at least this share of their waits.
const EXPLAINED: f64 = 0.6;
/// Threads of a process that are no members of its team are left out below this share of its cpu time.
const BESIDE: f64 = 0.02;
/// Threads that go on until they are stopped are the program if they have this share of its cpu time.
const ENDLESS: f64 = 0.9;
/// A program uses a cpu on which it has at least this share of its cpu time.
const USED: f64 = 0.02;
/// A cpu is free if threads have it for less than this share of the time.
const FREE: f64 = 0.5;
/// Threads that wait for a cpu for this share of the time do not have all of them.
const QUEUED: f64 = 0.2;
/// Bytes of a line of code, at most.
const INDENT: usize = 12;

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
    Ok(Program { threads, begin, end, cpu })
}

/// Makes the scenario.
///
/// # Errors
/// No thread is chosen.
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
    };
    making.read();
    making.mask();
    let found = making.found();
    match &found {
        Found::Team(team) => making.team(team),
        Found::Ranks(ranks) => making.ranks(ranks),
        Found::Jobs(jobs) => making.programs(Some(jobs)),
        Found::Edges => making.programs(None),
    }
    making.others();
    let text = making.page();
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
}

impl Making<'_> {
    fn threads(&self) -> &Threads {
        &self.recording.follower.threads
    }

    fn note(&mut self, kind: Matters, what: impl Into<String>) {
        self.notes.push(Note { kind, place: String::new(), what: what.into() });
    }

    fn name(&self) -> String {
        app(&self.recording, &self.program)
    }

    /// What was read and mended.
    fn read(&mut self) {
        let Counts { events, switches, missing, wakes, unseen, early, lost, .. } = self.recording.follower.counts;
        let Program { threads, begin, end, cpu } = &self.program;
        let (lasted, many, cpu) = (time(end - begin), threads.len(), time(*cpu));
        self.findings.push(format!(
            "{} ({}): {events} events, {switches} switches and {missing} that were missing, {wakes} wake-ups, {early} of them \
                before the sleeper gave up its cpu, {unseen} waits with an unseen end, {lost} events lost",
            self.recording.name, self.recording.form
        ));
        self.findings.push(format!("the program: {many} threads, {lasted} from the first to the last instant, {cpu} of cpu time"));
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
        if let Some(ranks) = ranks::find(self.threads(), courses, marks, threads, (*begin, *end)) {
            return Found::Ranks(ranks);
        }
        let cpu = |ids: &BTreeSet<Id>| -> u64 { ids.iter().filter_map(|id| courses.list.get(id)).map(|course| course.cpu).sum() };
        let processes = self.processes();
        let most = processes.values().max_by_key(|ids| cpu(ids));
        if let Some(ids) = most
            && ids.len() > 1
            && cpu(ids) as f64 >= (1.0 - 0.1) * self.program.cpu as f64
        {
            let members = team::members(self.threads(), courses, ids);
            let beside: u64 = cpu(ids) - cpu(&members.iter().copied().collect());
            let marked = team::marked(courses, marks, &members, &|mark| ranks::statement(mark).is_none());
            let team = marked.or_else(|| team::released(courses, &members));
            if let Some(team) = team
                && members.len() > 1
                && team.explained >= EXPLAINED
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

    /// The cpus of the program, if its threads waited for them while others were free: they may use no others.
    fn mask(&mut self) {
        let courses = || self.program.threads.iter().filter_map(|id| self.recording.courses.list.get(id));
        let mut times: BTreeMap<u32, u64> = BTreeMap::new();
        for (cpu, time) in courses().flat_map(|course| &course.cpus) {
            *times.entry(*cpu).or_default() += time;
        }
        // What was before the mask was set is brief.
        let much = |time: u64| time as f64 >= USED * self.program.cpu as f64;
        let used: BTreeSet<u32> = times.into_iter().filter(|(_, time)| much(*time)).map(|(cpu, _)| cpu).collect();
        let queued: u64 = courses().map(|course| course.queued).sum();
        let lasted = self.program.end - self.program.begin;
        let free = self.recording.courses.busy.iter().any(|(cpu, busy)| !used.contains(cpu) && (*busy as f64) < FREE * lasted as f64);
        if free && queued as f64 >= QUEUED * lasted as f64 {
            let list = used.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
            self.note(Matters::Assumed, format!("the program may use the cpus {list} alone: its threads waited while others idled (`cpus`)"));
            self.cpus = Some(format!("[{list}]"));
        }
    }

    /// A team as a workload with intervals.
    fn team(&mut self, team: &Team) {
        let sums = Sums::of(team);
        let members = team.members.len();
        let how = team.mark.as_ref().map_or_else(
            || "bursts of wake-ups that reach at least half of the threads".to_owned(),
            |mark| format!("the mark `{mark}`"),
        );
        self.findings.push(format!(
            "found a team of {members} threads with {} parallel regions, by {how}: {:.0} % of the waits of its threads",
            team.regions.len(),
            100.0 * team.explained
        ));
        let passive = self.sleeps(team);
        let runtime = self.options.runtime.clone().unwrap_or_else(|| {
            let (text, why) = if passive {
                ("{ libgomp: { spin_count: 0 } }", "its threads sleep while they wait, as with OMP_WAIT_POLICY=passive")
            } else {
                ("{ libgomp: { spin_count: 30000000000, throttled_spin_count: 1000 } }", "its threads poll while they wait, as with OMP_WAIT_POLICY=active")
            };
            self.note(Matters::Assumed, format!("the runtime of a team: {why} of libgomp (`--runtime`)"));
            text.to_owned()
        });
        let name = self.name();
        let text = &mut self.apps;
        let _ = writeln!(text, "  {name}:");
        let _ = writeln!(text, "    # {} regions, found by {how}", team.regions.len());
        let _ = writeln!(text, "    workload:");
        let _ = writeln!(text, "      spmd:");
        let _ = writeln!(text, "        work: {}  # cpu time of {members} threads in regions, and of the first one between them", time(sums.work));
        let _ = writeln!(text, "        intervals: {}", team.regions.len());
        let _ = writeln!(text, "        serial: {:.2}%  # of the work, by the first thread alone", 100.0 * sums.serial);
        let _ = writeln!(text, "        imbalance: {:.2}%  # constant differences between the threads", 100.0 * sums.imbalance);
        let _ = writeln!(text, "        shape: {}", sums.shape);
        let _ = writeln!(text, "        spread: {:.2}%  # half-width of what varies from region to region", 100.0 * sums.spread);
        let _ = writeln!(text, "    runtime: {runtime}");
        if let Some(cpus) = &self.cpus {
            let _ = writeln!(text, "    cpus: {cpus}");
        }
        let _ = writeln!(text, "    tasks: {members}");
        if team.before > 0 {
            let _ = writeln!(text, "    start: {}  # from the first instant of the program to its first region", time(team.before));
        }
        if sums.shape == "gradient" && members > 1 {
            self.note(Matters::Assumed, "with another number of threads the work is divided anew; it rises evenly from the part of the first thread to that of the last");
        }
        let left = self.program.threads.len() - members;
        if left > 0 {
            self.note(Matters::Differs, format!("{left} other threads of the program have under a tenth of its cpu time and are left out; the team starts when its first region began"));
        }
    }

    /// Ranks as a program with the calls of the library.
    fn ranks(&mut self, ranks: &Ranks) {
        let Ranks { members, calls, parts, edges, before, after, inside } = ranks;
        let cpu: u64 = members.iter().filter_map(|id| self.recording.courses.list.get(id)).map(|course| course.cpu).sum();
        self.findings.push(format!(
            "found {} ranks with {calls} calls each, by marks; they spend {:.0} % of their cpu time in calls",
            members.len(),
            100.0 * *inside as f64 / cpu.max(1) as f64
        ));
        let runtime = self.options.runtime.clone().unwrap_or_else(|| {
            let mpich = self.recording.follower.marks.iter().any(|mark| mark.starts_with("m_"));
            let runtime = if mpich { "mpich2" } else { "openmpi" };
            self.note(Matters::Assumed, format!("the runtime of ranks: `{runtime}` (`--runtime`)"));
            runtime.to_owned()
        });
        self.note(Matters::Assumed, "messages have 8 bytes, and `sendrecv` goes to the next rank: neither is in the recording");
        let mut tables: Vec<(String, Vec<u64>)> = Vec::new();
        let mut code = vec![format!("run {}", time(edges.0.max(1)))];
        for (number, part) in parts.iter().enumerate() {
            match part {
                Part::One(called) => {
                    code.push(format!("run {}", time(called.work)));
                    code.push(called.statement.to_owned());
                }
                Part::Loop(times, block) => {
                    code.push(format!("repeat {times} {{"));
                    for (place, (called, works)) in block.iter().enumerate() {
                        let run = match fold::lengths(works) {
                            Lengths::Mean(mean) => time(mean),
                            Lengths::Table(values) => {
                                tables.push((format!("work-{}-{}", number + 1, place + 1), values));
                                format!("table work-{}-{}", number + 1, place + 1)
                            }
                        };
                        code.push(format!("  run {run}"));
                        code.push(format!("  {}", called.statement));
                    }
                    code.push("}".into());
                }
            }
        }
        code.push(format!("run {}", time(edges.1.max(1))));
        code.push(format!("io launcher {}", time((*after).max(1))));
        let name = members.first().and_then(|id| self.threads().get(*id)).map_or_else(String::new, |thread| plain(&thread.name));
        let text = &mut self.apps;
        let _ = writeln!(text, "  {name}:");
        let _ = writeln!(text, "    runtime: {runtime}");
        let _ = writeln!(text, "    start: {}  # from the first instant of the program to its first rank", time(*before));
        if let Some(cpus) = &self.cpus {
            let _ = writeln!(text, "    cpus: {cpus}");
        }
        let _ = writeln!(text, "    program:");
        let _ = writeln!(text, "      count: {}", members.len());
        let _ = writeln!(text, "      devices: {{ launcher: 1024 }}  # until the program ends behind its ranks");
        if !tables.is_empty() {
            let _ = writeln!(text, "      tables:");
        }
        for (table, values) in tables {
            let values: Vec<String> = values.iter().map(|value| time(*value)).collect();
            let _ = writeln!(text, "        {table}: [{}]", values.join(", "));
        }
        let _ = writeln!(text, "      code: |");
        for line in code {
            let _ = writeln!(text, "        {line}");
        }
        let left = self.program.threads.len() - members.len();
        if left > 0 {
            self.note(Matters::Differs, format!("{left} other threads of the program, such as the launcher, are left out"));
        }
    }

    /// The threads of a team sleep while they wait: they gave up their cpus in most of the regions.
    fn sleeps(&self, team: &Team) -> bool {
        let waits: u64 = team.members.iter().filter_map(|id| self.recording.courses.list.get(id)).map(|course| course.blocked).sum();
        waits as f64 >= 0.5 * team.regions.len() as f64 * (team.members.len() - 1) as f64
    }

    /// Programs of threads.
    fn programs(&mut self, jobs: Option<&Jobs>) {
        let written = {
            let Making { recording, program, costs, .. } = &*self;
            let span = (program.begin, program.end);
            let dense = Estimated::of(recording.courses).dense.filter(|_| self.options.machine.is_none());
            let mut writer = Writer::new(&recording.follower.threads, recording.courses, &program.threads, jobs, *costs, span);
            writer.dense = dense.as_ref();
            writer.programs()
        };
        if let Some(jobs) = jobs {
            self.findings.push(format!(
                "found {} jobs that one thread starts, at most {} at once; which job waits for which beyond that is not known",
                jobs.jobs.len(),
                jobs.slots
            ));
        }
        let (steps, lines) = written.steps;
        self.findings.push(format!("{steps} steps of threads became {lines} lines of code"));
        if self.recording.follower.counts.wakes == 0 {
            self.note(Matters::Differs, "no wake-up was seen: threads that poll are threads that compute here");
        }
        if written.endless.1 >= ENDLESS {
            let lasted = self.program.end - self.program.begin;
            self.window = Some(lasted);
            self.findings.push(format!(
                "{} threads compute and sleep in turns until the program is over: the twin stops after {}, as the recording does",
                written.endless.0,
                time(lasted)
            ));
        }
        let name = self.name();
        self.app(&name, &written, false);
    }

    fn app(&mut self, name: &str, written: &Written, background: bool) {
        let group = self.options.quota.is_some() && !background;
        let text = &mut self.apps;
        let _ = writeln!(text, "  {name}:");
        if background {
            let _ = writeln!(text, "    background: true");
        }
        if group {
            let _ = writeln!(text, "    cgroup: twin");
        }
        if let Some(cpus) = self.cpus.as_ref().filter(|_| !background) {
            let _ = writeln!(text, "    cpus: {cpus}");
        }
        let _ = writeln!(text, "    program:");
        if written.outside {
            let _ = writeln!(text, "      # Waits for devices, interrupts and other programs: they last as long as in the recording.");
            let _ = writeln!(text, "      devices: {{ outside: 1024 }}");
        }
        if let Some(slots) = written.slots {
            let _ = writeln!(text, "      semaphores: {{ slots: {slots} }}  # jobs at once");
        }
        if !written.tables.is_empty() {
            let _ = writeln!(text, "      tables:");
            for (table, values) in &written.tables {
                let values: Vec<String> = values.iter().map(|value| time(*value)).collect();
                let _ = writeln!(text, "        {table}: [{}]", values.join(", "));
            }
        }
        let _ = writeln!(text, "      kinds:");
        for Kind { name, code, origin, nice } in &written.kinds {
            let _ = writeln!(text, "        {name}:  # {}", notation::neutral::line(origin));
            if *nice != 0 && (-20..20).contains(nice) {
                let _ = writeln!(text, "          nice: {nice}");
            }
            let _ = writeln!(text, "          code: |");
            for line in code {
                let _ = writeln!(text, "{}{line}", " ".repeat(INDENT));
            }
        }
    }

    /// Other programs, if they had much of the cpus.
    fn others(&mut self) {
        let Program { threads, begin, end, .. } = &self.program;
        let lasted = (end - begin).max(1) as f64;
        let courses = self.recording.courses;
        let many: BTreeSet<Id> = courses
            .list
            .iter()
            .filter(|(id, course)| !threads.contains(id) && course.cpu as f64 >= OTHERS * lasted)
            .filter(|(id, _)| self.threads().get(**id).is_some_and(|thread| !course::of_the_kernel(&thread.name)))
            .map(|(id, _)| *id)
            .collect();
        let little: u64 = courses.list.iter().filter(|(id, _)| !threads.contains(id) && !many.contains(id)).map(|(_, course)| course.cpu).sum();
        if little as f64 >= 0.005 * lasted {
            let share = 100.0 * little as f64 / lasted;
            self.note(Matters::LeftOut, format!("other threads, which together had a cpu for {share:.1} % of the time"));
        }
        for id in many {
            let Some((thread, course)) = self.threads().get(id).cloned().zip(courses.list.get(&id)) else { continue };
            let share = course.cpu as f64 / lasted;
            let busy = course.steps.iter().filter(|timed| !matches!(timed.step, Step::Run(_) | Step::Wake { .. })).count();
            let name = format!("other-{}-{}", plain(&thread.name), thread.tid);
            self.findings.push(format!(
                "another program, `{}`, had a cpu for {:.0} % of the time: `{name}` stands for it",
                notation::neutral::line(&thread.name),
                100.0 * share
            ));
            let text = &mut self.apps;
            if busy < 10 {
                let _ = writeln!(text, "  {name}: {{ workload: hog, tasks: 1, background: true, nice: {} }}", thread.prio - 120);
            } else {
                let duty = (100.0 * share).round() as u64;
                let _ = writeln!(text, "  {name}:");
                let _ = writeln!(text, "    background: true");
                let _ = writeln!(text, "    program: {{ code: \"forever {{ run {duty}us; sleep {}us }}\" }}", 100_u64.saturating_sub(duty).max(1));
            }
        }
    }

    /// The whole scenario.
    fn page(&self) -> String {
        let mut text = String::from("# Made by `oversim twin import`.\n");
        for finding in &self.findings {
            let _ = writeln!(text, "# - {}", notation::neutral::line(finding));
        }
        for note in &self.notes {
            let _ = writeln!(text, "# {note}");
        }
        let _ = writeln!(text, "name: {}", self.options.name);
        let kernel = self.options.kernel.as_deref().unwrap_or("linux-6.18");
        let _ = writeln!(text, "machine: {}", self.options.machine.clone().unwrap_or_else(|| default_machine(&self.recording)));
        let _ = writeln!(text, "kernel: {kernel}");
        if let Some(quota) = &self.options.quota {
            let _ = writeln!(text, "cgroups: {{ twin: {quota} }}");
        }
        let _ = writeln!(text, "start_jitter: 0s");
        if let Some(window) = self.window {
            let _ = writeln!(text, "window: {}", time(window));
        }
        let _ = writeln!(text, "apps:");
        text += &self.apps;
        let _ = writeln!(text, "policies: [LOAD]");
        text
    }
}

/// A machine with as many equal cores as the recording has cpus, and the costs of wake-ups that it shows.
#[must_use]
pub fn default_machine(recording: &Recording<'_>) -> String {
    let cpus = recording.follower.cpus().max(1);
    let Estimated { idle_exit, wake_remote, .. } = Estimated::of(recording.courses);
    let mut values = String::from("work_unit: own");
    if let Some((exit, _)) = idle_exit {
        let _ = write!(values, ", idle_exit: {exit}ns");
    }
    if let Some((wake, _)) = wake_remote {
        let _ = write!(values, ", wake_remote: {wake}ns");
    }
    format!("{{ \"core:{cpus}\": {{ {values} }} }}")
}

/// A team in a few numbers.
struct Sums {
    work: u64,
    serial: f64,
    imbalance: f64,
    shape: &'static str,
    spread: f64,
}

impl Sums {
    fn of(team: &Team) -> Self {
        let members = team.members.len().max(1);
        let serial: u64 = team.regions.iter().map(|region| region.serial).sum();
        let mut each = vec![0_u64; members];
        for region in &team.regions {
            each.iter_mut().zip(&region.work).for_each(|(sum, work)| *sum += work);
        }
        let parallel: u64 = each.iter().sum();
        let mean = parallel as f64 / members as f64;
        let factors: Vec<f64> = each.iter().map(|sum| *sum as f64 / mean.max(1.0)).collect();
        let (imbalance, shape) = imbalance(&factors);
        // What varies from region to region beside the constant factors, and beside the whole region.
        let (mut squares, mut count) = (0.0, 0_u32);
        for region in &team.regions {
            let whole = region.work.iter().sum::<u64>() as f64 / members as f64;
            for (work, factor) in region.work.iter().zip(&factors) {
                let expected = whole * factor;
                if expected > 0.0 {
                    squares += (*work as f64 / expected - 1.0).powi(2);
                    count += 1;
                }
            }
        }
        let deviation = (squares / f64::from(count.max(1))).sqrt() * (members as f64 / (members as f64 - 1.0).max(1.0)).sqrt();
        let work = parallel + serial;
        Self {
            work,
            serial: serial as f64 / work.max(1) as f64,
            imbalance,
            shape,
            // A uniform distribution of half-width w has the standard deviation w / sqrt(3).
            spread: (deviation * 3.0_f64.sqrt()).min(1.0),
        }
    }
}

/// The largest constant difference from the mean, and the shape that is nearest.
fn imbalance(factors: &[f64]) -> (f64, &'static str) {
    let largest = factors.iter().map(|factor| (factor - 1.0).abs()).fold(0.0, f64::max);
    let last = factors.len().saturating_sub(1).max(1) as f64;
    let linear = |slope: f64| -> f64 {
        (0..).zip(factors).map(|(rank, factor)| (factor - (1.0 + slope * (2.0 * f64::from(rank) / last - 1.0))).powi(2)).sum()
    };
    // The slope of least squares.
    let (mut products, mut squares) = (0.0, 0.0);
    for (rank, factor) in (0..).zip(factors) {
        let place = 2.0 * f64::from(rank) / last - 1.0;
        products += place * (factor - 1.0);
        squares += place * place;
    }
    let slope = if squares > 0.0 { products / squares } else { 0.0 };
    let flat: f64 = factors.iter().map(|factor| (factor - 1.0).powi(2)).sum();
    if linear(slope) <= 0.5 * flat || largest < 0.02 {
        // The parts of a problem differ less than its ends: n parts by n - 1 n-ths of that.
        let ranks = factors.len().max(2) as f64;
        ((slope.abs() * ranks / (ranks - 1.0)).min(1.0), "gradient")
    } else {
        (largest.min(1.0), "random")
    }
}

/// The name of the application of a program.
#[must_use]
pub fn app(recording: &Recording<'_>, program: &Program) -> String {
    let (threads, marks) = (&recording.follower.threads, &recording.follower.marks);
    if let Some(ranks) = ranks::find(threads, recording.courses, marks, &program.threads, (program.begin, program.end)) {
        return ranks.members.first().and_then(|id| threads.get(*id)).map_or_else(String::new, |thread| plain(&thread.name));
    }
    let first = program.threads.first().and_then(|id| threads.get(*id));
    plain(first.map_or("program", |thread| thread.name.as_str()))
}

/// The name of the kind of each thread of a program.
#[must_use]
pub fn names(recording: &Recording<'_>, program: &Program) -> BTreeMap<Id, String> {
    let Recording { follower, courses, .. } = recording;
    let writer = Writer::new(&follower.threads, courses, &program.threads, None, Costs::default(), (program.begin, program.end));
    program.threads.iter().map(|id| (*id, writer.name(*id).to_owned())).collect()
}

/// How far a replay is off, in a sentence.
#[must_use]
pub fn sentence(compared: &Compared) -> String {
    let percent = |share: f64| format!("{:+.1} %", 100.0 * share);
    format!(
        "the replay takes {} for what took {} in the recording ({}), and {} of cpu time for {} ({})",
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
