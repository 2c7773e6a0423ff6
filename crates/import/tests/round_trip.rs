//! Exports, and imports of what was exported: the same numbers.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use import::{Imported, Kind, Options, Source, export};

fn imported(text: &str) -> Imported {
    import::import(&[Source { name: "file", text }], &Options::named("x")).unwrap()
}

/// The lines that state numbers, without comments; names of clocks and the window aside.
fn numbers(text: &str) -> Vec<String> {
    let bare = |line: &str| line.split("  #").next().unwrap_or_default().trim().to_owned();
    let lines = text.lines().filter(|line| !line.starts_with('#')).map(bare);
    lines.map(|line| line.replace("clock unique-", "clock ")).collect()
}

const PROGRAM: &str = "\
name: x
machine: \"package:1 numa:1 core:4 pu:1\"
kernel: linux-6.18
window: 3s
apps:
  mix:
    program:
      sections: { think: \"sleep 2ms; yield\" }
      kinds:
        producer:
          count: 3
          nice: -4
          cpus: '0-1'
          code: |
            forever {
              run 10ms
              lock m
              signal c
              unlock m
              release s 2
              until 50ms from 50ms clock tick
            }
        consumer:
          scheduling: batch
          code: |
            repeat 5 {
              repeat 3 {
                acquire s
                run 1500us
              }
              lock m; wait c with m; unlock m
              call think
              barrier
            }
            nice 3
            run 7us
  hogs: { workload: { hog: { work: 250ms } }, tasks: 2, slice: 5ms, cgroup: low }
policies: [LOAD]
";

#[test]
fn rt_app_reads_what_was_exported_with_the_same_numbers() {
    let exported = export::rt_app(&Source { name: "x.yaml", text: PROGRAM }).unwrap();
    assert!(exported.is_whole(), "{:#?}", exported.notes);
    serde_json::from_str::<serde_json::Value>(&exported.text).unwrap();
    let first = imported(&exported.text);
    for line in [
        "count: 3",
        "nice: -4",
        "run 10ms",
        "release s",
        "until 50ms from 50ms clock unique-tick",
        "scheduling: batch",
        "run 1500us",
        "run 250ms",
        "slice: 5ms",
        "cgroup: low",
        "nice 3",
        "run 7us",
        "cpus: '0-1'",
    ] {
        assert!(first.text.lines().any(|found| found.trim().starts_with(line)), "{line}\n{}", first.text);
    }
    // Exported and imported again, nothing changes any more.
    let again = export::rt_app(&Source { name: "x.yaml", text: &first.text }).unwrap();
    assert_eq!(numbers(&imported(&again.text).text), numbers(&first.text));
}

#[test]
fn phases_have_events_and_applications_have_names_of_their_own() {
    let text = "name: x\nmachine: barcelona\npolicies: [LOAD]\napps:\n  \
        a: { program: { shared: [s], kinds: { k: { code: 'nice 3; cpus 0-1; nice 4; lock m; run 1ms; \
        unlock m; release s; nice 9' }, idle: { code: 'nice 1' } } } }\n  \
        b: { program: { shared: [s], kinds: { k: { code: 'lock m; run 2ms; unlock m; acquire s; fork c' }, \
        c: { code: run 3ms } } } }\n  \
        k: { workload: { hog: { work: 5ms } }, tasks: 1 }\n";
    let exported = export::rt_app(&Source { name: "x.yaml", text }).unwrap();
    let value: serde_json::Value = serde_json::from_str(&exported.text).unwrap();
    let tasks = value["tasks"].as_object().unwrap();
    assert_eq!(tasks.keys().collect::<Vec<_>>(), ["a-k", "b-k", "c", "k-k"]);
    let phases = tasks["a-k"]["phases"].as_object().unwrap();
    assert_eq!(phases.len(), 1, "{phases:#?}");
    let phase = &phases["phase0"];
    assert_eq!([&phase["priority"], &phase["cpus"][1]], [4, 1]);
    assert!(exported.text.contains("\"a-m\"") && exported.text.contains("\"b-m\""), "{}", exported.text);
    assert!(
        exported.text.contains("\"s\"") && exported.text.contains("\"fork4\": \"c\""),
        "{}",
        exported.text
    );
    assert!(
        exported.notes.iter().any(|note| note.what.contains("without an event")),
        "{:#?}",
        exported.notes
    );
    imported(&exported.text);
}

#[test]
fn what_rt_app_cannot_state_is_listed() {
    let text = "name: x\nmachine: barcelona\npolicies: [LOAD]\napps:\n  a:\n    program:\n      \
        semaphores: { s: 2 }\n      \
        code: |\n        run 1500ns exponential\n        acquire s\n        release s\n        \
        choose {\n          50% { run 1ms }\n        }\n  b: { workload: { spmd: { work: 1s } } }\n";
    let exported = export::rt_app(&Source { name: "x.yaml", text }).unwrap();
    let listed = |kind, words: &str| {
        let found = exported.notes.iter().any(|note| note.kind == kind && note.what.contains(words));
        assert!(found, "{words}: {:#?}", exported.notes);
    };
    assert!(!exported.is_whole());
    listed(Kind::LeftOut, "units of semaphores");
    listed(Kind::LeftOut, "variation");
    listed(Kind::LeftOut, "`choose`");
    listed(Kind::LeftOut, "no `program` and no `hog`");
    listed(Kind::Differs, "whole us");
}

#[test]
fn a_job_log_goes_out_and_in_with_the_same_numbers() {
    let text = "name: x\nmachine: \"package:1 numa:1 core:8 pu:1\"\n\
        admission: { threads: 8 }\npolicies: [LOAD]\n\
        apps:\n  \
        a: { workload: { hog: { work: 1500ms } }, tasks: 4, start: 0s, estimate: 2500ms }\n  \
        b: { workload: { spmd: { work: 8s } }, tasks: 2, start: 10s, copies: 2, arrival: { every: 5s } }\n  \
        c: { workload: { hog: { work: 2s } }, tasks: 1, after: a, start: 3s }\n  \
        d: { workload: hog, tasks: 1 }\n";
    let exported = export::swf(&Source { name: "x.yaml", text }).unwrap();
    assert!(!exported.is_whole(), "the endless hog is no job");
    let first = imported(&exported.text);
    for line in [
        "job-1: { workload: { hog: { work: 1500ms } }, tasks: 4, start: 0s, estimate: 2500ms }",
        "job-2: { workload: { hog: { work: 2s } }, tasks: 1, after: job-1, start: 3s }",
        "job-3: { workload: { hog: { work: 4s } }, tasks: 2, start: 10s }",
        "job-4: { workload: { hog: { work: 4s } }, tasks: 2, start: 15s }",
        "admission: { threads: 8 }",
    ] {
        assert!(first.text.lines().any(|found| found.trim().starts_with(line)), "{line}\n{}", first.text);
    }
    let again = export::swf(&Source { name: "x.yaml", text: &first.text }).unwrap();
    assert_eq!(numbers(&imported(&again.text).text), numbers(&first.text));
}
