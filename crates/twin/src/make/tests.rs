//! Scenarios of recordings: they load, and their runs take as long and as much cpu time.

use scenario::Overrides;
use scenario::plan::Experiment;

use super::*;
use crate::check::{Followed, compare, simulate};
use crate::event::{Kind, Named, State};
use crate::samples::{jobs, periodic, ping_pong, random_program, ranks, team_of_pollers, team_of_sleepers};
use crate::stream::{MS, S, Stream, US, chaos};

fn options(chosen: Chosen) -> Options {
    Options {
        name: "twin".into(),
        machine: None,
        kernel: None,
        chosen,
        runtime: None,
        form: Form::Any,
        quota: None,
        facts: Facts::default(),
    }
}

fn loaded(text: &str) -> Experiment {
    scenario::load("twin", text, &Overrides::default()).unwrap_or_else(|why| panic!("{why}\n{text}"))
}

/// What the default machine charges.
fn costs(recording: &Recording<'_>) -> Costs {
    let machine = default_machine(recording);
    let experiment = loaded(&format!(
        "name: costs\nmachine: {machine}\napps: {{ a: {{ workload: {{ hog: {{ work: 1s }} }}, tasks: 1 }} \
            }}\n\
         policies: [LOAD]\n"
    ));
    let costs = &experiment.runs[0].machine.costs;
    Costs {
        wake: costs.wake.ns(),
        wake_idle: costs
            .wake_remotes
            .first()
            .map_or(costs.wake_remote, |row| row.1)
            .ns()
            .max(costs.wake.ns()),
        sleep: costs.sleep.ns(),
        switch: costs.switch_process.ns(),
        fork: costs.fork.ns(),
    }
}

fn made(followed: &Followed, options: &Options) -> Result<(Made, Compared), Refused> {
    let Followed { follower, courses, form, .. } = followed;
    let recording = Recording { name: "a test", form, follower, courses };
    let program = program(&recording, &options.chosen)?;
    let made = make(&recording, options, costs(&recording))?;
    let experiment = loaded(&made.text);
    let plan = experiment.runs.iter().find(|run| run.alone.is_none()).unwrap();
    let (run, of) = simulate(plan)?;
    let kinds = names(&recording, &program);
    let compared = compare(followed, &program.threads, &kinds, (&run, &of), &app(&recording, &program));
    Ok((made, compared))
}

/// The scenario of a recording, whose run has taken as long as that, within shares of time and of cpu time.
fn near(stream: &Stream, options: &Options, (time, cpu): (f64, f64)) -> Made {
    let (made, compared) = made(&stream.follow().0, options).unwrap();
    let [error, of_cpu] = [compared.error(), compared.cpu_error()].map(Option::unwrap);
    assert!(error.abs() <= time && of_cpu.abs() <= cpu, "{error} {of_cpu}\n{}", made.text);
    made
}

#[test]
fn a_team_of_sleepers_is_a_workload_with_intervals() {
    // What the first thread does behind the last region is left out.
    let made = near(&team_of_sleepers(), &options(Chosen::First), (0.04, 0.02));
    let Found::Team(team) = &made.found else { panic!("{:?}", made.found) };
    assert_eq!(team.regions.len(), 10);
    for part in
        ["intervals: 10", "shape: gradient", "spread: 0.00%", "tasks: 4", "{ libgomp: { spin_count: 0 } }"]
    {
        assert!(made.text.contains(part), "{part}\n{}", made.text);
    }
}

#[test]
fn a_team_of_pollers_polls() {
    // The threads poll until their team begins, which the workload leaves out.
    let made = near(&team_of_pollers(), &options(Chosen::First), (0.06, 0.1));
    assert!(made.text.contains("spin_count: 30000000000") && made.text.contains("the mark `w_in`"));
}

#[test]
fn ranks_are_a_program_with_calls() {
    let made = near(&ranks(), &options(Chosen::First), (0.03, 0.04));
    assert!(matches!(&made.found, Found::Ranks(ranks) if ranks.calls == 20));
    assert!(
        made.text.contains("repeat 19 {\n          run table work-2-1\n          allreduce 8B"),
        "{}",
        made.text
    );
}

