/** Where a value stands in the document: keys, and positions in lists. */
export type KeyPath = readonly (string | number)[];

/** A path as people write it: `syncs.conferences.every.live`, `alerts.to[0].token`, `drop["Dietary needs"]`. */
export function formatKey(path: KeyPath): string {
  return path
    .map((step, position) => {
      if (typeof step === 'number') return `[${step}]`;
      if (!/^[\w-]+$/.test(step)) return `[${JSON.stringify(step)}]`;
      return position === 0 ? step : `.${step}`;
    })
    .join('');
}

/** What identifies a path in a Map; unlike formatKey's text it is the same for no two paths. */
export function pathId(path: KeyPath): string {
  return JSON.stringify(path);
}

/** Whether `path` is `parent` or stands below it. */
export function isWithin(path: KeyPath, parent: KeyPath): boolean {
  return parent.every((step, position) => path[position] === step);
}
