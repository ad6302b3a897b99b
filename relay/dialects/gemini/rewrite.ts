import { isObject } from '#relay/chat/json.ts'
import type { Body, ChatDialect } from '../types.ts'

export const geminiWithSystemPrompt: ChatDialect['withSystemPrompt'] = (body, { prompt, before }) => {
  const parts = [{ text: prompt }, ...(before ? instructionParts(body) : [])]
  return { ...body, systemInstruction: { parts }, system_instruction: undefined }
}

/** The caller's own instruction may be a content, a list of parts or a text. */
function instructionParts(body: Body): unknown[] {
  const given = body['systemInstruction'] ?? body['system_instruction']
  if (typeof given === 'string') return given === '' ? [] : [{ text: given }]
  if (typeof given !== 'object' || given === null) return []
  const parts = 'parts' in given ? given.parts : given
  return Array.isArray(parts) ? parts : [parts]
}

export function geminiWithOutputLimit(body: Body, limit: number): Body {
  const name = isObject(body['generation_config']) ? 'generation_config' : 'generationConfig'
  const { max_output_tokens: _, ...config } = isObject(body[name]) ? body[name] : {}
  return { ...body, [name]: { ...config, maxOutputTokens: limit } }
}
