import { describe, expect, test } from 'vitest'
import { callWith } from '../../conformance/fixtures.ts'
import { custom } from './custom.ts'
import { openai } from './openai.ts'

test('the model list behind a gateway that names the vendor in its path has no version, as calls have none', () => {
  const baseUrl = 'https://gateway.ai.cloudflare.com/v1/account/name/openai'
  const { channel } = callWith({ channel: { type: 1, baseUrl } })
  expect(openai.models.request(channel).url).toBe(`${baseUrl}/models`)
})

test.each([
  ['https://generativelanguage.googleapis.com/v1beta/openai', ''],
  ['https://api.deepinfra.com/v1/openai', ''],
  ['http://llama-stack.test:8321/v1/openai', '/v1'],
])('a base that names the form has a version behind it where the service has one there: %s', (baseUrl, version) => {
  const { channel } = callWith({ channel: { type: 1, baseUrl } })
  expect(openai.models.request(channel).url).toBe(`${baseUrl}${version}/models`)
})

test('tools of which some are strict go to Cerebras as none, and as they are to others', () => {
  const tools = [true, undefined].map((strict) => ({ type: 'function', function: { name: 'f', strict } }))
  const json = { model: 'gpt-oss-120b', messages: [], tools }
  const strictAt = (baseUrl: string) => {
    const call = callWith({ channel: { type: 1, baseUrl } })
    const native = openai.native['openai-chat']?.request({ json, bytes: Buffer.from(JSON.stringify(json)) }, call)
    const body = JSON.parse(String(native?.body)) as { tools: { function: { strict?: boolean } }[] }
    return [body.tools.map((tool) => tool.function.strict), native?.losses]
  }
  expect(strictAt('https://api.cerebras.ai')).toEqual([[false, false], ['tools.strict']])
  expect(strictAt('https://api.groq.com/openai')).toEqual([[true, undefined], []])
})

describe('the reasoning of earlier answers', () => {
  const asked = { role: 'user', content: 'hi', reasoning_content: 'a name of the caller’s' }
  const details = [{ type: 'reasoning.text', text: 'thought', index: 0 }]
  const answered = (fields: object) => ({ role: 'assistant', content: 'a', ...fields })
  const sent = (baseUrl: string, messages: object[], provider = openai) => {
    const json = { model: 'gpt-4o', messages }
    const bytes = Buffer.from(JSON.stringify(json))
    const native = provider.native['openai-chat']?.request({ json, bytes }, callWith({ channel: { type: 1, baseUrl } }))
    return { body: JSON.parse(String(native?.body)), losses: native?.losses, isUntouched: native?.body === bytes }
  }
  const all = answered({ reasoning_content: 'thought', reasoning_details: details, reasoning_signature: 's' })

  test.each([
    [openai, 'https://api.groq.com/openai'],
    [custom, 'https://api.groq.com/openai/v1/chat/completions'],
  ])('is left out for Groq, which refuses it: $id', (provider, baseUrl) => {
    const empty = answered({ reasoning_content: '', reasoning_details: null })
    const { body, losses } = sent(baseUrl, [asked, all, empty], provider)
    expect(body.messages).toEqual([asked, answered({}), answered({})])
    expect(losses).toEqual(['reasoning_content', 'reasoning_details', 'reasoning_signature'])
    expect(sent(baseUrl, [asked, empty], provider).losses).toEqual([])
    expect(sent(baseUrl, [answered({ reasoning: 'its own' })], provider).isUntouched).toBe(true)
  })

  test('goes to Cerebras under its own name', () => {
    const baseUrl = 'https://api.cerebras.ai'
    const { body, losses } = sent(baseUrl, [asked, answered({ reasoning_content: 'thought' })])
    expect([body.messages, losses]).toEqual([[asked, answered({ reasoning: 'thought' })], []])
    const both = sent(baseUrl, [answered({ reasoning: 'own', reasoning_content: 'other', reasoning_details: details })])
    expect([both.body.messages, both.losses]).toEqual([
      [answered({ reasoning: 'own' })],
      ['reasoning_content', 'reasoning_details'],
    ])
  })

  test('goes to any other server as it came', () => {
    for (const baseUrl of [
      'https://api.openai.com',
      'https://api.groq.com.host.test',
      'http://local.test/api.groq.com',
    ])
      expect(sent(baseUrl, [asked, all])).toMatchObject({ isUntouched: true, losses: [] })
  })
})
