//! Tests of the language: what is read, what it becomes, and what is refused.

use std::collections::BTreeMap;

use notation::diagnostics::Place;
use notation::parameter::Values;
use notation::reader::Reader;
use notation::yaml::{Node, tree};
use sim_core::ids::{CpuId, EventId, Id as _, LockId, PoolId, ProfileId};
use sim_core::machine::CpuSet;
use sim_core::program::{Arrivals, MemoryProfile, Op, Partners, PoolRules, Spread};
use sim_core::time::{Span, Time, Work};

use super::*;
use crate::runtimes::MessageRules;

fn parsed(text: &str) -> Result<Block, String> {
    let mut reader: Reader = Reader::new(());
    let node = Node::scalar(Place::range(0, 0..text.len()), text);
    let block = parse(&mut reader, &node, text, &BTreeMap::new());
    block.ok_or_else(|| {
        reader.problems().iter().map(|problem| format!("{}: {}", problem.message, problem.hint)).collect()
    })
}

fn name(text: &str) -> Name {
    Name { text: text.into(), place: Place::NONE }
}

/// A program of these kinds, each with its tasks and its code.
fn draft(kinds: &[(&str, u32, &str)]) -> Draft {
    let kind = |(of, count, code): &(&str, u32, &str)| KindDraft {
        name: name(of),
        count: *count,
        threads: 1,
        code: parsed(code).unwrap(),
        messages: MessageRules::PLAIN,
        requests: None,
    };
    Draft { kinds: kinds.iter().map(kind).collect(), ..Draft::empty("app", Place::NONE) }
}

fn linked(drafts: &[Draft]) -> Result<Linked, String> {
    let mut reader: Reader = Reader::new(());
    let linked = link(&mut reader, drafts);
    linked.ok_or_else(|| {
        reader.problems().iter().map(|problem| format!("{}: {}; ", problem.message, problem.hint)).collect()
    })
}

/// What is wrong with a program of these kinds.
fn refused(kinds: &[(&str, u32, &str)]) -> String {
    linked(&[draft(kinds)]).unwrap_err()
}

/// A graph of so many jobs of a millisecond.
fn independent(count: u32) -> GraphDraft {
    let shape = Shape::Independent { count, run: work("1ms") };
    GraphDraft { shape, rules: PoolRules::STEALING }
}

fn work(text: &str) -> Run {
    let mut reader: Reader = Reader::new(());
    run(&mut reader, &Node::scalar(Place::NONE, text), text, &BTreeMap::new()).unwrap()
}

/// The operations of the first kind.
fn ops(draft: Draft) -> Vec<Op> {
    linked(&[draft]).unwrap().kinds[0][0].program(Bases::default()).unwrap().ops().to_vec()
}

/// A block without its places.
fn bare(block: &Block) -> String {
    let text = format!("{block:?}");
    let parts = text.split("Place {").enumerate();
    parts.map(|(at, part)| if at == 0 { part } else { part.split_once('}').unwrap().1 }).collect()
}

/// Every statement.
const ALL: &str = "run 5ms
run 5ms uniform 10%
run 5ms exponential with stream
run 5ms lognormal 50%
run table web
sleep 1ms
until 10ms from 2ms clock c skip
lock l
wait c with l
unlock l
signal c
signal c 3
broadcast c
acquire s 2
release s
send q
receive q
barrier
barrier b
exchange 1
bcast 8B
reduce 4KiB with stream
allreduce by spin
scatter 1kB
gather
allgather 1MB with stream by spin
alltoall 64B
fork k 4
join k 4
work g
yield
receive q by spin
parallel {
  barrier by block
}
io disk 1ms exponential
repeat 3 {
  run 1us
}
forever {
  choose {
    30% {
      run 1us
    }
    70% {
      call x
    }
  }
}
share 7 {
  yield
}
nice -5
cpus 0,1,2,7
scheduling fifo 50
done
start clock
";

#[test]
fn every_statement_is_read() {
    // Without the cases, for their lines have no statement of their own.
    assert_eq!(parsed(ALL).unwrap().len(), ALL.lines().filter(|line| !line.starts_with([' ', '}'])).count());
    let words: Vec<&str> = ALL.split_whitespace().collect();
    for statement in STATEMENTS {
        assert!(words.contains(&statement.word), "{}", statement.word);
        assert!(statement.form.starts_with(statement.word) && !statement.about.is_empty());
    }
}

