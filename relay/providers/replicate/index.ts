import { bearer } from '../openai-compatible/address.ts'
import { openAiCompatible } from '../openai-compatible/index.ts'
import {
  type PlainRequest,
  type PlainTranslation,
  type Provider,
  type ProviderCall,
  UpstreamRefusal,
} from '../types.ts'
import { joinPath } from '../shared/join-path.ts'
import { type Json, listOf, numberOf, recordOf, withoutAbsent, wordOf } from '../shared/json.ts'
import { nearestRatio, readSuccess } from '../shared/plain-answers.ts'
import { placedSize, unplacedFields } from '../shared/unplaced-fields.ts'

const ratios = ['1:1', '16:9', '9:16', '3:2', '2:3', '4:3', '3:4', '4:5', '5:4']

/** An official model is called by its name, any other by the version behind the colon. */
function targetOf({ channel, model }: ProviderCall): { url: string; version?: string } {
  const [name = '', version] = model.split(':')
  if (version !== undefined) return { url: joinPath(channel.baseUrl, '/v1', '/predictions'), version }
  const path = name.split('/').map(encodeURIComponent).join('/')
  return { url: joinPath(channel.baseUrl, '/v1', `/models/${path}/predictions`) }
}

function inputOf({ json }: PlainRequest): Json {
  const count = numberOf(json['n'])
  return withoutAbsent({
    prompt: json['prompt'],
    aspect_ratio: nearestRatio(json['size'], ratios),
    num_outputs: count !== undefined && count > 1 ? count : undefined,
    output_format: json['output_format'],
    seed: json['seed'],
    ...recordOf(json['input']),
  })
}

const taken = ['model', 'prompt', 'n', 'output_format', 'seed', 'input', 'response_format']

/** What models call anything else stands in the caller's own `input`. */
const lossesOf = ({ json }: PlainRequest): string[] =>
  unplacedFields(json, [...taken, ...placedSize(json, nearestRatio(json['size'], ratios))])

const lookEveryMs = 1000

function nextLook(json: unknown, { channel }: ProviderCall) {
  const prediction = recordOf(json) ?? {}
  const { status } = prediction
  if (status !== 'starting' && status !== 'processing') return undefined
  const url = joinPath(channel.baseUrl, '/v1', `/predictions/${encodeURIComponent(wordOf(prediction['id']) ?? '')}`)
  return { request: { method: 'GET' as const, url, headers: bearer(channel.key) }, afterMs: lookEveryMs }
}

const addressesOf = (output: unknown): string[] =>
  (typeof output === 'string' ? [output] : listOf(output)).filter((item) => typeof item === 'string')

const imageOf = (address: string): Json => {
  const inline = /^data:[^,]*;base64,(.*)$/s.exec(address)?.[1]
  return inline === undefined ? { url: address } : { b64_json: inline }
}

/** Images are predictions, asked for until they are done. */
const images: PlainTranslation = {
  request: (asked, call) => {
    const { url, version } = targetOf(call)
    return {
      method: 'POST',
      url,
      // The service answers with the finished image, if that takes no longer than it is willing to wait.
      headers: { 'content-type': 'application/json', prefer: 'wait', ...bearer(call.channel.key) },
      body: withoutAbsent({ version, input: inputOf(asked) }),
      losses: lossesOf(asked),
    }
  },
  next: nextLook,
  // Models that answer so know no `num_outputs`, and pass over it.
  mostImages: (json) => (typeof recordOf(json)?.['output'] === 'string' ? 1 : undefined),
  response: (json) => ({ data: addressesOf(recordOf(json)?.['output']).map(imageOf) }),
  usage: (json) => {
    const { status, error } = recordOf(json) ?? {}
    if (status !== 'succeeded') {
      const message = wordOf(error) ?? `the prediction ended as ${String(status)}`
      const refused = /NSFW|sensitive|safety/i.test(message)
      throw new UpstreamRefusal({ status: refused ? 400 : 500, type: 'upstream_error', code: String(status), message })
    }
    readSuccess(json)
    return undefined
  },
}

/** Images only; its models have names of an owner and a model. */
export const replicate: Provider = {
  ...openAiCompatible({ id: 'replicate', label: 'Replicate', channelTypes: [56] }),
  plain: { images },
}
