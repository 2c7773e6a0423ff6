//! Files of cgroup v2 as they stand in a hierarchy: weights, limits and cpus of nested groups.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::containers::{self, Group, MOST_GROUPS, Member, PERIOD_US};
use crate::page::{self, MOST_CORES, Names, Page};
use crate::{Form, Imported, Options, Refused, Source, units};

/// Deepest directory that is read.
const MAX_DEPTH: usize = 16;
/// Most bytes of a file of a group that are read.
const MAX_FILE: u64 = 64 << 10;
/// Most files of a directory that are read.
const MOST_FILES: usize = 20_000;
/// Longest path of a group of a scenario, in characters.
const MAX_PATH: usize = 200;
/// Most tasks of a placeholder.
const MOST_TASKS: u64 = 1_024;

/// The files that are read; others say nothing about the schedule or are statistics.
const FILES: [&str; 14] = [
    "cpu.max",
    "cpu.max.burst",
    "cpu.weight",
    "cpu.weight.nice",
    "cpu.idle",
    "cpu.uclamp.min",
    "cpu.uclamp.max",
    "cpuset.cpus",
    "cpuset.cpus.effective",
    "cpuset.cpus.partition",
    "cpuset.mems",
    "cgroup.procs",
    "cgroup.threads",
    "cgroup.type",
];

/// The files of a hierarchy below a directory as `grep . -r` prints them.
///
/// # Errors
/// The directory cannot be read, or has no such file.
pub fn read_directory(root: &Path) -> Result<String, Refused> {
    let mut text = String::new();
    let mut open = vec![(root.to_path_buf(), 0)];
    let mut files = 0;
    let refused = |path: &Path, why: &std::io::Error| {
        Refused::Sentence(format!("cannot read {}: {why}", path.display()))
    };
    while let Some((folder, depth)) = open.pop() {
        let entries = fs::read_dir(&folder).map_err(|why| refused(&folder, &why))?;
        let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        paths.sort_unstable();
        for path in paths {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if path.is_dir() && !path.is_symlink() && depth < MAX_DEPTH {
                open.push((path, depth + 1));
            } else if FILES.contains(&name) && path.is_file() {
                files += 1;
                if files > MOST_FILES {
                    let most = format!("more than {MOST_FILES} files below {}", root.display());
                    return Err(Refused::Sentence(most));
                }
                let mut content = Vec::new();
                // Some files of the root cannot be read (`cgroup.procs` of a threaded group).
                let file = fs::File::open(&path).and_then(|f| f.take(MAX_FILE).read_to_end(&mut content));
                if file.is_err() {
                    continue;
                }
                let below = path.strip_prefix(root).unwrap_or(&path);
                for line in String::from_utf8_lossy(&content).lines().filter(|line| !line.is_empty()) {
                    text += &format!("{}:{line}\n", below.display());
                }
            }
        }
    }
    if text.is_empty() {
        return Err(Refused::Sentence(format!("{}: no file of cgroup v2 below it", root.display())));
    }
    Ok(text)
}

