import { describe, expect, test } from 'vitest'
import { callWith } from './conformance/fixtures.ts'
import { operation } from './conformance/operation.ts'
import { providerFor } from './registry.ts'
import { UpstreamRefusal } from './types.ts'

type Json = Record<string, unknown>

const texts = { input: ['one', 'two'] }
const listed = (...vectors: number[][]) => ({
  object: 'list',
  data: vectors.map((embedding, index) => ({ object: 'embedding', index, embedding })),
  model: 'asked-for',
})

test('a total beside an output is not what was given too', () => {
  const { usage } = operation('images', { type: 45 }, { prompt: 'p' })
  const drawn = usage({ data: [], usage: { generated_images: 1, output_tokens: 4096, total_tokens: 4096 } })
  expect(drawn?.promptTokens ?? 0).toBe(0)
  expect(drawn).toMatchObject({ completionTokens: 4096 })
})

describe('embeddings', () => {
  test('of Cohere name their purpose and come apart from their figures', () => {
    const { sent, read, usage, translation } = operation('embeddings', { type: 34, model: 'embed-v4.0' }, texts)
    expect(sent()).toMatchObject({
      url: 'https://host.test/v2/embed',
      body: { model: 'embed-v4.0', texts: ['one', 'two'], input_type: 'search_document', embedding_types: ['float'] },
    })
    const answer = { embeddings: { float: [[1], [2]] }, meta: { billed_units: { input_tokens: 7 } } }
    expect(read(answer)).toEqual(listed([1], [2]))
    expect(usage(answer)).toEqual({ promptTokens: 7 })
    expect(translation.mostInputs).toBe(96)
  })

  test('of Tencent are an action of their own', () => {
    const { sent, read, usage } = operation('embeddings', { type: 23, key: 'app|id|secret' }, texts)
    expect(sent()).toMatchObject({
      url: 'https://host.test/',
      headers: { 'x-tc-action': 'GetEmbedding' },
      body: { InputList: ['one', 'two'] },
    })
    const answer = { Response: { Data: [{ Embedding: [1] }, { Embedding: [2] }], Usage: { PromptTokens: 4 } } }
    expect(read(answer)).toEqual(listed([1], [2]))
    expect(usage(answer)).toEqual({ promptTokens: 4 })
    expect(() => usage({ Response: { Error: { Code: 'AuthFailure.X', Message: 'no' } } })).toThrow(UpstreamRefusal)
  })

  test('of the first Qianfan carry the token in the address and fail with HTTP 200', () => {
    const input = { type: 15, key: 'a|b', model: 'bge-large-zh', token: 't/1' }
    const { sent, usage } = operation('embeddings', input, texts)
    expect(sent().url).toBe(
      'https://host.test/rpc/2.0/ai_custom/v1/wenxinworkshop/embeddings/bge_large_zh?access_token=t%2F1',
    )
    expect(() => usage({ error_code: 110, error_msg: 'expired' })).toThrow('expired')
  })

  test('of Vertex are predictions that count themselves', () => {
    const key = JSON.stringify({ client_email: 'a@b', private_key: 'k', project_id: 'p' })
    const input = { type: 41, baseUrl: '', key, other: 'us-central1', model: 'text-embedding-005', token: 't' }
    const { sent, read, usage } = operation('embeddings', input, { ...texts, dimensions: 2 })
    expect(sent()).toMatchObject({
      url: 'https://us-central1-aiplatform.googleapis.com/v1/projects/p/locations/us-central1/publishers/google/models/text-embedding-005:predict',
      headers: { authorization: 'Bearer t' },
      body: { instances: [{ content: 'one' }, { content: 'two' }], parameters: { outputDimensionality: 2 } },
    })
    const embedding = (values: number[]) => ({ embeddings: { values, statistics: { token_count: 3 } } })
    const answer = { predictions: [embedding([1]), embedding([2])] }
    expect(read(answer)).toEqual(listed([1], [2]))
    expect(usage(answer)).toEqual({ promptTokens: 6 })
  })

  test('of newer models of Vertex are the vendor’s own call, of one text', () => {
    const key = JSON.stringify({ client_email: 'a@b', private_key: 'k', project_id: 'p' })
    const input = { type: 41, baseUrl: '', key, model: 'gemini-embedding-2', token: 't' }
    const asked = { input: ['one'], dimensions: 2, task_type: 'RETRIEVAL_QUERY' }
    const { sent, read, usage } = operation('embeddings', input, asked)
    expect(sent()).toMatchObject({ url: expect.stringMatching(/\/models\/gemini-embedding-2:embedContent$/) })
    expect(sent().body).toEqual({
      content: { parts: [{ text: 'one' }] },
      outputDimensionality: 2,
      taskType: 'RETRIEVAL_QUERY',
      autoTruncate: true,
    })
    const answer = { embedding: { values: [1] }, usageMetadata: { promptTokenCount: 3 } }
    expect(read(answer)).toEqual(listed([1]))
    const promptTokensDetails = [
      { modality: 'AUDIO', tokenCount: 2 },
      { modality: 'IMAGE', tokenCount: 1 },
    ]
    const usageMetadata = { promptTokenCount: 3, promptTokensDetails }
    expect(usage({ ...answer, usageMetadata })).toEqual({ promptTokens: 3, audioInputTokens: 2, imageInputTokens: 1 })
    expect(usage(answer)).toEqual({ promptTokens: 3 })
  })

  test('of Perplexity are small whole numbers, packed', () => {
    const { sent, read } = operation('embeddings', { type: 27 }, texts)
    expect(sent()).toMatchObject({
      url: 'https://host.test/v1/embeddings',
      body: { encoding_format: 'base64_int8', input: ['one', 'two'] },
    })
    const packed = Buffer.from(new Int8Array([1, -2, 127])).toString('base64')
    expect(read({ data: [{ index: 0, embedding: packed }] })).toEqual({ data: [{ index: 0, embedding: [1, -2, 127] }] })
  })

  test('of Ark’s models that see are one vector, at an address of their own', () => {
    const { sent, read } = operation('embeddings', { type: 45, model: 'doubao-embedding-vision-1' }, { input: 'one' })
    expect(sent()).toMatchObject({
      url: 'https://host.test/api/v3/embeddings/multimodal',
      body: { input: [{ type: 'text', text: 'one' }] },
    })
    expect(read({ data: { embedding: [1] }, usage: {} })).toMatchObject(listed([1]))
  })

  test('stand right below the address of MokaAI, and are packed by nobody but us at Jina and Qianfan', () => {
    expect(operation('embeddings', { type: 44 }, texts).sent().url).toBe('https://host.test/embeddings')
    const jina = operation('embeddings', { type: 38 }, { ...texts, encoding_format: 'base64', task: 'retrieval.query' })
    expect(jina.sent()).toMatchObject({ url: 'https://host.test/v1/embeddings' })
    expect(jina.sent().body).toEqual({ model: 'some-model', ...texts, task: 'retrieval.query' })
    const qianfan = operation('embeddings', { type: 46 }, { ...texts, encoding_format: 'base64' })
    expect(qianfan.sent()).toMatchObject({ url: 'https://host.test/v2/embeddings' })
    expect(qianfan.sent().body).toEqual({ model: 'some-model', ...texts })
  })

  test('are sent in the portions a vendor takes', () => {
    const most = (type: number, model = 'some-model') => {
      const mostInputs = providerFor(type).plain?.embeddings?.mostInputs
      const call = callWith({ model, channel: { type } })
      return typeof mostInputs === 'function' ? mostInputs(call, { json: texts, form: null }) : mostInputs
    }
    expect([17, 15, 46, 34, 40, 26, 39, 1].map((type) => most(type))).toEqual([10, 16, 16, 96, 32, 64, 100, undefined])
    for (const type of [15, 46]) expect(most(type, 'tao-8k')).toBe(1)
    expect(most(46, 'gme-qwen2-vl-2b-instruct')).toBe(1)
  })

  test('of Voyage are asked for in its own words at its own address, and as everywhere below others', () => {
    const asked = { ...texts, dimensions: 256, input_type: 'query' }
    const embed = (baseUrl: string, json: Json) => operation('embeddings', { type: 1, baseUrl }, json).sent()
    const voyage = 'https://api.voyageai.com'
    expect(embed(voyage, { ...asked, encoding_format: 'float' })).toMatchObject({ url: `${voyage}/v1/embeddings` })
    const own = { model: 'some-model', ...texts, input_type: 'query', output_dimension: 256 }
    expect(embed(voyage, { ...asked, encoding_format: 'float' }).body).toEqual(own)
    expect(embed(`${voyage}/v1`, { ...asked, encoding_format: 'base64' }).body).toEqual({
      ...own,
      encoding_format: 'base64',
    })
    expect(() => embed(voyage, { input: [1, 2] })).toThrow(expect.objectContaining({ code: 'unsupported.token_input' }))
    const common = { ...asked, encoding_format: 'float' }
    expect(embed('https://api.voyageai.com.host.test', common).body).toEqual({ ...common, model: 'some-model' })
  })

  test('of token lists are for the original and its like alone', () => {
    for (const type of [34, 38, 40, 4]) {
      expect(() => operation('embeddings', { type }, { input: [1, 2] }).sent(), String(type)).toThrow(
        expect.objectContaining({ code: 'unsupported.token_input' }),
      )
    }
    for (const type of [1, 3, 8])
      expect(operation('embeddings', { type }, { input: [1, 2] }).sent().body).toMatchObject({ input: [1, 2] })
  })
})

