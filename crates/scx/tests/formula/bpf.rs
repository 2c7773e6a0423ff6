//! The exported program for the target that Linux loads: clang compiles it against the headers that oversim
//! has, and it keeps to limits of BPF that can be seen without a kernel.

use std::fs;
use std::process::Command;

use scx::formula::{Expression, Formula, Function, MOST_WAITING, Variable};

use crate::draw::Draw;
use crate::lab::example;

/// Most bytes that the variables of all functions that call each other have (`MAX_BPF_STACK`).
const STACK: u64 = 512;

/// Compiles a program for BPF; returns what clang says. None where there is no clang for BPF.
fn compiled(formula: &Formula) -> Option<(bool, String, u64)> {
    let folder = tempfile::tempdir().unwrap();
    let (source, object) = (folder.path().join("order.bpf.c"), folder.path().join("order.o"));
    fs::write(&source, formula.c().unwrap()).unwrap();
    let include = format!("{}/include", env!("CARGO_MANIFEST_DIR"));
    let arguments =
        ["-target", "bpf", "-mcpu=v3", "-O2", "-g", "-std=gnu11", "-Wall", "-Werror", "-Wno-unused-function"];
    let quiet = ["-Wno-unknown-attributes", "-fno-color-diagnostics", "-fstack-usage", "-c", "-o"];
    let mut clang = Command::new("clang");
    clang.args(arguments).args(["-I", &include, "-nostdlibinc"]).args(quiet).arg(&object).arg(&source);
    let output = match clang.current_dir(&folder).output() {
        Ok(output) => output,
        Err(error) => {
            eprintln!("skipped: clang: {error}");
            return None;
        }
    };
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    if text.contains("unknown target") || text.contains("No available targets") {
        eprintln!("skipped: {text}");
        return None;
    }
    // The variables of each function; all of them call each other at worst.
    let usage = fs::read_to_string(folder.path().join("order.su")).unwrap_or_default();
    let bytes = |line: &str| line.split('\t').nth(1).and_then(|bytes| bytes.parse::<u64>().ok());
    Some((output.status.success(), text, usage.lines().filter_map(bytes).max().unwrap_or(0)))
}

#[test]
fn the_examples_compile_for_bpf() {
    for name in ["short_slices", "short_bursts", "interactive"] {
        let Some((good, text, _)) = compiled(&example(name)) else { return };
        assert!(good, "{name}: {text}");
    }
}

#[test]
fn orders_at_random_and_the_deepest_ones_compile_for_bpf() {
    let mut draw = Draw(11);
    // As many values wait as may: each of them is worked out from variables, so that none is a constant.
    let deepest = |function: Function| {
        let leaf = |at: usize| Expression::Variable(Variable::ALL[at % 21]);
        (1..MOST_WAITING).fold(leaf(0), |inner, at| Expression::apply(function, [leaf(at), inner]))
    };
    let mut orders: Vec<Formula> = (0..12).map(|_| draw.order()).collect();
    for function in [Function::Subtract, Function::Divide, Function::Min] {
        let formula = Formula {
            key: Some(deepest(function)),
            slice: deepest(function),
            preempts: Some(deepest(function)),
            ..example("interactive")
        };
        assert_eq!(formula.check(), Ok(()));
        orders.push(formula);
    }
    for formula in &orders {
        let Some((good, text, stack)) = compiled(formula) else { return };
        assert!(good, "{formula}{text}");
        assert!(stack <= STACK, "{stack} bytes: {formula}");
    }
}

#[test]
fn the_program_keeps_to_the_rules_of_the_verifier_that_its_text_shows() {
    let mut draw = Draw(13);
    for _ in 0..200 {
        let formula = draw.order();
        let text = formula.c().unwrap();
        let code: Vec<&str> = text.split("*/").map(|part| part.split("/*").next().unwrap_or("")).collect();
        let code = code.concat();
        // Loops are those that the verifier knows to end.
        assert!(!code.contains("while") && !code.contains("for (") && !code.contains("goto"), "{text}");
        // A division is of unsigned numbers and by one that is not 0, or in BPF 0.
        let divisions = code.matches(" / ").count();
        let known = ["old / 4", "new / 4", "x / y", "NICE_0_WEIGHT / p->scx.weight"];
        assert_eq!(divisions, known.iter().map(|known| code.matches(known).count()).sum::<usize>(), "{text}");
        // What a lookup gives is tested before it is used.
        for (found, tests) in [("= state_of(", "!t"), ("= state_of(prev)", "if (!t)")] {
            for (at, _) in code.match_indices(found) {
                let behind = &code[at + 1..];
                let used = behind.find("t->").unwrap_or(behind.len());
                let tested = behind.find(tests).or(behind.find("&& t)")).unwrap_or(behind.len());
                assert!(tested <= used, "{text}");
            }
        }
    }
}
