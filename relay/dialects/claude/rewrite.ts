import { isObject } from '#relay/chat/json.ts'
import type { Body, ChatDialect } from '../types.ts'

export const claudeWithSystemPrompt: ChatDialect['withSystemPrompt'] = (body, { prompt, before }) => {
  const given = body['system']
  if (!before || (given ?? undefined) === undefined) return { ...body, system: prompt }
  const blocks = Array.isArray(given) ? given : [{ type: 'text', text: String(given) }]
  return { ...body, system: [{ type: 'text', text: prompt }, ...blocks] }
}

export function claudeWithOutputLimit(body: Body, limit: number): Body {
  const { thinking } = body
  const budget = isObject(thinking) ? thinking['budget_tokens'] : undefined
  const isBeyond = isObject(thinking) && typeof budget === 'number' && budget > limit / 2
  return {
    ...body,
    max_tokens: limit,
    ...(isBeyond ? { thinking: { ...thinking, budget_tokens: Math.floor(limit / 2) } } : {}),
  }
}
