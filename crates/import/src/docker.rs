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
/// Longest command whose quote has no end, in bytes.
const MAX_COMMAND: usize = 16 << 10;
/// Most containers with all copies.
const MOST_CONTAINERS: u64 = 400;
/// The group in which systemd puts containers.
const PARENT: &str = "system.slice";

/// What is said of a limit of memory, devices and the like.
const MISSING: &str = "a limit that a scenario does not have";
/// What is said of the group around a container.
const ELSEWHERE: &str = "the group around the container: it is in system.slice";
const NANO: u64 = 1_000_000_000;

/// Flags without a value, of docker and podman.
const ALONE: [&str; 22] = [
    "detach",
    "disable-content-trust",
    "env-host",
    "help",
    "http-proxy",
    "init",
    "interactive",
    "no-healthcheck",
    "no-hostname",
    "no-hosts",
    "oom-kill-disable",
    "passwd",
    "privileged",
    "publish-all",
    "quiet",
    "read-only",
    "read-only-tmpfs",
    "replace",
    "rm",
    "rmi",
    "sig-proxy",
    "tty",
];
/// Flags with a value that say nothing about the schedule.
const WITHOUT_EFFECT: [&str; 61] = [
    "add-host",
    "annotation",
    "attach",
    "cap-add",
    "cap-drop",
    "cgroupns",
    "cidfile",
    "detach-keys",
    "device",
    "dns",
    "dns-opt",
    "dns-option",
    "dns-search",
    "domainname",
    "entrypoint",
    "env",
    "env-file",
    "expose",
    "group-add",
    "health-cmd",
    "health-interval",
    "health-retries",
    "health-start-interval",
    "health-start-period",
    "health-timeout",
    "hostname",
    "ip",
    "ip6",
    "ipc",
    "isolation",
    "label",
    "label-file",
    "link",
    "link-local-ip",
    "log-driver",
    "log-opt",
    "mac-address",
    "mount",
    "net",
    "net-alias",
    "network",
    "network-alias",
    "pid",
    "platform",
    "pod",
    "publish",
    "pull",
    "restart",
    "runtime",
    "security-opt",
    "stop-signal",
    "stop-timeout",
    "storage-opt",
    "sysctl",
    "tmpfs",
    "user",
    "userns",
    "uts",
    "volume",
    "volume-driver",
    "volumes-from",
];

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
    if all.iter().any(|limits| limits.shares.is_some()) {
        let words = options.formula.words();
        page.notes.assumed("", format!("shares become weights by {words} (`--weights`)"));
    }
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
    // Without shares the runtime writes no weight: the group has the default, 100.
    let formula = options.formula;
    let weight = number(&limits.shares)?.filter(|(shares, _)| *shares > 0).map(|(shares, place)| {
        let origin = format!("{place}: {shares} shares, by {}", formula.words());
        (formula.weight(shares.unsigned_abs()), origin)
    });
    let mut group = Group { weight, ..Group::default() };
    let period = number(&limits.period)?.filter(|(period, _)| *period > 0);
    let quota = number(&limits.quota)?.filter(|(quota, _)| *quota > 0);
    let mut tasks = (1, "assumed".to_owned());
    if let Some((text, place)) = &limits.cpus {
        if quota.is_some() || period.is_some() {
            return Err(format!("{place}: docker refuses `cpus` together with a quota or period"));
        }
        let nano = nano(text).ok_or_else(|| format!("{place}: this is no number of cpus, as `1.5`"))?;
        if nano > 0 {
            let quota = u128::from(nano) * u128::from(PERIOD_US) / u128::from(NANO);
            let limit = containers::limit(page, place, u64::try_from(quota).unwrap_or(u64::MAX), PERIOD_US);
            group.limit = limit.map(|(quota, period)| (quota, period, place.clone()));
            tasks = (nano.div_ceil(NANO).clamp(1, 1_024), "assumed: one for each cpu of its limit".into());
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

/// A number of cpus in units of 1e-9, as docker counts them; more decimals are cut off.
fn nano(text: &str) -> Option<u64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.len() + part.len() == 0 || !digits(whole) || !digits(part) {
        return None;
    }
    let part: u64 = format!("{part:0<9}").get(..9)?.parse().ok()?;
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    whole.checked_mul(NANO)?.checked_add(part)
}

/// The words of a command line as a shell splits it: quotes, backslashes, comments. Variables stay as they
/// are. None when a quote has no end.
fn split(text: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                // A line that goes on.
                Some('\n') | None => {}
                Some(next) => word.get_or_insert_default().push(next),
            },
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        '\'' => break,
                        inner => word.push(inner),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        '"' => break,
                        '\\' => match chars.next()? {
                            '\n' => {}
                            next @ ('"' | '\\' | '$' | '`') => word.push(next),
                            next => word.extend(['\\', next]),
                        },
                        inner => word.push(inner),
                    }
                }
            }
            '#' if word.is_none() && !words.is_empty() => while chars.next_if(|c| *c != '\n').is_some() {},
            c if c.is_whitespace() => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Some(words)
}

