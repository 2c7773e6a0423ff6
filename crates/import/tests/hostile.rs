//! Damaged and hostile files: they are refused or imported, in bounded time and without a panic.

use import::{FORMS, Form, Options, Source};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

const SAMPLES: [&str; 7] = [
    r#"{ "tasks": { "a": { "instance": 2, "loop": 3, "phases": { "p": { "loop": 4, "run": 10, "lock": "m",
      "wait": { "ref": "c", "mutex": "m" }, "unlock": "m", "timer": { "ref": "t", "period": 9 } } } },
      "b": { "loop": 1, "signal": "c", "suspend", "cpus": [0, 1], "fork": "a" } },
      "global": { "duration": 2 } }"#,
    "; MaxProcs: 8\n1 0 5 100 4 -1 -1 4 200 -1 1 1 1 1 1 -1 -1 -1\n\
     2 1 5 10 1 -1 -1 1 2 -1 1 1 1 1 1 -1 1 3\n",
    r#"{"nb_res": 4, "jobs": [{"id": "a", "subtime": 0, "res": 2, "profile": "c"}], "profiles": {
      "p": {"type": "parallel_homogeneous", "cpu": 5e9, "com": 1}, "d": {"type": "delay", "delay": 2},
      "c": {"type": "composed", "repeat": 3, "seq": ["p", "d"]}}}"#,
    "apiVersion: v1\nkind: Pod\nmetadata: { name: web }\nspec:\n  containers:\n  - name: main\n    \
     resources: { limits: { cpu: \"2\", memory: 1Gi } }\n---\napiVersion: v1\nkind: List\nitems: []\n",
    "services:\n  web: { cpus: 0.5, deploy: { replicas: 2 }, cpuset: 0-2 }\n",
    "./s/cpu.weight:200\n./s/a/cpu.max:50000 100000\n./s/a/cgroup.procs:12\n./s/b/cpuset.cpus:0-3\n",
    "./mlfq.py -l 0,20,0:5,10,1 -i 3\n",
];

fn import(text: &str, form: Option<Form>) {
    let options = Options { form, ..Options::named("x") };
    // What comes out does not matter here, only that something does.
    if let Ok(imported) = import::import(&[Source { name: "f", text }], &options) {
        assert!(imported.text.len() <= 1 << 20);
    }
}

#[test]
fn samples_with_changed_bytes_are_no_danger() {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let parts = [
        "{",
        "}",
        "[",
        "]",
        "\"",
        ":",
        ",",
        "-1",
        "99999999999999999999",
        "1e308",
        "é",
        "#",
        "\n",
        "---\n",
        "0",
        " ",
    ];
    for sample in SAMPLES {
        for _ in 0..400 {
            let mut text: Vec<char> = sample.chars().collect();
            for _ in 0..random.random_range(1..4) {
                let at = random.random_range(0..text.len());
                let part = parts[random.random_range(0..parts.len())];
                let end = (at + random.random_range(0..3)).min(text.len());
                text.splice(at..end, part.chars());
            }
            let text: String = text.into_iter().collect();
            import(&text, None);
        }
    }
}

#[test]
fn truncated_samples_in_every_form() {
    for sample in SAMPLES {
        for end in (0..sample.len()).step_by(7).filter(|end| sample.is_char_boundary(*end)) {
            import(&sample[..end], None);
        }
        for form in FORMS {
            import(sample, Some(form));
        }
    }
}

#[test]
fn large_numbers_and_deep_nesting_are_bounded() {
    for form in FORMS {
        for text in [
            "[".repeat(200_000),
            "{\"tasks\":".repeat(100_000),
            "a: ".repeat(50_000),
            format!("{{\"tasks\": {{\"a\": {{\"instance\": {0}, \"loop\": {0}, \"run\": {0}}}}}}}", u64::MAX),
            format!("-l {}", "9,".repeat(200_000)),
            format!("{} {}\n", u64::MAX, u64::MAX),
            format!("a/cpuset.cpus:0-{}\n", u32::MAX),
            format!("{}\n", "18446744073709551615 ".repeat(18)),
            format!("services: {{ a: {{ scale: {} }} }}\n", u64::MAX),
            format!("apiVersion: v1\nkind: Job\nspec: {{ parallelism: {} }}\n", u64::MAX),
            "---\n".repeat(100_000),
        ] {
            import(&text, Some(form));
        }
    }
    let profile = r#"{"nb_res": 1, "jobs": [{"id": 1, "subtime": 0, "res": 1, "profile": "a"}], "profiles": {
      "a": {"type": "composed", "repeat": 2, "seq": ["b","b","b","b","b","b","b","b"]},
      "b": {"type": "composed", "seq": ["c","c","c","c","c","c","c","c"]},
      "c": {"type": "composed", "seq": ["a","a","a","a","a","a","a","a"]}}}"#;
    import(profile, None);
}

#[test]
fn endless_copies_and_countless_documents_are_refused() {
    let many = format!("spec:\n  replicas: {}\n  template:\n    spec:\n      containers: [C]\n", u64::MAX);
    let pod = "---\napiVersion: v1\nkind: Pod\nspec: { containers: [{ name: a }] }\n";
    let said =
        |text: &str| format!("{:?}", import::import(&[Source { name: "f", text }], &Options::named("x")));
    let head = "apiVersion: apps/v1\nkind: Deployment\n";
    let text = format!("{head}{}{pod}", many.replace("[C]", "[{ name: a }]"));
    assert!(said(&text).contains("at most 400"), "{}", said(&text));
    // Without containers there is nothing to copy.
    let text = format!("{head}{}{pod}", many.replace("[C]", "[]"));
    assert!(said(&text).contains("pod-pod"), "{}", said(&text));
    let text = pod.repeat(501);
    assert!(said(&text).contains("more than 500 documents"));
    let text = format!("{pod}---\na: [\n");
    assert!(said(&text).contains("f:6") || said(&text).contains("f:7"), "{}", said(&text));
}

#[test]
fn many_groups_and_groups_without_processes_are_refused_with_the_reason() {
    let said =
        |text: &str| format!("{:?}", import::import(&[Source { name: "f", text }], &Options::named("x")));
    let many: String = (0..100_000).map(|group| format!("g{group}/cpu.weight:5\n")).collect();
    assert!(said(&many).contains("100000 groups; at most 1000"), "{}", said(&many));
    let text = "cgroup.procs:1\na/cpu.weight:5\n";
    assert!(said(text).contains("no group of it has processes"), "{}", said(text));
}

#[test]
fn a_file_above_the_limit_is_refused_before_it_is_read() {
    let text = " ".repeat(import::MAX_BYTES as usize + 1);
    let refused = import::import(&[Source { name: "f", text: &text }], &Options::named("x")).unwrap_err();
    assert!(format!("{refused:?}").contains("64 MiB"));
}
