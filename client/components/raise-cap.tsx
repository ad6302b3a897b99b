import { Button, Field, NativeSelect, Stack, Text } from '@chakra-ui/react'
import { dollarsToQuota, quotaToDollars } from '#core/quota.ts'
import { t } from '../i18n/t.ts'
import { currentStatus } from '../lib/status.ts'
import { confirm } from './confirm.tsx'
import { FigureInput } from './figure-input.tsx'
import { notify } from './notify.ts'
import type { SpendCapStanding } from './spend-caps.tsx'

type Raise = { amount: number; until: Date }
/** Null ends a raise at once. */
type SaveRaise = (input: { id: number; raise: Raise | null }) => Promise<unknown>

const hour = 3_600_000
const day = 24 * hour
const durations = [hour, day, 7 * day, 30 * day] as const

function durationWords(milliseconds: number): string {
  return milliseconds < day
    ? t('{count} 小时', { count: milliseconds / hour })
    : t('{count} 天', { count: milliseconds / day })
}

type FieldsProps = { first: number; onAmount: (amount: number | null) => void; onDuration: (duration: number) => void }

function RaiseFields({ first, onAmount, onDuration }: FieldsProps) {
  return (
    <Stack gap="3">
      <Text>{t('到期后恢复原来的上限；已经计入的花费不变。')}</Text>
      <Field.Root>
        <Field.Label>{currentStatus().displayInCurrency ? t('临时上限（美元）') : t('临时上限（额度）')}</Field.Label>
        <FigureInput label={t('临时上限')} value={first} onChange={onAmount} align="start" />
      </Field.Root>
      <Field.Root>
        <Field.Label>{t('持续')}</Field.Label>
        <NativeSelect.Root>
          <NativeSelect.Field aria-label={t('持续')} onChange={(event) => onDuration(Number(event.target.value))}>
            {durations.map((duration) => (
              <option key={duration} value={duration}>
                {durationWords(duration)}
              </option>
            ))}
          </NativeSelect.Field>
          <NativeSelect.Indicator />
        </NativeSelect.Root>
      </Field.Root>
    </Stack>
  )
}

/** Asks for how much and how long a cap is raised. */
async function askRaise(cap: SpendCapStanding, save: SaveRaise): Promise<void> {
  const { displayInCurrency, quotaPerUnit } = currentStatus()
  const shown = (quota: number) => (displayInCurrency ? Number(quotaToDollars(quota, quotaPerUnit).toFixed(6)) : quota)
  const doubled = shown(cap.limit * 2)
  let amount: number | null = doubled
  let duration: number = hour
  const raised = await confirm({
    title: t('临时提高消费上限'),
    body: (
      <RaiseFields
        first={doubled}
        onAmount={(typed) => {
          amount = typed
        }}
        onDuration={(chosen) => {
          duration = chosen
        }}
      />
    ),
    confirmLabel: t('提高'),
    run: () =>
      save({
        id: cap.id,
        raise: {
          amount: displayInCurrency ? dollarsToQuota(amount ?? 0, quotaPerUnit) : Math.round(amount ?? 0),
          until: new Date(Date.now() + duration),
        },
      }),
  })
  if (raised) notify.success(t('消费上限已提高'))
}

/** Raises a cap for a while, or ends the raise. */
export function RaiseButton({ cap, save }: { cap: SpendCapStanding; save: SaveRaise }) {
  const end = async () => {
    try {
      await save({ id: cap.id, raise: null })
    } catch (error) {
      notify.error(error, t('没有保存'))
    }
  }
  return cap.raise ? (
    <Button size="2xs" onClick={() => void end()}>
      {t('结束提高')}
    </Button>
  ) : (
    <Button size="2xs" onClick={() => void askRaise(cap, save)}>
      {t('临时提高')}
    </Button>
  )
}
