import type { CallCore } from '#relay/request/call.ts'

const text = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value.slice(0, 500) : null)

/** What the caller calls its session, so that its calls keep their channel and find their prompt cached upstream. */
export function callerSession({ req, body }: CallCore): string | null {
  const { metadata } = body.json
  const inMetadata =
    typeof metadata === 'object' && metadata !== null && 'user_id' in metadata ? text(metadata.user_id) : null
  return (
    text(req.headers['x-session-id']) ??
    text(req.headers['session_id']) ??
    text(body.json['prompt_cache_key']) ??
    inMetadata
  )
}
