//! Tests of looks at processes, with folders in the place of `/proc`.

use std::fs;
use std::path::Path;

use import::Refused;

use crate::{Looks, Options, Profile, Roots, describe, look};

/// A thread's cpu time and time in queues in ms, and its sleeps.
type Thread = (u32, u32, u32);

/// Writes what the kernel shows of a process.
fn process(proc: &Path, pid: u32, name: &str, started: u32, threads: &[Thread]) {
    let folder = proc.join(pid.to_string());
    let put = |path: &str, text: &str| {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let numbers = format!("S {} {started} 0 0", "0 ".repeat(18).trim_end());
    put("stat", &format!("{pid} ({name}) {numbers}\n"));
    put("status", "Name:\tx\nCpus_allowed_list:\t0-3\n");
    put("maps", "7f00-7f01 r-xp 00000000 fe:00 12 /usr/lib/libgomp.so.1.0.0\n");
    put("environ", "OMP_WAIT_POLICY=passive\0SECRET=x\0");
    put("cgroup", "0::/batch/one\n");
    for (at, (cpu, queued, sleeps)) in threads.iter().enumerate() {
        let task = format!("task/{}", pid as usize + at);
        put(&format!("{task}/schedstat"), &format!("{cpu}000000 {queued}000000 7\n"));
        let status = format!("voluntary_ctxt_switches:\t{sleeps}\nnonvoluntary_ctxt_switches:\t5\n");
        put(&format!("{task}/status"), &status);
    }
}

/// A scenario of what was seen of processes from one look to the other, 2 s later.
fn between(pids: &[u32], before: impl Fn(&Path), after: impl Fn(&Path)) -> Result<Profile, Refused> {
    let folder = tempfile::tempdir().unwrap();
    let (proc, cgroups) = (folder.path().join("proc"), folder.path().join("cgroup"));
    fs::create_dir_all(cgroups.join("batch/one")).unwrap();
    fs::write(cgroups.join("batch/one/cpu.max"), "max 100000\n").unwrap();
    fs::write(cgroups.join("batch/cpu.max"), "50000 100000\n").unwrap();
    let roots = Roots { proc: &proc, cgroups: &cgroups };
    before(&proc);
    let first = look(roots, pids)?;
    after(&proc);
    let second = look(roots, pids)?;
    let looks = Looks { roots, first: &first, second: &second, seconds: 2.0 };
    describe(&[], Some(looks), &Options::default())
}

#[test]
fn threads_that_compute_their_runtime_and_their_quota_are_seen() {
    let before = |proc: &Path| process(proc, 70, "a (b) c", 9, &[(100, 0, 10), (100, 0, 10), (3, 0, 0)]);
    let after = |proc: &Path| {
        process(proc, 70, "a (b) c", 9, &[(2_100, 0, 410), (2_000, 100, 410), (13, 0, 99)]);
    };
    let text = between(&[70], before, after).unwrap().text();
    for part in [
        "  a--b--c:\n",
        "work: 3.9s  # /proc/70 task/*/schedstat",
        "tasks: 2  # /proc/70 task/*: threads that compute",
        "runtime: { libgomp: { spin_count: 0 } }  # libgomp is mapped, OMP_WAIT_POLICY=passive",
        // 800 sleeps by one thread of two.
        "intervals: 800  # 400 to 1600;",
        "\"core:4\"",
        "a--b--c: { quota: 50000us, period: 100000us }  # cpu.max of its control group /batch\n",
        "cgroup: a--b--c\n",
        "# its environment has OMP_WAIT_POLICY=passive\n",
        "# left out: 1 thread with less than 5 %",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(!text.contains("SECRET"));
    if let Err(problems) = scenario::load("profile", &text, &scenario::Overrides::default()) {
        panic!("{problems}\n{text}");
    }
}

#[test]
fn processes_of_one_name_are_ranks_and_others_are_applications() {
    let at = |proc: &Path, cpu: u32| {
        process(proc, 70, "cg", 1, &[(cpu, 0, 0)]);
        process(proc, 80, "cg", 1, &[(cpu, 0, 0)]);
        process(proc, 90, "other", 1, &[(cpu, 0, 0)]);
    };
    let profile = between(&[90, 80, 70, 70], |proc| at(proc, 5), |proc| at(proc, 1_005)).unwrap();
    let names: Vec<&str> = profile.apps.iter().map(|app| app.name.as_str()).collect();
    assert_eq!(names, ["cg", "other"]);
    assert!(profile.text().contains("tasks: 2  # /proc/70 and others"), "{}", profile.text());
}

#[test]
fn a_process_that_is_none_idles_or_ends_is_refused() {
    let nothing = |_: &Path| {};
    let idle = |proc: &Path| process(proc, 70, "x", 1, &[(100, 0, 0)]);
    let again = |proc: &Path| process(proc, 70, "x", 2, &[(900, 0, 0)]);
    let torn = |proc: &Path| {
        process(proc, 70, "x", 1, &[]);
        fs::write(proc.join("70/stat"), "70 (x").unwrap();
    };
    for (said, end) in [
        ("cannot read", between(&[70], nothing, nothing)),
        ("no thread had a cpu", between(&[70], idle, idle)),
        ("the process ended", between(&[70], idle, again)),
        ("stat is not understood", between(&[70], torn, torn)),
    ] {
        assert!(matches!(&end, Err(Refused::Sentence(text)) if text.contains(said)), "{said}: {end:?}");
    }
}
