//! One program of a case: its kinds of tasks, what they do, and what they share. It ends, whatever the order
//! in which its tasks run, unless it is one of the few that may not.

use std::collections::BTreeSet;

use notation::parameter::Kind as Unit;
use serde_json::{Map, Value, json};
use workloads::LOCK_KINDS;

use super::code::{self, Line, block, plain};
use super::source::Source;
use super::values::{Frame, Limit, cpus, settings, sparse, time};

/// What programs depend on.
#[derive(Clone)]
pub(super) struct Facts {
    /// Cpus of the machine.
    pub(super) cpus: u64,
    /// Typical piece of work in nanoseconds.
    pub(super) grain: u64,
    /// Tasks can change their nice values.
    pub(super) weighs: bool,
    /// Tasks can change the cpus that they may use.
    pub(super) moves: bool,
    /// The scheduling policies between which tasks can change.
    pub(super) classes: Vec<&'static str>,
    /// Names that it shares with another program: they are used in any case.
    pub(super) shared: Vec<&'static str>,
    /// It is the second of these programs: it declares none of the names.
    pub(super) second: bool,
}

/// A kind of tasks.
pub(super) struct Kind {
    pub(super) name: &'static str,
    pub(super) count: u64,
    /// Threads of each of its tasks.
    pub(super) threads: u64,
    /// Its code has no end.
    pub(super) endless: bool,
    /// Others start its tasks.
    pub(super) forked: bool,
    code: Vec<Line>,
}

/// Names that two programs may share.
pub(super) const SHARED: [&str; 4] = ["l0", "s0", "d0", "mail"];
/// Most blocks of a program that are called.
const SECTIONS: usize = 2;
/// Loops around a statement at most, with that of a forked kind and those around its blocks.
const DEPTH: usize = 2;

/// A program while it is drawn.
pub(super) struct Program<'d, 'a> {
    source: &'d mut Source<'a>,
    facts: &'d Facts,
    /// Names that are used, of locks, semaphores and so on.
    used: BTreeSet<String>,
    /// Units of the semaphores at the start.
    units: [u64; 2],
    sections: Vec<Vec<Line>>,
    tables: Vec<Value>,
    profiles: Vec<Value>,
    /// The keys of the program that are known as its parts are drawn.
    keys: Map<String, Value>,
    pub(super) kinds: Vec<Kind>,
    /// Requests come from outside.
    pub(super) fed: bool,
    /// The present kind is started by others: its tasks cannot meet.
    forked: bool,
    /// Some of its tasks may wait without end.
    risky: bool,
}

impl<'d, 'a> Program<'d, 'a> {
    /// Draws a program whose first kind ends.
    pub(super) fn draw(source: &'d mut Source<'a>, facts: &'d Facts) -> Self {
        let units =
            if facts.second { [1, source.between(1, 3)] } else { [(); 2].map(|()| source.between(1, 3)) };
        let risky = source.one_in(60);
        let mut program = Self {
            source,
            facts,
            used: BTreeSet::new(),
            units,
            sections: Vec::new(),
            tables: Vec::new(),
            profiles: Vec::new(),
            keys: Map::new(),
            kinds: Vec::new(),
            fed: false,
            forked: false,
            risky,
        };
        program.all();
        program
    }

    fn all(&mut self) {
        let (count, passes) = (self.tasks(), self.source.magnitude(1, 30));
        // All its tasks do each pass, share them, or go around two loops.
        let form = self.source.below(5);
        let meets = form < 3 || form == 4;
        let mut body = self.pieces(0);
        let total = if form == 3 { passes } else { passes * count };
        for _ in 0..*self.source.pick(&[0, 1, 1, 2, 2, 3]) {
            let more = match self.source.below(9) {
                0 | 1 => self.queue(total),
                2 | 3 => self.condition(),
                4 if meets && form != 4 => self.meeting(passes),
                4 | 5 => self.helpers(),
                6 => self.periodic(),
                7 => self.teams(),
                _ => self.server(),
            };
            body.extend(more);
        }
        if meets {
            body.extend(self.together());
        }
        body.extend(self.common());
        if self.source.one_in(4) {
            body.extend(self.graph());
        }
        if !self.facts.classes.is_empty() && self.source.one_in(2) {
            body.extend([self.class(), self.run()]);
        }
        if self.risky {
            body.extend(self.risk());
        }
        let begin = if self.source.one_in(8) { vec![plain("start clock"), self.run()] } else { Vec::new() };
        let looped = match form {
            3 => block(format!("share {passes}"), body),
            4 => {
                let inner = self.source.between(1, passes.min(3));
                let outer = (passes / inner).max(1);
                // What the others count on: the number of all passes.
                let rest = passes.saturating_sub(outer * inner);
                let nested = block(
                    format!("repeat {outer}"),
                    vec![self.run(), block(format!("repeat {inner}"), body.clone())],
                );
                let code =
                    if rest > 0 { vec![nested, block(format!("repeat {rest}"), body)] } else { vec![nested] };
                return self.first(count, begin, code);
            }
            _ => block(format!("repeat {passes}"), body),
        };
        self.first(count, begin, vec![looped]);
    }

