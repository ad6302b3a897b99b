import { expect, test } from 'vitest'
import { encodeEmbed, parseEmbed } from './embed.ts'

const text = (...texts: string[]) => ({ parts: texts.map((each) => ({ text: each })) })

test('one content, in either spelling, is a list of one', () => {
  expect(parseEmbed('embedContent', { content: text('a', 'b'), output_dimensionality: 4, taskType: 'X' })).toEqual({
    json: { input: ['a\nb'], dimensions: 4 },
    losses: ['taskType'],
    untranslatable: undefined,
    media: [],
  })
})

test('media are named beside the texts, in either spelling', () => {
  const audio = { inlineData: { mimeType: 'audio/mpeg', data: 'AAAA' } }
  const image = { inline_data: { mime_type: 'image/png', data: 'AA==' } }
  const requests = [{ content: { parts: [audio, { text: 'a' }] } }, { content: { parts: [image] } }]
  expect(parseEmbed('batchEmbedContents', { requests })).toMatchObject({
    untranslatable: 'inlineData',
    media: [{ type: 'audio', format: 'mp3' }, { type: 'image' }],
  })
})

test('different lengths in one call cannot be said elsewhere', () => {
  const requests = [{ content: text('a'), outputDimensionality: 4 }, { content: text('b') }]
  expect(parseEmbed('batchEmbedContents', { requests }).untranslatable).toBe('outputDimensionality')
})

test.each([
  ['embedContent', [], 'must be a JSON object'],
  ['embedContent', {}, 'content is required'],
  ['embedContent', { content: { parts: [{ text: 7 }] } }, 'content.parts.text is invalid'],
  ['embedContent', { content: text('a'), outputDimensionality: 0 }, 'outputDimensionality is invalid'],
  ['batchEmbedContents', {}, 'requests is required'],
  ['batchEmbedContents', { requests: ['a'] }, 'requests[0] is invalid'],
  ['batchEmbedContents', { requests: [{ content: text('a') }, {}] }, 'requests[1].content is required'],
] as const)('%s of %o is refused: %s', (action, body, message) => {
  expect(() => parseEmbed(action, body)).toThrow(message)
})

test('vectors come in the order of the texts, with what was counted', () => {
  const answer = {
    data: [
      { index: 1, embedding: [2] },
      { index: 0, embedding: [1] },
    ],
    usage: { prompt_tokens: 3 },
  }
  const usageMetadata = { promptTokenCount: 3 }
  expect(encodeEmbed('batchEmbedContents', answer)).toEqual({
    embeddings: [{ values: [1] }, { values: [2] }],
    usageMetadata,
  })
  expect(encodeEmbed('embedContent', answer)).toEqual({ embedding: { values: [1] }, usageMetadata })
})
