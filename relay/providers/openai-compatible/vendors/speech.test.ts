import { expect, test } from 'vitest'
import { operation } from '../../conformance/operation.ts'

const voices = 'alloy ash ballad cedar coral echo fable marin nova onyx sage shimmer verse'.split(' ')

test('MiniMax speaks every voice of OpenAI with another of its own, and its own by their names', () => {
  const voiceSent = (voice: unknown) =>
    operation('speech', { type: 35 }, { input: 'hi', voice }).sent().body as { voice_setting: { voice_id: string } }
  const sent = voices.map((voice) => voiceSent(voice).voice_setting.voice_id)
  expect(sent.filter((voice) => voices.includes(voice))).toEqual([])
  expect(new Set(sent).size).toBe(voices.length)
  expect(voiceSent('Chinese (Mandarin)_Gentleman').voice_setting.voice_id).toBe('Chinese (Mandarin)_Gentleman')
  expect(voiceSent({ id: 'own' }).voice_setting.voice_id).toBe('own')
})

test('GLM speaks with a voice and in a format of its own, and what is none of its formats is named as lost', () => {
  const sent = (asked: Record<string, unknown>) =>
    operation('speech', { type: 26, model: 'glm-tts' }, { input: 'hi', ...asked }).sent()
  const usual = { model: 'glm-tts', input: 'hi', voice: 'tongtong', response_format: 'wav' }
  for (const voice of [...voices, undefined]) expect(sent({ voice })).toMatchObject({ body: usual, losses: [] })
  expect(sent({ voice: 'alloy' }).url).toBe('https://host.test/api/paas/v4/audio/speech')
  expect(sent({ voice: 'chuichui', response_format: 'pcm', speed: 1.5 })).toMatchObject({
    body: { voice: 'chuichui', response_format: 'pcm', speed: 1.5 },
    losses: [],
  })
  expect(sent({ voice: 'alloy', response_format: 'mp3' })).toMatchObject({ body: usual, losses: ['response_format'] })
})
