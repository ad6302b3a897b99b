import { isDomainError } from '#core/errors.ts'
import { isOptionKey, type OptionKey, optionOf } from '#core/options/registry/index.ts'
import { checkPrerequisites } from '#core/options/rules.ts'
import { Passkey } from '#db/entities/passkey.ts'
import type { User } from '#db/entities/user.ts'
import type { Deps } from '../deps.ts'
import { issuerBySettings } from '../identities/service/oidc-issuer.ts'
import { relyingPartyOf } from '../second-factor/service/relying-party.ts'

type SwitchedWay = 'password' | 'github' | 'oidc' | 'linuxdo' | 'wechat' | 'telegram'
export type WayToSignIn = SwitchedWay | 'passkey'

type Reader = Pick<Deps['options'], 'get'>

/** Under which switch of the site a way is open, and whether the account has it. */
const ways: Record<SwitchedWay, { option: OptionKey; has: (user: User, options: Reader) => boolean }> = {
  password: { option: 'PasswordLoginEnabled', has: ({ passwordHash }) => Boolean(passwordHash) },
  github: { option: 'GitHubOAuthEnabled', has: ({ githubId }) => Boolean(githubId) },
  oidc: { option: 'oidc.enabled', has: isKnownToIssuer },
  linuxdo: { option: 'LinuxDOOAuthEnabled', has: ({ linuxDoId }) => Boolean(linuxDoId) },
  wechat: { option: 'WeChatAuthEnabled', has: ({ wechatId }) => Boolean(wechatId) },
  telegram: { option: 'TelegramOAuthEnabled', has: ({ telegramId }) => Boolean(telegramId) },
}

/** Whoever was bound at a former issuer is unknown to the one that is set now. */
function isKnownToIssuer({ oidcId, oidcIssuer }: User, options: Reader): boolean {
  return Boolean(oidcId) && issuerBySettings(options) === oidcIssuer
}

/** Stands before a sign-in with a password. */
const botCheck: OptionKey = 'TurnstileCheckEnabled'

/** What decides whether a way leads in. */
export const optionsOfWays: ReadonlySet<string> = new Set<string>([
  ...[...Object.values(ways).map(({ option }) => option), botCheck].flatMap((option) => [
    option,
    ...(optionOf(option).requires ?? []),
  ]),
  // Whose subjects are known, and which passkeys a browser offers.
  'oidc.well_known',
  'oidc.user_info_endpoint',
  'ServerAddress',
])

/** Open, with everything that it needs. */
function isOpen(options: Reader, way: SwitchedWay): boolean {
  const read = (key: string): unknown => (isOptionKey(key) ? options.get(key) : undefined)
  const switches = way === 'password' ? [botCheck] : []
  return (
    read(ways[way].option) === true &&
    [ways[way].option, ...switches].every((key) => checkPrerequisites(key, read) === undefined)
  )
}

type WaysDeps = Pick<Deps, 'em' | 'client'> & { options: Reader }

/** How the account's owner can sign in as the site is set now; whoever takes one away asks for another first. */
export async function waysToSignIn(deps: WaysDeps, user: User): Promise<WayToSignIn[]> {
  const switched = (Object.keys(ways) as SwitchedWay[]).filter(
    (way) => isOpen(deps.options, way) && ways[way].has(user, deps.options),
  )
  return (await passkeysHere(deps, user.id)) > 0 ? [...switched, 'passkey'] : switched
}

/** Only those that were made for the address by which people come now: no browser offers another site's. */
export async function passkeysHere({ em, ...deps }: WaysDeps, userId: number): Promise<number> {
  const site = siteOfPasskeys(deps)
  return site === undefined ? 0 : em.count(Passkey, { userId, site })
}

function siteOfPasskeys(deps: Omit<WaysDeps, 'em'>): string | undefined {
  try {
    return relyingPartyOf(deps).id
  } catch (error) {
    if (isDomainError(error) && error.code === 'passkey.address_unfit') return undefined
    throw error
  }
}
