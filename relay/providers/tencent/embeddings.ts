import type { UpstreamFailure } from '#relay/chat/events.ts'
import {
  type PlainTranslation,
  type ProviderCall,
  type ProviderChannel,
  type UpstreamRequest,
  UpstreamRefusal,
} from '../types.ts'
import { countOf, type Json, recordOf, recordsOf } from '../shared/json.ts'
import { unplacedFields } from '../shared/unplaced-fields.ts'
import { embeddingList, promptOnly, textsToEmbed } from '../shared/plain-answers.ts'

const responseOf = (json: unknown): Json => recordOf(recordOf(json)?.['Response']) ?? recordOf(json) ?? {}

type Host = {
  /** The request to the vendor's OpenAI surface, for keys of that one. */
  open: (call: ProviderCall, body: Json) => UpstreamRequest | undefined
  signedBase: (channel: ProviderChannel) => string
  headers: (action: string) => Record<string, string>
  failure: (answer: Json) => UpstreamFailure | undefined
}

/** An action of the signed surface, in its capital words; the OpenAI surface answers in the caller's own. */
export const tencentEmbeddings = (host: Host): PlainTranslation => ({
  mostInputs: 200,
  request: (asked, call) => {
    const texts = textsToEmbed(asked)
    const open = host.open(call, { ...asked.json, model: call.model, input: texts })
    if (open) return open
    return {
      method: 'POST',
      url: `${host.signedBase(call.channel)}/`,
      headers: host.headers('GetEmbedding'),
      body: { InputList: texts },
      losses: unplacedFields(asked.json, ['model', 'input', 'encoding_format']),
    }
  },
  response: (json, asked) => {
    const rows = recordsOf(responseOf(json)['Data'])
    if (rows.length === 0) return json
    return embeddingList(
      rows.map((row) => row['Embedding']),
      asked,
    )
  },
  usage: (json) => {
    const answer = responseOf(json)
    const failure = host.failure(answer)
    if (failure) throw new UpstreamRefusal(failure)
    const usage = recordOf(answer['Usage']) ?? recordOf(answer['usage']) ?? {}
    return promptOnly(countOf(usage['PromptTokens']) ?? countOf(usage['prompt_tokens']))
  },
})
