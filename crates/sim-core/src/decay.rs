//! Decayed averages of Linux (PELT, kernel/sched/pelt.c of Linux 6.x): periods of 1,024 us, half-life 32.

/// Length of a period of the decay, nanoseconds (1,024 us).
pub const PERIOD_NS: u64 = 1_024_000;

/// y^n for n below 32, in 2^-32 (`runnable_avg_yN_inv`): 2^(32 - n/32).
const FACTORS: [u64; 32] = [
    0xffff_ffff,
    0xfa83_b2db,
    0xf525_7d15,
    0xefe4_b99b,
    0xeac0_c6e7,
    0xe5b9_06e7,
    0xe0cc_deec,
    0xdbfb_b797,
    0xd744_fcca,
    0xd2a8_1d91,
    0xce24_8c15,
    0xc9b9_bd86,
    0xc567_2a11,
    0xc12c_4cca,
    0xbd08_a39f,
    0xb8fb_af47,
    0xb504_f333,
    0xb123_f581,
    0xad58_3eea,
    0xa9a1_5ab4,
    0xa5fe_d6a9,
    0xa270_4303,
    0x9ef5_3260,
    0x9b8d_39b9,
    0x9837_f051,
    0x94f4_efa8,
    0x91c3_d373,
    0x8ea4_398b,
    0x8b95_c1e3,
    0x8898_0e80,
    0x85aa_c367,
    0x82cd_8698,
];

/// What is left of a value after so many periods.
#[must_use]
pub fn faded(value: u64, periods: u64) -> u64 {
    let halvings = periods / 32;
    if halvings >= 63 {
        return 0;
    }
    let value = u128::from(value >> halvings);
    if periods.is_multiple_of(32) {
        return value as u64;
    }
    ((value * u128::from(FACTORS[(periods % 32) as usize])) >> 32) as u64
}

/// A value after so many periods on its way to a target.
#[must_use]
pub fn approached(value: u64, target: u64, periods: u64) -> u64 {
    if value > target {
        target + faded(value - target, periods)
    } else {
        target - faded(target - value, periods)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_fall_by_the_32nd_root_of_two() {
        for (n, factor) in FACTORS.iter().enumerate() {
            let exact = 2f64.powi(32) * 0.5f64.powf(n as f64 / 32.0);
            assert!((*factor as f64 - exact).abs() < 2.0, "{n}: {factor:#x} {exact}");
        }
    }

    #[test]
    fn half_of_the_way_is_left_after_32_periods() {
        assert_eq!((faded(1_024, 32), faded(1_024, 64), faded(1_024, 10_000)), (512, 256, 0));
        assert_eq!((approached(0, 1_024, 32), approached(1_024, 0, 32)), (512, 512));
    }
}
