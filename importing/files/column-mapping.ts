import { type CodeEvidence, evidenceInWords } from '../../base/code-evidence.js';
import { isUnnamed } from './table.js';
import { RegistrantFileError } from './registrant-file.js';

/** The profile field that holds the code by which a registrant signs in. */
export const codeProperty = 'attendeeCode';

/** The profile field in the service's own example (specification, "Registrant"). */
const nameField = 'Name';

/** A kind of field with its usual names, folded by `foldWord`. */
interface FieldWords {
  /**
   * The field for columns of this kind; undefined: a known field of the same kind, otherwise the column's own header.
   */
  readonly property: string | undefined;
  readonly words: ReadonlySet<string>;
}

/** Headers that name the attendee code and nothing else, in the most common languages. */
const codeNames = words(`
  attendeecode participantcode registrantcode delegatecode guestcode visitorcode
  teilnehmercode teilnehmendencode gastcode gaestecode codeparticipant codeduparticipant codeinvite
  codigoasistente codigodeasistente codigodelasistente codigoparticipante codigodeparticipante codigodelparticipante
  codiceparticipante codicepartecipante codicedelpartecipante codigodoparticipante codigodoconvidado
  deelnemerscode deelnemercode deltagarkod deltagerkode deltakerkode osallistujakoodi
  koduczestnika koducastnika katilimcikodu 参加者コード 参会码 参会者代码 參加者代碼 참가자코드 кодучастника
`);

/** English words before `hintNouns`: a ticket number, a booking reference, a member id. */
const hintSubjects = `
  attendee participant registrant delegate guest visitor person member membership customer client contact user employee
  ticket badge pass order booking reservation registration reg confirmation invitation invite
  access entry admission login signin checkin
`;
const hintNouns = 'code id no nr num number ref reference barcode qrcode qr';

/**
 * Headers that often name the attendee code, and as often something else: the kind of a ticket, the order of a group, a
 * company's code. A column with such a header is a guess that a person has to confirm.
 */
const codeHints = new Set([
  ...listOf(hintSubjects).flatMap((subject) => listOf(hintNouns).map((noun) => subject + noun)),
  ...words(`
    code id uid uuid guid pin ref reference ticket badge barcode qrcode qr
    ticketbarcode ticketqrcode badgebarcode uniqueid uniquecode externalid personalcode
    teilnehmernummer teilnehmerid teilnehmernr ticketnummer ticketnr anmeldecode anmeldenummer buchungsnummer bestellnummer
    zugangscode kundennummer mitgliedsnummer strichcode
    codebillet numerobillet numeroparticipant codedacces codeinscription numerodecommande codebarres
    codigo codigodeentrada numerodeentrada codigodeacceso numerodepedido codigodebarras
    codice codicebiglietto numerobiglietto codicediaccesso codiceabarre codigodeinscricao numerodeinscricao
    deelnemersnummer toegangscode deltagarnummer biljettnummer kodbiletu kod
    参加コード チケット番号 整理番号 签到码 票号 编号 참가코드 티켓번호 код رمز
  `),
]);

