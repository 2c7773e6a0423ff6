//! Objects of Kubernetes: the limits and requests of pods as the control groups and affinities that the
//! kubelet and the runtime set.

use std::collections::BTreeMap;

use notation::diagnostics::{Place, Sources};
use notation::yaml::{self, Content, Node};

use crate::containers::{self, Group, LEAST_QUOTA_US, Member, PERIOD_US};
use crate::page::{self, Names, Page};
use crate::{Form, Imported, Options, Refused, Source};

/// Most bytes of a file.
const MAX_BYTES: usize = 4 << 20;
/// Most documents of a file.
const MAX_DOCUMENTS: usize = 500;
/// Most containers with all copies.
const MOST_CONTAINERS: usize = 400;
/// Most members of a list inside lists.
const MAX_DEPTH: usize = 4;
/// Cpus that the kubelet keeps for the system with its cpu manager policy `static`, which needs at least one.
const RESERVED: u32 = 1;

/// What a container asks for, in thousandths of a cpu; zero is as absent.
struct Container {
    name: String,
    place: String,
    request: Option<u64>,
    limit: Option<u64>,
    /// Memory of the request and the limit, in thousandths of a byte.
    memory: (Option<u128>, Option<u128>),
}

/// A pod, as often as there are copies.
struct Pod {
    name: String,
    place: String,
    copies: u64,
    containers: Vec<Container>,
    /// Containers that have ended before these start; their requests count.
    first: Vec<Container>,
    class: Class,
}

impl Pod {
    /// The request of the pod: that of all containers, or of the largest one before them.
    fn request(&self) -> u64 {
        let sum = self.containers.iter().filter_map(|c| c.request).fold(0, u64::saturating_add);
        self.first.iter().filter_map(|c| c.request).fold(sum, u64::max)
    }

    /// The limit of the pod, by the same rule; none unless every container has one.
    fn limit(&self) -> Option<u64> {
        let mut limit = 0_u64;
        for container in &self.containers {
            limit = limit.saturating_add(container.limit?);
        }
        for container in &self.first {
            limit = limit.max(container.limit?);
        }
        Some(limit)
    }
}

/// Quality of service, as the kubelet derives it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Class {
    Guaranteed,
    Burstable,
    BestEffort,
}

impl Class {
    /// The group in which the pods of the class are.
    const fn group(self) -> &'static str {
        match self {
            Self::Guaranteed => "kubepods",
            Self::Burstable => "kubepods/burstable",
            Self::BestEffort => "kubepods/besteffort",
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Guaranteed => "Guaranteed",
            Self::Burstable => "Burstable",
            Self::BestEffort => "BestEffort",
        }
    }
}

/// Reads one document.
struct Reader<'s, 'p> {
    /// The file.
    source: Source<'s>,
    /// Where the document begins in it.
    begin: usize,
    /// Where the lines of the file end.
    ends: &'p [usize],
    page: &'p mut Page,
    pods: Vec<Pod>,
}

/// Imports pods, what makes pods, and lists of them.
pub(crate) fn import(source: Source<'_>, options: &Options) -> Result<Imported, Refused> {
    if source.text.len() > MAX_BYTES {
        return Err(source.refused("more than 4 MiB of objects"));
    }
    let mut page = Page::new();
    let mut pods = Vec::new();
    let ends: Vec<usize> = source.text.match_indices('\n').map(|(at, _)| at).collect();
    for (begin, text) in documents(&source)? {
        if yaml::is_blank(text) {
            continue;
        }
        let root = yaml::data_tree(0, text).map_err(|_| broken(&source, begin, text))?;
        let mut reader = Reader { source, begin, ends: &ends, page: &mut page, pods: Vec::new() };
        reader.object(&root, 0)?;
        pods.append(&mut reader.pods);
    }
    let all = pods.iter().map(|pod| pod.copies.saturating_mul(pod.containers.len() as u64));
    let count = all.fold(0, u64::saturating_add);
    if count == 0 {
        return Err(source.refused("no object of it has containers"));
    }
    if count > MOST_CONTAINERS as u64 {
        return Err(source.refused(&format!("{count} containers; at most {MOST_CONTAINERS} are imported")));
    }
    let cpus = page::cpus(options, 1)?;
    let (groups, members) = groups(&mut page, &pods, options, cpus);
    page.head(options, 1);
    containers::write(&mut page, options, &groups, &members);
    Ok(page.done(Form::Kubernetes, source.name, options))
}

