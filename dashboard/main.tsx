import { render } from 'preact';
import './style/base.css';
import './style/parts.css';
import './style/pages.css';
import './style/find.css';
import './style/mapping.css';
import './style/people.css';
import './style/installation.css';
import './style/deliveries.css';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useAsked } from './asking/use-asked.js';
import { Configuration } from './pages/configuration.js';
import { Connect } from './pages/connect.js';
import { Deletions } from './pages/deletions.js';
import { Deliveries } from './pages/deliveries.js';
import { Import } from './pages/import.js';
import { Erasure } from './pages/erasure.js';
import { Imports } from './pages/imports.js';
import { Item } from './pages/item.js';
import { Live } from './pages/live.js';
import { Mapping } from './pages/mapping.js';
import { NewImport } from './pages/new-import.js';
import { Overview } from './pages/overview.js';
import { People } from './pages/people.js';
import { Person } from './pages/person.js';
import { Pigeonhole } from './pages/pigeonhole.js';
import { Ready } from './pages/ready.js';
import { Sink } from './pages/sink.js';
import { OneStatement, Statements } from './pages/statement.js';
import { Workspace } from './pages/workspace.js';
import { QuestionDialog, TokenDialog } from './parts/dialogs.js';
import { FindButton, FindDialog, useFindKey } from './parts/find.js';
import { address, type Route, routeOf } from './route.js';
import { counted, formatNumbersFor } from '../base/words.js';
import { useStore, caller, connection } from './asking/page-state.js';
import { lazily } from './parts/lazy.js';
import { SignedIn } from './parts/signed-in.js';
import { For } from './parts/time.js';
import { noticeInput } from './asking/attention.js';
import { dismiss, notices } from './asking/act.js';
import { capitalized } from './words.js';

const Incidents = lazily(async () => (await import('./pages/incidents.js')).Incidents);
const Alerts = lazily(async () => (await import('./pages/alerts.js')).Alerts);
const Quota = lazily(async () => (await import('./pages/quota.js')).Quota);
const Tokens = lazily(async () => (await import('./pages/tokens.js')).Tokens);
const AuditLog = lazily(async () => (await import('./pages/audit-log.js')).AuditLog);

/** The frame around every page. */
function App() {
  const { route, hash } = useRoute();
  const { data: me } = useAsked('/api/caller', {}, 60_000);
  useEffect(() => caller.set(me ?? null), [me]);
  const main = useFocusOnNewPage(hash, pageKey(route));
  useKeys();
  useFindKey();
  return (
    <>
      <a class="skip" href="#main" onClick={(event) => skipTo(event, main.current)}>
        Skip to content
      </a>
      <Top route={route} />
      <main id="main" tabIndex={-1} ref={main} key={pageKey(route)}>
        <Page route={route} />
      </main>
      <Notices />
      <ConnectionNote />
      <FindDialog />
      <QuestionDialog />
      <TokenDialog />
    </>
  );
}

function Page({ route }: { readonly route: Route }) {
  switch (route.page) {
    case 'overview':
      return <Overview />;
    case 'workspace':
      return <Workspace name={route.name} />;
    case 'pigeonhole':
      return <Pigeonhole workspace={route.workspace} id={route.id} />;
    case 'ready':
      return <Ready workspace={route.workspace} id={route.id} />;
    case 'statements':
      return <Statements workspace={route.workspace} id={route.id} />;
    case 'statement':
      return <OneStatement number={route.number} />;
    case 'sink':
      return <Sink name={route.name} part={route.part} />;
    case 'deliveries':
      return <Deliveries choice={route.choice} />;
    case 'deletions':
      return <Deletions />;
    case 'configuration':
      return <Configuration />;
    case 'incidents':
      return <Incidents />;
    case 'alerts':
      return <Alerts />;
    case 'quota':
      return <Quota />;
    case 'tokens':
      return <Tokens />;
    case 'audit-log':
      return <AuditLog />;
    case 'mapping':
      return <Mapping sink={route.sink} item={route.item} />;
    case 'connect':
      return <Connect type={route.type} />;
    case 'imports':
      return <Imports />;
    case 'new-import':
      return <NewImport pigeonhole={route.pigeonhole} />;
    case 'import':
      return <Import id={route.id} />;
    case 'item':
      return <Item list={route.list} named={route.key} pigeonhole={route.pigeonhole} />;
    case 'live':
      return <Live list={route.list} pigeonhole={route.pigeonhole} />;
    case 'people':
      return <People />;
    case 'person':
      return <Person workspace={route.workspace} id={route.id} attendee={route.attendee} />;
    case 'erasure':
      return <Erasure id={route.id} />;
    case 'unknown':
      return (
        <>
          <h1 tabIndex={-1}>Page not found</h1>
          <p>
            The <a href={address.overview}>overview</a> links to every sync, sink and pigeonhole.
          </p>
        </>
      );
  }
}

