import type { SavedMapping } from '../../importing/desk/import-views.js';
import type { ImportForm } from '../import-options.js';
import { CommittedInput } from './committed-input.js';
import { Choice } from './pigeonhole-table.js';

interface Props {
  readonly form: ImportForm;
  readonly mappings: readonly SavedMapping[];
  readonly onChange: (part: Partial<ImportForm>) => void;
}

/** Options that most imports leave unchanged. */
export function ImportOptions({ form, mappings, onChange }: Props) {
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
