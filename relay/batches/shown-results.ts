import { maskJson } from '#core/masking/mask-secrets.ts'
import type { ChannelSecrets } from '#core/masking/secret-parts.ts'
import { callerError } from '#relay/attempt/failure.ts'
import { hidesFailures, shapeFailure } from '#relay/attempt/shape-failure.ts'
import { attemptSecrets } from '#relay/attempt/upstream-channel.ts'
import { claude } from '#relay/dialects/claude/index.ts'
import { failureOf, statusOfError } from '#relay/providers/shared/failures.ts'
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

function shownLine(
  services: RelayServices,
  reader: Reader,
  { line, secrets }: { line: string; secrets: ChannelSecrets },
): string {
  const parsed = tryRecord(line)
  const result = recordOf(parsed?.['result'])
  const error = recordOf(result?.['error'])
  if (result?.['type'] === 'succeeded' && !error) return line
  if (!error || !hidesFailures(services)) return maskJson(line, secrets)
  return maskJson(
    JSON.stringify({ ...parsed, result: { ...result, error: hiddenError(services, reader, error) } }),
    secrets,
  )
}

function hiddenError(services: RelayServices, { incoming, made }: Reader, error: Json): unknown {
  const inner = recordOf(error['error']) ?? error
  const failure = shapeFailure(services, made.channel, failureOf(statusOfError(inner), { error: inner }))
  return claude.error(callerError(failure, incoming)).body
}
