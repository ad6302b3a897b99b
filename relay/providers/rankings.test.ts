import { expect, test } from 'vitest'
import { operation } from './conformance/operation.ts'

const asked = { query: 'q', documents: ['a', { text: 'b' }] }
const rows = [{ index: 1, relevance_score: 0.9 }]

test('rankings of Cohere want all documents by default', () => {
  const { sent, read, usage } = operation('rerank', { type: 34 }, asked)
  expect(sent()).toMatchObject({ url: 'https://host.test/v2/rerank', body: { documents: ['a', 'b'], top_n: 2 } })
  expect(read({ id: 'x', results: rows })).toEqual({ id: 'x', results: rows })
  expect(usage({ results: rows, meta: { billed_units: { search_units: 1 } } })).toBeUndefined()
})

test('rankings of DashScope stand on its own surface', () => {
  const { sent, read, usage } = operation('rerank', { type: 17 }, { ...asked, top_n: 1, return_documents: true })
  expect(sent()).toMatchObject({
    url: 'https://host.test/api/v1/services/rerank/text-rerank/text-rerank',
    body: { input: { query: 'q', documents: ['a', 'b'] }, parameters: { top_n: 1, return_documents: true } },
  })
  const answer = { output: { results: rows }, usage: { total_tokens: 9 } }
  expect(read(answer)).toEqual({
    results: [{ ...rows[0], document: { text: 'b' } }],
    usage: { prompt_tokens: 9, total_tokens: 9 },
  })
  expect(usage(answer)).toEqual({ promptTokens: 9 })
})

test('rankings of DashScope follow an instruction where the model does, by whichever word it was given', () => {
  const rank = (model: string, fields: object) =>
    operation('rerank', { type: 17, model }, { ...asked, ...fields }).sent()
  for (const name of ['instruct', 'instruction'])
    expect(rank('qwen3-rerank', { [name]: 'by date' })).toMatchObject({
      body: { parameters: { instruct: 'by date' } },
      losses: [],
    })
  const other = rank('gte-rerank-v2', { instruct: 'by date' })
  expect(other).toMatchObject({ losses: ['instruct'] })
  expect(JSON.stringify(other.body)).not.toContain('by date')
})

test('rankings of Voyage have a word of their own for how many, of which there are no more than documents', () => {
  const baseUrl = 'https://api.voyageai.com/v1'
  const { sent, read, usage } = operation('rerank', { type: 1, baseUrl }, { ...asked, top_n: 9 })
  expect(sent()).toMatchObject({ url: `${baseUrl}/rerank` })
  expect(sent().body).toEqual({ model: 'some-model', query: 'q', documents: ['a', 'b'], top_k: 2 })
  const answer = { object: 'list', data: rows, model: 'some-model', usage: { total_tokens: 26 } }
  expect(read(answer)).toEqual({ object: 'list', results: rows, model: 'some-model', usage: { total_tokens: 26 } })
  expect(usage(answer)).toMatchObject({ promptTokens: 26 })
})

test('rankings of images and videos are for models that see them, and refused by those that read texts alone', () => {
  const image = { image: 'https://p/0' }
  const mixed = {
    query: 'q',
    documents: ['a', image, { text: 'c' }, { video: 'https://p/1' }],
    return_documents: true,
  }
  const { sent, read } = operation('rerank', { type: 17, model: 'qwen3-vl-rerank' }, mixed)
  expect(sent().body).toMatchObject({
    input: { documents: [{ text: 'a' }, image, { text: 'c' }, { video: 'https://p/1' }] },
  })
  const scored = (index: number, document?: object) => ({ index, relevance_score: 0.5, ...(document && { document }) })
  expect(read({ output: { results: [scored(1), scored(2), scored(3, { video: 'https://p/1' })] } })).toMatchObject({
    results: [scored(1, image), scored(2, { text: 'c' }), scored(3, { video: 'https://p/1' })],
  })
  for (const input of [{ type: 34 }, { type: 1, baseUrl: 'https://api.voyageai.com' }]) {
    const product = { image: 'https://p/0', about: { title: 'b' } }
    const titled = operation('rerank', input, { ...mixed, documents: ['a', product] })
    expect(titled.sent().body).toMatchObject({ documents: ['a', JSON.stringify(product)] })
    for (const numbered of [image, { ...image, id: 7 }, { ...image, id: 'p-7', text: '', shown: true }]) {
      const shown = operation('rerank', input, { ...mixed, documents: ['a', numbered] })
      expect(() => shown.sent()).toThrow(expect.objectContaining({ code: 'unsupported.ranked_media' }))
    }
  }
})

test('rankings show documents as the caller knows them, and are counted where the vendor counts', () => {
  const wanted = { ...asked, return_documents: true }
  const { read } = operation('rerank', { type: 47 }, wanted)
  expect(read({ results: [{ ...rows[0], document: 'b' }] })).toEqual({
    results: [{ ...rows[0], document: { text: 'b' } }],
  })
  expect(read({ results: [{ ...rows[0], document: null }] })).toEqual({
    results: [{ ...rows[0], document: { text: 'b' } }],
  })
  const silicon = operation('rerank', { type: 40 }, asked)
  expect(silicon.usage({ results: rows, meta: { tokens: { input_tokens: 5, output_tokens: 0 } } })).toMatchObject({
    promptTokens: 5,
  })
})
