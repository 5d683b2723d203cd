import { useRef } from 'preact/hooks';

interface EditorProps {
  readonly label: string;
  readonly text: string;
  readonly onText: (text: string) => void;
  /** Lines with a mistake, from 1, each with its sentence. */
  readonly problems: readonly { readonly line: number | null; readonly column: number; readonly message: string }[];
  readonly readOnly?: boolean;
}

/** A text area with line numbers. Lines with a mistake are marked; the sentences below lead to them. */
export function YamlEditor({ label, text, onText, problems, readOnly = false }: EditorProps) {
  const area = useRef<HTMLTextAreaElement>(null);
  const lines = text.split('\n');
  const wrong = new Set(problems.map(({ line }) => line));
  const goTo = (line: number, column: number): void => {
    const start = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
    area.current?.focus();
    area.current?.setSelectionRange(start + column - 1, start + (lines[line - 1]?.length ?? 0));
  };
  return (
    <div class="yaml">
      <div class="yaml-lines">
        <ol aria-hidden="true">
          {lines.map((_, at) => (
            <li key={at} class={wrong.has(at + 1) ? 'bad' : undefined}>
              {at + 1}
            </li>
          ))}
        </ol>
        <textarea
          ref={area}
          aria-label={label}
          aria-invalid={problems.length > 0}
          aria-describedby="yaml-problems"
          spellcheck={false}
          autocapitalize="off"
          autocomplete="off"
          wrap="off"
          rows={Math.max(lines.length, 4)}
          readOnly={readOnly}
          value={text}
          onInput={(event) => onText(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && !event.isComposing && !readOnly) keepIndent(event, onText);
          }}
        />
      </div>
      <ul id="yaml-problems" class="yaml-problems" aria-live="polite">
        {problems.map(({ line, column, message }) => (
          <li key={`${line} ${column} ${message}`} class="refused">
            {line === null ? null : (
              <button type="button" class="link" onClick={() => goTo(line, column)}>
                Line {line}
              </button>
            )}
            {line === null ? '' : ': '}
            {message}
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Begins a new line with the indentation of the present one, and after "- " or a colon with two more spaces. */
function keepIndent(event: KeyboardEvent, onText: (text: string) => void): void {
  const area = event.currentTarget as HTMLTextAreaElement;
  const before = area.value.slice(0, area.selectionStart);
  const line = before.slice(before.lastIndexOf('\n') + 1);
  const indent = /^ */.exec(line)![0] + (/^ *- /.test(line) || /:\s*$/.test(line) ? '  ' : '');
  event.preventDefault();
  area.setRangeText(`\n${indent}`, area.selectionStart, area.selectionEnd, 'end');
  onText(area.value);
}