describe('images', () => {
  test('of DashScope are a task that is asked for until it is done', () => {
    const { sent, next, read, usage } = operation(
      'images',
      { type: 17, model: 'wanx-v1' },
      { prompt: 'p', size: '1024x720', n: 2 },
    )
    expect(sent()).toMatchObject({
      url: 'https://host.test/api/v1/services/aigc/text2image/image-synthesis',
      headers: { 'x-dashscope-async': 'enable' },
      body: { model: 'wanx-v1', input: { prompt: 'p' }, parameters: { size: '1024*720', n: 2 } },
    })
    expect(next({ output: { task_id: 't', task_status: 'PENDING' } })).toMatchObject({
      request: { method: 'GET', url: 'https://host.test/api/v1/tasks/t' },
      afterMs: 3000,
    })
    const done = {
      output: { task_id: 't', task_status: 'SUCCEEDED', results: [{ url: 'https://p/1' }, { code: 'X' }] },
    }
    expect(next(done)).toBeUndefined()
    expect(read(done)).toEqual({ data: [{ url: 'https://p/1' }] })
    expect(usage(done)).toBeUndefined()
    expect(() => next({ output: { task_id: 't', task_status: 'FAILED', message: 'no luck' } })).toThrow('no luck')
    expect(() => usage({ output: { results: [{ code: 'DataInspectionFailed', message: 'hidden' }] } })).toThrow(
      'hidden',
    )
  })

  test('of DashScope have the size that a model draws, or none', () => {
    const sizeFor = (model: string, size?: string) => {
      const { body } = operation('images', { type: 17, model }, { prompt: 'p', size }).sent()
      return (body as { parameters: { size?: string } }).parameters.size
    }
    expect(sizeFor('wanx-v1')).toBeUndefined()
    expect(sizeFor('qwen-image-max-2025-12-30', 'auto')).toBeUndefined()
    expect(sizeFor('qwen-image-max-2025-12-30', '1024x1536')).toBe('1104*1472')
    expect(sizeFor('qwen-image', '928*1664')).toBe('928*1664')
    expect(sizeFor('qwen-image-2.0-pro', '2048x1024')).toBe('2048*1024')
    expect(sizeFor('wan2.5-t2i-preview', '1024x1536')).toBe('1046*1568')
    expect(sizeFor('wan2.6-t2i', '2048x2048')).toBe('1440*1440')
    expect(sizeFor('wan2.6-t2i', '1792x1024')).toBe('1792*1024')
    expect(sizeFor('wan2.2-t2i-plus', '1024x1024')).toBe('1024*1024')
    const path = (model: string) => operation('images', { type: 17, model }, { prompt: 'p' }).sent().url
    for (const model of ['wan2.6-t2i', 'wan3.0-t2i', 'z-image-turbo', 'qwen-image-plus'])
      expect(path(model), model).toContain('/multimodal-generation/')
    for (const model of ['wan2.5-t2i-preview', 'wanx2.1-t2i-turbo'])
      expect(path(model), model).toContain('/text2image/')
  })

  test('of DashScope are one where nobody says how many, whatever a model would draw by itself', () => {
    const countFor = (name: 'images' | 'image-edits', model: string, json: Json = {}) => {
      const { body } = operation(name, { type: 17, model }, { prompt: 'p', image: 'https://p/0', ...json }).sent()
      return (body as { parameters: { n?: number } }).parameters.n
    }
    for (const model of ['wanx-v1', 'wan2.5-t2i-preview', 'wan2.6-t2i'])
      expect(countFor('images', model), model).toBe(1)
    expect(countFor('image-edits', 'wan2.6-image')).toBe(1)
    expect(countFor('images', 'wan2.6-t2i', { n: 3 })).toBe(3)
    // These draw one, and some of them take no number.
    for (const model of ['z-image-turbo', 'qwen-image']) expect(countFor('images', model), model).toBeUndefined()
  })

  test('are edited by models of DashScope that are shown them, and refused where a model would ignore what is asked', () => {
    const edit = (json: Json, model = 'qwen-image-edit-plus') =>
      operation('image-edits', { type: 17, model }, { prompt: 'p', ...json })
    const image = 'https://p/0'
    const { sent, read, usage } = edit({ image, n: '2', size: '1024x1536', negative_prompt: 'blurry' })
    expect(sent()).toMatchObject({
      url: 'https://host.test/api/v1/services/aigc/multimodal-generation/generation',
      body: {
        model: 'qwen-image-edit-plus',
        input: { messages: [{ role: 'user', content: [{ image }, { text: 'p' }] }] },
        parameters: { n: 2, size: '1024*1536', negative_prompt: 'blurry' },
      },
    })
    expect(edit({ images: [{ image_url: image }, { image_url: image }] }).sent().body).toMatchObject({
      input: { messages: [{ content: [{ image }, { image }, { text: 'p' }] }] },
    })
    expect(edit({ image }).sent().body).toHaveProperty('parameters', {})
    const done = { output: { choices: [{ message: { content: [{ image: 'https://p/1' }] } }] } }
    expect(read(done)).toEqual({ data: [{ url: 'https://p/1' }] })
    expect(() => usage({ code: 'DataInspectionFailed', message: 'hidden' })).toThrow('hidden')
    expect(() => edit({}).sent()).toThrow('image is required')
    expect(() => edit({ image, mask: image }).sent()).toThrow(expect.objectContaining({ code: 'unsupported.mask' }))
    expect(() => edit({ image: [image, image, image, image] }).sent()).toThrow(
      expect.objectContaining({ code: 'unsupported.edited_images', params: { most: 3 } }),
    )
    const nine = Array.from({ length: 9 }, () => image)
    expect(edit({ image: nine }, 'wan2.7-image-pro').sent().body).toMatchObject({
      input: { messages: [{ content: { length: 10 } }] },
    })
    expect(() => edit({ image: [...nine, image] }, 'wan2.7-image').sent()).toThrow(
      expect.objectContaining({ params: { most: 9 } }),
    )
    expect(() => edit({ image }, 'wanx2.1-imageedit').sent()).toThrow(
      expect.objectContaining({ code: 'unsupported.image_edits' }),
    )
  })

  test('of Google are predictions of some models and words of others', () => {
    const imagen = operation('images', { type: 24, model: 'imagen-4.0' }, { prompt: 'p', size: '1792x1024', n: 9 })
    expect(imagen.sent()).toMatchObject({
      url: 'https://host.test/v1beta/models/imagen-4.0:predict',
      body: { instances: [{ prompt: 'p' }], parameters: { sampleCount: 4, aspectRatio: '16:9' } },
    })
    // A number may be a text, and as many are charged.
    const two = operation('images', { type: 24, model: 'imagen-4.0' }, { prompt: 'p', n: '2' })
    expect(two.sent()).toMatchObject({ body: { parameters: { sampleCount: 2 } } })
    expect(imagen.read({ predictions: [{ bytesBase64Encoded: 'AA' }, { raiFilteredReason: 'x' }] })).toEqual({
      data: [{ b64_json: 'AA' }],
    })
    expect(() => imagen.usage({ predictions: [{ raiFilteredReason: 'too much' }] })).toThrow('too much')
    const talking = operation('images', { type: 24, model: 'gemini-2.5-flash-image' }, { prompt: 'p' })
    expect(talking.sent()).toMatchObject({
      url: 'https://host.test/v1beta/models/gemini-2.5-flash-image:generateContent',
      body: { generationConfig: { responseModalities: ['TEXT', 'IMAGE'] } },
    })
    const parts = [{ text: 'Here.' }, { inlineData: { mimeType: 'image/png', data: 'AA' } }]
    expect(talking.sent()).toMatchObject({ mostImages: 1, losses: [] })
    expect(imagen.sent()).toMatchObject({ mostImages: 4, losses: ['n'] })
    expect(talking.read({ candidates: [{ content: { parts } }] })).toEqual({
      data: [{ b64_json: 'AA', revised_prompt: 'Here.' }],
    })
  })

  test('of Ark and Zhipu are one for a call, and no number is sent to them', () => {
    for (const type of [45, 26]) {
      const { sent } = operation('images', { type }, { prompt: 'p', n: 4, size: '1024x1024' })
      expect(sent().body).toEqual({ model: 'some-model', prompt: 'p', size: '1024x1024' })
      expect(sent()).toMatchObject({ mostImages: 1, losses: ['n'] })
    }
  })

  test('of Ark have the size that a model draws, in the shape that was asked for', () => {
    const sizeFor = (model: string, size: string, name: 'images' | 'image-edits' = 'images') => {
      const { body } = operation(name, { type: 45, model }, { prompt: 'p', image: 'https://p/0', size }).sent()
      return (body as { size?: string }).size
    }
    for (const model of [
      'doubao-seedream-4-5-251128',
      'doubao-seedream-5-0-260128',
      'doubao-seedream-5-0-lite-260128',
    ]) {
      expect(sizeFor(model, '1024x1024')).toBe('1920x1920')
      expect(sizeFor(model, '1024x1024', 'image-edits')).toBe('1920x1920')
      expect(sizeFor(model, '8192x4096')).toBe('5792x2896')
      for (const size of ['2560x1440', '2K']) expect(sizeFor(model, size)).toBe(size)
      for (const name of ['images', 'image-edits'] as const) expect(sizeFor(model, 'auto', name)).toBeUndefined()
    }
    for (const model of ['doubao-seedream-4-0-250828', 'doubao-seedream-5-0-pro-260628']) {
      expect(sizeFor(model, '1024x1024')).toBe('1024x1024')
      expect(sizeFor(model, '512x512')).toBe('960x960')
    }
    expect(sizeFor('doubao-seedream-5-0-pro-260628', '4096x4096')).toBe('2150x2150')
    expect(sizeFor('ep-20260101', '512x512')).toBe('512x512')
  })

  test('of SiliconFlow are one for a call, but of the model that has a word for more', () => {
    const draw = (model: string) => operation('images', { type: 40, model }, { prompt: 'p', n: 2 }).sent()
    expect(draw('Qwen/Qwen-Image')).toMatchObject({ mostImages: 1, losses: ['n'] })
    expect(draw('Qwen/Qwen-Image').body).toEqual({ model: 'Qwen/Qwen-Image', prompt: 'p' })
    expect(draw('Kwai-Kolors/Kolors')).toMatchObject({ body: { batch_size: 2 }, losses: [] })
    expect(draw('Kwai-Kolors/Kolors').mostImages).toBe(Infinity)
  })

  test('of SiliconFlow, xAI and Cloudflare have their own words for size and number', () => {
    const asked = { prompt: 'p', size: '1024x1792', n: 2 }
    const kolors = { type: 40, model: 'Kwai-Kolors/Kolors' }
    const silicon = operation('images', kolors, asked)
    expect(silicon.sent().body).toEqual({ model: kolors.model, prompt: 'p', image_size: '1024x1792', batch_size: 2 })
    expect(silicon.read({ images: [{ url: 'u' }] })).toEqual({ data: [{ url: 'u' }] })
    expect(operation('images', { type: 48 }, asked).sent().body).toEqual({
      model: 'some-model',
      prompt: 'p',
      n: 2,
      aspect_ratio: '9:16',
    })
    const flare = operation('images', { type: 39, other: 'acc', model: '@cf/a/b' }, asked)
    expect(flare.sent()).toMatchObject({
      url: 'https://host.test/client/v4/accounts/acc/ai/run/@cf/a/b',
      body: { prompt: 'p', width: 1024, height: 1792 },
    })
    expect(flare.sent()).toMatchObject({ mostImages: 1, losses: ['n'] })
    const model = '@cf/black-forest-labs/flux-2-dev'
    const form = operation('images', { type: 39, model }, { ...asked, num_steps: 25 }).sent()
    expect(form).toMatchObject({ isForm: true, body: { prompt: 'p', steps: 25, width: 1024, height: 1792 } })
    expect(flare.made(Buffer.from('png'))).toEqual({ data: [{ b64_json: Buffer.from('png').toString('base64') }] })
    expect(() => flare.usage({ success: false, errors: [{ code: 5007, message: 'no such model' }] })).toThrow('no such')
  })
})