#[test]
fn semicolons_comments_and_lists_say_the_same() {
    let text = parsed("repeat 3 { run 5ms; lock l # taken\n unlock l }").unwrap();
    let list = "[{repeat: [3, [{run: 5ms}, {lock: l}, unlock l]]}]";
    let node = tree(0, list).unwrap();
    let mut reader: Reader = Reader::new(());
    let read = parse(&mut reader, &node, list, &BTreeMap::new()).unwrap();
    assert_eq!(bare(&read), bare(&text));
    let list =
        "[{choose: [[30%, [yield]], [70%, [{run: [5ms, exponential]}]]]}, {forever: [{wait: [c, l]}]}]";
    let read = parse(&mut reader, &tree(0, list).unwrap(), list, &BTreeMap::new()).unwrap();
    let same = "choose { 30% { yield } 70% { run 5ms exponential } }\nforever { wait c with l }";
    assert_eq!(bare(&read), bare(&parsed(same).unwrap()));
    // Names may be words with which statements begin.
    let list = "[{io: [run, 5ms]}, {lock: [send]}, {wait: [lock, send]}, {forever: [yield]}]";
    let read = parse(&mut reader, &tree(0, list).unwrap(), list, &BTreeMap::new()).unwrap();
    let same = "io run 5ms; lock send; wait lock with send; forever { yield }";
    assert_eq!(bare(&read), bare(&parsed(same).unwrap()));
}

#[test]
fn a_wrong_case_is_one_error() {
    for text in ["choose { 150% { run 1ms } }\nrun 1ms", "choose { 50% { yield } 60 { repeat 2 { yield } } }"]
    {
        let mut reader: Reader = Reader::new(());
        let node = Node::scalar(Place::range(0, 0..text.len()), text);
        assert!(parse(&mut reader, &node, text, &BTreeMap::new()).is_none());
        let problems = reader.problems();
        assert_eq!(problems.len(), 1, "{text}: {problems:?}");
    }
}

#[test]
fn errors_name_the_word_and_what_would_be_right() {
    for (text, said) in [
        ("rum 5ms", "did you mean `run`?"),
        ("run 5", "needs a unit"),
        ("run", "the length is missing"),
        ("run 5ms with", "the name of a profile is missing"),
        ("run 5ms exponentially", "does not belong here"),
        ("repeat 3 { run 5ms", "is not closed"),
        ("}", "without its `{`"),
        ("repeat { yield }", "the number of passes is missing"),
        ("repeat 3", "a block in braces is missing"),
        ("choose { 70% { yield } 40% { yield } }", "are 110% together"),
        ("choose { yield }", "the probability"),
        ("nice 20", "between -20 and 19"),
        ("scheduling fifo", "the priority, 1 to 99, is missing"),
        ("scheduling rr 100", "1 and 99"),
        ("scheduling realtime", "write `other`, `batch`, `idle`, `fifo 50` or `rr 50`"),
        ("scheduling idle 3", "does not belong here"),
        ("lock a/b", "is not a name"),
        ("run $service", "no value is called `service`"),
        ("until 0ms", "must lie between"),
        ("until 9ms from 1ms skip from 2ms", "`from` stands here already"),
        ("until 9ms skip skip", "`skip` stands here already"),
        ("start", "write `start clock`"),
    ] {
        let wrong = parsed(text).unwrap_err();
        assert!(wrong.contains(said), "{text}: {wrong}");
    }
    let deep = "repeat 2 { ".repeat(500);
    assert!(parsed(&deep).unwrap_err().contains("nest at most"));
}

#[test]
fn values_stand_for_words() {
    let text = "run $service exponential";
    let values = BTreeMap::from([("service".to_owned(), "5ms".to_owned())]);
    let node = Node::scalar(Place::range(0, 0..text.len()), text);
    let block = parse(&mut Reader::<()>::new(()), &node, text, &values).unwrap();
    assert_eq!(bare(&block), bare(&parsed("run 5ms exponential").unwrap()));
}

#[test]
fn places_lie_in_the_file() {
    let file = "code: |\n  run 1ms\n\n  repeat 2 {\n    rum 5ms\n  }\n";
    let root = tree(0, file).unwrap();
    let mut reader: Reader = Reader::new(());
    assert!(parse(&mut reader, &root.get("code").unwrap().value, file, &BTreeMap::new()).is_none());
    let problems = reader.problems();
    let place = problems[0].place;
    assert_eq!((&file[place.start..place.end], place.start), ("rum", file.find("rum").unwrap()));
    // In one line, with and without quotes, and in a list.
    for file in [
        "code: |\n  run 1ms  \n  rum 5ms \n  yield\n",
        "code: run 1ms; rum 5ms\n",
        "code: 'run 1ms; rum 5ms'\n",
        "code: [yield, {rum: 5ms}]\n",
    ] {
        let root = tree(0, file).unwrap();
        let mut reader: Reader = Reader::new(());
        assert!(parse(&mut reader, &root.get("code").unwrap().value, file, &BTreeMap::new()).is_none());
        let place = reader.problems()[0].place;
        assert_eq!(&file[place.start..place.end], "rum", "{file}");
    }
}

