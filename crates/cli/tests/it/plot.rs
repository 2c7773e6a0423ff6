//! `oversim plot`: files, bytes, and what is refused.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::path::Path;

use crate::support::oversim;

const SCENARIO: &str = "\
name: small
machine: \"core:2\"
apps:
  fine: { workload: { spmd: { work: 20ms, intervals: 20, spread: 20% } } }
  coarse: { workload: { spmd: { work: 30ms, intervals: 2 } } }
policies: [LOAD, PIN]
sweep: { threads_per_core: [1, 2] }
repeat: 2
";

/// Names and bytes of the files in a directory, in order.
fn files(directory: &Path) -> Vec<(String, Vec<u8>)> {
    let mut all: Vec<(String, Vec<u8>)> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap()))
        .collect();
    all.sort();
    all
}

#[test]
fn a_scenario_and_its_result_give_the_same_figures_with_their_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let (code, said, errors) = oversim(&["plot", "-", "-o", &at("a"), "--jobs", "1"], SCENARIO);
    assert_eq!((code, errors.as_str()), (0, ""), "{said}");
    let (code, result, _) = oversim(&["run", "-", "--format", "json"], SCENARIO);
    assert_eq!(code, 0);
    fs::write(at("r.json"), result).unwrap();
    assert_eq!(oversim(&["plot", &at("r.json"), "-o", &at("b")], "").0, 0);
    let all = files(&folder.path().join("a"));
    assert_eq!(all, files(&folder.path().join("b")));
    let last = format!("9 figures in {}: each as SVG, its numbers as CSV.", at("a"));
    assert_eq!(said.lines().last().unwrap(), last);
    assert_eq!(all.len(), 2 * said.lines().filter(|line| line.contains(".svg: ")).count());
    for (name, bytes) in &all {
        let (stem, ending) = name.split_once('.').unwrap();
        let other = if ending == "svg" { "csv" } else { "svg" };
        assert!(all.iter().any(|(twin, _)| *twin == format!("{stem}.{other}")), "{name} is alone");
        assert!(bytes.len() > 100, "{name}");
    }
    let numbers = fs::read_to_string(at("a/slowdown.csv")).unwrap();
    assert!(numbers.starts_with("configuration,policy,app,metric,unit,mean,"), "{numbers}");
}

#[test]
fn a_paper_gets_pdf_numbers_and_captions() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let args = ["plot", "-", "--for", "paper", "--figure", "slowdown", "-o"];
    for (name, more) in [("a", &[][..]), ("b", &[]), ("c", &["--width", "180mm", "--format", "png"])] {
        let (code, said, errors) = oversim(&[&args[..], &[&at(name)], more].concat(), SCENARIO);
        assert_eq!((code, errors.as_str()), (0, ""), "{said}");
        let form = if name == "c" { "PNG" } else { "PDF" };
        let end = format!("each as {form}, its numbers as CSV, its caption for LaTeX.");
        assert!(said.trim_end().ends_with(&end), "{said}");
    }
    let names =
        |name: &str| -> Vec<String> { files(Path::new(&at(name))).into_iter().map(|f| f.0).collect() };
    assert_eq!(names("a"), ["slowdown.csv", "slowdown.pdf", "slowdown.tex"]);
    assert_eq!(names("c"), ["slowdown.csv", "slowdown.png", "slowdown.tex"]);
    let read = |name: &str| fs::read(at(name)).unwrap();
    assert_eq!(read("a/slowdown.pdf"), read("b/slowdown.pdf"));
    // 85 mm are 240.94 points.
    let page = String::from_utf8_lossy(&read("a/slowdown.pdf")).into_owned();
    assert!(page.contains("/MediaBox [0 0 240.94"), "{page}");
    let caption = String::from_utf8(read("c/slowdown.tex")).unwrap();
    let command = "% oversim plot scenario.yaml --for paper --width 180mm --format png --figure slowdown -o ";
    assert!(caption.starts_with(command) && caption.contains("width=180mm"), "{caption}");
    // 180 mm at 600 dots to the inch.
    let png = read("c/slowdown.png");
    assert!(u32::from_be_bytes(png[16..20].try_into().unwrap()).abs_diff(4252) < 8);
}

