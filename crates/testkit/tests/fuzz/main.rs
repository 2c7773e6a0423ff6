//! Every reader of the program, and the simulator, under arbitrary input.
//!
//! A plain `cargo test -p testkit --test fuzz` reads the corpus of each target and a fixed number of
//! mutations of it, from a fixed seed. `.ci/fuzz` runs the same targets under libFuzzer, which measures the
//! coverage of each input. Input that once broke a promise is in the corpus as `crash-*`.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod archive;
mod conformance;
#[cfg(not(fuzzing))]
mod corpus;
mod edits;
mod engine;
mod foreign;
#[cfg(target_os = "linux")]
mod kernel;
mod machine;
#[cfg(not(fuzzing))]
mod mutation;
mod output;
mod policy;
mod promise;
mod recording;
mod request;
mod result;
mod scenarios;
mod schedule;
mod store;
mod tape;
mod values;
mod yaml;

/// Lists the targets: name, function, mutations in the gate.
macro_rules! targets {
    ($($(#[$when:meta])* $name:ident $target:path, $mutations:literal;)*) => {$(
        $(#[$when])*
        #[test]
        fn $name() {
            #[cfg(fuzzing)]
            bolero::check!(name = stringify!($name)).for_each(|bytes: &[u8]| $target(bytes));
            #[cfg(not(fuzzing))]
            corpus::run(stringify!($name), $target, $mutations);
        }
    )*

        /// The names of all targets.
        #[cfg(not(fuzzing))]
        const TARGETS: &[&str] = &[$(stringify!($name)),*];
    };
}

targets! {
    yaml yaml::text, 2_000;
    values values::value, 4_000;
    scenario_text scenarios::text, 150;
    scenario_tree scenarios::tree, 250;
    overrides scenarios::overrides, 150;
    browser_request request::request, 200;
    machine_text machine::text, 100;
    machine_tree machine::tree, 200;
    topology machine::topology, 2_000;
    machine_xml machine::xml, 300;
    machine_sysfs machine::sysfs, 100;
    benchmark_logs machine::benchmarks, 500;
    result_text result::text, 150;
    result_tree result::tree, 60;
    schedule schedule::text, 300;
    claims values::claims, 100;
    setting values::setting, 2_000;
    finished_runs store::finished_runs, 100;
    sweep_directory store::sweep, 100;
    sweep_row store::row, 1_000;
    #[cfg(target_os = "linux")]
    measurement store::measurement, 300;
    recording recording::read, 2_000;
    recording_perf_data recording::read, 1_000;
    recording_trace_dat recording::read, 1_000;
    recording_perfetto recording::read, 1_000;
    program scenarios::program, 300;
    conformance conformance::case, 200;
    import_any foreign::any, 200;
    import_rt_app foreign::rt_app, 100;
    import_swf foreign::swf, 100;
    import_batsim foreign::batsim, 100;
    import_kubernetes foreign::kubernetes, 100;
    import_docker foreign::docker, 100;
    import_cgroup foreign::cgroup, 100;
    import_ostep foreign::ostep, 100;
    profile_any foreign::job, 100;
    profile_perf foreign::perf_stat, 100;
    profile_time foreign::time, 100;
    profile_sacct foreign::sacct, 100;
    profile_mpip foreign::mpip, 100;
    profile_regions foreign::regions, 100;
    profile_processes foreign::processes, 50;
    quantity values::quantity, 2_000;
    policy_order policy::order, 200;
    policy_wasm policy::webassembly, 100;
    scx_module policy::compiled, 200;
    #[cfg(target_os = "linux")]
    executable kernel::executable, 2_000;
    #[cfg(target_os = "linux")]
    host_load kernel::load, 50;
    #[cfg(target_os = "linux")]
    predictions kernel::predictions, 300;
    engine engine::case, 60;
}

#[test]
#[cfg(not(fuzzing))]
fn the_script_and_the_corpora_name_these_targets() {
    corpus::names(TARGETS);
}
