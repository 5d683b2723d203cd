/** The profile field that holds the code by which a registrant signs in. */
export const codeProperty = 'attendeeCode';

/** The profile field in the service's own example (specification, "Registrant"). */
export const nameField = 'Name';

/** A kind of field with its usual names, folded by `foldWord`. */
interface FieldWords {
  /** The field for such a column if no known field is of this kind; undefined: its own header. */
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

function words(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/).map(foldWord));
}