/// The documents of a file, each with the byte at which it begins.
fn documents<'t>(source: &Source<'t>) -> Result<Vec<(usize, &'t str)>, Refused> {
    let text = source.text;
    let mut documents = Vec::new();
    let (mut begin, mut at) = (0, 0);
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim_end();
        if trimmed == "---" || trimmed.starts_with("--- ") {
            documents.push((begin, &text[begin..at]));
            if documents.len() == MAX_DOCUMENTS {
                return Err(source.wrong(at, format!("more than {MAX_DOCUMENTS} documents")));
            }
            begin = at + line.len();
        }
        at += line.len();
    }
    documents.push((begin, &text[begin..]));
    Ok(documents)
}

/// What is wrong with a document, with its line in the file.
fn broken(source: &Source<'_>, begin: usize, text: &str) -> Refused {
    let whole = "\n".repeat(source.line(begin) - 1) + text;
    match yaml::data_tree(0, &whole) {
        Err(problem) => Refused::Rendered(Sources::new(source.name, &whole).render(&[problem])),
        Ok(_) => source.wrong(begin, "a document that cannot be read"),
    }
}

/// True when there is a list of containers in a node.
fn has_containers(node: &Node, depth: usize) -> bool {
    match &node.content {
        Content::Map(entries) => entries.iter().any(|entry| {
            let list = matches!(&entry.value.content, Content::List(items) if !items.is_empty());
            (entry.key == "containers" && list) || depth > 0 && has_containers(&entry.value, depth - 1)
        }),
        Content::List(items) => depth > 0 && items.iter().any(|item| has_containers(item, depth - 1)),
        _ => false,
    }
}

/// The value of a path of keys.
fn find<'n>(node: &'n Node, path: &[&str]) -> Option<&'n Node> {
    path.iter().try_fold(node, |node, key| node.get(key).map(|entry| &entry.value))
}

fn text<'n>(node: &'n Node, path: &[&str]) -> Option<&'n str> {
    match &find(node, path)?.content {
        Content::Scalar(text) => Some(text),
        _ => None,
    }
}

fn items(node: Option<&Node>) -> &[Node] {
    match node.map(|node| &node.content) {
        Some(Content::List(items)) => items,
        _ => &[],
    }
}

impl Reader<'_, '_> {
    /// The line of a place, in the file.
    fn place(&self, place: Place, path: &str) -> String {
        let at = self.begin.saturating_add(place.start);
        page::at(self.ends.partition_point(|end| *end < at) + 1, path)
    }

    fn wrong(&self, place: Place, message: impl Into<String>) -> Refused {
        self.source.wrong(self.begin.saturating_add(place.start), message)
    }

    fn object(&mut self, root: &Node, depth: usize) -> Result<(), Refused> {
        let kind = text(root, &["kind"]).unwrap_or_default();
        let name = text(root, &["metadata", "name"])
            .or_else(|| text(root, &["metadata", "generateName"]))
            .unwrap_or("pod");
        let path = format!("{kind} {name}");
        let list = find(root, &["items"]).filter(|_| kind.ends_with("List"));
        if let Some(list) = list.filter(|list| matches!(list.content, Content::List(_))) {
            if depth >= MAX_DEPTH {
                return Err(self.wrong(root.place, format!("more than {MAX_DEPTH} lists inside lists")));
            }
            return items(Some(list)).iter().try_for_each(|item| self.object(item, depth + 1));
        }
        let (spec, copies): (&[&str], u64) = match kind {
            "Pod" => (&["spec"], 1),
            "Deployment" | "ReplicaSet" | "StatefulSet" | "ReplicationController" => {
                (&["spec", "template", "spec"], self.number(root, &["spec", "replicas"])?.unwrap_or(1))
            }
            "Job" => (&["spec", "template", "spec"], self.job(root, &["spec"], &path)?),
            "DaemonSet" => (&["spec", "template", "spec"], 1),
            "CronJob" => {
                let place = self.place(root.place, &format!("{path}: schedule"));
                self.page.notes.left_out(place, "when its jobs start: one starts at once");
                let copies = self.job(root, &["spec", "jobTemplate", "spec"], &path)?;
                (&["spec", "jobTemplate", "spec", "template", "spec"], copies)
            }
            _ => {
                let place = self.place(root.place, &path);
                if has_containers(root, 16) {
                    self.page.notes.left_out(place, "an object with containers, of a kind that is not known");
                } else {
                    self.page.notes.no_effect(place, "an object without containers");
                }
                return Ok(());
            }
        };
        let Some(pod) = find(root, spec) else {
            return Err(self.wrong(root.place, format!("{path} has no `{}`", spec.join("."))));
        };
        self.pod(pod, (name, &path), copies)
    }

