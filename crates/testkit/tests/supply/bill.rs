//! The bill of materials of a product in CycloneDX 1.6: its crates with versions, licences, checksums and what each
//! one uses. It has neither a time nor a random number, so that the same lock file gives the same bytes.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::product::{Part, Product};

/// The component of a crate. Crates of this repository have no package address: they are not in the registry.
fn component(kind: &str, key: &str, part: &Part) -> Map<String, Value> {
    let Part { name, version, licence, .. } = part;
    let mut component = Map::new();
    component.insert("type".into(), kind.into());
    component.insert("bom-ref".into(), key.into());
    component.insert("name".into(), name.as_str().into());
    component.insert("version".into(), version.as_str().into());
    component.insert("licenses".into(), json!([{ "expression": licence.replace('/', " OR ") }]));
    if let Some(checksum) = &part.checksum {
        component.insert("hashes".into(), json!([{ "alg": "SHA-256", "content": checksum }]));
        component.insert("purl".into(), format!("pkg:cargo/{name}@{version}").into());
    }
    component
}

/// The bill of materials of a product.
pub(crate) fn bill(product: &Product, contained: &BTreeMap<String, Part>) -> String {
    let is_product = |part: &Part| part.name == product.package;
    let (key, whole) = contained.iter().find(|(_, part)| is_product(part)).unwrap();
    let others = contained.iter().filter(|(_, part)| !is_product(part));
    let components: Vec<_> = others.map(|(key, part)| component("library", key, part)).collect();
    let dependencies: Vec<_> =
        contained.iter().map(|(key, part)| json!({ "ref": key, "dependsOn": part.uses })).collect();
    let bill = json!({
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": component("application", key, whole),
            "properties": [{ "name": "cdx:rustc:sbom:target:triple", "value": product.target }],
        },
        "components": components,
        "dependencies": dependencies,
    });
    serde_json::to_string_pretty(&bill).unwrap() + "\n"
}
