import { MalformedUpstream } from '#relay/chat/events.ts'
import type { ReportedUsage } from '#core/usage.ts'
import { type NativeDialect, UpstreamRefusal } from '../types.ts'

export const nothingDelivered = { delivered: () => ({ text: '', toolCalls: 0 }), empty: true }

/**
 * What is known of a complete answer that could not be read. A vendor that reports usage has worked, and its caller may
 * understand what it says; JSON of anything else is no answer.
 * @throws {MalformedUpstream}
 */
export function inspectUnreadable(
  error: unknown,
  reported: { usage?: ReportedUsage },
): ReturnType<NativeDialect['inspect']> {
  if (error instanceof UpstreamRefusal) return { ...reported, ...nothingDelivered, failure: error.failure }
  if (error instanceof MalformedUpstream && reported.usage === undefined) throw error
  return { ...reported, ...nothingDelivered }
}
