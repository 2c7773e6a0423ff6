//! `oversim scx export`: programs of orders by formula, and what is wrong with an order.

use std::fs;

use crate::support::oversim;

#[test]
fn an_order_is_exported_to_standard_output_or_to_a_file_that_is_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (order, program) = (path("a-b.order"), path("a.bpf.c"));
    fs::write(&order, "key: vtime\nslice: 5ms\n").unwrap();
    let (code, shown, err) = oversim(&["scx", "export", &order], "");
    assert!(code == 0 && err.is_empty() && shown.contains(".name = \"a_b\""), "{shown}{err}");
    let (code, out, err) = oversim(&["scx", "export", &order, "-o", &program], "");
    assert_eq!((code, out.as_str(), err.as_str()), (0, "", ""));
    assert_eq!(fs::read_to_string(&program).unwrap(), shown);
    let (code, _, err) = oversim(&["scx", "export", &order, "-o", &program], "");
    assert!(code == 2 && err.contains("--force"), "{err}");
    let (code, named, _) = oversim(&["scx", "export", "-", "--name", "mine"], "slice: 5ms\n");
    assert!(code == 0 && named.contains(".name = \"mine\""), "{named}");
    assert!(oversim(&["scx", "export", "-"], "slice: 5ms\n").1.contains(".name = \"order\""));
}

#[test]
fn what_is_wrong_is_shown_with_its_line_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let order = folder.path().join("x.order").display().to_string();
    let program = folder.path().join("x.bpf.c");
    let export = || oversim(&["scx", "export", &order, "-o", program.to_str().unwrap()], "");
    for (text, parts) in [
        ("slice: 5ms\nkey: vtime / wieght\n", &["x.order:2:14", "unknown name `wieght`", "`weight`?"][..]),
        ("key: vtime\n", &["x.order:1:1", "there is no `slice`"]),
        ("slice: 1.5\n", &["x.order:1:8", "a number with a decimal point", "integers only"]),
        ("", &["x.order:1:1", "the file is empty"]),
    ] {
        fs::write(&order, text).unwrap();
        let (code, out, err) = export();
        assert!(code == 2 && out.is_empty() && parts.iter().all(|part| err.contains(part)), "{text}: {err}");
        assert!(!program.exists());
    }
    fs::write(&order, "#".repeat(70_000)).unwrap();
    let (code, _, err) = export();
    assert!(code == 2 && err.contains("x.order") && err.contains("65536"), "{err}");
    fs::remove_file(&order).unwrap();
    let (code, _, err) = export();
    assert!(code == 2 && err.contains("cannot read") && err.contains("x.order"), "{err}");
}
