import { Ban, CircleCheck, Copy, Pencil, Trash } from 'lucide-react'
import { redemptionStatus } from '#core/statuses.ts'
import type { MenuAction } from '../../components/action-menu.tsx'
import { confirm } from '../../components/confirm.tsx'
import { copyWithToast } from '../../components/copy.tsx'
import { notify } from '../../components/notify.ts'
import { t } from '../../i18n/t.ts'
import { trpc } from '../../lib/trpc.ts'
import { useKeyTexts } from './use-key-texts.ts'
import { isUsedUp, type Redemption } from './words.ts'

/** What may be done with one code. */
export function useActs(edit: (redemption: Redemption) => void) {
  const utils = trpc.useUtils()
  const keyTextsOf = useKeyTexts()
  const setStatus = trpc.admin.redemptions.setStatus.useMutation()
  const remove = trpc.admin.redemptions.remove.useMutation()

  const change = async ({ id }: Redemption, status: 1 | 2) => {
    try {
      await setStatus.mutateAsync({ id, status })
      await utils.admin.redemptions.invalidate()
    } catch (error) {
      notify.error(error)
    }
  }

  const copy = async (redemption: Redemption) => {
    try {
      await copyWithToast(keyTextsOf([redemption]).then((keys) => keys.join('')))
    } catch (error) {
      notify.error(error, t('没有复制'))
    }
  }

  return (redemption: Redemption): MenuAction[] => {
    const { status, name, id } = redemption
    return [
      { id: 'copy', label: t('复制兑换码'), icon: Copy, onSelect: () => void copy(redemption) },
      {
        id: 'edit',
        label: t('编辑'),
        icon: Pencil,
        hidden: status !== redemptionStatus.unused,
        onSelect: () => edit(redemption),
      },
      {
        id: 'disable',
        label: t('禁用'),
        icon: Ban,
        hidden: status !== redemptionStatus.unused,
        onSelect: () => void change(redemption, redemptionStatus.disabled),
      },
      {
        id: 'enable',
        label: t('启用'),
        icon: CircleCheck,
        hidden: status !== redemptionStatus.disabled || isUsedUp(redemption),
        onSelect: () => void change(redemption, redemptionStatus.unused),
      },
      {
        id: 'remove',
        label: t('删除'),
        icon: Trash,
        danger: true,
        separated: true,
        onSelect: () =>
          void confirm({
            title: t('删除兑换码“{name}”？', { name }),
            body: t('删除后无法再兑换，已兑换的额度不受影响。'),
            confirmLabel: t('删除'),
            danger: true,
            run: async () => {
              await remove.mutateAsync({ id })
              await utils.admin.redemptions.invalidate()
            },
          }),
      },
    ]
  }
}
