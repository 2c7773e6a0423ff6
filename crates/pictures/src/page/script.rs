//! The script of a page: tables are sorted and the timeline is enlarged. The page is whole without it.

/// The whole script.
pub(super) fn script() -> String {
    let timeline = include_str!("timeline.js").replace("\nexport ", "\n");
    format!("{JS}{{\n{timeline}\n{ENLARGED}}}\n")
}

/// Draws the timelines in their folds.
const ENLARGED: &str = r#"
for (const host of document.querySelectorAll("[data-timeline]")) {
  new Timeline(host, JSON.parse(host.dataset.timeline));
  host.parentElement.hidden = false;
}
"#;

/// Makes the heads of tables into buttons that sort the rows of the first body: numbers with units by their
/// values, texts in the order of letters, rows without a value last. A second press reverses the order.
const JS: &str = r#"
"use strict";
{
  const units = { ns: 1e-9, us: 1e-6, ms: 1e-3, s: 1 };
  const number = (text) => {
    const found = /^[<(]?\s*([+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?)\s*(ns|us|ms|s\b)?/.exec(text);
    return found ? Number(found[1]) * (units[found[2]] || 1) : NaN;
  };
  const compare = (a, b) => {
    const numbers = [number(a), number(b)];
    if (numbers.every((n) => !Number.isNaN(n))) return numbers[0] - numbers[1];
    return a < b ? -1 : a > b ? 1 : 0;
  };
  for (const table of document.querySelectorAll("table")) {
    const heads = Array.from(table.tHead.rows[0].cells), body = table.tBodies[0];
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const text = (row) => row.cells[column].textContent.trim();
        const rows = Array.from(body.rows), known = rows.filter((row) => text(row) !== "-");
        known.sort((a, b) => (down ? -1 : 1) * compare(text(a), text(b)));
        body.append(...known, ...rows.filter((row) => text(row) === "-"));
      });
    });
  }
  const mark = () => {
    for (const box of document.querySelectorAll(".scroll")) {
      box.classList.toggle("more", box.scrollWidth > box.clientWidth + 1);
    }
  };
  mark();
  addEventListener("resize", mark);
  addEventListener("toggle", mark, true);
}
"#;
