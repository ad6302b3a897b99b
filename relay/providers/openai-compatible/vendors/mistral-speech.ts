import type { PlainTranslation } from '../../types.ts'
import { joinPath } from '../../shared/join-path.ts'
import { recordOf, textOf, withoutAbsent } from '../../shared/json.ts'
import { readSuccess } from '../../shared/plain-answers.ts'
import { unplacedFields } from '../../shared/unplaced-fields.ts'
import { bearer } from '../address.ts'
import { voiceAsked } from '../voices.ts'

const types: Readonly<Record<string, string>> = {
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  flac: 'audio/flac',
  opus: 'audio/ogg',
  pcm: 'audio/pcm',
}

/** Audio comes packed into JSON. */
export const mistralSpeech: PlainTranslation = {
  request: ({ json }, call) => ({
    method: 'POST',
    url: joinPath(call.channel.baseUrl, '/v1', '/audio/speech'),
    headers: { 'content-type': 'application/json', ...bearer(call.channel.key) },
    body: withoutAbsent({
      model: call.model,
      input: json['input'],
      voice_id: json['voice_id'] ?? voiceAsked(json),
      ref_audio: json['ref_audio'],
      response_format: json['response_format'],
    }),
    losses: unplacedFields(json, ['model', 'input', 'voice', 'voice_id', 'ref_audio', 'response_format']),
  }),
  audio: (json, { json: asked }) => ({
    contentType: types[textOf(asked['response_format']) ?? 'mp3'] ?? 'audio/mpeg',
    bytes: Buffer.from(textOf(recordOf(json)?.['audio_data']) ?? '', 'base64'),
  }),
  usage: (json) => {
    readSuccess(json)
    return undefined
  },
}
