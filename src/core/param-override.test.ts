import { expect, test } from 'vitest'
import { overriddenInput, protectedNameIn, textsOfOverride, withOverride } from './param-override.ts'

const input = { maxTokens: 10, choiceCount: 1 }

test('sets and removes names, leaves the protected ones and the body itself alone', () => {
  const body = { model: 'a', top_p: 1, temperature: 0, stream: false }
  const override = JSON.parse('{"model":"b","stream":true,"temperature":0.5,"top_p":null,"seed":7,"__proto__":{"x":1}}')
  expect(withOverride(body, override)).toEqual({ model: 'a', stream: false, temperature: 0.5, seed: 7 })
  expect(body).toEqual({ model: 'a', top_p: 1, temperature: 0, stream: false })
  expect(({} as { x?: number }).x).toBeUndefined()
})

test('names what an override may not have', () => {
  expect(protectedNameIn({ temperature: 1, stream_options: {} })).toBe('stream_options')
  expect(protectedNameIn({ temperature: 1 })).toBeUndefined()
})

test('an address that a vendor brings answers to is none of an override, wherever it stands and however it is called', () => {
  for (const name of [
    'webhook',
    'callback_url',
    'callBackUrl',
    'notifyHook',
    'notify_url',
    'notification-uri',
    'Webhooks',
  ]) {
    expect(protectedNameIn({ [name]: 'https://elsewhere.example' })).toBe(name)
    expect(protectedNameIn({ input: [{ options: { [name]: ['https://elsewhere.example'] } }] })).toBe(name)
    expect(withOverride({ a: 1 }, { [name]: 'https://elsewhere.example', b: 2 })).toEqual({ a: 1, b: 2 })
    expect(withOverride({ a: 1 }, { input: { [name]: 'https://elsewhere.example' } })).toEqual({ a: 1 })
    const nested = [{ url: 'https://elsewhere.example' }, [{ to: { host: 'elsewhere.example' } }]]
    for (const value of nested) {
      expect(protectedNameIn({ [name]: value })).toBe(name)
      expect(protectedNameIn({ input: { options: { [name]: value } } })).toBe(name)
      expect(withOverride({ a: 1 }, { [name]: value, b: 2 })).toEqual({ a: 1, b: 2 })
    }
    expect(protectedNameIn({ [name]: { enabled: true } })).toBeUndefined()
    const schema = {
      type: 'object',
      properties: { [name]: { type: 'object', properties: { [name]: { type: 'string' } } } },
    }
    expect(protectedNameIn({ response_format: { type: 'json_schema', json_schema: { schema } } })).toBeUndefined()
    // Taken out of the body, or the name of a tool's argument.
    expect(protectedNameIn({ [name]: null, tools: [{ properties: { [name]: { type: 'string' } } }] })).toBeUndefined()
  }
})

test('the limit of the output follows the body as sent, in every vendor’s words', () => {
  const body = { max_tokens: 10 }
  expect(overriddenInput(body, { temperature: 1 }, input)).toEqual(input)
  expect(overriddenInput(body, { max_tokens: 5000 }, input)).toEqual({ maxTokens: 5000, choiceCount: 1 })
  expect(overriddenInput(body, { max_tokens: 3 }, input).maxTokens).toBe(3)
  expect(overriddenInput(body, { max_completion_tokens: 3 }, input).maxTokens).toBe(10)
  expect(overriddenInput(body, { max_tokens: null }, input).maxTokens).toBeUndefined()
  expect(overriddenInput(body, { n: 4 }, input)).toEqual({ maxTokens: 10, choiceCount: 4 })
  const google = { generationConfig: { maxOutputTokens: 10, candidateCount: 1 } }
  const generationConfig = { maxOutputTokens: 900, candidateCount: 2 }
  expect(overriddenInput(google, { generationConfig }, input)).toEqual({ maxTokens: 900, choiceCount: 2 })
})

test('texts and lists of an override belong to the prompt, numbers and switches do not', () => {
  const override = {
    temperature: 1,
    tools: [{ name: 'a' }],
    suffix: 'end',
    logprobs: true,
    model: 'b',
    options: { x: 'y' },
  }
  expect(textsOfOverride(override)).toEqual(['[{"name":"a"}]', 'end'])
})
