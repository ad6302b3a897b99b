import { listProviders } from '../registry.ts'
import type { Provider, ProviderCall } from '../types.ts'
import { callWith } from './fixtures.ts'

export const guarantees = [
  'text',
  'tools',
  'thinking',
  'stop reasons',
  'pictures',
  'tool results',
  'errors',
  'failure in mid-stream',
  'malformed answers',
  'model list',
] as const
export type Guarantee = (typeof guarantees)[number]

/** How a provider is put to the test: the vendor's own answers, a model of its own, and what it cannot do and why. */
export type Subject = {
  provider: Provider
  /** Folder of the vendor-shaped answers. */
  fixtures: URL
  /** Folder of its model list, where that differs from its answers'. */
  lists: URL
  call: (changes?: { stream?: boolean }) => ProviderCall
  optOut: Partial<Record<Guarantee, string>>
}

type Setting = {
  fixtures?: string
  lists?: string
  model?: string
  baseUrl?: string
  key?: string
  other?: string
  optOut?: Subject['optOut']
}

const openAiStyle = 'openai-compatible'

/** What differs from a vendor of the OpenAI form at an address of its own. */
const settings: Readonly<Record<string, Setting>> = {
  anthropic: { fixtures: 'anthropic', model: 'claude-sonnet-4-5' },
  gemini: { fixtures: 'gemini', model: 'gemini-2.5-flash' },
  aws: { fixtures: 'anthropic', lists: 'aws', model: 'claude-sonnet-4-5', key: 'test-key|secret|us-east-1' },
  perplexity: { optOut: { tools: 'the vendor has no tools' } },
}

function subjectOf(provider: Provider): Subject {
  const setting = settings[provider.id] ?? {}
  const channel = {
    type: provider.channelTypes[0] ?? 1,
    baseUrl: setting.baseUrl ?? 'https://upstream.test',
    key: setting.key ?? 'test-key',
    other: setting.other ?? '',
  }
  return {
    provider,
    fixtures: new URL(`../${setting.fixtures ?? openAiStyle}/__fixtures__/`, import.meta.url),
    lists: new URL(`../${setting.lists ?? setting.fixtures ?? openAiStyle}/__fixtures__/`, import.meta.url),
    call: (changes) => callWith({ model: setting.model ?? 'some-model', channel, ...changes }),
    optOut: setting.optOut ?? {},
  }
}

export const subjects: readonly Subject[] = listProviders().map(subjectOf)