/** Usual names of columns, in the most common languages. No name may belong to two kinds. */
export const fieldWords: readonly FieldWords[] = [
  { property: codeProperty, words: new Set([...codeNames, ...codeHints]) },
  {
    property: nameField,
    words: words(`
      name fullname ticketfullname ticketholder ticketholdername attendeefullname attendeename participantname registrantname delegatename guestname displayname
      vollername vollstandigername vorundnachname vornamenachname namevorname teilnehmername
      nomcomplet nomprenom prenomnom nometprenom prenometnom nombrecompleto nombreyapellidos nombreyapellido
      nome nomecompleto nomecognome nomeecognome nomesobrenome naam volledigenaam voornaamenachternaam namn fulltnamn fulltnavn navn nimi
      imieinazwisko jmenoaprijmeni adsoyad adisoyadi 氏名 お名前 名前 姓名 名字 이름 성명 имя фио полноеимя
    `),
  },
  {
    property: undefined,
    words: words(`
      email ticketemail attendeeemail participantemail registrantemail guestemail emailaddress mail mailaddress emailadresse mailadresse epost epostadress epostadresse correo correoelectronico
      courriel adressemail adresseemail adresseelectronique adressecourriel indirizzoemail postaelettronica endereçodeemail enderecodeemail
      emailadres sahkoposti adresemail adreselektroniczny eposta メール メールアドレス 电子邮件 邮箱 電子郵件 이메일 электроннаяпочта почта
    `),
  },
  {
    property: undefined,
    words: words(`
      company companyname organisation organization organisationname organizationname employer firma unternehmen firmenname
      entreprise societe organisme empresa compania organizacion azienda societa organizzazione organizacao bedrijf bedrijfsnaam
      foretag virksomhed bedrift yritys spolecnost sirket 会社 会社名 公司 单位 회사 компания организация
    `),
  },
  {
    property: undefined,
    words: words(`
      phone phonenumber telephone telephonenumber tel mobile mobilephone mobilenumber cell cellphone telefon telefonnummer handy
      handynummer mobiltelefon mobilnummer telephoneportable numerodetelephone telefono numerodetelefono movil cellulare
      telefone celular telefoonnummer mobiel puhelin puhelinnumero 電話 電話番号 电话 手机 전화번호 телефон
    `),
  },
  {
    property: undefined,
    words: words(`
      jobtitle title position role jobrole berufsbezeichnung position funktion fonction poste intitule cargo puesto
      ruolo qualifica functie functietitel befattning stilling 役職 职位 직책 должность
    `),
  },
  {
    property: undefined,
    words: words(
      `firstname ticketfirstname attendeefirstname participantfirstname givenname forename vorname prenom voornaam fornamn fornavn etunimi imie nombredepila 이름만 имяличное`,
    ),
  },
  {
    property: undefined,
    words: words(
      `lastname ticketlastname attendeelastname participantlastname surname familyname nachname familienname nomdefamille apellido apellidos cognome sobrenome achternaam efternamn etternavn sukunimi nazwisko prijmeni фамилия`,
    ),
  },
];

type NameKind = 'name' | 'firstname' | 'lastname';

/** Whether a column of this name, or a field of this property, is of the kind that has `word` as a usual name. */
function isOfKind(name: string, word: NameKind | 'email' | 'phone'): boolean {
  return fieldWords.some(({ words: known }) => known.has(word) && known.has(foldWord(name)));
}

/** Whether a field holds a person's name or a part of it. */
export function isNameField(property: string): boolean {
  return (['name', 'firstname', 'lastname'] as const).some((word) => isOfKind(property, word));
}

/** Whether a column of this name, or a field of this property, holds e-mail addresses. */
export function isEmailField(name: string): boolean {
  return isOfKind(name, 'email');
}

/** Whether a column of this name, or a field of this property, holds phone numbers. */
export function isPhoneField(name: string): boolean {
  return isOfKind(name, 'phone');
}

/** The columns from which people get a name. */
export interface NameColumns {
  /** Whether no column fills the field for the name, so that nobody would have one. */
  readonly missing: boolean;
  /** Columns that together are a name, the first name first. Empty: there is no such pair. */
  readonly parts: readonly string[];
}

/**
 * Returns whether a mapping gives people a name. A pigeonhole without attendees is taken to have the field of the
 * service's own example, `Name`.
 */
export function nameColumns({ columns }: Pick<ColumnMapping, 'columns'>, knownFields: readonly string[]): NameColumns {
  const sent = columns.flatMap(({ property }) => property ?? []);
  const hasName =
    sent.some((property) => isOfKind(property, 'name')) ||
    sent.some((property) => isNameField(property) && knownFields.includes(property)) ||
    (knownFields.length > 0 && !knownFields.some((field) => isOfKind(field, 'name')));
  const first = columns.find(({ column }) => isOfKind(column, 'firstname'))?.column;
  const last = columns.find(({ column }) => isOfKind(column, 'lastname'))?.column;
  return { missing: !hasName, parts: hasName || first === undefined || last === undefined ? [] : [first, last] };
}

/** Whether a cell is a usual name of a column, in whatever language. */
export function namesAField(cell: string): boolean {
  const word = foldWord(cell);
  return fieldWords.some(({ words: known }) => known.has(word));
}

/** Folds a name: removes case, accents, spaces, hyphens and other signs. */
function foldWord(name: string): string {
  return name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/ß/g, 'ss')
    .replace(/ø/g, 'o')
    .replace(/ł/g, 'l')
    .replace(/ı/g, 'i')
    .replace(/[^\p{L}\p{N}]/gu, '')
    .normalize('NFC');
}

function words(text: string): ReadonlySet<string> {
  return new Set(listOf(text).map(foldWord));
}

function listOf(text: string): string[] {
  return text.trim().split(/\s+/);
}

