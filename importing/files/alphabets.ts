/**
 * The letters beyond ASCII in names of people, companies and places, the most frequent first: one entry a language.
 * Their order is all that `guessEncoding` needs, so it is an estimate.
 */
export const alphabets: readonly string[] = [
  'éèçëêïîôâàüûœÿùæ', // French
  'üöäßé', // German
  'íáéóñúüç', // Spanish
  'ãáéçíóêõâúôà', // Portuguese
  'èòàìùé', // Italian
  'àéíèòçóúïü', // Catalan
  'ëéïöèü', // Dutch, Albanian
  'øåæéöü', // Danish, Norwegian
  'öäåéü', // Swedish, Finnish
  'óáíðéþúöýæ', // Icelandic
  'łśóńżąęćź', // Polish
  'áíéšřčžýěůúňťďó', // Czech
  'áíčýšéžúľóňäťôďĺŕ', // Slovak
  'áéóöüíőúű', // Hungarian
  'ăşţîâșțé', // Romanian
  'ćčšžđ', // Croatian, Slovene, Serbian, Bosnian
  'ıöüşçğâ\u0307', // Turkish; U+0307 is a part of the small form of İ
  'āīšēņļžūčģķ', // Latvian
  'ėšžūčįųąę', // Lithuanian
  'õäüöšž', // Estonian
  'аоеинвртслкмдйпьгяубызчхжшюцщэфёъ', // Russian, Bulgarian
  'оаинвікерлтсмдухяьпгшбзчйющєжцїфґ', // Ukrainian
  'аиоенјрвткдслмпућшгчзбжцђљњхџф', // Serbian
  'αοιςσηρνετπκλμυδγχάίόωήύέώθφβξζψϊϋΐΰ', // Greek
  'ילהרמואבשנתדקכגחפסטעזםןצףךץ', // Hebrew
  'اميلدرحنبسعوةتهقكفشزصجخطضغثذءأإىئآظؤ', // Arabic
  'اریمندهسبوشتحزگکعلفخجقپصطغچضثظذژآءئ', // Persian
  'านรกอเมงยลวทสดตปคบพชหขณจผศธซแไใโ่้ัิีืุูะำ์ถภญฉฟฝฬฮฐฎฏฑฒฆฌ็ึๆ๊๋', // Thai
];
