//! Small complete scenarios around the examples of the registries; a test runs each.

/// Longest line of an application before it is written on several lines.
const LONGEST: usize = 92;

/// A scenario of these parts; `kernel` may be empty, `apps` has one application per line.
pub(super) fn scenario(machine: &str, kernel: &str, applications: &str, policies: &str) -> String {
    let kernel = if kernel.is_empty() { String::new() } else { format!("kernel: {kernel}\n") };
    let machine = if machine.contains(' ') { format!("\"{machine}\"") } else { machine.to_owned() };
    let apps = apps(applications);
    format!("name: example\nmachine: {machine}\n{kernel}apps:\n{apps}policies: [{policies}]\n")
}

/// The block below `apps:`; lines `name: { key: value, ... }` that are too long have a line for each key.
pub(super) fn apps(lines: &str) -> String {
    lines.lines().map(app).collect()
}

fn app(line: &str) -> String {
    let parts = line.split_once(": {").and_then(|(name, rest)| Some((name, rest.trim().strip_suffix('}')?)));
    match parts {
        Some((name, keys)) if line.chars().count() > LONGEST => {
            let keys = top_level(keys).into_iter().map(|key| format!("    {key}\n"));
            format!("  {name}:\n{}", keys.collect::<String>())
        }
        _ => format!("  {line}\n"),
    }
}

/// The parts between commas that are outside of brackets.
fn top_level(text: &str) -> Vec<&str> {
    let (mut depth, mut start, mut parts) = (0_usize, 0, Vec::new());
    for (at, letter) in text.char_indices() {
        match letter {
            '{' | '[' => depth += 1,
            '}' | ']' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(text[start..].trim());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_applications_are_written_on_several_lines() {
        assert_eq!(apps("a: { workload: hog, cpus: [0] }"), "  a: { workload: hog, cpus: [0] }\n");
        let long =
            format!("a: {{ workload: {{ spmd: {{ work: 1s, spread: 1% }} }}, runtime: {} }}", "x".repeat(60));
        let want = format!(
            "  a:\n    workload: {{ spmd: {{ work: 1s, spread: 1% }} }}\n    runtime: {}\n",
            "x".repeat(60)
        );
        assert_eq!(apps(&long), want);
    }
}
