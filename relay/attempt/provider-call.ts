import { defaultBaseUrlOf } from '#core/channel-types/index.ts'
import type { ProviderCall } from '#relay/providers/types.ts'
import type { Attempt, CallCore, RelayServices } from '#relay/request/call.ts'

/** What a provider may know of a call: the channel, the names, the options that shape requests. */
export function toProviderCall(
  services: RelayServices,
  call: CallCore,
  { attempt, stream }: { attempt: Attempt; stream: boolean },
): ProviderCall {
  const { channel, key } = attempt
  const { options } = services
  const { headers, query } = call.req
  return {
    channel: {
      id: channel.id,
      type: channel.type,
      baseUrl: channel.baseUrl || defaultBaseUrlOf(channel.type),
      key: key.value,
      other: channel.other,
      organization: channel.openaiOrganization,
      createdAt: channel.createdAt,
    },
    model: attempt.upstreamModel,
    originalModel: call.model,
    stream,
    options: {
      'claude.default_max_tokens': options.get('claude.default_max_tokens'),
      'claude.model_headers_settings': options.get('claude.model_headers_settings'),
      'claude.thinking_adapter_enabled': options.get('claude.thinking_adapter_enabled'),
      'claude.thinking_adapter_budget_tokens_percentage': options.get(
        'claude.thinking_adapter_budget_tokens_percentage',
      ),
      'gemini.safety_settings': options.get('gemini.safety_settings'),
      'gemini.version_settings': options.get('gemini.version_settings'),
      'gemini.supported_imagine_models': options.get('gemini.supported_imagine_models'),
      'gemini.models_supported_thinking_budget': options.get('gemini.models_supported_thinking_budget'),
      'gemini.thinking_adapter_enabled': options.get('gemini.thinking_adapter_enabled'),
      'gemini.thinking_adapter_budget_tokens_percentage': options.get(
        'gemini.thinking_adapter_budget_tokens_percentage',
      ),
    },
    ambient: services.ambient,
    site: { name: options.get('SystemName'), url: options.get('ServerAddress') },
    callerHeaders: {
      'anthropic-version': headerText(headers['anthropic-version']),
      'anthropic-beta': headerText(headers['anthropic-beta']),
    },
    query: Object.fromEntries(Object.entries(query).filter(([, value]) => typeof value === 'string')) as Record<
      string,
      string
    >,
  }
}

const headerText = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value.join(',') : value
