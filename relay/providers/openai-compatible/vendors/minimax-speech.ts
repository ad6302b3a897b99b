import type { UpstreamFailure } from '#relay/chat/events.ts'
import { type PlainTranslation, UpstreamRefusal } from '../../types.ts'
import { joinPath } from '../../shared/join-path.ts'
import { type Json, recordOf, textOf, withoutAbsent } from '../../shared/json.ts'
import { unplacedFields } from '../../shared/unplaced-fields.ts'
import { bearer } from '../address.ts'
import { isVoiceName, voiceAsked, type VoiceName } from '../voices.ts'

/** The original's voices by names of this vendor; any other name is one of its own. */
const voices: Readonly<Record<VoiceName, string>> = {
  alloy: 'female-chengshu',
  ash: 'male-qn-badao',
  ballad: 'male-qn-daxuesheng',
  cedar: 'audiobook_male_1',
  coral: 'female-tianmei',
  echo: 'male-qn-qingse',
  fable: 'male-qn-jingying',
  marin: 'female-shaonv',
  onyx: 'presenter_male',
  nova: 'presenter_female',
  sage: 'female-yujie',
  shimmer: 'audiobook_female_1',
  verse: 'audiobook_male_2',
}
const formats: Readonly<Record<string, string>> = {
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  flac: 'audio/flac',
  pcm: 'audio/pcm',
}

const formatOf = (json: Json): string => {
  const asked = textOf(json['response_format']) ?? 'mp3'
  return Object.hasOwn(formats, asked) ? asked : 'mp3'
}

const taken = ['model', 'input', 'voice', 'speed', 'voice_setting', 'audio_setting']

/** A format that is none of the vendor's comes as another. */
const lossesOf = (json: Json): string[] =>
  unplacedFields(json, formatOf(json) === json['response_format'] ? [...taken, 'response_format'] : taken)

function voiceOf(json: Json): string {
  const voice = voiceAsked(json) ?? 'alloy'
  return isVoiceName(voice) ? voices[voice] : voice
}

/** Audio comes as hexadecimal text. */
export const minimaxSpeech = (refusal: (answer: Json) => UpstreamFailure | undefined): PlainTranslation => ({
  request: ({ json }, call) => ({
    method: 'POST',
    url: joinPath(call.channel.baseUrl, '/v1', '/t2a_v2'),
    headers: { 'content-type': 'application/json', ...bearer(call.channel.key) },
    body: withoutAbsent({
      model: call.model,
      text: json['input'],
      stream: false,
      voice_setting: {
        ...withoutAbsent({ voice_id: voiceOf(json), speed: json['speed'] }),
        ...recordOf(json['voice_setting']),
      },
      audio_setting: { format: formatOf(json), ...recordOf(json['audio_setting']) },
      output_format: 'hex',
    }),
    losses: lossesOf(json),
  }),
  audio: (json, asked) => ({
    contentType: formats[formatOf(asked.json)] ?? 'audio/mpeg',
    bytes: Buffer.from(textOf(recordOf(recordOf(json)?.['data'])?.['audio']) ?? '', 'hex'),
  }),
  usage: (json) => {
    const failure = refusal(recordOf(json) ?? {})
    if (failure) throw new UpstreamRefusal(failure)
    // The characters that the vendor counts are no tokens, by which speech is charged.
    return undefined
  },
})