/// A group as its files state it: the lines of each file with their numbers.
type Files<'t> = BTreeMap<&'t str, Vec<(usize, &'t str)>>;

/// Imports the text of the files.
pub(crate) fn import(source: Source<'_>, options: &Options) -> Result<Imported, Refused> {
    let mut page = Page::new();
    let files = read(&source);
    if files.is_empty() {
        return Err(source.refused("no line of it is `path/cpu.max:...` or the like"));
    }
    if files.len() > MOST_GROUPS {
        return Err(source.refused(&format!("{} groups; at most {MOST_GROUPS} are imported", files.len())));
    }
    let mut groups = BTreeMap::new();
    let mut cpus: BTreeMap<String, (Vec<u32>, String)> = BTreeMap::new();
    let mut words = Names::default();
    let paths = paths(&files, &mut words);
    for (path, content) in &files {
        let own = &paths[path];
        if own.is_empty() {
            if content.keys().any(|file| matches!(*file, "cpu.max" | "cpu.weight" | "cpu.idle")) {
                let what = "limits of the outermost group: give the directory above it";
                page.notes.left_out("the outermost group", what);
            }
            continue;
        }
        let group = group(&mut page, &source, own, content)?;
        groups.insert(own.clone(), group);
        if let Some(found) = allowed(&source, own, content)? {
            cpus.insert(own.clone(), found);
        }
    }
    let members = members(&mut page, &files, &paths, &cpus);
    if members.is_empty() {
        return Err(source.refused("no group of it has processes"));
    }
    let last = members.iter().filter_map(|m| m.cpus.as_ref()?.0.last().copied()).max();
    let needed = last.map_or(1, |last| last + 1);
    if page::cpus(options, needed)? < needed {
        return Err(source.refused(&format!("a group may use cpu {}, which the machine lacks", needed - 1)));
    }
    page.head(options, needed);
    containers::write(&mut page, options, &groups, &members);
    Ok(page.done(Form::Cgroup, source.name, options))
}

/// The groups and their files, from lines of `path/file:content`.
fn read<'t>(source: &Source<'t>) -> BTreeMap<Vec<&'t str>, Files<'t>> {
    let mut groups: BTreeMap<Vec<&str>, Files<'_>> = BTreeMap::new();
    for (number, line) in source.text.lines().enumerate() {
        // The name of a group may have a `:`, that of a file has none.
        let Some((path, file, content)) = FILES.iter().find_map(|file| {
            let at = line.find(&format!("{file}:"))?;
            let path = &line[..at];
            let whole = path.is_empty() || path.ends_with('/');
            whole.then(|| (path, *file, &line[at + file.len() + 1..]))
        }) else {
            continue;
        };
        let parts = path.split('/').filter(|part| !matches!(*part, "" | "."));
        let mut parts: Vec<&str> = parts.collect();
        if parts.starts_with(&["sys", "fs", "cgroup"]) {
            parts.drain(..3);
        }
        groups.entry(parts).or_default().entry(file).or_default().push((number + 1, content.trim()));
    }
    groups
}

/// The path of each group in the scenario.
fn paths<'t>(files: &BTreeMap<Vec<&'t str>, Files<'_>>, words: &mut Names) -> BTreeMap<Vec<&'t str>, String> {
    let legal = |c: char| if c.is_ascii_alphanumeric() || "_-.@:".contains(c) { c } else { '-' };
    let mut taken = BTreeSet::new();
    let mut paths = BTreeMap::new();
    for parts in files.keys() {
        let path = parts.iter().map(|part| part.chars().map(legal).collect::<String>());
        let mut path = path.collect::<Vec<_>>().join("/");
        if path.chars().count() > MAX_PATH || !taken.insert(path.clone()) {
            path = words.unique(&path, "group");
        }
        paths.insert(parts.clone(), path);
    }
    paths
}

/// The first line of a file, with its place.
fn first<'t>(content: &Files<'t>, file: &str, path: &str) -> Option<(&'t str, String)> {
    let (line, text) = content.get(file)?.first()?;
    Some((*text, page::at(*line, &format!("{path}/{file}"))))
}

