import type { ChatEvent, StreamEncoder } from '#relay/chat/events.ts'
import type { EncodeContext } from '../types.ts'

export const testContext = (overrides: Partial<EncodeContext> = {}): EncodeContext => ({
  model: 'asked-model',
  includeUsage: true,
  estimatedPromptTokens: 17,
  ambient: { now: () => new Date('2026-11-20T10:00:00Z'), newId: (length) => 'x'.repeat(length), random: () => 0.5 },
  ...overrides,
})

/** What leaves before the settlement, and what leaves after it. */
export function streamText(
  encoder: StreamEncoder,
  events: ChatEvent[],
): { early: string; late: string; complete: string } {
  const early = events.map((event) => encoder.push(event)).join('')
  const late = encoder.close()
  return { early, late, complete: early + late }
}

/** A `fetch` whose every call is answered with the given stream. */
export const answering =
  (body: string): typeof fetch =>
  () =>
    Promise.resolve(new Response(body, { headers: { 'content-type': 'text/event-stream' } }))

/** Server-sent events as they were written: name and data. */
export const framesOf = (text: string) =>
  text
    .split('\n\n')
    .filter((frame) => frame !== '')
    .map((frame) => {
      const [name = '', data = ''] = frame.split('\n')
      return { name: name.replace('event: ', ''), data: JSON.parse(data.replace('data: ', '')) }
    })
