/**
 * Names that people would take for one another. After the mechanisms of Unicode's UTS #39, with the characters that are
 * distinguished worst in a name of a dozen letters.
 */

/** Scripts that are in everyday use, by their ISO codes; a name keeps to one of them. */
const scripts = (
  'Arab Armn Beng Bopo Cyrl Deva Ethi Geor Grek Gujr Guru Hang Hani Hebr Hira Kana Knda Khmr Laoo Latn Mlym Mymr Orya ' +
  'Sinh Taml Telu Thaa Thai Tibt'
).split(' ')

/** What is written together in one language. */
const together = [
  ['Latn', 'Hani', 'Hira', 'Kana'],
  ['Latn', 'Hani', 'Bopo'],
  ['Latn', 'Hani', 'Hang'],
]

const writtenIn = (codes: readonly string[]): RegExp =>
  new RegExp(String.raw`^[\p{sc=Zyyy}\p{sc=Zinh}${codes.map((code) => String.raw`\p{scx=${code}}`).join('')}]*$`, 'u')

const consistent = [...together, ...scripts.map((code) => [code])].map(writtenIn)

/** Characters that show nothing, turn the direction of writing, or mean something to one font only. */
const unseen = /[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\u2800]/u

/**
 * Letters of phonetic notation and of old manuscripts: small capitals and joined letters that are taken for everyday ones
 * (`rᴏᴏt`, `rꝏt`) and stand in no name.
 */
const ofScholars = /[\u1d00-\u1dbf\ua720-\ua787\ua78d-\ua7a9\ua7ad-\ua7ff\uab30-\uab6f]/

/** No language puts three on one letter. */
const pileOfMarks = /\p{M}{3}/u

/** Whether a name hides something or mixes scripts, and so could pass for another. */
export const isConfusingName = (name: string): boolean =>
  unseen.test(name) ||
  ofScholars.test(name) ||
  pileOfMarks.test(name.normalize('NFD')) ||
  !consistent.some((pattern) => pattern.test(name.normalize('NFKC')))

/** Small letters, and what looks like them in some fonts and in either case; letters with marks have lost them by then. */
const lookAlikes: Record<string, string> = {
  a: 'аαɑ',
  b: 'вβь',
  c: 'сϲ',
  d: 'ԁđ',
  e: 'еεєɛ',
  g: 'ɡցɢ',
  h: 'һнհħ',
  j: 'јյȷ',
  k: 'кκĸ',
  l: 'i1|ıіιɩӏʟł',
  m: 'мμ',
  n: 'пηոɴ',
  o: '0оοօø〇○◯',
  p: 'рρ',
  q: 'ԛզ',
  r: 'гʀɼɾ®',
  s: 'ѕꜱ',
  t: 'тτŧ',
  u: 'υսʋ',
  v: 'νѵ',
  w: 'ԝωա',
  x: 'хχ',
  y: 'уγүʏƴ',
  z: 'ζʐ',
  3: 'з',
  σ: 'ς',
  '-': '‐‑‒–—−ー一',
  "'": '’‘ʼ`´',
  口: 'ロ',
  力: 'カ',
  二: 'ニ',
  工: 'エ',
  卜: 'ト',
  八: 'ハ',
  夕: 'タ',
  へ: 'ヘ',
}

const stoodFor = new Map(
  Object.entries(lookAlikes).flatMap(([letter, alike]) => Array.from(alike, (other) => [other, letter] as const)),
)

/** One form for all names that look alike, whatever their letter case; only ever compared, never shown. */
export function nameLikeness(name: string): string {
  const bare = name
    .normalize('NFKC')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .toLowerCase()
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .normalize('NFC')
  const letters = Array.from(bare, (letter) => stoodFor.get(letter) ?? letter).join('')
  return letters.replace(/\s+/g, ' ').trim()
}
