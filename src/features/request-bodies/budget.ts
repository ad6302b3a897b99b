import { DomainError } from '#core/errors.ts'
import type { BodyLimits } from './limits.ts'

/** What one request holds of the memory for bodies. */
export type Holding = {
  /**
   * Holds so many bytes in all. Nothing where there is room, else a promise that waits for it.
   * @throws {DomainError} input.no_room, input.address_full: by the promise, when there was none in time
   */
  raise: (bytes: number) => Promise<void> | undefined
  /** Holds only so many from now on. */
  lower: (bytes: number) => void
  /** Gives everything back, for good. Whoever waits is refused. */
  release: () => void
  bytes: () => number
  /** So much one request may hold beside its body: with more than that small bodies of others would find no room. */
  most: number
  /** Another of the same request, which is no other's to wait for. */
  beside: () => Holding
}

export type BodyBudget = {
  open: (address: string) => Holding
  readonly heldBytes: number
  /** Addresses that hold something now. */
  readonly addresses: number
}

/** Bodies up to this size keep a quarter of the memory to themselves, so that a few large ones never shut them out. */
export const smallBytes = 1024 * 1024
const largeShare = 0.75

type AddressUse = { held: number; large: number }
type Part = { address: string; bytes: number; open: boolean; waiter: Waiter | null; owner: Owner }
/** What one request holds by large parts, its body and what is fetched for it. */
type Owner = { large: number }
type Waiter = { bytes: number; admit: () => void; refuse: (error: DomainError) => void }

const isLarge = (bytes: number): boolean => bytes > smallBytes
const largeOf = (bytes: number): number => (isLarge(bytes) ? bytes : 0)

/**
 * Whether a use has room for a part to grow. The only request with a large body may always go on: it would never be admitted
 * again where small ones come and go.
 */
function fits(use: AddressUse, limit: number, { part, bytes }: { part: Part; bytes: number }): boolean {
  const heldByOthers = use.held - part.bytes
  if (isLarge(Math.max(bytes, part.owner.large)) && use.large === part.owner.large) return true
  if (!isLarge(bytes)) return heldByOthers + bytes <= limit
  return use.large - largeOf(part.bytes) + bytes <= limit * largeShare && heldByOthers + bytes <= limit
}

const nothing: AddressUse = { held: 0, large: 0 }

/** Counts what the bodies of this process's requests take, in all and by the address they come from. */
export function createBodyBudget(limits: Pick<BodyLimits, 'memory' | 'memoryPerAddress' | 'waitMs'>): BodyBudget {
  const all: AddressUse = { held: 0, large: 0 }
  // Only addresses that hold something now.
  const byAddress = new Map<string, AddressUse>()
  const waiting = new Set<Part>()
  let looking = false

  const refusalOf = (part: Part, bytes: number): 'input.no_room' | 'input.address_full' | null => {
    if (!fits(all, limits.memory, { part, bytes })) return 'input.no_room'
    const use = byAddress.get(part.address) ?? nothing
    return fits(use, limits.memoryPerAddress, { part, bytes }) ? null : 'input.address_full'
  }
  const set = (part: Part, bytes: number): void => {
    const use = byAddress.get(part.address) ?? { held: 0, large: 0 }
    const large = largeOf(bytes) - largeOf(part.bytes)
    const held = bytes - part.bytes
    for (const one of [all, use]) {
      one.held += held
      one.large += large
    }
    part.owner.large += large
    part.bytes = bytes
    if (use.held > 0) byAddress.set(part.address, use)
    else byAddress.delete(part.address)
  }
  const look = (): void => {
    looking = false
    for (const part of waiting) if (part.waiter && refusalOf(part, part.waiter.bytes) === null) part.waiter.admit()
  }
  const wait = (part: Part, bytes: number): Promise<void> => {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const end = (): void => {
      clearTimeout(timer)
      waiting.delete(part)
      part.waiter = null
    }
    part.waiter = {
      bytes,
      admit: () => {
        end()
        set(part, bytes)
        resolve()
      },
      refuse: (error) => {
        end()
        reject(error)
      },
    }
    const giveUp = (): void => part.waiter?.refuse(new DomainError(refusalOf(part, bytes) ?? 'input.no_room'))
    const timer = setTimeout(giveUp, limits.waitMs)
    waiting.add(part)
    return promise
  }
  const lookSoon = (): void => {
    if (waiting.size === 0 || looking) return
    looking = true
    // Many end together: whoever waits is looked after once.
    setImmediate(look)
  }
  const release = (part: Part): void => {
    if (!part.open) return
    part.open = false
    part.waiter?.refuse(new DomainError('input.no_room'))
    if (part.bytes === 0) return
    set(part, 0)
    lookSoon()
  }

  const open = (address: string, owner: Owner): Holding => {
    const part: Part = { address, bytes: 0, open: true, waiter: null, owner }
    return {
      raise: (bytes) => {
        if (!part.open || bytes <= part.bytes) return undefined
        if (refusalOf(part, bytes) !== null) return wait(part, bytes)
        set(part, bytes)
        return undefined
      },
      lower: (bytes) => {
        if (!part.open || part.waiter || bytes >= part.bytes) return
        set(part, bytes)
        lookSoon()
      },
      release: () => release(part),
      bytes: () => part.bytes,
      most: limits.memory * largeShare,
      beside: () => open(address, owner),
    }
  }

  return {
    open: (address) => open(address, { large: 0 }),
    get heldBytes() {
      return all.held
    },
    get addresses() {
      return byAddress.size
    },
  }
}
