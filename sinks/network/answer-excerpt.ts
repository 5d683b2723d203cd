import { parsedJson } from './read-answer.js';

/** A refused request and its answer. */
export interface Refusal {
  /** The answer's body as text, or its parsed JSON. */
  readonly body: unknown;
  readonly status: number;
  /** Everything that was sent or is secret: addresses, header values, bodies, credentials. None of it is shown. */
  readonly sent: readonly unknown[];
}

const maxLength = 300;
/** An answer's text beyond this many characters is not read. */
const maxRead = 8 * 1024;
const hidden = '(hidden)';

/**
 * Returns what the destination says about its refusal: at most 300 characters in one line, without secrets and without
 * personal data. Pure.
 *
 * Of JSON, it keeps the members that describe errors, because others may be records. Of HTML, it keeps the text. Then it
 * hides everything that was sent, and everything that may identify a person of whom the destination knows more than was
 * sent: e-mail addresses, addresses of pages, long numbers, tokens, and quoted or capitalized words that are not usual
 * in messages about errors.
 * @returns undefined if nothing is left that says something
 */
export function answerExcerpt({ body, status, sent }: Refusal): string | undefined {
  const json = typeof body === 'string' ? parsedJson(body) : body;
  const found = json === undefined ? body : json;
  const text = typeof found === 'string' ? plainText(found, status) : undefined;
  if (typeof found === 'string' && text === undefined) return undefined;
  if (text === undefined && (typeof found !== 'object' || found === null)) return undefined;
  const mask = new Mask(sent);
  const shown = text === undefined ? jsonText(errorsIn(found, mask, 0)) : mask.apply(text);
  if (shown === undefined || !/\p{L}{2}|\d/u.test(shown.replaceAll(hidden, ''))) return undefined;
  const characters = Array.from(shown);
  return characters.length <= maxLength ? shown : `${characters.slice(0, maxLength - 1).join('')}…`;
}

/** Returns the parts of an address that may contain a secret or data of a person. */
export function textsOfAddress(url: URL): string[] {
  return [url.username, url.password, url.pathname, ...[...url.searchParams].flat()].map(decodedAddress);
}

function decodedAddress(text: string): string {
  return decoded(text).replaceAll('/', ' ');
}

