//! The forms of files that are imported, and how each is recognised.

use notation::number::listed;

use crate::ostep;

/// A form of file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Form {
    /// JSON of rt-app: `tasks` with events.
    RtApp,
    /// Standard Workload Format: a job log, 18 numbers in a line.
    Swf,
    /// A workload of Batsim: JSON with `jobs` and `profiles`.
    Batsim,
    /// Objects of Kubernetes: YAML or JSON with `apiVersion` and `kind`.
    Kubernetes,
    /// `docker run` lines or a compose file.
    Docker,
    /// Files of cgroup v2 with their paths, as `grep . -r` prints them.
    Cgroup,
    /// Job lists of the homework of Operating Systems: Three Easy Pieces.
    Ostep,
}

/// All forms, in the order of recognition.
pub const FORMS: [Form; 7] =
    [Form::Batsim, Form::RtApp, Form::Swf, Form::Kubernetes, Form::Docker, Form::Cgroup, Form::Ostep];

impl Form {
    /// Its name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::RtApp => "rt-app",
            Self::Swf => "swf",
            Self::Batsim => "batsim",
            Self::Kubernetes => "kubernetes",
            Self::Docker => "docker",
            Self::Cgroup => "cgroup",
            Self::Ostep => "ostep",
        }
    }

    /// Its name in a sentence.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::RtApp => "rt-app's JSON",
            Self::Swf => "the Standard Workload Format (SWF)",
            Self::Batsim => "a workload of Batsim",
            Self::Kubernetes => "objects of Kubernetes",
            Self::Docker => "`docker run` or a compose file",
            Self::Cgroup => "files of cgroup v2",
            Self::Ostep => "a job list as in OSTEP",
        }
    }

    /// The form of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        FORMS.into_iter().find(|form| form.name() == name)
    }

    /// The form of a text, by its content.
    #[must_use]
    pub fn of(text: &str) -> Option<Self> {
        let keys = keys(body(text));
        FORMS.into_iter().find(|form| form.fits(text, &keys))
    }

    /// True when a text looks like one in this form; `keys` are those of its outermost JSON object.
    fn fits(self, text: &str, keys: &[(&str, bool)]) -> bool {
        let lines = || text.lines().take(2_000);
        let head = || lines().map(str::trim);
        let key = |name: &str| lines().any(|line| line.starts_with(name));
        let json = |name: &str| keys.iter().any(|(key, _)| *key == name);
        let object = |name: &str| keys.iter().any(|(key, object)| *key == name && *object);
        match self {
            Self::RtApp => object("tasks") && !json("apiVersion"),
            Self::Batsim => json("jobs") && object("profiles"),
            Self::Swf => head().find(|line| !line.is_empty() && !line.starts_with(';')).is_some_and(swf),
            Self::Kubernetes => (key("apiVersion:") && key("kind:")) || (json("apiVersion") && json("kind")),
            Self::Docker => key("services:") || object("services") || head().any(docker),
            Self::Cgroup => head().any(|line| {
                line.split_once(':').is_some_and(|(path, _)| {
                    let name = path.rsplit('/').next().unwrap_or(path);
                    name.starts_with("cpu.") || name.starts_with("cpuset.") || name == "cgroup.procs"
                })
            }),
            Self::Ostep => ostep::fits(text),
        }
    }
}