describe('audio', () => {
  test('is transcribed by Cloudflare in the language and with the words that are given, where the model reads them', () => {
    const asked = { model: 'm', language: 'de', prompt: 'names', response_format: 'text', temperature: '0' }
    const transcribe = (model: string, json: Json) => {
      const { translation } = operation('transcriptions', { type: 39, other: 'acc', model }, {})
      const call = callWith({ model, channel: { type: 39, baseUrl: 'https://host.test', key: 'k', other: 'acc' } })
      return translation.request({ json, form: null, file: Buffer.from('sound') }, call)
    }
    const turbo = transcribe('@cf/openai/whisper-large-v3-turbo', asked)
    expect(turbo.body).toEqual({
      audio: Buffer.from('sound').toString('base64'),
      language: 'de',
      initial_prompt: 'names',
    })
    expect(turbo.losses).toEqual(['response_format', 'temperature'])
    const plain = transcribe('@cf/openai/whisper', { ...asked, response_format: 'json' })
    expect(plain.body).toEqual(Buffer.from('sound'))
    expect(plain.losses).toEqual(['language', 'prompt', 'temperature'])
  })

  test('of MiniMax is hexadecimal text, by a voice of its own', () => {
    const { sent, audio, usage } = operation(
      'speech',
      { type: 35 },
      { input: 'hi', voice: 'alloy', response_format: 'wav' },
    )
    expect(sent()).toMatchObject({
      url: 'https://host.test/v1/t2a_v2',
      body: { text: 'hi', voice_setting: { voice_id: 'female-chengshu' }, audio_setting: { format: 'wav' } },
    })
    const answer = { data: { audio: '6869' }, extra_info: { usage_characters: 2 }, base_resp: { status_code: 0 } }
    expect(audio(answer)).toEqual({ contentType: 'audio/wav', bytes: Buffer.from('hi') })
    expect(usage(answer)).toBeUndefined()
    expect(() => usage({ base_resp: { status_code: 1008, status_msg: 'empty' } })).toThrow('empty')
  })

  test('of Mistral is packed into JSON', () => {
    const { sent, audio } = operation('speech', { type: 42 }, { input: 'hi', voice: 'mary' })
    expect(sent()).toMatchObject({ url: 'https://host.test/v1/audio/speech', body: { input: 'hi', voice_id: 'mary' } })
    expect(audio({ audio_data: Buffer.from('hi').toString('base64') })).toEqual({
      contentType: 'audio/mpeg',
      bytes: Buffer.from('hi'),
    })
  })
})
