//! A pod from a file of Kubernetes: its limit, its request, and GOMAXPROCS in its environment.

use import::{Form, Options, Refused, Source};
use notation::diagnostics::{Diagnostic, Place, Sources};
use notation::number;
use notation::yaml::{self, Content, Node};

use super::{Procs, cpus, procs};

/// Kinds of objects with the path of their pod.
const KINDS: [(&str, &[&str]); 8] = [
    ("Pod", &["spec"]),
    ("Deployment", &["spec", "template", "spec"]),
    ("ReplicaSet", &["spec", "template", "spec"]),
    ("StatefulSet", &["spec", "template", "spec"]),
    ("ReplicationController", &["spec", "template", "spec"]),
    ("DaemonSet", &["spec", "template", "spec"]),
    ("Job", &["spec", "template", "spec"]),
    ("CronJob", &["spec", "jobTemplate", "spec", "template", "spec"]),
];

/// What a file says of a container.
#[derive(Clone, PartialEq, Debug)]
pub struct Read {
    /// Name of the object, with that of the container where there are several.
    pub name: String,
    /// Its limit, in thousandths of a cpu.
    pub limit: Option<u64>,
    /// Its request, in thousandths of a cpu.
    pub request: Option<u64>,
    /// GOMAXPROCS of its environment.
    pub procs: Option<Procs>,
    /// What the file leaves open or what is not looked at, as sentences.
    pub remarks: Vec<String>,
}

/// A container in a document of a file.
struct Found<'n> {
    pod: String,
    node: &'n Node,
}

impl Found<'_> {
    fn name(&self) -> &str {
        text(self.node, &["name"]).unwrap_or("container")
    }
}

/// Reads the container of this name, or the only one.
///
/// # Errors
/// The file is wrong, has no container or not this one, or several and none is named; with line and column
/// where there is one.
pub fn read(name: &str, source: &str, container: Option<&str>) -> Result<Read, Refused> {
    // The importer refuses what is no object of Kubernetes, and wrong quantities.
    let options = Options { form: Some(Form::Kubernetes), ..Options::named("pod") };
    import::import(&[Source { name, text: source }], &options)?;
    let mut begin = 0;
    let mut documents = Vec::new();
    for (at, line) in lines(source) {
        if line.trim_end() == "---" || line.starts_with("--- ") {
            documents.push(padded(source, begin, at));
            begin = at + line.len();
        }
    }
    documents.push(padded(source, begin, source.len()));
    let mut trees = Vec::new();
    for text in documents.iter().filter(|text| !yaml::is_blank(text)) {
        let tree = yaml::data_tree(0, text);
        trees.push(tree.map_err(|problem| Refused::Rendered(Sources::new(name, source).render(&[problem])))?);
    }
    let mut found = Vec::new();
    trees.iter().for_each(|tree| containers(tree, 4, &mut found));
    let chosen = chosen(name, &found, container)?;
    let wrong = |place: Place, message: String| {
        Refused::Rendered(Sources::new(name, source).render(&[Diagnostic::new(place, message)]))
    };
    let quantity = |list: &str| match get(chosen.node, &["resources", list, "cpu"]) {
        None => Ok(None),
        Some(node) => {
            let text = scalar(node).unwrap_or_default();
            let zero = text.trim_end_matches('m').parse() == Ok(0.0);
            match cpus(text) {
                Ok(milli) => Ok(Some(milli)),
                Err(_) if zero => Ok(None),
                Err(due) => Err(wrong(node.place, due)),
            }
        }
    };
    let (limit, request) = (quantity("limits")?, quantity("requests")?);
    let (variable, mut remarks) = gomaxprocs(chosen.node, &wrong)?;
    if found.len() > 1 {
        remarks.push(
            "the other containers of the file are left out: `--beside` states what they request".into(),
        );
    }
    let several = found.iter().filter(|one| one.pod == chosen.pod).count() > 1;
    let name = if several { format!("{}/{}", chosen.pod, chosen.name()) } else { chosen.pod.clone() };
    Ok(Read { name, limit, request: request.or(limit), procs: variable, remarks })
}

/// Lines with their line ends, each with its place.
fn lines(source: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    source.split_inclusive('\n').map(move |line| {
        at += line.len();
        (at - line.len(), line)
    })
}

/// A document with as many bytes before it as the file has, so that places are those of the file.
fn padded(source: &str, begin: usize, end: usize) -> String {
    let before = source.get(..begin).unwrap_or_default();
    let blank: String = before.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }).collect();
    // The blanks of the last line would indent the first key.
    blank + source.get(begin..end).unwrap_or_default()
}