/** Returns the text of an answer that is not a JSON object, in one line; undefined if it is no text to read. */
function plainText(body: string, status: number): string | undefined {
  if (status < 400) return undefined; // such a text may be anything, for example a record
  let text = body.slice(0, maxRead);
  if (/^[\s\uFEFF]*[[{]/.test(text)) return undefined; // JSON that is cut short or damaged: nothing shows which part is a record
  const foreign = text.match(/[\0-\x08\x0e-\x1f\x7f-\x9f\uFFFD]/g)?.length ?? 0;
  if (foreign > text.length / 20) return undefined;
  if (body.length > maxRead) text = text.replace(/\S*$/, '').replace(/<[^>]*$/, ''); // a part of a word could not be recognized
  return /^\s*</.test(text) ? textOfPage(text) : text;
}

function textOfPage(page: string): string {
  return page
    .replace(/<(script|style|svg)\b[^]*?(?:<\/\1\s*>|$)/gi, ' ')
    .replace(/<!--[^]*?(?:-->|$)/g, ' ')
    .replace(/<[^>]*>/g, ' ');
}

/** Members that describe an error, by their names without case, `_` and `-`. */
const errorMembers: ReadonlySet<string> = new Set(
  `error errors code codes status statuscode errorcode subcode errorsubcode message messages msg title detail details
  description errordescription errormessage reason reasons type kind category subcategory exception issues violations problems
  warnings fault faultcode faultstring field fields path param parameter pointer property propertynames source location loc
  rule constraint keyword validationresults invalidparams nonfielderrors hint`.split(/\s+/),
);
/** Members that hold the place of an error. Their value must be a name and no text. */
const placeMembers: ReadonlySet<string> = new Set(
  'field fields path param parameter pointer property propertynames location loc'.split(' '),
);
/** Members below an error that repeat the refused value. */
const valueMembers: ReadonlySet<string> = new Set(
  `value values input received actual rejectedvalue attemptedvalue data body record object instance target given params
  context ctx row example id ids name`.split(/\s+/),
);

/** Returns the part of an answer in JSON that describes errors, with hidden values. */
function errorsIn(value: unknown, mask: Mask, depth: number): unknown {
  if (depth > 6 || value === null || value === undefined) return undefined;
  if (typeof value === 'string') return mask.apply(value.slice(0, maxRead)) || undefined;
  if (typeof value === 'number') return mask.apply(String(value)) === String(value) ? value : hidden;
  if (typeof value !== 'object') return value;
  if (Array.isArray(value)) {
    const kept = value.slice(0, 5).flatMap((each: unknown) => errorsIn(each, mask, depth + 1) ?? []);
    return kept.length === 0 ? undefined : kept;
  }
  const kept = Object.entries(value).flatMap(([name, below]): [string, unknown][] => {
    const plain = name.toLowerCase().replaceAll(/[_-]/g, '');
    const isKnown = errorMembers.has(plain);
    // Frameworks list the errors by the names of fields, such as `errors: { email: ["is required"] }`.
    const isField =
      depth > 0 && !valueMembers.has(plain) && isMessages(below) && isName(name) && mask.apply(name) === name;
    if (!isKnown && !isField) return [];
    if (placeMembers.has(plain) && !placesOf(below).every(isName)) return [];
    const shown = errorsIn(below, mask, depth + 1);
    return shown === undefined ? [] : [[name, shown]];
  });
  return kept.length === 0 ? undefined : Object.fromEntries(kept.slice(0, 20));
}

function isMessages(value: unknown): boolean {
  const texts = Array.isArray(value) ? (value as unknown[]) : [value];
  return texts.every((text) => typeof text === 'string' && text.trim().includes(' '));
}

function placesOf(value: unknown): unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : [value];
}

/** Whether a value has the form of a member's name or of a path of such names. */
function isName(value: unknown): boolean {
  if (typeof value === 'number') return value < 1000;
  return typeof value === 'string' && /^[/#$.]*[a-z_][\w.[\]/-]{0,80}$/.test(value);
}

function jsonText(value: unknown): string | undefined {
  return value === undefined ? undefined : JSON.stringify(value);
}

/** Words that messages about errors use. They are shown even if they occur in what was sent. */
const usualWords: ReadonlySet<string> = new Set(
  `a about accepted access account action active actual address after again all allowed already also an and another any api app
  application are argument array as at attribute authentication authorization authorized bad batch be because been before being
  body boolean but by call can cannot cause change changed characters check client code column conflict connection constraint
  contact contain contains content could create created data database date deadline delete deleted denied did disabled does
  duplicate duplicates each email empty end endpoint enough entity entry error errors event exceeded exception exist existing
  exists expected expired failed failure false field fields file for forbidden format found from gateway get given gone greater
  had has have header html http https id identifier if in inactive inner input integer internal invalid is iso it item its json key
  kind large least length less limit list long longer mail malformed maximum may message method mime minimum missing more most
  must name network no non not null number object of on one only or other our out over page parameter parameters parse
  parsing path patch payload permission permissions phone please post previous problem properties property provided put query
  range rate reached read reason receive received record records refused rejected request requests required resource response
  retry row rule schema sending sent server service session should signature size some status string syntax table temporarily
  text than that the their then there this time timeout timestamp to token too true try two type unable unauthorized unavailable unexpected
  unique unknown unprocessable unrecognized unsupported up update updated uri url use used user utc utf uuid valid validation
  value values violates violation was we were when which while will with without wrong xml you your`.split(/\s+/),
);

/** Hides what was sent, and what may identify a person. */
class Mask {
  readonly #words = new Set<string>();
  /** Texts that are hidden as a whole, because their words are short or usual, or have no spaces between them. */
  readonly #phrases = new Set<string>();

  constructor(sent: readonly unknown[]) {
    for (const each of sent) this.#add(each);
  }

  apply(answer: string): string {
    let text = oneLine(decoded(answer)).replaceAll(/\S{200,}/g, hidden);
    const lower = text.toLowerCase();
    for (const phrase of this.#phrases) {
      if (lower.length === text.length ? lower.includes(phrase) : true) text = replaceAllOf(text, phrase);
    }
    return text
      .replaceAll(/\b[a-z][a-z0-9+.-]*:\/\/\S+/gi, hidden)
      .replaceAll(/[^\s"'<>()[\]{}:;,=]+@[^\s"'<>()[\]{}:;,=]+/g, hidden)
      .replaceAll(/\+?\d[\d ().:/-]{3,}\d/g, hidden)
      .replaceAll(/(?<![\p{L}\d])["'`“«]([^"'`”»]{1,200})["'`”»](?![\p{L}\d])/gu, (whole, inside: string) =>
        this.#isHarmless(inside) ? whole : hidden,
      )
      .replaceAll(/[\w+/=-]{20,}/g, (token) =>
        /[\d+=]/.test(token) || /[a-z][A-Z]\w*[a-z][A-Z]/.test(token) ? hidden : token,
      )
      .replaceAll(/\(hidden\)|[\p{L}\p{M}\p{N}_]+/gu, (word) =>
        word === hidden || this.#isShown(word) ? word : hidden,
      )
      .replaceAll(/\(hidden\)(?:[\s,.;:/_-]*\(hidden\))+/g, hidden)
      .trim();
  }

  #isHarmless(quoted: string): boolean {
    return (
      isName(quoted) || (quoted.match(/[\p{L}\p{N}]+/gu) ?? []).every((word) => usualWords.has(word.toLowerCase()))
    );
  }

  #isShown(word: string): boolean {
    const parts = word.split(/_+|(?<=\p{Ll})(?=\p{Lu})/u).filter((part) => part !== '');
    return [word, ...parts].every((part) => !this.#isSent(part)) && parts.every((part) => isOrdinary(part, word));
  }

  #isSent(word: string): boolean {
    const plain = folded(word);
    return !usualWords.has(plain) && this.#words.has(plain);
  }

  #add(value: unknown): void {
    if (typeof value === 'number' || typeof value === 'bigint') this.#addText(String(value));
    else if (typeof value === 'string') this.#addText(value);
    else if (Array.isArray(value)) for (const each of value as unknown[]) this.#add(each);
    else if (typeof value === 'object' && value !== null) {
      for (const [name, below] of Object.entries(value)) {
        if (!isName(name)) this.#addText(name); // a mapping can write data as the name of a member
        this.#add(below);
      }
    }
  }

  #addText(text: string): void {
    const clean = oneLine(text);
    const words = clean.match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
    for (const word of words) {
      if (word.length >= 3 || !/^[\d]*$/.test(word)) this.#words.add(folded(word));
    }
    const isSpecial = words.length > 1 && words.every((word) => word.length < 3 || usualWords.has(folded(word)));
    const isDense = /[^\0-\u024F]/.test(clean) && clean.length >= 2;
    if ((isSpecial || isDense) && clean.length >= 3 && clean.length <= 200) this.#phrases.add(clean.toLowerCase());
    else if (isDense && clean.length < 3) this.#phrases.add(clean.toLowerCase());
  }
}

/**
 * Whether a word that was not sent may be shown: a word in lower case, a usual word, or a code in capitals. A name, a
 * ticket code or a word of another script is not.
 */
function isOrdinary(part: string, whole: string): boolean {
  if (usualWords.has(part.toLowerCase())) return true;
  if (/^\d{1,4}$/.test(part)) return true;
  const isWithinName = /^[a-z]/.test(whole); // a part such as the second one of jobTitle
  if (/^\p{Script=Latin}+$/u.test(part) && (isWithinName || part === part.toLowerCase())) return true;
  return /^[A-Z]{2,}$/.test(part) && whole.includes('_');
}

/** Returns a word without case, accents and ligatures, because a destination may write it in another form. */
function folded(word: string): string {
  return word.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
}

function replaceAllOf(text: string, phrase: string): string {
  const literal = phrase.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  return text.replaceAll(new RegExp(literal, 'giu'), hidden);
}

/** Decodes the forms in which a destination repeats a text: references of HTML, `%20`, and `\u00e9`. */
function decoded(text: string): string {
  return text
    .replaceAll(/&#(x?)([\da-f]{1,6});/gi, (_, hex: string, digits: string) =>
      characterOf(parseInt(digits, hex ? 16 : 10)),
    )
    .replaceAll(/&(amp|lt|gt|quot|apos|nbsp);/g, (_, name: keyof typeof references) => references[name])
    .replaceAll(/\\u([\da-f]{4})/gi, (_, digits: string) => characterOf(parseInt(digits, 16)))
    .replaceAll(/(?:%[\da-f]{2})+/gi, (bytes) => Buffer.from(bytes.replaceAll('%', ''), 'hex').toString('utf8'));
}

const references = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' } as const;

function characterOf(code: number): string {
  return code <= 0x10_ff_ff ? String.fromCodePoint(code) : ' ';
}

function oneLine(text: string): string {
  return text
    .normalize('NFKC')
    .replaceAll(/[\p{Cf}\p{Co}\p{Cs}]/gu, '') // directions and invisible characters, which could split a word
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
    .trim();
}
