import { notify } from '../../components/notify.ts'
import { t } from '../../i18n/t.ts'
import { queryClient } from '../../lib/query.ts'
import { rememberUser } from '../../lib/session.ts'
import type { RouterOutputs } from '#server/app-router.ts'

export type SignIn = RouterOutputs['auth']['login']
/** What is asked for after the first half of a sign-in. */
export type SecondStepOf = Extract<SignIn, { secondStep: unknown }>['secondStep']

/** What follows every way of signing in, once nothing more is asked. */
export function useSignedIn() {
  return (result: SignIn): void => {
    if ('secondStep' in result) return
    queryClient.clear()
    rememberUser(result)
    notify.success(t('登录成功！'))
    if (result.mustChangePassword) {
      notify.warning(t('您正在使用默认密码！'), { description: t('请立刻修改默认密码！') })
    }
  }
}
