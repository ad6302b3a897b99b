import type { RelayServices, Incoming } from '#relay/request/call.ts'
import { originOf } from '#relay/request/origin.ts'

type Json = Record<string, unknown>

/** A batch as its caller reads it: its results are fetched from here, not where the channel has them. */
export function shownBatch(services: RelayServices, incoming: Pick<Incoming, 'req'>, answer: Json): Json {
  if (typeof answer['results_url'] !== 'string') return answer
  const path = `/v1/messages/batches/${encodeURIComponent(String(answer['id']))}/results`
  return { ...answer, results_url: originOf(services, incoming) + path }
}
