import { createHash, randomBytes } from 'node:crypto';
import type { ApiContext, ApiSources } from './api-app.js';
import { type Caller, cookieOf } from './authenticate.js';
import { codeLastsMs } from './page-codes.js';

const style = `
:root { color-scheme: light dark; --line: light-dark(#e0e4eb, #2c343f); --dim: light-dark(#566070, #a0abba); --accent: light-dark(#3a4bd0, #a3b0ff); --on-accent: light-dark(#fff, #131a3d); --warning: light-dark(#fff6e3, #2e2615) }
body { margin: 0; padding: 1rem; background: light-dark(#f5f6f9, #11151b); color: light-dark(#1a212c, #e6eaf0); font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere }
main { max-width: 34rem; margin: 8vh auto 0; padding: 1.5rem; background: light-dark(#fff, #191e26); border: 1px solid var(--line); border-radius: .5rem }
h1 { margin: 0 0 1rem; font-size: 1.5rem; line-height: 1.25 }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1rem; margin: 1rem 0 }
dt { color: var(--dim) }
dd { margin: 0 }
.note { padding: .5rem .75rem; background: var(--warning); border-radius: .375rem }
.actions { display: flex; flex-wrap: wrap; gap: 1rem; align-items: center; margin-top: 1.25rem }
button { padding: .5rem 1rem; font: inherit; font-weight: 600; color: var(--on-accent); background: var(--accent); border: 0; border-radius: .375rem; cursor: pointer }
a { color: var(--accent) }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px }
code { font-family: ui-monospace, monospace }
`;

/**
 * A page that stands alone, because a browser that is not signed in may not have loaded the files of the page. It runs no
 * script, appears in no frame, and sends its form only to this server.
 */
function answerPage(c: ApiContext, title: string, main: string, status: 200 | 401): Response {
  const hash = createHash('sha256').update(style).digest('base64');
  const policy = `default-src 'none'; style-src 'sha256-${hash}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`;
  c.header('Content-Security-Policy', policy);
  c.header('Referrer-Policy', 'same-origin'); // without a referrer, a browser sends the form without its origin
  return c.html(
    `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · pigeonpost</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>${title}</h1>
${main}
</main>
</body>
</html>
`,
    status,
  );
}

interface Confirmation {
  readonly code: string;
  readonly caller: Caller;
  /** The caller that the browser is signed in as; undefined if it is not. */
  readonly present: Caller | undefined;
}

export function askToSignIn(c: ApiContext, sources: ApiSources, { code, caller, present }: Confirmation): Response {
  const nonce = randomBytes(24).toString('base64url');
  c.header('Set-Cookie', cookieOf(c, sources, 'sign-in', { text: nonce, lastsSeconds: codeLastsMs / 1000 }));
  const name = shownName(caller);
  const note =
    present === undefined
      ? ''
      : `<p class="note">This browser is signed in as <b>${shownName(present)}</b>. That session ends when you sign in.</p>`;
  return answerPage(
    c,
    `Sign in as ${name}`,
    `<p>This link signs this browser in with the rights of a token.</p>
<dl>
<dt>Token</dt><dd><b>${escaped(caller.name)}</b></dd>
<dt>Roles</dt><dd>${caller.roles.map(escaped).join(', ')}</dd>
<dt>Workspace</dt><dd>${caller.workspace === null ? 'all' : escaped(caller.workspace)}</dd>
<dt>Session</dt><dd>24 hours, or until you sign out</dd>
</dl>
${note}
<p>The holder of this token can see what you do with it, and the rows of files that you import. Sign in only if you requested
this link, or know who sent it.</p>
<form method="post" action="./sign-in" class="actions">
<input type="hidden" name="code" value="${escaped(code)}">
<input type="hidden" name="nonce" value="${nonce}">
<button>Sign in as ${name}</button>
<a href="./">Cancel</a>
</form>`,
    200,
  );
}

/** Returns the name of a caller as the page shows it, as HTML. */
function shownName({ name, token }: Caller): string {
  return token === null ? 'administrator' : escaped(name);
}

export function answerToOldLink(c: ApiContext): Response {
  return answerPage(
    c,
    'This link no longer works',
    `<p>This link was used, is older than ten minutes, or was made before pigeonpost was restarted.</p>
<p>Run <code>pigeonpost open</code> for another one, or <a href="./">enter a token on the page</a>.</p>`,
    401,
  );
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
