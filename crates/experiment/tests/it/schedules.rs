//! Schedule files: written, read and replayed, a recording gives the same runs; wrong and foreign files are
//! refused.

use experiment::result::Results;
use experiment::run::run;
use experiment::schedule::{Recording, read, record, replay, write};
use scenario::plan::Experiment;
use scenario::{Overrides, load};

const TEXT: &str = "\
name: shared
machine: package:2 numa:1 core:2
apps:
  a: { workload: { spmd: { work: 200ms, intervals: 8, spread: 10% } }, tasks: 5 }
  b: { workload: { spmd: { work: 100ms, intervals: 4, spread: 10% } }, tasks: 3, start: 20ms, runtime: openmp }
policies: POLICIES
repeat: 2
";

fn experiment(set: &[&str]) -> Experiment {
    let names: Vec<&str> = policies::ALL.iter().map(|entry| entry.name).collect();
    let text = TEXT.replace(
        "POLICIES",
        &format!(
            "[{}, {{ SPEED: {{}}, over: ULE, perturb: {{ delay: 2ms, veto: 20% }}, as: odd }}, \
         {{ gang: {{ alternates: none, quantum: 10ms }}, as: strict }}]",
            names.join(", ")
        ),
    );
    let set = set.iter().map(|pair| (*pair).to_owned()).collect();
    load("shared.yaml", &text, &Overrides { set, ..Overrides::default() })
        .unwrap_or_else(|said| panic!("{said}"))
}

fn text(recording: &Recording) -> String {
    let mut out = Vec::new();
    write(recording, &mut out).expect("memory takes all");
    String::from_utf8(out).expect("JSON is UTF-8")
}

fn again(text: &str) -> Result<Recording, String> {
    read("s.ndjson", &mut text.as_bytes(), 1 << 22).map(|(recording, _)| recording)
}

fn replayed(experiment: &Experiment, recording: &Recording) -> Results {
    replay(experiment, recording, "00", 2, &|_, _| ()).expect("it is the same experiment")
}

#[test]
fn under_every_policy_a_replay_is_the_recorded_run() {
    let experiment = experiment(&[]);
    let plain = run(&experiment, 2, &|_, _| ()).unwrap();
    let (results, recording) = record(&experiment, 2, &|_, _| ()).unwrap();
    assert!(results == plain, "recording changes nothing");
    assert_eq!(recording.runs.len(), experiment.runs.len());
    let read = again(&text(&recording)).unwrap();
    assert!(read == recording, "what was written is read");
    let replayed = replayed(&experiment, &read);
    assert_eq!(replayed.provenance.digest, plain.provenance.digest);
    assert!(replayed.cells == plain.cells);
    for run in &replayed.replays {
        assert!(run.same && run.illegal + run.unreached + run.unforeseen == 0, "{run:?}");
    }
    assert!(replayed.replays.iter().all(|run| run.applied > 0), "{:?}", replayed.replays);
}

#[test]
fn a_schedule_can_be_tried_under_other_costs_and_speeds() {
    let (_, recording) = record(&experiment(&[]), 2, &|_, _| ()).unwrap();
    let mut differ = 0;
    for set in ["machine.migration=50us", "machine.core_speed=0.7", "seed=5"] {
        let changed = experiment(&[set]);
        let results = replayed(&changed, &recording);
        assert!(results.all_completed(), "{set}: {:?}", results.notes);
        differ += results.replays.iter().filter(|run| !run.same).count();
        let twice = replayed(&changed, &recording);
        assert!(results == twice, "{set}: a replay is deterministic");
    }
    assert!(differ > 0);
}

#[test]
fn schedules_of_something_else_are_refused() {
    let (_, recording) = record(&experiment(&[]), 2, &|_, _| ()).unwrap();
    let refused = |experiment: &Experiment, recording: &Recording| {
        replay(experiment, recording, "00", 1, &|_, _| ()).err().map(|e| e.to_string()).unwrap_or_default()
    };
    let said = refused(&experiment(&["repeat=3"]), &recording);
    assert!(said.contains("it has no run `dedicated a, replicate 2`"), "{said}");
    let mut other = recording;
    other.origin.model = "oversim-model/1".into();
    let said = refused(&experiment(&[]), &other);
    assert!(said.contains("recorded with oversim-model/1"), "{said}");
}

