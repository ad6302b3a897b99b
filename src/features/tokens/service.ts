import { LockMode } from '@mikro-orm/postgresql'
import { DomainError } from '#core/errors.ts'
import { mayUseGroup } from '#core/groups.ts'
import { type Page, rowsOfPage } from '#core/paging.ts'
import { tokenStatus } from '#core/statuses.ts'
import { Token } from '#db/entities/token.ts'
import { normaliseAddress } from '../client-address/service.ts'
import type { UserDeps } from '../deps.ts'
import { setTokenQuota } from '../ledger/token-quota.ts'
import { tokenQuotasWithHolds } from '../ledger/with-holds.ts'
import { refuseOvertaken } from '../overtaken.ts'
import { isVerified } from '../second-factor/verification.ts'
import { sha256 } from '../secrets/service.ts'
import { type CapOwner, inKnownZones, setCaps, writeCaps } from '../spend-caps/service.ts'
import {
  addressOrRange,
  type CreateToken,
  type CreateTokens,
  type ListTokens,
  longestTokenName,
  type SearchTokens,
  type SetTokenStatus,
  splitEntries,
  suffixLength,
  type tokenSorts,
  type UpdateToken,
} from './schema.ts'
import { keyLength, makeKey } from './key.ts'
import { type OwnTokenView, type TokenView, toTokenView, toTokenViewWithKey } from './view.ts'

/** So many of one's own tokens are found at once. */
const mostFound = 1000
/** So many are looked through for a part of a key, as many at a time as are found at once: calls of others run in between. */
const mostSearched = 10_000

type Viewing = { isDocumented: boolean }

/** Whoever has a second factor and has not proved it lately sees the masks of the keys. */
async function viewsOf(deps: UserDeps, tokens: readonly Token[], { isDocumented }: Viewing): Promise<OwnTokenView[]> {
  const showsKeys = isDocumented && (await isVerified(deps))
  const quotas = await tokenQuotasWithHolds(deps.em, isDocumented ? tokens.map(({ id }) => id) : [])
  return tokens.map((token) => ({
    ...(showsKeys ? toTokenViewWithKey(token, deps.secrets) : toTokenView(token)),
    remainQuotaWithHolds: quotas.get(token.id) ?? token.remainQuota,
  }))
}

const own = ({ actor }: UserDeps) => ({ userId: actor.id, deletedAt: null })

async function ownToken(deps: UserDeps, id: number, lockMode = LockMode.NONE): Promise<Token> {
  const token = await deps.em.findOne(Token, { id, ...own(deps) }, { disableIdentityMap: true, lockMode })
  if (!token) throw new DomainError('token.not_found')
  return token
}

const sortedBy = {
  name: 'name',
  spend: 'usedQuota',
  used: 'accessedAt',
  expires: 'expiresAt',
  created: 'createdAt',
} as const satisfies Record<(typeof tokenSorts)[number], keyof Token>

const orderOf = ({ sort, order }: Pick<ListTokens, 'sort' | 'order'>): Record<string, 'asc' | 'desc'> =>
  sort === undefined ? { id: 'desc' } : { [sortedBy[sort]]: order, id: 'desc' }

export async function listTokens(deps: UserDeps, input: ListTokens): Promise<Page<OwnTokenView>> {
  const [tokens, total] = await deps.em.findAndCount(Token, own(deps), {
    orderBy: orderOf(input),
    ...rowsOfPage(input),
  })
  return { items: await viewsOf(deps, tokens, input), total, page: input.page, pageSize: input.pageSize }
}

/** Keys are only readable one by one, so a part of one is looked for in the owner's own newest tokens; a whole one has its hash. */
export async function searchTokens(deps: UserDeps, input: SearchTokens): Promise<OwnTokenView[]> {
  const name = { $ilike: `%${input.keyword.replace(/[\\%_]/g, '\\$&')}%` }
  const part = input.key.replace(/^sk-/, '')
  const where = {
    ...own(deps),
    ...(input.keyword === '' ? {} : { name }),
    ...(part.length === keyLength ? { keyHash: sha256(part) } : {}),
  }
  // By number: one that is made meanwhile moves others into the next slice.
  const found = new Map<number, Token>()
  for (let offset = 0; offset < mostSearched && found.size < mostFound; offset += mostFound) {
    const slice = { orderBy: orderOf(input), offset, limit: mostFound, disableIdentityMap: true }
    const tokens = await deps.em.find(Token, where, slice)
    for (const token of tokens) {
      if (part === '' || deps.secrets.decrypt(token.keyEncrypted).includes(part)) found.set(token.id, token)
    }
    if (tokens.length < mostFound) break
  }
  return viewsOf(deps, [...found.values()].slice(0, mostFound), input)
}