interface MappedColumn {
  /** The name in the file's header. */
  readonly column: string;
  /** The profile field of the column; null: not sent. */
  readonly property: string | null;
  /** Whether the field was guessed: neither named by the person nor by the header. */
  readonly guessed: boolean;
  /** Position of the column's value in a field that joins several columns, from 0; absent: the column is the field. */
  readonly part?: number;
}

/** The column of the attendee codes, and how it is known. */
export interface CodeColumn {
  /**
   * - `mapped` a person or a saved mapping says so
   * - `named` the header names the field
   * - `guessed` the header often means the code and as often something else: a person has to confirm it
   * - `several` several headers may mean it: a person has to choose
   * - `none` no header means it
   */
  readonly basis: 'mapped' | 'named' | 'guessed' | 'several' | 'none';
  /** The columns in question: one, several, or none. */
  readonly candidates: readonly string[];
}

/** The mapping of a file's columns, in the file's order. Two columns have the same field only if it joins them. */
export interface ColumnMapping {
  readonly columns: readonly MappedColumn[];
  readonly code: CodeColumn;
}

/**
 * Requested fields by column; null: do not send the column. `First name+Last name` names two columns whose values
 * are joined with a space. Saved mappings have the same form.
 */
export type MappingWishes = Readonly<Record<string, string | null>>;

/**
 * Maps columns to fields: first as requested; then headers that are field names; then headers that obviously mean one
 * (`E-MAIL` for `Email`, `Full name`), marked as guessed. Any other column is sent under its own header, because no API
 * lists the fields of a pigeonhole; `unknownFields` returns those to confirm. Columns without a name, columns of a
 * report and a second column for the same field are not sent. Nothing is guessed between several columns that may hold
 * the code: none of them is sent.
 * @param knownFields fields seen on attendees of the pigeonhole
 * @throws {RegistrantFileError} kind `mapping` if a request names a missing column, or two name one field
 */
export function guessMapping(
  columns: readonly string[],
  knownFields: readonly string[],
  wishes: MappingWishes = {},
): ColumnMapping {
  const mapped = wishesByColumn(columns, wishes);
  const fields = [...new Set([nameField, ...knownFields])];
  const taken = new Set([...mapped.values()].flatMap(({ property }) => property ?? []));
  const open = columns.filter((column) => !mapped.has(column) && !isUnnamed(column) && !isReportColumn(column));
  const code = findCodeColumn(mapped, open, fields);
  const [candidate] = code.candidates;
  if (code.basis === 'named' || code.basis === 'guessed') {
    mapped.set(candidate!, { column: candidate!, property: codeProperty, guessed: code.basis === 'guessed' });
  }
  if (code.basis === 'several') {
    for (const column of code.candidates) mapped.set(column, { column, property: null, guessed: true });
  }
  taken.add(codeProperty);
  for (const guess of [exactField, likelyField, ownName]) {
    for (const column of open) {
      if (mapped.has(column)) continue;
      const property = guess(column, fields);
      if (property === undefined || taken.has(property)) continue;
      taken.add(property);
      mapped.set(column, { column, property, guessed: property !== column });
    }
  }
  return { columns: columns.map((column) => mapped.get(column) ?? { column, property: null, guessed: true }), code };
}

/**
 * Finds the column of the attendee codes. A header that names the field wins, wherever it stands: first the field's own
 * name, then that name in another spelling, then in other words.
 */
function findCodeColumn(
  mapped: ReadonlyMap<string, MappedColumn>,
  open: readonly string[],
  fields: readonly string[],
): CodeColumn {
  const wished = [...mapped.values()].find(({ property }) => property === codeProperty);
  if (wished !== undefined) return { basis: 'mapped', candidates: [wished.column] };
  // A column that has the name of another known field holds that field.
  const free = open.filter((column) => !fields.some((field) => foldWord(field) === foldWord(column)));
  const names: readonly ((column: string) => boolean)[] = [
    (column) => column === codeProperty,
    (column) => foldWord(column) === foldWord(codeProperty),
    (column) => codeNames.has(foldWord(column)),
  ];
  for (const isName of names) {
    const named = free.filter(isName);
    if (named.length > 0) return { basis: named.length === 1 ? 'named' : 'several', candidates: named };
  }
  const hinted = free.filter((column) => codeHints.has(foldWord(column)));
  const basis = hinted.length === 0 ? 'none' : hinted.length === 1 ? 'guessed' : 'several';
  return { basis, candidates: hinted };
}

function exactField(column: string, fields: readonly string[]): string | undefined {
  return fields.find((field) => field === column);
}

/**
 * Returns the field that a column probably means: a known field with a different spelling, or the field of its kind.
 */
