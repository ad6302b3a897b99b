import { tokenStatus } from '#core/statuses.ts'
import { confirm } from '../../components/confirm.tsx'
import { notify } from '../../components/notify.ts'
import { t } from '../../i18n/t.ts'
import { refusalCode } from '../../lib/errors.ts'
import { trpc } from '../../lib/trpc.ts'
import type { Token } from './use-open-token.ts'

type Settable = typeof tokenStatus.enabled | typeof tokenStatus.disabled

/** What can be done to tokens from their row or together; each act says how it ended. */
export function useTokenActs() {
  const utils = trpc.useUtils()
  const status = trpc.user.tokens.setStatus.useMutation()
  const removal = trpc.user.tokens.remove.useMutation()
  const refresh = () => utils.user.tokens.invalidate()

  const setStatus = async (token: Token, wanted: Settable) => {
    try {
      await status.mutateAsync({ id: token.id, status: wanted })
      const name = token.name
      notify.success(wanted === tokenStatus.enabled ? t('已启用“{name}”', { name }) : t('已禁用“{name}”', { name }))
    } catch (error) {
      notify.error(error, t('没有更改“{name}”', { name: token.name }))
    }
    await refresh()
  }

  /** Whether all of them were changed. */
  const setStatuses = async (tokens: readonly Token[], wanted: Settable): Promise<boolean> => {
    const results = await Promise.allSettled(tokens.map(({ id }) => status.mutateAsync({ id, status: wanted })))
    await refresh()
    const failed = results.find((result) => result.status === 'rejected')
    if (failed) notify.error(failed.reason, t('有令牌没有更改'))
    else notify.success(t('操作成功完成！'))
    return failed === undefined
  }

  const remove = async (tokens: readonly Token[]): Promise<boolean> => {
    const [first] = tokens
    if (!first) return false
    const removed = await confirm({
      title:
        tokens.length === 1
          ? t('删除令牌“{name}”？', { name: first.name })
          : t('删除 {count} 个令牌？', { count: tokens.length }),
      body: t('使用它的程序将立即无法调用。使用日志会保留，令牌无法恢复。'),
      confirmLabel: t('删除'),
      danger: true,
      run: async () => {
        for (const { id } of tokens) {
          await removal.mutateAsync({ id }).catch((error: unknown) => {
            // One that is gone already, as of a deletion that broke off before, does not hold up the others.
            if (refusalCode(error) !== 'token.not_found') throw error
          })
        }
      },
    })
    // A deletion that broke off in the middle has removed some.
    await refresh()
    if (removed) notify.success(t('操作成功完成！'))
    return removed
  }

  return { setStatus, setStatuses, remove }
}