#[test]
fn jobs_take_slots() {
    let made = near(&jobs(), &options(Chosen::First), (0.03, 0.02));
    assert!(matches!(&made.found, Found::Jobs(jobs) if jobs.slots == 2));
    assert!(made.text.contains("semaphores: { slots: 2 }"), "{}", made.text);
    assert_eq!(made.text.matches("acquire slots").count(), 5);
    assert_eq!(made.text.matches("release slots").count(), 5);
}

#[test]
fn a_job_that_is_started_behind_the_last_wait_is_joined_at_the_end() {
    // The starter never waits for the fourth job, which ends while it computes.
    let mut stream = Stream::named("make");
    stream.begin(0, 0, 30).exec(US, 0, (30, 30), "/bin/make");
    for (turn, job) in [31, 32, 33].into_iter().enumerate() {
        let at = |us: u64| (turn as u64 * 5_000 + us) * US;
        stream.fork(at(100), 0, 30, job).begin(at(110), 1, job).exec(at(120), 1, (job, job), "/bin/cc");
        stream.wait(at(200), 0, 30).wake(at(4_000), 1, job, 30).end(at(4_010), 1, job).begin(
            at(4_020),
            0,
            30,
        );
    }
    let at = |us: u64| (15_000 + us) * US;
    stream.fork(at(0), 0, 30, 34).begin(at(10), 1, 34).exec(at(20), 1, (34, 34), "/bin/cc").end(
        at(900),
        1,
        34,
    );
    stream.end(at(5_000), 0, 30).sort();
    let made = near(&stream, &options(Chosen::First), (0.03, 0.02));
    assert!(matches!(&made.found, Found::Jobs(jobs) if jobs.jobs.len() == 4));
    let fork = made.text.find("fork make_5").unwrap();
    assert!(made.text.find("join make_5").unwrap() > fork, "{}", made.text);
}

#[test]
fn a_ping_pong_is_who_woke_whom() {
    let made = near(&ping_pong(2_000), &options(Chosen::All), (0.35, 0.1));
    assert_eq!(made.found, Found::Edges);
    assert!(made.text.contains("repeat ") && made.text.contains("release pong-to-pong_2"), "{}", made.text);
}

#[test]
fn a_periodic_thread_is_stopped_with_the_recording() {
    let made = near(&periodic(), &options(Chosen::All), (0.03, 0.03));
    assert!(made.text.contains("window: 401ms") && made.text.contains("until 10ms"), "{}", made.text);
}

#[test]
fn a_wait_for_a_periodic_thread_lasts_as_long_as_it_did() {
    let mut stream = periodic();
    stream.begin(0, 1, 51).wait(2 * MS, 1, 51).wake(400 * MS + 500 * US, 0, 50, 51);
    stream.begin(400 * MS + 500 * US, 1, 51).end(400 * MS + 900 * US, 1, 51).sort();
    let made = near(&stream, &options(Chosen::All), (0.03, 0.03));
    assert!(made.text.contains("io outside 398.5ms"), "{}", made.text);
}

#[test]
fn a_quota_holds_for_every_form() {
    let quota = Some("{ quota: 100ms, period: 100ms }".to_owned());
    for (stream, chosen) in
        [(team_of_sleepers(), Chosen::First), (ranks(), Chosen::All), (jobs(), Chosen::First)]
    {
        let options = Options { quota: quota.clone(), ..options(chosen) };
        // It loads, which it would not if the group had no application.
        let text = made(&stream.follow().0, &options).unwrap().0.text;
        assert!(text.contains("cgroup: twin"), "{text}");
    }
}

#[test]
fn edges_are_kept_where_no_structure_is_wanted() {
    let edges = Options { form: Form::Edges, ..options(Chosen::First) };
    assert_eq!(near(&team_of_sleepers(), &edges, (0.03, 0.02)).found, Found::Edges);
    assert_eq!(near(&jobs(), &edges, (0.03, 0.02)).found, Found::Edges);
}

#[test]
fn names_of_all_kinds_make_a_valid_scenario() {
    for comm in
        ["true", "null", "no", "1e3", "run", "repeat", "a: b", "\"", "'", "#x", "\u{1b}[2J", "{", "slots", ""]
    {
        let mut stream = Stream::named(comm);
        stream.begin(0, 0, 5).fork(50 * US, 0, 5, 6).begin(60 * US, 1, 6).wait(100 * US, 0, 5);
        stream.wake(3 * MS, 1, 6, 5).end(3 * MS + US, 1, 6).begin(3 * MS + 2 * US, 0, 5).end(9 * MS, 0, 5);
        near(&stream, &options(Chosen::All), (0.03, 0.02));
    }
}