/// The containers of an object, and of the members of a list.
fn containers<'n>(tree: &'n Node, depth: usize, found: &mut Vec<Found<'n>>) {
    let kind = text(tree, &["kind"]).unwrap_or_default();
    if kind.ends_with("List") && depth > 0 {
        items(get(tree, &["items"])).iter().for_each(|item| containers(item, depth - 1, found));
        return;
    }
    let Some((_, path)) = KINDS.iter().find(|(of, _)| *of == kind) else { return };
    let Some(spec) = get(tree, path) else { return };
    let pod = text(tree, &["metadata", "name"]).unwrap_or("pod").to_owned();
    found.extend(items(get(spec, &["containers"])).iter().map(|node| Found { pod: pod.clone(), node }));
}

fn chosen<'f, 'n>(
    name: &str,
    found: &'f [Found<'n>],
    container: Option<&str>,
) -> Result<&'f Found<'n>, Refused> {
    let names: Vec<&str> = found.iter().map(Found::name).collect();
    let sentence = |text: String| Refused::Sentence(format!("{name}: {text}"));
    match (container, found) {
        (Some(wanted), _) => found.iter().find(|one| one.name() == wanted).ok_or_else(|| {
            sentence(format!("no container is called `{wanted}`: there is {}", number::listed(&names)))
        }),
        (None, [only]) => Ok(only),
        (None, []) => Err(sentence("no object of it has containers".into())),
        (None, _) => Err(sentence(format!(
            "there are several containers: name one with --container ({})",
            names.join(", ")
        ))),
    }
}

/// GOMAXPROCS of a container's environment: a number, or its limit by reference (`resourceFieldRef`), which
/// Kubernetes rounds up to whole cpus.
fn gomaxprocs(
    container: &Node,
    wrong: &impl Fn(Place, String) -> Refused,
) -> Result<(Option<Procs>, Vec<String>), Refused> {
    let mut remarks = Vec::new();
    for variable in items(get(container, &["env"])) {
        if text(variable, &["name"]) != Some("GOMAXPROCS") {
            continue;
        }
        if let Some(node) = get(variable, &["value"]) {
            let count = scalar(node).map(procs);
            return match count {
                Some(Ok(count @ Procs::Count(_))) => Ok((Some(count), remarks)),
                _ => Err(wrong(node.place, "GOMAXPROCS is a number from 1 to 4096".into())),
            };
        }
        let by_limit = text(variable, &["valueFrom", "resourceFieldRef", "resource"]) == Some("limits.cpu");
        remarks.push(if by_limit {
            "GOMAXPROCS is the limit rounded up (resourceFieldRef), taken as at least 2".into()
        } else {
            "GOMAXPROCS comes from elsewhere: state it with --gomaxprocs".into()
        });
        return Ok((by_limit.then_some(Procs::Limit), remarks));
    }
    Ok((None, remarks))
}

/// The value of a path of keys.
fn get<'n>(node: &'n Node, path: &[&str]) -> Option<&'n Node> {
    path.iter().try_fold(node, |node, key| node.get(key).map(|entry| &entry.value))
}

fn scalar(node: &Node) -> Option<&str> {
    match &node.content {
        Content::Scalar(text) => Some(text),
        _ => None,
    }
}

fn text<'n>(node: &'n Node, path: &[&str]) -> Option<&'n str> {
    scalar(get(node, path)?)
}

fn items(node: Option<&Node>) -> &[Node] {
    match node.map(|node| &node.content) {
        Some(Content::List(items)) => items,
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POD: &str = "apiVersion: v1\nkind: Pod\nmetadata: { name: web }\nspec:\n  containers:\n  - \
     name: main\n    env: [{ name: GOMAXPROCS, value: \"3\" }]\n    resources: { limits: { cpu: 2 }, \
     requests: { cpu: 500m } }\n";

    #[test]
    fn a_pod_has_limit_request_and_gomaxprocs() {
        let read = read("pod.yaml", POD, None).unwrap();
        assert_eq!(read.name, "web");
        assert_eq!((read.limit, read.request), (Some(2_000), Some(500)));
        assert_eq!(read.procs, Some(Procs::Count(3)));
    }

    #[test]
    fn of_several_containers_one_is_named() {
        let two = format!("{POD}  - name: proxy\n    resources: {{ limits: {{ cpu: 100m }} }}\n");
        let Err(Refused::Sentence(why)) = read("p", &two, None) else { panic!("one is to be named") };
        assert!(why.contains("main, proxy"), "{why}");
        let proxy = read("p", &two, Some("proxy")).unwrap();
        assert_eq!((proxy.name.as_str(), proxy.limit, proxy.request), ("web/proxy", Some(100), Some(100)));
        assert!(read("p", &two, Some("none")).is_err());
    }

    #[test]
    fn a_wrong_value_is_refused_with_its_line() {
        let text = format!("kind: Service\nmetadata: {{ name: a }}\n---\n{}", POD.replace("\"3\"", "many"));
        let Err(Refused::Rendered(why)) = read("p.yaml", &text, None) else { panic!("not a number") };
        assert!(why.contains("p.yaml:10:"), "{why}");
        assert!(read("p.yaml", &POD.replace("cpu: 2", "cpu: two"), None).is_err());
        assert!(read("p.yaml", "kind: Pod\n", None).is_err());
    }
}
