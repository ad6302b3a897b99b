import { hash } from 'node:crypto'

const mostPlaces = 500
const mostOfPlace = 5000

/** Proofs of reasoning that a channel and key have refused, by their hashes; the oldest are forgotten. */
export type RefusedProofs = Map<string, Set<string>>

const hashOf = (proof: string): string => hash('sha256', proof, 'base64')

/** The proofs of one attempt: which of them were refused before, so that not every later turn of a conversation is refused first. */
export type AttemptProofs = {
  isRefused: (proof: string) => boolean
  /** Records that the upstream refused the call for its proofs; false where it had none. */
  refuse: () => boolean
}

export function proofsOf(refusedProofs: RefusedProofs, place: string): AttemptProofs {
  const refused = refusedProofs.get(place)
  const sent = new Set<string>()
  return {
    isRefused: (proof) => {
      if (refused?.has(hashOf(proof))) return true
      sent.add(proof)
      return false
    },
    refuse: () => {
      const known = refusedProofs.get(place) ?? new Set()
      refusedProofs.delete(place)
      refusedProofs.set(place, known)
      for (const proof of sent) known.add(hashOf(proof))
      forgetOldest(known, mostOfPlace)
      forgetOldest(refusedProofs, mostPlaces)
      return sent.size > 0
    },
  }
}

function forgetOldest(
  known: { size: number; keys: () => Iterable<string>; delete: (key: string) => boolean },
  most: number,
) {
  for (const key of known.keys()) {
    if (known.size <= most) return
    known.delete(key)
  }
}