    /// A whole number at a path, if there is one.
    fn number(&self, root: &Node, path: &[&str]) -> Result<Option<u64>, Refused> {
        let Some(node) = find(root, path) else { return Ok(None) };
        let number = if let Content::Scalar(text) = &node.content { text.parse().ok() } else { None };
        let name = path.last().copied().unwrap_or_default();
        number.map(Some).ok_or_else(|| self.wrong(node.place, format!("`{name}` is a whole number")))
    }

    /// The pods of a job that run at a time.
    fn job(&mut self, root: &Node, spec: &[&str], path: &str) -> Result<u64, Refused> {
        let parallelism = self.number(root, &[spec, &["parallelism"]].concat())?.unwrap_or(1);
        let Some(completions) = self.number(root, &[spec, &["completions"]].concat())? else {
            return Ok(parallelism);
        };
        if completions > parallelism {
            let place = self.place(root.place, &format!("{path}: completions"));
            self.page.notes.left_out(place, "pods that start when others of the job have ended");
        }
        Ok(parallelism.min(completions))
    }

    fn pod(&mut self, spec: &Node, (name, path): (&str, &str), copies: u64) -> Result<(), Refused> {
        let (mut containers, mut before) = (Vec::new(), Vec::new());
        for (key, first) in [("initContainers", true), ("containers", false)] {
            for node in items(find(spec, &[key])) {
                let container = self.container(node, path, key)?;
                let stays = text(node, &["restartPolicy"]) == Some("Always");
                if first && !stays {
                    let what = "a container that runs before the others start; its requests count";
                    self.page.notes.left_out(container.place.clone(), what);
                    before.push(container);
                } else {
                    containers.push(container);
                }
            }
        }
        for (key, what) in [
            ("resources", "limits of the pod as a whole"),
            ("overhead", "what the runtime of a pod takes beside its containers"),
        ] {
            if find(spec, &[key]).is_some() {
                let place = self.place(spec.place, &format!("{path}: {key}"));
                self.page.notes.left_out(place, what);
            }
        }
        let place = self.place(spec.place, path);
        if containers.is_empty() || copies == 0 {
            self.page.notes.no_effect(place, "no container of it runs");
            return Ok(());
        }
        let class = class(&containers, &before);
        self.pods.push(Pod { name: name.to_owned(), place, copies, containers, first: before, class });
        Ok(())
    }

    fn container(&mut self, node: &Node, path: &str, key: &str) -> Result<Container, Refused> {
        let name = text(node, &["name"]).unwrap_or("container");
        let place = self.place(node.place, &format!("{path}: {key} {name}"));
        let cpu = "a number of cpus is due here, as `1.5` or `250m`";
        let most = self.quantity(node, ["limits", "cpu"], containers::milli, cpu)?;
        let asked = self.quantity(node, ["requests", "cpu"], containers::milli, cpu)?;
        let memory = "an amount of memory is due here, as `512Mi` or `1e9`";
        let most_memory = self.quantity(node, ["limits", "memory"], bytes, memory)?;
        let asked_memory = self.quantity(node, ["requests", "memory"], bytes, memory)?;
        if most_memory.is_some() || asked_memory.is_some() {
            self.page.notes.left_out(place.clone(), "memory: nothing runs out of memory here");
        }
        for list in ["limits", "requests"] {
            let Some(Content::Map(entries)) = find(node, &["resources", list]).map(|node| &node.content)
            else {
                continue;
            };
            for entry in entries.iter().filter(|entry| !matches!(entry.key.as_str(), "cpu" | "memory")) {
                let shown: String = entry.key.chars().take(60).collect();
                let at = self.place(entry.place, &format!("{path}: {key} {name}"));
                self.page.notes.left_out(at, format!("`{shown}`: a resource that a scenario does not have"));
            }
        }
        Ok(Container {
            name: name.to_owned(),
            place,
            // Without a request the limit is the request.
            request: asked.or(most).filter(|milli| *milli > 0),
            limit: most.filter(|milli| *milli > 0),
            memory: (
                asked_memory.or(most_memory).filter(|bytes| *bytes > 0),
                most_memory.filter(|bytes| *bytes > 0),
            ),
        })
    }

