import { openAiResponses } from '../openai-responses/index.ts'
import type { LegacyDialect } from '../types.ts'
import { encodeOpenAiCompaction } from './encode.ts'
import { parseOpenAiCompaction } from './parse.ts'

const { operation: _operation, ...shared } = openAiResponses

/** A conversation in the form of responses that is made shorter: the model sums it up, and its caller goes on from that. */
export const openAiCompaction: LegacyDialect = {
  ...shared,
  id: 'openai-compaction',
  parse: parseOpenAiCompaction,
  encode: encodeOpenAiCompaction,
  native: 'openai-compaction',
  modelPlace: null,
  isNeverStored: true,
  withOutputLimit: (body) => body,
}
