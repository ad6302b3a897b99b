import { Field, Flex, Input, NativeSelect, Slider, Stack, Switch, Text, Textarea } from '@chakra-ui/react'
import { t } from '../../i18n/t.ts'
import { Picker } from '../../components/picker.tsx'
import { priceText } from '../../lib/format.ts'
import type { ListPrice, Offer } from './models.ts'
import type { Settings } from './settings.ts'
import { temperatures } from './settings.ts'

type SidePanelProps = {
  offer: Offer
  settings: Settings
  onChange: (patch: Partial<Settings>) => void
  model: string
  onModel: (model: string) => void
  /** The model of the second column, where there is one. */
  beside: string
  onBeside: (model: string) => void
}

const listText = (price: ListPrice): string =>
  price.kind === 'call'
    ? t('每次 {price}', { price: priceText(price.call) })
    : t('每百万 token：输入 {input}，输出 {output}', {
        input: priceText(price.input),
        output: priceText(price.output),
      })

/** What the next call is made of. */
export function SidePanel(props: SidePanelProps) {
  const { offer, settings, onChange, model, onModel, beside, onBeside } = props
  return (
    <Stack gap="5">
      <Field.Root>
        <Field.Label>{t('分组')}</Field.Label>
        <NativeSelect.Root>
          <NativeSelect.Field value={offer.group} onChange={(event) => onChange({ group: event.target.value })}>
            {offer.groups.map(({ name, description, ratio }) => (
              <option key={name} value={name}>
                {[name, description].filter(Boolean).join(' · ')} · ×{ratio}
              </option>
            ))}
          </NativeSelect.Field>
          <NativeSelect.Indicator />
        </NativeSelect.Root>
      </Field.Root>
      <ModelField label={t('模型')} offer={offer} value={model} onChange={onModel} />
      {beside !== '' && <ModelField label={t('对比模型')} offer={offer} value={beside} onChange={onBeside} />}
      <Temperature settings={settings} onChange={onChange} />
      <MaxTokens value={settings.maxTokens} onChange={(maxTokens) => onChange({ maxTokens })} />
      <Field.Root>
        <Field.Label>{t('系统提示词')}</Field.Label>
        <Textarea
          value={settings.system}
          rows={4}
          autoresize
          maxH="14rem"
          onChange={(event) => onChange({ system: event.target.value })}
        />
      </Field.Root>
    </Stack>
  )
}

type ModelFieldProps = { label: string; offer: Offer; value: string; onChange: (model: string) => void }

function ModelField({ label, offer, value, onChange }: ModelFieldProps) {
  const price = offer.priceOf(value)
  return (
    <Field.Root>
      <Field.Label>{label}</Field.Label>
      <Picker
        label={label}
        choices={offer.models.map((name) => ({ value: name, label: name }))}
        value={value}
        onChange={(model) => model && onChange(model)}
        placeholder={offer.isEmpty ? t('还没有可用的模型') : undefined}
      />
      {price && (
        <Text textStyle="xs" color="fg.muted">
          {listText(price)}
        </Text>
      )}
    </Field.Root>
  )
}

function Temperature({ settings, onChange }: Pick<SidePanelProps, 'settings' | 'onChange'>) {
  const { temperature, temperatureSent } = settings
  return (
    <Stack gap="2">
      <Flex justify="space-between" align="center">
        <Switch.Root
          checked={temperatureSent}
          onCheckedChange={({ checked }) => onChange({ temperatureSent: checked })}
        >
          <Switch.HiddenInput />
          <Switch.Control />
          <Switch.Label>{t('温度')}</Switch.Label>
        </Switch.Root>
        <Text textStyle="sm" color="fg.muted">
          {temperatureSent ? temperature.toFixed(1) : t('由模型决定')}
        </Text>
      </Flex>
      <Slider.Root
        size="sm"
        min={temperatures.from}
        max={temperatures.to}
        step={temperatures.step}
        value={[temperature]}
        disabled={!temperatureSent}
        aria-label={[t('温度')]}
        onValueChange={({ value: [value] }) => onChange({ temperature: Number((value ?? 1).toFixed(1)) })}
      >
        <Slider.Control>
          <Slider.Track>
            <Slider.Range />
          </Slider.Track>
          <Slider.Thumbs />
        </Slider.Control>
      </Slider.Root>
    </Stack>
  )
}

function MaxTokens({ value, onChange }: { value: number; onChange: (value: number) => void }) {
  return (
    <Field.Root>
      <Field.Label>{t('最大输出 token')}</Field.Label>
      <Input
        type="number"
        min={0}
        step={1}
        value={value}
        onChange={(event) => onChange(Math.max(0, Math.trunc(Number(event.target.value)) || 0))}
      />
      <Field.HelperText>{t('0 为不限制。')}</Field.HelperText>
    </Field.Root>
  )
}
