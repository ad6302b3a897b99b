import { refuseTokens } from '../../shared/plain-answers.ts'
import { withoutAbsent } from '../../shared/json.ts'
import { channelHeaders } from '../address.ts'
import { openAiCompatible } from '../index.ts'
import { plainUrl } from '../plain.ts'
import type { OpenAiStyle } from '../style.ts'

const style: OpenAiStyle = {
  id: 'jina',
  label: 'Jina AI',
  channelTypes: [38],
  plain: {
    embeddings: {
      // Texts and images stand in one list; how vectors are packed has another name and is made here anyway.
      request: (asked, call) => {
        refuseTokens(asked)
        return {
          method: 'POST',
          url: plainUrl(style, 'embeddings', call),
          headers: { 'content-type': 'application/json', ...channelHeaders(style, call.channel) },
          body: withoutAbsent({ ...asked.json, encoding_format: undefined, model: call.model }),
        }
      },
    },
  },
}

/** Embeddings and rankings; there is no chat to speak of. */
export const jina = openAiCompatible(style)
