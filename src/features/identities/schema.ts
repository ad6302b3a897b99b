import { z } from 'zod'
import { inviteCode } from '#core/account-fields.ts'
import { refusal } from '#core/refusal.ts'

/** Accounts elsewhere by which somebody may sign in here. */
export const providers = ['github', 'oidc', 'linuxdo', 'wechat', 'telegram'] as const
export type Provider = (typeof providers)[number]

/** Those that send the browser away and back. */
const oauthProviders = ['github', 'oidc', 'linuxdo'] as const
export type OAuthProvider = (typeof oauthProviders)[number]

const provider = z.enum(providers, refusal('oauth.provider_unknown'))
const oauthProvider = z.enum(oauthProviders, refusal('oauth.provider_unknown'))

/** What a provider or a browser says of itself; none of it has a NUL, which PostgreSQL's text cannot hold. */
const givenText = (most: number) =>
  z
    .string()
    .max(most)
    .regex(/^[^\0]*$/)

const invitation = { inviteCode: inviteCode.default('') }

export const beginState = z.object(invitation)
export type BeginState = z.infer<typeof beginState>

export const startOAuth = z.object({ provider: oauthProvider, ...invitation })
export type StartOAuth = z.infer<typeof startOAuth>

export const finishOAuth = z.object({
  provider: oauthProvider,
  state: givenText(200).default(''),
  code: givenText(4096).default(''),
  /** Who answers, where the provider says so (RFC 9207). */
  issuer: givenText(1000).default(''),
  /** Why the provider does not let the person through. */
  error: givenText(200).default(''),
  errorDescription: givenText(1000).default(''),
})
export type FinishOAuth = z.infer<typeof finishOAuth>

export const wechatCode = z.object({ code: givenText(100).transform((code) => code.trim()) })
export type WeChatCode = z.infer<typeof wechatCode>

/** All that the widget sent, as it was sent: the signature is over every field. */
export const telegramLogin = z.object({ fields: z.record(givenText(64), givenText(2000)) })
export type TelegramLogin = z.infer<typeof telegramLogin>

export const unbind = z.object({ provider })
export type Unbind = z.infer<typeof unbind>

export const startBinding = z.object({ provider: oauthProvider })
