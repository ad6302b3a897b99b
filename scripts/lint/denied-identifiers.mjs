/** Where everybody reads, the linter says it at once; elsewhere a test does. */
const foundations = /^(relay|db|scripts|src\/(core|trpc|rest|jobs|server))\//

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
  hear: { use: 'receive' },
  hears: { use: 'receives' },
  heard: { use: 'received, supported, audio input' },
  unheard: { use: 'unsupported' },
  speaks: { use: 'outputs audio, supports' },
  said: { use: 'text, message, output' },
  tell: { use: 'notify, report, log' },
  tells: { use: 'reports' },
  telling: { use: 'informative, sampled, passed' },
  told: { use: 'reported, sent, rendered' },
  whole: { use: 'complete, unstreamed, full, integer' },
  kept: { use: 'stored, cached, remaining' },
  unkept: { use: 'dropped' },
  owed: { use: 'charged, due' },
  voids: { use: 'released without a charge', not: /^src\/features\/ledger\// },
  tries: { use: 'attempts' },
  stranger: { use: 'anonymous, other, unregistered' },
  strangers: { use: 'anonymous, others' },
  soundly: { use: 'what is asserted' },
  forgetful: { use: 'disconnecting, lossy' },
  newcomer: { use: 'new user' },
  saying: { use: 'request, text' },
  sayings: { use: 'requests, texts' },
  outlook: { use: 'next' },
  insurance: { use: 'fallback' },
  taker: { use: 'consumer' },
  takers: { use: 'consumers' },
  mend: { use: 'repair, restore' },
  mended: { use: 'repaired, changed' },
  judge: { use: 'validate, check, verify' },
  judged: { use: 'validated, checked' },
  books: { use: 'ledger, session billing' },
  tail: { use: 'trailing buffer, ending' },
  quiet: { use: 'silent, paused' },
  pulse: { use: 'heartbeat', not: /^client\/theme\// },
  halt: { use: 'upstream abort' },
  halted: { use: 'aborted' },
  forwarding: { use: 'attempt context' },
  patience: { use: 'timeout' },
  farewell: { use: 'close timeout' },
  story: { use: 'scenario' },
  stories: { use: 'scenarios' },
  talk: { use: 'session, conversation, messages' },
  talks: { use: 'sessions, conversations' },
  scene: { use: 'fixture' },
  trouble: { use: 'error, outage' },
  troubles: { use: 'errors' },
  gone: { use: 'caller aborted, removed', in: /^relay\// },
  resting: { use: 'cooldown' },
  rested: { use: 'cooldown' },
  health: { use: 'circuit breaker', in: /^relay\// },
  job: { use: 'task', in: /^relay\/(tasks|dialects)\// },
  jobs: { use: 'tasks', in: /^relay\/(tasks|dialects)\// },
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
  'total_thought_tokens',
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

/** Words that comments and the names of tests do without too; others of the list are plain English there. */
const deniedInProse = [
  'picture',
  'pictures',
  'thoughts',
  'wish',
  'wishes',
  'hears',
  'heard',
  'unheard',
  'door',
  'doors',
  'told',
  'tells',
  'judge',
  'judged',
  'trouble',
]
/** Turns of phrase that have a term. */
const deniedPhrases = {
  judges: { use: 'validates, checks' },
  'whole answer': { use: 'complete answer' },
  'whole answers': { use: 'complete answers' },
  'served whole': { use: 'served in full' },
  'booked whole': { use: 'booked in full' },
  stranger: { use: 'anonymous caller, anonymous visitor, others' },
  strangers: { use: 'anonymous callers, others' },
  asker: { use: 'caller' },
  '(?:a|another|one|first|second|next|further|each|failed) try': { use: 'attempt' },
  '(?:wrong|failed|further|more|few|five|ten|thirty) tries': { use: 'attempts' },
  mended: { use: 'repaired, resolved' },
  purse: { use: 'balance, plan' },
  'dear(?:er|est)': { use: 'more expensive, most expensive' },
  'kept answer': { use: 'stored answer' },
}
const deniedText = { ...Object.fromEntries(deniedInProse.map((word) => [word, denied[word]])), ...deniedPhrases }
const prose = new RegExp(`\\b(${Object.keys(deniedText).join('|')})\\b`, 'i')

/** What is wrong with a comment, or with the name of a test. What stands in backticks is quoted. */
export function proseDenialOf(text) {
  const [, found] = prose.exec(text.replaceAll(/`[^`]*`/g, '')) ?? []
  const [, use] =
    (found && Object.entries(deniedText).find(([words]) => new RegExp(`^${words}$`, 'i').test(found))) ?? []
  return use && `"${found}": not this but ${use.use}`
}

/** What is wrong with a name in a file; undefined for one that may stand. */
export function denialOf(file, name) {
  const isDenied = (part) => (denied[part].in?.test(file) ?? true) && !denied[part].not?.test(file)
  const part = deniedPartsOf(name).find(isDenied)
  return part && `${name}: not "${part}" but ${denied[part].use} (boundaries/denied-identifiers)`
}

export const fileNameOf = (file) => file.slice(file.lastIndexOf('/') + 1).split('.', 1)[0]

/** A name is what whoever joins tomorrow searches for. */
export const deniedIdentifiers = (pathOf) => ({
  create: (context) => {
    const file = pathOf(context.filename)
    if (file.startsWith('scripts/lint/') || !foundations.test(file)) return {}
    const seen = new Set()
    const check = (node, name) => {
      if (seen.has(name)) return
      seen.add(name)
      const message = denialOf(file, name)
      if (message) context.report({ node, message })
    }
    return {
      Program: (node) => check(node, fileNameOf(file)),
      Identifier: (node) => check(node, node.name),
      JSXIdentifier: (node) => check(node, node.name),
    }
  },
})
