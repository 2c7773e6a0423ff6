//! From rows of the table to lines: one command, file or container for each program, shared settings once.

use std::collections::BTreeSet;

use super::advice::{Advice, Dialect, Layer, Lever, Node, Program};
use super::case::Case;
use super::libraries::LAUNCHERS;
use super::line::{Kind, Line, Said};
use super::lists::word;
use super::remarks;
use super::row::{Form, Row};
use super::table::ROWS;

/// A program in a dialect with what is said of it.
struct Told<'a> {
    case: Case<'a>,
    said: Vec<(&'static Row, String)>,
}

/// All rows.
fn rows() -> impl Iterator<Item = &'static Row> {
    ROWS.iter().copied().flatten()
}

/// Whether a row is about the runtime that a program has.
fn concerns(row: &Row, program: &Program) -> bool {
    let is =
        |layer: &Option<Layer>| layer.as_ref().is_some_and(|l| row.runtimes.contains(&l.runtime.as_str()));
    let of = |lever: &Lever| match lever {
        Lever::Processes | Lever::WaitOfProcesses => is(&program.processes),
        Lever::Threads | Lever::WaitOfThreads => is(&program.threads),
        _ => is(&program.processes) || is(&program.threads),
    };
    row.runtimes.is_empty() || row.levers.iter().any(of)
}

/// The launcher of a dialect, if it starts the processes of this program.
fn launcher(dialect: Dialect, program: &Program) -> Option<&'static str> {
    if dialect == Dialect::Slurm {
        return Some("srun");
    }
    let layer = program.processes.as_ref()?;
    let fits =
        |entry: &&(Dialect, &str, &[&str])| entry.0 == dialect && entry.2.contains(&layer.runtime.as_str());
    LAUNCHERS.iter().find(fits).map(|entry| entry.1)
}

/// Whether a program is started in this dialect: launchers of MPI start the processes of their library, and
/// where one of those that are asked for does so, a plain shell does not.
fn started(dialect: Dialect, program: &Program, dialects: &[Dialect]) -> bool {
    if LAUNCHERS.iter().any(|(of, ..)| *of == dialect) {
        return launcher(dialect, program).is_some();
    }
    let of_mpi = |other: &Dialect| *other != Dialect::Slurm && launcher(*other, program).is_some();
    dialect != Dialect::Shell || !dialects.iter().any(of_mpi)
}

impl<'a> Told<'a> {
    fn new(case: Case<'a>) -> Self {
        let here = rows().filter(|row| row.dialects.contains(&case.dialect) && concerns(row, case.program));
        let asked = |row: &Row| row.levers.iter().any(|lever| case.asks(*lever));
        let all: Vec<(&Row, String)> = here
            .filter(|row| row.companion || asked(row))
            .filter_map(|row| (row.value)(&case).map(|value| (row, value)))
            .collect();
        let reason = all.iter().any(|(row, _)| asked(row));
        let said = if reason { all } else { Vec::new() };
        Self { case, said }
    }

    fn name(&self) -> &str {
        &self.case.program.name
    }

    fn of(&self, wanted: impl Fn(Form) -> bool) -> impl Iterator<Item = (&'static Row, &str)> {
        self.said.iter().filter(move |(row, _)| wanted(row.form)).map(|(row, value)| (*row, value.as_str()))
    }

    fn variables(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.of(|form| form == Form::Variable).map(|(row, value)| (row.name, value))
    }

    fn line(&self, kind: Kind, text: String, settings: Vec<Said>) -> Line {
        Line { dialect: self.case.dialect, programs: vec![self.name().to_owned()], kind, text, settings }
    }

    /// Commands in front of a command, each with its options.
    fn prefixes(&self, wanted: impl Fn(Form) -> Option<&'static str>) -> Vec<String> {
        let mut words: Vec<String> = Vec::new();
        let mut last = "";
        for (row, value) in &self.said {
            let Some(joint) = wanted(row.form) else { continue };
            if row.name != last {
                words.push(row.name.to_owned());
            }
            last = row.name;
            words.push(format!("{joint}{value}"));
        }
        words
    }
}

