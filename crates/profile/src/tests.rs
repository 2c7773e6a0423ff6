//! Tests of whole descriptions: each form of file, several of one job, and files that are wrong.

use super::*;

/// `perf stat -x,` on a virtual machine (Linux 6.18), with hardware counts added as on a real one.
const PERF: &str = "# started on Sun Nov 29 22:45:34 2026\n\n\
    1754.57,msec,task-clock,1754569850,100.00,1.999,CPUs utilized\n\
    452,,context-switches,1754569850,100.00,257.613,/sec\n\
    0,,cpu-migrations,1754569850,100.00,0.000,/sec\n\
    <not supported>,,branches,0,100.00,,\n";
const COUNTED: &str = "4000000000,,cycles:u,1754569850,100.00,,\n\
    6000000000,,instructions:u,1754569850,100.00,1.50,insn per cycle\n\
    27400000,,LLC-load-misses:u,1754569850,100.00,,\n";
/// The text of the same program.
const TEXT: &str = "\n Performance counter stats for './bsp 2 1000 500':\n\n\
    \x20         1,800.35 msec task-clock                       #    1.967 CPUs utilized          \n\
    \x20              213      context-switches                 #  266.134 /sec                   \n\
    \x20  <not supported>      cycles                                                      \n\n\
    \x20      0.915276595 seconds time elapsed\n\n\
    \x20      1.801303000 seconds user\n";
/// `/usr/bin/time -v`.
const TIME: &str = "\tCommand being timed: \"./bsp 2 1000 500\"\n\
    \tUser time (seconds): 3.62\n\
    \tSystem time (seconds): 0.02\n\
    \tPercent of CPU this job got: 199%\n\
    \tElapsed (wall clock) time (h:mm:ss or m:ss): 0:01.82\n\
    \tMaximum resident set size (kbytes): 1744\n\
    \tVoluntary context switches: 9\n\
    \tInvoluntary context switches: 966\n\
    \tPage size (bytes): 4096\n\
    \tExit status: 0\n";
const SACCT: &str = "JobID|JobName|State|Elapsed|TotalCPU|AllocCPUS|NNodes|NTasks|MaxRSS\n\
    4711|cfd|COMPLETED|01:00:00|15:30:00|16|1||\n\
    4711.batch|batch|COMPLETED|01:00:00|00:00:01|16|1|1|1180K\n\
    4711.extern|extern|COMPLETED|01:00:00|00:00:00|16|1|1|0\n\
    4711.0|solve|COMPLETED|00:59:58|15:29:58|16|1|16|2.5G\n\
    4712|genes|COMPLETED|1-00:00:00|1-00:00:00|1|1||\n\
    4713|waits|PENDING|00:00:00|00:00:00|8|1||\n";
const MPIP: &str = "@ mpiP\n@ Command : ./cg 4\n@ MPI Task Assignment      : 0 n1\n\
    ---------------------------------------------------------------------------\n\
    @--- MPI Time (seconds) ---------------------------------------------------\n\
    ---------------------------------------------------------------------------\n\
    Task    AppTime    MPITime     MPI%\n\
    \x20  0       10.0       2.0    20.00\n   1       10.0       1.0    10.00\n\
    \x20  *       20.0       3.0    15.00\n\
    @--- Aggregate Time (top twenty, descending, milliseconds) ----------------\n\
    Call                 Site       Time    App%    MPI%      Count    COV\n\
    Allreduce               4        926    1.45   16.06       4000   0.20\n\
    Waitall                 5        648    1.01   11.24       2000   0.55\n\
    @--- Callsite Time statistics (all, milliseconds): 4 ----------------------\n\
    Name              Site Rank  Count      Max     Mean      Min   App%   MPI%\n\
    Allreduce            4    0   2000   0.0138   0.0138   0.0138   0.00   0.01\n\
    Allreduce            4    *   4000   0.0143   0.0137    0.013   0.00   0.01\n\
    Waitall              5    *   2000   0.0143   0.0137    0.013   0.00   0.01\n";
const REGIONS: &str = "region,calls,threads,time_s,barrier_s\nsolve,1000,4,2.0,0.8\n\"a,b\",500,4,0.5,0\n";

