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

/** Usual names of columns, in the most common languages. No name may belong to two kinds. */
export const fieldWords: readonly FieldWords[] = [
  {
    property: codeProperty,
    words: words(`
      attendeecode code attendeeid attendeenumber ticket ticketcode ticketnumber ticketno ticketid ticketref
      registrationcode registrationid registrationnumber regcode regid regno registrantcode registrantid
      participantcode participantid participantnumber delegatecode delegateid delegatenumber guestcode
      badge badgecode badgeid badgenumber barcode qrcode accesscode signincode logincode confirmationcode confirmationnumber
      teilnehmercode teilnehmernummer teilnehmerid teilnehmernr ticketnummer ticketnr anmeldecode anmeldenummer zugangscode
      codeparticipant codeinvite codebillet numerobillet numeroparticipant codedacces codeinscription
      codigo codigoasistente codigodeasistente codigoparticipante codigodeparticipante codigodeentrada numerodeentrada codigodeacceso
      codiceparticipante codicepartecipante codice codicebiglietto numerobiglietto codicediaccesso
      codigodoparticipante codigodeinscricao numerodeinscricao
      deelnemerscode deelnemersnummer toegangscode deltagarkod deltagarnummer biljettnummer deltagerkode deltakerkode osallistujakoodi
      koduczestnika kodbiletu koducastnika katilimcikodu kod
      参加者コード 参加コード チケット番号 整理番号 参会码 签到码 票号 编号 參加者代碼 참가자코드 참가코드 티켓번호 код кодучастника رمز
    `),
  },
  {
    property: nameField,
    words: words(`
      name fullname attendeename participantname registrantname delegatename guestname displayname
      vollername vollstandigername vorundnachname vornamenachname namevorname teilnehmername
      nomcomplet nomprenom prenomnom nometprenom prenometnom nombrecompleto nombreyapellidos nombreyapellido
      nome nomecompleto nomecognome nomeecognome nomesobrenome naam volledigenaam voornaamenachternaam namn fulltnamn fulltnavn navn nimi
      imieinazwisko jmenoaprijmeni adsoyad adisoyadi 氏名 お名前 名前 姓名 名字 이름 성명 имя фио полноеимя
    `),
  },
  {
    property: undefined,
    words: words(`
      email emailaddress mail mailaddress emailadresse mailadresse epost epostadress epostadresse correo correoelectronico
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
      `firstname givenname forename vorname prenom voornaam fornamn fornavn etunimi imie nombredepila 이름만 имяличное`,
    ),
  },
  {
    property: undefined,
    words: words(
      `lastname surname familyname nachname familienname nomdefamille apellido apellidos cognome sobrenome achternaam efternamn etternavn sukunimi nazwisko prijmeni фамилия`,
    ),
  },
];

/** Whether a field holds a person's name or a part of it. */
export function isNameField(property: string): boolean {
  const word = foldWord(property);
  return fieldWords.some(
    ({ words: known }) => known.has(word) && ['name', 'firstname', 'lastname'].some((name) => known.has(name)),
  );
}

/** Whether a column of this name, or a field of this property, holds e-mail addresses. */
export function isEmailField(name: string): boolean {
  const word = foldWord(name);
  return fieldWords.some(({ words: known }) => known.has('email') && known.has(word));
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
  return new Set(text.trim().split(/\s+/).map(foldWord));
}

interface MappedColumn {
  /** The name in the file's header. */
  readonly column: string;
  /** The profile field of the column; null: not sent. */
  readonly property: string | null;
  /** Whether the field was guessed: neither named by the person nor equal to the header. */
  readonly guessed: boolean;
}

/** The mapping of a file's columns, in the file's order. No two columns have the same field. */
export interface ColumnMapping {
  readonly columns: readonly MappedColumn[];
}

/** Requested fields by column; null: do not send the column. Saved mappings have the same form. */
export type MappingWishes = Readonly<Record<string, string | null>>;

/**
 * Maps columns to fields: first as requested; then headers that are field names; then headers that obviously mean one
 * (`E-MAIL` for `Email`, `Full name`, `Ticket no.`), marked as guessed. Any other column is sent under its own header,
 * because no API lists the fields of a pigeonhole; `unknownFields` returns those to confirm. Columns without a name,
 * columns of a report and a second column for the same field are not sent.
 * @param knownFields fields seen on attendees of the pigeonhole or in earlier imports
 * @throws {RegistrantFileError} kind `mapping` if a request names a missing column, or two name one field
 */
export function guessMapping(
  columns: readonly string[],
  knownFields: readonly string[],
  wishes: MappingWishes = {},
): ColumnMapping {
  const wished = wishesByColumn(columns, wishes);
  const fields = [...new Set([codeProperty, nameField, ...knownFields])];
  const taken = new Set([...wished.values()].filter((property) => property !== null));
  const mapped = new Map<string, MappedColumn>();
  for (const [column, property] of wished) mapped.set(column, { column, property, guessed: false });
  for (const guess of [exactField, likelyField, ownName]) {
    for (const column of columns) {
      if (mapped.has(column)) continue;
      const property = isUnnamed(column) || isReportColumn(column) ? null : guess(column, fields);
      if (property === undefined || (property !== null && taken.has(property))) continue;
      if (property !== null) taken.add(property);
      mapped.set(column, { column, property, guessed: property !== null && property !== column });
    }
  }
  return { columns: columns.map((column) => mapped.get(column) ?? { column, property: null, guessed: true }) };
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
  if (kind === undefined) return undefined;
  return kind.property ?? fields.find((field) => kind.words.has(foldWord(field)));
}

function ownName(column: string): string {
  return column;
}

function wishesByColumn(columns: readonly string[], wishes: MappingWishes): Map<string, string | null> {
  const byColumn = new Map<string, string | null>();
  const properties = new Set<string>();
  for (const [name, property] of Object.entries(wishes)) {
    const column = columns.find((each) => each === name) ?? columns.find((each) => foldWord(each) === foldWord(name));
    if (column === undefined) {
      throw mappingError(
        `The mapping names a column ${JSON.stringify(name)}, which the file does not have; correct the name.`,
      );
    }
    if (byColumn.has(column)) {
      throw mappingError(`The mapping names the column ${JSON.stringify(column)} twice; leave one out.`);
    }
    if (property !== null && properties.has(property)) {
      throw mappingError(`The mapping sends two columns as ${JSON.stringify(property)}; leave one of them out.`);
    }
    if (property !== null) properties.add(property);
    byColumn.set(column, property);
  }
  return byColumn;
}

function mappingError(message: string): RegistrantFileError {
  return new RegistrantFileError('mapping', message);
}

/** Part of the message of `checkMapping` by which the command line recognizes it, to add its own options. */
export const noCodeColumn = 'pigeonpost did not recognise a column with the attendee code';

/**
 * Checks that rows can be sent with this mapping.
 * @param codes whether rows must have a code, or missing ones are generated
 * @throws {RegistrantFileError} kind `header` if the first row is a registrant, `mapping` if no column has the code.
 *   The message does not quote the first row: if the file has no header, that row is personal data.
 */
export function checkMapping(mapping: ColumnMapping, codes: 'required' | 'generated'): void {
  const sent = mapping.columns.filter(({ property }) => property !== null);
  if (sent.some(({ property }) => property === codeProperty)) return;
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
 * Returns fields that were never seen on this pigeonhole or in earlier imports. The service silently ignores unknown
 * names, so a person has to confirm each.
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

function isReportColumn(column: string): boolean {
  return (reportColumns as readonly string[]).includes(column);
}
