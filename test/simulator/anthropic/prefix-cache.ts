import { createHash } from 'node:crypto'
import { type Answer, countTokens } from '../answer.ts'
import { asObjects, asText, charactersOf, type Json } from '../prompt.ts'
import type { Call } from '../types.ts'

/** https://platform.claude.com/docs/en/build-with-claude/prompt-caching, "Cache limitations" */
const leastTokens: readonly (readonly [RegExp, number])[] = [
  [/opus-4-[56]|haiku-4-5/, 4096],
  [/opus-4-7|haiku-3/, 2048],
  [/(opus|fable)-5|(sonnet|haiku)-5-5/, 512],
]
const leastOf = (model: string): number => leastTokens.find(([pattern]) => pattern.test(model))?.[1] ?? 1024

/** How far back from a mark the vendor looks for what it knows. */
const lookback = 20

type Block = { hash: string; tokens: number; isMarked: boolean }

const blocksOf = (content: unknown): Json[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : asObjects(content)

/** The prompt block by block in the vendor's order, each with the hash of everything up to it. */
function prefixesOf(body: Json, key: string): Block[] {
  const messages = asObjects(body['messages'])
  const blocks = [
    ...asObjects(body['tools']).map((tool) => ({ block: tool, role: 'tools' })),
    ...blocksOf(body['system'] ?? []).map((block) => ({ block, role: 'system' })),
    ...messages.flatMap(({ role, content }) => blocksOf(content).map((block) => ({ block, role: asText(role) }))),
  ]
  let characters = 0
  let before = key
  return blocks.map(({ block, role }) => {
    const { cache_control: mark, ...plain } = block
    characters += charactersOf(plain)
    before = createHash('sha256').update(before).update(role).update(JSON.stringify(plain)).digest('base64')
    return { hash: before, tokens: countTokens(characters), isMarked: mark !== undefined }
  })
}

/**
 * What of the prompt came from the cache, and what went into it: the longest prefix before a mark that an earlier call of
 * the same key has marked, and the rest up to the last mark. Ordered figures stay as they are ordered.
 */
export function withPrefixCache(answer: Answer, { body, headers, directives, stored }: Call): Answer {
  const { usage } = answer
  if (usage === undefined || directives['usage'] !== undefined) return answer
  const prefixes = prefixesOf(body, `prefix ${String(headers['x-api-key'])} ${asText(body['model'])} `)
  const least = leastOf(asText(body['model']))
  const marks = prefixes.flatMap(({ isMarked, tokens }, at) => (isMarked && tokens >= least ? [at] : []))
  const known = marks
    .flatMap((at) => prefixes.slice(Math.max(0, at - lookback), at + 1))
    .filter(({ hash, tokens }) => tokens >= least && stored.has(hash))
  const cached = Math.max(0, ...known.map(({ tokens }) => tokens))
  const cacheWrite = Math.max(0, (prefixes[marks.at(-1) ?? -1]?.tokens ?? 0) - cached)
  for (const at of marks) stored.set(prefixes[at]?.hash ?? '', {})
  return { ...answer, usage: { ...usage, cached, cacheWrite } }
}