#[test]
fn queues_become_events_with_their_places_and_copies() {
    let mut program =
        draft(&[("a", 1, "repeat 9 { send q; run 1us }"), ("b", 1, "repeat 9 { receive q; run 1us }")]);
    program.queues = vec![(name("q"), QueueForm { places: Some(4), copy: Span::from_us(2) })];
    let linked = linked(&[program]).unwrap();
    let mut placed = linked.begin();
    let bases = linked.place(&mut placed, 0, "-1", Time::ZERO);
    let names: Vec<(&str, u32)> =
        placed.objects.events.iter().map(|event| (event.name.as_str(), event.initial)).collect();
    assert_eq!(names, [("q-1", 0), ("free places in q-1", 4)]);
    let (items, places) = (EventId(0), EventId(1));
    let sender = linked.kinds[0][0].program(bases).unwrap();
    assert_eq!(sender.ops()[1], Op::Take { event: places, count: 1 });
    assert!(matches!(sender.ops()[2], Op::Compute { .. }));
    assert_eq!(sender.ops()[3], Op::Post { event: items, count: 1, kept: true });
    let receiver = linked.kinds[0][1].program(bases).unwrap();
    assert_eq!(receiver.ops()[1], Op::Take { event: items, count: 1 });
    assert_eq!(receiver.ops()[2], Op::Post { event: places, count: 1, kept: true });
    // A second copy has objects of its own behind those of the first.
    let second = linked.place(&mut placed, 0, "-2", Time::ZERO);
    assert_eq!(placed.objects.events.len(), 4);
    let sender = linked.kinds[0][0].program(second).unwrap();
    assert_eq!(sender.ops()[3], Op::Post { event: EventId(2), count: 1, kept: true });
}

#[test]
fn conditions_are_armed_before_the_lock_is_given_back() {
    let code = [("a", 1, "lock l; wait c with l; unlock l"), ("b", 1, "run 1ms; broadcast c")];
    let (event, lock) = (EventId(0), LockId(0));
    let wait = [Op::Arm(event), Op::Unlock(lock), Op::Take { event, count: 1 }, Op::Lock(lock)];
    let ops = ops(draft(&code));
    assert_eq!((ops[0], &ops[1..5], ops[5]), (Op::Lock(lock), &wait[..], Op::Unlock(lock)));
}

#[test]
fn forked_kinds_wait_for_starts_and_report_ends() {
    let code = [("main", 1, "fork child 3; join child 3"), ("child", 2, "run 1ms")];
    let linked = linked(&[draft(&code)]).unwrap();
    let child = &linked.kinds[0][1];
    assert!(child.forked && child.endless && !linked.kinds[0][0].forked);
    let ops = child.program(Bases::default()).unwrap().ops().to_vec();
    assert_eq!(ops[..3], [Op::Repeat(0), Op::Take { event: EventId(0), count: 1 }, Op::Respawn]);
    assert_eq!(ops[4..], [Op::Post { event: EventId(1), count: 1, kept: true }, Op::End]);
}

/// A program of one kind with teams of threads.
fn teams(count: u32, threads: u32, code: &str) -> Draft {
    let mut draft = draft(&[("a", count, code)]);
    draft.kinds[0].threads = threads;
    draft
}

#[test]
fn parallel_regions_are_for_all_threads_and_the_rest_for_the_first_one() {
    let code = "run 1ms; repeat 5 { yield; run 2ms; parallel { run 3ms; barrier; run 4ms }; exchange 1 }; \
                barrier";
    let drafts = [teams(3, 4, code)];
    let linked = linked(&drafts).unwrap();
    let kind = &linked.kinds[0][0];
    assert_eq!((kind.count, kind.threads), (12, 4));
    let ops = kind.program(Bases::default()).unwrap().ops().to_vec();
    let run = |ms| {
        let work = Work::from_span(Span::from_ms(ms));
        Op::Compute { work, spread: Spread::NONE, profile: ProfileId(0) }
    };
    let region = [Op::TeamBarrier, run(3), Op::TeamBarrier, run(4), Op::Join];
    // The others pass over what is for the first thread: to the loop, to the region, to the end of the pass.
    assert_eq!(ops[..6], [Op::Lead(2), run(1), Op::Repeat(5), Op::Lead(6), Op::Yield, run(2)]);
    assert_eq!(ops[6..11], region);
    // The first threads of teams lie 4 ranks apart.
    let after = [Op::Lead(13), Op::Exchange { shift: 4 }, Op::End, Op::Lead(16), Op::LeadersBarrier];
    assert_eq!(ops[11..], after[..5]);
}

