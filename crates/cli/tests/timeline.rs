//! `oversim timeline` as a user sees it: text, pictures, remarks, refusals.

mod support;

use std::fs;

use support::oversim;

const ODD: &str = "\
name: odd
machine: 'package:1 numa:2 core:2'
apps:
  job: { workload: { spmd: { work: 2s, intervals: 4 } }, runtime: upc, tasks: 5 }
policies: [SPEED, PIN, LOAD]
sweep: { machine.migration: [1us, 20us] }
repeat: 2
";

fn timeline(args: &[&str]) -> (i32, String, String) {
    oversim(&[&["timeline", "-"], args].concat(), ODD)
}

#[test]
fn text_has_a_row_per_cpu_and_fits_the_window() {
    let (code, out, err) = timeline(&[]);
    assert_eq!(code, 0, "{err}");
    assert_eq!(out.lines().filter(|line| line.starts_with("node ")).count(), 4, "{out}");
    assert!(out.lines().all(|line| line.chars().count() <= 80), "{out}");
    assert!(!out.contains('\u{1b}'), "colours in a pipe: {out}");
    assert!(out.contains("SPEED: computing") && out.contains("PIN: computing") && !out.contains("LOAD: "));
    // Standard error names the choices that the command made.
    assert!(err.contains("machine.migration=1us") && err.contains("--policy A,B"), "{err}");
    let (_, _, err) = timeline(&["--quiet"]);
    assert_eq!(err, "");
}

#[test]
fn set_chooses_the_configuration() {
    for (value, title) in
        [("20us", "odd, machine.migration=20us, seed 1"), ("7us", "odd, machine.migration=7us, seed 1")]
    {
        let (code, out, err) =
            timeline(&["--set", &format!("machine.migration={value}"), "--policy", "PIN", "--quiet"]);
        assert_eq!(code, 0, "{err}");
        assert!(out.starts_with(title), "{out}");
    }
}

#[test]
fn pictures_are_written_whole_in_the_form_of_their_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (svg, again, png) = (path("a.svg"), path("b.svg"), path("a.PNG"));
    for file in [&svg, &again, &png] {
        let (code, out, err) = timeline(&["--policy", "SPEED,PIN", "-o", file]);
        assert_eq!((code, out.as_str()), (0, ""), "{err}");
        assert!(err.contains("the whole run"), "{err}");
    }
    let text = fs::read_to_string(&svg).unwrap();
    assert!(text.starts_with("<svg ") && text.ends_with("</svg>\n"));
    assert_eq!(text, fs::read_to_string(&again).unwrap());
    assert!(fs::read(&png).unwrap().starts_with(b"\x89PNG"));
    // It is not overwritten by accident.
    let (code, _, err) = timeline(&["-o", &svg]);
    assert!(code == 2 && err.contains("--force"), "{code} {err}");
    let (code, _, err) = timeline(&["-o", &svg, "--force", "--policy", "LOAD"]);
    assert_eq!(code, 0, "{err}");
    assert_ne!(text, fs::read_to_string(&svg).unwrap());
}

#[test]
fn what_makes_no_sense_is_refused_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let nowhere = folder.path().join("none/a.svg");
    let wrong: [(&[&str], &str); 11] = [
        (&["--from", "2s", "--to", "1s"], "before it begins"),
        (&["--from", "100s"], "the longest run ends at"),
        (&["--from", "3"], "a duration needs a unit"),
        (&["--to", "soon"], "--to"),
        (&["--cpus", "4"], "the machine has the cpus 0-3"),
        (&["--cpus", "x"], "is not a cpu or a range of cpus"),
        (&["--policy", "SPED"], "did you mean `SPEED`"),
        (&["--policy", "SPEED,PIN,LOAD,ULE,gang"], "at most 4"),
        (&["--set", "machine.migration=1"], "a duration needs a unit"),
        (&["-o", "a.pdf"], ".svg or .png"),
        (&["-o", nowhere.to_str().unwrap()], "there is no directory"),
    ];
    for (args, why) in wrong {
        let (code, out, err) = timeline(args);
        assert_eq!((code, out.as_str()), (2, ""), "{args:?}: {err}");
        assert!(err.contains(why), "{args:?}: {err}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}