    /// A quantity of a container's resources, if it is stated.
    fn quantity<T>(
        &self,
        node: &Node,
        [list, name]: [&str; 2],
        read: impl Fn(&str) -> Option<T>,
        message: &str,
    ) -> Result<Option<T>, Refused> {
        let Some(found) = find(node, &["resources", list, name]) else { return Ok(None) };
        let value = if let Content::Scalar(text) = &found.content { read(text) } else { None };
        value.map(Some).ok_or_else(|| self.wrong(found.place, message))
    }
}

/// A quantity of Kubernetes as thousandths of a byte, rounded up: `1Gi`, `1.5G`, `500m`, `129e6`.
fn bytes(text: &str) -> Option<u128> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let digits = format!("{whole}{part}");
    if digits.len() > 20 {
        return None;
    }
    let digits: u128 = digits.parse().ok()?;
    let binary = |power: u32| 1_000_u128 << (10 * power);
    let scale = match unit {
        "m" => 1,
        "" => 1_000,
        "k" => 1_000_000,
        "M" => 1_000_000_000,
        "G" => 1_000_000_000_000,
        "T" => 1_000_000_000_000_000,
        "P" => 1_000_000_000_000_000_000,
        "E" => 1_000_000_000_000_000_000_000,
        "Ki" => binary(1),
        "Mi" => binary(2),
        "Gi" => binary(3),
        "Ti" => binary(4),
        "Pi" => binary(5),
        "Ei" => binary(6),
        _ => {
            let power = unit.strip_prefix(['e', 'E'])?;
            let power = power.parse::<u32>().ok().filter(|power| *power <= 18)?;
            1_000 * 10_u128.checked_pow(power)?
        }
    };
    let parts = 10_u128.checked_pow(u32::try_from(part.len()).ok()?)?;
    Some(digits.checked_mul(scale)?.div_ceil(parts))
}

/// As `GetPodQOS` of the kubelet: Guaranteed when all containers have limits of cpu and memory that equal
/// their requests, BestEffort when none has any. Those that run before the others count.
fn class(containers: &[Container], first: &[Container]) -> Class {
    let whole = |c: &Container| {
        c.limit.is_some() && c.limit == c.request && c.memory.1.is_some() && c.memory.0 == c.memory.1
    };
    let nothing = |c: &Container| c.limit.is_none() && c.request.is_none() && c.memory == (None, None);
    let mut all = containers.iter().chain(first);
    if all.clone().all(whole) {
        Class::Guaranteed
    } else if all.all(nothing) {
        Class::BestEffort
    } else {
        Class::Burstable
    }
}

/// The weight of a request, with its origin.
fn weight(options: &Options, milli: u64, what: &str) -> (u64, String) {
    let (formula, shares) = (options.formula, containers::shares(milli));
    (formula.weight(shares), format!("{what}: {milli}m, {shares} shares, by {}", formula.words()))
}