fn read(files: &[(&str, &str)], options: &Options) -> Profile {
    let sources: Vec<Source<'_>> = files.iter().map(|(name, text)| Source { name, text }).collect();
    let profile = describe(&sources, None, options).unwrap();
    if let Err(problems) = scenario::load("profile", &profile.text(), &scenario::Overrides::default()) {
        panic!("{problems}\n{}", profile.text());
    }
    profile
}

/// What is said of a file that is refused.
fn refused(name: &str, text: &str) -> String {
    let sources = [Source { name, text }];
    match describe(&sources, None, &Options::default()) {
        Ok(profile) => panic!("{name}: {}", profile.text()),
        Err(Refused::Sentence(text) | Refused::Rendered(text)) => text,
    }
}

fn value<'a>(profile: &'a Profile, path: &str) -> &'a Number {
    let found = profile.apps.iter().flat_map(|app| &app.numbers).find(|number| number.path == path);
    found.unwrap_or_else(|| panic!("no {path}: {}", profile.text()))
}

fn topics(profile: &Profile) -> Vec<Topic> {
    profile.apps.iter().flat_map(|app| app.asked.iter().map(|asked| asked.topic)).collect()
}

#[test]
fn each_form_is_recognised_by_its_content() {
    for (text, form) in [
        (PERF, Form::Perf),
        (TEXT, Form::Perf),
        (TIME, Form::Time),
        (SACCT, Form::Sacct),
        (MPIP, Form::Mpip),
        (REGIONS, Form::Regions),
        ("# Made by `oversim twin import`.\nname: x\n", Form::Twin),
        ("TABLE,Region a,Group 1 Raw,MEM,3,,\n", Form::Regions),
    ] {
        assert_eq!(Form::of(text), Some(form), "{text}");
    }
    for text in ["", "hello\n", "name: x\napps: {}\n", "a|b\n1|2\n", "a,b,c\n1,2,3\n"] {
        assert_eq!(Form::of(text), None, "{text}");
    }
    assert!(FORMS.into_iter().all(|form| Form::named(form.name()) == Some(form)));
}

#[test]
fn misses_of_the_last_level_cache_bound_the_memory_traffic_from_below() {
    let profile = read(&[("perf.csv", &format!("{PERF}{COUNTED}"))], &Options::default());
    let demand = value(&profile, "workload.demand");
    // 27.4e6 x 64 B / 1.75457 s = 999.4 MB/s.
    let (low, high) = demand.range.as_ref().unwrap();
    assert_eq!((low.as_str(), high.as_str(), demand.value.as_str()), ("999.4MB/s", "2.998GB/s", "1.731GB/s"));
    assert!(demand.origin.starts_with("perf.csv:9 LLC-load-misses x 64 B / task-clock"), "{}", demand.origin);
    assert_eq!(value(&profile, "workload.work").value, "1.755s");
    assert_eq!(value(&profile, "tasks").value, "2");
    assert_eq!(topics(&profile), [Topic::Interval, Topic::Spread, Topic::Tasks, Topic::Wait]);
    let path = "apps.job.workload.demand: 999.4MB/s..2.998GB/s";
    assert!(profile.uncertain.contains(path), "{}", profile.uncertain);
}

#[test]
fn counts_that_a_virtual_machine_lacks_are_named() {
    let text = PERF.replace("branches", "cycles");
    let profile = read(&[("perf.csv", &text)], &Options::default());
    assert!(profile.scenario.contains("not counted on that host"), "{}", profile.scenario);
    assert!(topics(&profile).contains(&Topic::Demand));
    let profile = read(&[("perf.txt", TEXT)], &Options::default());
    assert_eq!(value(&profile, "workload.work").value, "1.8s");
    assert_eq!((value(&profile, "tasks").value.as_str(), profile.apps[0].name.as_str()), ("2", "bsp"));
}

