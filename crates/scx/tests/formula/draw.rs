//! Orders, machines and programs at random, from a seed.

use std::fmt::Write;

use scx::formula::{Expression, Formula, Function, Parameter, Queue, Variable};
use sim_core::rng;

/// A stream of random numbers.
pub(crate) struct Draw(pub(crate) u64);

impl Draw {
    pub(crate) fn below(&mut self, end: usize) -> usize {
        rng::next(&mut self.0) as usize % end
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    /// A formula of this depth.
    pub(crate) fn expression(&mut self, depth: usize, compares: bool) -> Expression {
        if depth == 0 || self.below(6) == 0 {
            return match self.below(4) {
                0 => {
                    Expression::Number(self.one(&[0, 1, -1, 2, 3, 1_000, 5_000_000, -7, i64::MAX, i64::MIN]))
                }
                1 => Expression::Parameter(self.one(&["part", "shift"]).to_owned()),
                _ => loop {
                    let variable = self.one(&Variable::ALL);
                    if compares || !variable.compares() {
                        break Expression::Variable(variable);
                    }
                },
            };
        }
        let function = self.one(&Function::ALL);
        let operands = (0..function.arity()).map(|_| self.expression(depth - 1, compares));
        Expression::Apply(function, operands.collect())
    }

    /// An order whose parts fit together.
    pub(crate) fn order(&mut self) -> Formula {
        let parameter = |name: &str, default, least, most, time| Parameter {
            name: name.to_owned(),
            default,
            least,
            most,
            time,
            about: String::new(),
        };
        let key = (self.below(8) != 0).then(|| self.expression(4, false));
        // Slices that are of some use: a few ms, changed by a formula.
        let change = self.expression(3, false);
        let change = Expression::apply(Function::Remainder, [change, Expression::Number(9_000_000)]);
        let slice = Expression::apply(Function::Add, [Expression::Parameter("part".into()), change]);
        let formula = Formula {
            name: "drawn".into(),
            about: String::new(),
            parameters: vec![
                parameter("part", 10_000_000, 1_000_000, 50_000_000, true),
                parameter("shift", -3, -9, 9, false),
            ],
            queue: self.one(&Queue::ALL),
            preempts: (key.is_some() && self.below(2) == 0).then(|| self.expression(3, true)),
            key,
            slice,
        };
        if formula.check().is_ok() { formula } else { self.order() }
    }

    /// A machine and programs: tasks that sleep, wait, yield and compute, with several weights and masks.
    pub(crate) fn case(&mut self) -> String {
        let machine = self.one(&[
            "package:1 core:1",
            "package:1 core:3",
            "package:1 core:4 pu:2",
            "package:2 numa:1 core:3",
            "package:2 numa:1 cache:2 core:2 pu:2",
            "package:1 cache:3 core:2",
            "package:2 numa:2 cache:1 core:5",
        ]);
        let mut text = format!("machine: {machine}\nhorizon: 400ms\napps:\n");
        for app in 0..=self.below(3) {
            let (tasks, work, grain) = (1 + self.below(14), 5 + self.below(30), 1 + self.below(9));
            let (runtime, nice) = (self.one(&["block", "block", "yield", "spin"]), self.one(&[0, 0, 5, -5]));
            let (spread, start) = (self.below(60), self.below(20));
            // Cpu 0 is on every machine.
            let mask = self.one(&["", "", "", " affinity: [{ at: 3ms, cpus: 0 }],"]);
            let _ = writeln!(
                text,
                "  a{app}: {{ tasks: {tasks}, nice: {nice}, start: {start}ms, runtime: {runtime},{mask} \
                 workload: {{ spmd: {{ work: {work}ms, grain: {grain}ms, spread: {spread}% }} }} }}"
            );
        }
        text
    }
}
