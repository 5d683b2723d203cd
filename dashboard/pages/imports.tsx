import type { NamedImport } from '../../api/imports.js';
import { useMay } from '../asking/page-state.js';
import { useParts } from '../asking/use-asked.js';
import { AwaitAnswer, PageHead, Table, type Column, named } from '../parts/panel.js';
import { ImportProgress, ImportState } from '../parts/states.js';
import { Ago } from '../parts/time.js';
import { address } from '../route.js';
import { counted, grouped } from '../../base/words.js';

const atOnce = 50;

/** The imports of registrants so far. */
export function Imports() {
  const { asked, showMore } = useParts('/api/imports', {}, atOnce);
  const mayImport = useMay('import');
  return (
    <>
      <PageHead
        kind="Imports"
        title="Registrants from files"
        note={['Each row creates at most one registrant, even if a request or response is lost.']}
      >
        {mayImport ? (
          <a class="button main" href={address.newImport()}>
            Import a file
          </a>
        ) : null}
      </PageHead>
      <section class="panel" aria-label="Imports so far">
        <AwaitAnswer asked={asked} lines={5}>
          {({ items, next }) =>
            items.length === 0 ? (
              <p class="empty">No file has been imported yet.</p>
            ) : (
              <>
                <Table columns={columns} rows={items} keyOf={({ id }) => id} />
                {next === null ? null : (
                  <p class="empty more">
                    {`These are the latest ${counted(items.length, 'import')}.`}{' '}
                    <button type="button" onClick={showMore}>
                      Show more
                    </button>
                  </p>
                )}
              </>
            )
          }
        </AwaitAnswer>
      </section>
    </>
  );
}

const columns: readonly Column<NamedImport>[] = [
  [
    'File',
    'name',
    ({ id, file }) =>
      named(
        <a class="file-name" title={file} href={address.import(id)}>
          {file}
        </a>,
        `import ${id}`,
      ),
  ],
  ['State', '', (view) => <ImportState view={view} />],
  ['Progress', 'mid', (view) => <ImportProgress view={view} />],
  ['Rows', 'number wide', ({ rows }) => grouped(rows)],
  [
    'Event',
    'wide',
    ({ workspace, pigeonholeId, event }) => (
      <>
        <a href={address.pigeonhole(workspace, pigeonholeId)}>{event ?? `${workspace}/${pigeonholeId}`}</a>
        {event === null ? null : <small class="below">{`${workspace}/${pigeonholeId}`}</small>}
      </>
    ),
  ],
  ['By', 'wide', ({ requestedBy }) => requestedBy ?? '–'],
  ['Started', 'number', ({ startedAt }) => <Ago at={startedAt} />],
];
