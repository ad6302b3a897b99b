import type { WireEvent } from '#relay/transport/framing.ts'
import { MalformedUpstream } from '#relay/chat/events.ts'
import type { ChatTranslation } from '../types.ts'
import { type Json, parseRecord, recordOf } from '../shared/json.ts'
import { toHubResponse } from './response.ts'
import { createOpenAiDecoder } from './stream.ts'
import type { OpenAiStyle } from './style.ts'

/** How a vendor's answers become those of the OpenAI form; a chunk of nothing is no chunk. */
export type Reshape = { answer: (json: Json) => Json; chunk: (json: Json, event: WireEvent) => Json | undefined }

/** Reading for vendors whose answers say the same in other words. */
export const reshapedReading = (
  style: OpenAiStyle,
  reshape: Reshape,
): Pick<ChatTranslation, 'response' | 'stream'> => ({
  response(json, call) {
    const answer = recordOf(json)
    if (!answer) throw new MalformedUpstream('the answer is not a JSON object')
    return toHubResponse(style, reshape.answer(answer), call)
  },
  stream(call) {
    const decoder = createOpenAiDecoder(style, call)
    return {
      push(event) {
        if (event.data.trim() === '[DONE]') return decoder.push(event)
        const chunk = reshape.chunk(parseRecord(event.data), event)
        return chunk ? decoder.pushChunk(chunk) : []
      },
      end: () => decoder.end(),
    }
  },
})
