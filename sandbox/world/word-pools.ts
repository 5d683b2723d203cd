/**
 * Names of people, companies and questions. All are invented and chosen to break careless programs: diacritics, several
 * scripts, apostrophes, markup, mentions of chat systems, text that runs right to left.
 */
export const FIRST_NAMES = [
  'Ada', 'Amélie', 'Ananya', 'Arjun', 'Aylin', 'Beatriz', 'Björn', 'Chidi', 'Chloé', 'Daniel', 'Dmitri', 'Elif',
  'Emeka', 'Farah', 'Freya', 'Gabriel', 'Hana', 'Haruki', 'Ines', 'Ivan', 'Jasmine', 'Jürgen', 'Kenji', 'Kwame',
  'Lars', 'Leila', 'Liam', 'Lucía', 'Maja', 'Marco', 'Mei', 'Mohammed', 'Nadia', 'Ngozi', 'Noah', 'Olga', 'Omar',
  'Priya', 'Quentin', 'Rafael', 'Rosa', 'Sanjay', 'Sinéad', 'Søren', 'Tariq', 'Thandiwe', 'Uma', 'Viktor', 'Wei',
  'Ximena', 'Yusuf', 'Zoë', '明', '美咲', 'Ольга', 'ليلى',
] as const; // prettier-ignore

export const LAST_NAMES = [
  'Abadi', 'Adeyemi', 'Almeida', 'Andersson', "O'Brien", 'Banerjee', 'Bauer', 'Castillo', 'Chen', 'Dubois', 'Eriksen',
  'Farouk', 'Fernández', 'García', 'Goh', 'Haddad', 'Hoffmann', 'Ibrahim', 'Ivanova', 'Jensen', 'Kaplan', 'Kim',
  'Kowalski', 'Kumar', 'Lim', 'Lindqvist', 'Martins', 'Mbeki', 'Müller', 'Nakamura', 'Nguyễn', 'Novák', 'Okafor',
  'Olsen', 'Park', 'Petrov', 'Quispe', 'Rossi', 'Sato', 'Schäfer', 'Silva', 'Singh', 'Smith', 'Suzuki', 'Tan',
  'Torres', 'Ueda', 'van der Berg', 'Vargas', 'Wang', 'Weiß', 'Yıldız', 'Zhang', 'de la Cruz', '田中', 'Núñez',
] as const; // prettier-ignore

export const COMPANIES = [
  'Northwind Traders', 'Blue Harbour Logistics', 'Acme & Sons', 'Lumen Analytics', 'Grüne Energie GmbH', 'Kestrel Health',
  'Banyan Foods Pte. Ltd.', 'Orchard "Fresh" Media', 'Fjord Shipping AS', 'Solstice Robotics', 'Tidewater Bank',
  'Peregrine Insurance', 'Saffron Textiles', 'Quarry Street Partners', 'Étoile Conseil', 'Cedar & Stone Architects',
] as const; // prettier-ignore

export const JOB_TITLES = [
  'Product Manager', 'Head of Events', 'Nurse Educator', 'Senior Software Engineer', 'Chief Financial Officer',
  'Learning & Development Lead', 'Regional Sales Director', 'Tax Associate', 'Data Analyst', 'Communications Officer',
  'Professor', 'Operations Coordinator',
] as const; // prettier-ignore

export const COUNTRIES = [
  'Singapore', 'Germany', 'Japan', 'Brazil', 'Kenya', 'United States', "Côte d'Ivoire", 'India', 'Norway', 'Türkiye',
] as const; // prettier-ignore

export const SUBJECTS = [
  'the roadmap', 'hybrid events', 'data privacy', 'the new pricing', 'carbon reporting', 'the merger', 'remote teams',
  'accessibility', 'the keynote demo', 'staff training', 'patient safety', 'machine translation', 'next year’s budget',
  'supply chains', 'the pilot results', 'open source',
] as const; // prettier-ignore

/** `{}` is replaced by a subject. */
export const QUESTION_FORMS = [
  'What does this mean for {}?',
  'How do you measure success when it comes to {}?',
  'Could you say more about {}?',
  'Is there a timeline for {}?',
  'Why was {} not part of the plan last year?',
  'Who owns {} in your organisation?',
  'What would you do differently about {} today?',
  'Can the slides on {} be shared?',
  'How does {} compare with what others do?',
  'What is the biggest risk with {}?',
] as const;

/**
 * Questions that are difficult to forward: mentions, links, markup, formulas, line breaks, scripts, and characters that
 * JSON can contain but many stores cannot: NUL, half a surrogate pair, control characters, and marks that change the
 * direction of a text.
 */
export const AWKWARD_QUESTIONS = [
  '<!channel> is {} really done?',
  'Does <https://example.com|this link> explain {} & more?',
  '=HYPERLINK("https://example.com","{}")',
  'First line about {}\nsecond line, with a\ttab',
  '*Bold* claims about {}, `code` and ~strike~ @here?',
  '<script>alert("{}")</script>',
  'מה לגבי {}?',
  '{} 👩🏽‍🚀🎉 — what now?',
  'Ligature and accent: ﬁancée, e\u0301, {}',
  '"quoted" \\ back\\slash {}',
  'NUL \0 in the middle of {}',
  'Half of a pair \ud83d before {}',
  'Bell \u0007, escape \u001b[31m, C1 \u009b31m in {}',
  '\u202eturned round\u202c {} \u2066isolated\u2069',
] as const;

export const CLOUD_WORDS = [
  'innovation', 'trust', 'coffee', 'people', 'clarity', 'speed', 'community', 'focus', 'learning', 'Zusammenarbeit',
  'curiosity', 'care', '信頼', 'energy', 'change', 'fun ☀️',
] as const; // prettier-ignore

export const SESSION_TOPICS = [
  'Opening keynote', 'Ask the board', 'Where next?', 'Customer panel', 'Lessons from the field', 'Town hall',
  'Clinical update', 'Design clinic', 'Fireside chat', 'Closing session',
] as const; // prettier-ignore
