import { listProviders } from '../registry.ts'
import type { Provider, ProviderCall } from '../types.ts'
import { callWith } from './fixtures.ts'

export const guarantees = [
  'text',
  'cached tokens',
  'tools',
  'thinking',
  'stop reasons',
  'filtered answers',
  'images',
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
  /** The provider, and which of its forms where it speaks several. */
  name: string
  /** Folder of the vendor-shaped answers. */
  fixtures: URL
  /** Folder of its model list, where that differs from its answers'. */
  lists: URL
  call: (changes?: { stream?: boolean }) => ProviderCall
  optOut: Partial<Record<Guarantee, string>>
  /** The upstream is asked for a stream whatever the caller wants, so that there are no complete answers. */
  alwaysStreams: boolean
  /** The answer's own figures; without any the gateway counts. */
  reportsUsage: boolean
}

type Setting = {
  /** Which of a provider's forms this is. */
  form?: string
  fixtures?: string
  lists?: string
  model?: string
  baseUrl?: string
  key?: string
  other?: string
  optOut?: Subject['optOut']
  alwaysStreams?: boolean
  reportsUsage?: boolean
}

const openAiStyle = 'openai-compatible'

const notReported = 'the vendor does not report them'
const noList = 'the vendor has none'

/** Early services: text in, text out. */
const textOnly: Subject['optOut'] = {
  'cached tokens': notReported,
  tools: 'the vendor has no tools',
  thinking: 'its models do not show reasoning',
  'stop reasons': 'the vendor tells no reason',
  'filtered answers': 'the vendor tells no reason',
  images: 'its models read no pictures',
}

const chatless = 'the vendor has no chat; what it has is tested beside it'
const noChat: Subject['optOut'] = {
  text: chatless,
  'cached tokens': chatless,
  tools: chatless,
  thinking: chatless,
  'stop reasons': chatless,
  'filtered answers': chatless,
  images: chatless,
  'tool results': chatless,
  'failure in mid-stream': chatless,
  'malformed answers': chatless,
}

/** What differs from a vendor of the OpenAI form at an address of its own; several where a provider speaks several forms. */
const settings: Readonly<Record<string, Setting | Setting[]>> = {
  anthropic: { fixtures: 'anthropic', model: 'claude-sonnet-4-5' },
  gemini: { fixtures: 'gemini', model: 'gemini-2.5-flash' },
  aws: [
    {
      form: 'Claude',
      fixtures: 'anthropic',
      lists: 'aws',
      model: 'claude-sonnet-4-5',
      key: 'test-key|secret|us-east-1',
    },
    {
      form: 'Converse',
      fixtures: 'aws/converse',
      lists: 'aws',
      model: 'nova-pro-v1:0',
      key: 'test-key|secret|us-east-1',
    },
  ],
  ollama: [
    { form: 'OpenAI', lists: 'ollama' },
    {
      form: 'native',
      fixtures: 'ollama',
      baseUrl: 'https://upstream.test/api',
      optOut: { 'cached tokens': notReported, 'filtered answers': 'the server filters nothing' },
    },
  ],
  vertex: { fixtures: 'gemini', lists: 'vertex', model: 'gemini-2.5-flash' },
  cohere: { fixtures: 'cohere', model: 'command-a-03-2025' },
  tencent: {
    fixtures: 'tencent',
    model: 'hunyuan-lite',
    key: 'test-key|id|secret',
    optOut: { 'cached tokens': notReported },
  },
  baidu: {
    fixtures: 'baidu',
    model: 'ERNIE-4.0-8K',
    key: 'test-key|secret',
    optOut: {
      'cached tokens': notReported,
      tools: 'the vendor knows one call a turn',
      thinking: 'its models do not show reasoning',
      images: 'its models read no pictures',
      'tool results': 'the vendor knows one call a turn',
      'model list': noList,
    },
  },
  dify: {
    fixtures: 'dify',
    optOut: {
      'cached tokens': notReported,
      tools: 'an application has tools of its own',
      thinking: 'an application shows reasoning only of its agents',
      'stop reasons': 'the vendor tells no reason',
      'filtered answers': 'the vendor tells no reason',
      images: 'bytes are sent before the call, which the system tests show',
      'model list': 'an application is its own model',
    },
  },
  coze: {
    fixtures: 'coze',
    other: '73428668',
    alwaysStreams: true,
    optOut: {
      'cached tokens': notReported,
      tools: 'a bot has tools of its own',
      'stop reasons': 'the vendor tells no reason',
      'filtered answers': 'the vendor tells no reason',
      images: 'bytes are sent before the call, which the system tests show',
      'model list': 'a bot is its own model',
    },
  },
  palm: {
    fixtures: 'palm',
    reportsUsage: false,
    optOut: {
      ...textOnly,
      'failure in mid-stream': 'the service never streamed',
    },
  },
  'zhipu-v3': { fixtures: 'zhipu-v3', key: 'test-key.secret', optOut: { ...textOnly, 'model list': noList } },
  'aiproxy-library': {
    fixtures: 'aiproxy-library',
    other: 'library',
    reportsUsage: false,
    optOut: {
      ...textOnly,
      'model list': noList,
      'tool results': 'a library is asked one question at a time',
    },
  },
  jina: { optOut: noChat },
  mokaai: { optOut: noChat },
  replicate: { optOut: { ...noChat, 'model list': noList } },
  xunfei: [
    { form: 'HTTP', optOut: { 'model list': noList } },
    {
      form: 'socket',
      fixtures: 'xunfei',
      model: 'SparkDesk-v3.5',
      key: 'app|secret|test-key',
      alwaysStreams: true,
      optOut: {
        'cached tokens': notReported,
        thinking: 'its models do not show reasoning',
        'stop reasons': 'the vendor tells no reason',
        'filtered answers': 'the vendor tells no reason',
        images: 'its messages are text',
        'model list': noList,
      },
    },
  ],
  deepseek: { optOut: { images: 'its models read no pictures' } },
  perplexity: { optOut: { tools: 'the vendor has no tools' } },
}

function subjectOf(provider: Provider, setting: Setting): Subject {
  const channel = {
    type: provider.channelTypes[0] ?? 1,
    baseUrl: setting.baseUrl ?? 'https://upstream.test',
    key: setting.key ?? 'test-key',
    other: setting.other ?? '',
  }
  return {
    provider,
    name: setting.form === undefined ? provider.id : `${provider.id} (${setting.form})`,
    fixtures: new URL(`../${setting.fixtures ?? openAiStyle}/__fixtures__/`, import.meta.url),
    lists: new URL(`../${setting.lists ?? setting.fixtures ?? openAiStyle}/__fixtures__/`, import.meta.url),
    call: (changes) => callWith({ model: setting.model ?? 'some-model', channel, ...changes }),
    optOut: setting.optOut ?? {},
    alwaysStreams: setting.alwaysStreams ?? false,
    reportsUsage: setting.reportsUsage ?? true,
  }
}

export const subjects: readonly Subject[] = listProviders().flatMap((provider) =>
  [settings[provider.id] ?? {}].flat().map((setting) => subjectOf(provider, setting)),
)
