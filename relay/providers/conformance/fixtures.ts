import { existsSync, readFileSync } from 'node:fs'
import { createParser } from 'eventsource-parser'
import type { WireEvent } from '#relay/transport/framing.ts'
import type { ProviderCall, ProviderOptions } from '../types.ts'
import { createJsonLineReader } from '../shared/json-lines.ts'

export const readJson = (folder: URL, name: string): unknown => JSON.parse(readText(folder, name))

export const readText = (folder: URL, name: string): string => readFileSync(new URL(name, folder), 'utf8')

export const hasJson = (folder: URL, name: string): boolean => existsSync(new URL(`${name}.json`, folder))

export const hasStream = (folder: URL, name: string): boolean =>
  existsSync(new URL(`${name}.sse`, folder)) || existsSync(new URL(`${name}.ndjson`, folder))

/** The events of a recorded stream, as the relay's framing hands them to a decoder: server-sent events, or JSON lines. */
export function readEvents(folder: URL, name: string): WireEvent[] {
  const lines = name.replace(/\.sse$/, '.ndjson')
  if (existsSync(new URL(lines, folder))) {
    const reader = createJsonLineReader()
    return [...reader.push(readFileSync(new URL(lines, folder))), ...reader.end()]
  }
  const events: WireEvent[] = []
  const parser = createParser({ onEvent: ({ event, data }) => events.push({ ...(event ? { event } : {}), data }) })
  parser.feed(readText(folder, name))
  return events
}

/** The documented defaults. */
export const defaultOptions: ProviderOptions = {
  'claude.default_max_tokens': { default: 8192 },
  'claude.model_headers_settings': {},
  'claude.thinking_adapter_enabled': true,
  'claude.thinking_adapter_budget_tokens_percentage': 0.8,
  'gemini.safety_settings': {
    default: 'OFF',
    HARM_CATEGORY_HARASSMENT: 'BLOCK_NONE',
    HARM_CATEGORY_HATE_SPEECH: 'BLOCK_NONE',
    HARM_CATEGORY_SEXUALLY_EXPLICIT: 'BLOCK_NONE',
    HARM_CATEGORY_DANGEROUS_CONTENT: 'BLOCK_NONE',
  },
  'gemini.version_settings': { default: 'v1beta' },
  'gemini.supported_imagine_models': ['gemini-2.0-flash-exp-image-generation', 'gemini-2.0-flash-exp'],
  'gemini.models_supported_thinking_budget': ['gemini-2.5-flash-preview-05-20'],
  'gemini.thinking_adapter_enabled': false,
  'gemini.thinking_adapter_budget_tokens_percentage': 0.6,
}

type CallChanges = Partial<Omit<ProviderCall, 'channel' | 'options'>> & {
  channel?: Partial<ProviderCall['channel']>
  options?: Partial<ProviderOptions>
}

/** A call as the gateway would make it; ids count up, so that answers can be compared. */
export function callWith(changes: CallChanges = {}): ProviderCall {
  let ids = 0
  const model = changes.model ?? 'gpt-4o'
  return {
    originalModel: model,
    stream: false,
    ambient: {
      now: () => new Date('2026-01-02T03:04:05Z'),
      newId: (length) => String((ids += 1)).padStart(length, '0'),
      random: () => 0.5,
    },
    callerHeaders: {},
    query: {},
    ...changes,
    model,
    options: { ...defaultOptions, ...changes.options },
    channel: {
      id: 7,
      type: 1,
      baseUrl: 'https://api.openai.com',
      key: 'sk-test',
      other: '',
      organization: '',
      createdAt: new Date('2026-01-01T00:00:00Z'),
      ...changes.channel,
    },
  }
}