#[test]
fn a_slide_is_16_to_9() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("s").to_string_lossy().into_owned();
    let (code, _, errors) =
        oversim(&["plot", "-", "--for", "slide", "--figure", "breakdown", "-o", &out], SCENARIO);
    assert_eq!((code, errors.as_str()), (0, ""));
    let png = fs::read(folder.path().join("s/breakdown.png")).unwrap();
    let side = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
    assert!(side(16).abs_diff(3840) < 8 && side(20).abs_diff(2160) < 8, "{} {}", side(16), side(20));
}

#[test]
fn png_is_the_same_picture_in_pixels() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let args = ["plot", "-", "--format", "png", "--figure", "slowdown,breakdown", "-o"];
    for name in ["a", "b"] {
        let (code, _, errors) = oversim(&[&args[..], &[&at(name)]].concat(), SCENARIO);
        assert_eq!((code, errors.as_str()), (0, ""));
    }
    let all = files(&folder.path().join("a"));
    assert_eq!(all, files(&folder.path().join("b")));
    let names: Vec<&str> = all.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["breakdown.csv", "breakdown.png", "slowdown.csv", "slowdown.png"]);
    assert!(all[1].1.starts_with(b"\x89PNG"));
}

#[test]
fn figures_without_data_are_left_out_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("f").to_string_lossy().into_owned();
    let lone = SCENARIO.replace("sweep: { threads_per_core: [1, 2] }\n", "");
    let (code, said, _) =
        oversim(&["plot", "-", "-o", &out, "--figure", "sweep,heatmap,speedup", "--policy", "PIN"], &lone);
    assert_eq!(code, 0, "{said}");
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(
        lines,
        [
            "speedup skipped: needs two policies",
            "sweep skipped: needs a sweep",
            "heatmap skipped: needs two policies and a sweep",
            "No figure was drawn."
        ]
    );
    assert!(!Path::new(&out).exists(), "nothing to write, no directory");
}

#[test]
fn what_cannot_be_drawn_is_refused_before_anything_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let refused = |args: &[&str], stdin: &str, why: &str| {
        let (code, said, errors) = oversim(args, stdin);
        assert_eq!(code, 2, "{args:?}: {said}{errors}");
        assert!(said.is_empty() && errors.contains(why), "{args:?}: {errors}");
    };
    fs::write(at("x.json"), "name: x\n").unwrap();
    refused(&["plot", &at("x.json"), "-o", &at("o")], "", "x.json:1:");
    fs::write(at("old.json"), "{\"schema\": \"oversim.result/1\"}").unwrap();
    refused(&["plot", &at("old.json"), "-o", &at("o")], "", "run its scenario again");
    refused(&["plot", &at("none.yaml"), "-o", &at("o")], "", "cannot read");
    refused(&["plot", "-", "-o", &at("x.json")], SCENARIO, "x.json is not a directory");
    refused(&["plot", "-", "-o", &at("x.json/deeper")], SCENARIO, "x.json is not a directory");
    refused(
        &["plot", "-", "--figure", "pie", "-o", &at("o")],
        SCENARIO,
        "no figure is called `pie`. Valid: slowdown,",
    );
    refused(&["plot", "-", "--width", "85mm", "-o", &at("o")], SCENARIO, "add --for paper");
    let paper = ["plot", "-", "--for", "paper", "-o", &at("o"), "--width"];
    refused(&[&paper[..], &["20mm"]].concat(), SCENARIO, "a figure is 75 to 300 mm wide");
    refused(&[&paper[..], &["3in"]].concat(), SCENARIO, "write millimetres, as `85mm`");
    refused(&["plot", "-", "-o", &at("o")], &SCENARIO.replace("PIN", "PNI"), "did you mean `PIN`?");
    let (_, result, _) = oversim(&["run", "-", "--format", "json"], SCENARIO);
    fs::write(at("r.json"), result).unwrap();
    refused(&["plot", &at("r.json"), "--repeat", "9", "-o", &at("o")], "", "applies to scenarios only");
    assert!(!Path::new(&at("o")).exists());
    assert_eq!(oversim(&["plot", &at("r.json"), "-o", &at("o")], "").0, 0);
    let before = files(Path::new(&at("o")));
    refused(&["plot", &at("r.json"), "-o", &at("o")], "", "--force replaces it");
    assert_eq!(oversim(&["plot", &at("r.json"), "-o", &at("o"), "--force"], "").0, 0);
    assert_eq!(before, files(Path::new(&at("o"))));
}

