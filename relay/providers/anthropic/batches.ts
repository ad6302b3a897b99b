import { parseJson } from '#core/exact-json.ts'
import { joinPath } from '../shared/join-path.ts'
import { isHeld, messageIds } from '../shared/held-objects.ts'
import { recordOf, wordOf } from '../shared/json.ts'
import type { ReportedUsage } from '#core/usage.ts'
import type { BatchCall, Provider, ProviderChannel } from '../types.ts'
import { claudeHeaders, classicVersion } from './headers.ts'
import { readUsage } from './usage.ts'

const addressOf = ({ baseUrl }: ProviderChannel): string => joinPath(baseUrl, '/v1', '/messages/batches')

const methods = { read: 'GET', results: 'GET', cancel: 'POST', delete: 'DELETE', list: 'GET' } as const
/** So many of the key's batches at a time, the latest first. */
export const listedAtOnce = 100

function pathOf({ id, action }: BatchCall): string {
  if (action === 'list') return `?limit=${listedAtOnce}${id === '' ? '' : `&after_id=${encodeURIComponent(id)}`}`
  return `/${encodeURIComponent(id)}${action === 'results' || action === 'cancel' ? `/${action}` : ''}`
}

/** https://platform.claude.com/docs/en/build-with-claude/batch-processing */
export const messageBatches: NonNullable<Provider['batches']> = {
  create: (body, call) => ({
    method: 'POST',
    url: addressOf(call.channel),
    headers: claudeHeaders(call, { sampling: false, files: false }),
    body,
  }),
  about: (input: BatchCall, channel) => ({
    method: methods[input.action],
    url: addressOf(channel) + pathOf(input),
    headers: {
      accept: input.action === 'results' ? 'application/binary' : 'application/json',
      'x-api-key': channel.key,
      'anthropic-version': classicVersion,
    },
  }),
}

/** What one line of a batch's results says: whose it is, and where it was answered what it used, and the containers and files that it made. */
export type BatchResult = {
  customId: string
  answered?: { usage: ReportedUsage; message: Record<string, unknown>; made: string[] }
}

/** Nothing for a line that is none. */
export function readBatchResult(line: string): BatchResult | undefined {
  const parsed = parsedLine(line)
  const customId = wordOf(parsed?.['custom_id'])
  if (customId === undefined) return undefined
  const result = recordOf(parsed?.['result'])
  if (result?.['type'] !== 'succeeded') return { customId }
  const message = recordOf(result['message']) ?? {}
  const usage = readUsage(recordOf(message['usage']) ?? {})
  return { customId, answered: { usage, message, made: messageIds(message).filter(isHeld) } }
}

function parsedLine(line: string): Record<string, unknown> | undefined {
  try {
    return recordOf(parseJson(line)) ?? undefined
  } catch {
    return undefined
  }
}
