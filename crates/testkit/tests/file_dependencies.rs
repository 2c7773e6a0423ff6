//! Dependency cycles between the files of a crate, and files of the core that call each other.
//!
//! A module and the modules inside it count as one place: the outer one is the surface of its folder.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::{BTreeMap, BTreeSet};

use testkit::house::files;

/// Pairs of modules whose cycle stays: crate, one module, another one, and why.
const KNOWN: &[(&str, &str, &str, &str)] = &[
    ("cli", "args", "complete", "completion asks the parser, and the parser names who completes a value"),
    ("sim-core", "run_queue", "run_queue", "a discipline uses what uses the list of all of them"),
    ("sim-core", "os", "run_queue", "an operating system has the parameters of its discipline"),
];

/// The most files of the core that call each other in circles: those of `engine::polling::members`.
const LARGEST_KNOT: usize = 5;
/// Names of methods of the standard library that a type of the core has, too.
const OF_THE_LIBRARY: &[&str] = &["clear", "skip"];

/// The modules of a crate with their texts, tests and comments left out.
type Modules = BTreeMap<String, String>;

/// The modules of each crate.
fn crates() -> BTreeMap<String, Modules> {
    let mut crates: BTreeMap<String, Modules> = BTreeMap::new();
    for (path, text) in files("crates", &["rs"]).unwrap() {
        let Some((name, file)) = path.trim_start_matches("crates/").split_once("/src/") else { continue };
        let file = file.trim_end_matches(".rs").trim_end_matches("/mod");
        if file.split('/').any(|part| matches!(part, "tests" | "lib" | "main")) {
            continue;
        }
        let text = text.split("\n#[cfg(test)]\nmod tests").next().unwrap_or_default();
        let code: Vec<&str> = text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect();
        crates.entry(name.to_owned()).or_default().insert(file.replace('/', "::"), code.join("\n"));
    }
    crates
}

/// The paths of a tree of names: `a::{b, c::{d, e}}` are `a::b`, `a::c::d` and `a::c::e`.
fn paths(tree: &str) -> Vec<String> {
    let Some((before, inside)) = tree.split_once('{') else {
        return vec![tree.split(" as ").next().unwrap_or_default().trim().to_owned()];
    };
    let inside = inside.trim_end().strip_suffix('}').unwrap_or(inside);
    let (mut depth, mut parts) = (0_i32, vec![String::new()]);
    for c in inside.chars() {
        depth += i32::from(c == '{') - i32::from(c == '}');
        match parts.last_mut() {
            Some(part) if c != ',' || depth > 0 => part.push(c),
            _ => parts.push(String::new()),
        }
    }
    let parts = parts.iter().filter(|part| !part.trim().is_empty());
    parts.flat_map(|part| paths(&format!("{}{}", before.trim(), part.trim()))).collect()
}

/// The paths that a text names: those of its `use` lines and those that begin with `crate` or `super`.
fn named(text: &str) -> Vec<String> {
    let word = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let mut all: Vec<String> = text
        .split(|c| !word(c))
        .filter(|path| path.starts_with("crate::") || path.starts_with("super::"))
        .map(str::to_owned)
        .collect();
    for statement in text.split(';') {
        let last = statement.rsplit("use ").next().filter(|tree| tree.len() < statement.len());
        all.extend(last.map(paths).unwrap_or_default());
    }
    all
}

/// The module of a path that the module `at` names, if it is one of its crate.
fn module<'a>(modules: &'a Modules, at: &str, path: &str) -> Option<&'a str> {
    let mut place: Vec<&str> = at.split("::").collect();
    let mut parts = path.split("::").peekable();
    match parts.peek()? {
        &"crate" => {
            place.clear();
            parts.next();
        }
        &"super" | &"self" => {
            while let Some(part) = parts.next_if(|part| matches!(*part, "super" | "self")) {
                place.truncate(place.len() - usize::from(part == "super" && !place.is_empty()));
            }
        }
        _ => {}
    }
    let mut found = None;
    for part in parts {
        place.push(part);
        found = modules.get_key_value(&place.join("::")).map(|(name, _)| name.as_str()).or(found);
    }
    found
}

/// Which modules each module uses: no module around or inside it.
fn uses(modules: &Modules) -> BTreeMap<&str, BTreeSet<&str>> {
    let within = |a: &str, b: &str| a == b || a.starts_with(&format!("{b}::"));
    let of = |(at, text): (&'_ String, &String)| -> BTreeSet<&str> {
        let used = named(text).into_iter().filter_map(|path| module(modules, at, &path));
        used.filter(|other| !within(at, other) && !within(other, at)).collect()
    };
    modules.iter().map(|entry| (entry.0.as_str(), of(entry))).collect()
}

