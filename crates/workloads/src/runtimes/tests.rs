//! The presets against what their sources say.

use super::*;
use notation::declare::Choice;

fn preset(name: &str) -> Runtime {
    let entry = RUNTIMES.resolve(name).unwrap();
    build(entry, &Values::defaults(entry.parameters))
}

#[test]
fn presets_are_what_they_say() {
    assert_eq!((preset("upc").wait, preset("upc").barrier), (WaitMode::Yield, BarrierKind::Dissemination));
    assert!(preset("mpi").processes && !preset("upc").processes);
    let openmp = preset("openmp");
    assert_eq!(openmp.barrier, BarrierKind::Tree { arity: 4 });
    assert_eq!(openmp.wait.sleeps_after(), Some(Span::from_ms(200)));
    assert!(openmp.wait.yields());
    assert_eq!(preset("spin").wait, WaitMode::Spin);
    assert_eq!(preset("block").wait, WaitMode::Block);
    assert_eq!(preset("yield-to").wait, WaitMode::YieldTo);
}

#[test]
fn every_wait_and_barrier_can_be_chosen() {
    let entry = RUNTIMES.resolve("openmp").unwrap();
    for (at, word) in Wait::WORDS.iter().enumerate() {
        let mut values = Values::defaults(entry.parameters);
        values.set("wait", at as u64).unwrap();
        let name = match build(entry, &values).wait {
            WaitMode::Spin => "spin",
            WaitMode::Yield => "yield",
            WaitMode::Block => "block",
            WaitMode::SpinThenBlock { .. } => "spin-then-block",
            WaitMode::YieldTo => "yield-to",
        };
        assert_eq!(name, *word);
    }
    for (at, word) in Barrier::WORDS.iter().enumerate() {
        let mut values = Values::defaults(entry.parameters);
        values.set("barrier", at as u64).unwrap();
        let name = match build(entry, &values).barrier {
            BarrierKind::Central => "central",
            BarrierKind::Tree { .. } => "tree",
            BarrierKind::Dissemination => "dissemination",
        };
        assert_eq!(name, *word);
    }
}

#[test]
fn infinite_block_time_never_sleeps() {
    let entry = RUNTIMES.resolve("openmp").unwrap();
    let mut values = Values::defaults(entry.parameters);
    values.set("block_time", u64::MAX).unwrap();
    assert_eq!(build(entry, &values).wait.sleeps_after(), None);
    values.set("block_time", 0).unwrap();
    assert_eq!(build(entry, &values).wait.sleeps_after(), Some(Span::ZERO));
}

#[test]
fn tables_are_sound() {
    for entry in RUNTIMES.entries {
        for p in entry.parameters {
            assert!(p.min <= p.default && p.default <= p.max && !p.about.is_empty());
        }
        assert_eq!(preset(entry.name).name, entry.name);
        assert!(RUNTIMES.about(entry).len() > 100 && entry.example.contains(entry.name), "{}", entry.name);
    }
    assert!(RUNTIMES.resolve("opnemp").unwrap_err().contains("did you mean `openmp`?"));
}

fn with(name: &str, settings: &[(&str, u64)], oversubscribed: bool) -> Runtime {
    let entry = RUNTIMES.resolve(name).unwrap();
    let mut values = Values::defaults(entry.parameters);
    for (name, value) in settings {
        values.set(name, *value).unwrap();
    }
    build_for(entry, &values, Counts { threads: tasks(oversubscribed), ..Counts::ONE })
}

fn tasks(oversubscribed: bool) -> u32 {
    1 + u32::from(oversubscribed)
}

#[test]
fn libgomp_polls_six_milliseconds_or_two_microseconds() {
    let limit = |settings: &[(&str, u64)], over| with("libgomp", settings, over).wait.sleeps_after();
    assert_eq!(limit(&[], false), Some(Span::from_ms(6)));
    assert_eq!(limit(&[], true), Some(Span::from_us(2)), "100 polls when oversubscribed");
    let active = [("spin_count", 30_000_000_000), ("throttled_spin_count", 1_000)];
    assert_eq!(limit(&active, false), Some(Span::from_ms(600_000)), "ten minutes");
    assert_eq!(limit(&active, true), Some(Span::from_us(20)));
    assert_eq!(limit(&[("spin_count", 50)], true), Some(Span::from_us(1)), "less than the throttled count");
    assert!(!with("libgomp", &[], true).wait.yields(), "there is no sched_yield in it");
    assert_eq!(preset("libgomp").barrier, BarrierKind::Central);
}

#[test]
fn intels_library_modes_differ_in_sleep_and_yield() {
    let turnaround = [("library", 1)];
    let yields = |over| with("openmp", &turnaround, over).wait.yields();
    assert!(yields(true) && !yields(false), "turnaround yields only when oversubscribed");
    assert_eq!(with("openmp", &turnaround, true).wait.sleeps_after(), None);
    assert!(preset("openmp").wait.yields());
    assert_eq!(preset("openmp").wait.sleeps_after(), Some(Span::from_ms(200)));
}

#[test]
fn intels_monitor_switches_yields_off_for_one_of_eleven_periods() {
    let cycle = |settings: &[(&str, u64)]| with("openmp", settings, true).polling.cycle;
    let parts = |ms: u64| {
        let (on, off) = (Span::from_ms(10 * ms), Span::from_ms(ms));
        Some(YieldCycle { on, off, random: false })
    };
    // 1000 / 200 wake-ups a second, at least one, at most 1,000.
    assert_eq!(cycle(&[]), parts(200));
    assert_eq!(cycle(&[("block_time", 50_000_000)]), parts(50));
    assert_eq!(cycle(&[("block_time", 3_000_000_000)]), parts(1_000));
    assert_eq!(cycle(&[("block_time", u64::MAX)]), parts(1_000));
    assert_eq!(cycle(&[("library", 1)]), parts(1_000), "turnaround never sleeps");
    assert_eq!(cycle(&[("block_time", 0)]), None, "they sleep at once");
    assert_eq!(cycle(&[("yield_off", 0)]), None);
    assert!(cycle(&[("yield_phase", 1)]).is_some_and(|cycle| cycle.random));
    // 256 polls of 25 ns; more tasks than cpus yield at every poll.
    let looks = |over| with("openmp", &[], over).polling.looks;
    assert_eq!(looks(false), PollsPerYield { count: 256, each: Span::from_ns(25) });
    assert_eq!(looks(true), PollsPerYield::ONE);
}

