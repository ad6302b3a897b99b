import { planForm } from '#features/plans/schema.ts'
import { ChoicesField, SelectField, SwitchField } from '../../components/fields/choice-fields.tsx'
import { QuotaField } from '../../components/fields/quota-field.tsx'
import { SpendCapsField } from '../../components/fields/spend-caps-field.tsx'
import { NumberField, TextareaField, TextField } from '../../components/fields/text-fields.tsx'
import { FormDrawer, FormSection } from '../../components/form-drawer.tsx'
import { notify } from '../../components/notify.ts'
import { t } from '../../i18n/t.ts'
import { useZodForm } from '../../lib/form.ts'
import { reportedWhenFailed } from '../../lib/query.ts'
import { trpc } from '../../lib/trpc.ts'
import { useFilled } from '../../lib/use-filled.ts'
import { blankPlan, type Plan, storedOf, valuesOf } from './words.ts'

type PlanFormProps = { open: boolean; plan: Plan | undefined; onClose: () => void }

/** Makes a plan, or changes what those get who buy it from now on. */
export function PlanForm({ open, plan, onClose }: PlanFormProps) {
  const form = useZodForm({ schema: planForm, values: blankPlan })
  const began = useFilled(form.reset, open ? (plan?.id ?? 0) : undefined, plan ? valuesOf(plan) : blankPlan)
  const utils = trpc.useUtils()
  const models = trpc.user.models.list.useQuery(undefined, { ...reportedWhenFailed, enabled: open })
  const openCurrencies = trpc.admin.plans.currencies.useQuery(undefined, { ...reportedWhenFailed, enabled: open })
  const currencies = [...new Set([...(openCurrencies.data ?? []), ...Object.keys(plan?.moneyPrices ?? {})])]
  const create = trpc.admin.plans.create.useMutation()
  const update = trpc.admin.plans.update.useMutation()
  return (
    <FormDrawer
      open={open}
      onClose={onClose}
      title={plan ? t('编辑套餐') : t('添加套餐')}
      form={form}
      submitLabel={plan ? t('保存') : t('创建')}
      onSubmit={async (values) => {
        await (plan
          ? update.mutateAsync({ ...values, id: plan.id, expected: began && storedOf(began) })
          : create.mutateAsync(values))
        await utils.admin.plans.invalidate()
        notify.success(plan ? t('更新成功') : t('创建成功'))
      }}
    >
      <TextField name="name" label={t('名称')} autoFocus required />
      <TextareaField name="description" label={t('描述')} />
      <QuotaField name="price" label={t('价格')} presets={[5, 10, 20, 50]} required />
      {currencies.map((currency) => (
        <TextField
          key={currency}
          name={`moneyPrices.${currency}`}
          label={t('在线支付价格（{currency}）', { currency })}
          help={t('留空则按充值价格换算')}
        />
      ))}
      <NumberField name="termCount" label={t('时长')} required />
      <SelectField
        name="term"
        label={t('时长单位')}
        choices={[
          { value: 'day', label: t('天') },
          { value: 'week', label: t('周') },
          { value: 'month', label: t('个月') },
          { value: 'year', label: t('年') },
        ]}
      />
      <FormSection title={t('周期额度')}>
        <SpendCapsField name="windows" kind="plan" />
      </FormSection>
      <ChoicesField
        name="models"
        label={t('套餐可用于这些模型')}
        choices={(models.data ?? []).map((model) => ({ value: model, label: model }))}
        allowNew
        help={t('留空则计算所有模型；以 * 结尾表示以此开头的模型。')}
      />
      <SwitchField
        name="balancePays"
        label={t('超出周期额度后从余额支付')}
        help={t('关闭后，超出周期额度的调用会被拒绝。')}
      />
      <FormSection title={t('上架')}>
        <SwitchField name="onSale" label={t('显示在钱包页')} />
        <NumberField name="position" label={t('排序')} help={t('数值小的排在前面')} required />
        <NumberField name="stock" label={t('库存')} help={t('同时有效的份数上限，到期后空出；留空则不限')} nullable />
        <NumberField name="perUser" label={t('每人限购')} help={t('留空则不限')} nullable />
      </FormSection>
    </FormDrawer>
  )
}
