//! Limits of `docker run` and of compose files: the groups that the runtime makes for containers.

use std::collections::BTreeMap;

use notation::diagnostics::Sources;
use notation::yaml::{self, Content, Node};

use crate::containers::{self, Group, Member, PERIOD_US};
use crate::form::docker;
use crate::page::{self, MOST_CORES, Names, Page};
use crate::{Form, Imported, Options, Refused, Source, units};

/// Most bytes of a file.
const MAX_BYTES: usize = 4 << 20;
/// Most containers with all copies.
const MOST_CONTAINERS: u64 = 400;
/// Shares of a container that states none.
const SHARES: u64 = 1_024;
/// The group in which systemd puts containers.
const PARENT: &str = "system.slice";

/// What is said of a limit of memory, devices and the like.
const MISSING: &str = "a limit that a scenario does not have";

/// What a container states, each value with its place.
#[derive(Default)]
struct Limits {
    name: String,
    place: String,
    copies: u64,
    cpus: Option<(String, String)>,
    shares: Option<(String, String)>,
    quota: Option<(String, String)>,
    period: Option<(String, String)>,
    cpuset: Option<(String, String)>,
}

/// Imports command lines or a compose file.
pub(crate) fn import(source: Source<'_>, options: &Options) -> Result<Imported, Refused> {
    if source.text.len() > MAX_BYTES {
        return Err(source.refused("more than 4 MiB of limits"));
    }
    let mut page = Page::new();
    let lines = source.text.lines().any(|line| docker(line.trim()));
    let all = if lines { commands(&source, &mut page) } else { compose(&source, &mut page) }?;
    let count: u64 = all.iter().map(|limits| limits.copies).fold(0, u64::saturating_add);
    if !(1..=MOST_CONTAINERS).contains(&count) {
        return Err(source.refused(&format!("{count} containers; 1 to {MOST_CONTAINERS} are imported")));
    }
    let (mut groups, mut members, mut names) = (BTreeMap::new(), Vec::new(), Names::default());
    let formula = options.formula;
    page.notes.assumed("", format!("shares become weights by {} (`--weights`)", formula.words()));
    let mut needed = 1;
    for limits in &all {
        for _ in 0..limits.copies {
            let name = names.unique(&limits.name, "container");
            let path = format!("{PARENT}/docker-{name}.scope");
            let (group, cpus, tasks) =
                group(&mut page, limits, options).map_err(|why| source.refused(&why))?;
            needed = needed.max(cpus.as_ref().and_then(|(cpus, _)| cpus.last()).map_or(1, |last| last + 1));
            groups.insert(path.clone(), group);
            let origin = limits.place.clone();
            members.push(Member { name, group: path, origin, cpus, tasks });
        }
    }
    if page::cpus(options, needed)? < needed {
        let last = needed - 1;
        return Err(
            source.refused(&format!("a container may use cpu {last}, which the machine does not have"))
        );
    }
    page.head(options, needed);
    containers::write(&mut page, options, &groups, &members);
    Ok(page.done(Form::Docker, source.name, options))
}

type Made = (Group, Option<(Vec<u32>, String)>, (u64, String));

