import type {
  SavedMapping,
  ImportColumn,
  ImportCheck,
  ImportTarget,
  SendingEstimate,
  ProblemGroup,
} from '../../importing/desk/import-views.js';
import { noteWords } from '../../base/import-notes.js';
import { evidenceInWords } from '../../base/code-evidence.js';
import { type ImportForm, listedProblems } from '../imports.js';
import { Button, CommittedInput, Choice, Check } from './controls.js';
import { StateWord } from './states.js';
import { counted, grouped, rowsInWords } from '../../base/words.js';
import { capitalized, type ToneAndWord } from '../words.js';
import { Facts, Panel, Table } from './panel.js';
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
        <Check checked={form.canary} onCheck={(canary) => onChange({ canary })}>
          import only one row first, to check it in the dashboard of the service
        </Check>
        <Check checked={form.generateCodes} onCheck={(generateCodes) => onChange({ generateCodes })}>
          generate codes for rows without one
        </Check>
      </div>
      <details>
        <summary>More options: saved mappings, file format, ended events</summary>
        <div class="form padded">
          <label>
            Use a saved mapping
            <Choice label="Use a saved mapping" value={form.mapping} onChoose={(mapping) => onChange({ mapping })}>
              {[['', 'none'], ...mappings.map(({ name }) => [name, name])]}
            </Choice>
          </label>
          {texts.map(([key, label]) => (
            <label key={key}>
              {label}
              <CommittedInput value={form[key]} onCommit={(text) => onChange({ [key]: text })} />
            </label>
          ))}
          <Check checked={form.force} onCheck={(force) => onChange({ force })}>
            import even if the event has ended
          </Check>
        </div>
      </details>
    </>
  );
}

const texts = [
  ['saveMapping', 'Save the mapping as'],
  ['encoding', 'Encoding'],
  ['delimiter', 'Delimiter'],
  ['sheet', 'Sheet'],
] as const;

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
    <>
      <datalist id="fields">
        {fields.map((field) => (
          <option key={field} value={field} />
        ))}
      </datalist>
      <Table
        columns={[
          ['Column', 'name', ({ column }) => column],
          ['First value', 'sample', ({ sample }) => sample ?? '–'],
          ['Sent as', '', (column) => <SentAs column={column} onField={onField} />],
          [<span class="unseen">Status</span>, 'mid', (column) => <StateWord of={knownState(column)} />],
        ]}
        rows={columns.map((column) => withChoice(column, chosen))}
        keyOf={({ column }) => column}
        isDim={({ property }) => property === null}
      />
    </>
  );
}

function withChoice(column: ImportColumn, chosen: ColumnTableProps['chosen']): ImportColumn {
  const property = chosen[column.column];
  return property === undefined || property === column.property
    ? column
    : { ...column, property, known: null, guessed: false };
}

interface SentAsProps extends Pick<ColumnTableProps, 'onField'> {
  readonly column: ImportColumn;
}

function SentAs({ column: { column, property }, onField }: SentAsProps) {
  return (
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
  );
}

