/** What a pattern is made of, as far as texts for it have to be invented. */
type Part =
  | { kind: 'one'; of: string[] }
  | { kind: 'row'; of: Part[] }
  | { kind: 'either'; of: Part[] }
  | { kind: 'repeat'; least: number; endless: boolean; of: Part }
  /** Takes no characters; what it looks for may be invented all the same. */
  | { kind: 'look'; of: Part }

const common = [...' \n\taAzZ_019-./:@=+*<>[](){}!?,;|\'"\\%&#~中é']

/** Reads a regular expression; atoms are understood by asking the engine which characters they take. */
function read(source: string, flags: string): Part {
  const alphabet = [...new Set([...common, ...source])]
  const engineFlags = flags.replaceAll(/[gy]/g, '')
  const known = new Map<string, Part>()
  let at = 0

  function atom(text: string): Part {
    const found = known.get(text)
    if (found) return found
    const pattern = new RegExp(`^(?:${text})$`, engineFlags)
    const part: Part = { kind: 'one', of: alphabet.filter((character) => pattern.test(character)) }
    known.set(text, part)
    return part
  }

  function either(): Part {
    const options: Part[] = [row()]
    while (source[at] === '|') {
      at += 1
      options.push(row())
    }
    return options.length === 1 ? (options[0] as Part) : { kind: 'either', of: options }
  }

  function row(): Part {
    const parts: Part[] = []
    while (at < source.length && source[at] !== '|' && source[at] !== ')') {
      const part = single()
      if (part) parts.push(repeated(part))
    }
    return { kind: 'row', of: parts }
  }

  function single(): Part | undefined {
    const start = at
    const character = source[at]
    at += 1
    if (character === '^' || character === '$') return undefined
    if (character === '(') return group()
    if (character === '[') {
      let depth = 1
      while (depth > 0 && at < source.length) {
        if (source[at] === '\\') at += 1
        else if (source[at] === '[' && flags.includes('v')) depth += 1
        else if (source[at] === ']') depth -= 1
        at += 1
      }
      return atom(source.slice(start, at))
    }
    if (character === '\\') {
      const rest = /^(?:[bBdDsSwWnrtvf0]|[pP]\{[^}]{1,60}\}|u\{[^}]{1,8}\}|u.{4}|x..|c.|k<[^>]{1,60}>|[1-9]|.)/su.exec(
        source.slice(at),
      )
      at += rest?.[0].length ?? 0
      const text = source.slice(start, at)
      return /^\\(?:[bB1-9]|k<)/.test(text) ? undefined : atom(text)
    }
    return atom(character === '/' ? '\\/' : (character as string))
  }

  function group(): Part {
    const opening = /^\?(?:<?[=!]|:|<[^>]{1,60}>)/.exec(source.slice(at))?.[0] ?? ''
    at += opening.length
    const of = either()
    at += 1
    return /[=!]$/.test(opening) ? { kind: 'look', of } : of
  }

  function repeated(of: Part): Part {
    const [text = '', count, least = '', comma, most = ''] =
      /^(?:[*+?]|(\{(\d{1,5})(,?)(\d{0,5})\}))\??/.exec(source.slice(at)) ?? []
    at += text.length
    if (text === '') return of
    if (count === undefined) return { kind: 'repeat', least: text[0] === '+' ? 1 : 0, endless: text[0] !== '?', of }
    // A high limit is as good as none: nested ones multiply.
    return { kind: 'repeat', least: Number(least), endless: comma === ',' && (most === '' || Number(most) > 20), of }
  }

  return either()
}

/** One text that a part takes; `turn` picks among several. */
function sample(part: Part, turn = 0): string {
  switch (part.kind) {
    case 'one':
      return part.of[turn % Math.max(1, part.of.length)] ?? ''
    case 'row':
      return part.of.map((inner) => sample(inner, turn)).join('')
    case 'either':
      return sample(part.of[turn % part.of.length] as Part, turn)
    case 'repeat':
      return sample(part.of, turn).repeat(Math.min(part.least, 20))
    case 'look':
      return ''
  }
}

type Found = { before: string; of: Part }

/** Every repetition without end, with a text that leads to it; and every text that is only looked for. */
function explore(part: Part, before: string, found: { endless: Found[]; looks: string[] }): void {
  switch (part.kind) {
    case 'one':
      return
    case 'row': {
      let led = before
      for (const inner of part.of) {
        explore(inner, led, found)
        led += sample(inner)
      }
      return
    }
    case 'either':
      for (const inner of part.of) explore(inner, before, found)
      return
    case 'repeat':
      if (part.endless) found.endless.push({ before, of: part.of })
      explore(part.of, before, found)
      return
    case 'look':
      found.looks.push(sample(part.of))
      explore(part.of, before, found)
  }
}

export type Attack = { start: string; pump: string; end: string }

/** Texts that a slow engine would choke on: a beginning, what is repeated, and an end that fits or does not. */
export function attacksOn(source: string, flags: string): Attack[] {
  const root = read(source, flags)
  const found = { endless: [] as Found[], looks: [] as string[] }
  explore(root, '', found)
  if (found.endless.length === 0) return []
  const ends = [...new Set(['', '\n', '!', sample(root), ...found.looks])]
  const pumps = new Map<string, Set<string>>()
  const add = (start: string, pump: string): void => {
    if (pump !== '') pumps.set(pump, (pumps.get(pump) ?? new Set<string>()).add(start))
  }
  for (const { before, of } of found.endless) {
    const turns = [...new Set([0, 1, 2, 3, 5, 8].map((turn) => sample(of, turn)))]
    for (const pump of turns) {
      for (const start of ['', before]) add(start, pump)
      add('', before + pump)
    }
    add('', before)
    add('', sample(root))
  }
  // Where two repetitions meet, what both take is divided between them in every way.
  const [first] = found.endless
  for (const { of } of found.endless.slice(1)) if (first) add(first.before, sample(first.of) + sample(of))
  return [...pumps].flatMap(([pump, starts]) =>
    [...starts].flatMap((start) => ends.map((end) => ({ start, pump, end }))),
  )
}
