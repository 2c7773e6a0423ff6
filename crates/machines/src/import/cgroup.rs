//! What the affinity of a process, its cpuset and its control groups leave it: cpus and NUMA nodes.

use std::collections::BTreeSet;
use std::path::Path;

use super::bitmap::Bitmap;
use super::found::{Found, words};
use super::sysfs_files::Files;

/// A hierarchy of control groups that has cpusets.
struct Hierarchy {
    /// Where it is mounted, without the first `/`.
    mount: String,
    /// The group of the process, as `/a/b`.
    group: String,
    /// Names of the files with the cpus and the nodes, the best one first.
    cpus: &'static [&'static str],
    mems: &'static [&'static str],
    /// Version 2: a group without the controller has what the one above has, and `cpu.max` limits time.
    second: bool,
}

/// Leaves out the cpus that this process, or the one of a captured tree, may not use, and the nodes that it
/// gets no memory from.
pub(super) fn apply(files: &Files, captured: bool, found: &mut Found) -> Result<(), String> {
    let status = files.text("proc/self/status").unwrap_or_default();
    let line = |key: &str| status.lines().find_map(|line| line.strip_prefix(key));
    let mut known = false;
    if let Some(list) = line("Cpus_allowed_list:") {
        let allowed = files.parse("proc/self/status", list)?;
        keep(found, &allowed, "the affinity mask forbids them");
        known = true;
    }
    if let Some(list) = line("Mems_allowed_list:") {
        let allowed = files.parse("proc/self/status", list)?;
        nodes(found, &allowed, "Mems_allowed_list");
    }
    let mut named = None;
    for hierarchy in hierarchies(files) {
        if hierarchy.group != "/" {
            named = named.or(Some(hierarchy.group.clone()));
        }
        known |= hierarchy.group == "/";
        if limits(files, &hierarchy, found)? {
            known = true;
            named = None;
            break;
        }
    }
    match named {
        Some(group) if captured => found.remark(format_args!(
            "the control group {} of the captured tree is not applied: its cpuset files are not in the copy",
            words(&group)
        )),
        None if captured && !known => found.remark(
            "no affinity mask and no control group is in the captured tree: all cpus that are online are \
             imported",
        ),
        _ => {}
    }
    Ok(())
}

/// The hierarchies that can have the cpuset of the process. Without a list of mounts, the usual one of
/// version 2.
fn hierarchies(files: &Files) -> Vec<Hierarchy> {
    let groups = files.text("proc/self/cgroup").unwrap_or_default();
    let of = |controller: &str| {
        let mut lines = groups.lines().map(|line| line.splitn(3, ':').collect::<Vec<_>>());
        lines.find_map(|line| match line.as_slice() {
            [_, all, path] if all.split(',').any(|one| one == controller) => Some((*path).to_owned()),
            _ => None,
        })
    };
    let cpuset = files.text("proc/self/cpuset").map(|path| path.trim().to_owned());
    let cpuset = cpuset.filter(|path| path.starts_with('/'));
    let (first, second) = (of("cpuset").or_else(|| cpuset.clone()), of("").or(cpuset));
    let mounts = files.text("proc/mounts").unwrap_or_default();
    let mut all = Vec::new();
    for line in mounts.lines() {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [_, mount, kind, options, ..] = fields.as_slice() else { continue };
        let has = |option: &str| options.split(',').any(|other| other == option);
        let bare = *kind == "cpuset" || has("noprefix");
        let old = *kind == "cpuset" || *kind == "cgroup" && has("cpuset");
        let group = if old { first.clone() } else { second.clone().filter(|_| *kind == "cgroup2") };
        let Some(group) = group else { continue };
        let (cpus, mems): (&[_], &[_]) = match (old, bare) {
            (true, true) => (&["effective_cpus", "cpus"], &["effective_mems", "mems"]),
            (true, false) => {
                (&["cpuset.effective_cpus", "cpuset.cpus"], &["cpuset.effective_mems", "cpuset.mems"])
            }
            (false, _) => (&["cpuset.cpus.effective"], &["cpuset.mems.effective"]),
        };
        all.push(Hierarchy { mount: folder("", mount), group, cpus, mems, second: !old });
    }
    if let Some(group) = second.filter(|_| mounts.is_empty()) {
        let (cpus, mems) = (&["cpuset.cpus.effective"], &["cpuset.mems.effective"]);
        all.push(Hierarchy { mount: "sys/fs/cgroup".into(), group, cpus, mems, second: true });
    }
    // A controller is in one hierarchy only: version 1 first.
    all.sort_by_key(|hierarchy| hierarchy.second);
    all
}

/// A path below another one, without `.` and `..`.
fn folder(below: &str, path: &str) -> String {
    let parts = path.split('/').filter(|part| !part.is_empty() && *part != "." && *part != "..");
    parts.fold(
        below.to_owned(),
        |folder, part| {
            if folder.is_empty() { part.to_owned() } else { format!("{folder}/{part}") }
        },
    )
}

/// Applies the cpuset of the group, or of the nearest one above that has the files; true if there is one.
fn limits(files: &Files, hierarchy: &Hierarchy, found: &mut Found) -> Result<bool, String> {
    let mut group = Path::new(&hierarchy.group);
    loop {
        let folder = folder(&hierarchy.mount, &group.to_string_lossy());
        if hierarchy.second {
            quota(files, &folder, found);
        }
        let set = |names: &[&str]| -> Result<_, String> {
            for name in names {
                if let Some(set) = files.set(&format!("{folder}/{name}"))? {
                    return Ok(Some((set, format!("{folder}/{name}"))));
                }
            }
            Ok(None)
        };
        let (cpus, mems) = (set(hierarchy.cpus)?, set(hierarchy.mems)?);
        let any = cpus.is_some() || mems.is_some();
        if let Some((cpus, file)) = cpus {
            let name = file.rsplit('/').next().unwrap_or_default();
            keep(found, &cpus, &format!("the cgroup forbids them ({name})"));
        }
        if let Some((mems, file)) = mems {
            nodes(found, &mems, file.rsplit('/').next().unwrap_or_default());
        }
        let Some(above) = group.parent().filter(|_| !any) else { return Ok(any) };
        group = above;
    }
}

/// Remarks on a limit of cpu time.
fn quota(files: &Files, folder: &str, found: &mut Found) {
    let Some(quota) = files.text(&format!("{folder}/cpu.max")) else { return };
    let mut words = quota.split_whitespace().map(str::parse::<f64>);
    if let (Some(Ok(time)), Some(Ok(period))) = (words.next(), words.next()) {
        let cpus = time / period;
        found.remark(format_args!(
            "the limit of {cpus:.1} cpus of {folder}/cpu.max is no part of a machine: a scenario has it as \
             `cgroups: {{ NAME: {{ quota: {time}us, period: {period}us }} }}`"
        ));
    }
}

/// An empty set is that of a tree without its processes.
fn keep(found: &mut Found, allowed: &Bitmap, why: &str) {
    if !allowed.is_empty() {
        found.keep(|number| allowed.contains(number), why);
    }
}

/// Takes the nodes that the process gets no memory from.
fn nodes(found: &mut Found, allowed: &Bitmap, file: &str) {
    if allowed.is_empty() {
        return;
    }
    let all = (0..).zip(&found.nodes);
    let lacking: BTreeSet<u32> =
        all.filter(|(_, node)| !allowed.contains(node.number)).map(|(at, _)| at).collect();
    found.without_memory(&lacking, &format!("programs get no memory from it ({file})"));
}
