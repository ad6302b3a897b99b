import { DomainError } from '#core/errors.ts'
import { providerFor } from '#relay/providers/registry.ts'
import type { Attempt, CallCore, RelayServices } from '#relay/request/call.ts'
import { createSelection, type Selection } from '#relay/routing/select.ts'

const takesBatches = ({ channel }: Attempt): boolean => providerFor(channel.type).batches !== undefined

/**
 * The places that may be tried for a call, but for those whose upstream has no batches.
 * `next` throws {DomainError} relay.batches_unsupported where none is left.
 */
export function batchSelection(services: RelayServices, call: CallCore): Selection {
  const selection = createSelection(services, call)
  const skipped = new Set<string>()
  let found: Attempt | null = null

  /** Places come again once all were tried; one that is met a second time says so. */
  const find = (): Attempt | null => {
    for (;;) {
      if (skipped.size > 0 && !selection.nextPlace()) return null
      const attempt = selection.next()
      if (takesBatches(attempt)) return attempt
      const place = `${attempt.channel.id} ${attempt.key.position} ${attempt.model}`
      if (skipped.has(place)) return null
      skipped.add(place)
    }
  }

  return {
    nextPlace: () => {
      const nextPlace = found ? null : selection.nextPlace()
      if (!nextPlace) return null
      found = find()
      return found && nextPlace
    },
    next: () => {
      const attempt = found ?? find()
      found = null
      if (!attempt) throw new DomainError('relay.batches_unsupported', { model: call.model })
      return attempt
    },
  }
}
