/**
 * Rewrites an upstream's status by the channel's `status_code_mapping` (`{"400":"500"}`). 200 stays, and so does
 * everything where the mapping cannot be read or names no status.
 */
export function mapStatus(mappingText: string, status: number): number {
  if (status === 200 || mappingText.trim() === '') return status
  try {
    const mapping: unknown = JSON.parse(mappingText)
    if (typeof mapping !== 'object' || mapping === null || !Object.hasOwn(mapping, String(status))) return status
    const mapped = Number((mapping as Record<string, unknown>)[String(status)])
    return Number.isInteger(mapped) && mapped >= 100 && mapped <= 599 ? mapped : status
  } catch {
    return status
  }
}