    fn first(&mut self, count: u64, mut begin: Vec<Line>, code: Vec<Line>) {
        begin.extend(code);
        let main = Kind { name: "main", count, threads: 1, endless: false, forked: false, code: begin };
        self.kinds.insert(0, main);
    }

    fn add(&mut self, name: &'static str, (endless, forked): (bool, bool), code: Vec<Line>) {
        let count = self.tasks();
        self.kinds.push(Kind { name, count, threads: 1, endless, forked, code });
    }

    fn has(&self, name: &str) -> bool {
        self.kinds.iter().any(|kind| kind.name == name)
    }

    fn tasks(&mut self) -> u64 {
        self.source.between(1, (self.facts.cpus + 1).min(4))
    }

    fn uses(&mut self, name: &str) -> String {
        self.used.insert(name.to_owned());
        name.to_owned()
    }

    /// A time in nanoseconds, of so many eighths of a typical piece of work.
    fn ns(&mut self, (from, to): (u64, u64)) -> u64 {
        let grain = self.facts.grain;
        self.source.magnitude((grain * from / 8).max(1_000), (grain * to / 8).max(1_000))
    }

    fn span(&mut self, range: (u64, u64)) -> String {
        Unit::Duration.show(self.ns(range))
    }

    /// A length with or without a variation.
    fn length(&mut self) -> String {
        let span = self.span((1, 16));
        match self.source.below(8) {
            0 => format!("{span} uniform {}%", self.source.between(0, 100)),
            1 => format!("{span} exponential"),
            2 => format!("{span} lognormal {}%", *self.source.pick(&[10, 50, 100])),
            3 => {
                let number = self.source.between(0, 1) as usize;
                while self.tables.len() <= number {
                    let parts = self.source.between(2, 5);
                    let mut all: Vec<u64> = (0..parts).map(|_| self.ns((1, 24))).collect();
                    all.sort_unstable();
                    self.tables.push(all.into_iter().map(time).collect());
                }
                format!("table t{number}")
            }
            4 if self.source.one_in(2) => {
                if !self.keys.contains_key("values") {
                    let value = json!(self.span((1, 8)));
                    self.keys.insert("values".into(), json!({ "v": value }));
                }
                "$v".into()
            }
            _ => span,
        }
    }

    fn run(&mut self) -> Line {
        let length = self.length();
        if !self.source.one_in(6) {
            return plain(format!("run {length}"));
        }
        if self.profiles.is_empty() {
            let limits: &[Limit] = &[];
            let frame = Frame { cpus: self.facts.cpus, apps: &[], limits, sparse: sparse(self.source) };
            let profile = settings(self.source, workloads::program::PROFILE, &frame);
            self.profiles.push(Value::Object(profile));
        }
        plain(format!("run {length} with p0"))
    }

    /// Some blocks that end on their own.
    fn pieces(&mut self, depth: usize) -> Vec<Line> {
        // A pass of a loop has to take time.
        let mut lines = vec![self.run()];
        for _ in 0..self.source.between(0, 2) {
            let piece = self.piece(depth);
            lines.extend(piece);
        }
        lines
    }