function likelyField(column: string, fields: readonly string[]): string | undefined {
  const word = foldWord(column);
  const written = fields.find((field) => foldWord(field) === word);
  if (written !== undefined) return written;
  const kind = fieldWords.find(({ words }) => words.has(word));
  if (kind === undefined || kind.property === codeProperty) return undefined;
  return kind.property ?? fields.find((field) => kind.words.has(foldWord(field)));
}

function ownName(column: string): string {
  return column;
}

function wishesByColumn(columns: readonly string[], wishes: MappingWishes): Map<string, MappedColumn> {
  const byColumn = new Map<string, MappedColumn>();
  const properties = new Set<string>();
  for (const [name, property] of Object.entries(wishes)) {
    const wished = wishedColumns(columns, name);
    if ('missing' in wished) {
      throw mappingError(
        `The mapping names a column ${JSON.stringify(wished.missing)}, which the file does not have; correct the name.`,
      );
    }
    if (property !== null && properties.has(property)) {
      throw mappingError(
        `The mapping sends two columns as ${JSON.stringify(property)}; leave one of them out, or join them as in "First name+Last name=${property}".`,
      );
    }
    if (property !== null) properties.add(property);
    const isJoined = wished.columns.length > 1 && property !== null;
    if (isJoined && property === codeProperty) {
      throw mappingError(`The mapping joins ${JSON.stringify(name)} to a code; a code is a single column.`);
    }
    for (const [part, column] of wished.columns.entries()) {
      if (byColumn.has(column)) {
        throw mappingError(`The mapping names the column ${JSON.stringify(column)} twice; leave one out.`);
      }
      byColumn.set(column, { column, property, guessed: false, ...(isJoined ? { part } : {}) });
    }
  }
  return byColumn;
}

/** Finds the columns of a wish: one, or those that `+` joins. A header may contain `+` as well. */
function wishedColumns(
  columns: readonly string[],
  name: string,
): { readonly columns: readonly string[] } | { readonly missing: string } {
  const find = (each: string): string | undefined =>
    columns.find((column) => column === each) ?? columns.find((column) => foldWord(column) === foldWord(each));
  const whole = columns.find((column) => column === name);
  if (whole !== undefined) return { columns: [whole] };
  const names = name.split('+').map((each) => each.trim());
  const found = names.map(find);
  if (names.length === 1 || found.every((column) => column === undefined)) {
    const only = find(name);
    return only === undefined ? { missing: name } : { columns: [only] };
  }
  const missing = names.find((_, n) => found[n] === undefined);
  return missing === undefined ? { columns: found as string[] } : { missing };
}

/**
 * Returns the wishes of a saved mapping that concern a file: those whose columns it has, unless the caller's own wishes
 * are about one of these columns.
 */
export function wishesFor(columns: readonly string[], saved: MappingWishes, own: MappingWishes): MappingWishes {
  const found = (name: string): readonly string[] | null => {
    const wished = wishedColumns(columns, name);
    return 'missing' in wished ? null : wished.columns;
  };
  const named = new Set(Object.keys(own).flatMap((name) => found(name) ?? []));
  return Object.fromEntries(
    Object.entries(saved).filter(([name]) => found(name)?.every((column) => !named.has(column)) ?? false),
  );
}

/** Returns a mapping in the form in which it is requested and saved: joined columns as one wish. */
export function asWishes({ columns }: Pick<ColumnMapping, 'columns'>): MappingWishes {
  const parts = (property: string | null): string =>
    columns
      .filter((each) => each.property === property && each.part !== undefined)
      .toSorted((a, b) => a.part! - b.part!)
      .map(({ column }) => column)
      .join('+');
  return Object.fromEntries(
    columns.map(({ column, property, part }) => [part === undefined ? column : parts(property), property]),
  );
}

function mappingError(message: string): RegistrantFileError {
  return new RegistrantFileError('mapping', message);
}

/**
 * Returns why nothing may be created until a person has named the column of the codes; null: the column is certain.
 * Pure.
 * @param evidence of the candidates, in their order, from the whole file
 */
