//! The words of the project are those of the field: private words do not occur in documents, scenarios, data,
//! help, messages and the comments of the engine.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;

use testkit::house::{self, root};

/// Private metaphors for parts of the model, and the term of the field for each. `|` separates forms.
/// Everyday English is free; whoever reads a change judges it (CONTRIBUTING.md, *Words*).
const AVOID: &[(&str, &str)] = &[
    ("shelf|shelves", "registry, built-in"),
    ("book|books|booked", "cpu-time breakdown, charged"),
    ("yardstick|yardsticks", "reference"),
    ("fluid|ideal share", "fair share"),
    ("in vain", "without success"),
    ("ring|rings|seat|seats", "polling cycle, rank"),
    ("heir|heirs", "next buddy, yield_to target"),
    ("stirred", "dirty"),
    ("debt|debts|owe|owes|owed", "deferred kernel work"),
    ("foretold|foretell|foretells", "predicted"),
    ("ladder|ladders", "multilevel queue"),
    ("barren", "idle"),
    ("afar", "remote"),
    ("band|bands", "priority level"),
];

/// Files below a folder with one of these endings, in order.
fn files(folder: &str, endings: &[&str]) -> Vec<(String, String)> {
    house::files(folder, endings).unwrap()
}

/// The first word to avoid in a text, and what to write instead.
fn avoided(text: &str) -> Option<(&'static str, &'static str)> {
    // The name of an option that other programs have, too, and that of an algorithm of MPI libraries.
    let lower = text.to_lowercase().replace("--dry-run", "").replace("ring algorithm", "");
    let is_letter = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let occurs = |form: &str| {
        lower.match_indices(form).any(|(at, _)| {
            !is_letter(lower[..at].chars().next_back()) && !is_letter(lower[at + form.len()..].chars().next())
        })
    };
    AVOID.iter().find_map(|(forms, instead)| Some((forms.split('|').find(|form| occurs(form))?, *instead)))
}

/// A text without what stands between backquotes and without the targets of links.
fn prose(line: &str) -> String {
    let outside: Vec<&str> = line.split('`').step_by(2).collect();
    let mut text = outside.join("``");
    while let Some(begin) = text.find("](") {
        let Some(length) = text[begin..].find(')') else { break };
        text.replace_range(begin..=begin + length, "]");
    }
    text
}

/// What is wrong with the lines of a document outside of blocks of code and, if there are, outside of
/// generated lists.
fn document(name: &str, text: &str) -> Vec<String> {
    let (mut code, mut generated) = (false, false);
    let mut wrong = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if line.starts_with("```") {
            code = !code;
        }
        generated = (generated || line == "<!-- files -->") && line != "<!-- /files -->";
        if let (false, Some((word, instead))) = (code || generated, avoided(&prose(line))) {
            wrong.push(format!("{name}:{}: `{word}`: {instead}", number + 1));
        }
    }
    wrong
}

/// The string literals of a source file with their lines, up to its tests; comments are left out.
fn literals(text: &str) -> Vec<(usize, String)> {
    let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or(text);
    let mut found = Vec::new();
    let (mut rest, mut line) = (text, 1);
    let skip = |rest: &mut &str, line: &mut usize, length: usize| {
        *line += rest[..length].matches('\n').count();
        *rest = &rest[length..];
    };
    while !rest.is_empty() {
        if rest.starts_with("//") {
            let length = rest.find('\n').unwrap_or(rest.len());
            skip(&mut rest, &mut line, length);
        } else if rest.starts_with("'\"'") || rest.starts_with("'\\\"'") {
            let length = if rest.starts_with("'\\") { 4 } else { 3 };
            skip(&mut rest, &mut line, length);
        } else if rest.starts_with("r#\"") || rest.starts_with("r\"") {
            let hashes = rest[1..].chars().take_while(|c| *c == '#').count();
            let end = format!("\"{}", "#".repeat(hashes));
            let begin = 2 + hashes;
            let length = rest[begin..].find(&end).unwrap_or(rest.len() - begin);
            found.push((line, rest[begin..begin + length].to_owned()));
            skip(&mut rest, &mut line, begin + length + end.len());
        } else if rest.starts_with('"') {
            let mut escaped = false;
            let end = rest[1..].char_indices().find(|(_, c)| {
                let ends = *c == '"' && !escaped;
                escaped = *c == '\\' && !escaped;
                ends
            });
            let length = end.map_or(rest.len() - 1, |(at, _)| at);
            let joined: String = rest[1..=length].split("\\\n").map(str::trim_start).collect();
            found.push((line, joined));
            let whole = (length + 2).min(rest.len());
            skip(&mut rest, &mut line, whole);
        } else {
            let length = rest.chars().next().map_or(1, char::len_utf8);
            skip(&mut rest, &mut line, length);
        }
    }
    found
}

/// A literal without placeholders.
fn without_placeholders(text: &str) -> String {
    let mut bare = String::new();
    let mut depth = 0_usize;
    for c in text.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            c if depth == 0 => bare.push(c),
            _ => {}
        }
    }
    bare
}

fn none(wrong: &[String]) {
    assert!(
        wrong.is_empty(),
        "{} lines; the first: \n{}",
        wrong.len(),
        wrong[..wrong.len().min(40)].join("\n")
    );
}

