import { maskJson } from '#core/masking/mask-secrets.ts'
import { hidesFailures } from '#core/options/hides-failures.ts'
import type { ChannelSecrets } from '#core/masking/secret-parts.ts'
import { shownError } from '#relay/attempt/shape-failure.ts'
import { attemptSecrets } from '#relay/attempt/upstream-channel.ts'
import { isEmptyValue } from '#relay/chat/json.ts'
import { claude } from '#relay/dialects/claude/index.ts'
import { failureOfError } from '#relay/providers/shared/failures.ts'
import { type Json, recordOf, tryRecord } from '#relay/providers/shared/json.ts'
import { createJsonLineReader } from '#relay/providers/shared/json-lines.ts'
import type { Attempt, Incoming, RelayServices } from '#relay/request/call.ts'

type Reader = { incoming: Pick<Incoming, 'id' | 'language'>; made: Pick<Attempt, 'channel' | 'key'> }

/**
 * The results of a batch as their caller reads them: answers as they came, failures without secrets and, where they are hidden,
 * without the upstream's words. Line by line, for nobody knows how long the file is.
 */
export function createShownResults(services: RelayServices, reader: Reader) {
  const lines = createJsonLineReader()
  const secrets = attemptSecrets(reader.made)
  const shown = (read: readonly { data: string }[]): string =>
    read.map(({ data }) => `${shownLine(services, reader, { line: data, secrets })}\n`).join('')
  return {
    push: (chunk: Uint8Array): string => shown(lines.push(chunk)),
    end: (): string => shown(lines.end()),
  }
}

/** How an answer begins. Of those there are most: what has no error in it is not read. */
const answered = /^\{\s*"custom_id"\s*:\s*"(?:[^"\\]|\\.){0,500}"\s*,\s*"result"\s*:\s*\{\s*"type"\s*:\s*"succeeded"/

/** Results that say by their type alone what became of a request. */
const plainTypes: ReadonlySet<unknown> = new Set(['succeeded', 'canceled', 'expired'])

function shownLine(
  services: RelayServices,
  reader: Reader,
  { line, secrets }: { line: string; secrets: ChannelSecrets },
): string {
  if (answered.test(line) && !line.includes('"error"')) return line
  const parsed = tryRecord(line)
  const result = recordOf(parsed?.['result'])
  const isAnswer = result?.['type'] === 'succeeded'
  const error = [result?.['error'], parsed?.['error'], isAnswer ? null : result?.['message']].find(
    (given) => !isEmptyValue(given),
  )
  if (isAnswer && error === undefined) return line
  if (!hidesFailures(services)) return maskJson(line, secrets)
  const hasPlainType = plainTypes.has(result?.['type'])
  const shown = {
    type: hasPlainType ? result?.['type'] : 'errored',
    ...(isAnswer ? { message: result['message'] } : {}),
    ...(hasPlainType && error === undefined
      ? {}
      : { error: hiddenError(services, reader, recordOf(error) ?? { message: error }) }),
  }
  return maskJson(JSON.stringify({ custom_id: parsed?.['custom_id'], result: shown }), secrets)
}

function hiddenError(services: RelayServices, { incoming, made }: Reader, error: Json): unknown {
  const inner = recordOf(error['error']) ?? error
  return claude.error(shownError(services, { place: made, reader: incoming }, failureOfError(inner))).body
}
