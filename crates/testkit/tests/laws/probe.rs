use crate::support::*;
use sim_core::time::*;
#[test]
fn probe_ep() {
    for (name, settings) in [("B", vec![("benchmark", 2)]), ("C", vec![("benchmark", 2), ("class", 4)]), ("B var0", vec![("benchmark", 2), ("variation", 0)]), ("C var0", vec![("benchmark", 2), ("class", 4), ("variation", 0)])] {
        for (sw, y) in [(800,400), (0,1200)] {
            let t = [1, 2, 4, 8].map(|k| {
                let mut t = Trial::on("barcelona").policy("PIN", &[]).app(shelf("npb", &settings, "upc", 16 * k));
                t.machine.costs.switch_thread = Span::from_ns(sw);
                t.machine.costs.yield_call = Span::from_ns(y);
                seconds(&t.run(), 0)
            });
            println!("YY {name} switch {sw} {t:.3?} {:.4}", t[3]/t[0]);
        }
    }
}
#[test]
fn probe_clump() {
    for gap in [5, 20, 50, 200, 1000, 5000] {
    println!("YY gap {gap}: {:?}", crate::balancing::clump_of(Span::from_us(gap)));
    }
}
