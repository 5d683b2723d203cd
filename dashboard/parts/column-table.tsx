import type { ImportColumn } from '../../importing/desk/import-views.js';
import { CommittedInput } from './committed-input.js';
import { StateWord } from './state-word.js';

interface Props {
  readonly columns: readonly ImportColumn[];
  /** Fields chosen by hand that the server is still checking. */
  readonly chosen: Readonly<Record<string, string | null>>;
  /** Fields that attendees of the pigeonhole have. */
  readonly fields: readonly string[];
  /** @param field null: the column is not sent */
  readonly onField: (column: string, field: string | null) => void;
}

/** The columns of the file, each with its first value and the field it is sent as. */
export function ColumnTable({ columns, chosen, fields, onField }: Props) {
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

function withChoice(column: ImportColumn, chosen: Props['chosen']): ImportColumn {
  const property = chosen[column.column];
  return property === undefined || property === column.property
    ? column
    : { ...column, property, known: null, guessed: false };
}

function Row({ column: each, onField }: { readonly column: ImportColumn; readonly onField: Props['onField'] }) {
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
