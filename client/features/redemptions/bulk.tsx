import { Button } from '@chakra-ui/react'
import { Ban, Copy, Download, FileText, Trash, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { byRedemptionName } from '#features/redemptions/schema.ts'
import { ActionMenu } from '../../components/action-menu.tsx'
import { confirm } from '../../components/confirm.tsx'
import { copyWithToast } from '../../components/copy.tsx'
import { saveFile, toCsv } from '../../components/data-table/csv.ts'
import type { Selection } from '../../components/data-table/types.ts'
import { TextField } from '../../components/fields/text-fields.tsx'
import { FormDrawer } from '../../components/form-drawer.tsx'
import { notify } from '../../components/notify.ts'
import { t } from '../../i18n/t.ts'
import { useZodForm } from '../../lib/form.ts'
import { trpc } from '../../lib/trpc.ts'
import type { RouterInputs } from '#server/app-router.ts'
import { redemptionColumns } from './columns.tsx'
import { useKeyTexts } from './use-key-texts.ts'
import type { Redemption } from './words.ts'

type Filters = Omit<RouterInputs['admin']['redemptions']['export'], 'ids'>

/** Saves the codes of a list, or the chosen ones of it. */
function useExport() {
  const fetchAll = trpc.admin.redemptions.export.useMutation()
  return async (of: RouterInputs['admin']['redemptions']['export'], form: 'csv' | 'txt') => {
    try {
      const { items, complete } = await fetchAll.mutateAsync(of)
      if (form === 'csv') saveFile('redemptions.csv', toCsv(redemptionColumns(new Date()), items))
      else saveFile('redemptions.txt', items.map(({ key }) => key).join('\n'), 'text/plain')
      if (!complete) notify.warning(t('只导出了最新的 {count} 个兑换码', { count: items.length }))
    } catch (error) {
      notify.error(error, t('没有导出'))
    }
  }
}

/** Buttons over the table while codes are selected. */
export function BulkActions({ selection }: { selection: Selection<Redemption> }) {
  const { rows, clear } = selection
  const utils = trpc.useUtils()
  const save = useExport()
  const keyTextsOf = useKeyTexts()
  const disable = trpc.admin.redemptions.disable.useMutation()
  const ids = rows.map(({ id }) => id)
  const disableAll = async () => {
    try {
      const count = await disable.mutateAsync({ ids })
      notify.success(t('已禁用 {count} 个兑换码', { count }))
      await utils.admin.redemptions.invalidate()
      clear()
    } catch (error) {
      notify.error(error)
    }
  }
  const copyAll = async () => {
    try {
      await copyWithToast(keyTextsOf(rows).then((keys) => keys.join('\n')))
    } catch (error) {
      notify.error(error, t('没有复制'))
    }
  }
  return (
    <>
      <Button size="xs" onClick={() => void copyAll()}>
        <Copy aria-hidden />
        {t('复制所选兑换码')}
      </Button>
      <Button size="xs" onClick={() => void save({ ids }, 'csv')}>
        <Download aria-hidden />
        {t('导出 CSV')}
      </Button>
      <Button size="xs" loading={disable.isPending} onClick={() => void disableAll()}>
        <Ban aria-hidden />
        {t('禁用所选')}
      </Button>
    </>
  )
}

/** What concerns many codes, whatever is selected. */
export function MoreActs({ filters }: { filters: Filters }) {
  const utils = trpc.useUtils()
  const save = useExport()
  const removeDisabled = trpc.admin.redemptions.removeDisabled.useMutation()
  const [isNaming, setNaming] = useState(false)
  const notifyRemoved = async (count: number) => {
    await utils.admin.redemptions.invalidate()
    notify.success(t('已删除 {count} 个兑换码', { count }))
  }
  return (
    <>
      <ActionMenu
        label={t('更多操作')}
        actions={[
          { id: 'csv', label: t('导出 CSV'), icon: Download, onSelect: () => void save(filters, 'csv') },
          { id: 'txt', label: t('导出为文本'), icon: FileText, onSelect: () => void save(filters, 'txt') },
          {
            id: 'by-name',
            label: t('按名称删除'),
            icon: Trash,
            danger: true,
            separated: true,
            onSelect: () => setNaming(true),
          },
          {
            id: 'disabled',
            label: t('删除所有已禁用的兑换码'),
            icon: Trash2,
            danger: true,
            onSelect: () =>
              void confirm({
                title: t('删除所有已禁用的兑换码？'),
                body: t('此操作不可撤销。'),
                confirmLabel: t('删除'),
                danger: true,
                run: async () => notifyRemoved(await removeDisabled.mutateAsync()),
              }),
          },
        ]}
      />
      <RemoveByName open={isNaming} onClose={() => setNaming(false)} onRemoved={notifyRemoved} />
    </>
  )
}

type RemoveByNameProps = { open: boolean; onClose: () => void; onRemoved: (count: number) => Promise<void> }

/** Says how many codes bear the name before they are deleted. */
function RemoveByName({ open, onClose, onRemoved }: RemoveByNameProps) {
  const form = useZodForm({ schema: byRedemptionName, values: { name: '' } })
  const utils = trpc.useUtils()
  const remove = trpc.admin.redemptions.removeByName.useMutation()
  const name = form.watch('name').trim()
  const count = trpc.admin.redemptions.countByName.useQuery({ name }, { enabled: open && name !== '', staleTime: 0 })
  return (
    <FormDrawer
      open={open}
      onClose={onClose}
      title={t('按名称删除')}
      description={t('删除所有同名的兑换码，无论是否已使用；已兑换的额度不受影响。')}
      form={form}
      submitLabel={t('删除')}
      onSubmit={async (values) => {
        const found = await utils.admin.redemptions.countByName.fetch(values, { staleTime: 0 })
        let removed = 0
        const sure = await confirm({
          title: t('删除 {count} 个名为“{name}”的兑换码？', { count: found, name: values.name }),
          body: t('此操作不可撤销。'),
          confirmLabel: t('删除'),
          danger: true,
          run: async () => {
            removed = await remove.mutateAsync(values)
          },
        })
        if (sure) await onRemoved(removed)
      }}
    >
      <TextField
        name="name"
        label={t('兑换码名称')}
        help={name !== '' && count.data !== undefined && t('共 {count} 个', { count: count.data })}
        required
        autoFocus
      />
    </FormDrawer>
  )
}
