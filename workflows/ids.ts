/**
 * Workflow ids, one function for each workflow. Names are URL-encoded, so they contain no slash and ids joined with
 * slashes stay unique.
 */

export function discoverPigeonholesId(workspace: string): string {
  return `discover/${encodeURIComponent(workspace)}`;
}

/** @param number the number of the reader */
export function readPigeonholesId(number: number): string {
  return `read/${number}`;
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
