import { useState } from 'preact/hooks';

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
