import type { Body, ChatDialect } from '../types.ts'

export const responsesWithSystemPrompt: ChatDialect['withSystemPrompt'] = (body, { prompt, before }) => {
  const given = body['instructions']
  const kept = before && typeof given === 'string' && given !== '' ? `\n\n${given}` : ''
  return { ...body, instructions: prompt + kept }
}

export const responsesWithOutputLimit = (body: Body, limit: number): Body => ({ ...body, max_output_tokens: limit })
