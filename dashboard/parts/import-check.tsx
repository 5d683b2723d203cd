import type { ImportCheck, ImportTarget, SendingEstimate } from '../../importing/desk/import-views.js';
import { counted, grouped } from '../../base/words.js';
import { rowsInWords } from '../words.js';
import { Fact, Facts, Panel, Table } from './panel.js';
import { Ago, Clock } from './time.js';

/** The target of the import, as the service describes it. */
export function Target({ target }: { readonly target: ImportTarget }) {
  const { name, workspace, pigeonholeId, startDate, endDate, status, asOf } = target;
  return (
    <p>
      Into <b>{name ?? `pigeonhole ${pigeonholeId}`}</b> ({workspace}/{pigeonholeId}
      {startDate === null ? '' : `, ${startDate}${endDate === null || endDate === startDate ? '' : ` to ${endDate}`}`}
      {status === null ? '' : `, ${status}`})
      {asOf === null ? (
        '.'
      ) : (
        <>
          , as of <Ago at={asOf} />.
        </>
      )}
    </p>
  );
}

/** Planned outcomes of the rows. */
export function Planned({ check: { rows, counts, estimate, canary } }: { readonly check: ImportCheck }) {
  const { send, existing, conflict, rejected, elsewhere, invalid } = counts;
  return (
    <Panel title="Expected outcomes" id="planned" aside={counted(rows, 'row')}>
      <Facts>
        <Fact
          label="To be sent"
          note={canary === null ? 'new registrants' : `${grouped(Math.min(canary, send))} of them now`}
        >
          {grouped(send)}
        </Fact>
        <Fact label="Not sent" note="invalid rows">
          {grouped(invalid)}
        </Fact>
        <Fact
          label="Already registered"
          note={conflict > 0 ? `and ${grouped(conflict)} with other data` : 'left unchanged'}
        >
          {grouped(existing)}
        </Fact>
        {rejected + elsewhere === 0 ? null : (
          <Fact label="Refused earlier, or in another import">{grouped(rejected + elsewhere)}</Fact>
        )}
        <TimeFacts estimate={estimate} />
      </Facts>
    </Panel>
  );
}

function TimeFacts({ estimate: { requests, left, waits, doneAt, resetAt } }: { readonly estimate: SendingEstimate }) {
  return (
    <>
      <Fact label="Requests" note={left === null ? 'remaining quota unknown' : `${grouped(left)} left in the quota`}>
        {grouped(requests)}
      </Fact>
      <Fact
        label="Done by"
        note={
          waits === null || waits === 0 ? (
            'probably sooner'
          ) : (
            <>
              waits for the quota {waits === 1 ? 'once' : `${waits} times`}
              {resetAt === null ? null : (
                <>
                  , first until <Clock at={resetAt} />
                </>
              )}
            </>
          )
        }
      >
        {doneAt === null ? 'unknown' : <Ago at={doneAt} />}
      </Fact>
    </>
  );
}

const maxListed = 20;

/** Problems of the rows that are not sent. */
export function FileProblems({ check }: { readonly check: ImportCheck }) {
  const { problems, problemsLeftOut, problemGroups, problemCounts, noteCounts } = check;
  if (problems.length === 0 && noteCounts.length === 0) return null;
  const all = problems.length + problemsLeftOut;
  const shown = problemGroups.slice(0, maxListed);
  const more = all - shown.reduce((sum, { rows }) => sum + rows, 0);
  return (
    <Panel title="Problems in the file" id="file-problems" aside={counted(all, 'problem')}>
      <div class="inside">
        <ul class="counts">
          {[...problemCounts, ...noteCounts].map(({ code, column, rows }) => (
            <li key={`${code} ${column}`}>
              <code>{code}</code>
              {column === null ? '' : ` in ${column}`}: {counted(rows, 'row')}
            </li>
          ))}
        </ul>
      </div>
      {problems.length === 0 ? null : (
        <Table columns={{ Rows: '', Column: '', Problem: '' }}>
          {shown.map(({ rows, firstRows, column, code, message, worksWithoutColumn }) => (
            <tr key={`${column} ${code} ${message}`}>
              <td>{rowsInWords(rows, firstRows)}</td>
              <td>{column ?? '–'}</td>
              <td>
                {message}
                {worksWithoutColumn ? (
                  <small class="below">To import without this column, clear its checkbox under “Sent as” above.</small>
                ) : null}
              </td>
            </tr>
          ))}
        </Table>
      )}
      {more > 0 ? <p class="empty more">{counted(more, 'more problem')}.</p> : null}
    </Panel>
  );
}