/// The modules that can be reached from one.
fn reached<'a>(uses: &BTreeMap<&'a str, BTreeSet<&'a str>>, from: &str) -> BTreeSet<&'a str> {
    let mut seen = BTreeSet::new();
    let mut left: Vec<&str> = uses[from].iter().copied().collect();
    while let Some(at) = left.pop() {
        if seen.insert(at) {
            left.extend(&uses[at]);
        }
    }
    seen
}

/// Pairs of modules, the first of which uses the other, which leads back to it.
fn cycles(modules: &Modules) -> Vec<(&str, &str)> {
    let uses = uses(modules);
    let from: BTreeMap<&str, BTreeSet<&str>> = uses.keys().map(|at| (*at, reached(&uses, at))).collect();
    let pairs = uses.iter().flat_map(|(at, used)| used.iter().map(|other| (*at, *other)));
    pairs.filter(|(at, other)| from[other].contains(at)).collect()
}

#[test]
fn the_files_of_a_crate_have_no_dependency_cycle() {
    let inside = |module: &str, part: &str| module == part || module.starts_with(&format!("{part}::"));
    let mut broken = Vec::new();
    let mut met = BTreeSet::new();
    for (name, modules) in &crates() {
        for (a, b) in cycles(modules) {
            let known = KNOWN.iter().position(|(of, one, other, _)| {
                let (there, back) = (inside(a, one) && inside(b, other), inside(a, other) && inside(b, one));
                of == name && (there || back)
            });
            match known {
                Some(at) => drop(met.insert(at)),
                None => broken.push(format!("{name}: {a} uses {b}, which leads back to {a}")),
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    assert_eq!(met.len(), KNOWN.len(), "a cycle of the list is gone: {met:?}");
}

#[test]
fn a_cycle_is_found_through_lists_of_names() {
    let modules: Modules = [
        ("a", "use crate::{b::c::{self, D}, z};"),
        ("b", ""),
        ("b::c", "pub use super::super::e::F as G;"),
        ("e", "fn f() { crate::a::g(); }"),
        ("z", "use std::a;"),
    ]
    .map(|(name, text)| (name.to_owned(), text.to_owned()))
    .into();
    assert_eq!(cycles(&modules), [("a", "b::c"), ("b::c", "e"), ("e", "a")]);
}

/// The methods that a text defines, in blocks and traits.
fn defined(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let (head, name) = line.strip_prefix("    ")?.split_once("fn ")?;
        let word = |word: &str| word.starts_with("pub") || word == "const";
        head.split_whitespace().all(word).then(|| name.split(['(', '<']).next().unwrap_or_default())
    })
}

/// The methods that a text calls.
fn called(text: &str) -> impl Iterator<Item = &str> {
    text.split('.').skip(1).filter_map(|after| {
        let end = after.find(|c: char| !c.is_alphanumeric() && c != '_')?;
        after[end..].starts_with(['(', ':']).then(|| &after[..end])
    })
}

/// Which modules each module calls, by the names of methods that only one module defines.
fn calls(modules: &Modules) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut homes: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (at, text) in modules {
        defined(text).for_each(|name| {
            homes.entry(name).or_default().insert(at);
        });
    }
    homes.retain(|name, homes| homes.len() == 1 && !OF_THE_LIBRARY.contains(name));
    let of = |(at, text): (&'_ String, &String)| -> BTreeSet<&str> {
        let used = called(text).filter_map(|name| homes.get(name)?.first().copied());
        used.filter(|other| other != at).collect()
    };
    modules.iter().map(|entry| (entry.0.as_str(), of(entry))).collect()
}

/// The largest set of modules that call each other in circles.
fn largest_knot(modules: &Modules) -> BTreeSet<&str> {
    let calls = calls(modules);
    let from: BTreeMap<&str, BTreeSet<&str>> = calls.keys().map(|at| (*at, reached(&calls, at))).collect();
    let knot = |at: &&str| from[at].iter().copied().filter(|other| from[other].contains(at)).collect();
    from.keys().map(knot).max_by_key(BTreeSet::len).unwrap_or_default()
}

#[test]
fn few_files_of_the_core_call_each_other_in_circles() {
    let crates = crates();
    let knot = largest_knot(&crates["sim-core"]);
    assert!(knot.len() <= LARGEST_KNOT, "{} files call each other in circles: {knot:?}", knot.len());
}

#[test]
fn a_knot_is_found_through_methods_of_one_name() {
    let method =
        |name: &str, calls: &str| format!("impl E {{\n    pub(crate) fn {name}(&self) {{\n{calls}}}\n}}");
    let modules: Modules = [
        ("a", method("begins", "self.cpus[0].ends(cpu);")),
        ("b", method("ends", "x.middle::<u32>();")),
        ("c", method("middle", "self\n.begins(1).both()")),
        ("d", method("both", "self.ends")),
        ("e", method("both", "self.begins()")),
    ]
    .map(|(name, text)| (name.to_owned(), text))
    .into();
    assert_eq!(largest_knot(&modules), BTreeSet::from(["a", "b", "c"]));
}
