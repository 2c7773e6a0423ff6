//! `oversim new`: writes a crate to start from. Its template is `examples/out-of-tree-policy`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use experiment::report::quoted;
use experiment::{PolicyEntry, PolicyRegistry};

use crate::args::NewPolicy;
use crate::failure::Failure;
use crate::output;

/// The files of the template that a new crate receives: path in the crate and text.
const TEMPLATE: &[(&str, &str)] = &[
    ("Cargo.toml", include_str!("../../template/manifest.toml")),
    ("README.md", include_str!("../../template/README.md")),
    ("scenario.yaml", include_str!("../../template/scenario.yaml")),
    ("src/lib.rs", include_str!("../../template/lib.rs")),
    ("src/policy.md", include_str!("../../template/policy.md")),
    ("src/main.rs", include_str!("../../template/main.rs")),
    ("tests/policy.rs", include_str!("../../template/policy.rs")),
];

/// What the manifest has in addition. The template is part of oversim's workspace, which has its own profile.
const MANIFEST: &str = "
# Simulations run in tests: a little optimisation keeps them fast.
[profile.dev]
opt-level = 1
debug = \"line-tables-only\"

# The crate belongs to no workspace around it.
[workspace]
";

/// How the manifest of the template names the directory with oversim's crates.
const ABOVE: &str = "path = \"../../";

/// The address of oversim's repository: the key `repository` in the manifest of this crate, empty without
/// one.
const REPOSITORY: &str = env!("CARGO_PKG_REPOSITORY");

/// Words that the compiler, cargo or the manifest of a new crate use, so that no crate can have them as its
/// name.
const RESERVED: &str = "\
abstract alloc as async await become box break build const continue core crate deps do dyn else enum \
examples experiment extern false final fn for gen if impl in incremental let loop macro match mod \
move mut notation override oversim policies priv proc-macro pub ref return scenario self sim-core static std \
struct super test trait true try type typeof unsafe unsized use virtual where while yield";

/// Words with another meaning where a scenario names a policy.
const WORDS_OF_SCENARIOS: &[&str] = &["dedicated", "null", "over", "perturb"];

/// Writes a crate with a policy, and prints what to do next.
pub(crate) fn policy(args: &NewPolicy, policies: &PolicyRegistry) -> Result<ExitCode, Failure> {
    let names = Names::of(&args.name, policies).map_err(Failure::Input)?;
    let directory = args.directory.clone().unwrap_or_else(|| PathBuf::from(&names.package));
    if directory.file_name().is_none() {
        return Err(Failure::Input(format!("`{}` is not the name of a directory", directory.display())));
    }
    let source = Source::find(args.path.as_deref()).map_err(Failure::Input)?;
    source.accepts(&directory).map_err(Failure::Input)?;
    let files: Vec<(&str, String)> = TEMPLATE
        .iter()
        .map(|(file, text)| (*file, names.put_into(text)))
        .map(
            |(file, text)| {
                if file == "Cargo.toml" { (file, source.put_into(&text) + MANIFEST) } else { (file, text) }
            },
        )
        .chain([(".gitignore", "/target\n".to_owned())])
        .collect();
    let files: Vec<_> = files.iter().map(|(file, text)| (*file, output::bytes(text.as_bytes()))).collect();
    output::write_new(&directory, &files)?;
    let place = quoted(&directory.display().to_string());
    output::to_stdout(|out| {
        writeln!(out, "wrote {place}; next:\n  cd {place}\n  cargo test\n  cargo run -- run scenario.yaml")
    })?;
    Ok(ExitCode::SUCCESS)
}

/// The names in a new crate that take the places of those in the template.
#[derive(PartialEq, Eq, Debug)]
struct Names {
    /// Of the policy, as given.
    policy: String,
    /// Of the crate: `my-policy`.
    package: String,
    /// Of the Rust type: `MyPolicy`.
    kind: String,
}

