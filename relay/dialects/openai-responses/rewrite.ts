import type { Body, ChatDialect } from '../types.ts'

export const responsesWithSystemPrompt: ChatDialect['withSystemPrompt'] = (body, { prompt, before }) => {
  const given = body['instructions']
  const own = before && typeof given === 'string' && given !== '' ? `\n\n${given}` : ''
  return { ...body, instructions: prompt + own }
}

export const responsesWithOutputLimit = (body: Body, limit: number): Body => ({ ...body, max_output_tokens: limit })
