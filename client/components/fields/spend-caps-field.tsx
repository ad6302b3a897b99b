import { Button, HStack, NativeSelect, Stack, Text } from '@chakra-ui/react'
import { Plus, Trash } from 'lucide-react'
import { useFieldArray, useFormContext, useWatch } from 'react-hook-form'
import { calendarPeriods, mostCaps, mostWindows, rollingSeconds } from '#core/limits/spend-cap.ts'
import { defaultQuotaPerUnit } from '#core/quota.ts'
import { t, text } from '../../i18n/t.ts'
import { IconButton } from '../icon-button.tsx'
import { windowWords } from '../spend-caps.tsx'
import { ChoicesField, SelectField } from './choice-fields.tsx'
import { QuotaField } from './quota-field.tsx'

type CapValue = {
  period: 'rolling' | 'day' | 'week' | 'month'
  seconds: number
  zone: string
  amount: number
  models: string[]
}

const ownZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone

const windows = [
  ...rollingSeconds.map((seconds) => ({ value: `rolling:${seconds}`, period: 'rolling' as const, seconds })),
  ...calendarPeriods.map((period) => ({ value: `${period}:0`, period, seconds: 0 })),
]

const presets = [1, 5, 20, 100]
const firstAmount = 5 * defaultQuotaPerUnit

type SpendCapsFieldProps =
  | { name: 'spendCaps'; kind?: 'caps'; models: readonly string[] }
  | { name: 'windows'; kind: 'plan'; models?: undefined }

const words = {
  caps: {
    most: mostCaps,
    help: text('一段时间内最多花费多少，到达后调用会被拒绝，直到重新计算。'),
    add: text('添加消费上限'),
    remove: text('移除消费上限'),
  },
  plan: {
    most: mostWindows,
    help: text('每个周期内最多由套餐支付多少；所有周期同时有效。'),
    add: text('添加周期'),
    remove: text('移除周期'),
  },
}

/** The caps on what is spent within a window, or the windows of a plan; none at first. */
export function SpendCapsField({ name, kind = 'caps', models }: SpendCapsFieldProps) {
  const { fields, append, remove } = useFieldArray<Record<string, CapValue[]>>({ name })
  return (
    <Stack gap="4">
      {fields.map((field, index) => (
        <Cap
          key={field.id}
          name={`${name}.${index}`}
          models={models}
          removeLabel={t(words[kind].remove)}
          onRemove={() => remove(index)}
        />
      ))}
      {(fields.length === 0 || kind === 'plan') && (
        <Text textStyle="xs" color="fg.muted">
          {t(words[kind].help)}
        </Text>
      )}
      {fields.length < words[kind].most && (
        <Button
          size="xs"
          alignSelf="flex-start"
          onClick={() => append({ period: 'day', seconds: 0, zone: ownZone(), amount: firstAmount, models: [] })}
        >
          <Plus aria-hidden />
          {t(words[kind].add)}
        </Button>
      )}
    </Stack>
  )
}

type CapProps = { name: string; models: readonly string[] | undefined; removeLabel: string; onRemove: () => void }

function Cap({ name, models, removeLabel, onRemove }: CapProps) {
  const { setValue } = useFormContext()
  const value = useWatch({ name }) as CapValue
  const change = (chosen: string) => {
    const window = windows.find((known) => known.value === chosen)
    if (!window) return
    setValue(`${name}.period`, window.period, { shouldDirty: true })
    setValue(`${name}.seconds`, window.seconds, { shouldDirty: true })
  }
  return (
    <Stack gap="3" layerStyle="frame" p="3">
      <HStack gap="2">
        <NativeSelect.Root size="sm" flex="1">
          <NativeSelect.Field
            aria-label={t('周期')}
            value={`${value.period}:${value.period === 'rolling' ? value.seconds : 0}`}
            onChange={(event) => change(event.target.value)}
          >
            {windows.map((window) => (
              <option key={window.value} value={window.value}>
                {windowWords(window)}
              </option>
            ))}
          </NativeSelect.Field>
          <NativeSelect.Indicator />
        </NativeSelect.Root>
        <IconButton label={removeLabel} icon={Trash} onClick={onRemove} />
      </HStack>
      <QuotaField name={`${name}.amount`} label={t('金额')} presets={presets} required />
      {value.period !== 'rolling' && (
        <SelectField
          name={`${name}.zone`}
          label={t('时区')}
          search
          choices={Intl.supportedValuesOf('timeZone').map((zone) => ({ value: zone, label: zone }))}
          allowNew
        />
      )}
      {models && (
        <ChoicesField
          name={`${name}.models`}
          label={t('只计算这些模型')}
          choices={models.map((model) => ({ value: model, label: model }))}
          allowNew
          help={t('留空则计算所有模型；以 * 结尾表示以此开头的模型。')}
        />
      )}
    </Stack>
  )
}
