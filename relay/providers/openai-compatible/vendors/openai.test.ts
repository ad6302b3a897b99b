import { expect, test } from 'vitest'
import { callWith } from '../../conformance/fixtures.ts'
import { openai } from './openai.ts'

test('the model list behind a gateway that names the vendor in its path has no version, as calls have none', () => {
  const baseUrl = 'https://gateway.ai.cloudflare.com/v1/account/name/openai'
  const { channel } = callWith({ channel: { type: 1, baseUrl } })
  expect(openai.models.request(channel).url).toBe(`${baseUrl}/models`)
})
