/** The profile field that holds the code by which a registrant signs in. */
export const codeProperty = 'attendeeCode';

/** The profile field in the service's own example (specification, "Registrant"). */
export const nameField = 'Name';

/** A kind of field with its usual names, folded by `foldWord`. */
interface FieldWords {
  /**
   * The field for columns of this kind; undefined: a known field of the same kind, otherwise the column's own header.
   */
  readonly property: string | undefined;
  readonly words: ReadonlySet<string>;
}

/** Headers that name the attendee code and nothing else, in the most common languages. */
export const codeNames = words(`
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
export const codeHints = new Set([
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
export function isOfKind(name: string, word: NameKind | 'email' | 'phone'): boolean {
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

/** Whether a cell is a usual name of a column, in whatever language. */
export function namesAField(cell: string): boolean {
  const word = foldWord(cell);
  return fieldWords.some(({ words: known }) => known.has(word));
}

/** Folds a name: removes case, accents, spaces, hyphens and other signs. */
export function foldWord(name: string): string {
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

export function words(text: string): ReadonlySet<string> {
  return new Set(listOf(text).map(foldWord));
}

function listOf(text: string): string[] {
  return text.trim().split(/\s+/);
}