#[test]
fn only_the_statement_that_names_a_runtime_waits_under_it() {
    let code = "lock l; wait c with l by spin; unlock l; broadcast c; barrier by brief; barrier";
    let mut draft = draft(&[("a", 2, code)]);
    let form = |name| {
        let entry = crate::runtimes::RUNTIMES.find(name).unwrap();
        RuntimeForm { name: entry.name, values: Values::defaults(entry.parameters) }
    };
    draft.runtimes = vec![(name("brief"), form("libgomp")), (name("spare"), form("block"))];
    let mut reader: Reader = Reader::new(());
    let linked = link(&mut reader, &[draft]).unwrap();
    let remarks = reader.remarks().join("; ");
    assert!(remarks.contains("`spare` of `app` is declared and not used"), "{remarks}");
    let kind = &linked.kinds[0][0];
    let program = kind.program(Bases::default()).unwrap();
    let of = |at: usize| program.by(at).checked_sub(1).map(|n| kind.runtimes()[usize::from(n)].0.as_str());
    let waits: Vec<_> =
        (0..program.ops().len()).filter_map(|at| Some((program.ops()[at], of(at)?))).collect();
    assert_eq!(waits, [(Op::Take { event: EventId(0), count: 1 }, "spin"), (Op::Barrier, "brief")]);
    assert_eq!((kind.runtimes().len(), kind.runtimes()[1].1.name), (2, "libgomp"));
}

#[test]
fn teams_and_runtimes_are_refused_where_they_mean_nothing() {
    let refused = |count, threads, code| linked(&[teams(count, threads, code)]).unwrap_err();
    let cases = [
        (1, 1, "parallel { run 1ms }", "add `threads: 4` to the kind"),
        (1, 2, "parallel { parallel { run 1ms } }", "a parallel region in a parallel region"),
        (1, 2, "choose { 50% { parallel { run 1ms } } }", "put `choose` into the region"),
        (2, 2, "parallel { share 4 { run 1ms } }", "use `repeat`, or `count: 1`"),
        (2, 2, "parallel { run 1ms; exchange 1 }", "put it outside of `parallel`"),
        (2, 2, "parallel { allreduce 8B }", "put it outside of `parallel`"),
        (2, 2, "parallel { run 1ms; barrier b }", "write `barrier`"),
        (2, 2, "share 3 { parallel { run 1ms } }", "take the barrier out"),
        (1, 1, "run 1ms by spin", "does not wait for other tasks"),
        (1, 1, "send q by spin; receive q; run 1ms", "does not wait for other tasks"),
        (2, 1, "barrier by spni", "did you mean `spin`?"),
        (2, 1, "repeat 3 { barrier } by spin", "does not wait for other tasks"),
    ];
    for (count, threads, code, wanted) in cases {
        let message = refused(count, threads, code);
        assert!(message.contains(wanted), "{code}: {message}");
    }
    // One team may share the passes of a loop.
    assert!(linked(&[teams(1, 4, "parallel { share 4 { run 1ms } }")]).is_ok());
    let mut forked = draft(&[("main", 1, "fork child; join child"), ("child", 1, "parallel { run 1ms }")]);
    forked.kinds[1].threads = 2;
    assert!(linked(&[forked]).unwrap_err().contains("leave out `threads`"));
}

#[test]
fn choices_are_drawn_one_after_the_other() {
    let code = "choose { 25% { run 1ms } 50% { run 2ms } 25% { run 3ms } }";
    let ops = ops(draft(&[("a", 1, code)]));
    // Three quarters pass the first; of these a third passes the second.
    assert_eq!(ops[0], Op::Branch { share: 3 << 30, to: 3 });
    assert_eq!(ops[3], Op::Branch { share: ((1_u64 << 32) / 3) as u32, to: 6 });
    assert_eq!((ops[2], ops[5], ops.len()), (Op::Jump(7), Op::Jump(7), 7));
    let half = self::ops(draft(&[("a", 1, "choose { 50% { run 1ms } }")]));
    assert_eq!((half[0], half[2]), (Op::Branch { share: 1 << 31, to: 3 }, Op::Jump(3)));
}