/** @throws {DomainError} token.not_found */
export async function getToken(deps: UserDeps, { id, ...viewing }: { id: number } & Viewing): Promise<OwnTokenView> {
  const [view] = await viewsOf(deps, [await ownToken(deps, id)], viewing)
  if (!view) throw new DomainError('token.not_found')
  return view
}

/** @throws {DomainError} token.not_found */
export async function revealKey(deps: UserDeps, { id }: { id: number }): Promise<{ key: string }> {
  return { key: deps.secrets.decrypt((await ownToken(deps, id)).keyEncrypted) }
}

type Expiry = Pick<UpdateToken, 'expiresAt'>

/** The columns an owner may write; quota, status and key are none of them. */
function columnsOf(
  deps: UserDeps,
  input: Omit<CreateTokens, 'expiresAt' | 'remainQuota' | 'unlimitedQuota' | 'count' | 'spendCaps'> & Expiry,
  stored?: Token,
) {
  // A group that was lost since stays where nobody changes it; calls in it are refused all the same.
  const isStored = input.group === stored?.group
  if (input.group !== '' && !isStored && !mayUseGroup(deps.options, deps.actor.group, input.group)) {
    throw new DomainError('token.group_forbidden', { group: input.group })
  }
  return {
    name: input.name,
    ...(input.expiresAt === undefined ? {} : { expiresAt: input.expiresAt }),
    modelLimitsEnabled: input.modelLimitsEnabled,
    modelLimits: input.modelLimits.join(','),
    allowIps: normaliseAddresses(input.allowIps),
    group: input.group,
    rateLimitEnabled: input.rateLimitEnabled,
    rateLimitPeriod: input.rateLimitPeriod,
    rateLimitCount: input.rateLimitCount,
    rateLimitSuccess: input.rateLimitSuccess,
  }
}

/** A mistyped address must not widen a list to "from everywhere", so it is refused rather than dropped. */
function normaliseAddresses(list: string): string {
  const entries = splitEntries(list)
  for (const entry of entries) {
    if (!addressOrRange.safeParse(entry).success) throw new DomainError('token.addresses_invalid', { entry })
  }
  return [...new Set(entries.map((entry) => normaliseAddress(entry) || entry.toLowerCase()))].join('\n')
}

/** One that holds already may stay as it is, so that an expired token can still be renamed. */
function checkExpiry(deps: UserDeps, { expiresAt }: Expiry, before: Date | null): void {
  if (!expiresAt || expiresAt.getTime() === before?.getTime()) return
  if (expiresAt <= deps.ambient.now()) throw new DomainError('token.expiry_past')
}

/** @throws {DomainError} token.expiry_past */
export async function createToken(deps: UserDeps, input: CreateToken): Promise<TokenView & { key: string }> {
  if (!input.isDocumented) checkExpiry(deps, input, null)
  const [token] = await makeTokens(deps, { ...input, count: 1 })
  if (!token) throw new DomainError('internal')
  return token
}

/**
 * Several alike: the first bears the name, the others the name with six random characters.
 * @throws {DomainError} token.expiry_past
 */
export async function createTokens(deps: UserDeps, input: CreateTokens): Promise<(TokenView & { key: string })[]> {
  checkExpiry(deps, input, null)
  return makeTokens(deps, input)
}

