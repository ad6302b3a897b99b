import fc from 'fast-check'
import { encode as encodeOlder } from 'gpt-tokenizer/encoding/cl100k_base'
import { encode as encodeNewer } from 'gpt-tokenizer/encoding/o200k_base'
import { expect, test } from 'vitest'
import { textsOfTokens } from './token-texts.ts'

const plain = { disallowedSpecial: new Set<string>() }
const older = (text: string): number[] => encodeOlder(text, plain)

test('lists of tokens are the very texts that were encoded, by the encoding of the model', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.string({ unit: 'grapheme' }), { minLength: 1 }), async (texts) => {
      expect(await textsOfTokens(texts.map(older), 'bge-m3')).toEqual(texts)
      expect(await textsOfTokens(older(texts.join('')), 'text-embedding-3-small')).toBe(texts.join(''))
      const newer = texts.map((text) => encodeNewer(text, plain))
      expect(await textsOfTokens(newer, 'gpt-4o')).toEqual(texts)
    }),
  )
  expect(await textsOfTokens([older('\uFEFFone'), 'two', []], 'm')).toEqual(['\uFEFFone', 'two', ''])
})

test('what is cut within a character, unknown or a mark of the encoder’s own is no text, and touches no other', async () => {
  const cut = older('a 🗼').slice(0, -1)
  for (const input of [
    cut,
    [cut, older('b')],
    [100_257],
    [100_256],
    [-1],
    [1.5],
    [[1], 'a', { text: 'b' }],
    'a',
    [['1']],
  ])
    expect(await textsOfTokens(input, 'm'), JSON.stringify(input)).toBeUndefined()
  expect(await textsOfTokens(older('日本'), 'm')).toBe('日本')
  // More than OpenAI takes in one call, as one list or as many.
  const many = Array.from({ length: 150_000 }, () => 64)
  expect((await textsOfTokens([many, many], 'm'))?.length).toBe(2)
  expect(await textsOfTokens([many, many, [64]], 'm')).toBeUndefined()
  expect(await textsOfTokens([...many, ...many, 64], 'm')).toBeUndefined()
  expect(await textsOfTokens(older('a'), 'text-search-ada-doc-001')).toBeUndefined()
})
