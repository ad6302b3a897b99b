import type { DialectRefusals } from './types.ts'

export const chatRefusals: DialectRefusals = {
  modelUnlisted: 'relay.no_channel',
  sensitiveWords: 'relay.sensitive_words',
  mappingCycle: 'relay.model_mapping_cycle',
  mappingUnreadable: 'relay.model_mapping_unreadable',
  upstreamBusy: 'relay.upstream_busy',
}

/** Clients of Anthropic's and Google's dialects take 503 for an outage, and try again for minutes. */
export const vendorRefusals: DialectRefusals = {
  ...chatRefusals,
  modelUnlisted: 'relay.model_unlisted',
  upstreamBusy: null,
}
