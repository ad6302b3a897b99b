import { expect, test } from 'vitest'
import { dropCallIds } from './call-ids.ts'

test('results stand in the order of their calls, each with the images that follow it, and words stay at the end', () => {
  const asked = ['a', 'b'].map((id) => ({ functionCall: { id, name: 'look', args: { id } } }))
  const result = (id: string) => ({ functionResponse: { id, name: 'look', response: { id } } })
  const image = { inlineData: { mimeType: 'image/png', data: 'YQ==' } }
  const words = { text: 'go on' }
  const body = {
    contents: [
      { role: 'model', parts: asked },
      { role: 'user', parts: [result('b'), image, result('a'), words] },
    ],
  }
  dropCallIds(body)
  const bare = (id: string) => ({ functionResponse: { name: 'look', response: { id } } })
  expect(body.contents[1]?.parts).toEqual([bare('a'), bare('b'), image, words])
})
