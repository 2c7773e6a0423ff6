fn main() {
    let d = calibration::measurements::measurements().unwrap();
    let t = std::time::Instant::now();
    let n = calibration::npb::derive(&d).unwrap();
    for x in &n { println!("{} {:?} {}", x.code, x.profile, x.serial_source); }
    println!("{:?}", t.elapsed());
    print!("{}", calibration::residuals::table(&calibration::npb::residuals(&d, &n).unwrap()));
    println!("{:?}", t.elapsed());
    let n = calibration::spec_omp::derive(&d).unwrap();
    for x in &n { println!("{} {:?}", x.program, x.profile); }
    print!("{}", calibration::residuals::table(&calibration::spec_omp::residuals(&n).unwrap()));
    println!("{:?}", t.elapsed());
    let n = calibration::parbench::derive(&d).unwrap();
    println!("{:?}", n);
    print!("{}", calibration::residuals::table(&calibration::parbench::residuals(&d, &n).unwrap()));
    println!("{:?}", t.elapsed());
}
