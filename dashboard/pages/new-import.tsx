import { useEffect, useState } from 'preact/hooks';
import type { ImportCheck, ImportView, SavedMapping } from '../../importing/desk/import-views.js';
import { carryOut, askPerson } from '../asking/act.js';
import { useAllParts, useAsked } from '../asking/use-asked.js';
import { ask, askFor, saveFile, refusalOf } from '../asking/ask.js';
import {
  emptyForm,
  type ImportForm,
  mappingsFor,
  neverSeen,
  rowsToSend,
  uploadQuery,
  endedWarning,
  withField,
} from '../imports.js';
import {
  CodeColumn,
  ColumnTable,
  EncodingGuess,
  ImportOptions,
  FileProblems,
  NameColumns,
  Planned,
  Target,
} from '../parts/import-form.js';
import { CommittedInput, Button } from '../parts/controls.js';
import { PageHead, Panel, Refusal } from '../parts/panel.js';
import { address } from '../route.js';
import { counted } from '../../base/words.js';

/** Timeout of an upload: a large file takes minutes to send and to read. */
const patienceMs = 10 * 60_000;

/**
 * Starts an import: choose the pigeonhole and the file, check the columns and the expected outcomes, then confirm.
 * Nothing is written before the confirmation.
 */
export function NewImport({ pigeonhole }: { readonly pigeonhole: string | null }) {
  const [form, setForm] = useState<ImportForm>({ ...emptyForm, pigeonhole: pigeonhole ?? '' });
  const [file, setFile] = useState<File | null>(null);
  const { check, refused, checking } = useCheck(form, file);
  const ended = check === null ? null : endedWarning(check.target, form.force);
  const mappings = useMappings(form.pigeonhole);
  const fields = useFieldNames(form.pigeonhole);
  const change = (part: Partial<ImportForm>): void => setForm((before) => ({ ...before, ...part }));
  const chooseField = (column: string, field: string | null): void =>
    setForm((before) => ({ ...before, columns: withField(before.columns, column, field) }));
  return (
    <>
      <PageHead
        kind="Imports"
        title="Import a file"
        note={['pigeonpost checks the file first. Nothing is written until you confirm.']}
      />
      <Panel title="File" id="file">
        <div class="inside">
          <div class="where">
            <Where value={form.pigeonhole} onChoose={(to) => change({ pigeonhole: to })} />
            <DropZone
              file={file}
              onFile={(chosen) => {
                setFile(chosen);
                change({ columns: {}, encoding: '', delimiter: '', sheet: '' });
              }}
            />
          </div>
          <ImportOptions form={form} mappings={mappings} onChange={change} />
          <div class="checking" role="status">
            {checking ? (
              'Reading the file…'
            ) : refused !== null ? null : check === null ? (
              'Choose a pigeonhole and a file. pigeonpost then checks the file.'
            ) : (
              <>
                <Target target={check.target} />
                {ended === null ? null : <p class="refused">{ended}</p>}
                {check.file.remarks.map((remark) => (
                  <p key={remark}>{remark}</p>
                ))}
                <EncodingGuess guess={check.file.encodingGuess} />
              </>
            )}
          </div>
          <div role="alert">{refused === null ? null : <Refusal text={refused} />}</div>
        </div>
      </Panel>
      {check === null || file === null ? null : (
        <div class={checking ? 'checked old' : 'checked'}>
          <CodeColumn check={check} onField={chooseField} />
          <Panel title="Columns" id="columns" aside={fileWords(check)}>
            <ColumnTable columns={check.columns} chosen={form.columns} fields={fields} onField={chooseField} />
            <NameColumns check={check} onField={chooseField} />
          </Panel>
          <Planned check={check} />
          <FileProblems check={check} />
          <div class="actions">
            <Button
              look="main"
              disabled={checking || rowsToSend(check) === 0 || (ended !== null && !form.force)}
              onPress={() => start(form, file, check)}
            >
              Import {counted(rowsToSend(check), 'registrant')}…
            </Button>
            <a class="button" href={address.imports}>
              Cancel
            </a>
          </div>
        </div>
      )}
    </>
  );
}

function fileWords({ file: { format, encoding, delimiter, sheet }, rows }: ImportCheck): string {
  const delimiters: Readonly<Record<string, string>> = { ',': 'comma', ';': 'semicolon', '\t': 'tab', '|': 'bar' };
  return [
    format,
    encoding,
    delimiter === null ? null : `delimiter: ${delimiters[delimiter] ?? delimiter}`,
    sheet === null ? null : `sheet ${sheet}`,
    counted(rows, 'row'),
  ]
    .filter((word) => word !== null)
    .join(', ');
}

interface Checked {
  readonly check: ImportCheck | null;
  readonly refused: string | null;
  readonly checking: boolean;
}

/**
 * Checks the file again whenever the form changes. The last result stays until the new one arrives, so that the page
 * does not jump.
 */
function useCheck(form: ImportForm, file: File | null): Checked {
  const [checked, setChecked] = useState<Checked>({ check: null, refused: null, checking: false });
  const { saveMapping: _, ...relevant } = form;
  const key = JSON.stringify(relevant);
  useEffect(() => {
    if (file === null || form.pigeonhole === '') return undefined;
    const ended = new AbortController();
    setChecked((before) => ({ ...before, checking: true }));
    const check = async (): Promise<void> => {
      try {
        const path = `/api/imports/check?${uploadQuery(form, file.name)}`;
        const found = await ask<ImportCheck>(path, { file, signal: ended.signal, patienceMs });
        if (!ended.signal.aborted) setChecked({ check: found, refused: null, checking: false });
      } catch (error) {
        if (ended.signal.aborted) return;
        const refused = refusalOf(error, 'the file cannot be read: choose it again');
        setChecked((before) => ({ ...before, refused, checking: false }));
      }
    };
    check().catch(() => undefined);
    return () => ended.abort();
    // The key contains every option that the check depends on.
  }, [file, key]);
  return checked;
}

