// Reads the JSON Schema of scenarios: descriptions, defaults, keys and words at a path.

/// The alternatives of a schema.
function alternatives(schema) {
  if (!schema || typeof schema !== "object") return [];
  const inner = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])];
  return [schema, ...inner.flatMap(alternatives)];
}

/// The schemas of the value at a path of keys; "[]" is the items of a list.
export function at(schema, path) {
  let here = alternatives(schema);
  for (const key of path) {
    here = here.flatMap((one) => {
      if (key === "[]") return alternatives(one.items);
      return alternatives(one.properties?.[key] ?? one.additionalProperties);
    });
  }
  return here;
}

/// Keys that a mapping at a path may have, with their descriptions.
export function keys(schema, path) {
  const found = new Map();
  for (const one of at(schema, path)) {
    for (const [key, value] of Object.entries(one.properties ?? {})) {
      if (!found.has(key)) found.set(key, alternatives(value).find((inner) => inner.description)?.description ?? "");
    }
  }
  return [...found];
}

/// Words that a value at a path may be.
export function words(schema, path) {
  const found = new Set();
  for (const one of at(schema, path)) {
    for (const word of one.enum ?? []) found.add(String(word));
    if (one.const !== undefined) found.add(String(one.const));
    if ([one.type].flat().includes("boolean")) found.add("true").add("false");
  }
  return [...found];
}
