import { call, type SignInWorld, travel, type WorldBrowser } from './world.ts'

export type OAuthProvider = 'github' | 'oidc' | 'linuxdo'

const columns = { github: 'github_id', oidc: 'oidc_id', linuxdo: 'linux_do_id' }
export const columnOf = (provider: OAuthProvider): string => columns[provider]

/** What people and their browsers do at the providers of a world. */
export function createVisits(world: () => SignInWorld) {
  let serial = 100
  /** To the provider and back, as the console sets out; what the provider gave the browser. */
  const setOut = async (browser: WorldBrowser, provider: OAuthProvider, inviteCode = '') => {
    const { data } = await call(browser, 'auth.oauth.start', { provider, inviteCode })
    return Object.fromEntries(await travel((data as { address: string }).address)) as Record<string, string>
  }
  const finish = (browser: WorldBrowser, provider: OAuthProvider, query: Record<string, string>) =>
    browser.get(`/api/oauth/${provider}`, { query })
  return {
    setOut,
    finish,
    /** Somebody new at a provider; gives the id that is kept of them. */
    newUser: (provider: OAuthProvider, more: Record<string, unknown> = {}): string => {
      serial += 1
      const { github, linuxdo, oidc } = world()
      if (provider === 'github') github.be({ id: serial, login: `login${serial}`, ...more })
      else if (provider === 'linuxdo') linuxdo.be({ id: serial, username: `neo${serial}`, trust_level: 2, ...more })
      else oidc.be({ sub: `sub-${serial}`, email: `oidc${serial}@x.example`, ...more })
      return provider === 'oidc' ? `sub-${serial}` : String(serial)
    },
    signIn: async (browser: WorldBrowser, provider: OAuthProvider) =>
      finish(browser, provider, await setOut(browser, provider)),
    userOf: async (provider: OAuthProvider, id: string) =>
      (await world().sql(`select * from users where ${columns[provider]} = $1`, [id]))[0],
  }
}
