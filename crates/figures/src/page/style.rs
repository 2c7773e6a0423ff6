//! How the page looks: light and dark by the reader's choice, black on white on paper.

/// The style sheet. Text and background contrast by at least 7 to 1, links by 4.5 to 1 (WCAG 2.2) in both themes.
pub(super) const CSS: &str = "
:root { --ink: #1a1a1a; --paper: #ffffff; --muted: #565656; --grid: #d9d9d9; --link: #005a8f; --panel: #f5f6f8; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #ececec; --paper: #16181c; --muted: #b4b8bf; --grid: #41454d; --link: #7cc4f2; --panel: #20242a; }
}
* { box-sizing: border-box; }
html { color-scheme: light dark; }
body { margin: 0 auto; padding: 1rem 1.25rem 3rem; max-width: 66rem; color: var(--ink); background: var(--paper);
  font: 1rem/1.5 system-ui, sans-serif; }
h1 { font-size: 1.9rem; margin: .5rem 0 .25rem; overflow-wrap: anywhere; }
h2 { font-size: 1.4rem; margin: 2.75rem 0 .75rem; padding-bottom: .25rem; border-bottom: 2px solid var(--grid); }
h3 { font-size: 1.1rem; margin: 1.75rem 0 .5rem; }
p { max-width: 46rem; }
.about { font-size: 1.15rem; margin-top: 0; }
a { color: var(--link); }
a:focus-visible, summary:focus-visible, .scroll:focus-visible, main:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
main:focus { outline: none; }
.skip { position: absolute; left: -100rem; }
.skip:focus { left: 1rem; top: .5rem; padding: .4rem .8rem; background: var(--paper); border: 2px solid var(--link); z-index: 1; }
nav { background: var(--panel); border-radius: .4rem; padding: .5rem 1rem; }
nav ol { list-style: none; margin: 0; padding: 0; display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; }
nav a { display: inline-block; padding: .15rem 0; }
dl.facts { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1rem; margin: .75rem 0 1rem; }
dl.facts dt { color: var(--muted); }
dl.facts dd { margin: 0; overflow-wrap: anywhere; }
ul.answers { padding-left: 1.2rem; max-width: 50rem; }
ul.answers li { margin: .2rem 0; }
.scroll { overflow-x: auto; margin: .75rem 0; }
table { border-collapse: collapse; font-size: .9rem; }
caption { text-align: left; font-weight: 600; padding: .25rem 0; }
th, td { padding: .25rem .5rem; border-bottom: 1px solid var(--grid); text-align: left; vertical-align: top; }
thead th { border-bottom: 2px solid var(--muted); vertical-align: bottom; }
tbody th { font-weight: 600; }
th.number { text-align: right; }
td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
figure { margin: 1rem 0 1.5rem; }
figure svg { display: block; max-width: 100%; height: auto; }
figure .light { background: #ffffff; color: #1a1a1a; border-radius: .4rem; padding: .25rem; }
figcaption { color: var(--muted); font-size: .95rem; max-width: 50rem; }
details { margin: .5rem 0; }
summary { cursor: pointer; color: var(--link); width: fit-content; padding: .15rem .25rem; }
pre { background: var(--panel); padding: .75rem 1rem; border-radius: .4rem; overflow-x: auto; font: .85rem/1.45 ui-monospace, monospace; }
code { font-family: ui-monospace, monospace; overflow-wrap: anywhere; }
footer { margin-top: 3rem; color: var(--muted); font-size: .9rem; }
.remark { color: var(--muted); }
@media print {
  :root { --ink: #000000; --paper: #ffffff; --muted: #444444; --grid: #bbbbbb; --link: #000000; --panel: #ffffff; }
  html { color-scheme: light; }
  body { max-width: none; padding: 0; font-size: 10pt; }
  nav, .skip, details.data { display: none; }
  h2, h3, caption { break-after: avoid; }
  figure, tr, dl.facts { break-inside: avoid; }
  .scroll { overflow: visible; }
  table { font-size: 8pt; width: 100%; }
  th, td { padding: .1rem .3rem; }
  th.number { text-align: right; }
td.number { white-space: normal; }
  figure svg { max-height: 20cm; }
  pre { border: 1px solid #bbbbbb; white-space: pre-wrap; }
  details::details-content { content-visibility: visible; block-size: auto; }
  summary { list-style: none; color: inherit; font-weight: 600; }
}
";
