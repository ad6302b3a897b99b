import { type Json, listOf, recordOf, recordsOf } from '../shared/json.ts'

/** What another vendor found reaches callers of this dialect without a proof; this vendor's own results have one. */
export const isUnprovenSearch = (block: unknown): boolean => {
  const { type, content } = recordOf(block) ?? {}
  return type === 'web_search_tool_result' && recordsOf(content).some((each) => each['encrypted_content'] === '')
}

const isUnprovenSource = (citation: unknown): boolean => recordOf(citation)?.['encrypted_index'] === ''

const isUnproven = (block: unknown): boolean =>
  isUnprovenSearch(block) || listOf(recordOf(block)?.['citations']).some(isUnprovenSource)

const blocksOf = (message: unknown): readonly unknown[] => listOf(recordOf(message)?.['content'])

/** A block without what it is not proven to have found; nothing for a search that is all of that. */
function provenPart(value: unknown, unproven: ReadonlySet<unknown>): unknown[] {
  const block = recordOf(value)
  if (!block) return [value]
  if (unproven.has(block['tool_use_id']) || (block['type'] === 'server_tool_use' && unproven.has(block['id'])))
    return []
  const sources = listOf(block['citations'])
  if (!sources.some(isUnprovenSource)) return [value]
  const { citations: _, ...rest } = block
  const proven = sources.filter((source) => !isUnprovenSource(source))
  return [proven.length > 0 ? { ...rest, citations: proven } : rest]
}

/**
 * Takes searches and sources out of a conversation that this vendor would refuse as not its own: an agent's session may have
 * been answered by another one before. Returns names of what went.
 */
export function dropUnprovenSearches(body: Json): string[] {
  const messages: unknown = body['messages']
  if (!Array.isArray(messages) || !messages.some((message) => blocksOf(message).some(isUnproven))) return []
  const lost = new Set<string>()
  body['messages'] = messages.flatMap((message: unknown): unknown[] => {
    const blocks = blocksOf(message)
    if (!blocks.some(isUnproven)) return [message]
    const searches = blocks.filter(isUnprovenSearch)
    if (searches.length > 0) lost.add('web_search_tool_result')
    if (searches.length < blocks.filter(isUnproven).length) lost.add('citations')
    const unproven = new Set(searches.map((block) => recordOf(block)?.['tool_use_id']))
    const content = blocks.flatMap((block) => provenPart(block, unproven))
    return content.length > 0 ? [{ ...recordOf(message), content }] : []
  })
  return [...lost]
}
