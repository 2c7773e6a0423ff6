//! Built-in scenarios as a user meets them: by name in every command, in lists, as copies; and names that do
//! not exist.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::support;

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use serde_json::Value;

/// Runs the program in a folder.
fn within(folder: &Path, args: &[&str]) -> (i32, String, String) {
    let output = Command::cargo_bin("oversim").unwrap().current_dir(folder).args(args).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// Its error, with the exit code of wrong usage.
fn refused(folder: &Path, args: &[&str]) -> String {
    let (code, out, err) = within(folder, args);
    assert!(code == 2 && out.is_empty(), "{args:?}: {code} {out}{err}");
    err
}

#[test]
fn every_command_that_reads_a_scenario_knows_the_built_in_ones() {
    let folder = tempfile::tempdir().unwrap();
    for (args, printed) in [
        (vec!["check", "two_hogs_one_core"], "two_hogs_one_core (built-in): ok, 4 runs"),
        (vec!["check", "two_hogs_one_core.yaml"], "two_hogs_one_core (built-in): ok, 4 runs"),
        (vec!["run", "two_hogs_one_core"], "two_hogs_one_core: Do two equal tasks"),
        (vec!["timeline", "two_hogs_one_core"], "two_hogs_one_core"),
        (vec!["plot", "two_hogs_one_core"], "figures/"),
        (vec!["report", "two_hogs_one_core", "-o", "-"], "<html"),
        (
            vec!["compare", "even_or_balanced", "--policy", "LOAD,PIN"],
            "policies of even_or_balanced (built-in) compared",
        ),
        (
            vec!["compare", "two_hogs_one_core", "two_hogs_one_core", "--repeat", "2"],
            "exactly the same values",
        ),
    ] {
        let (code, out, err) = within(folder.path(), &args);
        assert!(code == 0 && out.contains(printed), "{args:?}: {code} {out}{err}");
    }
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let json = |folder: &Path, name: &str| within(folder, &["run", name, "--format", "json"]).1;
    assert_eq!(
        json(folder.path(), "two_hogs_one_core"),
        json(&repository, "scenarios/two_hogs_one_core.yaml"),
        "the built-in scenario is the file"
    );
}

#[test]
fn a_file_comes_first_and_a_directory_does_not_hide_a_scenario() {
    let folder = tempfile::tempdir().unwrap();
    let other = "name: other\nmachine: 'core:1'\n\
        apps: { a: { workload: { hog: { work: 1ms } } } }\npolicies: [LOAD]\n";
    fs::write(folder.path().join("two_hogs_one_core"), other).unwrap();
    fs::create_dir(folder.path().join("odd_thread")).unwrap();
    let (code, out, err) = within(folder.path(), &["check", "two_hogs_one_core", "odd_thread"]);
    assert_eq!(code, 0, "{err}");
    assert!(
        out.starts_with("two_hogs_one_core: ok, 2 runs") && out.contains("odd_thread (built-in): ok"),
        "{out}"
    );
}

#[test]
fn a_name_that_does_not_exist_is_answered_with_the_nearest() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("my_job.yaml"), "name: x\n").unwrap();
    let said = |args: &[&str]| refused(folder.path(), args);
    assert_eq!(
        said(&["run", "cg_ft_shar"]),
        "error: cannot read cg_ft_shar: no such file; did you mean the built-in scenario `cg_ft_share`?\n"
    );
    assert!(said(&["check", "my_jbo.yaml"]).contains("did you mean the file `my_job.yaml`?"));
    assert!(said(&["check", "my_job"]).contains("did you mean the file `my_job.yaml`?"));
    assert!(said(&["plot", "scenarios/cg_ft_share.yaml"]).contains("the built-in scenario `cg_ft_share`?"));
    assert!(said(&["compare", "nothing_like_it"]).contains("`oversim list scenarios`"));
    assert!(said(&["report", "."]).contains("it is a directory"));
    for command in [["list", "scenarios", "cg_ft_shar"].as_slice(), &["init", "cg_ft_shar"]] {
        assert!(
            said(command)
                .contains("no built-in scenario is called `cg_ft_shar`; did you mean `cg_ft_share`?")
        );
    }
}