#[test]
fn wrong_files_are_refused_with_the_line() {
    let (_, recording) = record(&experiment(&["repeat=1"]), 2, &|_, _| ()).unwrap();
    let good = text(&recording);
    let lines: Vec<&str> = good.lines().collect();
    let with = |line: &str| format!("{}\n{}\n{line}\n{}\n", lines[0], lines[1], lines[3..].join("\n"));
    assert!(again(&with(lines[2])).is_ok());
    let wrong = [
        (String::new(), "is not a schedule"),
        ("{}\n".into(), "is not a schedule"),
        (good.replacen("oversim.schedule/2", "oversim.schedule/9", 1), "is not a schedule"),
        (good[..good.len() - 3].into(), "the line is incomplete"),
        (lines[..lines.len() - 1].join("\n") + "\n", "the file ends before its last run"),
        (format!("{good}{{}}\n"), "more runs than its first line states"),
        (with("no json"), "line 3: "),
        (with(r#"{"at":0,"hook":"dance"}"#), "unknown variant `dance`"),
        (with(r#"{"at":0,"hook":"idle","of":5000000000}"#), "out of range"),
        (with(r#"{"at":0,"hook":"place","of":1}"#), "each `place` needs a `cpu`"),
        (with(r#"{"at":18446744073709551615,"hook":"slot"}"#), "is not a valid instant"),
        (with(r#"{"at":0,"hook":"slot","asks":[{"bind":[0,"0-99999999,"]}]}"#), "`99999999` is not a cpu"),
        (with(r#"{"at":0,"hook":"slot","asks":[{"charge":[0,60000000001]}]}"#), "too much"),
        (with(r#"{"at":0,"hook":"slot","nth":4294967296}"#), "`nth` is out of range"),
    ];
    for (text, expected) in wrong {
        let said = again(&text).err().unwrap_or_default();
        assert!(said.contains(expected), "{expected}: {said}");
    }
    // What is well-formed and absurd is not legal and does nothing.
    let absurd = r#"{"at":0,"hook":"init","asks":[{"migrate":[4000000000,9]},{"charge":[4000000000,1]},{"attick":[4000000000,0]},{"bind":[0,"77,"]},{"priority_level":[99,3]},{"bind":[1,"77"]}]}"#;
    let results = replayed(&experiment(&["repeat=1"]), &again(&with(absurd)).unwrap());
    assert_eq!(results.replays[0].illegal, 4);
}

#[test]
fn equal_sets_of_cpus_are_held_once_and_no_larger_than_the_machine() {
    let (_, recording) = record(&experiment(&["repeat=1"]), 2, &|_, _| ()).unwrap();
    let good = text(&recording);
    let lines: Vec<&str> = good.lines().collect();
    let calls = |count: usize, line: &dyn Fn(usize) -> String| {
        let own = recording.runs[0].schedule.calls.len();
        let head = lines[1].replace(&format!("\"calls\":{own}"), &format!("\"calls\":{}", own + count));
        let extra: Vec<String> = (0..count).map(line).collect();
        format!("{}\n{head}\n{}\n{}\n", lines[0], extra.join("\n"), lines[2..].join("\n"))
    };
    let bind = |set: String| format!(r#"{{"at":0,"hook":"init","asks":[{{"bind":[0,"{set}"]}}]}}"#);
    let held = |recording: &Recording| {
        let asked = recording.runs[0].schedule.calls.iter().flat_map(|call| &call.asked);
        asked
            .filter_map(|request| match request {
                policies::Request::Bind(_, sim_core::policy::Affinity::Set(set)) => {
                    Some(std::sync::Arc::clone(set))
                }
                _ => None,
            })
            .collect::<Vec<_>>()
    };
    // Twenty thousand calls of 77 bytes, each a set of half a megabyte.
    let bomb = calls(20_000, &|_| bind("0-4194303,".into()));
    let (read, _) = read("s.ndjson", &mut bomb.as_bytes(), 4).unwrap();
    let sets = held(&read);
    assert_eq!(sets[0].iter().count(), 4, "only the cpus that there are");
    assert!(sets[1..20_000].iter().all(|set| std::sync::Arc::ptr_eq(set, &sets[0])), "one set for all");
    // Different ones are refused before they fill the memory, with the line.
    let many = calls(20_000, &|at| bind(format!("{at}-4194303,")));
    let said = again(&many).err().unwrap_or_default();
    assert!(said.contains("line 5") && said.contains("more than 256 MiB"), "{said}");
    let wrong = calls(1, &|_| bind("3,1-2,".into()));
    let said = again(&wrong).err().unwrap_or_default();
    assert!(said.contains("line 3") && said.contains("out of order"), "{said}");
}
