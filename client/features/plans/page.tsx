import { Box, Button } from '@chakra-ui/react'
import { Package, Pencil, Plus, Trash } from 'lucide-react'
import { confirm } from '../../components/confirm.tsx'
import { Money } from '../../components/cells/numbers.tsx'
import { DataTable } from '../../components/data-table/data-table.tsx'
import type { Column } from '../../components/data-table/types.ts'
import { notify } from '../../components/notify.ts'
import { Page as Frame } from '../../components/page.tsx'
import { modelWords, PlanWindows, termWords } from '../../components/plan.tsx'
import { EmptyState } from '../../components/states.tsx'
import { Status } from '../../components/status.tsx'
import { UrlTabs } from '../../components/url-tabs.tsx'
import { t } from '../../i18n/t.ts'
import { trpc } from '../../lib/trpc.ts'
import { useOpenRow } from '../../lib/use-open-row.ts'
import { useUrlState } from '../../lib/url-state.ts'
import { PlanForm } from './form.tsx'
import { Subscriptions } from './subscriptions.tsx'
import type { Plan } from './words.ts'

const columns = (): Column<Plan>[] => [
  { id: 'name', title: t('名称'), width: 150, grow: true, fixed: true, card: 'title', cell: ({ name }) => name },
  {
    id: 'state',
    title: t('状态'),
    width: 100,
    card: 'fact',
    cell: ({ onSale, isPayable }) =>
      onSale && !isPayable ? (
        <Status tone="warning" tip={t('没有启用的支付方式能收取它的价格，无人能购买')}>
          {t('无法购买')}
        </Status>
      ) : (
        <Status tone={onSale ? 'good' : 'neutral'}>{onSale ? t('已上架') : t('已下架')}</Status>
      ),
  },
  {
    id: 'price',
    title: t('价格'),
    width: 100,
    align: 'end',
    card: 'fact',
    cell: ({ price }) => <Money quota={price} />,
  },
  {
    id: 'money',
    title: t('在线支付'),
    width: 120,
    align: 'end',
    cell: ({ moneyPrices }) =>
      Object.entries(moneyPrices)
        .map(([currency, money]) => `${money} ${currency}`)
        .join(' · ') || t('按充值价格'),
  },
  { id: 'term', title: t('时长'), width: 80, card: 'fact', cell: termWords },
  {
    id: 'windows',
    title: t('周期额度'),
    width: 190,
    cell: ({ windows }) => (
      <Box py="1">
        <PlanWindows windows={windows} />
      </Box>
    ),
  },
  {
    id: 'models',
    title: t('模型'),
    width: 150,
    cell: ({ models }) => <span data-tip={modelWords(models)}>{modelWords(models)}</span>,
  },
  {
    id: 'beyond',
    title: t('超出周期额度后'),
    width: 170,
    cell: ({ balancePays }) => (balancePays ? t('从余额支付') : t('拒绝调用')),
  },
  {
    id: 'running',
    title: t('有效'),
    width: 80,
    align: 'end',
    card: 'fact',
    cell: ({ running, stock }) => (stock === null ? String(running) : `${running} / ${stock}`),
  },
  {
    id: 'sold',
    title: t('已售'),
    width: 80,
    align: 'end',
    hidden: true,
    cell: ({ sold }) => sold,
  },
]

export function Page() {
  const [{ edit }, open] = useUrlState({ edit: 0 }, [], ['edit'])
  const plans = trpc.admin.plans.list.useQuery()
  const remove = trpc.admin.plans.remove.useMutation()
  const utils = trpc.useUtils()
  const edited = useOpenRow(edit, plans.data)
  const create = (
    <Button variant="solid" onClick={() => open({ edit: -1 })}>
      <Plus aria-hidden />
      {t('添加套餐')}
    </Button>
  )
  const rows = plans.data && { items: plans.data, total: plans.data.length, page: 1, pageSize: plans.data.length }
  const askRemoval = ({ id, name }: Plan) =>
    void confirm({
      title: t('删除套餐“{name}”？', { name }),
      body: t('不再出售，已购买的用户不受影响。'),
      danger: true,
      confirmLabel: t('删除'),
      run: async () => {
        await remove.mutateAsync({ id })
        await utils.admin.plans.invalidate()
        notify.success(t('套餐已删除'))
      },
    })
  return (
    <Frame title={t('套餐管理')} fill action={create}>
      <UrlTabs
        label={t('套餐管理')}
        tabs={[
          {
            id: 'plans',
            label: t('全部套餐'),
            content: (
              <DataTable
                id="plans"
                label={t('套餐')}
                columns={columns()}
                rowId={({ id }) => id}
                rowLabel={({ name }) => name}
                query={{ ...plans, data: rows }}
                isMuted={({ onSale }) => !onSale}
                onOpen={({ id }) => open({ edit: id })}
                openRow={edit || undefined}
                rowActions={(plan) => [
                  { id: 'edit', label: t('编辑'), icon: Pencil, onSelect: () => open({ edit: plan.id }) },
                  { id: 'remove', label: t('删除'), icon: Trash, danger: true, onSelect: () => askRemoval(plan) },
                ]}
                empty={
                  <EmptyState
                    icon={Package}
                    title={t('还没有套餐')}
                    description={t('用户购买后，调用先由套餐支付。')}
                    action={create}
                  />
                }
              />
            ),
          },
          { id: 'subscriptions', label: t('用户的套餐'), content: <Subscriptions /> },
        ]}
      />
      <PlanForm open={edit === -1 || edited !== undefined} plan={edited} onClose={() => open({ edit: 0 })} />
    </Frame>
  )
}
