//! The crates that the program, the Python package and the page contain: their licences, versions and sources are
//! those of `deny.toml`; the files with their licence texts and the bill of materials are current.
//! `OVERSIM_UPDATE=1 cargo test -p testkit --test supply -- --include-ignored` renews these files.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod allowed;
mod bill;
mod notices;
mod product;

use std::collections::BTreeMap;
use std::fs;

use product::{Part, Product};
use testkit::house::root;

const PROGRAM: Product = Product {
    name: "the program oversim for Linux",
    package: "oversim",
    folder: ".",
    target: "x86_64-unknown-linux-gnu",
    features: "full,parquet",
};
/// Most packages of the build without features: who tries the program waits for it.
const MOST_PACKAGES: usize = 110;

const PYTHON: Product = Product {
    name: "the Python package oversim for Linux",
    package: "oversim-python",
    folder: "bindings/python",
    target: "x86_64-unknown-linux-gnu",
    features: "",
};
const PAGE: Product = Product {
    name: "the page of oversim, in WebAssembly",
    package: "oversim-browser",
    folder: "bindings/browser",
    target: "wasm32-unknown-unknown",
    features: "",
};

/// Compares a generated file with what it has to be, or writes it.
fn is_current(product: &Product, file: &str, now: &str) {
    let path = root().join(product.folder).join(file);
    if std::env::var_os("OVERSIM_UPDATE").is_some() {
        fs::write(&path, now).unwrap();
    }
    let before = fs::read_to_string(&path).unwrap_or_default();
    let differs = now.lines().find(|line| !before.lines().any(|old| old == *line));
    assert!(now == before, "{} is not current; the first line that differs: {differs:?}", path.display());
}

/// Checks the crates of a product and its notices.
fn checked(product: &Product) -> BTreeMap<String, Part> {
    let contained = product::contained(product);
    let wrong = allowed::not_allowed(&contained);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    is_current(product, "THIRD-PARTY-NOTICES.txt", &notices::notices(product, &contained));
    contained
}

#[test]
fn the_program_has_current_notices_and_a_current_bill_of_materials() {
    let contained = checked(&PROGRAM);
    is_current(&PROGRAM, "oversim.cdx.json", &bill::bill(&PROGRAM, &contained));
}

#[test]
fn the_static_program_contains_the_same_crates() {
    let of = |product: &Product| product::contained(product).into_keys().collect::<Vec<_>>();
    assert_eq!(of(&Product { target: "x86_64-unknown-linux-musl", ..PROGRAM }), of(&PROGRAM));
}

#[test]
#[ignore = "downloads crates that the workspace does not need; .ci/supply runs it"]
fn the_python_package_and_the_page_have_current_notices_and_the_package_its_bill() {
    let contained = checked(&PYTHON);
    is_current(&PYTHON, "oversim.cdx.json", &bill::bill(&PYTHON, &contained));
    checked(&PAGE);
}

/// What `cargo run` compiles before its first answer.
#[test]
fn the_first_build_is_small() {
    let first = product::compiled(&Product { features: "", ..PROGRAM });
    let whole = product::compiled(&PROGRAM);
    assert!(first <= MOST_PACKAGES, "{first} packages");
    assert!(first < whole);
}

#[test]
fn every_dependency_comes_from_the_registry_with_a_checksum() {
    for product in [PROGRAM, PYTHON, PAGE] {
        for package in product::locked(product.folder) {
            let Some((_, source)) = package.split_once("\nsource = ") else { continue };
            let is_registry =
                source.starts_with("\"registry+https://github.com/rust-lang/crates.io-index\"\n");
            assert!(is_registry && source.contains("\nchecksum = \""), "{}: {package}", product.folder);
        }
    }
}
