import type { Body, ChatDialect } from '../types.ts'

export const openAiWithSystemPrompt: ChatDialect['withSystemPrompt'] = (body, { prompt, before }) => {
  const messages = Array.isArray(body['messages']) ? (body['messages'] as Body[]) : []
  const first = messages[0]?.['role']
  const own = { role: first === 'developer' ? 'developer' : 'system', content: prompt }
  const replaces = (first === 'system' || first === 'developer') && !before
  return { ...body, messages: [own, ...(replaces ? messages.slice(1) : messages)] }
}

export function openAiWithOutputLimit(body: Body, limit: number): Body {
  if (typeof body['max_completion_tokens'] !== 'number') return { ...body, max_tokens: limit }
  const both = typeof body['max_tokens'] === 'number' ? { max_tokens: limit } : {}
  return { ...body, max_completion_tokens: limit, ...both }
}