#[test]
fn several_files_of_one_job_are_merged_and_disagreements_are_told() {
    let options = Options { threads: Some(2), ..Options::default() };
    let profile = read(&[("time.txt", TIME), ("regions.csv", REGIONS), ("perf.csv", PERF)], &options);
    // 2.0 x 4 - 0.8 + 0.5 x 4 of regions.
    assert_eq!(value(&profile, "workload.work").value, "9.2s");
    assert_eq!(value(&profile, "workload.intervals").value, "1500");
    assert_eq!(value(&profile, "tasks").origin, "--threads");
    assert!(profile.notes.iter().any(|note| note.to_string().contains("are the files of one run?")));
}

#[test]
fn time_at_barriers_is_the_spread_of_equal_pieces() {
    let profile = read(&[("regions.csv", REGIONS)], &Options::default());
    let spread = value(&profile, "workload.spread");
    // 0.8 of 10 s: 8 % / 92 % x 5 / 3.
    assert_eq!((spread.value.as_str(), spread.range.as_ref().unwrap().0.as_str()), ("14.49%", "0%"));
    assert_eq!(topics(&profile), [Topic::Demand, Topic::Wait]);
    let timed = TIME.replace("0:01.82", "0:03.50");
    let profile = read(&[("regions.csv", REGIONS), ("time.txt", &timed)], &Options::default());
    // 3.5 s less 2.5 s within regions, of 9.2 + 1 s.
    assert_eq!(value(&profile, "workload.serial").value, "9.8%");
    assert_eq!(value(&profile, "workload.work").value, "10.2s");
}

#[test]
fn a_table_of_sacct_becomes_an_application_for_each_job_that_ran() {
    let profile = read(&[("jobs.txt", SACCT)], &Options::default());
    let names: Vec<&str> = profile.apps.iter().map(|app| app.name.as_str()).collect();
    assert_eq!(names, ["cfd", "genes"]);
    assert_eq!(profile.notes.len(), 1, "{:?}", profile.notes);
    assert!(profile.scenario.contains("\"core:16\": { work_unit: own }"), "{}", profile.scenario);
    assert!(profile.scenario.contains("horizon: 240h"));
    // 15.5 h of 16 ranks.
    assert_eq!(value(&profile, "workload.work").value, "55800s");
    assert!(profile.scenario.contains("runtime: openmpi"), "{}", profile.scenario);
    assert!(value(&profile, "tasks").origin.contains("jobs.txt:5 NTasks"), "{:?}", value(&profile, "tasks"));
}

#[test]
fn a_job_on_several_nodes_is_its_part_on_one() {
    let text = SACCT.replace("|16|1|16|", "|16|2|16|").replace("16|1||", "16|2||");
    let profile = read(&[("jobs.txt", &text)], &Options::default());
    assert_eq!(
        (value(&profile, "tasks").value.as_str(), value(&profile, "workload.work").value.as_str()),
        ("8", "27900s")
    );
    assert!(profile.scenario.contains("it ran on 2 nodes"));
}

#[test]
fn mpip_tells_work_from_waiting_and_counts_what_synchronises() {
    let profile = read(&[("cg.mpiP", MPIP)], &Options::default());
    assert_eq!(value(&profile, "workload.work").value, "17s");
    let intervals = value(&profile, "workload.intervals");
    assert_eq!(intervals.range, Some(("2000".into(), "3000".into())));
    assert_eq!(value(&profile, "workload.imbalance").value, "5.88%");
    assert_eq!(topics(&profile), [Topic::Demand, Topic::Wait]);
    let without = MPIP.split("@--- Callsite Time").next().unwrap();
    let profile = read(&[("cg.mpiP", without)], &Options { threads: Some(4), ..Options::default() });
    assert!(profile.scenario.contains("      hybrid:\n        processes: 2 "), "{}", profile.scenario);
    assert!(profile.scenario.contains("threads_per_process: 4 "));
}

#[test]
fn three_numbers_make_a_job() {
    let options = Options {
        threads: Some(8),
        interval: Some(200_000),
        bandwidth: Some(3_000_000_000),
        wait: Some("{ libomp: { block_time: 0s } }".into()),
        ..Options::default()
    };
    let profile = read(&[], &options);
    assert_eq!(value(&profile, "workload.intervals").value, "50000");
    assert_eq!(value(&profile, "workload.demand").value, "3GB/s");
    assert_eq!(topics(&profile), [Topic::Spread]);
    assert!(profile.apps[0].trial.as_ref().unwrap().text.contains("fidelity: sampled"));
    let nothing = describe(&[], None, &Options::default());
    assert!(matches!(nothing, Err(Refused::Sentence(text)) if text.contains("--interval 200us")));
}