/// The groups that the kubelet makes, and an application for each container.
fn groups(
    page: &mut Page,
    pods: &[Pod],
    options: &Options,
    cpus: u32,
) -> (BTreeMap<String, Group>, Vec<Member>) {
    let words = options.formula.words();
    page.notes.assumed("", format!("shares become weights by {words} (`--weights`)"));
    let weight = |milli: u64, what: &str| weight(options, milli, what);
    let mut groups: BTreeMap<String, Group> = BTreeMap::new();
    let mut burstable = 0_u64;
    let (mut members, mut names) = (Vec::new(), Names::default());
    let mut free = RESERVED;
    for pod in pods {
        let request = pod.request();
        if pod.class == Class::Burstable {
            burstable = burstable.saturating_add(request.saturating_mul(pod.copies));
        }
        for copy in 1..=pod.copies {
            let name = if pod.copies == 1 { pod.name.clone() } else { format!("{}-{copy}", pod.name) };
            let path = format!("{}/{}", pod.class.group(), names.unique(&format!("pod-{name}"), "pod"));
            let origin = format!("{}, {}", pod.place, pod.class.name());
            let mut group = Group { weight: Some(weight(request, &origin)), ..Group::default() };
            if let Some(limit) = pod.limit() {
                let quota = containers::quota(limit, PERIOD_US);
                let limit = containers::limit(page, &pod.place, quota, PERIOD_US);
                group.limit = limit.map(|(quota, period)| (quota, period, format!("{}: limits", pod.place)));
            }
            groups.insert(path.clone(), group);
            for container in &pod.containers {
                let inner = format!("{path}/{}", page::word(&container.name, "container"));
                let mut member = Member {
                    name: names.unique(&format!("{name}-{}", container.name), "container"),
                    group: inner.clone(),
                    origin: container.place.clone(),
                    cpus: None,
                    tasks: (tasks(container), "assumed: one for each cpu of its limit".into()),
                };
                let alone = exclusive(page, pod, container, options, (&mut free, cpus));
                let own = weight(container.request.unwrap_or(0), &container.place);
                let mut group = Group { weight: Some(own), ..Group::default() };
                if let (Some(limit), None) = (container.limit, &alone) {
                    let quota = containers::quota(limit, PERIOD_US);
                    let origin = format!("{}: limit {limit}m, at least {LEAST_QUOTA_US} us", container.place);
                    let limit = containers::limit(page, &container.place, quota, PERIOD_US);
                    group.limit = limit.map(|(quota, period)| (quota, period, origin));
                }
                member.cpus = alone.map(|cpus| (cpus, format!("{}: exclusive cpus", container.place)));
                groups.insert(inner, group);
                members.push(member);
            }
            // The kubelet sets no quota around exclusive cpus (DisableCPUQuotaWithExclusiveCPUs).
            let alone = |m: &Member| m.cpus.is_some() && m.group.starts_with(&format!("{path}/"));
            if members.iter().any(alone)
                && let Some(group) = groups.get_mut(&path)
            {
                group.limit = None;
            }
        }
    }
    let burst =
        Group { weight: Some(weight(burstable, "the requests of burstable pods")), ..Group::default() };
    groups.insert(Class::Burstable.group().into(), burst);
    let best = Group { weight: Some(weight(0, "best effort")), ..Group::default() };
    groups.insert(Class::BestEffort.group().into(), best);
    share(options, &mut members, (free, cpus));
    (groups, members)
}

/// The cpus that the containers without own cpus share, with the cpu manager policy `static`.
fn share(options: &Options, members: &mut [Member], (free, cpus): (u32, u32)) {
    if !options.exclusive || free == RESERVED {
        return;
    }
    let shared: Vec<u32> = (0..RESERVED).chain(free..cpus).collect();
    for member in members.iter_mut().filter(|member| member.cpus.is_none()) {
        member.cpus = Some((shared.clone(), "the shared pool of the cpu manager".into()));
    }
}

/// Tasks of the placeholder: one for each cpu of its limit, else of its request.
fn tasks(container: &Container) -> u64 {
    container.limit.or(container.request).unwrap_or(1_000).div_ceil(1_000).clamp(1, 1_024)
}

/// The cpus of a container alone: of Guaranteed pods that ask for whole cpus.
fn exclusive(
    page: &mut Page,
    pod: &Pod,
    container: &Container,
    options: &Options,
    (free, cpus): (&mut u32, u32),
) -> Option<Vec<u32>> {
    let milli = container.request.filter(|milli| milli.is_multiple_of(1_000) && *milli > 0)?;
    if !options.exclusive || pod.class != Class::Guaranteed {
        return None;
    }
    let wanted = u32::try_from(milli / 1_000).ok()?;
    let last = free.checked_add(wanted).filter(|last| *last <= cpus);
    let Some(last) = last else {
        page.notes.left_out(container.place.clone(), "exclusive cpus: the machine has too few left");
        return None;
    };
    let own = (*free..last).collect();
    *free = last;
    Some(own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_of_memory_are_compared_by_their_amount() {
        assert_eq!(bytes("1Gi"), bytes("1073741824"));
        assert_eq!(bytes("1.5G"), bytes("1500M"));
        assert_eq!([bytes("129e6"), bytes("1E3")], [Some(129_000_000_000), Some(1_000_000)]);
        assert_eq!([bytes("1E"), bytes("500m")], [bytes("1000P"), Some(500)]);
        assert!(["", "x", "-1", "1.2.3", "1e99", "Gi", "1gb"].iter().all(|text| bytes(text).is_none()));
    }
}
