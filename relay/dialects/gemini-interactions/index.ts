import { gemini } from '../gemini/index.ts'
import { isObject } from '#relay/chat/json.ts'
import type { LegacyDialect } from '../types.ts'
import { encodeInteraction, interactionStreamError, streamInteraction } from './encode.ts'
import { parseInteraction } from './parse.ts'

/** What `@google/genai` calls interactions: answers that are kept, and gone on from by their ids. */
export const geminiInteractions: LegacyDialect = {
  ...gemini,
  id: 'gemini-interactions',
  parse: parseInteraction,
  encode: encodeInteraction,
  stream: streamInteraction,
  streamContentType: () => 'text/event-stream',
  ping: ': PING\n\n',
  refusesComments: false,
  streamError: interactionStreamError,
  modelPlace: null,
  native: null,
  keepsInteractions: true,
  hasOneAnswer: true,
  withSystemPrompt: (body, { prompt, before }) => {
    const given = body['system_instruction']
    const own = before && typeof given === 'string' && given !== '' ? `\n\n${given}` : ''
    return { ...body, system_instruction: prompt + own }
  },
  withOutputLimit: (body, limit) => {
    const config = isObject(body['generation_config']) ? body['generation_config'] : {}
    return { ...body, generation_config: { ...config, max_output_tokens: limit } }
  },
}