#[test]
fn the_list_names_every_scenario_with_its_question() {
    let (code, text, _) = support::oversim(&["list", "scenarios"], "");
    assert!(
        code == 0 && text.contains("cg_ft_share  ") && text.contains("CG and FT share 16 cores."),
        "{text}"
    );
    let (_, detail, _) = support::oversim(&["list", "scenarios", "odd_thread.yaml"], "");
    for part in
        ["Watch for:", "Policies:  LOAD, ULE, LGROUP, DWRR", "kernel = linux-2.6.28, freebsd-7", "45 runs ("]
    {
        assert!(detail.contains(part), "{part}: {detail}");
    }
    let (_, json, _) = support::oversim(&["list", "scenarios", "--format", "json"], "");
    let rows: Value = serde_json::from_str(&json).unwrap();
    let rows = rows.as_array().unwrap();
    // The list has groups, and long questions take several lines.
    let listed =
        |row: &Value| text.lines().any(|line| line.trim_start().starts_with(row["name"].as_str().unwrap()));
    assert!(rows.iter().all(listed), "{text}");
    let row = rows.iter().find(|row| row["name"] == "cg_ft_share").unwrap();
    assert_eq!((&row["runs"], &row["path"]), (&60.into(), &"scenarios/cg_ft_share.yaml".into()));
    assert_eq!(row["sweep"][0]["values"], serde_json::json!(["1", "2", "4"]));
}

#[test]
fn init_writes_a_scenario_that_runs_and_replaces_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let (code, out, err) = within(path, &["init"]);
    assert_eq!(code, 0, "{err}");
    let next: Vec<&str> = out.lines().filter_map(|line| line.trim().strip_prefix("oversim ")).collect();
    assert_eq!(next, ["check my_scenario.yaml", "run my_scenario.yaml"]);
    for command in next {
        let args: Vec<&str> = command.split(' ').collect();
        assert_eq!(within(path, &args).0, 0, "{command}");
    }
    assert!(refused(path, &["init"]).contains("my_scenario.yaml exists; --force replaces it"));
    fs::write(path.join("my_scenario.yaml"), "").unwrap();
    assert_eq!(within(path, &["init", "--force"]).0, 0);
    assert!(fs::read_to_string(path.join("my_scenario.yaml")).unwrap().contains("name: my_scenario"));
    assert!(refused(path, &["init", "-o", "nowhere/x.yaml"]).contains("there is no directory nowhere"));
}

#[test]
fn a_copy_has_the_name_of_its_file_and_points_to_a_schema_that_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let read = |file: &str| fs::read_to_string(path.join(file)).unwrap();
    assert_eq!(within(path, &["init", "cg_ft_share"]).0, 0);
    assert!(
        read("cg_ft_share.yaml").contains("\nname: cg_ft_share\n")
            && !read("cg_ft_share.yaml").contains("$schema")
    );
    fs::write(path.join("oversim.schema.json"), "{}").unwrap();
    let (code, out, _) = within(path, &["init", "cg_ft_share", "-o", "a copy.yaml"]);
    assert!(code == 0 && out.contains("oversim run 'a copy.yaml'"), "{out}");
    assert!(read("a copy.yaml").starts_with("# yaml-language-server: $schema=oversim.schema.json\n"));
    assert!(read("a copy.yaml").contains("\nname: cg_ft_share\n"), "`a copy` is not a valid name");
    assert_eq!(within(path, &["init", "-o", "mine.yaml"]).0, 0);
    assert!(
        read("mine.yaml").contains("\nname: mine\n") && read("mine.yaml").contains("oversim run mine.yaml")
    );
    assert_eq!(within(path, &["check", "cg_ft_share.yaml", "a copy.yaml", "mine.yaml"]).0, 0);
    let (code, out, _) = within(path, &["init", "two_hogs_one_core", "-o", "-"]);
    assert!(code == 0 && out.contains("\nname: two_hogs_one_core\n") && !out.contains("wrote"), "{out}");
}