#[test]
fn arrivals_make_requests_and_clocks_do() {
    let mut program = draft(&[("a", 2, "forever { receive jobs; run 5ms exponential }")]);
    let feed = Feed { arrivals: Arrivals::Random(Span::from_ms(10)), start: Span::from_ms(3), most: 9 };
    program.arrivals = vec![(name("jobs"), feed)];
    let linked = linked(&[program]).unwrap();
    let kind = &linked.kinds[0][0];
    assert!(kind.requests && kind.endless && linked.is_fed(0));
    let mut placed = linked.begin();
    linked.place(&mut placed, 0, "", Time::from_ns(5));
    let source = &placed.objects.sources[0];
    assert_eq!((source.start, source.most), (Time::from_ns(3_000_005), 9));
    assert!(placed.objects.events[0].stamped);
    let spread = |op: &Op| matches!(op, Op::Compute { spread: Spread::EXPONENTIAL, .. });
    assert!(kind.program(Bases::default()).unwrap().ops().iter().any(spread));
    let periodic = self::linked(&[draft(&[("a", 1, "repeat 3 { until 10ms; run 1ms }")])]).unwrap();
    assert!(periodic.kinds[0][0].requests && !periodic.kinds[0][0].endless);
}

#[test]
fn shared_names_are_one_object_and_others_are_not() {
    let mut one = draft(&[("a", 1, "send q; lock l; unlock l")]);
    let mut other = draft(&[("b", 1, "receive q; lock l; unlock l")]);
    assert!(linked(&[one.clone(), other.clone()]).unwrap_err().contains("nobody sends to the queue `q`"));
    one.shared = vec![name("q")];
    other.shared = vec![name("q")];
    let linked = linked(&[one, other]).unwrap();
    let mut placed = linked.begin();
    let bases = [0, 1].map(|app| linked.place(&mut placed, app, "", Time::ZERO));
    assert_eq!((placed.objects.events.len(), placed.objects.locks.len()), (1, 2));
    let [one, other] = [0, 1].map(|app| linked.kinds[app][0].program(bases[app]).unwrap().ops().to_vec());
    assert_eq!(one[0], Op::Post { event: EventId(0), count: 1, kept: true });
    assert_eq!(other[0], Op::Take { event: EventId(0), count: 1 });
    assert_eq!((one[1], other[1]), (Op::Lock(LockId(0)), Op::Lock(LockId(1))));
}

#[test]
fn uses_that_nobody_answers_are_refused() {
    let one = |code: &'static str| refused(&[("a", 1, code)]);
    assert!(one("receive jbos; run 1ms; send jobs").contains("did you mean `jobs`?"));
    assert!(one("acquire s; run 1ms").contains("nobody releases the semaphore `s`"));
    assert!(one("lock l; run 1ms").contains("nobody gives the lock `l` back"));
    assert!(one("unlock l; run 1ms").contains("nobody takes the lock `l`"));
    assert!(one("unlock l; run 1ms; lock l").contains("nobody can hold it here"));
    assert!(one("lock l; wait c with l; unlock l").contains("nobody signals the condition `c`"));
    assert!(one("join a").contains("nobody forks the kind `a`"));
    assert!(one("fork b; run 1ms").contains("unknown kind `b`"));
    assert!(one("call s").contains("unknown section `s`"));
    assert!(one("run table t").contains("unknown table `t`"));
    assert!(one("run 1ms with p").contains("unknown profile `p`"));
    assert!(one("forever { send q; receive q }").contains("can pass without taking time"));
    assert!(one("share 3 { run 1ms; barrier }").contains("cannot meet in it"));
    let deep = "repeat 2 { repeat 2 { repeat 2 { repeat 2 { repeat 2 { run 1ms } } } } }";
    assert!(one(deep).contains("loops nest at most 4 deep"));
    assert!(one("run 200h").contains("at most"));
    assert!(one("lock z; lock z; run 1ms; unlock z").contains("holds the lock `z` already"));
    assert!(one("repeat 2 { lock z; run 1ms }; lock z; unlock z").contains("holds the lock `z` already"));
    let perhaps = "choose { 50% { lock z } 50% { run 1us } }; lock z; run 1us; unlock z";
    assert!(linked(&[draft(&[("a", 1, perhaps)])]).is_ok());
    let both = "choose { 50% { lock z } 50% { lock z } }; lock z; run 1us; unlock z";
    assert!(one(both).contains("holds the lock `z` already"));
    assert!(one("forever { run 1ms }; run 1ms").contains("never done"));
    assert!(one("choose { 50% { share 3 { run 1ms } } }").contains("a choice parts them"));
    let forked = |code| refused(&[("a", 1, "fork b; join b"), ("b", 2, code)]);
    assert!(forked("share 3 { run 1ms }").contains("share no passes"));
    assert!(forked("").contains("the kind `b` does nothing"));
    let meets = refused(&[("a", 1, "fork b; join b"), ("b", 1, "barrier")]);
    assert!(meets.contains("cannot meet here"), "{meets}");
}

