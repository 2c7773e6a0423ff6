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

/// What a container asks for, in thousandths of a cpu.
struct Container {
    name: String,
    place: String,
    request: Option<u64>,
    limit: Option<u64>,
    /// Its memory is stated, with the same request and limit.
    memory: bool,
    starts_first: bool,
}

/// A pod, as often as there are copies.
struct Pod {
    name: String,
    place: String,
    copies: u64,
    containers: Vec<Container>,
    class: Class,
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
    source: Source<'s>,
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
    for text in documents(source.text) {
        if yaml::is_blank(&text) {
            continue;
        }
        let document = Source { name: source.name, text: &text };
        let root = yaml::data_tree(0, &text)
            .map_err(|problem| Refused::Rendered(Sources::new(source.name, &text).render(&[problem])))?;
        let mut reader = Reader { source: document, page: &mut page, pods: Vec::new() };
        reader.object(&root, 0)?;
        pods.append(&mut reader.pods);
    }
    let count: u64 = pods.iter().map(|pod| pod.copies.saturating_mul(pod.containers.len() as u64)).sum();
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

/// The documents of a file, each with empty lines in place of those before it, so that lines keep their
/// number.
fn documents(text: &str) -> Vec<String> {
    let mut documents = vec![String::new()];
    for (lines, line) in text.split_inclusive('\n').enumerate() {
        let trimmed = line.trim_end();
        if trimmed == "---" || trimmed.starts_with("--- ") {
            if documents.len() == MAX_DOCUMENTS {
                break;
            }
            documents.push("\n".repeat(lines + 1));
        } else if let Some(last) = documents.last_mut() {
            last.push_str(line);
        }
    }
    documents
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
    fn place(&self, place: Place, path: &str) -> String {
        page::at(self.source.line(place.start), path)
    }

    fn object(&mut self, root: &Node, depth: usize) -> Result<(), Refused> {
        let kind = text(root, &["kind"]).unwrap_or_default();
        let name = text(root, &["metadata", "name"])
            .or_else(|| text(root, &["metadata", "generateName"]))
            .unwrap_or("pod");
        let path = format!("{kind} {name}");
        let number = |path: &[&str]| text(root, path).map_or(Some(1), |text| text.parse::<u64>().ok());
        let (spec, copies): (&[&str], _) = match kind {
            "List" | "PodList" | "DeploymentList" if depth < MAX_DEPTH => {
                for item in items(find(root, &["items"])) {
                    self.object(item, depth + 1)?;
                }
                return Ok(());
            }
            "Pod" => (&["spec"], Some(1)),
            "Deployment" | "ReplicaSet" | "StatefulSet" | "ReplicationController" => {
                (&["spec", "template", "spec"], number(&["spec", "replicas"]))
            }
            "Job" => (&["spec", "template", "spec"], number(&["spec", "parallelism"])),
            "DaemonSet" => (&["spec", "template", "spec"], Some(1)),
            "CronJob" => (&["spec", "jobTemplate", "spec", "template", "spec"], Some(1)),
            _ => {
                let place = self.place(root.place, &path);
                self.page.notes.no_effect(place, "an object without containers");
                return Ok(());
            }
        };
        let Some(copies) = copies else {
            return Err(self.source.wrong(root.place.start, "`replicas` is a whole number"));
        };
        let Some(pod) = find(root, spec) else {
            return Err(self.source.wrong(root.place.start, format!("{path} has no `{}`", spec.join("."))));
        };
        self.pod(pod, (name, &path), copies)
    }

    fn pod(&mut self, spec: &Node, (name, path): (&str, &str), copies: u64) -> Result<(), Refused> {
        let mut containers = Vec::new();
        for (key, first) in [("initContainers", true), ("containers", false)] {
            for node in items(find(spec, &[key])) {
                let container = self.container(node, path, key, first)?;
                let stays = text(node, &["restartPolicy"]) == Some("Always");
                if first && !stays {
                    let what = "a container that runs before the others start";
                    self.page.notes.left_out(container.place, what);
                } else {
                    containers.push(container);
                }
            }
        }
        if find(spec, &["resources"]).is_some() {
            let place = self.place(spec.place, &format!("{path}: resources"));
            self.page.notes.left_out(place, "limits of the pod as a whole");
        }
        let class = class(&containers);
        let place = self.place(spec.place, path);
        self.pods.push(Pod { name: name.to_owned(), place, copies, containers, class });
        Ok(())
    }

    fn container(&mut self, node: &Node, path: &str, key: &str, first: bool) -> Result<Container, Refused> {
        let name = text(node, &["name"]).unwrap_or("container");
        let place = self.place(node.place, &format!("{path}: {key} {name}"));
        let cpu = |list: &str| match find(node, &["resources", list, "cpu"]) {
            None => Ok(None),
            Some(found) => {
                let read =
                    if let Content::Scalar(text) = &found.content { containers::milli(text) } else { None };
                read.map(Some).ok_or_else(|| {
                    let message = "a number of cpus is due here, as `1.5` or `250m`";
                    self.source.wrong(found.place.start, message)
                })
            }
        };
        let (limit, request) = (cpu("limits")?, cpu("requests")?);
        let memory = |list: &str| text(node, &["resources", list, "memory"]);
        let (most, asked) = (memory("limits"), memory("requests"));
        if most.is_some() || asked.is_some() {
            self.page.notes.left_out(place.clone(), "memory: nothing runs out of memory here");
        }
        Ok(Container {
            name: name.to_owned(),
            place,
            // Without a request the limit is the request.
            request: request.or(limit),
            limit,
            memory: most.is_some() && asked.is_none_or(|asked| Some(asked) == most),
            starts_first: first,
        })
    }
}

/// As `GetPodQOS` of the kubelet: all containers have limits of cpu and memory that equal their requests, or
/// none has any.
fn class(containers: &[Container]) -> Class {
    let whole = |c: &Container| c.memory && c.limit.is_some_and(|limit| limit > 0) && c.limit == c.request;
    let nothing = |c: &Container| c.limit.is_none() && c.request.is_none() && !c.memory;
    if containers.iter().all(whole) {
        Class::Guaranteed
    } else if containers.iter().all(nothing) {
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
        let request: u64 = pod.containers.iter().filter_map(|c| c.request).sum();
        if pod.class == Class::Burstable {
            burstable = burstable.saturating_add(request.saturating_mul(pod.copies));
        }
        for copy in 1..=pod.copies {
            let name = if pod.copies == 1 { pod.name.clone() } else { format!("{}-{copy}", pod.name) };
            let path = format!("{}/{}", pod.class.group(), names.unique(&format!("pod-{name}"), "pod"));
            let origin = format!("{}, {}", pod.place, pod.class.name());
            let mut group = Group { weight: Some(weight(request, &origin)), ..Group::default() };
            if let Some(limit) = all(pod.containers.iter().map(|c| c.limit)) {
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
                if let (Some(limit), None) = (container.limit.filter(|limit| *limit > 0), &alone) {
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

/// The sum, where every container has a limit.
fn all(limits: impl Iterator<Item = Option<u64>>) -> Option<u64> {
    limits.sum::<Option<u64>>().filter(|sum| *sum > 0)
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
    if !options.exclusive || pod.class != Class::Guaranteed || container.starts_first {
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