    fn piece(&mut self, depth: usize) -> Vec<Line> {
        match self.source.below(17) {
            0 | 1 => self.critical(0),
            2 => self.limited(),
            3 => {
                let device = if self.source.one_in(2) { "d0" } else { "d1" };
                let (device, length) = (self.uses(device), self.length());
                vec![plain(format!("io {device} {length}"))]
            }
            4 => vec![plain(format!("sleep {}", self.length()))],
            5 => vec![plain("yield"), self.run()],
            6 if depth < DEPTH => {
                let first = self.source.between(1, 99);
                let rest =
                    if self.source.one_in(2) { 100 - first } else { self.source.between(1, 100 - first) };
                let cases = [first, rest].map(|share| (share, self.pieces(depth + 1)));
                vec![Line::Choose(cases.into())]
            }
            7 if depth < DEPTH => {
                let passes = self.source.between(1, 4);
                vec![block(format!("repeat {passes}"), self.pieces(depth + 1))]
            }
            8 => self.call(),
            9 if self.facts.weighs => {
                vec![plain(format!("nice {}", self.source.between(0, 39) as i64 - 20)), self.run()]
            }
            10 if self.facts.moves => {
                let list: Vec<String> =
                    cpus(self.source, self.facts.cpus).iter().map(u64::to_string).collect();
                vec![plain(format!("cpus {}", list.join(","))), self.run()]
            }
            11 => vec![plain("done")],
            12 => vec![self.until()],
            13 if !self.facts.classes.is_empty() => vec![self.class(), self.run()],
            _ => vec![self.run()],
        }
    }

    /// Another scheduling policy.
    fn class(&mut self) -> Line {
        let name = *self.source.pick(&self.facts.classes);
        plain(match name {
            "fifo" | "rr" => format!("scheduling {name} {}", self.source.between(1, 99)),
            _ => format!("scheduling {name}"),
        })
    }

    /// A critical section; those inside it are of locks with higher numbers.
    fn critical(&mut self, from: u64) -> Vec<Line> {
        let number = self.source.between(from, 1);
        let lock = self.uses(&format!("l{number}"));
        let mut lines = vec![plain(format!("lock {lock}"))];
        match self.source.below(6) {
            0 => lines.push(plain(format!("sleep {}", self.span((1, 4))))),
            1 => lines.push(plain("yield")),
            2 if number == 0 => lines.extend(self.critical(1)),
            _ => lines.push(plain(format!("run {}", self.span((1, 4))))),
        }
        lines.push(plain(format!("unlock {lock}")));
        lines
    }

    /// With units of a semaphore, which nothing else is waited for with.
    fn limited(&mut self) -> Vec<Line> {
        let number = self.source.below(2) as usize;
        let (name, most) = (self.uses(&format!("s{number}")), self.units[number]);
        let count = match self.source.between(1, most) {
            1 => String::new(),
            count => format!(" {count}"),
        };
        let inside = if self.source.one_in(3) { self.critical(0) } else { vec![self.run()] };
        let mut lines = vec![plain(format!("acquire {name}{count}"))];
        lines.extend(inside);
        lines.push(plain(format!("release {name}{count}")));
        lines
    }

    fn call(&mut self) -> Vec<Line> {
        let number = self.source.below(SECTIONS as u64) as usize;
        while self.sections.len() <= number {
            let mut section = vec![self.run()];
            match self.source.below(3) {
                0 => section.extend(self.limited()),
                1 => section.extend(self.critical(0)),
                _ => section.push(plain("yield")),
            }
            self.sections.push(section);
        }
        vec![plain(format!("call c{number}"))]
    }

    fn until(&mut self) -> Line {
        let mut words = format!("until {}", self.span((4, 40)));
        if self.source.one_in(3) {
            words += &format!(" from {}", self.span((1, 16)));
        }
        if self.source.one_in(3) {
            words += &format!(" clock k{}", self.source.below(2));
        }
        if self.source.one_in(3) {
            words += " skip";
        }
        plain(words)
    }

