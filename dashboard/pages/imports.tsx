import type { ImportView } from '../../api/import-views.js';
import { useMay } from '../asking/caller.js';
import { useAsked } from '../asking/use-asked.js';
import { AwaitAnswer } from '../parts/await-answer.js';
import { ImportProgress, ImportState } from '../parts/import-progress.js';
import { PageHead } from '../parts/page-head.js';
import { Ago } from '../parts/time.js';
import { address } from '../route.js';
import { counted, grouped } from '../words.js';

const atFirst = 200;

/** The imports of registrants so far. */
export function Imports() {
  const asked = useAsked<{ readonly imports: readonly ImportView[] }>('/api/imports');
  const mayImport = useMay('import');
  return (
    <>
      <PageHead
        kind="Imports"
        title="Registrants from files"
        note="Each row becomes a registrant once, whatever the network does."
      >
        {mayImport ? (
          <a class="button main" href={address.newImport()}>
            Import a file
          </a>
        ) : null}
      </PageHead>
      <section class="panel" aria-label="Imports so far">
        <AwaitAnswer asked={asked} lines={5}>
          {({ imports }) =>
            imports.length === 0 ? (
              <p class="empty">Nothing was imported yet.</p>
            ) : (
              <>
                <Rows imports={imports.slice(0, atFirst)} />
                {imports.length > atFirst ? (
                  <p class="empty">{`These are the last ${atFirst} of ${counted(imports.length, 'import')}.`}</p>
                ) : null}
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
    <div class="scrolls">
      <table>
        <thead>
          <tr>
            <th>File</th>
            <th>State</th>
            <th class="mid">Progress</th>
            <th class="number wide">Rows</th>
            <th class="wide">Pigeonhole</th>
            <th class="wide">By</th>
            <th class="number">Begun</th>
          </tr>
        </thead>
        <tbody>
          {imports.map((each) => (
            <tr key={each.id}>
              <th scope="row">
                <a href={address.import(each.id)}>{each.file}</a>
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
        </tbody>
      </table>
    </div>
  );
}
