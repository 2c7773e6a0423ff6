//! How the page looks: light and dark by the reader's choice, black on white on paper.

/// The style sheet. Text and background contrast by at least 7 to 1, links by 4.5 to 1 (WCAG 2.2) in both
/// themes.
pub(super) const CSS: &str = "
:root { --ink: #1a1a1a; --paper: #ffffff; --muted: #565656; --grid: #d9d9d9; --link: #005a8f; --panel: \
#f5f6f8;
  --shade: rgb(0 0 0 / .28); }
@media (prefers-color-scheme: dark) {
  :root { --ink: #ececec; --paper: #16181c; --muted: #b4b8bf; --grid: #41454d; --link: #7cc4f2; --panel: \
  #20242a;
    --shade: rgb(255 255 255 / .3); }
}
* { box-sizing: border-box; }
html { color-scheme: light dark; }
body { margin: 0 auto; padding: 1rem 1.25rem 3rem; max-width: 76rem; color: var(--ink); background: \
var(--paper);
  font: 1rem/1.5 system-ui, sans-serif; }
h1 { font-size: 1.9rem; margin: .5rem 0 .25rem; overflow-wrap: anywhere; }
h2 { font-size: 1.4rem; margin: 2.75rem 0 .75rem; padding-bottom: .25rem; border-bottom: 2px solid \
var(--grid); }
h3 { font-size: 1.1rem; margin: 1.75rem 0 .5rem; overflow-wrap: anywhere; }
p { max-width: 46rem; }
.about { font-size: 1.15rem; margin-top: 0; }
a { color: var(--link); }
a:focus-visible, summary:focus-visible, button:focus-visible, .scroll:focus-visible, main:focus-visible {
  outline: 3px solid var(--link); outline-offset: 2px; }
main:focus { outline: none; }
.skip { position: absolute; left: -100rem; }
.skip:focus { left: 1rem; top: .5rem; padding: .4rem .8rem; background: var(--paper); border: 2px solid \
var(--link); z-index: 2; }
nav { background: var(--panel); border-radius: .4rem; padding: .5rem 1rem; }
nav ol { list-style: none; margin: 0; padding: 0; display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; }
nav a { display: inline-block; padding: .15rem 0; }
dl.facts { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1rem; margin: .75rem 0 1rem; \
max-width: 60rem; }
dl.facts dt { color: var(--muted); }
dl.facts dd { margin: 0; overflow-wrap: anywhere; }
ul.answers { padding-left: 1.2rem; max-width: 50rem; }
ul.answers li { margin: .2rem 0; }
/* What is wider than the page scrolls; a shadow at the right edge shows that there is more. */
.scroll { overflow-x: auto; margin: .75rem 0; background:
  linear-gradient(to left, var(--paper) 50%, transparent) right / 2.5rem calc(100% + 4px) no-repeat local,
  linear-gradient(to left, var(--shade), transparent) right / .9rem 100% no-repeat scroll; }
.scroll.more { border-right: 2px dashed var(--muted); }
table { border-collapse: separate; border-spacing: 0; font-size: .82rem; }
caption { text-align: left; font-weight: 600; padding: .25rem 0; }
th, td { padding: .25rem .3rem; border-bottom: 1px solid var(--grid); text-align: left; vertical-align: \
top; white-space: nowrap; }
td.long { white-space: normal; min-width: 16rem; }
thead th { border-bottom: 2px solid var(--muted); vertical-align: bottom; white-space: normal; }
tbody th { font-weight: 600; }
tbody + tbody th, tbody + tbody td { color: var(--muted); font-weight: 400; }
tbody + tbody tr:first-child > * { border-top: 2px solid var(--grid); }
th:first-child { position: sticky; left: 0; background: var(--paper); }
th.number { text-align: right; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
thead button { all: unset; cursor: pointer; text-decoration: underline dotted; text-underline-offset: .2em; }
thead button:hover { text-decoration-style: solid; }
thead [aria-sort=ascending] button::after { content: ' \\25B2'; }
thead [aria-sort=descending] button::after { content: ' \\25BC'; }
figure { margin: 1rem 0 1.5rem; }
figure > .scroll { max-width: 60rem; margin-bottom: .25rem; }
figure.timeline > .scroll { max-width: none; }
figure svg { display: block; width: 100%; min-width: 44rem; height: auto; }
figure.timeline svg { min-width: 64rem; }
figcaption { color: var(--muted); font-size: .95rem; }
figcaption p { margin: .25rem 0; }
.cue { display: none; color: var(--muted); margin: .5rem 0 0; }
.cue strong { color: var(--ink); }
@media (prefers-color-scheme: dark) { figure.timeline svg { filter: invert(.91) hue-rotate(180deg); } }
@media (max-width: 46rem) { .cue { display: block; } }
@media (max-width: 36rem) {
  body { padding: .75rem .75rem 2rem; }
  dl.facts { display: block; }
  dl.facts dd { margin-bottom: .4rem; }
}
details { margin: .5rem 0; }
details.data table { font-size: .78rem; }
summary { cursor: pointer; color: var(--link); width: fit-content; padding: .15rem .25rem; overflow-wrap: \
anywhere; }
pre { background: var(--panel); padding: .75rem 1rem; border-radius: .4rem; overflow-x: auto; font: \
.85rem/1.45 ui-monospace, monospace; }
code { font-family: ui-monospace, monospace; overflow-wrap: anywhere; }
.enlarge { --idle: var(--panel); }
.enlarge canvas { display: block; touch-action: pan-y; }
.enlarge canvas:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
.timeline-message { display: none; }
.timeline-tools { display: flex; flex-wrap: wrap; gap: .4rem; align-items: center; margin: .5rem 0; }
.timeline-tools button { font: inherit; color: var(--ink); background: var(--panel); border: 1px solid \
var(--muted); border-radius: .3rem; padding: .15rem .6rem; cursor: pointer; }
.timeline-legend { display: flex; flex-wrap: wrap; gap: .25rem 1rem; font-size: .9rem; }
.timeline-key canvas { display: inline-block; margin-right: .35rem; }
.timeline-text { min-height: 3rem; }
footer { margin-top: 3rem; color: var(--muted); font-size: .9rem; }
@media print {
  :root { --ink: #000000; --paper: #ffffff; --muted: #444444; --grid: #bbbbbb; --link: #000000; --panel: \
  #ffffff; }
  html { color-scheme: light; }
  body { max-width: none; padding: 0; font-size: 10pt; }
  nav, footer, .skip, .cue, details.data, .enlarge { display: none; }
  h2, h3, caption, thead, summary { break-after: avoid; break-inside: avoid; }
  h2 + *, h3 + *, summary + * { break-before: avoid; }
  section[aria-labelledby=timeline] { break-inside: avoid; }
  h2 { margin-top: 1.5rem; }
  figure, tr, dl.facts { break-inside: avoid; }
  p, li, dd { orphans: 3; widows: 3; }
  .scroll { overflow: visible; background: none; border: 0; }
  .scroll.more { border: 0; }
  table { font-size: 8pt; width: 100%; }
  th, td { padding: .1rem .3rem; }
  th:first-child { position: static; }
  th, td, td.long { white-space: normal; min-width: 0; }
  thead button { text-decoration: none; }
  thead button::after { content: none; }
  figure.timeline svg { filter: none; min-width: 0; }
  figure svg { min-width: 0; max-height: 20cm; }
  pre { border: 1px solid #bbbbbb; white-space: pre-wrap; }
  details::details-content { content-visibility: visible; block-size: auto; break-before: avoid; }
  summary { list-style: none; color: inherit; font-weight: 600; }
}
";