#[test]
fn sections_call_others_but_not_themselves() {
    let mut program = draft(&[("a", 1, "call x; call x")]);
    program.sections =
        vec![(name("x"), parsed("run 1ms; call y").unwrap()), (name("y"), parsed("yield").unwrap())];
    assert_eq!(ops(program.clone()).len(), 4);
    program.sections[1].1 = parsed("call x").unwrap();
    assert!(linked(&[program.clone()]).unwrap_err().contains("calls itself"));
    // Sections that call others twice each do not take for ever.
    program.sections = (0..60)
        .map(|i| (name(&format!("s{i}")), parsed(&format!("call s{0}; call s{0}", i + 1)).unwrap()))
        .collect();
    program.sections.push((name("s60"), Vec::new()));
    program.kinds[0].code = parsed("call s0").unwrap();
    assert!(linked(&[program]).unwrap_err().contains("at most"));
}

#[test]
fn as_many_meet_at_a_barrier_as_use_it() {
    let code = [("a", 3, "run 1ms; barrier b"), ("b", 2, "barrier b; run 1ms")];
    let program = draft(&code);
    let meet = |parties| Op::Meet { event: EventId(0), parties };
    assert_eq!(ops(program.clone())[1], meet(5));
    let two = Draft { barriers: vec![(name("b"), 2)], ..program.clone() };
    assert_eq!(ops(two)[1], meet(2));
    let six = Draft { barriers: vec![(name("b"), 6)], ..program };
    assert!(linked(std::slice::from_ref(&six)).unwrap_err().contains("6 tasks are to meet"));
    // Copies meet only where they share the name.
    let copies = Draft { copies: 2, ..six };
    assert!(linked(std::slice::from_ref(&copies)).unwrap_err().contains("6 tasks are to meet"));
    let together = Draft { shared: vec![name("b")], ..copies };
    assert_eq!(ops(together)[1], Op::Meet { event: EventId(0), parties: 6 });
}

#[test]
fn kinds_of_locks_know_who_comes_and_where() {
    let kind = crate::LOCK_KINDS.iter().position(|kind| kind.rules.0 != kind.rules.1).unwrap();
    let (enough, few) = crate::LOCK_KINDS[kind].rules;
    let locks = vec![(name("l"), LockForm::Kind(kind))];
    let one = Draft { cpus: 4, copies: 3, locks, ..draft(&[("a", 2, "lock l; run 1us; unlock l")]) };
    let rules = |draft: &Draft| {
        let linked = linked(std::slice::from_ref(draft)).unwrap();
        let mut placed = linked.begin();
        linked.place(&mut placed, 0, "", Time::ZERO);
        placed.objects.locks[0].rules
    };
    assert_eq!(rules(&one), enough, "each copy has its own");
    assert_eq!(rules(&Draft { shared: vec![name("l")], ..one.clone() }), few);
    let allowed = |cpus: std::ops::Range<u32>| Some(CpuSet::of(cpus.map(CpuId)));
    assert_eq!(rules(&Draft { allowed: allowed(1..2), ..one.clone() }), few);
    assert_eq!(rules(&Draft { allowed: allowed(1..3), ..one }), enough);
}

/// What is said about programs that are accepted.
fn remarks(drafts: &[Draft]) -> String {
    let mut reader: Reader = Reader::new(());
    assert!(link(&mut reader, drafts).is_some(), "{:?}", reader.problems());
    reader.remarks().join("; ")
}

#[test]
fn shared_names_are_names_in_use() {
    let with = |shared: &[&str]| Draft {
        shared: shared.iter().map(|text| name(text)).collect(),
        ..draft(&[("a", 1, "send jobs; receive jobs; run 1ms")])
    };
    assert!(linked(&[with(&["jbos"])]).unwrap_err().contains("did you mean `jobs`?"));
    assert!(linked(&[with(&["a"])]).unwrap_err().contains("no statement of `app` uses `a`"));
    assert!(linked(&[with(&["jobs", "jobs"])]).unwrap_err().contains("shared twice"));
    assert!(linked(&[with(&["jo bs"])]).unwrap_err().contains("`jo bs` is not a name"));
    assert_eq!(remarks(&[with(&["jobs"])]), "no other application shares `jobs` with `app`");
    assert_eq!(remarks(&[with(&["jobs"]), with(&["jobs"])]), "");
    assert_eq!(remarks(&[Draft { copies: 2, ..with(&["jobs"]) }]), "");
}

