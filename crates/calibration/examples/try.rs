//! Scratch.
fn main() {
    let d = calibration::measurements::measurements().unwrap();
    let n = calibration::derive(&d).unwrap();
    for (name, text) in calibration::files::texts(&n, &d) { std::fs::write(format!("crates/workloads/data/{name}"), text).unwrap(); }
    print!("{}", calibration::residuals::table(&calibration::residuals(&d, &n).unwrap()));
}
