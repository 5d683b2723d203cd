/** The content of an item, field by field, always as plain text. */
export function Written({ data }: { readonly data: Readonly<Record<string, unknown>> }) {
  return (
    <dl class="written">
      {Object.entries(data).map(([field, value]) => (
        <div key={field}>
          <dt>{field}</dt>
          <dd>{typeof value === 'string' ? value : JSON.stringify(value)}</dd>
        </div>
      ))}
    </dl>
  );
}
