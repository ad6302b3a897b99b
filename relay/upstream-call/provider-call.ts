import type { ProviderCall, ProviderOptions } from '#relay/providers/types.ts'
import type { UpstreamChannel, UpstreamDeps } from './channel.ts'

/** Written out: every call makes one, and a list of pairs takes ten times as long. */
const readOptions = ({ options }: Pick<UpstreamDeps, 'options'>): ProviderOptions => ({
  'claude.default_max_tokens': options.get('claude.default_max_tokens'),
  'claude.model_headers_settings': options.get('claude.model_headers_settings'),
  'claude.thinking_adapter_enabled': options.get('claude.thinking_adapter_enabled'),
  'claude.thinking_adapter_budget_tokens_percentage': options.get('claude.thinking_adapter_budget_tokens_percentage'),
  'gemini.safety_settings': options.get('gemini.safety_settings'),
  'gemini.version_settings': options.get('gemini.version_settings'),
  'gemini.supported_imagine_models': options.get('gemini.supported_imagine_models'),
  'gemini.models_supported_thinking_budget': options.get('gemini.models_supported_thinking_budget'),
  'gemini.thinking_adapter_enabled': options.get('gemini.thinking_adapter_enabled'),
  'gemini.thinking_adapter_budget_tokens_percentage': options.get('gemini.thinking_adapter_budget_tokens_percentage'),
})

type Asked = Pick<ProviderCall, 'model' | 'originalModel' | 'stream'> &
  Partial<Pick<ProviderCall, 'callerHeaders' | 'query' | 'marksPrompts'>>

/** What a provider may know of a call: the channel, the names, the options that shape requests. */
export const toProviderCall = (
  deps: Pick<UpstreamDeps, 'options' | 'ambient'>,
  channel: UpstreamChannel,
  asked: Asked,
): ProviderCall => ({
  channel,
  callerHeaders: {},
  query: {},
  ...asked,
  options: readOptions(deps),
  ambient: deps.ambient,
  site: { name: deps.options.get('SystemName'), url: deps.options.get('ServerAddress') },
})
