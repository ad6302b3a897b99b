import type { DialectId } from '../request.ts'

/** A call that a vendor made itself is named so in its dialect. */
type Prefix = 'srvtoolu' | 'mcptoolu' | 'ws' | 'mcp'

/** The id of such a call in the manner of another dialect; the same one always becomes the same. */
export const idAs = (prefix: Prefix, id: string): string =>
  `${prefix}_${id.replace(/^(srvtoolu|mcptoolu|ws|mcp)_/, '').replaceAll(/[^a-zA-Z0-9_]/g, '_') || '0'}`

/** Who has a form for searches and remote calls in a conversation. What a vendor of Claude's found, nobody else can prove. */
export const takesSearches = (target: DialectId | undefined): boolean => target === 'openai-responses'
export const takesRemoteCalls = (target: DialectId | undefined): boolean =>
  target === 'openai-responses' || target === 'claude'
