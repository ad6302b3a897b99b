import { expect, test } from 'vitest'
import { readBatch } from './requests.ts'

test('a request of a batch may have any number of texts', async () => {
  const content = Array.from({ length: 200_000 }, () => ({ type: 'text', text: 'a' }))
  const params = { model: 'm', max_tokens: 10, messages: [{ role: 'user', content }] }
  const { texts } = await readBatch({ requests: [{ custom_id: 'a', params }] })
  expect(texts.length).toBeGreaterThanOrEqual(content.length)
})
