import { Button, Field, Flex, NativeSelect, Stack, Text, Textarea } from '@chakra-ui/react'
import { Wrench } from 'lucide-react'
import { t } from '../../i18n/t.ts'
import { Picker } from '../../components/picker.tsx'
import { abbreviate, priceText } from '../../lib/format.ts'
import { groupLabel } from '../../lib/group-label.ts'
import type { ListPrice, Offer } from './models.ts'
import type { Settings } from './settings.ts'
import { wireTools } from './tools.ts'
import { type Asked, ParameterFields } from './parameter-fields.tsx'

type SidePanelProps = {
  offer: Offer
  settings: Settings
  onChange: (patch: Partial<Settings>) => void
  model: string
  onModel: (model: string) => void
  /** The model of the second column, where there is one. */
  beside: string
  onBeside: (model: string) => void
  /** The models of both columns and what they take. */
  asked: readonly Asked[]
  onTools: () => void
}

const listText = (price: ListPrice): string =>
  price.kind === 'call'
    ? t('每次 {price}', { price: priceText(price.call) })
    : t('每百万 tokens：输入 {input}，输出 {output}', {
        input: priceText(price.input),
        output: priceText(price.output),
      })

/** What the next call is made of. */
export function SidePanel(props: SidePanelProps) {
  const { offer, settings, onChange, model, onModel, beside, onBeside, asked, onTools } = props
  return (
    <Stack gap="5">
      <Field.Root>
        <Field.Label>{t('分组')}</Field.Label>
        <NativeSelect.Root>
          <NativeSelect.Field value={offer.group} onChange={(event) => onChange({ group: event.target.value })}>
            {offer.groups.map((group) => (
              <option key={group.name} value={group.name}>
                {groupLabel(group)}
              </option>
            ))}
          </NativeSelect.Field>
          <NativeSelect.Indicator />
        </NativeSelect.Root>
        {offer.lostGroup && (
          <Field.HelperText color="warning.fg">
            {t('分组“{lost}”已不可用，正在使用“{group}”。', { lost: offer.lostGroup, group: offer.group })}
          </Field.HelperText>
        )}
        {offer.isGroupEmpty && <Field.HelperText color="warning.fg">{t('这个分组没有可用的模型。')}</Field.HelperText>}
      </Field.Root>
      <ModelField label={t('模型')} offer={offer} value={model} onChange={onModel} asked={asked[0]} />
      {beside !== '' && (
        <ModelField label={t('对比模型')} offer={offer} value={beside} onChange={onBeside} asked={asked[1]} />
      )}
      <Field.Root>
        <Field.Label>{t('系统提示词')}</Field.Label>
        <Textarea
          value={settings.system}
          rows={4}
          autoresize
          maxH="56"
          onChange={(event) => onChange({ system: event.target.value })}
        />
      </Field.Root>
      <Tools settings={settings} asked={asked} onTools={onTools} />
      <ParameterFields settings={settings} onChange={onChange} asked={asked} />
    </Stack>
  )
}

function Tools({ settings, asked, onTools }: Pick<SidePanelProps, 'settings' | 'asked' | 'onTools'>) {
  const count = wireTools(settings.tools).length
  const isTaken = asked.some(({ parameters }) => parameters.tools)
  return (
    <Flex justify="space-between" align="center" gap="2">
      <Stack gap="0" minW="0">
        <Text textStyle="label">{t('函数工具')}</Text>
        <Text textStyle="xs" color="fg.muted" truncate>
          {isTaken ? t('共 {count} 个', { count }) : t('模型不支持工具')}
        </Text>
      </Stack>
      <Button size="xs" onClick={onTools}>
        <Wrench aria-hidden />
        {t('编辑工具')}
      </Button>
    </Flex>
  )
}

type ModelFieldProps = {
  label: string
  offer: Offer
  value: string
  onChange: (model: string) => void
  asked: Asked | undefined
}

/** What it can beside text, and how much it holds. */
function capabilityText({ parameters }: Asked): string {
  const { images, tools, reasoning, context, maxOutput } = parameters
  return [
    images && t('图像输入'),
    tools && t('工具调用'),
    reasoning && t('推理'),
    context !== null && t('上下文 {count}', { count: abbreviate(context) }),
    maxOutput !== null && t('最多输出 {count}', { count: abbreviate(maxOutput) }),
  ]
    .filter(Boolean)
    .join(' · ')
}

function ModelField({ label, offer, value, onChange, asked }: ModelFieldProps) {
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
      {(price || offer.isPricePending) && (
        <Text textStyle="xs" color="fg.muted" minH="1lh">
          {price && listText(price)}
        </Text>
      )}
      {/* Room for two lines, whatever the model can: what is below stays where it is. */}
      <Text textStyle="xs" color="fg.muted" minH="2lh">
        {asked?.isKnown && asked.model === value && value !== '' && capabilityText(asked)}
      </Text>
    </Field.Root>
  )
}