    /// A queue between the first kind, which does this so many times in all, and another one.
    fn queue(&mut self, total: u64) -> Vec<Line> {
        if self.has("peer") {
            return Vec::new();
        }
        let queue = self.uses("q0");
        if self.source.below(3) > 0 {
            let mut form = Map::new();
            if self.source.below(3) > 0 {
                form.insert("places".into(), json!(self.source.between(1, 4)));
            }
            if self.source.one_in(2) {
                form.insert("copy".into(), json!(self.span((1, 2))));
            }
            self.declare("queues", "q0", Value::Object(form));
        }
        let (mut send, mut receive) = (vec![self.run()], vec![plain(format!("receive {queue}")), self.run()]);
        send.push(plain(format!("send {queue}")));
        let (here, mut there) = if self.source.below(3) > 0 {
            (send, receive)
        } else {
            receive.truncate(1);
            (receive, send)
        };
        if self.source.one_in(3) {
            there.extend(self.critical(0));
        }
        let endless = self.source.one_in(2);
        let head = if endless { "forever".to_owned() } else { format!("share {total}") };
        self.add("peer", (endless, false), vec![block(head, there)]);
        here
    }

    /// A condition: the first kind announces, or waits for what another one announces without end.
    fn condition(&mut self) -> Vec<Line> {
        if self.has("party") {
            return Vec::new();
        }
        let lock = if self.source.one_in(2) { "l2" } else { "l1" };
        let lock = self.uses(lock);
        let announced = match self.source.below(3) {
            0 => "signal news".to_owned(),
            1 => format!("signal news {}", self.source.between(1, 3)),
            _ => "broadcast news".to_owned(),
        };
        let around = |inside: Vec<Line>| {
            let mut lines = vec![plain(format!("lock {lock}"))];
            lines.extend(inside);
            lines.push(plain(format!("unlock {lock}")));
            lines
        };
        let span = self.span((1, 4));
        let announce = around(vec![plain(format!("run {span}")), plain(announced)]);
        let wait = around(vec![plain(format!("wait news with {lock}"))]);
        let (here, there) = if self.source.one_in(2) { (announce, wait) } else { (wait, announce) };
        let mut there = there;
        there.push(plain(format!("sleep {}", self.span((1, 8)))));
        self.add("party", (true, false), vec![block("forever", there)]);
        here
    }

    /// A barrier of two kinds, which come to it equally often.
    fn meeting(&mut self, passes: u64) -> Vec<Line> {
        if self.has("mate") {
            return Vec::new();
        }
        self.uses("b0");
        let mut body = self.pieces(1);
        body.push(plain("barrier b0"));
        self.add("mate", (false, false), vec![block(format!("repeat {passes}"), body)]);
        vec![plain("barrier b0")]
    }

    /// Tasks that the first kind starts.
    fn helpers(&mut self) -> Vec<Line> {
        if self.has("helper") {
            return Vec::new();
        }
        self.forked = true;
        let mut code = self.pieces(1);
        self.forked = false;
        if self.source.one_in(4) {
            // A barrier at which one is enough.
            self.uses("b1");
            self.declare("barriers", "b1", json!(1));
            code.push(plain("barrier b1"));
        }
        self.add("helper", (false, true), code);
        let count = self.source.between(1, 5);
        let number = if count == 1 { String::new() } else { format!(" {count}") };
        let mut lines = vec![plain(format!("fork helper{number}"))];
        if self.source.one_in(2) {
            lines.push(self.run());
        }
        if self.source.below(4) > 0 {
            lines.push(plain(format!("join helper{number}")));
        }
        lines
    }

    /// Tasks with a clock.
    fn periodic(&mut self) -> Vec<Line> {
        if !self.has("clocked") {
            let mut body = vec![self.until()];
            body.extend(self.pieces(1));
            let endless = self.source.below(3) > 0;
            let head =
                if endless { "forever".to_owned() } else { format!("repeat {}", self.source.between(1, 20)) };
            self.add("clocked", (endless, false), vec![block(head, body)]);
        }
        vec![self.until()]
    }

    /// Teams of threads with parallel regions, beside the first kind.
    fn teams(&mut self) -> Vec<Line> {
        if !self.has("team") {
            let mut inside = vec![self.run()];
            if self.source.one_in(3) {
                inside.extend([plain("barrier"), self.run()]);
            }
            if self.source.one_in(3) {
                inside.extend(self.critical(0));
            }
            let mut body = if self.source.one_in(2) { self.pieces(1) } else { Vec::new() };
            body.push(block("parallel", inside));
            match self.source.below(4) {
                0 => body.push(code::messages(self.source)),
                1 => body.push(plain("barrier")),
                _ => {}
            }
            let passes = self.source.between(1, 12);
            self.add("team", (false, false), vec![block(format!("repeat {passes}"), body)]);
            if let Some(team) = self.kinds.last_mut() {
                team.threads = self.source.between(2, 3);
            }
        }
        vec![self.run()]
    }

