import { maskJson } from '#core/masking/mask-secrets.ts'
import type { ChannelSecrets } from '#core/masking/secret-parts.ts'
import { callerError } from '#relay/attempt/failure.ts'
import { hidesFailures, shapeFailure } from '#relay/attempt/shape-failure.ts'
import { attemptSecrets } from '#relay/attempt/upstream-channel.ts'
import { claude } from '#relay/dialects/claude/index.ts'
import { failureOf, statusOfError } from '#relay/providers/shared/failures.ts'
import { isNothing, type Json, recordOf, tryRecord } from '#relay/providers/shared/json.ts'
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
    (given) => !isNothing(given),
  )
  if (isAnswer && error === undefined) return line
  const isPlain = error === undefined && plainTypes.has(result?.['type'])
  if (!parsed || isPlain || !hidesFailures(services)) return maskJson(line, secrets)
  const shown = {
    type: plainTypes.has(result?.['type']) ? result?.['type'] : 'errored',
    ...(isAnswer ? { message: result['message'] } : {}),
    error: hiddenError(services, reader, recordOf(error) ?? { message: error }),
  }
  return maskJson(JSON.stringify({ custom_id: parsed['custom_id'], result: shown }), secrets)
}

function hiddenError(services: RelayServices, { incoming, made }: Reader, error: Json): unknown {
  const inner = recordOf(error['error']) ?? error
  const failure = shapeFailure(services, made.channel, failureOf(statusOfError(inner), { error: inner }))
  return claude.error(callerError(failure, incoming)).body
}
