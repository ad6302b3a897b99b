import { z } from 'zod'
import { actOnOrder } from '#features/orders/schema.ts'
import { TextareaField } from '../../components/fields/text-fields.tsx'
import { FormDrawer } from '../../components/form-drawer.tsx'
import { notify } from '../../components/notify.ts'
import { t } from '../../i18n/t.ts'
import { useZodForm } from '../../lib/form.ts'
import { quotaText } from '../../lib/format.ts'
import { trpc } from '../../lib/trpc.ts'
import type { Order } from './words.ts'

const schema = z.object({ reason: actOnOrder.shape.reason })

export type OpenAct = { kind: 'complete' | 'reverse'; order: Order }

function whatItDoes({ kind, order: { planName, quota } }: OpenAct): string {
  if (kind === 'reverse' && planName)
    return t('终止此订单的套餐“{name}”，并收回终止该套餐时已退到余额的额度。', { name: planName })
  if (kind === 'reverse') return t('从用户余额中收回此订单的额度，按已退款或被拒付的部分计算；余额可能因此低于零。')
  if (planName) return t('确认已收到款项：为用户开通套餐“{name}”，之后到达的支付通知不会重复开通。', { name: planName })
  return t('确认已收到款项：为用户增加 {quota}，之后到达的支付通知不会重复入账。', { quota: quotaText(quota) })
}

/** Says why money is booked by hand. */
export function ActForm({ act, onClose }: { act: OpenAct | undefined; onClose: () => void }) {
  const form = useZodForm({ schema, values: { reason: '' } })
  const utils = trpc.useUtils()
  const complete = trpc.admin.orders.complete.useMutation()
  const reverse = trpc.admin.orders.reverse.useMutation()
  const isReversal = act?.kind === 'reverse'
  return (
    <FormDrawer
      open={act !== undefined}
      onClose={onClose}
      title={isReversal ? t('收回额度') : t('补单')}
      description={
        act && (
          <>
            {act.order.tradeNo} · {act.order.username}
            <br />
            {whatItDoes(act)}
          </>
        )
      }
      form={form}
      submitLabel={isReversal ? t('收回') : t('确认已支付')}
      onSubmit={async ({ reason }) => {
        if (!act) return
        const given = { id: act.order.id, reason }
        await (isReversal ? reverse.mutateAsync(given) : complete.mutateAsync(given))
        await utils.admin.orders.invalidate()
        notify.success(t('操作成功完成！'))
      }}
    >
      <TextareaField name="reason" label={t('原因')} help={t('写入审计日志')} required />
    </FormDrawer>
  )
}
