import { parseJson } from '../exact-json.ts'
import { addressParts, type ChannelSecrets, secretParts } from './secret-parts.ts'

const mask = '***'

/** A whole key or address below this is an ordinary word, or a test's. */
const shortestSecret = 6
/** What is at least this long hides a secret wherever it stands; shorter ones only as words of their own. */
const shortestInside = 8
/** As many characters in a row that a secret has too are part of it: texts are cut, wrapped and shortened in their middle. */
const run = 10

/**
 * A text of an upstream without what its channel is entrusted with: the key, each secret part of it, both plain and as
 * URLs, JSON and base64 write them, also in pieces. One pass over the text, whatever it contains.
 */
export function maskSecrets(text: string, held: ChannelSecrets): string {
  if (text === '') return text
  const { key, token = '' } = held
  const secrets = [key.trim(), ...addressParts(held)].filter((secret) => secret.length >= shortestSecret)
  const masked = secrets.flatMap(writtenForms).reduce(withoutSecret, text)
  const parts = [...secretParts(held.type, key), token].filter((part) => part.length >= shortestInside)
  return withoutSignedTokens(withoutPieces(masked, parts))
}

/** The same for JSON, which stays JSON. */
export function maskJson(text: string, held: ChannelSecrets): string {
  const masked = maskSecrets(text, held)
  if (masked === text) return text
  try {
    return JSON.stringify(parseJson(text), (_name, value: unknown) => maskValue(value, held))
  } catch {
    return masked
  }
}

function maskValue(value: unknown, held: ChannelSecrets): unknown {
  if (typeof value === 'string') return maskSecrets(value, held)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [maskSecrets(name, held), inner]))
}

/** Longer texts are replaced wherever they stand. */
function withoutSecret(text: string, secret: string): string {
  if (secret.length >= shortestInside) return text.replaceAll(secret, mask)
  return text.replaceAll(secret, (found, at: number) =>
    isWordCharacter(text[at - 1]) || isWordCharacter(text[at + found.length]) ? found : mask,
  )
}

const isWordCharacter = (character: string | undefined): boolean =>
  character !== undefined && /[\p{L}\p{N}_]/u.test(character)

/** How URLs, JSON (once, twice, with escaped slashes) and HTML write a text. */
function writtenForms(secret: string): string[] {
  const inUrl = percentEncoded(secret)
  const inJson = JSON.stringify(secret).slice(1, -1)
  return [
    ...new Set([
      secret,
      inUrl,
      inUrl.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
      inUrl.replaceAll('%20', '+'),
      inUrl.replaceAll('%', '%25'),
      inJson,
      inJson.replaceAll('/', '\\/'),
      JSON.stringify(inJson).slice(1, -1),
      secret.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;'),
    ]),
  ]
}

/** A key may have any text in it, also half a character. */
const percentEncoded = (text: string): string => encodeURIComponent(text.toWellFormed())

/**
 * What stays the same of a text's base64 wherever the text begins within a group of three bytes, so that it is found in the
 * middle of what was packed with it, as by Basic authentication.
 */
function packedForms(secret: string): string[] {
  const bytes = new TextEncoder().encode(secret)
  const forms = [0, 1, 2].map((before) => {
    const packed = toBase64(new Uint8Array([...Array<number>(before).fill(0), ...bytes]))
    return packed.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6))
  })
  return [...forms, ...forms.map((form) => form.replaceAll('+', '-').replaceAll('/', '_'))]
}

const toBase64 = (bytes: Uint8Array): string => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))

const isPacked = (code: number): boolean =>
  (code >= 48 && code <= 57) ||
  (code >= 65 && code <= 90) ||
  (code >= 97 && code <= 122) ||
  code === 43 ||
  code === 45 ||
  code === 47 ||
  code === 95

function withoutPieces(text: string, secrets: readonly string[]): string {
  if (secrets.length === 0) return text
  const hidden = new Uint8Array(text.length)
  mark(text, secrets.flatMap(writtenForms), hidden)
  const packed = new Uint8Array(text.length)
  mark(text, secrets.flatMap(packedForms), packed)
  spread(text, packed)
  return withoutMarked(text, (at) => hidden[at] === 1 || packed[at] === 1)
}

const slots = 4096
/** Three characters of a piece, mixed: most of a text is ruled out for every secret without cutting anything out of it. */
const slotOf = (text: string, at: number, length: number): number =>
  (text.charCodeAt(at) * 31 + text.charCodeAt(at + (length >> 1)) * 131 + text.charCodeAt(at + length - 1) * 7) % slots

/** Marks every piece of the text that one of the secrets has too. */
function mark(text: string, secrets: readonly string[], marks: Uint8Array): void {
  const byLength = new Map<number, Set<string>>()
  for (const secret of secrets) {
    const length = Math.min(run, secret.length)
    const pieces = byLength.get(length) ?? new Set()
    byLength.set(length, pieces)
    for (let at = 0; at + length <= secret.length; at += 1) pieces.add(secret.slice(at, at + length))
  }
  for (const [length, pieces] of byLength) {
    const possible = new Uint8Array(slots)
    for (const piece of pieces) possible[slotOf(piece, 0, length)] = 1
    for (let at = 0; at + length <= text.length; at += 1) {
      if (possible[slotOf(text, at, length)] === 1 && pieces.has(text.slice(at, at + length)))
        marks.fill(1, at, at + length)
    }
  }
}

/** What was packed with a secret is hidden with it: the letters at its ends belong to both. */
function spread(text: string, marks: Uint8Array): void {
  for (let at = 1; at < text.length; at += 1)
    if (marks[at - 1] === 1 && (isPacked(text.charCodeAt(at)) || text[at] === '=')) marks[at] = 1
  for (let at = text.length - 2; at >= 0; at -= 1)
    if (marks[at + 1] === 1 && isPacked(text.charCodeAt(at))) marks[at] = 1
}

function withoutMarked(text: string, isMarked: (at: number) => boolean): string {
  let masked = ''
  let copiedTo = 0
  for (let at = 0; at < text.length; at += 1) {
    if (!isMarked(at)) continue
    masked += text.slice(copiedTo, at) + mask
    while (at < text.length && isMarked(at)) at += 1
    copiedTo = at
  }
  return masked + text.slice(copiedTo)
}

const shortestSigned = 40

/** Tokens that were signed with a key, in their common form: three texts in base64, the first of them JSON. */
function withoutSignedTokens(text: string): string {
  let masked = ''
  let copiedTo = 0
  for (let start = text.indexOf('eyJ'); start >= 0;) {
    let end = start
    while (end < text.length && (isPacked(text.charCodeAt(end)) || text[end] === '.')) end += 1
    if (end - start >= shortestSigned && text.slice(start, end).includes('.')) {
      masked += text.slice(copiedTo, start) + mask
      copiedTo = end
    }
    start = text.indexOf('eyJ', end)
  }
  return masked + text.slice(copiedTo)
}
