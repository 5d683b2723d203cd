import type {
  SavedMapping,
  ImportColumn,
  ImportCheck,
  ImportTarget,
  ProblemCount,
  SendingEstimate,
} from '../../importing/desk/import-views.js';
import type { ImportForm } from '../imports.js';
import { CommittedInput, Choice } from './inputs.js';
import { StateWord } from './state-word.js';
import { counted, grouped, rowsInWords } from '../../base/words.js';
import { capitalized } from '../words.js';
import { Fact, Facts, Panel, Table } from './panel.js';
import { Ago, Clock } from './time.js';

interface ImportOptionsProps {
  readonly form: ImportForm;
  readonly mappings: readonly SavedMapping[];
  readonly onChange: (part: Partial<ImportForm>) => void;
}

/** Options that most imports leave unchanged. */
export function ImportOptions({ form, mappings, onChange }: ImportOptionsProps) {
  return (
    <>
      <div class="form">
        <label class="check">
          <input
            type="checkbox"
            checked={form.canary}
            onChange={(event) => onChange({ canary: event.currentTarget.checked })}
          />
          import only one row first, to check it in the dashboard of the service
        </label>
        <label class="check">
          <input
            type="checkbox"
            checked={form.generateCodes}
            onChange={(event) => onChange({ generateCodes: event.currentTarget.checked })}
          />
          generate codes for rows without one
        </label>
      </div>
      <details>
        <summary>More options: saved mappings, file format, ended events</summary>
        <div class="form padded">
          <label>
            Use a saved mapping
            <Choice label="Use a saved mapping" value={form.mapping} onChoose={(mapping) => onChange({ mapping })}>
              {[['', 'none'], ...mappings.map(({ name }): [string, string] => [name, name])]}
            </Choice>
          </label>
          <Line
            label="Save the mapping as"
            value={form.saveMapping}
            onLine={(saveMapping) => onChange({ saveMapping })}
          />
          <Line label="Encoding" value={form.encoding} onLine={(encoding) => onChange({ encoding })} />
          <Line label="Delimiter" value={form.delimiter} onLine={(delimiter) => onChange({ delimiter })} />
          <Line label="Sheet" value={form.sheet} onLine={(sheet) => onChange({ sheet })} />
          <label class="check">
            <input
              type="checkbox"
              checked={form.force}
              onChange={(event) => onChange({ force: event.currentTarget.checked })}
            />
            import even if the event has ended
          </label>
        </div>
      </details>
    </>
  );
}

interface LineProps {
  readonly label: string;
  readonly value: string;
  readonly onLine: (value: string) => void;
}

function Line({ label, value, onLine }: LineProps) {
  return (
    <label>
      {label}
      <CommittedInput value={value} onCommit={onLine} />
    </label>
  );
}

interface ColumnTableProps {
  readonly columns: readonly ImportColumn[];
  /** Fields chosen by hand that the server is still checking. */
  readonly chosen: Readonly<Record<string, string | null>>;
  /** Fields that attendees of the pigeonhole have. */
  readonly fields: readonly string[];
  /** @param field null: the column is not sent */
  readonly onField: (column: string, field: string | null) => void;
}

/** The columns of the file, each with its first value and the field it is sent as. */
export function ColumnTable({ columns, chosen, fields, onField }: ColumnTableProps) {
  return (
    <div class="scrolls">
      <datalist id="fields">
        {fields.map((field) => (
          <option key={field} value={field} />
        ))}
      </datalist>
      <table class="columns">
        <thead>
          <tr>
            <th>Column</th>
            <th>First value</th>
            <th>Sent as</th>
            <th class="mid">
              <span class="unseen">Status</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {columns.map((column) => (
            <Row key={column.column} column={withChoice(column, chosen)} onField={onField} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function withChoice(column: ImportColumn, chosen: ColumnTableProps['chosen']): ImportColumn {
  const property = chosen[column.column];
  return property === undefined || property === column.property
    ? column
    : { ...column, property, known: null, guessed: false };
}

function Row({
  column: each,
  onField,
}: {
  readonly column: ImportColumn;
  readonly onField: ColumnTableProps['onField'];
}) {
  const { column, property, sample } = each;
  return (
    <tr class={property === null ? 'dim' : undefined}>
      <th scope="row">{column}</th>
      <td class="sample">{sample ?? '–'}</td>
      <td>
        <span class="sent-as">
          <input
            type="checkbox"
            aria-label={`Send column ${column}`}
            checked={property !== null}
            onChange={(event) => onField(column, event.currentTarget.checked ? column : null)}
          />
          <CommittedInput
            list="fields"
            label={`Field for column ${column}`}
            value={property ?? ''}
            hint="not sent"
            onCommit={(field) => onField(column, field === '' ? null : field)}
          />
        </span>
      </td>
      <td class="mid">
        <Known column={each} />
      </td>
    </tr>
  );
}

function Known({ column: { property, known, guessed } }: { readonly column: ImportColumn }) {
  if (property === null) return <StateWord tone="quiet">not sent</StateWord>;
  if (property === 'attendeeCode') return <StateWord tone="good">attendee code</StateWord>;
  if (known === false) return <StateWord tone="warning">unknown field</StateWord>;
  if (guessed) return <StateWord tone="busy">guessed</StateWord>;
  return known === null ? (
    <StateWord tone="quiet">not checked</StateWord>
  ) : (
    <StateWord tone="good">known field</StateWord>
  );
}

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
          note={conflict > 0 ? `and ${grouped(conflict)} with different data` : 'left unchanged'}
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
          doneAt === null ? (
            'the quota is not known yet'
          ) : waits === null || waits === 0 ? (
            'probably sooner'
          ) : (
            <>
              waits for the quota {waits === 1 ? 'once' : `${waits} times`}
              {resetAt === null ? null : (
                <>
                  , {waits === 1 ? '' : 'the first time '}until <Clock at={resetAt} />
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

function Counts({ counts }: { readonly counts: readonly ProblemCount[] }) {
  if (counts.length === 0) return null;
  return (
    <ul class="counts">
      {counts.map(({ code, column, rows, firstRows }) => (
        <li key={`${code} ${column}`}>
          {`${capitalized(rowsInWords(rows, firstRows))}${column === null ? '' : `, ${column}`}: `}
          <code>{code}</code>
        </li>
      ))}
    </ul>
  );
}

const maxListed = 20;

/** Problems of the rows that are not sent, and notes on rows that are. */
export function FileProblems({ check }: { readonly check: ImportCheck }) {
  const { problems, problemsLeftOut, problemGroups, problemCounts, noteCounts } = check;
  if (problems.length === 0 && noteCounts.length === 0) return null;
  const all = problems.length + problemsLeftOut;
  const shown = problemGroups.slice(0, maxListed);
  const more = all - shown.reduce((sum, { rows }) => sum + rows, 0);
  return (
    <Panel
      title={problems.length === 0 ? 'Notes on the file' : 'Problems in the file'}
      id="file-problems"
      aside={problems.length === 0 ? undefined : counted(all, 'problem')}
    >
      <div class="inside">
        <Counts counts={problemCounts} />
        {noteCounts.length === 0 ? null : <p>Sent, with these notes:</p>}
        <Counts counts={noteCounts} />
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
