interface LivePage {
  readonly title: string;
  /** One sentence beside the title that explains the page. */
  readonly note: string;
  /** Colour of the bar at the top, as CSS. */
  readonly barColor: string;
  /** HTML. The caller must escape texts. */
  readonly main: string;
  /** CSS rules for the contents of `main`; `--ink`, `--dim`, `--page`, `--line`, `--link` and `--warn` fit light and dark. */
  readonly style: string;
}

/** Renders a complete page that reloads itself every second and depends on no external resource or library. */
export function livePage({ title, note, barColor, main, style }: LivePage): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>${BASE_STYLE} header { background: ${barColor}; } ${style}</style>
</head>
<body>
<header><b>${escapeHtml(title)}</b> ${escapeHtml(note)}</header>
<main>
${main}
</main>
<script>${REFRESH}</script>
</body>
</html>
`;
}

/** Replaces only the contents of `main`, and not while the user has text selected. */
const REFRESH = `
setInterval(async () => {
  const next = await fetch(location.href).then((answer) => answer.text(), () => undefined);
  if (next === undefined || !getSelection().isCollapsed) return;
  const main = new DOMParser().parseFromString(next, 'text/html').querySelector('main');
  if (main.innerHTML !== document.querySelector('main').innerHTML) document.querySelector('main').replaceWith(main);
}, 1000);
`;

const BASE_STYLE = `
:root { color-scheme: light dark; --ink: #1d1c1d; --dim: #616061; --page: #fff; --line: #e4e2e6; --link: #1264a3; --warn: #fbe9b7; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #d9d8da; --dim: #9b9a9d; --page: #1a1d21; --line: #35383c; --link: #6cb4ee; --warn: #5c4813; }
}
* { box-sizing: border-box; }
body { margin: 0; font: 15px/1.46 system-ui, sans-serif; color: var(--ink); background: var(--page); }
header { padding: .7rem 1.2rem; color: #fff; }
main { padding: 0 1.2rem 3rem; }
h2 { font-size: 1.05rem; margin: 1rem 0 0; }
small, time, .count, .empty { color: var(--dim); font-size: .8rem; font-weight: 400; }
table { border-collapse: collapse; font-size: .85rem; margin-top: .4rem; }
th, td { text-align: left; vertical-align: top; padding: .15rem 1rem .15rem 0; border-bottom: 1px solid var(--line); font-variant-numeric: tabular-nums; }
`;

export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
