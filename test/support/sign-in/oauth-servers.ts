import { hash } from 'node:crypto'
import { type Answer, type Asked, fresh, startCounterpart } from './counterpart.ts'

type Grant = { challenge: string; redirectUri: string }

export type GitHubPerson = {
  id: number
  login: string
  name?: string
  /** A status where GitHub refuses them: apps without the permission, tokens without the scope. */
  emails?: { email: string; primary: boolean; verified: boolean }[] | number
}

const noCode: Answer = {
  body: { error: 'bad_verification_code', error_description: 'The code is incorrect or expired.' },
}

/** Codes and tokens that count once, of whoever sits in front of the provider. */
function createGrants<Person>(first: Person) {
  const codes = new Map<string, Grant & { person: Person }>()
  const tokens = new Map<string, Person>()
  const state = { person: first }
  return {
    be: (person: Person) => void (state.person = person),
    code: (grant: Grant): string => {
      const code = fresh('code')
      codes.set(code, { ...grant, person: state.person })
      return code
    },
    token: (code: unknown, fits: (grant: Grant) => boolean): string | null => {
      const grant = codes.get(String(code))
      codes.delete(String(code))
      if (!grant || !fits(grant)) return null
      const token = fresh('token')
      tokens.set(token, grant.person)
      return token
    },
    bearer: ({ headers }: Asked): Person | undefined => tokens.get(headers.authorization?.replace('Bearer ', '') ?? ''),
  }
}

function back(address: string, parameters: Record<string, string>): Answer {
  const url = new URL(address)
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  return { location: url.href }
}

const parameter = ({ url }: Asked, name: string): string => url.searchParams.get(name) ?? ''

/** GitHub as its documentation says it: whoever comes has agreed already; a wrong code gets 200. */
export async function startGitHub(client: { id: string; secret: string }) {
  const registered = { callback: '' }
  const grants = createGrants<GitHubPerson>({ id: 1, login: 'octocat' })
  const counterpart = await startCounterpart((asked) => {
    switch (asked.url.pathname) {
      case '/login/oauth/authorize': {
        const code = grants.code({ challenge: parameter(asked, 'code_challenge'), redirectUri: '' })
        return back(registered.callback, { code, state: parameter(asked, 'state') })
      }
      case '/login/oauth/access_token': {
        const { client_id, client_secret, code, code_verifier } = asked.fields
        if (client_id !== client.id || client_secret !== client.secret) {
          return { body: { error: 'incorrect_client_credentials' } }
        }
        const fits = ({ challenge }: Grant) =>
          challenge === '' || challenge === hash('sha256', String(code_verifier), 'base64url')
        const token = grants.token(code, fits)
        return token === null ? noCode : { body: { access_token: token, token_type: 'bearer', scope: 'user:email' } }
      }
      case '/api/v3/user': {
        const person = grants.bearer(asked)
        if (!person) return { status: 401, body: { message: 'Bad credentials' } }
        const { id, login, name = null } = person
        return { body: { id, login, name, email: 'shown@profile.example' } }
      }
      case '/api/v3/user/emails': {
        const emails = grants.bearer(asked)?.emails ?? []
        return typeof emails === 'number' ? { status: emails, body: { message: 'Refused' } } : { body: emails }
      }
      default:
        return { status: 404 }
    }
  })
  return Object.assign(counterpart, {
    be: grants.be,
    register: (callback: string) => void (registered.callback = callback),
  })
}

export type LinuxDoPerson = { id: number; username: string; name?: string; trust_level: number }

/** Linux DO Connect: the client by Basic, the redirect address the same at both calls. */
export async function startLinuxDo(client: { id: string; secret: string }) {
  const grants = createGrants<LinuxDoPerson>({ id: 7, username: 'neo', trust_level: 2 })
  const credentials = `Basic ${Buffer.from(`${client.id}:${client.secret}`).toString('base64')}`
  const counterpart = await startCounterpart((asked) => {
    switch (asked.url.pathname) {
      case '/oauth2/authorize': {
        const redirectUri = parameter(asked, 'redirect_uri')
        const code = grants.code({ challenge: '', redirectUri })
        return back(redirectUri, { code, state: parameter(asked, 'state') })
      }
      case '/oauth2/token': {
        const { code, redirect_uri } = asked.fields
        const token =
          asked.headers.authorization === credentials
            ? grants.token(code, ({ redirectUri }) => redirectUri === redirect_uri)
            : null
        return token === null
          ? { status: 400, body: { error: 'invalid_grant' } }
          : { body: { access_token: token, token_type: 'bearer' } }
      }
      case '/api/user': {
        const person = grants.bearer(asked)
        return person ? { body: { active: true, silenced: false, ...person } } : { status: 401 }
      }
      default:
        return { status: 404 }
    }
  })
  return Object.assign(counterpart, { be: grants.be })
}

/** The operator's server beside the official account: returns once whose code it is. */
export async function startWeChat(token: string) {
  const codes = new Map<string, string>()
  const counterpart = await startCounterpart((asked) => {
    if (asked.url.pathname !== '/api/wechat/user') return { status: 404 }
    if (asked.headers.authorization !== token) return { body: { success: false, message: '无权进行此操作', data: '' } }
    const code = parameter(asked, 'code')
    const id = codes.get(code) ?? ''
    codes.delete(code)
    return { body: { success: true, message: '', data: id } }
  })
  return Object.assign(counterpart, { assign: (code: string, id: string) => void codes.set(code, id) })
}
