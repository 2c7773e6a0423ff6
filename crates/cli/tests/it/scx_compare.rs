//! `oversim scx compare` on small scenarios.

use std::fs;

use crate::support::oversim;

const HOGS: &str = "name: hogs\nmachine: core:2\nkernel: linux-6.18\nbaseline: none\n\
    apps: { job: { workload: { hog: { work: 40ms } }, tasks: 5 } }\n";

#[test]
fn two_policies_are_compared_and_the_worst_moment_is_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    fs::write(path("hogs.yaml"), HOGS).unwrap();
    let (scenario, picture) = (path("hogs.yaml"), path("worst.svg"));
    let all = ["scx", "compare", "LOAD", "PIN", "--on", &scenario, "--repeat", "2"];
    let (code, text, err) = oversim(&[&all[..], &["--timeline", &picture]].concat(), "");
    assert_eq!(code, 0, "{err}");
    assert!(text.contains("The run takes") && text.contains("Worst task: job."), "{text}");
    assert!(fs::read_to_string(&picture).unwrap().starts_with("<svg"));
    // The same bytes for any number of threads.
    for form in ["text", "json", "markdown", "csv"] {
        let of = |jobs: &str| oversim(&[&all[..], &["--format", form, "--jobs", jobs]].concat(), "");
        assert_eq!(of("1"), of("2"), "{form}");
    }
}

#[test]
fn what_cannot_be_compared_is_refused_with_its_reason() {
    let refused = |more: &[&str], why: &str| {
        let (code, _, err) = oversim(&[&["scx", "compare"], more].concat(), "");
        assert_eq!(code, 2, "{err}");
        assert!(err.contains(why), "{err}");
    };
    refused(&["LOAD", "PIN"], "--on");
    refused(&["LOAD", "PIN", "--on", "nowhere"], "nowhere");
    refused(&["LOAD", "NOBODY", "--on", "two_hogs_one_core"], "NOBODY");
    refused(&["LOAD", "./nowhere.wasm", "--on", "two_hogs_one_core"], "nowhere.wasm: No such file");
    refused(
        &["LOAD", "PIN", "--on", "two_hogs_one_core", "--timeline", "a.txt"],
        "must end in .svg, .png or .pdf",
    );
}
