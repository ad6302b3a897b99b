import { Button } from '@chakra-ui/react'
import { Ban, Copy, KeyRound, Pencil, Plug, Plus, RefreshCw, Trash } from 'lucide-react'
import { useMemo, useState } from 'react'
import { tokenStatus } from '#core/statuses.ts'
import { copyWithToast } from '../../components/copy.tsx'
import { DataTable } from '../../components/data-table/data-table.tsx'
import type { Selection } from '../../components/data-table/types.ts'
import { FilterBar } from '../../components/filter-bar/filter-bar.tsx'
import type { FilterPatch } from '../../components/filter-bar/types.ts'
import { notify } from '../../components/notify.ts'
import { EmptyState } from '../../components/states.tsx'
import { t } from '../../i18n/t.ts'
import { useNow } from '../../lib/now.ts'
import { useTableState } from '../../lib/table-state.ts'
import { useUrlState } from '../../lib/url-state.ts'
import { tokenColumns } from './columns.tsx'
import { useTokenActs } from './use-token-acts.ts'
import { useRotation } from './rotate.tsx'
import { useCaps, useReveal, useTokens } from './use-tokens.ts'
import type { OpenToken, Token } from './use-open-token.ts'

const noFilters = { name: '', key: '' }

export function TokenTable({ open }: { open: OpenToken }) {
  const [{ name }, setAddress] = useUrlState({ name: '' }, ['page'])
  // A key is in no address, which browsers and servers write down.
  const [key, setKey] = useState('')
  const values = { name, key }
  const setFilters = (patch: FilterPatch, options?: { replace?: boolean }) => {
    if (typeof patch['key'] === 'string') setKey(patch['key'])
    setAddress(typeof patch['name'] === 'string' ? { name: patch['name'] } : {}, options)
  }
  const table = useTableState()
  const { pageOf, ...query } = useTokens(values, table)
  const reveal = useReveal()
  const acts = useTokenActs()
  const rotate = useRotation(open)
  const caps = useCaps()
  const now = useNow()
  const columns = useMemo(() => tokenColumns({ reveal, now, caps }), [reveal, now, caps])
  const filtered = values.name !== '' || values.key !== ''

  return (
    <DataTable
      id="tokens"
      label={t('API令牌')}
      columns={columns}
      rowId={(token) => token.id}
      rowLabel={(token) => token.name}
      query={query}
      paging={table}
      sort={table.sort}
      onSort={table.setSort}
      csvName="tokens"
      csvPage={pageOf}
      isMuted={(token) => token.status !== tokenStatus.enabled}
      onOpen={open.edit}
      openRow={open.edited ?? open.used}
      toolbar={
        <FilterBar
          query={{ id: 'name', placeholder: t('搜索名称') }}
          facets={[{ id: 'key', label: t('密钥'), kind: 'text', placeholder: 'sk-' }]}
          values={values}
          onChange={setFilters}
        />
      }
      empty={
        filtered ? (
          <EmptyState
            icon={KeyRound}
            title={t('没有匹配的令牌')}
            action={<Button onClick={() => setFilters(noFilters)}>{t('清除筛选')}</Button>}
          />
        ) : (
          <EmptyState
            icon={KeyRound}
            title={t('还没有令牌')}
            description={t('令牌是程序调用模型时使用的密钥，可以各自限定额度、模型和有效期。')}
            action={
              <Button variant="solid" onClick={open.create}>
                <Plus aria-hidden />
                {t('新建令牌')}
              </Button>
            }
          />
        )
      }
      bulk={{
        filters: values,
        actions: (selection) => <BulkActions selection={selection} reveal={reveal} acts={acts} />,
      }}
      rowActions={(token) => [
        { id: 'use', label: t('接入说明'), icon: Plug, onSelect: () => open.use(token) },
        {
          id: 'copy',
          label: t('复制密钥'),
          icon: Copy,
          onSelect: () =>
            void copyWithToast(reveal(token)).catch((error: unknown) => notify.error(error, t('没有复制'))),
        },
        { id: 'rotate', label: t('更换密钥'), icon: RefreshCw, onSelect: () => void rotate(token) },
        { id: 'edit', label: t('编辑'), icon: Pencil, onSelect: () => open.edit(token) },
        {
          id: 'disable',
          label: t('禁用'),
          icon: Ban,
          hidden: token.status !== tokenStatus.enabled,
          onSelect: () => void acts.setStatus(token, tokenStatus.disabled),
        },
        {
          id: 'enable',
          label: t('启用'),
          icon: KeyRound,
          hidden: token.status === tokenStatus.enabled,
          onSelect: () => void acts.setStatus(token, tokenStatus.enabled),
        },
        {
          id: 'remove',
          label: t('删除'),
          icon: Trash,
          danger: true,
          separated: true,
          onSelect: () => void acts.remove([token]),
        },
      ]}
    />
  )
}

type BulkActionsProps = {
  selection: Selection<Token>
  reveal: (token: Token) => Promise<string>
  acts: ReturnType<typeof useTokenActs>
}

function BulkActions({ selection, reveal, acts }: BulkActionsProps) {
  const { rows, clear } = selection
  const copy = async () => {
    try {
      await copyWithToast(Promise.all(rows.map(reveal)).then((keys) => keys.join('\n')))
    } catch (error) {
      notify.error(error, t('没有复制'))
    }
  }
  const disable = async () => {
    if (await acts.setStatuses(rows, tokenStatus.disabled)) clear()
  }
  const remove = async () => {
    if (await acts.remove(rows)) clear()
  }
  return (
    <>
      <Button size="xs" onClick={() => void copy()}>
        <Copy aria-hidden />
        {t('复制所选密钥')}
      </Button>
      <Button size="xs" onClick={() => void disable()}>
        <Ban aria-hidden />
        {t('禁用')}
      </Button>
      <Button size="xs" variant="surface" colorPalette="bad" onClick={() => void remove()}>
        <Trash aria-hidden />
        {t('删除')}
      </Button>
    </>
  )
}