#[test]
fn nemesis_polls_a_thousand_times_for_a_message() {
    for name in ["mpi", "mpich2"] {
        let polling = preset(name).polling;
        assert_eq!(polling.looks, PollsPerYield::ONE, "{name}: MPI_Barrier");
        assert_eq!(polling.message_looks, PollsPerYield { count: 1_000, each: Span::from_ns(600) }, "{name}");
        assert_eq!(polling.cycle, None);
    }
    for name in ["upc", "openmpi", "yield", "libgomp"] {
        assert_eq!(preset(name).polling, Polling::PLAIN, "{name}");
    }
}

#[test]
fn open_mpi_yields_in_degraded_mode_only() {
    let wait = |settings: &[(&str, u64)], counts| {
        let entry = RUNTIMES.resolve("openmpi").unwrap();
        let mut values = Values::defaults(entry.parameters);
        settings.iter().for_each(|(name, value)| values.set(name, *value).unwrap());
        build_for(entry, &values, counts).wait
    };
    for over in [false, true] {
        let wait = wait(&[], Counts { processes: tasks(over), threads: 8, ..Counts::ONE });
        assert_eq!((wait.yields(), wait.sleeps_after()), (over, None));
    }
    // A slot is a core, or a hardware thread if mpirun is told so.
    let pairs = Counts { threads: 1, processes: 8, cpus: 8, cores: 4 };
    assert!(wait(&[], pairs).yields() && !wait(&[("slots", 1)], pairs).yields());
}

#[test]
fn threads_count_in_their_process_and_processes_in_their_job() {
    let built = |name: &str, counts| {
        let entry = RUNTIMES.resolve(name).unwrap();
        build_for(entry, &Values::defaults(entry.parameters), counts)
    };
    // Four processes of two threads on two cpus: no process has more threads than cpus.
    let hybrid = Counts { threads: 2, processes: 4, cpus: 2, cores: 2 };
    // One process of eight threads there.
    let one = Counts { threads: 8, processes: 1, ..hybrid };
    for (counts, over) in [(hybrid, false), (one, true)] {
        let limit = if over { Span::from_us(2) } else { Span::from_ms(6) };
        assert_eq!(built("libgomp", counts).wait.sleeps_after(), Some(limit));
        for name in ["openmp", "libomp"] {
            assert_eq!(built(name, counts).polling.looks == PollsPerYield::ONE, over, "{name}");
        }
        assert_eq!(built("openmpi", counts).wait.yields(), !over);
    }
}

#[test]
fn llvms_runtime_has_no_clock_and_polls_at_its_first_barrier() {
    let libomp = preset("libomp");
    assert_eq!((libomp.polling.cycle, libomp.wait), (None, preset("openmp").wait));
    assert_eq!(libomp.barrier, BarrierKind::Tree { arity: 4 });
    for name in ["libomp", "openmp", "libgomp", "open64", "sun-openmp"] {
        let startup = preset(name).startup;
        assert!(startup.barrier && !startup.sleeps, "{name}");
    }
}

#[test]
fn threads_are_created_by_rank_0_and_processes_by_a_launcher() {
    for entry in RUNTIMES.entries {
        let runtime = preset(entry.name);
        assert_eq!(runtime.processes, runtime.startup.forks == Forks::Launcher, "{}", entry.name);
        assert!(["upc", "mpi", "openmp"].contains(&entry.own));
        assert!(!entry.source.is_empty());
    }
    let startup = |name: &str| preset(name).startup;
    let threads = StartUp { forks: Forks::Master, barrier: true, sleeps: true, touch: Touch::Each };
    assert_eq!(startup("upc"), threads);
    assert!(!startup("openmp").sleeps && !startup("upc-processes").sleeps);
    assert_eq!(
        startup("mpich2"),
        StartUp { forks: Forks::Launcher, barrier: true, sleeps: true, touch: Touch::Work }
    );
    assert!(startup("mpi").sleeps && !startup("openmpi").sleeps);
    assert_eq!(startup("spin"), StartUp::PLAIN);
    assert_eq!(with("upc", &[("touch", 2)], false).startup.touch, Touch::Master);
    assert_eq!(preset("sun-openmp").wait, WaitMode::Spin);
}

#[test]
fn open_mpi_meets_at_a_linear_barrier_with_four_to_seven_processes() {
    let barrier = |processes, changed: &[(&str, u64)]| {
        let entry = RUNTIMES.find("openmpi").unwrap();
        let mut values = Values::defaults(entry.parameters);
        changed.iter().for_each(|(name, value)| values.set(name, *value).unwrap());
        build_for(entry, &values, Counts { processes, ..Counts::ONE }).barrier
    };
    let flat = |arity| BarrierKind::Tree { arity };
    let kinds = [2, 3, 4, 7, 8].map(|processes| barrier(processes, &[]));
    let rounds = BarrierKind::Dissemination;
    assert_eq!(kinds, [rounds, rounds, flat(4), flat(7), rounds]);
    assert_eq!(barrier(4, &[("linear_barrier", 0)]), rounds);
}