/// Weight, limit and burst of a group.
fn group(page: &mut Page, source: &Source<'_>, path: &str, content: &Files<'_>) -> Result<Group, Refused> {
    let mut group = Group::default();
    let wrong = |place: &str, what: &str| source.refused(&format!("{place}: {what}"));
    if let Some((text, place)) = first(content, "cpu.weight", path) {
        let weight = text.parse().ok().filter(|weight| (1..=10_000).contains(weight));
        // 0 belongs to `cpu.idle`, which is noted.
        if text != "0" {
            let weight = weight.ok_or_else(|| wrong(&place, "a weight is 1 to 10,000"))?;
            group.weight = Some((weight, place));
        }
    } else if let Some((text, place)) = first(content, "cpu.weight.nice", path) {
        let weight = text.parse().ok().and_then(containers::nice_weight);
        let weight = weight.ok_or_else(|| wrong(&place, "a nice value is -20 to 19"))?;
        group.weight = Some((weight, format!("{place}: nice {text}")));
    }
    if let Some((text, place)) = first(content, "cpu.max", path) {
        let mut words = text.split_whitespace();
        let quota = words.next().unwrap_or("max");
        let period = words.next().map_or(Some(PERIOD_US), |word| word.parse().ok());
        let period = period.ok_or_else(|| wrong(&place, "the period is a whole number of us"))?;
        if quota != "max" {
            let quota = quota.parse().map_err(|_| wrong(&place, "the quota is `max` or a number of us"))?;
            let limit = containers::limit(page, &place, quota, period);
            group.limit = limit.map(|(quota, period)| (quota, period, place));
        }
    }
    if let Some((text, place)) = first(content, "cpu.max.burst", path) {
        let burst: u64 = text.parse().map_err(|_| wrong(&place, "the burst is a whole number of us"))?;
        match &group.limit {
            Some((quota, ..)) if burst > 0 && burst <= *quota => group.burst = Some((burst, place)),
            Some(_) if burst > 0 => page.notes.left_out(place, "a burst above the quota"),
            _ => {}
        }
    }
    for (file, neutral, what) in [
        ("cpu.idle", "0", "a group of SCHED_IDLE: it has its weight instead"),
        ("cpu.uclamp.min", "0.00", "utilization clamps: cpu frequencies do not follow them"),
        ("cpu.uclamp.max", "max", "utilization clamps: cpu frequencies do not follow them"),
        ("cpuset.mems", "", "the memory nodes of a group"),
        ("cpuset.cpus.partition", "member", "a partition: the load balancer keeps its domains"),
    ] {
        if let Some((text, place)) = first(content, file, path)
            && text != neutral
        {
            page.notes.left_out(place, what);
        }
    }
    Ok(group)
}

/// The cpus of a group: those in effect, else those that are set.
fn allowed(
    source: &Source<'_>,
    path: &str,
    content: &Files<'_>,
) -> Result<Option<(Vec<u32>, String)>, Refused> {
    for file in ["cpuset.cpus.effective", "cpuset.cpus"] {
        let Some((text, place)) = first(content, file, path) else { continue };
        let cpus = units::cpus(text, MOST_CORES - 1);
        let cpus = cpus.ok_or_else(|| source.refused(&format!("{place}: this is no list of cpus")))?;
        if !cpus.is_empty() {
            return Ok(Some((cpus, place)));
        }
    }
    Ok(None)
}

/// An application for each group that has processes; where no file says so, for each innermost group.
fn members(
    page: &mut Page,
    files: &BTreeMap<Vec<&str>, Files<'_>>,
    paths: &BTreeMap<Vec<&str>, String>,
    cpus: &BTreeMap<String, (Vec<u32>, String)>,
) -> Vec<Member> {
    let processes = |content: &Files<'_>| content.get("cgroup.procs").map_or(0, Vec::len);
    let known = files.values().any(|content| content.contains_key("cgroup.procs"));
    let innermost =
        |parts: &[&str]| !files.keys().any(|other| other.len() > parts.len() && other.starts_with(parts));
    let mut names = Names::default();
    let mut members = Vec::new();
    for (parts, content) in files {
        let path = &paths[parts];
        let threads = content.get("cgroup.threads").map_or(0, Vec::len).max(processes(content)) as u64;
        let runs = if known { threads > 0 } else { innermost(parts) };
        if !runs {
            if known && innermost(parts) && !path.is_empty() {
                page.notes.no_effect(path.clone(), "a group without processes");
            }
            continue;
        }
        if path.is_empty() {
            page.notes.left_out("the outermost group", format!("{threads} threads in no group"));
            continue;
        }
        let (tasks, origin) = if threads > 0 {
            (threads.min(MOST_TASKS), "cgroup.threads, cgroup.procs".to_owned())
        } else {
            (1, "assumed".to_owned())
        };
        // The cpus of the nearest group around it that has some.
        let around = (1..=parts.len()).rev().find_map(|depth| cpus.get(paths.get(&parts[..depth])?));
        members.push(Member {
            name: names.unique(&path.replace(['/', '.', '@', ':'], "-"), "group"),
            group: path.clone(),
            origin: page::at(first_line(content), path),
            cpus: around.cloned(),
            tasks: (tasks, origin),
        });
    }
    members
}

fn first_line(content: &Files<'_>) -> usize {
    content.values().flatten().map(|(line, _)| *line).min().unwrap_or(1)
}
