import { Button, HStack } from '@chakra-ui/react'
import { Mail, Pencil, Plus, Trash, Users } from 'lucide-react'
import { useMemo } from 'react'
import type { RouterOutputs } from '#server/app-router.ts'
import { Time } from '../../components/cells/time.tsx'
import { UserLink } from '../../components/cells/user-link.tsx'
import { confirm } from '../../components/confirm.tsx'
import { DataTable } from '../../components/data-table/data-table.tsx'
import type { Column } from '../../components/data-table/types.ts'
import { FilterBar } from '../../components/filter-bar/filter-bar.tsx'
import { notify } from '../../components/notify.ts'
import { Page as Frame } from '../../components/page.tsx'
import { Sheet } from '../../components/sheet.tsx'
import { EmptyState } from '../../components/states.tsx'
import { t } from '../../i18n/t.ts'
import { formatInteger } from '../../lib/format.ts'
import { keepsRows } from '../../lib/query.ts'
import { useTableState } from '../../lib/table-state.ts'
import { useRangeMoment } from '../../lib/range-moment.ts'
import { isRangePreset, parseRange } from '../../lib/time-range.ts'
import { trpc } from '../../lib/trpc.ts'
import { useOpenRow } from '../../lib/use-open-row.ts'
import { useUrlState } from '../../lib/url-state.ts'
import { FormatTag } from './body.tsx'
import { CreateMessage, EditMessage } from './forms.tsx'
import { RecipientTable } from './recipients.tsx'

type Message = RouterOutputs['admin']['messages']['list']['items'][number]

const filters = { keyword: '', range: '' }

const columns = (): Column<Message>[] => [
  { id: 'id', title: 'ID', width: 70, cell: ({ id }) => id, csv: ({ id }) => id },
  {
    id: 'title',
    title: t('标题'),
    width: 260,
    grow: true,
    fixed: true,
    card: 'title',
    cell: ({ title, preview }) => <span data-tip={preview}>{title}</span>,
    csv: ({ title }) => title,
  },
  {
    id: 'format',
    title: t('格式'),
    width: 110,
    cell: ({ format }) => (format === 'markdown' ? 'Markdown' : <FormatTag format={format} />),
    csv: ({ format }) => format,
  },
  {
    id: 'recipients',
    title: t('收件人数'),
    width: 110,
    align: 'end',
    card: 'fact',
    cell: ({ totalRecipients }) => formatInteger(totalRecipients),
    csv: ({ totalRecipients }) => totalRecipients,
  },
  {
    id: 'read',
    title: t('已读人数'),
    width: 110,
    align: 'end',
    card: 'fact',
    cell: ({ readCount }) => formatInteger(readCount),
    csv: ({ readCount }) => readCount,
  },
  {
    id: 'author',
    title: t('发送人'),
    width: 130,
    cell: ({ author }) => <UserLink id={author?.id ?? 0} name={author?.username} />,
    csv: ({ author }) => author?.username,
  },
  {
    id: 'created',
    title: t('创建时间'),
    width: 130,
    card: 'fact',
    cell: ({ createdAt }) => <Time value={createdAt} />,
    csv: ({ createdAt }) => createdAt.toISOString(),
  },
]

const never = new Date('9999-12-31T00:00:00Z')

function useInput(values: { keyword: string; range: string }) {
  const [now] = useRangeMoment(values.range)
  return useMemo(() => {
    const range = parseRange(values.range, now)
    if (!range) return { keyword: values.keyword }
    // A range that moves with the clock has no end, which the question has to have.
    const end = isRangePreset(values.range) ? never : range.to
    return { keyword: values.keyword, start: range.from, end }
  }, [values.keyword, values.range, now])
}

export function Page() {
  const [values, setFilters] = useUrlState(filters, ['page'])
  const [{ edit, readers }, open] = useUrlState({ edit: 0, readers: 0 }, [], ['edit', 'readers'])
  const table = useTableState()
  const { page, pageSize } = table
  const input = useInput(values)
  const messages = trpc.admin.messages.list.useQuery({ ...input, page, pageSize }, keepsRows)
  const utils = trpc.useUtils()
  const remove = trpc.admin.messages.remove.useMutation()
  const filtered = values.keyword !== '' || values.range !== ''
  const shown = useOpenRow(readers, messages.data?.items)
  const ask = ({ id, title }: Message) =>
    void confirm({
      title: t('删除消息“{title}”？', { title }),
      body: t('它会从所有收件箱中消失，无法恢复。'),
      confirmLabel: t('删除'),
      danger: true,
      run: async () => {
        await remove.mutateAsync({ id })
        await Promise.all([utils.admin.messages.invalidate(), utils.user.messages.invalidate()])
        notify.success(t('删除成功'))
      },
    })
  return (
    <Frame
      title={t('消息管理')}
      fill
      action={
        <Button variant="solid" onClick={() => open({ edit: -1 })}>
          <Plus aria-hidden />
          {t('新建消息')}
        </Button>
      }
    >
      <DataTable
        id="messages"
        label={t('消息管理')}
        columns={columns()}
        rowId={({ id }) => id}
        rowLabel={({ title }) => title}
        query={messages}
        paging={table}
        csvName="messages"
        csvPage={(number, size) => utils.admin.messages.list.fetch({ ...input, page: number, pageSize: size })}
        onOpen={({ id }) => open({ readers: id })}
        openRow={readers || undefined}
        rowActions={(message) => [
          {
            id: 'readers',
            label: t('查看收件人'),
            icon: Users,
            onSelect: () => open({ readers: message.id }),
          },
          { id: 'edit', label: t('编辑'), icon: Pencil, onSelect: () => open({ edit: message.id }) },
          {
            id: 'delete',
            label: t('删除'),
            icon: Trash,
            danger: true,
            separated: true,
            onSelect: () => ask(message),
          },
        ]}
        toolbar={
          <FilterBar
            query={{ id: 'keyword', placeholder: t('搜索标题或内容') }}
            facets={[{ id: 'range', label: t('创建时间'), kind: 'range' }]}
            values={values}
            onChange={setFilters}
          />
        }
        empty={
          <EmptyState
            icon={Mail}
            title={filtered ? t('没有匹配的消息') : t('还没有发送过消息')}
            action={
              filtered ? (
                <Button onClick={() => setFilters(filters)}>{t('清除筛选')}</Button>
              ) : (
                <Button onClick={() => open({ edit: -1 })}>{t('新建消息')}</Button>
              )
            }
          />
        }
      />
      <CreateMessage open={edit === -1} onClose={() => open({ edit: 0 })} />
      <EditMessage id={Math.max(0, edit)} onClose={() => open({ edit: 0 })} />
      <Sheet
        open={readers > 0}
        onClose={() => open({ readers: 0 })}
        title={shown?.title ?? t('收件人')}
        description={
          shown && (
            <HStack as="span">
              {t('{read} / {total} 已读', {
                read: formatInteger(shown.readCount),
                total: formatInteger(shown.totalRecipients),
              })}
            </HStack>
          )
        }
      >
        {readers > 0 && <RecipientTable key={readers} id={readers} />}
      </Sheet>
    </Frame>
  )
}
