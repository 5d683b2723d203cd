import type { ImportView } from '../../importing/desk/import-views.js';
import { useMay } from '../asking/connection.js';
import { useParts } from '../asking/use-asked.js';
import { AwaitAnswer, PageHead, Table } from '../parts/panel.js';
import { ImportProgress, ImportState } from '../parts/state-word.js';
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
        note="Each row creates at most one registrant, even if a request or response is lost."
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
                <Rows imports={items} />
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

function Rows({ imports }: { readonly imports: readonly ImportView[] }) {
  return (
    <Table
      columns={{
        File: '',
        State: '',
        Progress: 'mid',
        Rows: 'number wide',
        Pigeonhole: 'wide',
        By: 'wide',
        Started: 'number',
      }}
    >
      {imports.map((each) => (
        <tr key={each.id}>
          <th scope="row">
            <a class="file-name" title={each.file} href={address.import(each.id)}>
              {each.file}
            </a>
            <small>import {each.id}</small>
          </th>
          <td>
            <ImportState view={each} />
          </td>
          <td class="mid">
            <ImportProgress view={each} />
          </td>
          <td class="number wide">{grouped(each.rows)}</td>
          <td class="wide">
            {each.workspace}/{each.pigeonholeId}
          </td>
          <td class="wide">{each.requestedBy ?? '–'}</td>
          <td class="number">
            <Ago at={each.startedAt} />
          </td>
        </tr>
      ))}
    </Table>
  );
}