    /// Tasks that answer requests from outside.
    fn server(&mut self) -> Vec<Line> {
        if self.has("server") {
            return Vec::new();
        }
        self.fed = true;
        self.uses("jobs");
        let endless = self.source.below(3) > 0;
        let (feed, most) = self.feed(endless);
        self.declare("arrivals", "jobs", feed);
        if self.source.one_in(3) {
            let places = self.source.between(1, 5);
            self.declare("queues", "jobs", json!({ "places": places }));
        }
        let mut body = vec![plain("receive jobs")];
        body.extend(self.pieces(1));
        if self.source.one_in(3) {
            body.extend([plain("done"), self.run()]);
        }
        let head = if endless { "forever".to_owned() } else { format!("share {most}") };
        self.add("server", (endless, false), vec![block(head, body)]);
        // Beside those from outside.
        if endless && self.source.one_in(4) { vec![plain("send jobs")] } else { Vec::new() }
    }

    /// When requests come, and how many surely do; any number where nobody counts on them.
    fn feed(&mut self, any: bool) -> (Value, u64) {
        let mut feed = Map::new();
        let form = self.source.below(if any { 4 } else { 3 });
        let between = time(self.ns((8, 64)));
        match form {
            0 => drop(feed.insert("every".into(), between)),
            1 => drop(feed.insert("mean".into(), between)),
            2 => {
                let two =
                    |program: &mut Self, range| json!([time(program.ns(range)), time(program.ns(range))]);
                let (means, last) = (two(self, (8, 64)), two(self, (16, 160)));
                feed.insert("bursts".into(), json!({ "means": means, "last": last }));
            }
            _ => {
                let mut at: Vec<u64> = (0..self.source.between(1, 9)).map(|_| self.ns((1, 400))).collect();
                at.sort_unstable();
                feed.insert("at".into(), at.into_iter().map(time).collect());
            }
        }
        if self.source.one_in(3) {
            feed.insert("start".into(), time(self.ns((1, 80))));
        }
        if any && form < 3 && self.source.one_in(3) {
            feed.insert("count".into(), json!(self.source.between(1, 40)));
        }
        (Value::Object(feed), self.source.between(1, 20))
    }

    /// What all tasks of the first kind do together.
    fn together(&mut self) -> Vec<Line> {
        match self.source.below(6) {
            0 => vec![plain("barrier")],
            1 => vec![code::messages(self.source)],
            2 if !self.has("mate") => {
                self.uses("b2");
                vec![plain("barrier b2")]
            }
            _ => Vec::new(),
        }
    }

    /// Uses of the names that another program shares.
    fn common(&mut self) -> Vec<Line> {
        let mut lines = Vec::new();
        for name in self.facts.shared.clone() {
            self.uses(name);
            let span = self.span((1, 4));
            let words: Vec<String> = match name {
                "l0" => vec!["lock l0".into(), format!("run {span}"), "unlock l0".into()],
                "s0" => vec!["acquire s0".into(), format!("run {span}"), "release s0".into()],
                "d0" => vec![format!("io d0 {span}")],
                _ if self.facts.second => {
                    let body = vec![plain("receive mail"), self.run()];
                    self.add("reader", (true, false), vec![block("forever", body)]);
                    continue;
                }
                _ => vec!["send mail".into()],
            };
            lines.extend(words.into_iter().map(plain));
        }
        lines
    }

