import { HStack, NativeSelect, RadioCard, SimpleGrid, Stack, Switch, Text } from '@chakra-ui/react'
import { Field } from '@chakra-ui/react'
import type { ReactNode } from 'react'
import { fieldMessage } from '../../lib/field-message.ts'
import type { Choice } from '../picker.tsx'
import { MultiPicker, Picker } from '../picker.tsx'
import type { FieldProps } from './field-frame.tsx'
import { FieldFrame, useField } from './field-frame.tsx'

/** On or off, with what it does beside it. */
export function SwitchField({ name, label, help, disabled = false, extra }: Omit<FieldProps, 'required'>) {
  const { field, state } = useField(name)
  return (
    <Field.Root invalid={state.invalid} disabled={disabled}>
      <HStack w="full" justify="space-between" align="flex-start" gap="4">
        <Switch.Root
          name={name}
          checked={field.value === true}
          disabled={disabled}
          onCheckedChange={({ checked }) => field.onChange(checked)}
          flex="1"
          minW="0"
          alignItems="flex-start"
        >
          <Switch.HiddenInput ref={field.ref} onBlur={field.onBlur} />
          <Switch.Control mt="0.5" />
          <Switch.Label fontWeight="normal">
            <Text as="span" fontWeight="medium" textStyle="sm">
              {label}
            </Text>
            {help && (
              <Text as="span" display="block" textStyle="xs" color="fg.muted">
                {help}
              </Text>
            )}
          </Switch.Label>
        </Switch.Root>
        {extra}
      </HStack>
      {state.error?.message && <Field.ErrorText>{fieldMessage(state.error.message)}</Field.ErrorText>}
    </Field.Root>
  )
}

type SelectFieldProps = FieldProps & {
  choices: readonly Choice[]
  placeholder?: string
  /** The form's value is a number. */
  numeric?: boolean
  /** Found by typing: for more than a dozen. */
  search?: boolean
  /** Something else may be typed. */
  allowNew?: boolean
  /** May be emptied again. */
  clearable?: boolean
}

const valueOf = (value: unknown): string => (value === null || value === undefined ? '' : String(value))

/** One of several. */
export function SelectField(props: SelectFieldProps) {
  const {
    name,
    choices,
    placeholder,
    numeric = false,
    search = false,
    allowNew = false,
    clearable = false,
    ...frame
  } = props
  const { field, state } = useField(name)
  const change = (value: string) => field.onChange(numeric && value !== '' ? Number(value) : value)
  if (search || allowNew) {
    return (
      <FieldFrame {...frame} state={state}>
        <Picker
          choices={choices}
          value={valueOf(field.value)}
          onChange={change}
          onBlur={field.onBlur}
          allowNew={allowNew}
          clearable={clearable}
          invalid={state.invalid}
          placeholder={placeholder}
          disabled={frame.disabled}
        />
      </FieldFrame>
    )
  }
  return (
    <FieldFrame {...frame} state={state}>
      <NativeSelect.Root>
        <NativeSelect.Field
          ref={field.ref}
          name={name}
          value={valueOf(field.value)}
          onBlur={field.onBlur}
          onChange={(event) => change(event.target.value)}
        >
          {placeholder !== undefined && <option value="">{placeholder}</option>}
          {choices.map((choice) => (
            <option key={choice.value} value={choice.value} disabled={choice.disabled}>
              {choice.label}
            </option>
          ))}
        </NativeSelect.Field>
        <NativeSelect.Indicator />
      </NativeSelect.Root>
    </FieldFrame>
  )
}

type ChoicesFieldProps = FieldProps & { choices: readonly Choice[]; placeholder?: string; allowNew?: boolean }

/** Several of many, as tags with search. The form's value is a list of texts. */
export function ChoicesField({ name, choices, placeholder, allowNew = false, ...frame }: ChoicesFieldProps) {
  const { field, state } = useField(name)
  const value: string[] = Array.isArray(field.value) ? field.value.map(String) : []
  return (
    <FieldFrame {...frame} state={state}>
      <MultiPicker
        choices={choices}
        value={value}
        onChange={field.onChange}
        onBlur={field.onBlur}
        allowNew={allowNew}
        invalid={state.invalid}
        placeholder={placeholder}
        disabled={frame.disabled}
      />
    </FieldFrame>
  )
}

type CardChoice = { value: string; label: string; description?: ReactNode }
type CardsFieldProps = FieldProps & { choices: readonly CardChoice[]; columns?: number }

/** One of a few that each need a sentence. */
export function CardsField({ name, choices, columns = 1, ...frame }: CardsFieldProps) {
  const { field, state } = useField(name)
  return (
    <FieldFrame {...frame} state={state}>
      <RadioCard.Root
        size="sm"
        w="full"
        name={name}
        aria-label={frame.label}
        value={valueOf(field.value)}
        onValueChange={({ value }) => field.onChange(value)}
      >
        <SimpleGrid columns={{ base: 1, sm: columns }} gap="2">
          {choices.map((choice, index) => (
            <RadioCard.Item key={choice.value} value={choice.value}>
              <RadioCard.ItemHiddenInput ref={index === 0 ? field.ref : undefined} onBlur={field.onBlur} />
              <RadioCard.ItemControl>
                <Stack gap="0.5" flex="1">
                  <RadioCard.ItemText>{choice.label}</RadioCard.ItemText>
                  {choice.description && (
                    <RadioCard.ItemDescription textStyle="xs">{choice.description}</RadioCard.ItemDescription>
                  )}
                </Stack>
                <RadioCard.ItemIndicator />
              </RadioCard.ItemControl>
            </RadioCard.Item>
          ))}
        </SimpleGrid>
      </RadioCard.Root>
    </FieldFrame>
  )
}