/// The group of a container, its cpus and the tasks of its placeholder.
fn group(page: &mut Page, limits: &Limits, options: &Options) -> Result<Made, String> {
    let number = |value: &Option<(String, String)>| match value {
        None => Ok(None),
        Some((text, place)) => match text.parse::<i64>() {
            Ok(number) => Ok(Some((number, place.clone()))),
            Err(_) => {
                Err(format!("{place}: `{}` is no whole number", text.chars().take(40).collect::<String>()))
            }
        },
    };
    let (shares, origin) = match number(&limits.shares)? {
        Some((shares, place)) if shares > 0 => (shares as u64, place),
        _ => (SHARES, format!("{}: the default, {SHARES} shares", limits.place)),
    };
    let formula = options.formula;
    let mut group = Group {
        weight: Some((formula.weight(shares), format!("{origin}: {shares} shares, by {}", formula.words()))),
        ..Group::default()
    };
    let period = number(&limits.period)?.filter(|(period, _)| *period > 0);
    let quota = number(&limits.quota)?.filter(|(quota, _)| *quota > 0);
    let mut tasks = (1, "assumed".to_owned());
    if let Some((text, place)) = &limits.cpus {
        if quota.is_some() || period.is_some() {
            return Err(format!("{place}: docker refuses `cpus` together with a quota or period"));
        }
        let milli = containers::milli(text).ok_or_else(|| format!("{place}: this is no number of cpus"))?;
        if milli > 0 {
            let limit = containers::limit(page, place, milli.saturating_mul(PERIOD_US) / 1_000, PERIOD_US);
            group.limit = limit.map(|(quota, period)| (quota, period, place.clone()));
            tasks = (milli.div_ceil(1_000).clamp(1, 1_024), "assumed: one for each cpu of its limit".into());
        }
    } else if let Some((quota, place)) = quota {
        let period = period.map_or(PERIOD_US, |(period, _)| period as u64);
        let limit = containers::limit(page, &place, quota as u64, period);
        tasks = ((quota as u64).div_ceil(period.max(1)).clamp(1, 1_024), "assumed: one for each cpu".into());
        group.limit = limit.map(|(quota, period)| (quota, period, place));
    } else if let Some((_, place)) = period {
        page.notes.no_effect(place, "a period without a quota limits nothing");
    }
    let cpus = match &limits.cpuset {
        None => None,
        Some((text, place)) => {
            let cpus = units::cpus(text, MOST_CORES - 1).filter(|cpus| !cpus.is_empty());
            Some((
                cpus.ok_or_else(|| format!("{place}: this is no list of cpus, as `0-3,8`"))?,
                place.clone(),
            ))
        }
    };
    Ok((group, cpus, tasks))
}

/// The containers of command lines; a `\` continues a line.
fn commands(source: &Source<'_>, page: &mut Page) -> Result<Vec<Limits>, Refused> {
    let mut found = Vec::new();
    let mut whole = String::new();
    let mut begin = 1;
    for (number, line) in source.text.lines().enumerate() {
        if whole.is_empty() {
            begin = number + 1;
        }
        match line.trim_end().strip_suffix('\\') {
            Some(part) => {
                whole.push_str(part);
                whole.push(' ');
                continue;
            }
            None => whole.push_str(line),
        }
        let text = std::mem::take(&mut whole);
        if docker(text.trim()) {
            found.push(command(&text, begin, page));
        }
    }
    if docker(whole.trim()) {
        found.push(command(&whole, begin, page));
    }
    if found.is_empty() { Err(source.refused("no line of it starts a container")) } else { Ok(found) }
}

fn command(text: &str, line: usize, page: &mut Page) -> Limits {
    let mut limits = Limits { copies: 1, place: format!("line {line}"), ..Limits::default() };
    let mut words = text.split_whitespace().map(|word| word.trim_matches(['"', '\'']));
    let verbs = ["run", "create", "update"];
    words.by_ref().find(|word| verbs.contains(word));
    while let Some(word) = words.next() {
        let Some(flag) = word.strip_prefix("--") else {
            // Flags of one letter with a value, then the image.
            if word.starts_with('-') {
                match word {
                    "-c" => limits.shares = words.next().map(|v| (v.to_owned(), format!("line {line}: -c"))),
                    "-m" => {
                        words.next();
                        page.notes.left_out(format!("line {line}: -m"), MISSING);
                    }
                    "-e" | "-p" | "-v" | "-h" | "-w" | "-u" | "-l" => _ = words.next(),
                    _ => {}
                }
                continue;
            }
            if limits.name.is_empty() {
                let image = word.rsplit('/').next().unwrap_or(word);
                limits.name = image.split([':', '@']).next().unwrap_or(image).to_owned();
            }
            break;
        };
        let (name, inline) = flag.split_once('=').map_or((flag, None), |(name, value)| (name, Some(value)));
        if matches!(name, "rm" | "init" | "privileged" | "detach" | "interactive" | "tty" | "read-only") {
            continue;
        }
        let value = inline.or_else(|| words.next()).unwrap_or_default().to_owned();
        let place = format!("line {line}: --{name}");
        let given = Some((value.clone(), place.clone()));
        match name {
            "cpus" => limits.cpus = given,
            "cpu-shares" => limits.shares = given,
            "cpu-quota" => limits.quota = given,
            "cpu-period" => limits.period = given,
            "cpuset-cpus" => limits.cpuset = given,
            "name" => limits.name = value,
            name if name.starts_with("cpu") || name.starts_with("memory") || name == "blkio-weight" => {
                page.notes.left_out(place, MISSING);
            }
            _ => {}
        }
    }
    limits
}

