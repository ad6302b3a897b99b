import type { OptionKey } from '#core/options/registry/index.ts'
import type { User } from '#db/entities/user.ts'
import type { Deps } from '../deps.ts'

export type WayToSignIn = 'password' | 'github' | 'oidc' | 'linuxdo' | 'wechat' | 'telegram'

/** Under which switch of the site a way is open, and whether the account has it. */
const ways: Record<WayToSignIn, { option: OptionKey; has: (user: User) => boolean }> = {
  password: { option: 'PasswordLoginEnabled', has: ({ passwordHash }) => Boolean(passwordHash) },
  github: { option: 'GitHubOAuthEnabled', has: ({ githubId }) => Boolean(githubId) },
  oidc: { option: 'oidc.enabled', has: ({ oidcId }) => Boolean(oidcId) },
  linuxdo: { option: 'LinuxDOOAuthEnabled', has: ({ linuxDoId }) => Boolean(linuxDoId) },
  wechat: { option: 'WeChatAuthEnabled', has: ({ wechatId }) => Boolean(wechatId) },
  telegram: { option: 'TelegramOAuthEnabled', has: ({ telegramId }) => Boolean(telegramId) },
}

/** How the account's owner can sign in as the site is set now; whoever takes one away asks for another first. */
export const waysToSignIn = async ({ options }: Pick<Deps, 'em' | 'options'>, user: User): Promise<WayToSignIn[]> =>
  (Object.keys(ways) as WayToSignIn[]).filter((way) => options.get(ways[way].option) === true && ways[way].has(user))
