import { useEffect, useState } from 'preact/hooks';
import type { SeenFields } from '../../api/fields.js';
import type { ImportCheck, ImportView, SavedMapping } from '../../importing/desk/import-views.js';
import type { PigeonholeDetails } from '../../api/pigeonholes.js';
import { carryOut } from '../asking/act.js';
import { allParts } from '../asking/all-parts.js';
import { ask, askFor, Problem } from '../asking/ask.js';
import { askPerson } from '../asking/questions.js';
import { saveFile } from '../asking/save-file.js';
import { useAsked, useAsking } from '../asking/use-asked.js';
import { firstWish, type ImportWish, mappingsFor, neverSeen, rowsToSend, uploadQuery } from '../import-options.js';
import { Button } from '../parts/button.js';
import { ColumnTable } from '../parts/column-table.js';
import { CommittedInput } from '../parts/committed-input.js';
import { FileProblems, Planned, Target } from '../parts/import-check.js';
import { ImportOptions } from '../parts/import-options.js';
import { PageHead } from '../parts/page-head.js';
import { Panel } from '../parts/panel.js';
import { address } from '../route.js';
import { capitalized, counted } from '../words.js';

/** A large file takes as long to be read as to be sent. */
const patienceMs = 10 * 60_000;

/**
 * From a file to an import that runs: where to, which file, what becomes of each column, what would happen, and only then
 * the button that does it. Nothing is written before that.
 */
