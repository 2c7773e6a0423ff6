//! The committed data files and tables are what the derivation gives.

use std::fs;
use std::path::Path;

use validation::calibration::measurements::measurements;
use validation::calibration::residuals::{TARGET, table};
use validation::calibration::{derive, document, files, residuals};

/// Programs with an input that does not come back within the target: how far off it may be, per cent, and the
/// entry of the document's list of reasons that explains it.
const EXCUSED: [(&str, f64, &str); 3] = [
    // No serial part that does not slow is compatible with its three times.
    ("mgrid", 6.0, "**mgrid**"),
    // Gathering saves 8 %, and in the model costs what six threads on a cache lose to three.
    ("apsi", 7.0, "**apsi, ammp**"),
    // Measured in a full machine, simulated alone: 16 threads on two boards as on one.
    ("mix", 10.0, "**PARbench jobs"),
];

/// `OVERSIM_UPDATE=1` rewrites the data files and the residual table (`oversim calibrate --write .` the rest
/// too).
#[test]
fn committed_profiles_and_residuals_are_those_the_measurements_give() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let data = measurements().unwrap();
    let derived = derive(&data).unwrap();
    let rows = residuals(&data, &derived).unwrap();
    let table = table(&rows);
    let page = fs::read_to_string(root.join(document::PATH)).unwrap();
    if std::env::var_os("OVERSIM_UPDATE").is_some() {
        for (name, text) in files::texts(&derived, &data) {
            fs::write(root.join(files::FOLDER).join(name), text).unwrap();
        }
        let machine = root.join(files::MACHINE);
        let text = files::machine(&derived, &fs::read_to_string(&machine).unwrap()).unwrap();
        fs::write(machine, text).unwrap();
        let page = document::with_section(&page, document::RESIDUALS, &table).unwrap();
        fs::write(root.join(document::PATH), page).unwrap();
        return;
    }
    for ((name, new), (_, old)) in files::texts(&derived, &data).iter().zip(files::committed()) {
        assert_eq!(new, old, "{name}: run `oversim calibrate --write .`");
    }
    assert!(
        files::machine_is_current(&derived).unwrap(),
        "{}: run `oversim calibrate --write .`",
        files::MACHINE
    );
    assert_eq!(
        document::section(&page, document::RESIDUALS).unwrap(),
        table,
        "run `oversim calibrate --write .`"
    );
    // What calibration promises: inputs come back within 5 %, those named in the document excepted.
    let worst = |program: &str| {
        let inputs = rows.iter().filter(|row| row.input && row.program == program);
        inputs.map(|row| row.error().abs()).fold(0.0, f64::max)
    };
    for row in &rows {
        let excuse = EXCUSED.iter().find(|(program, ..)| *program == row.program);
        let limit = excuse.map_or(TARGET, |(_, limit, _)| *limit);
        assert!(!row.input || row.error().abs() <= limit, "{row:?}");
    }
    for (program, _, reason) in EXCUSED {
        assert!(worst(program) > TARGET, "{program} needs no excuse any more");
        assert!(page.contains(&format!("- {reason}")), "{program}: the document does not say why");
    }
}

/// A derived number that has left the range of what the papers say is a mistake, not a result.
#[test]
fn derived_values_are_near_those_computed_by_hand() {
    let demand = |code, class| workloads::npb::profile(code, class, "barcelona").unwrap().demand as f64 / 1e9;
    // x B / 4 with x from 16 / S = h(x): 1.63, 1.90, 2.0 GB/s less what waiting at barriers explains.
    for (code, class, by_law) in [("ft", "B", 1.63), ("cg", "B", 1.90), ("mg", "C", 2.0), ("is", "C", 2.1)] {
        let derived = demand(code, class);
        assert!((0.88..1.02).contains(&(derived / by_law)), "{code}: {derived} GB/s");
    }
    let omp = |program| workloads::spec_omp::profile(program).unwrap();
    // d B / 3 on a core of speed 1.2: swim at its cap of 5.0 GB/s. In the X4440's caches (exponent 0.1)
    // demand grows by m = n^0.1 with n threads, so what waits for memory takes m h(m n d / 3): T_g / T_s = r
    // h(2 r y) / h(y), r = 2^0.1, y = 3^0.1 d.
    assert!((omp("swim").demand as f64 * 1.2 / 1e9 - 5.0).abs() < 0.05);
    let r = 2_f64.powf(0.1);
    let slower = (324.8 / 259.15 / r).powi(4);
    let y = ((slower - 1.0) / ((2.0 * r).powi(4) - slower)).powf(0.25);
    let by_law = y / 3_f64.powf(0.1) * 10e9 / 3.0;
    // 1.38 GB/s; a fifth of its time does not wait for memory, so what waits has to slow by more.
    assert!((by_law / 1e9 - 1.38).abs() < 0.01, "{by_law}");
    assert!((0.9..1.3).contains(&(omp("wupwise").demand as f64 * 1.2 / by_law)));
    // Seconds of one nominal core, and of galgel's rank 0 for each other thread.
    let seconds = |span: sim_core::time::Span| span.ns() as f64 / 1e9;
    assert!((omp("galgel").per_task.ns() > 0) && omp("galgel").serial_share == 0);
    assert!((20.0..50.0).contains(&(seconds(omp("galgel").per_task) / 1.2)), "{:?}", omp("galgel"));
    for program in workloads::spec_omp::PROGRAMS.iter().filter(|p| **p != "galgel") {
        assert!(omp(program).serial_share < 1_000 && omp(program).per_task.ns() == 0, "{program}");
    }
    // By hand 0.045 of the time; its parallel part is stretched by about 2 where serial sections are not, so
    // twice as much of the work.
    assert!((700..1_000).contains(&omp("equake").serial_share), "{:?}", omp("equake"));
}
