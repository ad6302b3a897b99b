/** Just past the string whose opening quote stands at `from`. */
export function pastString(text: string, from: number): number {
  let at = text.indexOf('"', from + 1)
  while (at > 0) {
    let slashes = 0
    while (text[at - 1 - slashes] === '\\') slashes += 1
    if (slashes % 2 === 0) return at + 1
    at = text.indexOf('"', at + 1)
  }
  return text.length
}

const isSpace = (character: string | undefined): boolean =>
  character === ' ' || character === '\n' || character === '\r' || character === '\t'

function pastSpace(text: string, from: number): number {
  let at = from
  while (isSpace(text[at])) at += 1
  return at
}

/** Just past the value that begins at `from`. */
function pastValue(text: string, from: number): number {
  let depth = 0
  let at = from
  while (at < text.length) {
    const character = text[at]
    if (character === '"') {
      at = pastString(text, at)
      if (depth === 0) return at
      continue
    }
    if (character === '{' || character === '[') depth += 1
    else if (character === '}' || character === ']') {
      if (depth === 0) return at
      depth -= 1
      if (depth === 0) return at + 1
    } else if (depth === 0 && (character === ',' || isSpace(character))) return at
    at += 1
  }
  return at
}

/** Where the value of a field stands in the object that begins at `from`. */
function valueOf(text: string, from: number, name: string): number | undefined {
  let at = pastSpace(text, from)
  if (text[at] !== '{') return undefined
  at = pastSpace(text, at + 1)
  while (text[at] === '"') {
    const end = pastString(text, at)
    const isWanted = end - at - 2 === name.length && text.startsWith(name, at + 1)
    const colon = pastSpace(text, end)
    if (text[colon] !== ':') return undefined
    const value = pastSpace(text, colon + 1)
    if (isWanted) return value
    at = pastSpace(text, pastValue(text, value))
    if (text[at] !== ',') return undefined
    at = pastSpace(text, at + 1)
  }
  return undefined
}

type Place = { at: number; end: number }

/** Where the value stands that a path leads to; undefined where there is none. */
function placeOf(json: string, path: readonly string[]): Place | undefined {
  let at: number | undefined = 0
  for (const name of path) {
    at = valueOf(json, at, name)
    if (at === undefined) return undefined
  }
  return { at, end: pastValue(json, at) }
}

/** The same of a text alone, quotes included. */
function textPlaceOf(json: string, path: readonly string[]): Place | undefined {
  const place = placeOf(json, path)
  return place && json[place.at] === '"' ? place : undefined
}

/** JSON text with another value at a place where it has one, of whatever kind; every other byte stays as it was. */
export function withValueAt(json: string, path: readonly string[], value: unknown): string {
  const place = placeOf(json, path)
  return place ? json.slice(0, place.at) + JSON.stringify(value) + json.slice(place.end) : json
}

/** JSON text with another text at a place where it has one; every other byte stays as it was. */
export const withTextAt = (json: string, path: readonly string[], text: string): string =>
  createTextSetter(text)(json, path)

/**
 * The same for texts that come one after another: most events of a stream begin alike up to the place, and are then not looked
 * through again.
 */
export function createTextSetter(text: string): (json: string, path: readonly string[]) => string {
  const wanted = JSON.stringify(text)
  let knownPath: readonly string[] = []
  let begins = ''
  let becomes = ''
  const isKnown = (json: string, path: readonly string[]): boolean =>
    begins !== '' &&
    path.length === knownPath.length &&
    path.every((name, index) => name === knownPath[index]) &&
    json.startsWith(begins)
  return (json, path) => {
    if (!isKnown(json, path)) {
      const place = textPlaceOf(json, path)
      if (!place) return json
      knownPath = path
      begins = json.slice(0, place.end)
      becomes = json.slice(0, place.at) + wanted
    }
    return begins === becomes ? json : becomes + json.slice(begins.length)
  }
}
