import { createHash } from 'node:crypto';

/** The style of a statement's page. It has no dark variant on paper, and no fonts from other addresses. */
export const pageStyle = `
:root { color-scheme: light dark; --ink: #1a2230; --dim: #5a6577; --line: #d5dbe4; --fill: #f3f5f8; --good: #11693f; --good-fill: #e8f4ed; --open: #8a4b00; --open-fill: #fdf1e1; --paper: #fff; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e8ef; --dim: #9aa5b6; --line: #343d4b; --fill: #1d242f; --good: #6fd3a0; --good-fill: #142a20; --open: #f0b469; --open-fill: #2f2413; --paper: #12171f; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 24px 20px 40px; max-width: 900px; background: var(--paper); color: var(--ink); font: 14px/1.45 system-ui, "Segoe UI", Helvetica, Arial, "Liberation Sans", sans-serif; font-variant-numeric: tabular-nums; }
h1 { margin: 2px 0 4px; font-size: 24px; line-height: 1.2; overflow-wrap: anywhere; }
h2 { margin: 0 0 4px; font-size: 15px; }
p { margin: 0 0 8px; }
.kind { margin: 0; color: var(--dim); font-weight: 600; display: flex; justify-content: space-between; }
.facts { color: var(--dim); }
section, footer { margin-top: 22px; }
section > p { color: var(--dim); }
.verdict { padding: 12px 16px; border-radius: 6px; border-left: 5px solid currentColor; }
.verdict h2 { font-size: 18px; }
.verdict p { margin: 0; color: var(--ink); }
.verdict.good { color: var(--good); background: var(--good-fill); }
.verdict.open { color: var(--open); background: var(--open-fill); }
table { width: 100%; border-collapse: collapse; }
section { overflow-x: auto; }
th, td { padding: 4px 8px 4px 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; font-weight: 400; }
th[scope=row] { min-width: 110px; }
thead th { color: var(--dim); font-size: 12px; vertical-align: bottom; }
tfoot th, tfoot td { border-bottom: 0; font-weight: 600; }
.number { text-align: right; white-space: nowrap; padding-right: 12px; }
thead .number { white-space: normal; }
.none { color: var(--dim); opacity: .6; }
.why { color: var(--dim); font-size: 12px; min-width: 240px; }
.mark { white-space: nowrap; color: var(--open); font-size: 12px; }
.mark.good { color: var(--good); }
.group th { padding-top: 10px; font-weight: 600; }
.sum th, .sum td { font-weight: 600; }
.group span { color: var(--dim); font-weight: 400; }
footer { padding-top: 12px; border-top: 2px solid var(--line); font-size: 12px; color: var(--dim); }
footer h2 { font-size: 13px; color: var(--ink); }
footer b { white-space: nowrap; }
code { font: 12px/1.4 ui-monospace, Menlo, Consolas, "Liberation Mono", monospace; }
.long { overflow-wrap: anywhere; }
@media (min-width: 700px) { .source th[scope=row], .destinations th[scope=row] { white-space: nowrap; } }
@page { size: A4; margin: 12mm 14mm; @bottom-right { content: "Page " counter(page) " of " counter(pages); font: 7pt Helvetica, Arial, "Liberation Sans", sans-serif; color: #444; } }
@media print {
  :root { color-scheme: light; --ink: #000; --dim: #444; --line: #bbb; --fill: #f3f5f8; --good: #0b5a34; --good-fill: #eef6f1; --open: #7a4300; --open-fill: #fcf3e6; --paper: #fff; }
  body { max-width: none; padding: 0; font-size: 8.5pt; line-height: 1.3; -webkit-print-color-adjust: exact; print-color-adjust: exact; }
  h1 { font-size: 16pt; }
  h2 { font-size: 10.5pt; break-after: avoid; }
  p { margin-bottom: 1.5mm; }
  section, footer { margin-top: 4mm; overflow: visible; }
  .verdict { padding: 2.5mm 4mm; break-inside: avoid; }
  .verdict h2 { font-size: 12pt; }
  th, td { padding: .35mm 2mm .35mm 0; }
  .by-session th[scope=row] { white-space: nowrap; font-size: 7.5pt; }
  .by-session .number { padding-right: 2mm; }
  thead th, .why, .mark { font-size: 7.5pt; }
  .number { padding-right: 2.5mm; }
  .why { min-width: 0; }
  .source th[scope=row], .destinations th[scope=row] { white-space: nowrap; }
  .group th { padding-top: 1.5mm; }
  tr { break-inside: avoid; }
  thead { display: table-header-group; }
  tfoot { display: table-row-group; }
  footer { padding-top: 2mm; font-size: 7.5pt; break-inside: avoid; }
  code { font-size: 7pt; }
}
`;

/** The policy of the page: only this style, and nothing else. */
export const pagePolicy = `default-src 'none'; frame-ancestors 'none'; style-src 'sha256-${createHash('sha256').update(pageStyle).digest('base64')}'`;
