import { Button, HStack } from '@chakra-ui/react'
import { Pencil, Plus, RotateCw, Shuffle, Trash } from 'lucide-react'
import { useMemo } from 'react'
import type { MappingEntry, ModelMapping } from '#core/options/model-mapping.ts'
import { ModelName, Tags } from '../../../components/cells/names.tsx'
import { confirm } from '../../../components/confirm.tsx'
import { DataTable } from '../../../components/data-table/data-table.tsx'
import { notify } from '../../../components/notify.ts'
import { EmptyState } from '../../../components/states.tsx'
import { t } from '../../../i18n/t.ts'
import { trpc } from '../../../lib/trpc.ts'
import { useUrlState } from '../../../lib/url-state.ts'
import { MappingForm, newMapping } from './form.tsx'

type Row = { name: string; entries: readonly MappingEntry[] }

const rowsOf = (mapping: ModelMapping): Row[] =>
  Object.entries(mapping).map(([name, entries]) => ({
    name,
    entries: entries.toSorted((left, right) => right.priorities - left.priorities),
  }))

/** Names that callers use, and the models that answer to them. */
export function MappingTable() {
  const query = trpc.admin.options.mapping.get.useQuery()
  const [state, set] = useUrlState({ mapping: '' }, [], ['mapping'])
  const rows = useMemo(() => query.data && rowsOf(query.data.mapping), [query.data])
  const { remove, reload } = useActs()
  const open = (mapping: string) => set({ mapping })
  const add = (
    <Button onClick={() => open(newMapping)}>
      <Plus aria-hidden />
      {t('添加映射')}
    </Button>
  )
  return (
    <>
      <DataTable
        id="model-mapping"
        label={t('模型映射')}
        columns={[
          {
            id: 'name',
            title: t('虚拟模型名'),
            width: 220,
            fixed: true,
            card: 'title',
            cell: ({ name }) => <ModelName name={name} />,
          },
          {
            id: 'entries',
            title: t('实际模型（优先级）'),
            grow: true,
            card: 'fact',
            cell: ({ entries }) => (
              <Tags values={entries.map(({ model, priorities }) => `${model} (${priorities})`)} most={4} />
            ),
          },
        ]}
        rowId={({ name }) => name}
        rowLabel={({ name }) => name}
        query={{ ...query, data: rows && { items: rows, total: rows.length } }}
        onOpen={({ name }) => open(name)}
        openRow={state.mapping || undefined}
        toolbar={
          <HStack gap="2" wrap="wrap">
            {rows && rows.length > 0 && add}
            <Button onClick={() => void reload()}>
              <RotateCw aria-hidden />
              {t('重新加载')}
            </Button>
          </HStack>
        }
        rowActions={({ name }) => [
          { id: 'edit', label: t('编辑'), icon: Pencil, onSelect: () => open(name) },
          { id: 'remove', label: t('删除'), icon: Trash, danger: true, onSelect: () => void remove(name) },
        ]}
        failureTitle={t('获取模型映射配置失败')}
        empty={
          <EmptyState
            icon={Shuffle}
            title={t('还没有模型映射')}
            description={t('把一个虚拟模型名指向若干实际模型，按优先级依次尝试。')}
            action={add}
          />
        }
      />
      <MappingForm opened={state.mapping} mapping={query.data?.mapping} onClose={() => open('')} />
    </>
  )
}

function useActs() {
  const utils = trpc.useUtils()
  const update = trpc.admin.options.mapping.update.useMutation()
  const reloading = trpc.admin.options.mapping.reload.useMutation()
  const remove = (name: string) =>
    confirm({
      title: t('删除映射“{name}”？', { name }),
      body: t('之后以此名称发起的调用将不再被转换。'),
      confirmLabel: t('删除'),
      danger: true,
      failed: (reason) => t('删除失败：{reason}', { reason }),
      run: async () => {
        const { mapping: expected } = await utils.admin.options.mapping.get.fetch(undefined, { staleTime: 0 })
        const others = Object.entries(expected).filter(([other]) => other !== name)
        await update.mutateAsync({ mapping: Object.fromEntries(others), expected })
        await utils.admin.options.invalidate()
        notify.success(t('映射已删除'))
      },
    })
  const reload = async () => {
    try {
      await reloading.mutateAsync()
      await utils.admin.options.invalidate()
      notify.success(t('模型映射已重新加载'))
    } catch (error) {
      notify.error(error, t('重新加载失败'))
    }
  }
  return { remove, reload }
}