#[test]
fn another_program_is_beside_it() {
    let mut stream = Stream::named("a");
    stream.begin(0, 0, 5);
    let hog = Named { tid: 9, comm: "h\"og: #", prio: 139 };
    let switch = |prev, state, next| Kind::Switch { prev, state, next };
    stream.event(0, 1, 0, switch(stream.who(0), State::Runnable, hog));
    stream.event(9 * MS, 1, 9, switch(hog, S, stream.who(0)));
    stream.end(10 * MS, 0, 5);
    let made = near(&stream, &options(Chosen::Named(vec!["a".into()])), (0.03, 0.02));
    assert!(made.text.contains("  other-h-og-9:") && made.text.contains("nice: 19"), "{}", made.text);
}

#[test]
fn what_a_scenario_cannot_hold_is_refused_with_what_to_do() {
    let mut stream = Stream::named("a");
    stream.begin(0, 0, 5);
    for child in 0..300 {
        stream.fork((10 + u64::from(child)) * US, 0, 5, 100 + child);
    }
    stream.wait(400 * US, 0, 5);
    for child in 0..300 {
        let at = (500 + u64::from(child) * 10) * US;
        stream.begin(at, 0, 100 + child).end(at + 5 * US, 0, 100 + child);
    }
    let edges = Options { form: Form::Edges, ..options(Chosen::All) };
    let Err(Refused::Sentence(why)) = made(&stream.follow().0, &edges) else { panic!() };
    assert!(why.contains("301 kinds of tasks") && why.contains("`--from` and `--to`"), "{why}");
    // Lengths that differ too much for a loop.
    let mut stream = Stream::named("a");
    let mut at = 0;
    stream.begin(0, 1, 6);
    for turn in 0..10_000_u64 {
        stream.begin(at, 0, 5);
        at += US + if turn % 1_000 == 0 { 900 * MS } else { turn };
        stream.switch(at, 0, (5, S), 0);
        at += 10 * US;
        stream.wake(at, 0, 0, 5);
    }
    stream.begin(at, 0, 5).end(at + US, 0, 5).end(2 * at, 1, 6);
    let Err(Refused::Sentence(why)) = made(&stream.follow().0, &options(Chosen::All)) else { panic!() };
    assert!(why.contains("statements of `a_2`, and at most 16384"), "{why}");
}

#[test]
fn nobody_is_refused_with_who_there_is() {
    let (followed, _) = jobs().follow();
    let Err(Refused::Sentence(why)) = made(&followed, &options(Chosen::Named(vec!["nobody".into()]))) else {
        panic!()
    };
    assert!(why.contains("there are: make"), "{why}");
}

#[test]
fn events_without_sense_make_a_scenario_that_loads() {
    for seed in 0..150 {
        let (followed, _) = chaos(seed, 200).follow();
        for form in [Form::Any, Form::Edges] {
            let options = Options { form, ..options(Chosen::All) };
            let Followed { follower, courses, form, .. } = &followed;
            let recording = Recording { name: "a test", form, follower, courses };
            if let Ok(made) = make(&recording, &options, costs(&recording)) {
                loaded(&made.text);
            }
        }
    }
}

#[test]
fn a_run_of_any_program_can_be_done_again() {
    for seed in 0..60 {
        let (followed, _) = random_program(seed).follow();
        for form in [Form::Any, Form::Edges] {
            let options = Options { form, ..options(Chosen::First) };
            let (made, compared) = made(&followed, &options).unwrap();
            let [error, cpu] = [compared.error(), compared.cpu_error()].map(Option::unwrap);
            // The regions of a team are drawn at random: so few of them say little of how long they take.
            let team = matches!(made.found, Found::Team(_));
            let (time, most) = if team { (0.5, 0.3) } else { (0.08, 0.04) };
            assert!(error.abs() < time && cpu.abs() < most, "{seed}: {error} {cpu}\n{}", made.text);
        }
    }
}
