import type { DialectRefusals } from './types.ts'

export const chatRefusals: DialectRefusals = {
  sensitiveWords: 'relay.sensitive_words',
  mappingCycle: 'relay.model_mapping_cycle',
  mappingUnreadable: 'relay.model_mapping_unreadable',
}