export function NewImport({ pigeonhole }: { readonly pigeonhole: string | null }) {
  const [wish, setWish] = useState<ImportWish>({ ...firstWish, pigeonhole: pigeonhole ?? '' });
  const [file, setFile] = useState<File | null>(null);
  const { check, refused, checking } = useCheck(wish, file);
  const mappings = useMappings(wish.pigeonhole);
  const fields = useFieldNames(wish.pigeonhole);
  const change = (part: Partial<ImportWish>): void => setWish((before) => ({ ...before, ...part }));
  return (
    <>
      <PageHead
        kind="Imports"
        title="Import a file"
        note="Nothing is written before you have seen what would happen."
      />
      <Panel title="Which file, and where to" id="file">
        <div class="inside">
          <div class="where">
            <Where value={wish.pigeonhole} onChoose={(to) => change({ pigeonhole: to })} />
            <DropZone
              file={file}
              onFile={(chosen) => {
                setFile(chosen);
                change({ columns: {}, encoding: '', delimiter: '', sheet: '' });
              }}
            />
          </div>
          <ImportOptions wish={wish} mappings={mappings} onChange={change} />
          <p class="checking" role="status">
            {checking ? (
              'Reading the file…'
            ) : refused === null ? (
              check === null ? (
                'Choose both, and the file is looked at.'
              ) : (
                <Target target={check.target} />
              )
            ) : null}
          </p>
          {refused === null ? null : (
            <p class="refused" role="alert">
              {capitalized(refused)}.
            </p>
          )}
        </div>
      </Panel>
      {check === null || file === null ? null : (
        <div class={checking ? 'checked old' : 'checked'}>
          <Panel title="What each column becomes" id="columns" aside={fileWords(check)}>
            <ColumnTable
              columns={check.columns}
              chosen={wish.columns}
              fields={fields}
              onField={(column, field) =>
                setWish((before) => ({ ...before, columns: { ...before.columns, [column]: field } }))
              }
            />
          </Panel>
          <Planned check={check} />
          <FileProblems check={check} />
          <div class="actions">
            <Button look="main" disabled={checking || rowsToSend(check) === 0} onPress={() => begin(wish, file, check)}>
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
    delimiter === null ? null : `${delimiters[delimiter] ?? delimiter} between cells`,
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

/** Looks at the file again whenever the wish changes. What was found before stays until then, so that nothing jumps. */
function useCheck(wish: ImportWish, file: File | null): Checked {
  const [checked, setChecked] = useState<Checked>({ check: null, refused: null, checking: false });
  const { saveMapping: _, ...relevant } = wish;
  const key = JSON.stringify(relevant);
  useEffect(() => {
    if (file === null || wish.pigeonhole === '') return undefined;
    const ended = new AbortController();
    setChecked((before) => ({ ...before, checking: true }));
    const look = async (): Promise<void> => {
      try {
        const path = `/api/imports/check?${uploadQuery(wish, file.name)}`;
        const check = await ask<ImportCheck>(path, { file, signal: ended.signal, patienceMs });
        if (!ended.signal.aborted) setChecked({ check, refused: null, checking: false });
      } catch (error) {
        if (ended.signal.aborted) return;
        const refused = error instanceof Problem ? error.message : 'the file cannot be read: choose it again';
        setChecked((before) => ({ ...before, refused, checking: false }));
      }
    };
    look().catch(() => undefined);
    return () => ended.abort();
    // The key stands for every option that the check depends on.
  }, [file, key]);
  return checked;
}

async function begin(wish: ImportWish, file: File, check: ImportCheck): Promise<void> {
  const n = rowsToSend(check);
  const { target, generatedCodes, columns } = check;
  const unknown = neverSeen(columns);
  const where = target.name ?? `${target.workspace}/${target.pigeonholeId}`;
  const given = await askPerson({
    title: `Import ${counted(n, 'registrant')} into ${where}?`,
    body: (
      <>
        <p>Nothing can be changed or deleted from here once it is created.</p>
        {unknown.length === 0 ? null : (
          <p class="refused">
            No attendee there was ever seen to have {unknown.join(', ')}. The service ignores fields that it does not
            know, without a word: import one row first and look at it.
          </p>
        )}
        {generatedCodes === 0 ? null : (
          <p>
            {counted(generatedCodes, 'row')} are given codes. They are saved as a file first: keep it, codes are shown
            nowhere else.
          </p>
        )}
      </>
    ),
    confirm: `Import ${counted(n, 'registrant')}`,
  });
  if (given === null) return;
  const begun = await carryOut(
    async () => {
      if (generatedCodes > 0) {
        const codes = await askFor(`/api/imports/codes?${uploadQuery(wish, file.name)}`, { file, patienceMs });
        await saveFile(codes, `${file.name.replace(/\.[^.]*$/, '')}.codes.csv`);
      }
      const query = uploadQuery(wish, file.name, check.file.contentHash);
      return await ask<ImportView>(`/api/imports?${query}`, { file, patienceMs });
    },
    ({ id }) => `import ${id} has begun`,
  );
  if (begun !== undefined) location.hash = address.import(begun.id);
}

function Where({ value, onChoose }: { readonly value: string; readonly onChoose: (pigeonhole: string) => void }) {
  const { data } = useAsking('places', (signal) => allParts<PigeonholeDetails>('/api/pigeonholes', signal), 60_000);
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

/** Those that can be used there; of all workspaces while only an id is named. */
function useMappings(pigeonhole: string): readonly SavedMapping[] {
  const asked = useAsked<{ readonly mappings: readonly SavedMapping[] }>('/api/import-mappings', 60_000);
  return mappingsFor(asked.data?.mappings ?? [], pigeonhole);
}

/** Fields of attendees there, and the code's. */
function useFieldNames(pigeonhole: string): readonly string[] {
  const isNamed = /^(?:[a-z0-9-]{1,63}\/)?\d{1,15}$/.test(pigeonhole);
  const path = `/api/fields?${new URLSearchParams({ list: 'attendees', pigeonhole }).toString()}`;
  const { data } = useAsked<{ readonly pigeonholes: readonly SeenFields[] }>(isNamed ? path : null, 60_000);
  const seen = (data?.pigeonholes ?? []).flatMap(({ fields }) =>
    fields.filter(({ member }) => member === null).map(({ field }) => field),
  );
  return [...new Set(['attendeeCode', 'Name', 'Email', ...seen.filter((field) => !own.has(field))])];
}

/** Fields that the service reports of attendees and that an import cannot set. */
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

/** A file that is chosen or dropped. */
export function DropZone({ file, onFile }: Props) {
  const [over, setOver] = useState(false);
  const take = (files: FileList | null | undefined): void => {
    const first = files?.[0];
    if (first === undefined) return;
    // A drop leaves the focus where it is: what is written there counts from now on, too.
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
      <small>CSV, Excel (xlsx), JSON or NDJSON, one registrant a row</small>
      <input
        type="file"
        class="unseen"
        accept=".csv,.tsv,.txt,.xlsx,.json,.ndjson"
        onChange={(event) => take(event.currentTarget.files)}
      />
    </label>
  );
}
