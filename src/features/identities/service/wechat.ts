import { DomainError } from '#core/errors.ts'
import { withoutTrailingSlashes } from '#core/trailing.ts'
import { tryOnce } from '../../auth/throttle.ts'
import type { Deps, UserDeps } from '../../deps.ts'
import type { SignIn } from '../../users/view.ts'
import type { WeChatCode } from '../schema.ts'
import { askJson } from './ask.ts'
import { bindIdentity } from './bindings.ts'
import { fieldsOf, textOf } from './profile.ts'
import { requireEnabled } from './providers.ts'
import { signInByIdentity } from './sign-in.ts'

/** @throws {DomainError} wechat.code_invalid */
export async function signInByWeChat(deps: Deps, { code }: WeChatCode): Promise<SignIn> {
  const id = await idOf(deps, code)
  return signInByIdentity(deps, { provider: 'wechat', profile: { id, displayName: '微信用户' }, inviteCode: '' })
}

/** @throws {DomainError} wechat.code_invalid */
export const bindWeChat = async (deps: UserDeps, { code }: WeChatCode): Promise<void> =>
  bindIdentity(deps, 'wechat', { id: await idOf(deps, code) })

/**
 * Asks the operator's server whose code it is. Codes are short, and any that is valid signs somebody in: attempts are counted
 * before the server is asked, and all networks together have few.
 */
async function idOf(deps: Deps, code: string): Promise<string> {
  requireEnabled(deps, 'wechat')
  let id = ''
  const isRight = await tryOnce(deps, { purpose: 'wechat', account: '' }, async () => {
    id = code === '' ? '' : await whoseCode(deps, code)
    return id !== ''
  })
  if (!isRight) throw new DomainError('wechat.code_invalid')
  return id
}

async function whoseCode(deps: Deps, code: string): Promise<string> {
  const { options } = deps
  const base = withoutTrailingSlashes(options.get('WeChatServerAddress'))
  const answer = fieldsOf(
    await askJson(deps, 'wechat', {
      method: 'GET',
      url: `${base}/api/wechat/user?code=${encodeURIComponent(code)}`,
      headers: { authorization: options.get('WeChatServerToken') },
    }),
  )
  const id = textOf(answer['data'])
  return answer['success'] === true && id.length <= 255 ? id : ''
}