/// The containers of command lines. A line goes on behind a `\` at its end, and within quotes.
fn commands(source: &Source<'_>, page: &mut Page) -> Result<Vec<Limits>, Refused> {
    let mut found = Vec::new();
    let mut whole = String::new();
    let (mut begin, mut start, mut at) = (1, 0, 0);
    for (number, line) in source.text.lines().enumerate() {
        if whole.is_empty() {
            (begin, start) = (number + 1, at);
        }
        at += line.len() + 1;
        if whole.is_empty() && !docker(line.trim()) {
            continue;
        }
        whole.push_str(line.trim_end());
        whole.push('\n');
        if line.trim_end().ends_with('\\') || found.len() as u64 > MOST_CONTAINERS {
            continue;
        }
        if let Some(words) = split(&whole) {
            found.push(command(&words, begin, page));
            whole.clear();
        } else if whole.len() > MAX_COMMAND {
            break;
        }
    }
    if !whole.is_empty() {
        let words = split(&whole).ok_or_else(|| source.wrong(start, "a quote of this command has no end"))?;
        found.push(command(&words, begin, page));
    }
    if found.is_empty() { Err(source.refused("no line of it starts a container")) } else { Ok(found) }
}

/// What a command line says, flag by flag.
struct Command<'w, 'p> {
    words: std::iter::Peekable<std::slice::Iter<'w, String>>,
    line: usize,
    limits: Limits,
    page: &'p mut Page,
}

fn command(words: &[String], line: usize, page: &mut Page) -> Limits {
    let verbs = ["run", "create", "update"];
    let verb = words.iter().position(|word| verbs.contains(&word.as_str())).map_or(0, |at| at + 1);
    let limits = Limits { copies: 1, place: format!("line {line}"), ..Limits::default() };
    let words = words.get(verb..).unwrap_or_default().iter().peekable();
    let mut command = Command { words, line, limits, page };
    while let Some(word) = command.words.next_if(|word| word.starts_with('-') && word.len() > 1) {
        match word.strip_prefix("--") {
            Some("") => break,
            Some(flag) => command.long(flag),
            None => command.short(&word[1..]),
        }
    }
    if command.limits.name.is_empty() {
        let word = command.words.next().map_or("", String::as_str);
        let image = word.rsplit('/').next().unwrap_or(word);
        command.limits.name = image.split([':', '@']).next().unwrap_or(image).to_owned();
    }
    command.limits
}

impl Command<'_, '_> {
    /// `--name`, `--name=value` or `--name value`.
    fn long(&mut self, flag: &str) {
        let (name, inline) = flag.split_once('=').map_or((flag, None), |(name, value)| (name, Some(value)));
        if ALONE.contains(&name) {
            return;
        }
        let shown: String = name.chars().take(60).collect();
        let place = format!("line {}: --{shown}", self.line);
        let missing = ["cpu", "memory", "kernel-memory", "blkio-", "device-", "pids-limit", "ulimit", "oom-"];
        let missing = missing.iter().any(|known| name.starts_with(known))
            || matches!(name, "gpus" | "shm-size" | "cgroup-conf");
        let known =
            missing || WITHOUT_EFFECT.contains(&name) || matches!(name, "name" | "cgroup-parent" | "workdir");
        if !known {
            let what = "a flag that is not known; a word behind it is taken for its value";
            self.page.notes.left_out(place, what);
            // The last word is the image.
            if inline.is_none() && self.words.len() > 1 {
                _ = self.words.next_if(|word| !word.starts_with('-'));
            }
            return;
        }
        let value = inline.or_else(|| self.words.next().map(String::as_str)).unwrap_or_default().to_owned();
        let given = Some((value.clone(), place.clone()));
        match name {
            "cpus" => self.limits.cpus = given,
            "cpu-shares" => self.limits.shares = given,
            "cpu-quota" => self.limits.quota = given,
            "cpu-period" => self.limits.period = given,
            "cpuset-cpus" => self.limits.cpuset = given,
            "name" => self.limits.name = value,
            "cgroup-parent" => self.page.notes.left_out(place, ELSEWHERE),
            _ if missing => self.page.notes.left_out(place, MISSING),
            _ => {}
        }
    }

    /// Flags of one letter, several in one word; a value stands in the same word or the next one.
    fn short(&mut self, flags: &str) {
        for (at, flag) in flags.char_indices() {
            let place = format!("line {}: -{flag}", self.line);
            if matches!(flag, 'd' | 'i' | 't' | 'P' | 'q') {
                continue;
            }
            if !"acehlmpuvw".contains(flag) {
                self.page.notes.left_out(place, "a flag that is not known");
                return;
            }
            let inline = flags.get(at + 1..).map(|rest| rest.trim_start_matches('='));
            let inline = inline.filter(|rest| !rest.is_empty()).map(str::to_owned);
            let value = inline.or_else(|| self.words.next().cloned()).unwrap_or_default();
            match flag {
                'c' => self.limits.shares = Some((value, place)),
                'm' => self.page.notes.left_out(place, MISSING),
                _ => {}
            }
            return;
        }
    }
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
                "cgroup_parent" => page.notes.left_out(place, ELSEWHERE),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_a_shell() {
        let words = split("a 'b c' \"d \\\" e\"f \\\n g\\ h '' # i\n").unwrap();
        assert_eq!(words, ["a", "b c", "d \" ef", "g h", ""]);
        assert_eq!(split("a 'b"), None);
    }

    #[test]
    fn cpus_are_counted_in_nanocpus() {
        assert_eq!(
            [nano("0.3333"), nano("2"), nano(".5")],
            [Some(333_300_000), Some(2 * NANO), Some(NANO / 2)]
        );
        assert!(["", ".", "250m", "1e3", "-1", "99999999999999"].iter().all(|text| nano(text).is_none()));
    }
}
