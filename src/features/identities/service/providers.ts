import { DomainError, type ErrorDetails } from '#core/errors.ts'
import type { OptionKey } from '#core/options/registry/index.ts'
import type { User } from '#db/entities/user.ts'
import type { Deps } from '../../deps.ts'
import type { Provider } from '../schema.ts'
import type { Identity } from './profile.ts'

type IdentityColumn = 'githubId' | 'oidcId' | 'linuxDoId' | 'wechatId' | 'telegramId'

type ProviderFacts = {
  label: string
  /** Where a user's row keeps the id that the provider never changes. */
  column: IdentityColumn
  enabled: Extract<OptionKey, `${string}nabled`>
}

export const providerFacts: Record<Provider, ProviderFacts> = {
  github: { label: 'GitHub', column: 'githubId', enabled: 'GitHubOAuthEnabled' },
  oidc: { label: 'OIDC', column: 'oidcId', enabled: 'oidc.enabled' },
  linuxdo: { label: 'Linux DO', column: 'linuxDoId', enabled: 'LinuxDOOAuthEnabled' },
  wechat: { label: 'WeChat', column: 'wechatId', enabled: 'WeChatAuthEnabled' },
  telegram: { label: 'Telegram', column: 'telegramId', enabled: 'TelegramOAuthEnabled' },
}

export const isEnabled = ({ options }: Pick<Deps, 'options'>, provider: Provider): boolean =>
  options.get(providerFacts[provider].enabled) === true

/** @throws {DomainError} oauth.disabled */
export function requireEnabled(deps: Pick<Deps, 'options'>, provider: Provider): void {
  if (!isEnabled(deps, provider)) throw refusalOf('disabled', provider)
}

type Refusal = 'disabled' | 'provider_failed' | 'already_bound' | 'other_bound'

/** WeChat is called by another name in Chinese, so its sentences stand for themselves. */
export const refusalOf = (refusal: Refusal, provider: Provider, details?: ErrorDetails): DomainError =>
  provider === 'wechat'
    ? new DomainError(`wechat.${refusal}`, {}, details)
    : new DomainError(`oauth.${refusal}`, { provider: providerFacts[provider].label }, details)

type IdentityColumns = Partial<Pick<User, IdentityColumn | 'oidcIssuer'>>

/** Where a user's row keeps an identity, and by which its owner is found. */
export const columnsOf = (provider: Provider, { id, issuer = '' }: Identity): IdentityColumns =>
  provider === 'oidc' ? { oidcId: id, oidcIssuer: issuer } : { [providerFacts[provider].column]: id }

/** What the row keeps where nothing is bound. */
export const unboundColumns = (provider: Provider): IdentityColumns =>
  provider === 'oidc' ? { oidcId: null, oidcIssuer: '' } : { [providerFacts[provider].column]: null }

export const hasIdentity = (user: User, provider: Provider, identity: Identity): boolean =>
  Object.entries(columnsOf(provider, identity)).every(([column, value]) => user[column as keyof User] === value)

/** The account's id at the provider, "" where none is bound. */
export const identityOf = (user: Pick<User, IdentityColumn>, provider: Provider): string =>
  user[providerFacts[provider].column] ?? ''
