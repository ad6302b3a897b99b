import { type Json, textOf } from '../../shared/json.ts'
import type { PlainTranslation } from '../../types.ts'
import { openAiOperation } from '../plain.ts'
import type { OpenAiStyle } from '../style.ts'
import { isVoiceName, voiceAsked } from '../voices.ts'

/** https://docs.bigmodel.cn/api-reference, text to speech: the formats, and the voice it speaks with by default. */
const formats = ['wav', 'pcm']
const usualVoice = 'tongtong'

function voiceOf(json: Json): string {
  const voice = voiceAsked(json) ?? usualVoice
  return isVoiceName(voice) ? usualVoice : voice
}

/** A format that is none of the vendor's comes as `wav`, which players know by its head. */
export const zhipuSpeech = (style: OpenAiStyle): Pick<PlainTranslation, 'request'> => {
  const { request } = openAiOperation(style, 'speech')
  return {
    request: ({ json, form }, call) => {
      const asked = textOf(json['response_format'])
      const format = asked !== undefined && formats.includes(asked) ? asked : 'wav'
      const body = { ...json, voice: voiceOf(json), response_format: format }
      const losses = asked === undefined || asked === format ? [] : ['response_format']
      return { ...request({ json: body, form }, call), losses }
    },
  }
}