/** Returns a text that identifies the page of a route, whatever section of the page the address points to. */
function pageKey(route: Route): string {
  if (route.page === 'deliveries') return JSON.stringify([route.page, route.choice.sink]);
  const { page, ...rest } = route;
  const { part: _, item: __, ...named } = rest as { readonly part?: unknown; readonly item?: unknown };
  return JSON.stringify(page === 'live' ? [page] : [page, named]); // the filters of the live view leave the rest of it
}

function Top({ route }: { readonly route: Route }) {
  const { data } = useAsked('/api/overview', {});
  const errors = data?.troubles.filter(({ severity }) => severity !== 'notice').length ?? 0;
  const links: readonly (readonly [string, string, readonly Route['page'][]])[] = [
    [
      address.overview,
      'Overview',
      ['overview', 'workspace', 'pigeonhole', 'sink', 'deliveries', 'ready', 'statements', 'statement', 'deletions'],
    ],
    [address.live({ list: null, pigeonhole: null }), 'Live', ['live']],
    [address.imports, 'Imports', ['imports', 'import', 'new-import']],
    [address.people, 'People', ['people', 'person', 'erasure']],
    [address.items, 'Items', ['item']],
    [address.incidents, 'Incidents', ['incidents']],
    [
      address.configuration,
      'Configuration',
      ['configuration', 'mapping', 'connect', 'alerts', 'quota', 'tokens', 'audit-log'],
    ],
  ];
  return (
    <header class="top">
      <a class="brand" href={address.overview}>
        <img src="./icon.svg" alt="" width="22" height="22" />
        pigeonpost
      </a>
      <nav aria-label="Pages">
        {links.map(([to, words, pages]) => (
          <a key={to} href={to} aria-current={pages.includes(route.page) ? 'page' : undefined}>
            {words}
            {to === address.overview && errors > 0 ? (
              <span class="count" title={counted(errors, 'problem')}>
                {errors}
                <span class="unseen"> {errors === 1 ? 'problem' : 'problems'}</span>
              </span>
            ) : null}
          </a>
        ))}
      </nav>
      <FindButton />
      <SignedIn />
    </header>
  );
}

function skipTo(event: Event, main: HTMLElement | null): void {
  event.preventDefault();
  main?.focus();
}

/** Moves the focus to a new page, so that screen readers announce it, and lets the window's title follow its heading. */
function useFocusOnNewPage(hash: string, page: string) {
  const main = useRef<HTMLElement>(null);
  const first = useRef(true);
  useEffect(() => {
    const follow = (): void => {
      const text = main.current?.querySelector('h1')?.textContent ?? '';
      const title = text === '' ? 'pigeonpost' : `${text} · pigeonpost`;
      if (document.title !== title) document.title = title;
    };
    follow();
    const changes = new MutationObserver(follow); // a heading changes when the data of the page arrives
    changes.observe(main.current!, { subtree: true, childList: true, characterData: true });
    return () => changes.disconnect();
  }, [hash]);
  useEffect(() => {
    const heading = main.current?.querySelector('h1');
    if (!first.current) {
      scrollTo(0, 0);
      (heading ?? main.current)?.focus({ preventScroll: true });
    }
    first.current = false;
  }, [page]);
  return main;
}

/** Moves the focus to the search field when "/" is pressed. */
function useKeys(): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const writes = event.target instanceof Element && event.target.matches('input, textarea, select');
      if (event.key !== '/' || writes || event.ctrlKey || event.metaKey || event.altKey) return;
      const finds = document.querySelector<HTMLElement>('[data-finds]');
      if (finds === null) return;
      event.preventDefault();
      finds.focus();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}

/**
 * Warns at the edge of the window that the page is out of date, without moving its content. Disappears when the server
 * answers again.
 */
function ConnectionNote() {
  const now = useStore(connection);
  return (
    <div class="connection" role="status">
      {now.state === 'lost' ? (
        <p>
          <strong>pigeonpost has not answered</strong> for <For since={new Date(now.sinceMs).toISOString()} />:{' '}
          {now.why}. The page shows the last known state and keeps retrying.
        </p>
      ) : null}
    </div>
  );
}

function useRoute(): { readonly route: Route; readonly hash: string } {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const onChange = (): void => setHash(location.hash);
    addEventListener('hashchange', onChange);
    return () => removeEventListener('hashchange', onChange);
  }, []);
  return { route: routeOf(hash), hash };
}

function Notices() {
  const shown = useStore(notices);
  return (
    <div class="notices" role="log" aria-label="Results" aria-live="polite">
      {shown.map(({ id, kind, text }) => (
        <p key={id} class={kind}>
          {capitalized(text)}
          <button type="button" class="link" aria-label="Dismiss" onClick={() => dismiss(id)}>
            ×
          </button>
        </p>
      ))}
    </div>
  );
}

formatNumbersFor(navigator.languages);
noticeInput();
render(<App />, document.getElementById('desk')!);
