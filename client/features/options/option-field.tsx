import { Badge, Box, Button, HStack, Input, Text } from '@chakra-ui/react'
import { RotateCcw, Undo2 } from 'lucide-react'
import { memo } from 'react'
import { useFormContext, useWatch } from 'react-hook-form'
import type { OptionField as Field } from '#core/options/describe.ts'
import { ChoicesField, SelectField, SwitchField } from '../../components/fields/choice-fields.tsx'
import type { FieldProps } from '../../components/fields/field-frame.tsx'
import { FieldFrame, useField } from '../../components/fields/field-frame.tsx'
import { QuotaField } from '../../components/fields/quota-field.tsx'
import { JsonField, NumberField, TextField, TextareaField } from '../../components/fields/text-fields.tsx'
import { IconButton } from '../../components/icon-button.tsx'
import { useLanguage } from '../../i18n/language.ts'
import { inLanguage, t } from '../../i18n/t.ts'
import { ChatLinksField } from './chat-links.tsx'
import { GroupLinesField, hasGroupLines } from './groups/lines-field.tsx'
import { useSettings } from './settings-form.ts'
import {
  choicesOf,
  isAtDefault,
  isChanged,
  kindOf,
  mayBeBlank,
  nameOf,
  neededSwitch,
  toFieldValue,
  type FormValues,
} from './values.ts'
import { choiceLabel, defaultText } from './words.ts'

/** Long texts and switches take the whole width, short values share a line. */
const isWide = (field: Field): boolean => ['switch', 'json', 'prose', 'list'].includes(kindOf(field))

/** What a search led to. */
const found = {
  '&[data-found]': { outline: '2px solid', outlineColor: 'accent.solid', outlineOffset: '8px', borderRadius: 'l2' },
}

type OptionFieldProps = { field: Field; extra?: React.ReactNode }

/** One option, drawn from its description. */
export const OptionField = memo(function OptionField({ field, extra }: OptionFieldProps) {
  // Nothing it is given changes with the language in which it speaks.
  useLanguage()
  const { control } = useFormContext<FormValues>()
  const needed = neededSwitch[field.key]
  const isOn = useWatch({ control, name: nameOf(needed ?? field.key) })
  return (
    <Box
      id={`option-${field.key}`}
      gridColumn={isWide(field) ? '1 / -1' : undefined}
      minW="0"
      scrollMarginY="24"
      css={found}
    >
      <Control
        field={field}
        frame={{
          name: nameOf(field.key),
          label: inLanguage(field.label),
          help: <Help field={field} />,
          disabled: needed !== undefined && isOn !== true,
          extra: (
            <HStack gap="1">
              {extra}
              <Marks field={field} />
            </HStack>
          ),
        }}
      />
    </Box>
  )
})

function Help({ field }: { field: Field }) {
  const help = field.help && inLanguage(field.help)
  const value = defaultText(field)
  const standard = value === undefined ? undefined : t('默认：{value}', { value })
  return [help, standard].filter(Boolean).join(' · ')
}

function Marks({ field }: { field: Field }) {
  const { form, stored } = useSettings()
  const name = nameOf(field.key)
  const value = useWatch({ control: form.control, name })
  const label = inLanguage(field.label)
  const put = (next: FormValues[string] | undefined) => {
    form.clearErrors(name)
    form.setValue(name, next as FormValues[string])
  }
  return (
    <>
      {isChanged(field, value, stored) && (
        <>
          <Badge colorPalette="accent">{t('已修改')}</Badge>
          <IconButton
            size="2xs"
            icon={Undo2}
            label={t('撤销修改 {name}', { name: label })}
            tip={t('撤销修改')}
            onClick={() => put(stored[name])}
          />
        </>
      )}
      {!isAtDefault(field, value) && (
        <IconButton
          size="2xs"
          icon={RotateCcw}
          label={t('恢复默认 {name}', { name: label })}
          tip={t('恢复默认')}
          onClick={() => put(toFieldValue(field, field.default))}
        />
      )}
    </>
  )
}

const monospaced = new Set(['html', 'css', 'javascript', 'lines'])

function Control({ field, frame }: { field: Field; frame: FieldProps }) {
  switch (kindOf(field)) {
    case 'switch':
      return <SwitchField {...frame} />
    case 'number':
      return (
        <NumberField {...frame} unit={field.unit ? inLanguage(field.unit) : undefined} nullable={mayBeBlank(field)} />
      )
    case 'quota':
      return <QuotaField {...frame} />
    case 'choice':
      return (
        <SelectField {...frame} choices={choicesOf(field).map((value) => ({ value, label: choiceLabel(value) }))} />
      )
    case 'list':
      return <ChoicesField {...frame} choices={[]} allowNew placeholder={t('输入后按回车添加')} />
    case 'json':
      if (field.widget === 'chat-links') return <ChatLinksField {...frame} />
      if (hasGroupLines(field.key)) return <GroupLinesField {...frame} optionKey={field.key} />
      return <JsonField {...frame} rows={field.widget === 'price-table' ? 12 : 6} />
    case 'prose':
      return <TextareaField {...frame} rows={6} mono={field.widget !== null && monospaced.has(field.widget)} />
    case 'secret':
      return <WrittenOnly {...frame} optionKey={field.key} />
    case 'line':
      return <TextField {...frame} type="text" placeholder={field.widget === 'address' ? 'https://' : undefined} />
  }
}

/** Never read back: the field says whether there is one, and what is typed replaces it. */
function WrittenOnly({ optionKey, ...frame }: FieldProps & { optionKey: string }) {
  const { setSecrets } = useSettings()
  const { field, state } = useField(frame.name)
  const isSet = setSecrets.has(optionKey)
  const isCleared = field.value === null
  return (
    <FieldFrame
      {...frame}
      state={state}
      help={isCleared ? t('保存后将清除') : isSet ? t('已设置，出于安全不会显示；留空则不修改') : t('尚未设置')}
    >
      <HStack w="full" gap="2">
        <Input
          ref={field.ref}
          name={frame.name}
          type="password"
          autoComplete="new-password"
          spellCheck={false}
          value={typeof field.value === 'string' ? field.value : ''}
          placeholder={isSet && !isCleared ? '••••••••' : undefined}
          onBlur={field.onBlur}
          onChange={(event) => field.onChange(event.target.value)}
        />
        {isSet && !isCleared && (
          <Button onClick={() => field.onChange(null)} flexShrink="0">
            <Text as="span">{t('清除')}</Text>
          </Button>
        )}
      </HStack>
    </FieldFrame>
  )
}