impl Names {
    fn of(name: &str, policies: &PolicyRegistry) -> Result<Self, String> {
        if let Some(taken) = policies.find(name) {
            return Err(format!("there is already a policy named {}", taken.name));
        }
        let Some(first) = policies.entries().next() else { return Err("there are no policies".into()) };
        // The registry is the judge of names. It lives as long as the process, and so does the one entry.
        let entry: &'static PolicyEntry =
            Box::leak(Box::new(PolicyEntry { name: name.to_owned().leak(), ..*first }));
        PolicyRegistry::with(&[entry])?;
        if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
            return Err(format!("`{name}` cannot name a crate and a Rust type: begin with a letter"));
        }
        let package = kebab(name);
        if RESERVED.split(' ').any(|word| word == package) || WORDS_OF_SCENARIOS.contains(&package.as_str()) {
            return Err(format!("`{name}` is a word of Rust, cargo or scenarios: choose another name"));
        }
        let mut kind: String = package.split('-').map(capitalised).collect();
        // The name of an import, for example.
        if TEMPLATE.iter().any(|(_, text)| has_word(text, &kind)) && kind != "Steal" {
            kind += "Policy";
        }
        Ok(Self { policy: name.to_owned(), package, kind })
    }

    /// A text of the template with these names.
    fn put_into(&self, text: &str) -> String {
        let library = self.package.replace('-', "_");
        let places = [
            ("out-of-tree-policy", &self.package),
            ("out_of_tree_policy", &library),
            ("STEAL", &self.policy),
            ("Steal", &self.kind),
        ];
        let (mut done, mut rest) = (String::new(), text);
        while let Some(c) = rest.chars().next() {
            let place = places.iter().find(|(old, _)| {
                rest.strip_prefix(old).is_some_and(|after| !after.starts_with(in_word))
                    && !done.ends_with(in_word)
            });
            let length = match place {
                Some((old, new)) => {
                    done += new;
                    old.len()
                }
                None => {
                    done.push(c);
                    c.len_utf8()
                }
            };
            rest = &rest[length..];
        }
        done
    }
}

fn in_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn has_word(text: &str, word: &str) -> bool {
    text.split(|c| !in_word(c)).any(|other| other == word)
}

/// `my-policy` of `MY_POLICY`, `My-Policy` and `MyPolicy`.
fn kebab(name: &str) -> String {
    let mut parts = String::new();
    let mut before = '-';
    for c in name.chars() {
        let separates = c == '_' || c == '-';
        if (separates || before.is_ascii_lowercase() && c.is_ascii_uppercase()) && !parts.ends_with('-') {
            parts.push('-');
        }
        if !separates {
            parts.push(c.to_ascii_lowercase());
        }
        before = c;
    }
    parts.trim_end_matches('-').to_owned()
}

fn capitalised(part: &str) -> String {
    let mut letters = part.chars();
    letters.next().map_or_else(String::new, |first| first.to_ascii_uppercase().to_string() + letters.as_str())
}

/// Where a new crate finds oversim's crates.
#[derive(PartialEq, Eq, Debug)]
enum Source {
    /// The root of a checkout: an absolute path.
    Checkout(PathBuf),
    /// The address of the repository.
    Git(&'static str),
}

impl Source {
    /// The checkout that the user names, else the repository if its address is known, else the checkout
    /// around the current directory.
    fn find(named: Option<&Path>) -> Result<Self, String> {
        if let Some(path) = named {
            let root = fs::canonicalize(path).map_err(|e| format!("cannot read {}: {e}", path.display()))?;
            return match lacks(&root) {
                None => Ok(Self::Checkout(root)),
                Some(file) => Err(format!(
                    "{} is not the root of a checkout of oversim: it has no {file}",
                    path.display()
                )),
            };
        }
        if !REPOSITORY.is_empty() {
            return Ok(Self::Git(REPOSITORY));
        }
        let here = fs::canonicalize(".").map_err(|e| format!("cannot read the current directory: {e}"))?;
        let root = here.ancestors().find(|folder| lacks(folder).is_none());
        root.map(|root| Self::Checkout(root.to_owned())).ok_or_else(|| {
            "the new crate depends on oversim's crates, and the current directory is not in a checkout \
             of oversim: \
             --path CHECKOUT names one"
                .to_owned()
        })
    }