    /// A graph of jobs, which all its tasks do.
    fn graph(&mut self) -> Vec<Line> {
        let run = self.length();
        let mut graph = match self.source.below(4) {
            0 => {
                let after = |source: &mut Source<'_>, names: &[&str]| -> Vec<String> {
                    names.iter().filter(|_| source.one_in(2)).map(|name| (*name).to_owned()).collect()
                };
                let second = after(self.source, &["a"]);
                let third = after(self.source, &["a", "b"]);
                let second = json!({ "run": self.length(), "after": second });
                json!({ "jobs": { "a": { "run": run }, "b": second, "c": { "after": third } } })
            }
            1 => {
                let (depth, fan) = (self.source.between(1, 3), self.source.between(1, 3));
                json!({ "tree": { "depth": depth, "fan": fan, "run": run } })
            }
            2 => {
                let (rows, columns) = (self.source.between(1, 4), self.source.between(1, 4));
                json!({ "wavefront": { "rows": rows, "columns": columns, "run": run } })
            }
            _ => json!({ "independent": { "count": self.source.magnitude(1, 50), "run": run } }),
        };
        let rules: [(&str, [&str; 2]); 5] = [
            ("queues", ["own", "one"]),
            ("own", ["newest", "oldest"]),
            ("steal", ["oldest", "newest"]),
            ("victims", ["random", "next"]),
            ("roots", ["first", "turns"]),
        ];
        for (key, values) in rules {
            // One queue is nobody's own.
            let moot = graph["queues"] == "one" && !["queues", "own"].contains(&key);
            if self.source.one_in(3) && !moot {
                graph[key] = json!(*self.source.pick(&values));
            }
        }
        self.declare("graphs", "g0", graph);
        vec![plain("work g0")]
    }

    /// What may wait without end.
    fn risk(&mut self) -> Vec<Line> {
        for lock in ["l0", "l1"] {
            self.uses(lock);
        }
        let words: &[&str] = match self.source.below(3) {
            // Against the order of the others.
            0 => &["lock l1", "run 2us", "lock l0", "run 2us", "unlock l0", "unlock l1"],
            1 => {
                self.uses("b3");
                &["choose { 20% { barrier b3 } }"]
            }
            _ => {
                self.uses("s2");
                &["acquire s2 2", "run 1us", "release s2"]
            }
        };
        words.iter().map(|words| plain(*words)).collect()
    }

    fn declare(&mut self, key: &str, name: &str, value: Value) {
        if let Value::Object(map) = self.keys.entry(key).or_insert_with(|| json!({})) {
            map.insert(name.to_owned(), value);
        }
    }

    /// The declarations, and the code of each kind.
    pub(super) fn written(mut self) -> (Map<String, Value>, Vec<(Kind, Value)>) {
        for name in std::mem::take(&mut self.used) {
            let shared = self.facts.shared.contains(&name.as_str());
            if shared && self.facts.second {
                continue;
            }
            let second = name.chars().nth(1);
            match name.chars().next() {
                Some('l') if self.source.below(3) > 0 => {
                    let kind = LOCK_KINDS[self.source.below(LOCK_KINDS.len() as u64) as usize].name;
                    // A ceiling holds for tasks of every priority.
                    let raised = self.facts.classes.contains(&"fifo");
                    let ceiling = raised && self.source.one_in(6);
                    let kind = if raised || kind != "inherit" { kind } else { "mutex" };
                    let form = if ceiling { json!({ "ceiling": 99 }) } else { json!(kind) };
                    self.declare("locks", &name, form);
                }
                Some('s') => {
                    let units = match second {
                        Some('0') => self.units[0],
                        Some('1') => self.units[1],
                        // As many as its first user needs.
                        _ => 3,
                    };
                    self.declare("semaphores", &name, json!(units));
                }
                Some('d') if self.source.one_in(2) => {
                    let servers = self.source.between(1, 3);
                    self.declare("devices", &name, json!(servers));
                }
                Some('b') if name == "b2" && self.source.one_in(2) => {
                    let all = self.kinds.first().map_or(1, |kind| kind.count);
                    self.declare("barriers", &name, json!(all));
                }
                _ => {}
            }
        }
        for (number, table) in std::mem::take(&mut self.tables).into_iter().enumerate() {
            self.declare("tables", &format!("t{number}"), table);
        }
        for (number, profile) in std::mem::take(&mut self.profiles).into_iter().enumerate() {
            self.declare("profiles", &format!("p{number}"), profile);
        }
        for (number, section) in std::mem::take(&mut self.sections).into_iter().enumerate() {
            let section = code::write(self.source, &section);
            self.declare("sections", &format!("c{number}"), section);
        }
        if !self.facts.shared.is_empty() {
            self.keys.insert("shared".into(), json!(self.facts.shared));
        }
        let mut kinds = Vec::new();
        for kind in std::mem::take(&mut self.kinds) {
            let code = code::by_runtimes(self.source, &kind.code, &mut self.keys);
            let code = code::write(self.source, &code);
            kinds.push((kind, code));
        }
        (self.keys, kinds)
    }
}