export function codeColumnDoubt({ basis }: CodeColumn, evidence: readonly CodeEvidence[]): string | null {
  const words = evidence.map((each) => `${JSON.stringify(each.column)} (${evidenceInWords(each)})`).join(', ');
  // The example is the column that most probably holds codes: many different values with digits.
  const worth = (each: CodeEvidence): number => (each.isDoubtful ? 0 : each.different * (1 + each.withDigit));
  const [first] = evidence.toSorted((a, b) => worth(b) - worth(a));
  const example = `--map "${first?.column ?? 'COLUMN'}=${codeProperty}"`;
  const isDoubtful = evidence.some((each) => each.isDoubtful);
  switch (basis) {
    case 'several':
      return `Several columns may hold the attendee codes: ${words}; name the right one, as in ${example}.`;
    case 'guessed':
      return isDoubtful
        ? `The column of the attendee codes is a guess, and its values do not look like codes: ${words}; name the right one with --map "COLUMN=${codeProperty}".`
        : `The column of the attendee codes is a guess: ${words}; if it is right, confirm it with ${example}.`;
    case 'named':
      return isDoubtful
        ? `The values in the column of the attendee codes do not look like codes: ${words}; name another column with --map "COLUMN=${codeProperty}", or confirm this one with ${example}.`
        : null;
    default:
      return null;
  }
}

/** Part of the message of `checkMapping` by which the command line recognizes it, to add its own options. */
export const noCodeColumn = 'pigeonpost did not recognise a column with the attendee code';

/**
 * Checks that rows can be sent with this mapping, or could be once the column of the codes is chosen.
 * @param codes whether rows must have a code, or missing ones are generated
 * @throws {RegistrantFileError} kind `header` if the first row is a registrant, `mapping` if no column has the code.
 *   The message does not quote the first row: if the file has no header, that row is personal data.
 */
export function checkMapping(mapping: ColumnMapping, codes: 'required' | 'generated'): void {
  if (mapping.code.basis !== 'none') return;
  const sent = mapping.columns.filter(({ property }) => property !== null);
  if (looksLikeRegistrant(mapping.columns)) {
    throw new RegistrantFileError(
      'header',
      'The first row looks like a registrant and not like names of columns; add a header such as "attendeeCode, Name".',
    );
  }
  if (codes === 'required') {
    throw mappingError(`${noCodeColumn}; rename that column to "${codeProperty}", or map it to that field.`);
  }
  if (sent.length === 0) throw mappingError('No column is sent; map at least one.');
}

/**
 * Returns the columns with fields that no attendee of this pigeonhole has. The service silently ignores unknown names,
 * so a person has to confirm each.
 */
export function unknownFields(mapping: ColumnMapping, knownFields: readonly string[]): readonly MappedColumn[] {
  const known = new Set([codeProperty, ...knownFields]);
  return mapping.columns.filter(({ property }) => property !== null && !known.has(property));
}

/** Whether no cell of the header is a known field name, and one is clearly data: an address, a number or a date. */
function looksLikeRegistrant(columns: readonly MappedColumn[]): boolean {
  const isWord = ({ column, property, guessed }: MappedColumn) =>
    guessed || property === nameField || fieldWords.some(({ words }) => words.has(foldWord(column)));
  return !columns.some(isWord) && columns.some(({ column }) => isData(column));
}

function isData(cell: string): boolean {
  return /^\S+@\S+\.\S+$/.test(cell) || /^[+\d][\d\s()./:-]*$/.test(cell) || /^(?=.*\d.*\d)[A-Z0-9-]+$/.test(cell);
}

/**
 * Parses mappings of the command line: `Attendee code=attendeeCode` sends a column as a field, `Notes=` omits it. The
 * last `=` separates, because headers contain it more often than field names.
 * @throws {RegistrantFileError} kind `mapping` for a text without `=` or a column named twice
 */
export function parseMapping(flags: readonly string[]): MappingWishes {
  const wishes = new Map<string, string | null>();
  for (const flag of flags) {
    const at = flag.lastIndexOf('=');
    const column = flag.slice(0, Math.max(at, 0)).trim();
    if (column === '') {
      throw mappingError(`The mapping ${JSON.stringify(flag)} is not of the form "column=field".`);
    }
    if (wishes.has(column)) {
      throw mappingError(`The mapping names the column ${JSON.stringify(column)} twice; leave one out.`);
    }
    const property = flag.slice(at + 1).trim();
    wishes.set(column, property === '' ? null : property);
  }
  return Object.fromEntries(wishes);
}

/**
 * Columns of a report that describe the import and not the registrant. They are not sent when a report is imported
 * again. Do not rename them: the columns of older reports would then be sent.
 */
export const reportColumns = [
  'Import row',
  'Import outcome',
  'Import field',
  'Import message',
  'Import request id',
] as const;

/** Whether a column describes an import and not the registrant. */
export function isReportColumn(column: string): boolean {
  return (reportColumns as readonly string[]).includes(column);
}
