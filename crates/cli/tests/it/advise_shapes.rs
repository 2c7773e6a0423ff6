//! `oversim advise wait`, `pod` and `pools`: answers, forms, and what is refused.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::support;

fn advise(args: &[&str]) -> (i32, String, String) {
    support::oversim(&[&["advise"], args].concat(), "")
}

fn json(args: &[&str]) -> serde_json::Value {
    let (code, out, err) = advise(&[args, &["--format", "json"]].concat());
    assert_eq!(code, 0, "{err}");
    serde_json::from_str(&out).unwrap()
}

const FOUR: [&str; 4] = ["--machine", "package:1 core:4", "--repeat", "3"];

#[test]
fn the_answer_about_waiting_has_what_to_type_and_is_the_same_for_any_number_of_threads() {
    let base = [&["wait", "--region", "200us", "--load", "0,full"], &FOUR[..]].concat();
    let (code, text, err) = advise(&base);
    assert!(code == 0 && err.is_empty(), "{err}");
    assert!(text.lines().count() <= 25 && text.contains("\nType        "), "{text}");
    assert_eq!(advise(&[&base[..], &["--jobs", "1"]].concat()).1, text);
    let answer = json(&base);
    assert_eq!(answer["columns"].as_array().unwrap().len(), 2);
    assert!(text.contains(answer["type"].as_str().unwrap()));
    let (_, full, _) = advise(&[&base[..], &["--table", "full"]].concat());
    assert!(full.contains("Cpu time beside the work") && full.len() > text.len());
    let (_, markdown, _) = advise(&[&base[..], &["--format", "markdown"]].concat());
    assert!(markdown.contains("| --- | ---: | ---: |") && markdown.contains("**Verdict:**"), "{markdown}");
}

#[test]
fn a_machine_that_is_assumed_is_named() {
    let (code, text, err) = advise(&["wait", "--region", "1ms", "--load", "0", "--repeat", "3"]);
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("no --machine is given") && text.contains("package:1 core:8"), "{err}{text}");
}

const POD: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: web }\nspec:\n  replicas: 3\n  \
    template:\n    spec:\n      containers:\n      - name: main\n        resources: { limits: { cpu: 2 } }\n";

#[test]
fn a_check_of_a_pod_ends_with_the_exit_status_for_ci() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pod.yaml");
    std::fs::write(&file, POD).unwrap();
    let check = |rate: &str, more: &[&str]| {
        let file = file.to_str().unwrap();
        let args = ["pod", file, "--arrivals", rate, "--service", "5ms,exponential", "--check"];
        advise(&[&args[..], &["--machine", "package:1 core:4"], more].concat())
    };
    let target = ["--target", "p99=50ms"];
    let (code, out, err) = check("100/s", &target);
    assert!(code == 0 && out.starts_with("web (limit 2, GOMAXPROCS 2) meets p99 <= 50ms"), "{out}{err}");
    assert_eq!(out.lines().count(), 1);
    let (code, out, _) = check("100/s", &["--target", "p99=1ms"]);
    assert!(code == 1 && out.contains(" misses p99 <= 1ms"), "{out}");
    let (code, out, _) = check("600/s", &target);
    assert!(code == 1 && out.contains("pile up"), "{out}");
    let (code, _, err) = check("100/s", &[]);
    assert!(code == 2 && err.contains("--target"), "{err}");
    let input = POD.replace("cpu: 2", "cpu: 1");
    let args = ["advise", "pod", "-", "--arrivals", "100/s", "--service", "5ms", "--check"];
    let (code, out, _) = support::oversim(&[&args[..], &target, &["--machine", "core:2"]].concat(), &input);
    assert!(code == 0 && out.contains("limit 1"), "{out}");
}

#[test]
fn the_smallest_limit_of_a_pod_is_written_as_it_is_typed() {
    let base = ["pod", "--arrivals", "100/s", "--service", "5ms,exponential", "--limits", "1,2"];
    let target = [&base[..], &["--target", "p99=60ms"], &FOUR].concat();
    let (code, text, err) = advise(&target);
    assert!(code == 0 && text.lines().count() <= 25, "{err}{text}");
    let answer = json(&target);
    let smallest = answer["smallest"]["limit"].as_u64().unwrap();
    assert!((550..=4_000).contains(&smallest) && smallest.is_multiple_of(50), "{smallest}");
    let quota = format!("cpu.max: {} 100000", smallest * 100);
    assert!(text.contains(&quota), "{text}");
    assert_eq!(answer["cells"].as_array().unwrap().len(), 4);
}

#[test]
fn the_answer_about_pools_names_the_habit() {
    let base =
        [&["pools", "--region", "500us", "--work", "200ms", "--outer", "1,4", "--inner", "1,4"], &FOUR[..]];
    let (code, text, err) = advise(&base.concat());
    assert!(code == 0 && text.lines().count() <= 25, "{err}{text}");
    for word in
        ["OMP_NUM_THREADS=", "n_jobs=", "num_workers=", "4 workers x 4 threads (each level takes all cpus)"]
    {
        assert!(text.contains(word), "{word}: {text}");
    }
    let answer = json(&base.concat());
    assert_eq!(answer["cells"].as_array().unwrap().len(), 4);
}

#[test]
fn what_cannot_be_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bad.yaml");
    std::fs::write(&file, POD.replace("cpu: 2", "cpu: two")).unwrap();
    let file = file.to_str().unwrap();
    let pod = ["pod", "--arrivals", "10/s", "--service", "5ms"];
    let cases: [(Vec<&str>, &str); 11] = [
        (vec!["wait"], "--region"),
        (vec!["wait", "--region", "5"], "a duration needs a unit"),
        (vec!["wait", "--region", "1ms", "--threads", "1"], "1 is not in 2..=4096"),
        (vec!["wait", "--region", "1ms", "--runtime", "tbb"], "libgomp"),
        (vec!["wait", "--region", "1ms", "--load", "some"], "`half`"),
        (vec!["wait", "--region", "1ms", "--machine", "nope"], "unknown machine"),
        (vec!["wait", "--region", "1ms", "--kernel", "nope"], "nope"),
        (["pod", file].into_iter().chain(pod[1..].iter().copied()).collect(), "bad.yaml:10:"),
        (pod.iter().copied().chain(["--limit", "1", "--request", "2"]).collect(), "Kubernetes refuses"),
        (pod.iter().copied().chain(["--period", "2s"]).collect(), "1ms to 1s"),
        (vec!["pools", "--region", "1ms", "--outer", "4096", "--inner", "4096"], "threads"),
    ];
    for (args, said) in cases {
        let (code, out, err) = advise(&args);
        assert!(code == 2 && out.is_empty() && err.contains(said), "{args:?}: {code} {err}");
    }
}
