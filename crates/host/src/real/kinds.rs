//! The kinds of cells of the suite of real runtimes.

use crate::job::Library;

/// Kinds of cells, with the library and the runtime of each as a scenario writes it.
pub(crate) const RUNTIMES: [(&str, Library, &str); 8] = [
    (
        "real: libgomp active",
        Library::Libgomp,
        "{ libgomp: { spin_count: 30000000000, throttled_spin_count: 1000 } }",
    ),
    ("real: libgomp", Library::Libgomp, "libgomp"),
    ("real: libgomp passive", Library::Libgomp, "{ libgomp: { spin_count: 0, throttled_spin_count: 0 } }"),
    ("real: libomp 0", Library::Libomp, "{ libomp: { block_time: 0s } }"),
    ("real: libomp 200ms", Library::Libomp, "libomp"),
    ("real: libomp infinite", Library::Libomp, "{ libomp: { block_time: infinite } }"),
    ("real: openmpi polling", Library::OpenMpi, "{ openmpi: { yielding: never } }"),
    ("real: openmpi yielding", Library::OpenMpi, "{ openmpi: { yielding: always } }"),
];

/// The library of cells of this kind.
#[must_use]
pub fn library(kind: &str) -> Option<Library> {
    RUNTIMES.iter().find(|(known, ..)| *known == kind).map(|(_, library, _)| *library)
}

/// Whether cells of this kind are those of real runtimes.
#[must_use]
pub fn is_kind(kind: &str) -> bool {
    library(kind).is_some()
}
