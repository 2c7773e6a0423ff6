//! `oversim run --trace` as a user sees it: forms, choice of the run, files that are whole or not there.

use std::fs;

use crate::support::oversim;

const TINY: &str = "\
name: tiny
machine: 'package:2 numa:1 core:2'
apps:
  a: { workload: { spmd: { work: 40ms, intervals: 10, spread: 10% } }, runtime: upc }
  b: { workload: { spmd: { work: 80ms, intervals: 5, spread: 10% } }, runtime: upc }
policies: [LOAD, PIN]
threads_per_core: 2
repeat: 2
";

#[test]
fn one_run_is_traced_in_the_form_its_name_asks_for_and_the_result_stays_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let narrow = ["run", "-", "--policy", "LOAD", "--repeat", "1", "--format", "json"];
    let plain = oversim(&narrow, TINY);
    assert_eq!(plain.0, 0, "{}", plain.2);
    for name in ["a.pftrace", "a.perfetto-trace", "a.ftrace", "a.txt"] {
        assert_eq!(oversim(&[&narrow[..], &["--trace", &path(name)]].concat(), TINY), plain, "{name}");
    }
    let text = fs::read_to_string(path("a.txt")).unwrap();
    assert!(text.starts_with("# tracer: nop\n") && text.contains("# run: 2: LOAD, replicate 0\n"), "{text}");
    assert!(text.contains("sched_switch: prev_comm=swapper/0 prev_pid=0") && text.contains("next_comm=a.0"));
    assert_eq!(fs::read(path("a.txt")).unwrap(), fs::read(path("a.ftrace")).unwrap());
    let bytes = fs::read(path("a.pftrace")).unwrap();
    assert_eq!(bytes, fs::read(path("a.perfetto-trace")).unwrap());
    assert!(bytes[0] == 0x0a && bytes.windows(8).any(|part| part == b"scenario"), "packets");
    // Of several runs the one that is asked for, dedicated ones too; --jobs does not matter.
    let args = ["run", "-", "--trace", &path("b.txt"), "--trace-run", "4", "--jobs", "1"];
    let (code, _, err) = oversim(&args, TINY);
    assert_eq!(code, 0, "{err}");
    let other = fs::read_to_string(path("b.txt")).unwrap();
    assert!(other.contains("# run: 4: LOAD, replicate 0\n"), "{other}");
    let events =
        |text: &str| text.lines().filter(|line| !line.starts_with('#')).map(String::from).collect::<Vec<_>>();
    assert_eq!(events(&other), events(&text), "the same run by another number");
    let (code, _, err) = oversim(&["run", "-", "--trace", &path("c.txt"), "--trace-run", "0"], TINY);
    assert!(
        code == 0 && fs::read_to_string(path("c.txt")).unwrap().contains("dedicated, replicate 0"),
        "{err}"
    );
}

#[test]
fn what_cannot_be_traced_is_refused_before_anything_runs() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::write(path("there.txt"), "mine").unwrap();
    for (args, says) in [
        (
            vec!["--trace", "OUT.pftrace"],
            "the scenario has 4: choose one with --trace-run 4 (LOAD, replicate 0), 5 (LOAD, replicate 1)",
        ),
        (vec!["--trace", "OUT.pftrace", "--trace-run", "8"], "numbered from 0 to 7"),
        (vec!["--trace", "OUT.json", "--trace-run", "0"], "must end in .pftrace"),
        (vec!["--trace", "OUT", "--trace-run", "0"], "must end in .pftrace"),
        (vec!["--trace", "there.txt", "--trace-run", "0"], "--force"),
        (vec!["--trace-run", "0"], "--trace <FILE>"),
        (vec!["--trace", "OUT.txt", "--replay-schedule", "x"], "cannot be used with"),
    ] {
        let args = args.iter().map(|word| {
            if word.contains("OUT") || word.contains("there") { path(word) } else { (*word).to_owned() }
        });
        let args: Vec<String> = ["run".to_owned(), "-".to_owned()].into_iter().chain(args).collect();
        let (code, out, err) = oversim(&args.iter().map(String::as_str).collect::<Vec<_>>(), TINY);
        assert!(code == 2 && out.is_empty() && err.contains(says), "{args:?}: {err}");
    }
    let files: Vec<_> = fs::read_dir(&folder).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(files, ["there.txt"], "nothing else is left behind");
    assert_eq!(fs::read_to_string(path("there.txt")).unwrap(), "mine");
    let nowhere = path("no/such/folder/x.txt");
    let (code, _, err) = oversim(&["run", "-", "--trace", &nowhere, "--trace-run", "0"], TINY);
    assert!(code == 2 && err.contains("there is no directory"), "{code} {err}");
}