#[test]
fn a_program_that_sleeps_between_pieces_of_work_answers_requests() {
    let text = TIME.replace("0:01.82", "0:40.00").replace("switches: 9", "switches: 1000");
    let profile = read(&[("time.txt", &text)], &Options::default());
    assert_eq!(value(&profile, "workload.burst").value, "3.64ms");
    assert_eq!(value(&profile, "workload.think").value, "36.36ms");
    assert!(topics(&profile).is_empty());
}

#[test]
fn a_build_is_said_to_be_no_team() {
    let options = Options::default();
    let text = |command: &str| {
        let timed = TIME.replace("./bsp 2 1000 500", command);
        read(&[("time.txt", timed.as_str())], &options).text()
    };
    for command in ["make -j 12 all", "/usr/bin/ninja", "cargo build"] {
        assert!(text(command).contains(" starts jobs that compute without barriers (time.txt:1 command)"));
    }
    assert!(!text("./makefile-test").contains("starts jobs"));
}

#[test]
fn threads_that_sleep_often_show_their_barriers() {
    let text = TIME.replace("switches: 9", "switches: 2000");
    let profile = read(&[("time.txt", &text)], &Options { threads: Some(2), ..Options::default() });
    let intervals = value(&profile, "workload.intervals");
    assert_eq!(intervals.range, Some(("1000".into(), "4000".into())), "{intervals:?}");
    assert!(profile.scenario.contains("runtime: { libgomp: { spin_count: 0 } }"));
}

#[test]
fn time_that_other_programs_may_have_had_is_no_serial_part() {
    let two = Options { threads: Some(2), ..Options::default() };
    let waited = TIME.replace("0:01.82", "0:03.64");
    let profile = read(&[("time.txt", &waited)], &two);
    assert!(
        profile.scenario.contains("265 involuntary switches in a second of cpu time"),
        "{}",
        profile.scenario
    );
    assert!(!profile.scenario.contains("serial:"), "{}", profile.scenario);
    let alone = waited.replace("switches: 966", "switches: 3");
    let profile = read(&[("time.txt", &alone)], &two);
    let serial = value(&profile, "workload.serial");
    assert_eq!(serial.range, Some(("0%".into(), "100%".into())));
}

#[test]
fn regions_of_ompp_and_likwid_are_read() {
    let ompp = "##BEG header\nThread Count,2\n##END header\n##BEG flat region profiles\n\
        ##BEG flat profile\nR00001,PARALLEL,a.c (10-20)\n\
        TID,execT,execC,bodyT,exitBarT,startupT,shutdwnT,taskT\n\
        0,2.0,100,1.8,0.2,0.0,0.0,0.0\n1,2.0,100,1.4,0.6,0.0,0.0,0.0\nSUM,4.0,200,3.2,0.8,0.0,0.0,0.0\n\
        R00002,LOOP,a.c (12-18)\nTID,execT,execC,bodyT,exitBarT,taskT\n\
        0,1.0,300,0.9,0.1,0.0\n1,1.0,300,0.9,0.1,0.0\nSUM,2.0,600,1.8,0.2,0.0\n##END flat region profiles\n";
    let profile = read(&[("a.2-0.ompp.csv", ompp)], &Options::default());
    // 100 parallel regions and 300 loops within them; 2 x 2 s less 1.0 s at barriers.
    assert_eq!(value(&profile, "workload.intervals").value, "400");
    assert_eq!(value(&profile, "workload.work").value, "3s");
    let likwid = "STRUCT,Info,3,,\nCPU name:,X,,\nTABLE,Region triad,Group 1 Raw,MEM,2,\n\
        Region Info,HWThread 0,HWThread 1,,\nRDTSC Runtime [s],2.0,1.9,,\ncall count,100,100,,\n\
        TABLE,Region triad,Group 1 Metric,MEM,9,\nMemory bandwidth [MBytes/s],12000,0,,\n\
        TABLE,Region triad,Group 1 Metric STAT,MEM,9,\nMemory bandwidth [MBytes/s] STAT,12000,0,12000,6000\n";
    let profile = read(&[("likwid.csv", likwid)], &Options::default());
    assert_eq!(value(&profile, "workload.demand").value, "6GB/s");
    assert_eq!(value(&profile, "workload.intervals").value, "100");
}

