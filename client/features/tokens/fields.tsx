import { Button, HStack } from '@chakra-ui/react'
import { useFormContext, useWatch } from 'react-hook-form'
import { longestTokenName } from '#features/tokens/schema.ts'
import { ChoicesField, SelectField, SwitchField } from '../../components/fields/choice-fields.tsx'
import { QuotaField } from '../../components/fields/quota-field.tsx'
import { SpendCapsField } from '../../components/fields/spend-caps-field.tsx'
import { NumberField, TextField, TextareaField } from '../../components/fields/text-fields.tsx'
import { TimeField } from '../../components/fields/time-field.tsx'
import { FieldRow, FormAdvanced, FormSection } from '../../components/form-drawer.tsx'
import { RaiseButton } from '../../components/raise-cap.tsx'
import { SpendCaps } from '../../components/spend-caps.tsx'
import { t } from '../../i18n/t.ts'
import { groupLabel } from '../../lib/group-label.ts'
import { useSession } from '../../lib/session.ts'
import { reportedWhenFailed } from '../../lib/query.ts'
import { trpc } from '../../lib/trpc.ts'
import type { TokenValues } from './form-schema.ts'
import type { Cap } from './use-open-token.ts'
import { countPresets, quotaPresets, validities } from './presets.ts'

const after = (milliseconds: number) => () => new Date(Date.now() + milliseconds)

const useValue = <Name extends keyof TokenValues>(name: Name): TokenValues[Name] =>
  useWatch<TokenValues, Name>({ name })

/** `standings` are the caps that the token has already, as they stand. */
export function TokenFields({ isNew, standings }: { isNew: boolean; standings: readonly Cap[] }) {
  const unlimited = useValue('unlimitedQuota')
  return (
    <>
      <FormSection>
        <TextField
          name="name"
          label={t('名称')}
          required
          autoFocus
          help={t('最多 {maximum} 个字符', { maximum: longestTokenName })}
        />
        <SwitchField name="unlimitedQuota" label={t('不限额度')} help={t('只受账户余额限制。')} />
        {!unlimited && (
          <QuotaField
            name="remainQuota"
            label={isNew ? t('令牌额度') : t('剩余额度')}
            presets={quotaPresets}
            help={t('这是上限，不会从账户余额中预留。')}
          />
        )}
        <Expiry />
        <Group />
        {isNew && <CountOfTokens />}
      </FormSection>
      <FormSection title={t('访问限制')}>
        <Models />
        <TextareaField
          name="allowIps"
          label={t('IP 白名单')}
          rows={2}
          mono
          placeholder={'192.0.2.10\n198.51.100.0/24'}
          help={t('每行一个地址或网段，留空则不限制。')}
        />
      </FormSection>
      <FormSection title={t('消费上限')}>
        <Standings caps={standings} />
        <Caps />
      </FormSection>
      <FormAdvanced>
        <RateLimit />
      </FormAdvanced>
    </>
  )
}

function Expiry() {
  return (
    <TimeField
      name="expiresAt"
      label={t('过期时间')}
      help={useValue('expiresAt') === null ? t('永不过期') : undefined}
      presets={[
        { label: t('永不过期'), time: () => null },
        { label: t('1 小时'), time: after(validities.hour) },
        { label: t('1 天'), time: after(validities.day) },
        { label: t('1 个月'), time: after(validities.month) },
      ]}
    />
  )
}

function Group() {
  const { user } = useSession()
  const groups = trpc.user.groups.list.useQuery(undefined, reportedWhenFailed)
  const chosen = useValue('group')
  const known = (groups.data ?? []).map((group) => ({ value: group.name, label: groupLabel(group) }))
  // A group that is no longer open to the reader is still the one that the token has.
  const lost = chosen !== '' && groups.data !== undefined && !known.some(({ value }) => value === chosen)
  return (
    <SelectField
      name="group"
      label={t('分组')}
      placeholder={t('跟随账户（{group}）', { group: user?.group ?? '' })}
      choices={lost ? [...known, { value: chosen ?? '', label: chosen ?? '' }] : known}
      help={t('决定可用的渠道和价格倍率。')}
    />
  )
}

function Models() {
  const models = trpc.user.models.list.useQuery(undefined, reportedWhenFailed)
  const limited = useValue('modelLimitsEnabled')
  return (
    <>
      <SwitchField name="modelLimitsEnabled" label={t('限制可用模型')} help={t('关闭时可以调用账户能用的所有模型。')} />
      {limited && (
        <ChoicesField
          name="modelLimits"
          label={t('可用模型')}
          choices={(models.data ?? []).map((value) => ({ value, label: value }))}
          allowNew
        />
      )}
    </>
  )
}

function Caps() {
  const models = trpc.user.models.list.useQuery(undefined, reportedWhenFailed)
  return <SpendCapsField name="spendCaps" models={models.data ?? []} />
}

function Standings({ caps }: { caps: readonly Cap[] }) {
  const utils = trpc.useUtils()
  const raise = trpc.user.spendCaps.raise.useMutation({ onSuccess: () => utils.user.spendCaps.invalidate() })
  if (caps.length === 0) return null
  return <SpendCaps caps={caps} actionOf={(cap) => <RaiseButton cap={cap} save={raise.mutateAsync} />} />
}

function CountOfTokens() {
  const { setValue } = useFormContext<TokenValues>()
  return (
    <NumberField
      name="count"
      label={t('创建数量')}
      help={t('多于一个时，从第二个起名称会加上随机后缀。')}
      extra={
        <HStack gap="1">
          {countPresets.map((count) => (
            <Button
              key={count}
              size="2xs"
              onClick={() => setValue('count', count, { shouldDirty: true, shouldValidate: true })}
            >
              {count}
            </Button>
          ))}
        </HStack>
      }
    />
  )
}

function RateLimit() {
  const limited = useValue('rateLimitEnabled')
  return (
    <>
      <SwitchField name="rateLimitEnabled" label={t('限制请求频率')} />
      {limited && (
        <FieldRow>
          <NumberField name="rateLimitPeriod" label={t('周期')} unit={t('秒')} />
          <NumberField name="rateLimitCount" label={t('最多请求')} unit={t('次')} />
          <NumberField name="rateLimitSuccess" label={t('最多成功')} unit={t('次')} />
        </FieldRow>
      )}
    </>
  )
}
