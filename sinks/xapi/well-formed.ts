/** A text with what is not Unicode (lone surrogates) replaced: an LRS may refuse it, or change it. */
export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\ufffd');
}
