import { expect, test } from 'vitest'
import { collectEvents } from '#relay/chat/collect.ts'
import { openAiChat } from '#relay/dialects/openai-chat/index.ts'
import { callWith } from '../conformance/fixtures.ts'
import { requestWith } from '../conformance/requests.ts'
import { gemini } from './index.ts'

const samples = Buffer.from([1, 2, 3, 4])

function spoken(format: string | undefined, mimeType = 'audio/L16;codec=pcm;rate=16000') {
  const inlineData = { mimeType, data: samples.toString('base64') }
  const answer = { candidates: [{ content: { parts: [{ inlineData }] }, finishReason: 'STOP' }] }
  const { ambient } = callWith()
  const encoded = openAiChat.encode(gemini.chat.response(answer, callWith()), {
    model: 'm',
    includeUsage: true,
    estimatedPromptTokens: 0,
    ambient,
    callerBody: { audio: { voice: 'Kore', ...(format === undefined ? {} : { format }) } },
  }) as { choices: { message: { audio: { data: string } } }[] }
  return Buffer.from(encoded.choices[0]?.message.audio.data ?? '', 'base64')
}

test('a spoken answer is a WAV file of its rate, unless its caller asked for bare samples', () => {
  for (const format of ['wav', 'mp3', undefined]) {
    const file = spoken(format)
    expect(file.subarray(0, 16).toString()).toMatch(/^RIFF....WAVEfmt /s)
    expect(file.readUInt32LE(4)).toBe(file.length - 8)
    // Uncompressed, one channel, its rate, bytes a second, bytes and bits a sample.
    expect([20, 22, 32, 34].map((at) => file.readUInt16LE(at))).toEqual([1, 1, 2, 16])
    expect([24, 28, 40].map((at) => file.readUInt32LE(at))).toEqual([16_000, 32_000, samples.length])
    expect(file.subarray(44)).toEqual(samples)
  }
  expect(spoken('wav', 'audio/L16').readUInt32LE(24)).toBe(24_000)
  expect(spoken('pcm16')).toEqual(samples)
  expect(spoken('wav', 'audio/wav')).toEqual(samples)
})

test('a spoken answer that was streamed is collected at its rate', () => {
  const inlineData = { mimeType: 'audio/L16;codec=pcm;rate=16000', data: samples.toString('base64') }
  const decoder = gemini.chat.stream(callWith({ stream: true }))
  const data = JSON.stringify({ candidates: [{ content: { parts: [{ inlineData }] } }] })
  const events = [...decoder.push({ data }), ...decoder.end()]
  expect(collectEvents(events).choices[0]?.parts).toMatchObject([
    { data: inlineData.data, format: 'pcm16', rate: 16_000 },
  ])
})

test.each([
  ['wav', false, []],
  ['pcm16', true, []],
  ['wav', true, ['audio.format']],
  ['mp3', false, ['audio.format']],
] as const)('a wish for %s is lost only where it is not met, streamed: %s', (format, stream, lost) => {
  const request = requestWith({ audio: { voice: 'Kore', format }, stream })
  expect(gemini.chat.request(request, callWith({ model: 'gemini-2.5-flash-preview-tts', stream })).losses).toEqual(lost)
})
