import type { Holding } from '#features/request-bodies/budget.ts'
import { expect, test } from 'vitest'
import { readPlainRequest } from './read-request.ts'

/** A form with one image of a megabyte, as its bytes, and what is held for it so far. */
async function given() {
  const form = new FormData()
  form.set('prompt', 'a dog')
  form.set('image', new File([Buffer.alloc(1024 * 1024, 7)], 'cat.png', { type: 'image/png' }))
  const sent = new Response(form)
  const bytes = Buffer.from(await sent.arrayBuffer())
  const held = { times: 0 }
  const holding: Holding = {
    bytes: () => bytes.length,
    raise: (most: number) => {
      held.times = Math.max(held.times, most / bytes.length)
      return undefined
    },
    lower: (most: number) => {
      held.times = most / bytes.length
    },
    most: Infinity,
    beside: () => holding,
    release: () => {},
  }
  const read = await readPlainRequest({ bytes, holding }, sent.headers.get('content-type') ?? '')
  return { held, read }
}

test('a form that was read holds twice its bytes, and more only where its images are written as text', async () => {
  const { held, read } = await given()
  expect(held.times).toBe(2)
  // The form itself is kept as files alone.
  expect(read.body.bytes.toString()).toBe('{"prompt":"a dog"}')
  expect(read).not.toHaveProperty('images')
  const [image] = (await read.readImages?.()) ?? []
  expect(held.times).toBe(5)
  expect(image).toBe(`data:image/png;base64,${Buffer.alloc(1024 * 1024, 7).toString('base64')}`)
})