/// The keys of the outermost object of JSON, and whether their values are objects; none for other texts.
fn keys(text: &str) -> Vec<(&str, bool)> {
    let (bytes, mut found) = (text.as_bytes(), Vec::new());
    if !text.starts_with('{') {
        return found;
    }
    let (mut at, mut depth) = (0, 0_usize);
    // The last text at depth 1, and the key whose value is due.
    let (mut word, mut due): (Option<&str>, Option<&str>) = (None, None);
    while let Some(byte) = bytes.get(at) {
        let rest = &bytes[at..];
        match byte {
            b'"' => {
                let begin = at + 1;
                at = begin;
                while bytes.get(at).is_some_and(|byte| *byte != b'"') {
                    at += 1 + usize::from(bytes[at] == b'\\');
                }
                word = text.get(begin..at).filter(|_| depth == 1);
            }
            b'/' if rest.starts_with(b"/*") => at += text[at..].find("*/").map_or(rest.len(), |end| end + 1),
            b'/' if rest.starts_with(b"//") => at += text[at..].find('\n').unwrap_or(rest.len()),
            b':' if depth == 1 => due = word.take(),
            b'{' | b'[' => {
                found.extend(due.take().map(|key| (key, *byte == b'{')));
                depth += 1;
            }
            b',' if depth == 1 => found.extend(due.take().map(|key| (key, false))),
            b'}' | b']' => {
                found.extend(due.take().map(|key| (key, false)));
                depth -= 1;
                if depth == 0 {
                    return found;
                }
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// A text behind its mark of byte order, white space and comments.
fn body(text: &str) -> &str {
    let mut rest = text.trim_start_matches('\u{feff}').trim_start();
    loop {
        let behind = match (rest.strip_prefix("/*"), rest.strip_prefix("//")) {
            (Some(comment), _) => comment.split_once("*/").map(|(_, behind)| behind),
            (None, Some(comment)) => comment.split_once('\n').map(|(_, behind)| behind),
            (None, None) => return rest,
        };
        match behind {
            Some(behind) => rest = behind.trim_start(),
            None => return "",
        }
    }
}

/// A line of 18 numbers.
fn swf(line: &str) -> bool {
    let numbers = line.split_whitespace().take(19).map(str::parse::<f64>);
    let (mut all, mut good) = (0, 0);
    for number in numbers {
        all += 1;
        good += usize::from(number.is_ok());
    }
    (all, good) == (18, 18)
}

/// A command line of docker or podman that starts a container.
pub(crate) fn docker(line: &str) -> bool {
    let mut words = line.trim_start_matches(['$', '#']).split_whitespace();
    let program = words.find(|word| *word != "sudo").unwrap_or_default();
    let verb = words.next().unwrap_or_default();
    let verb = if verb == "container" { words.next().unwrap_or_default() } else { verb };
    let program = program.rsplit('/').next().unwrap_or(program);
    matches!(program, "docker" | "podman" | "nerdctl") && matches!(verb, "run" | "create" | "update")
}

/// What is said of a file in none of the forms.
pub(crate) fn unknown() -> String {
    let names: Vec<String> =
        FORMS.iter().map(|form| format!("`{}` ({})", form.name(), form.title())).collect();
    format!("the file is in none of the forms that are imported: {}; `--form` states one", listed(&names))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_form_is_recognised_by_its_content() {
        for (text, form) in [
            ("/* a */ {\"tasks\": {}}", Form::RtApp),
            ("{ \"global\": {}, \"tasks\" /* x */ : {} }", Form::RtApp),
            ("{\"jobs\": [{\"tasks\": {}}], \"profiles\": {}, \"tasks\": {}}", Form::Batsim),
            ("{\"services\": {\"tasks\": {\"cpus\": 1}}}", Form::Docker),
            ("-l 0,20,0:5,10,1\n", Form::Ostep),
            ("; Version: 2.2\n\n1 0 10 100 4 -1 -1 4 200 -1 1 1 1 1 1 -1 -1 -1\n", Form::Swf),
            ("{\"nb_res\": 4, \"jobs\": [], \"profiles\": {}}", Form::Batsim),
            ("apiVersion: v1\nkind: Pod\n", Form::Kubernetes),
            ("{\"apiVersion\": \"v1\", \"kind\": \"Pod\", \"resources\": {}}", Form::Kubernetes),
            ("services:\n  a: { cpus: 1 }\n", Form::Docker),
            ("$ sudo docker run --cpus=1.5 nginx\n", Form::Docker),
            ("./a/cpu.max:max 100000\n", Form::Cgroup),
            ("cpu.weight:100\n", Form::Cgroup),
            ("./scheduler.py -p SJF -l 10,20,30 -c\n", Form::Ostep),
            ("0 10\n5 20\n", Form::Ostep),
        ] {
            assert_eq!(Form::of(text), Some(form), "{text}");
        }
        for text in [
            "",
            "{}",
            "name: x\napps: {}\n",
            "1 2 3\n",
            "// ",
            "/*",
            "hello\n",
            "{\"a\": {\"tasks\": {}}}",
            "{\"tasks\": 3}",
            "{ \"resources\": {}, \"global\": {} }",
            "{\"x\": \"tasks\", \"y\": {",
            "apps:\n  services:\n    nice: 1\n",
            "-lm -lpthread\n",
            "ls -l 10\n",
        ] {
            assert_eq!(Form::of(text), None, "{text}");
        }
    }

    #[test]
    fn names_lead_back_to_their_form() {
        assert!(FORMS.into_iter().all(|form| Form::named(form.name()) == Some(form)));
        assert_eq!(Form::named("xml"), None);
    }
}
