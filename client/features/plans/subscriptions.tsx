import { Package } from 'lucide-react'
import { useState } from 'react'
import { endSubscription, subscriptionStatuses } from '#features/plans/schema.ts'
import { UserCell } from '../../components/cells/names.tsx'
import { Money } from '../../components/cells/numbers.tsx'
import { Time } from '../../components/cells/time.tsx'
import { DataTable } from '../../components/data-table/data-table.tsx'
import type { Column } from '../../components/data-table/types.ts'
import { QuotaField } from '../../components/fields/quota-field.tsx'
import { TextareaField } from '../../components/fields/text-fields.tsx'
import { FilterBar } from '../../components/filter-bar/filter-bar.tsx'
import { FormDrawer } from '../../components/form-drawer.tsx'
import { notify } from '../../components/notify.ts'
import { stateOfSubscription, SubscriptionStatus, subscriptionWords } from '../../components/plan.tsx'
import { EmptyState } from '../../components/states.tsx'
import { t } from '../../i18n/t.ts'
import { useZodForm } from '../../lib/form.ts'
import { quotaText } from '../../lib/format.ts'
import { keepsRows } from '../../lib/query.ts'
import { useTableState } from '../../lib/table-state.ts'
import { trpc } from '../../lib/trpc.ts'
import { useUrlState } from '../../lib/url-state.ts'
import type { Subscription } from './words.ts'

const columns = (): Column<Subscription>[] => [
  {
    id: 'user',
    title: t('用户'),
    width: 150,
    grow: true,
    fixed: true,
    card: 'title',
    cell: ({ userId, username }) => <UserCell user={{ id: userId, username: username || `#${userId}` }} />,
  },
  { id: 'plan', title: t('套餐'), width: 150, card: 'fact', cell: ({ name }) => name },
  {
    id: 'status',
    title: t('状态'),
    width: 100,
    card: 'fact',
    cell: (row) => <SubscriptionStatus state={stateOfSubscription(row)} />,
  },
  {
    id: 'used',
    title: t('已用'),
    width: 110,
    align: 'end',
    card: 'fact',
    cell: ({ usedQuota }) => <Money quota={usedQuota} />,
  },
  {
    id: 'source',
    title: t('购买方式'),
    width: 130,
    cell: ({ source }) => (source === 'balance' ? t('余额') : t('在线支付')),
  },
  {
    id: 'starts',
    title: t('生效时间'),
    width: 130,
    cell: ({ startsAt }) => <Time value={startsAt} exact="short" />,
  },
  {
    id: 'ends',
    title: t('到期时间'),
    width: 130,
    card: 'fact',
    cell: ({ endsAt }) => <Time value={endsAt} exact="short" />,
  },
]

/** Who has bought what. */
export function Subscriptions() {
  const [values, setFilters] = useUrlState({ status: '' }, ['page'])
  const [ending, setEnding] = useState<Subscription>()
  const table = useTableState()
  const status = subscriptionStatuses.find((one) => one === values.status) ?? ('' as const)
  const subscriptions = trpc.admin.subscriptions.list.useQuery(
    { status, page: table.page, pageSize: table.pageSize },
    keepsRows,
  )
  return (
    <>
      <DataTable
        id="subscriptions"
        label={t('用户的套餐')}
        columns={columns()}
        rowId={({ id }) => id}
        rowLabel={({ username, name }) => `${username} ${name}`}
        query={subscriptions}
        paging={table}
        rowActions={(row) => [
          {
            id: 'end',
            label: t('终止'),
            danger: true,
            hidden: row.status !== 'active',
            onSelect: () => setEnding(row),
          },
        ]}
        toolbar={
          <FilterBar
            facets={[
              {
                id: 'status',
                label: t('状态'),
                kind: 'choice',
                fixed: true,
                choices: subscriptionStatuses.map((value) => ({ value, label: subscriptionWords(value) })),
              },
            ]}
            values={values}
            onChange={setFilters}
          />
        }
        empty={<EmptyState icon={Package} title={t('还没有人购买套餐')} />}
      />
      <EndForm subscription={ending} onClose={() => setEnding(undefined)} />
    </>
  )
}

const schema = endSubscription.omit({ id: true })

function EndForm({ subscription, onClose }: { subscription: Subscription | undefined; onClose: () => void }) {
  const form = useZodForm({ schema, values: { refund: 0, reason: '' } })
  const utils = trpc.useUtils()
  const end = trpc.admin.subscriptions.end.useMutation()
  return (
    <FormDrawer
      open={subscription !== undefined}
      onClose={onClose}
      title={t('终止套餐')}
      description={
        subscription && (
          <>
            {subscription.username || `#${subscription.userId}`} · {subscription.name}
            <br />
            {t('立即终止；进行中的调用不受影响。')}
          </>
        )
      }
      form={form}
      submitLabel={t('终止')}
      onSubmit={async (values) => {
        if (!subscription) return
        await end.mutateAsync({ ...values, id: subscription.id })
        await utils.admin.subscriptions.invalidate()
        notify.success(t('操作成功完成！'))
      }}
    >
      <QuotaField
        name="refund"
        label={t('退回余额')}
        help={t('最多为套餐价格 {price}', { price: quotaText(subscription?.price ?? 0) })}
        required
      />
      <TextareaField name="reason" label={t('原因')} help={t('写入审计日志')} required />
    </FormDrawer>
  )
}
