//! The stretch law and its inverse, from which derivations start: h(x) = (1 + x^p)^(1/p) (Bandwidth in
//! docs/model/memory.md).

/// Exponent of the machines of the literature.
pub const P: f64 = 4.0;

/// Stretch at load x (demand over capacity).
#[must_use]
pub fn stretch(x: f64) -> f64 {
    libm::pow(1.0 + libm::pow(x, P), 1.0 / P)
}

/// The load at which the stretch is h; 0 for h of at most 1.
#[must_use]
pub fn load(h: f64) -> f64 {
    if h <= 1.0 { 0.0 } else { libm::pow(libm::pow(h, P) - 1.0, 1.0 / P) }
}

/// The load x with h(2x) / h(x) = ratio, between `least` and `most`.
#[must_use]
pub fn doubled(ratio: f64, least: f64, most: f64) -> f64 {
    let (mut low, mut high) = (least, most);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if stretch(2.0 * middle) / stretch(middle) < ratio {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: f64, b: f64, within: f64) {
        assert!((a - b).abs() < within, "{a} is not {b}");
    }

    #[test]
    fn npb_loads_follow_from_speed_ups_on_barcelona() {
        // x = 4 delta / B with 16 / h(x) the speed-up.
        let table = [(12.4, 1.15), (10.5, 1.45), (10.0, 1.54), (9.2, 1.69), (8.8, 1.78), (8.4, 1.87)];
        for (speed_up, x) in table {
            near(load(16.0 / speed_up), x, 0.01);
            near(16.0 / stretch(load(16.0 / speed_up)), speed_up, 1e-9);
        }
        near(load(16.0 / 15.9), 0.4, 0.02);
    }

    #[test]
    fn one_pool_predicts_tigerton_within_13_per_cent() {
        // Demands of Barcelona times the clock ratio 0.8 on a pool of 1.6 Barcelona sockets.
        let measured = [(1.54, 4.6), (1.69, 4.2), (1.45, 5.3), (1.87, 4.8), (1.78, 5.0), (1.15, 7.2)];
        for (x, speed_up) in measured {
            let predicted = 16.0 / stretch(x * 4.0 * 0.8 / 1.6);
            assert!((predicted / speed_up - 1.0).abs() < 0.13, "{predicted} against {speed_up}");
        }
    }

    #[test]
    fn spec_omp_loads_follow_from_gather_over_scatter() {
        let table = [
            ("wupwise", 1.2533, 0.57),
            ("mgrid", 1.8826, 1.35),
            ("applu", 1.5514, 0.83),
            ("art", 1.1808, 0.51),
        ];
        for (name, ratio, d) in table {
            assert!((doubled(ratio, 0.3, 1.5) - d).abs() < 0.01, "{name}: {}", doubled(ratio, 0.3, 1.5));
        }
        near(doubled(2.1448, 0.3, 1.5), 1.5, 1e-9);
        near(doubled(0.92, 0.3, 1.5), 0.3, 1e-9);
    }
}