    /// Refuses a directory whose crates are all members of the workspace of the checkout.
    fn accepts(&self, directory: &Path) -> Result<(), String> {
        let Self::Checkout(root) = self else { return Ok(()) };
        let above =
            directory.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let above = fs::canonicalize(above).unwrap_or_default();
        match ["crates", "examples"].into_iter().find(|members| above == root.join(members)) {
            Some(members) => Err(format!(
                "every directory in {members} is part of oversim's workspace: choose another one with \
                 --directory DIR"
            )),
            None => Ok(()),
        }
    }

    /// The manifest of the template with this source in its dependencies.
    fn put_into(&self, manifest: &str) -> String {
        let line = |line: &str| {
            let Some((before, path)) = line.split_once(ABOVE) else { return line.to_owned() };
            match self {
                Self::Checkout(root) => {
                    format!("{before}path = \"{}/{path}", escaped(&root.display().to_string()))
                }
                Self::Git(url) => {
                    let after = path.split_once('"').map_or("", |(_, after)| after);
                    format!("{before}git = \"{}\"{after}", escaped(url))
                }
            }
        };
        manifest.lines().map(|text| line(text) + "\n").collect()
    }
}

/// The first manifest that the template needs and this directory lacks.
fn lacks(root: &Path) -> Option<String> {
    let folders = TEMPLATE[0].1.lines().filter_map(|line| line.split_once(ABOVE)?.1.split_once('"'));
    folders.map(|(folder, _)| format!("{folder}/Cargo.toml")).find(|file| !root.join(file).is_file())
}

/// A text between the quotes of a TOML string.
fn escaped(text: &str) -> String {
    let mut done = String::new();
    for c in text.chars() {
        match c {
            '"' | '\\' => done.extend(['\\', c]),
            c if c.is_control() => done += &format!("\\u{:04X}", u32::from(c)),
            c => done.push(c),
        }
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(name: &str) -> Result<(String, String), String> {
        Names::of(name, &PolicyRegistry::default()).map(|names| (names.package, names.kind))
    }

    #[test]
    fn crates_are_in_kebab_case_and_types_in_camel_case() {
        for (name, package, kind) in [
            ("MINE", "mine", "Mine"),
            ("MY_POLICY", "my-policy", "MyPolicy"),
            ("MyPolicy", "my-policy", "MyPolicy"),
            ("my-2nd--policy_", "my-2nd-policy", "My2ndPolicy"),
            ("STEAL", "steal", "Steal"),
            ("VIEW", "view", "ViewPolicy"),
            ("Vec", "vec", "VecPolicy"),
        ] {
            assert_eq!(names(name), Ok((package.to_owned(), kind.to_owned())));
        }
    }

    #[test]
    fn names_that_cannot_be_used_are_refused() {
        for (name, why) in [
            ("", "not a valid policy name"),
            ("a policy", "not a valid policy name"),
            ("../x", "not a valid policy name"),
            ("é", "not a valid policy name"),
            (&"x".repeat(65), "not a valid policy name"),
            ("speed", "already a policy named SPEED"),
            ("2ND", "begin with a letter"),
            ("_", "begin with a letter"),
            ("MATCH", "choose another name"),
            ("Sim_Core", "choose another name"),
            ("Null", "choose another name"),
        ] {
            assert!(names(name).is_err_and(|error| error.contains(why)), "{name}: {:?}", names(name));
        }
    }

    #[test]
    fn names_are_replaced_as_whole_words_and_once() {
        let names = Names { policy: "Steal-2".into(), package: "steal-2".into(), kind: "Steal2".into() };
        let text = "STEAL steals: Steal, out-of-tree-policy, out_of_tree_policy::X, STEALTH";
        assert_eq!(names.put_into(text), "Steal-2 steals: Steal2, steal-2, steal_2::X, STEALTH");
    }

    #[test]
    fn the_manifest_names_the_repository_or_a_checkout() {
        let line = "sim-core = { path = \"../../crates/sim-core\" }";
        let git = Source::Git("https://example.org/oversim").put_into(line);
        assert_eq!(git, "sim-core = { git = \"https://example.org/oversim\" }\n");
        let path = Source::Checkout(PathBuf::from("/a \"b\"")).put_into(line);
        assert_eq!(path, "sim-core = { path = \"/a \\\"b\\\"/crates/sim-core\" }\n");
        assert!(!Source::Git("x").put_into(TEMPLATE[0].1).contains("../"));
    }
}
