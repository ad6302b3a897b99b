import { expect, test } from 'vitest'
import type { ProviderCall } from '#relay/providers/types.ts'
import { dialectOf } from '#relay/dialects/registry.ts'
import { testContext } from '#relay/dialects/testing/stream-text.ts'
import { callWith } from '#relay/providers/conformance/fixtures.ts'
import { providerFor } from '#relay/providers/registry.ts'
import type { WireEvent } from '#relay/transport/framing.ts'
import { createSseParser } from '#relay/transport/sse.ts'
import { bytesOf, type Framing, scenarios, type Scenario } from './scenarios.ts'

const framings: Record<string, Framing> = {
  LF: {},
  CR: { lineEnd: '\r' },
  CRLF: { lineEnd: '\r\n', comments: true },
  'no blank after the colon and no last blank line': { space: '', lastBlankLine: false, byteOrderMark: true },
}

function eventsOf(pieces: Buffer[]): WireEvent[] {
  const events: WireEvent[] = []
  const parser = createSseParser({ onEvent: ({ event, data }) => events.push({ event, data }) })
  for (const piece of pieces) parser.push(piece)
  parser.end()
  return events
}

/** The answer as a caller reads it. */
function translated(scenario: Scenario, events: WireEvent[], caller: Parameters<typeof dialectOf>[0]): string {
  const call: ProviderCall = { ...callWith(), stream: true }
  const decoder = providerFor(scenario.type).chat.stream(call)
  const encoder = dialectOf(caller).stream(testContext())
  const text = events.flatMap((event) => decoder.push(event)).map((event) => encoder.push(event))
  return [...text, ...decoder.end().map((event) => encoder.push(event)), encoder.close()].join('')
}

const callers = ['openai-chat', 'openai-responses', 'openai-completions', 'claude', 'gemini'] as const

for (const scenario of scenarios) {
  test.each(Object.keys(framings))(
    `an answer of ${scenario.upstream} is the same for every caller, wherever its bytes are cut: %s`,
    (name) => {
      const bytes = bytesOf(scenario, framings[name])
      const unsplit = eventsOf([bytesOf(scenario)])
      expect(unsplit).toHaveLength(scenario.events.length)
      for (let at = 1; at < bytes.length; at += 1) {
        expect(eventsOf([bytes.subarray(0, at), bytes.subarray(at)]), String(at)).toEqual(unsplit)
      }
      const byByte = eventsOf(Array.from(bytes, (_, at) => bytes.subarray(at, at + 1)))
      for (const caller of callers) {
        expect(translated(scenario, byByte, caller)).toBe(translated(scenario, unsplit, caller))
        expect(translated(scenario, unsplit, caller)).toContain('好')
      }
    },
  )
}