#[test]
fn a_twin_is_taken_as_it_is_and_gets_the_range_of_its_traffic() {
    let twin = "# Made by `oversim twin import`.\nname: twin\nmachine: { \"core:2\": { work_unit: own } }\n\
        apps:\n  teams: { workload: { spmd: { work: 1s, intervals: 50 } }, runtime: libgomp, tasks: 2 }\n\
        policies: [LOAD]\n";
    let profile = read(&[("twin.yaml", twin)], &Options::default());
    assert_eq!(profile.scenario, twin);
    assert!(profile.uncertain.starts_with("uncertain:\n  apps.teams.workload.demand: 0B/s..10GB/s"));
    let both = [Source { name: "twin.yaml", text: twin }, Source { name: "time.txt", text: TIME }];
    assert!(describe(&both, None, &Options::default()).is_err());
    let changed = Options { threads: Some(3), ..Options::default() };
    assert!(describe(&both[..1], None, &changed).is_err());
}

#[test]
fn comments_of_a_twin_bring_nothing_invisible_into_the_profile() {
    let twin = "# Made by `oversim twin import`.\r\nname: twin\r\n# \u{202e}x\r\nmachine: core:2\r\n\
        apps: { a: { workload: { spmd: { work: 1s } } } }\r\npolicies: [LOAD]\r\n";
    let text = read(&[("twin.yaml", twin)], &Options::default()).text();
    assert!(!text.contains(['\u{202e}', '\r']) && text.contains("\nname: twin\n"), "{text:?}");
}

#[test]
fn what_is_asked_for_comes_in_the_order_of_its_effect() {
    let profile = read(&[("perf.csv", PERF)], &Options::default());
    let effect = |factor| Some(report::Effect { factor, at_least: false, beside: true });
    let factors = [1.0, 3.1, 1.5, 80.0, 2.0];
    let asked = &profile.apps[0].asked;
    let mut ranked: Vec<report::Ranked<'_>> = asked
        .iter()
        .zip(factors)
        .map(|(asked, factor)| report::Ranked { asked, effect: effect(factor) })
        .collect();
    report::rank(&mut ranked);
    let lines = report::lines(&ranked);
    assert!(lines[0].contains("by a factor of 80.0 beside a copy of itself"), "{lines:?}");
    assert!(lines.last().unwrap().starts_with("missing, and each moves the run time by less than 2 %"));
    assert_eq!(lines.len(), asked.len(), "{lines:?}");
    let json = report::json(&profile, &ranked);
    assert!(
        json.contains("\"schema\": \"oversim.profile/1\"") && json.contains("\"factor\": 80.0"),
        "{json}"
    );
    assert!(report::markdown(&profile, &ranked).contains("| asked for | range | effect | how |"));
}

