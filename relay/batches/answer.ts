import type { RelayServices, Incoming } from '#relay/request/call.ts'

type Json = Record<string, unknown>

/** The address that the caller reached us by, or the site's own where that is the same place. */
function originOf({ options }: RelayServices, { req }: Pick<Incoming, 'req'>): string {
  const host = req.get('host') ?? ''
  const known = options.get('ServerAddress')
  return URL.canParse(known) && new URL(known).host === host ? new URL(known).origin : `${req.protocol}://${host}`
}

/** A batch as its caller reads it: its results are fetched from here, not where the channel has them. */
export function shownBatch(services: RelayServices, incoming: Pick<Incoming, 'req'>, answer: Json): Json {
  if (typeof answer['results_url'] !== 'string') return answer
  const path = `/v1/messages/batches/${encodeURIComponent(String(answer['id']))}/results`
  return { ...answer, results_url: originOf(services, incoming) + path }
}
