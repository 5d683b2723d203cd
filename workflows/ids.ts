/**
 * Workflow ids, one function a workflow. A name is encoded, so that no two can meet: the parts are joined by a slash,
 * which an encoded name never holds.
 */

export function discoverPigeonholesId(workspace: string): string {
  return `discover/${encodeURIComponent(workspace)}`;
}

export function syncPigeonholeId(workspace: string, pigeonholeId: number): string {
  return `sync/${encodeURIComponent(workspace)}/${pigeonholeId}`;
}

/** @param id a UUID */
export function importRegistrantsId(id: string): string {
  return `import/${encodeURIComponent(id)}`;
}

/** @param id a UUID */
export function forgetAttendeeId(id: string): string {
  return `forgetAttendee-${encodeURIComponent(id)}`;
}

export function deliverToSinkId(sink: string): string {
  return `deliver/${encodeURIComponent(sink)}`;
}