/// The services of a compose file.
fn compose(source: &Source<'_>, page: &mut Page) -> Result<Vec<Limits>, Refused> {
    let root = yaml::data_tree(0, source.text)
        .map_err(|problem| Refused::Rendered(Sources::new(source.name, source.text).render(&[problem])))?;
    let Some(Content::Map(services)) = root.get("services").map(|entry| &entry.value.content) else {
        return Err(source.refused("it has no `services`"));
    };
    let mut found = Vec::new();
    for service in services {
        let path = format!("services.{}", service.key);
        let mut limits = Limits {
            name: service.key.clone(),
            place: page::at(source.line(service.place.start), &path),
            copies: 1,
            ..Limits::default()
        };
        let Content::Map(entries) = &service.value.content else {
            return Err(source.wrong(service.place.start, "a service is a mapping"));
        };
        for entry in entries {
            let place = page::at(source.line(entry.place.start), &format!("{path}.{}", entry.key));
            let given = |node: &Node| match &node.content {
                Content::Scalar(text) => Some((text.clone(), place.clone())),
                _ => None,
            };
            match entry.key.as_str() {
                "cpus" => limits.cpus = given(&entry.value),
                "cpu_shares" => limits.shares = given(&entry.value),
                "cpu_quota" => limits.quota = given(&entry.value).map(micros),
                "cpu_period" => limits.period = given(&entry.value).map(micros),
                "cpuset" => limits.cpuset = given(&entry.value),
                "scale" => limits.copies = copies(source, &entry.value)?,
                "deploy" => deploy(source, page, &entry.value, &path, &mut limits)?,
                key if key.starts_with("cpu") || key.starts_with("mem") || key == "blkio_config" => {
                    page.notes.left_out(place, MISSING);
                }
                _ => {}
            }
        }
        found.push(limits);
    }
    Ok(found)
}

/// A time of a compose file, such as `50ms`, as a number of us.
fn micros((text, place): (String, String)) -> (String, String) {
    for (unit, size) in [("us", 1), ("ms", 1_000), ("s", 1_000_000)] {
        if let Some(number) = text.strip_suffix(unit).and_then(|number| number.parse::<i64>().ok()) {
            return (number.saturating_mul(size).to_string(), place);
        }
    }
    (text, place)
}

fn copies(source: &Source<'_>, node: &Node) -> Result<u64, Refused> {
    let number = if let Content::Scalar(text) = &node.content { text.parse().ok() } else { None };
    number.ok_or_else(|| source.wrong(node.place.start, "a whole number is due here"))
}

fn deploy(
    source: &Source<'_>,
    page: &mut Page,
    node: &Node,
    path: &str,
    limits: &mut Limits,
) -> Result<(), Refused> {
    if let Some(replicas) = node.get("replicas") {
        limits.copies = copies(source, &replicas.value)?;
    }
    let Some(resources) = node.get("resources") else { return Ok(()) };
    for (list, effect) in [("limits", true), ("reservations", false)] {
        let Some(found) = resources.value.get(list) else { continue };
        let Content::Map(entries) = &found.value.content else { continue };
        for entry in entries {
            let full = format!("{path}.deploy.resources.{list}.{}", entry.key);
            let place = page::at(source.line(entry.place.start), &full);
            match (&entry.value.content, entry.key.as_str()) {
                (Content::Scalar(text), "cpus") if effect => limits.cpus = Some((text.clone(), place)),
                (_, "cpus") => page.notes.no_effect(place, "docker sets nothing for a reservation of cpus"),
                _ => page.notes.left_out(place, MISSING),
            }
        }
    }
    Ok(())
}