#[test]
fn documents_and_scenarios_have_the_words_of_the_field() {
    let mut wrong = Vec::new();
    let pages = [
        "README.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "ARCHITECTURE.md",
        "SECURITY.md",
        "bindings/python/README.md",
        "examples/out-of-tree-policy/README.md",
    ];
    for name in pages {
        wrong.extend(document(name, &fs::read_to_string(root().join(name)).unwrap()));
    }
    for (name, text) in files("docs", &["md"]) {
        wrong.extend(document(&name, &text));
    }
    for (name, text) in files("scenarios", &["yaml"]) {
        for (number, line) in text.lines().enumerate() {
            // Keys and values are the format; comments and questions are prose.
            let comment = line.split_once('#').map_or("", |(_, comment)| comment);
            let about = line.strip_prefix("about:").unwrap_or_default();
            if let Some((word, instead)) = avoided(&prose(&format!("{about} {comment}"))) {
                wrong.push(format!("{name}:{}: `{word}`: {instead}", number + 1));
            }
        }
    }
    none(&wrong);
}

#[test]
fn messages_help_and_reference_texts_have_the_words_of_the_field() {
    let crates = [
        "policies",
        "kernels",
        "machines",
        "workloads",
        "notation",
        "experiment",
        "import",
        "trace",
        "pictures",
        "validation",
        "cli",
    ];
    let mut wrong = Vec::new();
    let folders = crates.into_iter().map(|name| format!("crates/{name}/src"));
    let bindings = ["bindings/browser/src", "bindings/python/src"].map(String::from);
    for (name, text) in folders.chain(bindings).flat_map(|folder| files(&folder, &["rs"])) {
        for (line, literal) in literals(&text) {
            let shown = without_placeholders(&prose(&literal));
            if !literal.trim().contains(' ') {
                continue;
            }
            if let Some((word, instead)) = avoided(&shown) {
                wrong.push(format!("{name}:{line}: `{word}`: {instead}"));
            }
        }
        // Help is made from the comments of the arguments.
        for (number, line) in text.lines().enumerate().filter(|_| name.ends_with("cli/src/args.rs")) {
            if let Some((word, instead)) =
                line.trim_start().strip_prefix("///").and_then(|help| avoided(&prose(help)))
            {
                wrong.push(format!("{name}:{}: `{word}`: {instead}", number + 1));
            }
        }
    }
    none(&wrong);
}

#[test]
fn data_and_schemas_have_the_words_of_the_field() {
    let mut wrong = Vec::new();
    let folders = ["crates/machines/data", "crates/workloads/data", "crates/validation/data"];
    for (name, text) in folders.into_iter().flat_map(|folder| files(folder, &["yaml"])) {
        // Claims quote their sources.
        for (number, line) in text.lines().enumerate().filter(|_| !name.ends_with("claims.yaml")) {
            if let Some((word, instead)) = avoided(&prose(line)) {
                wrong.push(format!("{name}:{}: `{word}`: {instead}", number + 1));
            }
        }
    }
    let schema =
        ("oversim.schema.json".to_owned(), fs::read_to_string(root().join("oversim.schema.json")).unwrap());
    for (name, text) in files("docs/schemas", &["json"]).into_iter().chain([schema]) {
        for (number, line) in text.lines().enumerate() {
            let described = line.trim_start().strip_prefix("\"description\":").unwrap_or_default();
            if let Some((word, instead)) = avoided(&prose(described)) {
                wrong.push(format!("{name}:{}: `{word}`: {instead}", number + 1));
            }
        }
    }
    none(&wrong);
}

/// The comments of a source file with their lines, without blocks of code in them.
fn comments(text: &str) -> Vec<(usize, &str)> {
    let mut code = false;
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let comment = match line.find("//") {
            // Not the `//` of an address within a literal.
            Some(at) if !line[..at].ends_with(':') => line[at..].trim_start_matches(['/', '!']),
            _ => continue,
        };
        code ^= comment.trim_start().starts_with("```");
        if !code {
            found.push((number + 1, comment));
        }
    }
    found
}

#[test]
fn comments_have_the_words_of_the_field() {
    let mut sources = files("crates", &["rs"]);
    sources.extend(["bindings/browser/src", "bindings/python/src"].iter().flat_map(|at| files(at, &["rs"])));
    sources.extend(files("bindings/browser/page/src", &["js"]));
    // This file has them all.
    sources.retain(|(name, _)| name != "crates/testkit/tests/words.rs");
    let mut wrong = Vec::new();
    for (name, text) in &sources {
        for (line, comment) in comments(text) {
            if let Some((word, instead)) = avoided(&prose(comment)) {
                wrong.push(format!("{name}:{line}: `{word}`: {instead}"));
            }
        }
    }
    none(&wrong);
}

#[test]
fn words_are_found_as_whole_words_outside_of_code() {
    assert_eq!(avoided("A Debt is left").map(|found| found.0), Some("debt"));
    assert_eq!(avoided("indebted to the whole bandwidth"), None);
    assert_eq!(avoided(&prose("the key `debt` of [this](debt.md)")), None);
    assert_eq!(
        document("x", "a\n```text\nlook\n```\nthe books\n"),
        ["x:5: `books`: cpu-time breakdown, charged"]
    );
    let source = "// \"told\"\nlet a = \"one \\\n    two\";\nlet b = r#\"three \"four\"\"#;\n\
        #[cfg(test)]\nmod tests { \"told\" }\n";
    assert_eq!(literals(source), [(2, "one two".to_owned()), (4, "three \"four\"".to_owned())]);
    assert_eq!(without_placeholders("a {name:>3} b"), "a  b");
    let source = "//! One.\nlet a = 1; // two\n/// ```\n/// three\n/// ```\nlet b = \"https://x\";\n";
    assert_eq!(comments(source), [(1, " One."), (2, " two"), (5, " ```")]);
}
