import type { ProviderCall, ProviderOptions } from '#relay/providers/types.ts'
import type { UpstreamChannel, UpstreamDeps } from './channel.ts'

const providerOptions = [
  'claude.default_max_tokens',
  'claude.model_headers_settings',
  'claude.thinking_adapter_enabled',
  'claude.thinking_adapter_budget_tokens_percentage',
  'gemini.safety_settings',
  'gemini.version_settings',
  'gemini.supported_imagine_models',
  'gemini.models_supported_thinking_budget',
  'gemini.thinking_adapter_enabled',
  'gemini.thinking_adapter_budget_tokens_percentage',
] as const satisfies readonly (keyof ProviderOptions)[]

type Asked = Pick<ProviderCall, 'model' | 'originalModel' | 'stream'> &
  Partial<Pick<ProviderCall, 'callerHeaders' | 'query' | 'marksPrompts'>>

/** What a provider may know of a call: the channel, the names, the options that shape requests. */
export const toProviderCall = (
  { options, ambient }: Pick<UpstreamDeps, 'options' | 'ambient'>,
  channel: UpstreamChannel,
  asked: Asked,
): ProviderCall => ({
  channel,
  callerHeaders: {},
  query: {},
  ...asked,
  options: Object.fromEntries(providerOptions.map((key) => [key, options.get(key)])) as ProviderOptions,
  ambient,
  site: { name: options.get('SystemName'), url: options.get('ServerAddress') },
})
