/** Where everybody reads. Elsewhere these words are mended when somebody comes by. */
const foundations = /^(relay|db|scripts)\//

/** Words that nobody would search for, and what to call the thing instead. Parts of names count: `toldFormat`, `readWish`. */
const denied = {
  passage: { use: 'passthrough, translated stream, stream writer' },
  thought: { use: 'reasoning' },
  thoughts: { use: 'reasoning' },
  picture: { use: 'image' },
  pictures: { use: 'images' },
  sound: { use: 'audio' },
  sounds: { use: 'audio' },
  shelf: { use: 'output items' },
  planting: { use: 'seed context' },
  chance: { use: 'probability, random' },
  chances: { use: 'probabilities' },
  door: { use: 'route' },
  doors: { use: 'routes' },
  wish: { use: 'input, requested' },
  wishes: { use: 'input, requested' },
  hear: { use: 'receive', in: foundations },
  hears: { use: 'receives', in: foundations },
  heard: { use: 'received, supported, audio input' },
  unheard: { use: 'unsupported' },
  speaks: { use: 'outputs audio, supports', in: foundations },
  said: { use: 'text, message, output', in: foundations },
  tell: { use: 'notify, report, log', in: foundations },
  tells: { use: 'reports', in: foundations },
  telling: { use: 'informative, sampled, passed', in: foundations },
  told: { use: 'reported, sent, rendered' },
  whole: { use: 'complete, unstreamed, full, integer', in: foundations },
  kept: { use: 'stored, cached, remaining', in: foundations },
  unkept: { use: 'dropped', in: foundations },
  owed: { use: 'charged, due', in: foundations },
  voids: { use: 'released without a charge', not: /^src\/features\/ledger\// },
  books: { use: 'ledger, session billing' },
  tail: { use: 'trailing buffer, ending', in: foundations },
  quiet: { use: 'silent, paused', in: foundations },
  pulse: { use: 'heartbeat', not: /^client\/theme\// },
  halt: { use: 'upstream abort' },
  halted: { use: 'aborted' },
  forwarding: { use: 'attempt context' },
  patience: { use: 'timeout' },
  farewell: { use: 'close timeout' },
  story: { use: 'scenario' },
  stories: { use: 'scenarios' },
  gone: { use: 'caller aborted, removed', in: /^relay\// },
  resting: { use: 'cooldown', in: /^relay\// },
  rested: { use: 'cooldown', in: /^relay\// },
  health: { use: 'circuit breaker', in: /^relay\// },
}

/** Fields as Google and Dify name them on the wire. */
const wireNames = new Set([
  'thought',
  'thoughtSignature',
  'thought_signature',
  'thoughtsTokenCount',
  'thoughtsTokenLimit',
  'includeThoughts',
  'include_thoughts',
  'agent_thought',
])

const partsOf = (name) =>
  name.split(/(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[_-]/).map((part) => part.toLowerCase())

const compiled = new Map()
const deniedPartsOf = (name) => {
  const known = compiled.get(name)
  if (known) return known
  const found = wireNames.has(name) ? [] : partsOf(name).filter((part) => Object.hasOwn(denied, part))
  compiled.set(name, found)
  return found
}

/** A name is what whoever joins tomorrow searches for. */
export const deniedIdentifiers = (pathOf) => ({
  create: (context) => {
    const file = pathOf(context.filename)
    if (file.startsWith('scripts/lint/')) return {}
    const seen = new Set()
    const check = (node, name) => {
      if (seen.has(name)) return
      seen.add(name)
      const part = deniedPartsOf(name).find(
        (one) => (denied[one].in?.test(file) ?? true) && !denied[one].not?.test(file),
      )
      if (part === undefined) return
      const message = `${name}: not "${part}" but ${denied[part].use} (boundaries/denied-identifiers)`
      context.report({ node, message })
    }
    return {
      Program: (node) => check(node, file.slice(file.lastIndexOf('/') + 1).split('.', 1)[0]),
      Identifier: (node) => check(node, node.name),
      JSXIdentifier: (node) => check(node, node.name),
    }
  },
})
