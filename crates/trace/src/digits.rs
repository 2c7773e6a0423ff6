//! Numbers in digits, for texts that hold millions of them.

/// Digits of a number.
pub(crate) const fn digits(number: u64) -> usize {
    match number.checked_ilog10() {
        Some(log) => log as usize + 1,
        None => 1,
    }
}

/// Appends a number with at least so many digits, of which there are at most 20.
pub(crate) fn decimal(text: &mut String, mut number: u64, least: usize) {
    let mut ascii = [b'0'; 20];
    let mut first = ascii.len();
    while number > 0 || first + least > ascii.len() {
        let Some(digit) = first.checked_sub(1).and_then(|before| ascii.get_mut(before)) else { break };
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
        first -= 1;
    }
    let written = ascii.get(first..).and_then(|ascii| str::from_utf8(ascii).ok());
    text.push_str(written.unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_in_digits() {
        let around = |power: u64| [power - 1, power, power + 1];
        let powers = (0..20).map(|power| 10u64.pow(power));
        for number in powers.flat_map(around).chain([7, 4_096, u64::MAX]) {
            for least in [1, 3, 9, 20] {
                let mut text = "n".to_owned();
                decimal(&mut text, number, least);
                assert_eq!(text, format!("n{number:0least$}"));
            }
            assert_eq!(digits(number), number.to_string().len());
        }
    }
}