#[test]
fn what_is_declared_and_not_used_is_a_remark() {
    let empty = || draft(&[("a", 1, "run 1ms")]);
    let span = Span::from_ms(1);
    let all = Draft {
        locks: vec![(name("l"), LockForm::Kind(0))],
        semaphores: vec![(name("s"), 3)],
        queues: vec![(name("q"), QueueForm::default())],
        barriers: vec![(name("b"), 1)],
        devices: vec![(name("d"), 1)],
        tables: vec![(name("t"), vec![span, span])],
        graphs: vec![(name("g"), independent(3))],
        profiles: vec![(name("p"), MemoryProfile::NONE)],
        sections: vec![(name("x"), parsed("unlock l; run 1ms").unwrap())],
        ..empty()
    };
    let said = remarks(&[all]);
    for what in [
        "lock `l`",
        "semaphore `s`",
        "queue `q`",
        "barrier `b`",
        "device `d`",
        "graph `g`",
        "table `t`",
        "profile `p`",
    ] {
        assert!(said.contains(&format!("the {what} of `app` is declared and not used")), "{what}: {said}");
    }
    assert!(said.contains("the section `x` of `app`"), "{said}");
    assert_eq!(remarks(&[empty()]), "");
    let wrong = Draft { sections: vec![(name("x"), parsed("call y").unwrap())], ..empty() };
    assert!(linked(&[wrong]).unwrap_err().contains("unknown section `y`"));
}

#[test]
fn graphs_become_pools_of_their_program() {
    let job = |own: &str, run: Option<Run>, after: &[&str]| JobDraft {
        name: name(own),
        run,
        after: after.iter().map(|text| name(text)).collect(),
    };
    let list = vec![
        job("a", Some(work("2ms lognormal 50% with stream")), &[]),
        job("b", None, &["a"]),
        job("c", Some(work("3ms lognormal 50%")), &["b"]),
    ];
    let graph = GraphDraft { shape: Shape::Jobs(list), rules: PoolRules::SHARED };
    let program = |code: &[(&str, u32, &str)]| Draft {
        graphs: vec![(name("first"), graph.clone()), (name("second"), independent(4))],
        profiles: vec![(name("stream"), MemoryProfile::NONE)],
        ..draft(code)
    };
    let linked = linked(&[
        program(&[("x", 2, "run 1ms lognormal 20%; work second"), ("y", 1, "work first; work second")]),
        program(&[("z", 1, "work second")]),
    ])
    .unwrap();
    let mut placed = linked.begin();
    let bases =
        [("", 0), ("", 1), (" 2", 1)].map(|(copy, app)| linked.place(&mut placed, app, copy, Time::ZERO));
    let pools = &placed.objects.pools;
    let names: Vec<(&str, usize)> = pools.iter().map(|pool| (pool.name.as_str(), pool.jobs.len())).collect();
    assert_eq!(names, [("first", 3), ("second", 4), ("second", 4), ("second 2", 4)]);
    let works = |app: usize, kind: usize, base: usize| {
        let program = linked.kinds[app][kind].program(bases[base]).unwrap();
        program.ops().iter().filter(|op| matches!(op, Op::Work(_))).copied().collect::<Vec<_>>()
    };
    assert_eq!(works(0, 1, 0), [0, 1].map(|pool| Op::Work(PoolId(pool))));
    assert_eq!((works(1, 0, 1), works(1, 0, 2)), (vec![Op::Work(PoolId(2))], vec![Op::Work(PoolId(3))]));
    let jobs = &pools[0].jobs;
    assert_eq!(jobs.iter().map(|job| job.next.clone()).collect::<Vec<_>>(), [vec![1], vec![2], vec![]]);
    // The same numbers in all kinds, before those of their own.
    assert_eq!(jobs[0].profile.index(), 1);
    assert_eq!(
        (jobs[0].spread, jobs[2].spread, jobs[2].profile),
        (Spread::table(0), Spread::table(0), ProfileId(0))
    );
    assert_eq!(jobs.iter().map(|job| job.work.floor_ns() / 1_000_000).collect::<Vec<_>>(), [2, 0, 3]);
    let other = linked.kinds[0][0].program(bases[0]).unwrap();
    assert!(matches!(other.ops()[0], Op::Compute { spread, .. } if spread == Spread::table(1)));
}