function knownState({ property, known, guessed }: ImportColumn): ToneAndWord {
  if (property === null) return ['quiet', 'not sent'];
  if (property === 'attendeeCode') return ['good', 'attendee code'];
  if (known === false) return ['warning', 'unknown field'];
  if (guessed) return ['busy', 'guessed'];
  return known === null ? ['quiet', 'not checked'] : ['good', 'known field'];
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

interface ChoiceProps {
  readonly check: ImportCheck;
  /** @param column name of a column, or several that `+` joins */
  readonly onField: (column: string, field: string) => void;
}

/** Asks which column holds the attendee codes, unless that is certain. */
export function CodeColumn({ check: { codeColumn }, onField }: ChoiceProps) {
  const { basis, candidates, doubt } = codeColumn;
  if (doubt === null) return null;
  return (
    <Panel title="Which column holds the attendee codes?" id="code-column">
      <p class="inside refused">
        {basis === 'several'
          ? 'Several columns may hold them. Nothing is imported until you choose one. If none does, select these columns under “Sent as”, and generate codes.'
          : 'pigeonpost is not sure. Nothing is imported until you confirm the column, or choose another one under “Sent as”.'}
      </p>
      <Table
        columns={[
          ['Column', 'name', ({ column }) => column],
          ['First value', 'sample', ({ first }) => first ?? '–'],
          ['Holds', '', (candidate) => evidenceInWords(candidate)],
          [
            <span class="unseen">Choose</span>,
            '',
            ({ column }) => <Button onPress={() => onField(column, 'attendeeCode')}>Use {column}</Button>,
          ],
        ]}
        rows={candidates}
        keyOf={({ column }) => column}
      />
    </Panel>
  );
}

/** Says that nobody would have a name, and offers to join the parts. */
export function NameColumns({ check: { names }, onField }: ChoiceProps) {
  if (!names.missing) return null;
  const [first, last] = names.parts;
  return (
    <div class="inside">
      <p class="refused">No column fills the field Name, so nobody would have a name.</p>
      {first === undefined || last === undefined ? null : (
        <Button onPress={() => onField(`${first}+${last}`, 'Name')}>
          Join {first} and {last} as Name
        </Button>
      )}
    </div>
  );
}

/** The guess of the file's encoding, with cells that prove it; nothing if it is certain. */
export function EncodingGuess({ guess }: { readonly guess: ImportCheck['file']['encodingGuess'] }) {
  if (guess === null) return null;
  return (
    <>
      <p class={guess.isSure ? undefined : 'refused'}>
        The encoding {guess.encoding} {guess.isSure ? 'was guessed.' : 'is not certain.'} Check these names. To choose
        another encoding, enter it under “More options”.
      </p>
      <ul class="counts">
        {(guess.proofs[0]?.readings ?? []).map(({ encoding }, index) => (
          <li key={encoding}>
            {index === 0 ? 'As' : 'Or as'} {encoding}:{' '}
            {guess.proofs.map(({ line, readings }) => `${readings[index]?.text ?? ''} (line ${line})`).join(', ')}
          </li>
        ))}
      </ul>
    </>
  );
}

/** Planned outcomes of the rows. */
export function Planned({ check: { rows, counts, estimate, canary } }: { readonly check: ImportCheck }) {
  const { send, existing, conflict, rejected, elsewhere, invalid } = counts;
  const { requests, left, doneAt } = estimate;
  return (
    <Panel title="Expected outcomes" id="planned" aside={counted(rows, 'row')}>
      <Facts
        facts={[
          [
            'To be sent',
            grouped(send),
            canary === null ? 'new registrants' : `${grouped(Math.min(canary, send))} of them now`,
          ],
          ['Not sent', grouped(invalid), 'invalid rows'],
          [
            'Already registered',
            grouped(existing),
            conflict > 0 ? `and ${grouped(conflict)} with different data` : 'left unchanged',
          ],
          rejected + elsewhere === 0 ? null : ['Refused earlier, or in another import', grouped(rejected + elsewhere)],
          [
            'Requests',
            grouped(requests),
            left === null ? 'remaining quota unknown' : `${grouped(left)} left in the quota`,
          ],
          ['Done by', doneAt === null ? 'unknown' : <Ago at={doneAt} />, <Waits estimate={estimate} />],
        ]}
      />
    </Panel>
  );
}

function Waits({ estimate: { doneAt, waits, resetAt } }: { readonly estimate: SendingEstimate }) {
  if (doneAt === null) return <>the quota is not known yet</>;
  if (waits === null || waits === 0) return <>probably sooner</>;
  return (
    <>
      waits for the quota {waits === 1 ? 'once' : `${waits} times`}
      {resetAt === null ? null : (
        <>
          , {waits === 1 ? '' : 'the first time '}until <Clock at={resetAt} />
        </>
      )}
    </>
  );
}

const maxListed = 20;

/** Problems of the rows that are not sent, and notes on rows that are. */
export function FileProblems({ check }: { readonly check: ImportCheck }) {
  const { noteCounts } = check;
  const { groups, count: all } = listedProblems(check);
  if (all === 0 && noteCounts.length === 0) return null;
  const shown = groups.slice(0, maxListed);
  const more = all - shown.reduce((sum, { rows }) => sum + rows, 0);
  return (
    <Panel
      title={all === 0 ? 'Notes on the file' : 'Problems in the file'}
      id="file-problems"
      aside={all === 0 ? undefined : counted(all, 'problem')}
    >
      {noteCounts.length === 0 ? null : (
        <div class="inside">
          <p>Sent, with these notes:</p>
          <ul class="counts">
            {noteCounts.map(({ code, column, rows, firstRows }) => (
              <li key={`${code} ${column}`} title={code}>
                {`${capitalized(rowsInWords(rows, firstRows))}${column === null ? '' : `, ${column}`}: ${noteWords(code)}`}
              </li>
            ))}
          </ul>
        </div>
      )}
      {all === 0 ? null : (
        <Table
          columns={[
            ['Rows', '', ({ rows, firstRows }) => rowsInWords(rows, firstRows)],
            ['Column', '', ({ column }) => column ?? '–'],
            ['Problem', '', (group) => <ProblemText group={group} />],
          ]}
          rows={shown}
          keyOf={({ column, code, message }) => `${column} ${code} ${message}`}
        />
      )}
      {more > 0 ? <p class="empty more">{counted(more, 'more problem')}.</p> : null}
    </Panel>
  );
}

function ProblemText({ group: { message, worksWithoutColumn } }: { readonly group: ProblemGroup }) {
  return (
    <>
      {message}
      {worksWithoutColumn ? (
        <small class="below">To import without this column, clear its checkbox under “Sent as” above.</small>
      ) : null}
    </>
  );
}
