import type { SavedMapping, ImportColumn } from '../../importing/desk/import-views.js';
import type { ImportForm } from '../import-options.js';
import { CommittedInput, Choice } from './inputs.js';
import { StateWord } from './state-word.js';

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