fn said(settings: &[(&'static str, &str)]) -> Vec<Said> {
    settings.iter().map(|(name, value)| Said { name, value: (*value).to_owned() }).collect()
}

/// An option with its value.
fn option(row: &Row, joint: &str, value: &str) -> String {
    if value.is_empty() { row.name.to_owned() } else { format!("{}{joint}{value}", row.name) }
}

/// The variables that several programs share, with the value that all have whom they concern.
fn common<'a>(told: &'a [Told<'_>]) -> Vec<(&'static str, &'a str, Vec<String>)> {
    let mut found: Vec<(&'static str, &str, Vec<String>)> = Vec::new();
    for (name, value) in told.iter().flat_map(Told::variables) {
        if found.iter().any(|(known, ..)| *known == name) {
            continue;
        }
        let about = |one: &&Told<'_>| {
            let dialect = one.case.dialect;
            rows().any(|row| {
                row.name == name && row.dialects.contains(&dialect) && concerns(row, one.case.program)
            })
        };
        let concerned: Vec<&Told<'_>> = told.iter().filter(about).collect();
        let has = |one: &&Told<'_>| one.variables().any(|(other, text)| (other, text) == (name, value));
        if concerned.len() > 1 && concerned.iter().all(has) {
            found.push((name, value, concerned.iter().map(|one| one.name().to_owned()).collect()));
        }
    }
    found
}

/// Shared variables, then a command for each program.
fn commands(told: &[Told<'_>], turns: bool) -> Vec<Line> {
    let shared = common(told);
    let mut lines: Vec<Line> = Vec::new();
    for (name, value, programs) in &shared {
        let assignment = format!("{name}={}", word(value));
        match lines.iter_mut().find(|line| line.programs == *programs) {
            Some(line) => {
                line.text = format!("{} {assignment}", line.text);
                line.settings.extend(said(&[(name, value)]));
            }
            None => lines.extend(told.first().map(|first| Line {
                programs: programs.clone(),
                ..first.line(Kind::Export, format!("export {assignment}"), said(&[(name, value)]))
            })),
        }
    }
    let names: Vec<&str> = shared.iter().map(|(name, ..)| *name).collect();
    let started: Vec<Line> = told.iter().filter_map(|one| command(one, &names, turns)).collect();
    let last = started.len().saturating_sub(1);
    for (at, mut line) in started.into_iter().enumerate() {
        if turns && at < last {
            line.text.push_str(" &&");
        }
        lines.push(line);
    }
    lines
}

/// The command that starts a program; none where nothing is left to say.
fn command(told: &Told<'_>, exported: &[&str], always: bool) -> Option<Line> {
    let here = |row: &Row| !matches!(row.form, Form::Site(..) | Form::Field | Form::File);
    let left = |row: &Row| here(row) && !(row.form == Form::Variable && exported.contains(&row.name));
    let kept: Vec<(&'static str, &str)> = told
        .said
        .iter()
        .filter(|(row, _)| left(row))
        .map(|(row, value)| (row.name, value.as_str()))
        .collect();
    let reasons = told.said.iter().any(|(row, _)| left(row) && !row.companion)
        || told.said.iter().any(|(row, _)| row.companion && row.levers.iter().any(|l| told.case.asks(*l)));
    if !reasons && !always {
        return None;
    }
    let mut words: Vec<String> = told
        .variables()
        .filter(|(name, _)| !exported.contains(name))
        .map(|(name, value)| format!("{name}={}", word(value)))
        .collect();
    let properties: Vec<String> = told
        .of(|form| form == Form::Property)
        .map(|(row, value)| format!("-p {}={value}", row.name))
        .collect();
    if !properties.is_empty() {
        words.push("systemd-run --scope".to_owned());
        words.extend(properties);
    }
    words.extend(told.prefixes(|form| if let Form::Outer(joint) = form { Some(joint) } else { None }));
    words.extend(launcher(told.case.dialect, told.case.program).map(str::to_owned));
    for (row, value) in told.of(|form| matches!(form, Form::Option(_))) {
        let Form::Option(joint) = row.form else { continue };
        words.push(option(row, joint, value));
    }
    words.extend(told.prefixes(|form| if let Form::Inner(joint) = form { Some(joint) } else { None }));
    words.push(word(told.name()));
    for (row, value) in told.of(|form| matches!(form, Form::Own(_))) {
        let Form::Own(joint) = row.form else { continue };
        words.push(option(row, joint, value));
    }
    Some(told.line(Kind::Command, words.join(" "), said(&kept)))
}

/// `docker run`, with the name of the program for the image.
fn containers(told: &[Told<'_>]) -> Vec<Line> {
    let one = |told: &Told<'_>| -> Option<Line> {
        if told.said.is_empty() {
            return None;
        }
        let mut words = vec!["docker run".to_owned()];
        for (row, value) in told.of(|form| matches!(form, Form::Option(_))) {
            let Form::Option(joint) = row.form else { continue };
            words.push(option(row, joint, value));
        }
        words.extend(told.variables().map(|(name, value)| format!("-e {name}={}", word(value))));
        words.push(word(told.name()));
        let inner = told.prefixes(|form| if let Form::Inner(joint) = form { Some(joint) } else { None });
        if !inner.is_empty() {
            words.extend(inner);
            words.push(word(told.name()));
        }
        let all: Vec<(&str, &str)> =
            told.said.iter().map(|(row, value)| (row.name, value.as_str())).collect();
        Some(told.line(Kind::Command, words.join(" "), said(&all)))
    };
    told.iter().filter_map(one).collect()
}

/// Files of control groups that are called as the programs, each value once.
fn files(told: &[Told<'_>]) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    let path = |name: &str, file: &str| word(&format!("/sys/fs/cgroup/{name}/{file}"));
    for row in rows().filter(|row| row.form == Form::File) {
        let mut values: Vec<(&str, Vec<&Told<'_>>)> = Vec::new();
        for one in told {
            let own = one.said.iter().find(|(other, _)| std::ptr::eq(*other, row));
            let Some((_, value)) = own else { continue };
            match values.iter_mut().find(|(other, _)| other == value) {
                Some((_, those)) => those.push(one),
                None => values.push((value, vec![one])),
            }
        }
        for (value, those) in values {
            let paths: Vec<String> = those.iter().map(|one| path(one.name(), row.name)).collect();
            let joint = if those.len() > 1 { "| tee" } else { ">" };
            let text = format!("echo {} {joint} {}", word(value), paths.join(" "));
            let Some(first) = those.first() else { continue };
            let programs = those.iter().map(|one| one.name().to_owned()).collect();
            lines.push(Line { programs, ..first.line(Kind::File, text, said(&[(row.name, value)])) });
        }
    }
    lines
}

/// Containers of a pod.
fn yaml(told: &[Told<'_>]) -> Vec<Line> {
    let quoted = |text: &str| serde_json::Value::from(notation::neutral::line(text).as_ref()).to_string();
    let mut lines = Vec::new();
    for one in told {
        let variables: Vec<(&str, &str)> = one.variables().collect();
        let fields: Vec<(&str, &str)> =
            one.of(|form| form == Form::Field).map(|(row, value)| (row.name, value)).collect();
        if variables.is_empty() && fields.is_empty() {
            continue;
        }
        lines.push(one.line(Kind::Yaml, format!("- name: {}", quoted(one.name())), Vec::new()));
        for (at, (name, value)) in variables.iter().enumerate() {
            if at == 0 {
                lines.push(one.line(Kind::Yaml, "  env:".to_owned(), Vec::new()));
            }
            let text = format!("  - {{ name: {name}, value: {} }}", quoted(value));
            lines.push(one.line(Kind::Yaml, text, said(&[(name, value)])));
        }
        for (at, (name, value)) in fields.iter().enumerate() {
            if at == 0 {
                lines.push(one.line(Kind::Yaml, "  resources:".to_owned(), Vec::new()));
            }
            let (part, key) = name.split_once('.').unwrap_or((name, "cpu"));
            let text = format!("    {part}: {{ {key}: {} }}", quoted(value));
            lines.push(one.line(Kind::Yaml, text, said(&[(name, value)])));
        }
    }
    lines
}

/// What configuration files say, each key once.
fn site(told: &[Told<'_>]) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for one in told {
        for (row, value) in one.of(|form| matches!(form, Form::Site(..))) {
            let Form::Site(file, joint) = row.form else { continue };
            let text = format!("# {file}: {}{joint}{value}", row.name);
            match lines.iter_mut().find(|line| line.text == text) {
                Some(line) => line.programs.push(one.name().to_owned()),
                None => lines.push(one.line(Kind::Site, text, said(&[(row.name, value)]))),
            }
        }
    }
    lines
}

/// The systems that start a program as such: the launchers of its library of MPI, a shell without one, and
/// Slurm.
fn starting(program: &Program) -> Vec<Dialect> {
    let own = LAUNCHERS.iter().map(|(dialect, ..)| *dialect);
    let mut own: Vec<Dialect> = own.filter(|dialect| launcher(*dialect, program).is_some()).collect();
    if own.is_empty() {
        own.push(Dialect::Shell);
    }
    own.push(Dialect::Slurm);
    own
}

/// What is asked and said nowhere.
fn unsaid(advice: &Advice, node: &Node<'_>, dialects: &[Dialect], all: &[Told<'_>]) -> Vec<Line> {
    let mut lines = Vec::new();
    let Some(dialect) = dialects.first() else { return lines };
    for program in &advice.programs {
        let case = Case::new(program, node, *dialect, advice.shared);
        let done: BTreeSet<Lever> = all
            .iter()
            .filter(|told| std::ptr::eq(told.case.program, program))
            .flat_map(|told| told.said.iter().flat_map(|(row, _)| row.levers.iter().copied()))
            .collect();
        let note = |text| Line {
            dialect: *dialect,
            programs: vec![program.name.clone()],
            kind: Kind::Note,
            text,
            settings: Vec::new(),
        };
        if !dialects.iter().any(|dialect| started(*dialect, program, dialects)) {
            if remarks::LEVERS.iter().any(|lever| case.asks(*lever)) {
                lines.push(note(remarks::not_started(program, dialects, &starting(program))));
            }
            continue;
        }
        for lever in remarks::LEVERS.iter().filter(|lever| case.asks(**lever) && !done.contains(lever)) {
            lines.push(note(remarks::unsaid(program, *lever, dialects)));
        }
    }
    lines
}

/// The lines of an advice: by dialect in the order given, commands before what the administrator sets and
/// what else to know. Nothing to type gives no lines. What is asked and cannot be said in any of the
/// dialects is named in a comment at the end.
#[must_use]
pub fn lines(advice: &Advice, node: &Node<'_>, dialects: &[Dialect]) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut all: Vec<Told<'_>> = Vec::new();
    for dialect in dialects {
        let here = advice.programs.iter().filter(|program| started(*dialect, program, dialects));
        let told: Vec<Told<'_>> =
            here.map(|program| Told::new(Case::new(program, node, *dialect, advice.shared))).collect();
        lines.extend(match dialect {
            Dialect::Cgroup => files(&told),
            Dialect::Docker => containers(&told),
            Dialect::Kubernetes => yaml(&told),
            _ => commands(&told, advice.turns),
        });
        lines.extend(site(&told));
        for one in told.iter().filter(|one| !one.said.is_empty()) {
            let texts = remarks::of(&one.case);
            lines.extend(texts.into_iter().map(|text| one.line(Kind::Note, text, Vec::new())));
        }
        all.extend(told);
    }
    lines.extend(unsaid(advice, node, dialects, &all));
    lines
}

/// The dialects in which a user types an advice without a batch system or containers: a shell, the launchers
/// of the libraries of MPI that the programs have (`mpi`: Open MPI's), and files of control groups for what
/// no command says.
#[must_use]
pub fn usual(advice: &Advice) -> Vec<Dialect> {
    let mut found = BTreeSet::new();
    for program in &advice.programs {
        let of = LAUNCHERS.iter().find(|(dialect, ..)| launcher(*dialect, program).is_some());
        found.insert(of.map_or(Dialect::Shell, |(dialect, ..)| *dialect));
        if program.quota.is_some_and(|quota| quota.burst > 0) {
            found.insert(Dialect::Cgroup);
        }
        if of.is_some() && (program.quota.is_some() || program.weight.is_some()) {
            found.insert(Dialect::Cgroup);
        }
    }
    found.into_iter().collect()
}
