import { InvalidRequest } from '#relay/chat/invalid-request.ts'
import type { PlainTranslation, ProviderCall } from '../../types.ts'
import { type Json, numberOf, recordOf, textOf, withoutAbsent } from '../../shared/json.ts'
import { atMostImages, readSuccess, sidesOf } from '../../shared/plain-answers.ts'
import { placedSize, unplacedFields } from '../../shared/unplaced-fields.ts'

type Host = {
  runUrl: (call: ProviderCall) => string
  headers: (call: ProviderCall) => Record<string, string>
  refuse: (json: unknown) => void
}

/** A form, also of a prompt alone: https://developers.cloudflare.com/changelog/2026-01-28-flux-2-klein-9b-workers-ai/ */
const readsForm = (model: string): boolean => /\/flux-2-/.test(model)

/** What the models call a field → what a caller does. */
const namesInForm = { prompt: 'prompt', steps: 'num_steps', guidance: 'guidance', seed: 'seed' }
const namesInJson = {
  prompt: 'prompt',
  negative_prompt: 'negative_prompt',
  num_steps: 'num_steps',
  guidance: 'guidance',
  seed: 'seed',
  image_b64: 'image_b64',
  mask_b64: 'mask_b64',
}

/** Images come as PNG bytes from most models, and packed into JSON from some. */
export const cloudflareImages = (host: Host): PlainTranslation => ({
  request: ({ json }, call) => {
    const sides = sidesOf(json['size'])
    const isForm = readsForm(call.model)
    const names = isForm ? namesInForm : namesInJson
    const fields = Object.fromEntries(Object.entries(names).map(([name, given]) => [name, json[given]]))
    const { mostImages, losses } = atMostImages(json['n'], 1)
    // Images come as bytes alone.
    const format = json['response_format'] === 'b64_json' ? ['response_format'] : []
    const placed = [...Object.values(names), 'model', 'n', ...placedSize(json, sides), ...format]
    return {
      method: 'POST',
      url: host.runUrl(call),
      headers: { 'content-type': 'application/json', ...host.headers(call) },
      body: withoutAbsent({ ...fields, width: sides?.width, height: sides?.height }),
      isForm,
      mostImages,
      losses: [...losses, ...unplacedFields(json, placed)],
    }
  },
  fromBytes: (bytes) => ({ data: [{ b64_json: Buffer.from(bytes).toString('base64') }] }),
  response: (json) => {
    const image = textOf(recordOf(recordOf(json)?.['result'])?.['image'])
    return { data: image === undefined ? [] : [{ b64_json: image }] }
  },
  usage: (json) => {
    host.refuse(json)
    return undefined
  },
})

/** The file is sent, and the model is named by the address. */
const lossesOf = (json: Json, carried: readonly string[]): string[] =>
  unplacedFields(json, [
    'model',
    'file',
    ...carried,
    ...(json['response_format'] === 'json' ? ['response_format'] : []),
  ])

/**
 * The turbo model reads base64 in JSON, the others the bytes of the recording as they are and nothing else:
 * https://developers.cloudflare.com/workers-ai/models/whisper-large-v3-turbo.
 * @throws {InvalidRequest} invalid_audio_request
 */
export const cloudflareTranscription = (host: Host): PlainTranslation => ({
  readsFile: true,
  request: ({ json, file: bytes }, call) => {
    if (!bytes) throw new InvalidRequest('invalid_audio_request', 'file is required')
    const packed = call.model.includes('turbo')
    const { language, prompt } = json
    return {
      method: 'POST',
      url: host.runUrl(call),
      headers: { 'content-type': packed ? 'application/json' : 'application/octet-stream', ...host.headers(call) },
      body: packed
        ? withoutAbsent({ audio: Buffer.from(bytes).toString('base64'), language, initial_prompt: prompt })
        : bytes,
      losses: lossesOf(json, packed ? ['language', 'prompt'] : []),
    }
  },
  response: (json) => {
    const result = recordOf(recordOf(json)?.['result']) ?? {}
    return withoutAbsent({ text: textOf(result['text']) ?? '', words: result['words'], vtt: result['vtt'] })
  },
  usage: (json) => {
    host.refuse(json)
    const info = recordOf(recordOf(readSuccess(json)['result'])?.['transcription_info'])
    const seconds = numberOf(info?.['duration'])
    // A minute of audio counts as a thousand tokens.
    return seconds === undefined ? undefined : { promptTokens: Math.ceil((seconds / 60) * 1000) }
  },
})
