import { Field, Flex, Input, NativeSelect, Skeleton, Slider, Stack, Switch, Text } from '@chakra-ui/react'
import type { ReactNode } from 'react'
import { t } from '../../i18n/t.ts'
import { formatInteger } from '../../lib/format.ts'
import type { ModelParameters } from '#core/models/parameters.ts'
import { effortIn, samples } from './call-body.ts'
import { penalties, type Settings, shares, temperatures } from './settings.ts'

/** A model that is asked, and what it takes. */
export type Asked = { model: string; parameters: ModelParameters; /** The server has said so. */ isKnown: boolean }

type FieldsProps = { settings: Settings; onChange: (patch: Partial<Settings>) => void; asked: readonly Asked[] }

/** The parameters that the model takes; of two models, those that either takes, with the one that does. */
export function ParameterFields({ settings, onChange, asked }: FieldsProps) {
  const takenBy = (takes: (parameters: ModelParameters) => boolean) => {
    const supporting = asked.filter(({ parameters }) => takes(parameters))
    return { shown: supporting.length > 0, only: supporting.length < asked.length ? supporting[0]?.model : undefined }
  }
  const temperature = takenBy((parameters) => samples(settings, parameters))
  const topP = takenBy(
    (parameters) => samples(settings, parameters) && (parameters.sampling === 'both' || !settings.temperatureSent),
  )
  const penalised = takenBy((parameters) => parameters.penalties)
  const seeded = takenBy((parameters) => parameters.seed)
  if (!asked.every(({ isKnown }) => isKnown)) return <Skeleton h="40" aria-busy />
  return (
    <Stack gap="5">
      <Effort settings={settings} onChange={onChange} asked={asked} />
      {temperature.shown && (
        <Slide
          label={t('温度')}
          only={temperature.only}
          value={settings.temperature}
          range={temperatures}
          digits={1}
          sent={settings.temperatureSent}
          onSent={(temperatureSent) => onChange({ temperatureSent })}
          onChange={(value) => onChange({ temperature: value })}
        />
      )}
      {topP.shown && (
        <Slide
          label={t('核采样')}
          only={topP.only}
          value={settings.topP}
          range={shares}
          digits={2}
          sent={settings.topPSent}
          onSent={(topPSent) => onChange({ topPSent })}
          onChange={(value) => onChange({ topP: value })}
        />
      )}
      <MaxTokens settings={settings} onChange={onChange} asked={asked} />
      {penalised.shown && (
        <>
          <Slide
            label={t('频率惩罚')}
            only={penalised.only}
            value={settings.frequencyPenalty}
            range={penalties}
            digits={1}
            onChange={(value) => onChange({ frequencyPenalty: value })}
          />
          <Slide
            label={t('存在惩罚')}
            only={penalised.only}
            value={settings.presencePenalty}
            range={penalties}
            digits={1}
            onChange={(value) => onChange({ presencePenalty: value })}
          />
        </>
      )}
      {seeded.shown && <Seed settings={settings} onChange={onChange} only={seeded.only} />}
    </Stack>
  )
}

const Only = ({ model }: { model: string | undefined }): ReactNode =>
  model === undefined ? null : (
    <Text textStyle="xs" color="fg.muted" overflowWrap="anywhere">
      {t('只发送给 {model}', { model })}
    </Text>
  )

function Effort({ settings, onChange, asked }: FieldsProps) {
  const efforts = [...new Set(asked.flatMap(({ parameters }) => parameters.efforts))]
  if (efforts.length === 0) return null
  const supporting = asked.filter(({ parameters }) => parameters.efforts.length > 0)
  const value = supporting.map(({ parameters }) => effortIn(settings, parameters)).find((effort) => effort !== '') ?? ''
  return (
    <Field.Root>
      <Field.Label>{t('推理强度')}</Field.Label>
      <NativeSelect.Root>
        <NativeSelect.Field value={value} onChange={(event) => onChange({ effort: event.target.value })}>
          <option value="">{t('由模型决定')}</option>
          {efforts.map((effort) => (
            <option key={effort} value={effort}>
              {effort}
            </option>
          ))}
        </NativeSelect.Field>
        <NativeSelect.Indicator />
      </NativeSelect.Root>
      <Only model={supporting.length < asked.length ? supporting[0]?.model : undefined} />
    </Field.Root>
  )
}

type SlideProps = {
  label: string
  only: string | undefined
  value: number
  range: { from: number; to: number; step: number }
  digits: number
  /** Whether it is sent at all; absent: always, where it is not zero. */
  sent?: boolean
  onSent?: (sent: boolean) => void
  onChange: (value: number) => void
}

function Slide({ label, only, value, range, digits, sent = true, onSent, onChange }: SlideProps) {
  return (
    <Stack gap="2">
      <Flex justify="space-between" align="center" gap="2">
        {onSent ? (
          <Switch.Root checked={sent} onCheckedChange={({ checked }) => onSent(checked)}>
            <Switch.HiddenInput />
            <Switch.Control />
            <Switch.Label>{label}</Switch.Label>
          </Switch.Root>
        ) : (
          <Text textStyle="label">{label}</Text>
        )}
        <Text textStyle="sm" color="fg.muted">
          {sent ? value.toFixed(digits) : t('由模型决定')}
        </Text>
      </Flex>
      <Slider.Root
        size="sm"
        min={range.from}
        max={range.to}
        step={range.step}
        value={[value]}
        origin={range.from < 0 ? 'center' : 'start'}
        disabled={!sent}
        aria-label={[label]}
        onValueChange={({ value: [moved] }) => onChange(Number((moved ?? value).toFixed(digits)))}
      >
        <Slider.Control>
          <Slider.Track>
            <Slider.Range />
          </Slider.Track>
          <Slider.Thumbs />
        </Slider.Control>
      </Slider.Root>
      <Only model={only} />
    </Stack>
  )
}

function MaxTokens({ settings, onChange, asked }: FieldsProps) {
  const limits = asked.flatMap(({ parameters }) => parameters.maxOutput ?? [])
  return (
    <Field.Root>
      <Field.Label>{t('最大输出 token')}</Field.Label>
      <Input
        type="number"
        min={0}
        step={1}
        value={settings.maxTokens}
        onChange={(event) => onChange({ maxTokens: Math.max(0, Math.trunc(Number(event.target.value)) || 0) })}
      />
      <Field.HelperText>
        {limits.length > 0
          ? t('0 为不限制。模型最多输出 {count}。', { count: formatInteger(Math.min(...limits)) })
          : t('0 为不限制。')}
      </Field.HelperText>
    </Field.Root>
  )
}

function Seed({ settings, onChange, only }: Omit<FieldsProps, 'asked'> & { only: string | undefined }) {
  return (
    <Field.Root>
      <Field.Label>{t('随机种子')}</Field.Label>
      <Input
        type="number"
        step={1}
        value={settings.seed ?? ''}
        placeholder={t('不固定')}
        onChange={(event) => {
          const { value } = event.target
          onChange({ seed: value === '' ? null : Math.trunc(Number(value)) || 0 })
        }}
      />
      <Only model={only} />
    </Field.Root>
  )
}