#[test]
fn wrong_files_are_refused_with_their_line_and_what_would_be_right() {
    for (name, text, says) in [
        ("x", "", "forms are"),
        ("x", "a\0b", "zero byte"),
        ("x", "hello\n", "forms are"),
        ("p", &PERF.replace("1754.57", "-5"), "p:3:1"),
        ("p", &PERF.replace("1754.57", "NaN"), "`NaN` is no number from 0 on"),
        ("p", &PERF.replace("1754.57", "0"), "the program had no cpu"),
        ("p", &PERF.replace("1754.57,msec,task-clock", "1e999,msec,task-clock"), "p:3:1"),
        ("p", &PERF.replace("task-clock", "page-faults"), "there is no `task-clock`"),
        ("t", &TIME.replace("3.62", "3,62"), "t:2:1"),
        ("t", &TIME.replace("0:01.82", "1.82"), "such as `0:03.64`"),
        ("t", TIME.split("Elapsed").next().unwrap(), "the report is cut off"),
        ("t", &format!("{TIME}{TIME}"), "a second report"),
        ("s", &SACCT.replace("|Elapsed|", "|X|"), "the column `Elapsed` is missing"),
        ("s", &SACCT.replace("15:30:00", "-15:30:00"), "s:2:1"),
        ("s", &SACCT.replace("2.5G", "2.5X"), "s:5:1"),
        ("s", &SACCT.replace("|cfd|", "|c|fd|"), "10 columns, and the header has 9"),
        ("s", &SACCT.replace("4711.0", "x.0"), "`x.0` is no number of a job"),
        ("s", SACCT.split('\n').next().unwrap(), "no job of it can be described"),
        ("m", &MPIP.replace("2.0    20.00", "20.0    20.00"), "is longer than AppTime"),
        ("m", &MPIP.replace("10.0       1.0", "inf       1.0"), "m:9:1"),
        ("m", "@ mpiP\n@ Command : x\n", "no rank in the table"),
        ("r", &REGIONS.replace("2.0,0.8", "2.0,80"), "more than 4 threads have in 2 s"),
        ("r", &REGIONS.replace("1000,4", "1000,0"), "without threads"),
        ("r", "region,calls,threads,time_s\n", "no parallel region with a time"),
        ("r", &REGIONS.replace("1000,4,2.0,0.8", "1000,4,2.0"), "r:2:1"),
        ("w", "# Made by `oversim twin import`.\napps: [\n", "w:"),
    ] {
        let said = refused(name, text);
        assert!(said.contains(says), "{says}: {said}");
    }
}

#[test]
fn foreign_names_and_huge_numbers_do_no_harm() {
    let nasty = TIME.replace("./bsp", "./\u{1b}[31m#: {x}\u{202e}");
    let profile = read(&[("a\u{1b}b\n.txt", &nasty)], &Options::default());
    assert!(!profile.text().contains('\u{1b}') && !profile.text().contains('\u{202e}'));
    let huge = PERF.replace("1754.57", "17545700000000000").replace("452", "18446744073709551615");
    read(&[("p", &huge)], &Options { threads: Some(65_536), ..Options::default() });
    let regions = "calls,threads,time_s\n1e18,1e6,1e9\n";
    read(&[("r", regions)], &Options::default());
    let mut jobs = String::from("JobID|Elapsed|TotalCPU|AllocCPUS\n");
    for id in 1..=4_097 {
        jobs += &format!("{id}|00:01:00|00:01:00|1\n");
    }
    assert!(refused("s", &jobs).contains("at most 4096 applications"));
}

#[test]
fn a_stretch_has_the_proportions_of_the_job() {
    let whole = read(&[("time.txt", TIME), ("regions.csv", REGIONS)], &Options::default());
    let options = Options { stretch: Some(575_000_000), ..Options::default() };
    let part = read(&[("time.txt", TIME), ("regions.csv", REGIONS)], &options);
    // A quarter: 9.2 s of four threads are 2.3 s for each.
    assert_eq!(value(&part, "workload.work").value, "2.3s");
    assert_eq!(value(&part, "workload.intervals").value, "375");
    for path in ["workload.serial", "workload.spread", "tasks"] {
        assert_eq!(value(&part, path).value, value(&whole, path).value, "{path}");
    }
    assert!(part.scenario.contains("work and counts are 25.0 % of those"), "{}", part.scenario);
    // What is shorter stays as it is.
    let options = Options { stretch: Some(3_000_000_000), ..Options::default() };
    assert_eq!(read(&[("time.txt", TIME), ("regions.csv", REGIONS)], &options), whole);
    let options = Options { stretch: Some(1_000_000_000), threads: Some(4), ..Options::default() };
    assert_eq!(value(&read(&[], &options), "workload.work").value, "4s");
}

#[test]
fn jobs_of_one_name_get_their_numbers() {
    let profile = read(&[("jobs.txt", &SACCT.replace("genes", "cfd"))], &Options::default());
    let names: Vec<&str> = profile.apps.iter().map(|app| app.name.as_str()).collect();
    assert_eq!(names, ["cfd-4711", "cfd-4712"]);
}
