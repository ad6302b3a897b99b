import { Button } from '@chakra-ui/react'
import { KeyRound, Pencil, Trash } from 'lucide-react'
import { useState } from 'react'
import { confirm } from '../../components/confirm.tsx'
import { DataTable } from '../../components/data-table/data-table.tsx'
import type { Column } from '../../components/data-table/types.ts'
import { notify } from '../../components/notify.ts'
import { EmptyState } from '../../components/states.tsx'
import { useTableState } from '../../lib/table-state.ts'

type Sample = { id: number; name: string; model: string; calls: number; cost: number; enabled: boolean }

const samples: Sample[] = Array.from({ length: 64 }, (_, index) => ({
  id: index + 1,
  name:
    ['生产环境', 'Nightly batch', 'Cursor', '测试', 'A rather long name of a token that does not fit'][index % 5] ?? '',
  model: ['gpt-4o-mini', 'claude-sonnet-4-5', 'gemini-2.5-pro', 'deepseek-v3'][index % 4] ?? '',
  calls: (index * 7919) % 98_000,
  cost: ((index * 104_729) % 900_000) / 1000,
  enabled: index % 3 !== 0,
}))

const columns: Column<Sample>[] = [
  { id: 'id', title: 'ID', cell: (row) => row.id, csv: (row) => row.id, width: 72, sortable: true },
  {
    id: 'name',
    title: 'Name',
    cell: (row) => row.name,
    csv: (row) => row.name,
    fixed: true,
    grow: true,
    card: 'title',
  },
  {
    id: 'model',
    title: 'Model',
    cell: (row) => <code>{row.model}</code>,
    csv: (row) => row.model,
    width: 200,
    card: 'fact',
  },
  {
    id: 'calls',
    title: 'Calls',
    cell: (row) => row.calls,
    csv: (row) => row.calls,
    align: 'end',
    sortable: true,
    card: 'fact',
  },
  { id: 'cost', title: 'Cost', cell: (row) => `$${row.cost.toFixed(2)}`, align: 'end', sortable: true, card: 'fact' },
  { id: 'state', title: 'State', cell: (row) => (row.enabled ? 'on' : 'off'), hidden: true },
]

export function TableSample() {
  const table = useTableState({ by: 'id', order: 'desc' })
  const [open, setOpen] = useState<number>()
  const from = (table.page - 1) * table.pageSize
  const data = { items: samples.slice(from, from + table.pageSize), total: samples.length }
  return (
    <DataTable
      id="gallery"
      label="Samples"
      columns={columns}
      rowId={(row) => row.id}
      rowLabel={(row) => row.name}
      query={{ data, error: null, isFetching: false, refetch: () => undefined }}
      paging={table}
      sort={table.sort}
      onSort={table.setSort}
      empty={<EmptyState icon={KeyRound} title="Nothing" />}
      onOpen={(row) => setOpen(row.id)}
      openRow={open}
      isMuted={(row) => !row.enabled}
      csvName="samples"
      bulk={{
        filters: {},
        actions: ({ clear }) => (
          <Button size="xs" onClick={clear}>
            Disable
          </Button>
        ),
      }}
      rowActions={(row) => [
        { id: 'edit', label: 'Edit', icon: Pencil, onSelect: () => notify.success(`Edited ${row.name}`) },
        {
          id: 'remove',
          label: 'Delete',
          icon: Trash,
          danger: true,
          separated: true,
          onSelect: () => void confirm({ title: `Delete ${row.name}?`, danger: true, typeToConfirm: row.name }),
        },
      ]}
    />
  )
}
