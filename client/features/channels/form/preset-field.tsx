import { Field } from '@chakra-ui/react'
import { useFormContext } from 'react-hook-form'
import { channelPresets } from '#core/channel-types/presets.ts'
import { Picker } from '../../../components/picker.tsx'
import { t } from '../../../i18n/t.ts'
import type { ChannelValues } from './values.ts'

const choices = channelPresets.map(({ id, label, baseUrl }) => ({ value: id, label, note: new URL(baseUrl).host }))

/** The preset that a form was filled from, as long as its type and address still are the preset's. */
const presetOf = ({ type, baseUrl }: Pick<ChannelValues, 'type' | 'baseUrl'>) =>
  channelPresets.find((preset) => preset.type === type && preset.baseUrl === baseUrl.trim())

/** Services without a number of their own: choosing one fills in the type, the address and a name. */
export function PresetField() {
  const { setValue, getValues, watch } = useFormContext<ChannelValues>()
  const chosen = presetOf({ type: watch('type'), baseUrl: watch('baseUrl') })
  const fill = (id: string) => {
    const preset = channelPresets.find((each) => each.id === id)
    if (!preset) return
    const how = { shouldDirty: true, shouldTouch: true }
    setValue('type', preset.type, how)
    setValue('baseUrl', preset.baseUrl, how)
    const named = getValues('name').trim()
    if (named === '' || channelPresets.some(({ label }) => label === named)) setValue('name', preset.label, how)
  }
  return (
    <Field.Root>
      <Field.Label>{t('常用服务')}</Field.Label>
      <Picker
        label={t('常用服务')}
        value={chosen?.id ?? ''}
        onChange={fill}
        choices={choices}
        placeholder={t('可选：从列表中选择，自动填写类型与地址')}
      />
      {chosen?.keyHint !== undefined && (
        <Field.HelperText>{t('密钥的形式：{form}', { form: chosen.keyHint })}</Field.HelperText>
      )}
    </Field.Root>
  )
}
