import { Button, Stack, Textarea } from '@chakra-ui/react'
import { Download } from 'lucide-react'
import { useRef } from 'react'
import { redemptionForm } from '#features/redemptions/schema.ts'
import { confirm } from '../../components/confirm.tsx'
import { CopyButton } from '../../components/copy.tsx'
import { saveFile } from '../../components/data-table/csv.ts'
import { SwitchField } from '../../components/fields/choice-fields.tsx'
import { QuotaField } from '../../components/fields/quota-field.tsx'
import { NumberField, TextField } from '../../components/fields/text-fields.tsx'
import { TimeField } from '../../components/fields/time-field.tsx'
import { FormDrawer, FormSection } from '../../components/form-drawer.tsx'
import { notify } from '../../components/notify.ts'
import { t } from '../../i18n/t.ts'
import { useZodForm } from '../../lib/form.ts'
import { quotaText } from '../../lib/format.ts'
import { trpc } from '../../lib/trpc.ts'
import { useFilled } from '../../lib/use-filled.ts'
import { nameOf, newRedemption, quotaPresets } from './values.ts'
import type { Redemption } from './words.ts'

const dayMs = 86_400_000

type Values = typeof newRedemption & { validFrom: Date | null; validUntil: Date | null }

const valuesOf = (redemption: Redemption): Values => ({
  ...newRedemption,
  name: redemption.name,
  quota: redemption.quota,
  isGift: redemption.isGift,
  maxUses: redemption.maxUses,
  validFrom: redemption.validFrom as null,
  validUntil: redemption.validUntil as null,
})

type Changeable = Pick<Values, 'name' | 'quota' | 'maxUses'> & { validFrom: Date | null; validUntil: Date | null }

const changeable = ({ name, quota, maxUses, validFrom, validUntil }: Changeable): Changeable => ({
  name,
  quota,
  maxUses,
  validFrom,
  validUntil,
})

/** New codes are shown once they are made, to be copied or saved. */
function showMade(keys: string[], name: string): void {
  void confirm({
    title: t('已创建 {count} 个兑换码', { count: keys.length }),
    body: <Made keys={keys} name={name} />,
    confirmLabel: t('关闭'),
    isNotice: true,
  })
}

function Made({ keys, name }: { keys: string[]; name: string }) {
  const list = keys.join('\n')
  const area = useRef<HTMLTextAreaElement>(null)
  return (
    <Stack gap="3">
      <Textarea
        ref={area}
        readOnly
        aria-label={t('新的兑换码')}
        defaultValue={list}
        fontFamily="mono"
        textStyle="xs"
        rows={Math.min(10, keys.length + 1)}
      />
      <Stack direction="row" gap="2">
        <CopyButton
          wide
          text={list}
          label={t('复制全部')}
          select={() => {
            // Firefox copies the selection of what has the focus alone.
            area.current?.focus()
            area.current?.select()
          }}
        />
        <Button size="xs" onClick={() => saveFile(`${name}.txt`, list, 'text/plain')}>
          <Download aria-hidden />
          {t('保存为文本文件')}
        </Button>
      </Stack>
    </Stack>
  )
}

type RedemptionFormProps = { open: boolean; redemption: Redemption | undefined; onClose: () => void }

/** Makes codes, or changes one that nobody has used. */
export function RedemptionForm({ open, redemption, onClose }: RedemptionFormProps) {
  const form = useZodForm({ schema: redemptionForm, values: newRedemption })
  const [isGift, key, quota] = form.watch(['isGift', 'key', 'quota'])
  const opened = redemption ? valuesOf(redemption) : newRedemption
  const began = useFilled(form.reset, open ? (redemption?.id ?? 0) : undefined, opened)
  const utils = trpc.useUtils()
  const create = trpc.admin.redemptions.create.useMutation()
  const update = trpc.admin.redemptions.update.useMutation()
  return (
    <FormDrawer
      open={open}
      onClose={onClose}
      title={redemption ? t('编辑兑换码') : t('添加兑换码')}
      form={form}
      submitLabel={redemption ? t('保存') : t('创建')}
      onSubmit={async (values) => {
        const name = nameOf(values)
        if (redemption) {
          const { id } = redemption
          await update.mutateAsync({ ...changeable(values), id, name, expected: began && changeable(began) })
          notify.success(t('更新成功'))
        } else {
          showMade(await create.mutateAsync({ ...values, name }), name)
        }
        await utils.admin.redemptions.invalidate()
      }}
    >
      <TextField
        name="name"
        label={t('名称')}
        placeholder={quotaText(Number.isFinite(quota) ? quota : 0)}
        help={t('1 到 20 个字符；留空则以额度命名')}
        autoFocus
      />
      <QuotaField name="quota" label={t('额度')} presets={quotaPresets} required />
      {!redemption && (
        <FormSection title={t('生成')}>
          <TextField name="key" label={t('自定义兑换码')} help={t('最多 32 个字符；填写后只创建这一个')} mono />
          {key === '' && (
            <NumberField name="count" label={t('数量')} unit={t('个')} help={t('每次最多 100 个')} required />
          )}
          <SwitchField name="isGift" label={t('礼品码')} help={t('同一个码可由多个用户各兑换一次')} />
        </FormSection>
      )}
      {isGift && <NumberField name="maxUses" label={t('可用次数')} unit={t('次')} help={t('-1 表示不限')} required />}
      <FormSection title={t('有效期')}>
        <TimeField name="validFrom" label={t('生效时间')} help={t('留空则立即生效')} />
        <TimeField
          name="validUntil"
          label={t('过期时间')}
          presets={[
            { label: t('永不过期'), time: () => null },
            { label: t('7 天'), time: () => new Date(Date.now() + 7 * dayMs) },
            { label: t('30 天'), time: () => new Date(Date.now() + 30 * dayMs) },
          ]}
        />
      </FormSection>
    </FormDrawer>
  )
}