#[test]
fn wrong_graphs_are_refused() {
    let with = |graph: GraphDraft, code: &str| {
        linked(&[Draft { graphs: vec![(name("sort"), graph)], ..draft(&[("a", 1, code)]) }])
            .err()
            .unwrap_or_default()
    };
    assert_eq!(with(independent(2), "work sort"), "");
    assert_eq!(with(independent(2), "forever { work sort }"), "");
    assert_eq!(with(independent(2), "work srot"), "unknown graph `srot`: did you mean `sort`?; ");
    assert!(refused(&[("a", 1, "work sort")]).contains("unknown graph `sort`: add `graphs: { sort: {"));
    let of =
        |run: &str| GraphDraft { shape: Shape::Independent { count: 2, run: work(run) }, ..independent(1) };
    assert!(with(of("0s"), "work sort").starts_with("no job of the graph `sort` has work"));
    assert!(with(of("table web"), "work sort").contains("unknown table `web`"));
    assert!(with(of("1ms with cache"), "work sort").contains("unknown profile `cache`"));
    let mut reader: Reader = Reader::new(());
    for wrong in ["", "1ms 2ms", "5", "{ }", "1ms; 2ms"] {
        let node = Node::scalar(Place::NONE, wrong);
        assert_eq!(run(&mut reader, &node, wrong, &BTreeMap::new()), None, "{wrong}");
    }
}

#[test]
#[cfg_attr(miri, ignore = "many texts")]
fn no_text_makes_the_parser_or_the_compiler_panic() {
    let words: Vec<&str> =
        ALL.split(' ').chain(["{", "}", ";", "\n", "#", "%", "$x", "é", "0%", "-1", "4294967296"]).collect();
    for seed in 0..3_000_u64 {
        let mut text = String::new();
        for at in 0..seed % 40 {
            let drawn = sim_core::rng::draw(seed + 1, at + 1) as usize;
            text.push_str(words[drawn % words.len()]);
            text.push_str(if drawn & 0x8000 == 0 { " " } else { "\n" });
        }
        if let Ok(code) = parsed(&text) {
            let kind = KindDraft {
                name: name("k"),
                count: 2,
                threads: 1,
                code,
                messages: MessageRules::PLAIN,
                requests: None,
            };
            let program = Draft { kinds: vec![kind], ..Draft::empty("app", Place::NONE) };
            let _ = linked(&[program]);
        }
    }
}

#[test]
fn messages_are_copied_before_they_are_announced_or_by_who_receives_them() {
    let copy = |ns| Op::Compute {
        work: Work::from_span(Span::from_ns(ns)),
        spread: Spread::NONE,
        profile: ProfileId(0),
    };
    let ops = |code: &str, single: bool| -> Vec<Op> {
        let mut draft = draft(&[("r", 4, code)]);
        draft.kinds[0].messages.single_copy = single.then_some(16_000_000_000);
        linked(&[draft]).unwrap().kinds[0][0].program(Bases::default()).unwrap().ops().to_vec()
    };
    let exchange = |shift| Op::Exchange { shift };
    // 4 kB at 8 GB/s, below the eager limit; then 800 kB, above it, also at 16 GB/s by the receiver alone.
    assert_eq!(ops("exchange 1 4kB", true), [copy(350), copy(500), exchange(1), copy(500)]);
    assert_eq!(ops("exchange 5 800kB", true), [copy(2_000), exchange(1), copy(50_000), exchange(3)]);
    let both = [copy(2_000), exchange(1), exchange(3), copy(100_000), copy(100_000), exchange(1)];
    assert_eq!(ops("exchange 1 800kB", false), both);
    // A leaf of a tree only receives, and what is combined is read twice.
    let with = Partners::Up(1);
    let sends = [copy(350), Op::Apart { with, tells: true, to: 9 }, copy(500), Op::Message(with)];
    let receives = [Op::Apart { with, tells: false, to: 12 }, copy(1_000)];
    assert_eq!(ops("reduce 4kB", true)[6..], [sends.to_vec(), receives.to_vec()].concat());
    assert_eq!(ops("reduce", true)[2..], [copy(350), Op::Message(with)]);
    let steps = [copy(350), exchange(3), copy(350), exchange(2)];
    assert_eq!(ops("allgather; exchange 1", false), [steps.to_vec(), vec![exchange(1)]].concat());
    let mut many = draft(&[("r", 1 << 20, "run 1ms; alltoall 8kB; allgather 8kB")]);
    many.sections = vec![(name("spare"), parsed("repeat 3 { allreduce 8B }").unwrap())];
    let message = linked(&[many.clone()]).and_then(|linked| linked.kinds[0][0].program(Bases::default()));
    assert!(message.unwrap_err().contains("at most 16384 operations"));
    many.kinds[0].count = 2;
    assert_eq!(linked(&[many]).err(), None);
}