#[test]
fn a_phase_diagram_has_sentences_numbers_and_the_same_bytes_from_a_result() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let diagram = |subject: &str, rest: &[&str], stdin: &str| {
        oversim(&[&["sweep", "phase-diagram", subject][..], rest].concat(), stdin)
    };
    let scenario = SCENARIO.replace("[1, 2] }", "[1, 2], kernel.yield: [forfeit, deadline] }");
    let (code, said, errors) = diagram("-", &["-o", &at("a.svg"), "--jobs", "1"], &scenario);
    assert_eq!((code, errors.as_str()), (0, ""), "{said}");
    let (code, result, _) = oversim(&["run", "-", "--format", "json"], &scenario);
    assert_eq!(code, 0);
    fs::write(at("r.json"), result).unwrap();
    assert_eq!(diagram(&at("r.json"), &["-o", &at("b.svg")], ""), (0, said.clone(), String::new()));
    for ending in ["svg", "csv"] {
        let read = |name: &str| fs::read(at(&format!("{name}.{ending}"))).unwrap();
        assert_eq!(read("a"), read("b"), "{ending}");
    }
    assert!(said.starts_with("By the mean throughput, ") && said.contains("Of the variance of "), "{said}");
    assert_eq!(fs::read_to_string(at("a.csv")).unwrap().lines().count(), 5, "a line for each configuration");
    let of = ["--app", "fine", "--metric", "run_time", "--at", "yield=deadline", "-o", &at("c.png")];
    let (code, said, _) = diagram(&at("r.json"), &of, "");
    assert!(code == 0 && said.starts_with("By the mean run_time of fine, "), "{said}");
    assert!(fs::read(at("c.png")).unwrap().starts_with(b"\x89PNG"));
    for (rest, why) in [
        (&["-o", &at("a.svg")][..], "a.svg exists; --force replaces it"),
        (&["-o", &at("d.gif")], "must end in .svg, .png or .pdf"),
        (&["-o", &at("d.svg"), "--x", "tasks"], "--x: `tasks` is not swept. Swept: threads_per_core,"),
        (&["-o", &at("d.svg"), "--x", "yield", "--y", "yield"], "cannot be both sides"),
        (&["-o", &at("d.svg"), "--at", "yield"], "write PATH=VALUE"),
        (&["-o", &at("d.svg"), "--at", "yield=x"], "kernel.yield has no value `x`. Valid: forfeit, deadline"),
        (&["-o", &at("d.svg"), "--metric", "work"], "neither more nor less of `work` is better"),
        (&["-o", &at("d.svg"), "--app", "fin"], "did you mean `fine`?"),
        (&["-o", &at("d.svg"), "--metric", "run_time"], "choose one with --app"),
        (&["-o", &at("d.svg"), "--repeat", "3"], "applies to scenarios only"),
    ] {
        let (code, said, errors) = diagram(&at("r.json"), rest, "");
        assert!(code == 2 && said.is_empty() && errors.contains(why), "{rest:?}: {errors}");
    }
    assert!(!Path::new(&at("d.svg")).exists());
}