async function start(form: ImportForm, file: File, check: ImportCheck): Promise<void> {
  const n = rowsToSend(check);
  const { target, generatedCodes, columns, names } = check;
  const ended = endedWarning(target, form.force);
  const unknown = neverSeen(columns);
  const isUnsure = check.file.encodingGuess?.isSure === false;
  const agreed = isUnsure ? { ...form, encoding: check.file.encoding ?? '' } : form;
  const where = target.name ?? `${target.workspace}/${target.pigeonholeId}`;
  const given = await askPerson({
    title: `Import ${counted(n, 'registrant')} into ${where}?`,
    body: (
      <>
        <p>pigeonpost cannot change or delete registrants after it has created them.</p>
        {ended === null ? null : <p class="refused">{ended}</p>}
        {isUnsure ? <EncodingGuess guess={check.file.encodingGuess} /> : null}
        {unknown.length === 0 ? null : (
          <p class="refused">
            No attendee of this pigeonhole has had a value in {unknown.join(', ')}. The service silently ignores fields
            that it does not know: import one row first and check the result.
          </p>
        )}
        {names.missing ? <p class="refused">No column fills the field Name: nobody would have a name.</p> : null}
        {generatedCodes === 0 ? null : (
          <p>
            {counted(generatedCodes, 'row')} without a code: pigeonpost generates codes, and the page first saves a file
            with them. Keep that file for invitations and badges. After the import, its report has the codes as well.
          </p>
        )}
      </>
    ),
    confirm: `Import ${counted(n, 'registrant')}`,
  });
  if (given === null) return;
  const started = await carryOut(
    async () => {
      if (generatedCodes > 0) {
        const codes = await askFor(`/api/imports/codes?${uploadQuery(agreed, file.name)}`, { file, patienceMs });
        await saveFile(codes, `${file.name.replace(/\.[^.]*$/, '')}.codes.csv`);
      }
      const query = uploadQuery(agreed, file.name, check.file.contentHash);
      return await ask<ImportView>(`/api/imports?${query}`, { file, patienceMs });
    },
    ({ id }) => `import ${id} has started`,
  );
  if (started !== undefined) location.hash = address.import(started.id);
}

function Where({ value, onChoose }: { readonly value: string; readonly onChoose: (pigeonhole: string) => void }) {
  const { data } = useAllParts('/api/pigeonholes', {}, 60_000);
  return (
    <label>
      Pigeonhole
      <CommittedInput list="places" hint="acme/123" value={value} onCommit={onChoose} />
      <datalist id="places">
        {(data ?? [])
          .filter(({ id, goneAt }) => id !== 0 && goneAt === null)
          .map(({ workspace, id, name, status }) => (
            <option key={`${workspace}/${id}`} value={`${workspace}/${id}`}>
              {[name, status].filter((word) => word !== null).join(', ')}
            </option>
          ))}
      </datalist>
    </label>
  );
}

/** Returns the saved mappings that apply to the pigeonhole. */
function useMappings(pigeonhole: string): readonly SavedMapping[] {
  const asked = useAsked('/api/import-mappings', {}, 60_000);
  return mappingsFor(asked.data?.mappings ?? [], pigeonhole);
}

/** Returns the fields that attendees of the pigeonhole have, and the attendee code's. */
function useFieldNames(pigeonhole: string): readonly string[] {
  const isNamed = /^(?:[a-z0-9-]{1,63}\/)?\d{1,15}$/.test(pigeonhole);
  const query = { list: 'attendees', pigeonhole };
  const { data } = useAsked(isNamed ? '/api/fields' : null, { query }, 60_000);
  const seen = (data?.pigeonholes ?? []).flatMap(({ fields }) =>
    fields.filter(({ member }) => member === null).map(({ field }) => field),
  );
  return [...new Set(['attendeeCode', 'Name', 'Email', ...seen.filter((field) => !own.has(field))])];
}

/** Fields of attendees that the service sets and an import cannot. */
const own: ReadonlySet<string> = new Set([
  'id',
  'registrantId',
  'createdAt',
  'updatedAt',
  'consent',
  'links',
  'anonymous',
]);

interface Props {
  readonly file: File | null;
  readonly onFile: (file: File) => void;
}

/** Input for a file, chosen or dropped. */
function DropZone({ file, onFile }: Props) {
  const [over, setOver] = useState(false);
  const take = (files: FileList | null | undefined): void => {
    const first = files?.[0];
    if (first === undefined) return;
    // A drop does not move the focus. The focused field must lose it, so that its text is committed.
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
    onFile(first);
  };
  return (
    <label
      class={over ? 'drop over' : 'drop'}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        take(event.dataTransfer?.files);
      }}
    >
      <span>
        {file === null ? (
          <>
            <b>Choose a file</b>, or drop it here
          </>
        ) : (
          <>
            <b>{file.name}</b> <u>Choose another</u>
          </>
        )}
      </span>
      <small>CSV, Excel (xlsx), JSON or NDJSON, one registrant per row</small>
      <input
        type="file"
        class="unseen"
        accept=".csv,.tsv,.txt,.xlsx,.json,.ndjson"
        onChange={(event) => take(event.currentTarget.files)}
      />
    </label>
  );
}
