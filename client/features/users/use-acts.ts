import { mayActOn, roles } from '#core/roles.ts'
import { userStatus } from '#core/statuses.ts'
import { ArrowDown, ArrowUp, Ban, CircleCheck, Pencil, ShieldOff, Trash } from 'lucide-react'
import type { MenuAction } from '../../components/action-menu.tsx'
import { confirm, type Question } from '../../components/confirm.tsx'
import { notify } from '../../components/notify.ts'
import { t } from '../../i18n/t.ts'
import { useSession } from '../../lib/session.ts'
import { trpc } from '../../lib/trpc.ts'
import type { RouterInputs } from '#server/app-router.ts'
import { isGone, type User } from './words.ts'

type Act = RouterInputs['admin']['users']['manage']['action']

const questionOf = (act: Act, name: string): Question => {
  switch (act) {
    case 'promote':
      return { title: t('将“{name}”提升为管理员？', { name }), body: t('管理员可以管理渠道、兑换码和普通用户。') }
    case 'demote':
      return { title: t('将“{name}”降级为普通用户？', { name }), body: t('其管理权限立即失效。'), danger: true }
    case 'enable':
      return { title: t('启用用户“{name}”？', { name }), body: t('可以重新登录，令牌恢复可用。') }
    case 'disable':
      return {
        title: t('禁用用户“{name}”？', { name }),
        body: t('立即退出登录，令牌无法再调用；可以再启用。'),
        danger: true,
      }
    case 'delete':
      return {
        title: t('注销用户“{name}”？', { name }),
        body: t('此操作不可逆：账户无法再登录，令牌无法再调用，记录仍会保留。'),
        confirmLabel: t('注销'),
        danger: true,
        typeToConfirm: name,
      }
  }
}

/** What may be done with an account, by the rules that the server keeps. */
export function useActs(edit: (user: User) => void) {
  const { role, isRoot, user: self } = useSession()
  const utils = trpc.useUtils()
  const resetSecondFactor = trpc.admin.secondFactor.reset.useMutation()
  const manage = trpc.admin.users.manage.useMutation()
  const ask = (act: Act, user: User) =>
    void confirm({
      ...questionOf(act, user.username),
      run: async () => {
        await manage.mutateAsync({ id: user.id, action: act })
        await utils.admin.users.invalidate()
        notify.success(t('操作成功完成！'))
      },
    })
  const askForReset = (user: User) =>
    void confirm({
      title: t('重置“{name}”的两步验证？', { name: user.username }),
      body: t('其身份验证器、通行密钥和恢复码全部失效，之后只用密码即可登录。请先确认是本人的请求。'),
      confirmLabel: t('重置'),
      danger: true,
      run: async () => {
        await resetSecondFactor.mutateAsync({ id: user.id })
        notify.success(t('操作成功完成！'))
      },
    })
  return (user: User): MenuAction[] => {
    if (isGone(user) || !mayActOn(role, user.role)) return []
    const isProtected = user.role === roles.root || user.id === self?.id
    const isActive = user.status === userStatus.active
    return [
      { id: 'edit', label: t('编辑'), icon: Pencil, onSelect: () => edit(user) },
      {
        id: 'promote',
        label: t('提升为管理员'),
        icon: ArrowUp,
        hidden: !isRoot || user.role >= roles.admin,
        onSelect: () => ask('promote', user),
      },
      {
        id: 'demote',
        label: t('降级为普通用户'),
        icon: ArrowDown,
        hidden: isProtected || user.role <= roles.user,
        onSelect: () => ask('demote', user),
      },
      {
        id: 'enable',
        label: t('启用'),
        icon: CircleCheck,
        hidden: isActive,
        disabled: user.status === userStatus.other,
        onSelect: () => ask('enable', user),
      },
      {
        id: 'disable',
        label: t('禁用'),
        icon: Ban,
        hidden: isProtected || !isActive,
        onSelect: () => ask('disable', user),
      },
      {
        id: 'second-factor',
        label: t('重置两步验证'),
        icon: ShieldOff,
        hidden: role <= user.role,
        onSelect: () => askForReset(user),
      },
      {
        id: 'delete',
        label: t('注销'),
        icon: Trash,
        danger: true,
        separated: true,
        hidden: isProtected,
        onSelect: () => ask('delete', user),
      },
    ]
  }
}