async function makeTokens(deps: UserDeps, input: CreateTokens): Promise<(TokenView & { key: string })[]> {
  const columns = columnsOf(deps, input)
  const rows = Array.from({ length: input.count }, (_, index) => {
    return {
      ...columns,
      name: index === 0 ? input.name : suffixed(input.name, deps.ambient.newId(6)),
      userId: deps.actor.id,
      ...makeKey(deps).columns,
      remainQuota: input.remainQuota,
      unlimitedQuota: input.unlimitedQuota,
    }
  })
  const caps = inKnownZones(input.spendCaps ?? [], { zones: await deps.database.zones() })
  const made = { keyHash: { $in: rows.map(({ keyHash }) => keyHash) } }
  const tokens = await deps.em.transactional(async (em) => {
    await em.insertMany(Token, rows)
    const stored = await em.find(Token, made, { orderBy: { id: 'asc' }, disableIdentityMap: true })
    for (const { id } of caps.length > 0 ? stored : []) await writeCaps(em, capsOwner(id), caps)
    return stored
  })
  return tokens.map((token) => toTokenViewWithKey(token, deps.secrets))
}

const capsOwner = (subjectId: number): CapOwner => ({ scope: 'token', subjectId, source: 'owner' })

const suffixed = (name: string, random: string) => `${name.slice(0, longestTokenName - suffixLength)}-${random}`

/** The stored state decides whether a token may be enabled: what it ran out of has to be resolved first. */
function checkEnabling(deps: UserDeps, token: Token): void {
  const expired = token.expiresAt ? token.expiresAt <= deps.ambient.now() : false
  if (token.status === tokenStatus.expired && expired) throw new DomainError('token.enable_expired')
  if (token.status === tokenStatus.exhausted && token.remainQuota <= 0 && !token.unlimitedQuota) {
    throw new DomainError('token.enable_exhausted')
  }
}

/** What is below zero was put there by calls: it is sent back as it was read, and stays. */
function wantedQuota(token: Token, wanted: number | undefined): number | undefined {
  if (wanted === undefined || wanted >= 0) return wanted
  if (token.remainQuota >= 0) throw new DomainError('token.quota_invalid')
  return undefined
}

/**
 * @throws {DomainError} token.not_found, token.enable_expired, token.enable_exhausted, token.expiry_past, token.group_forbidden,
 *   token.quota_invalid, input.changed_meanwhile, spend_cap.zone_unknown
 */
export async function updateToken(deps: UserDeps, input: UpdateToken): Promise<OwnTokenView> {
  const token = await ownToken(deps, input.id)
  if (input.status === tokenStatus.enabled) checkEnabling(deps, token)
  if (!input.isDocumented) checkExpiry(deps, input, token.expiresAt ?? null)
  const columns = columnsOf(deps, input, token)
  const remainQuota = wantedQuota(token, input.remainQuota)
  const zones = await deps.database.zones()
  await deps.em.transactional(async (em) => {
    const locked = await ownToken({ ...deps, em }, token.id, LockMode.PESSIMISTIC_WRITE)
    const now = { ...toTokenView(locked), spendCaps: await setCaps(em, capsOwner(token.id)) }
    const spendCaps = input.spendCaps && inKnownZones(input.spendCaps, { zones, stood: now.spendCaps })
    refuseOvertaken(now, { ...input, spendCaps }, input.expected)
    await em.nativeUpdate(Token, { id: token.id, ...own(deps) }, columns)
    if (spendCaps) await writeCaps(em, capsOwner(token.id), spendCaps)
    await setTokenQuota(em, {
      id: token.id,
      remainQuota,
      knownQuota: input.knownQuota,
      unlimitedQuota: input.unlimitedQuota,
    })
  })
  return getToken(deps, { id: token.id, isDocumented: input.isDocumented })
}

/** @throws {DomainError} token.not_found, token.enable_expired, token.enable_exhausted */
export async function setTokenStatus(deps: UserDeps, input: SetTokenStatus): Promise<OwnTokenView> {
  const token = await ownToken(deps, input.id)
  if (input.status === tokenStatus.enabled) checkEnabling(deps, token)
  await deps.em.nativeUpdate(Token, { id: token.id, ...own(deps) }, { status: input.status })
  return getToken(deps, { id: token.id, isDocumented: input.isDocumented })
}

/** @throws {DomainError} token.not_found */
export async function removeToken(deps: UserDeps, { id }: { id: number }): Promise<void> {
  const removed = await deps.em.nativeUpdate(Token, { id, ...own(deps) }, { deletedAt: deps.ambient.now() })
  if (removed === 0) throw new DomainError('token.not_found')
}
