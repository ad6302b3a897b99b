import { HStack, NativeSelect, Switch, Text } from '@chakra-ui/react'
import { Field } from '@chakra-ui/react'
import { fieldMessage } from '../../lib/field-message.ts'
import type { Choice } from '../picker.tsx'
import { MultiPicker, Picker } from '../picker.tsx'
import type { FieldProps } from './field-frame.tsx'
import { FieldFrame, useField, valueOf } from './field-frame.tsx'

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
          inputRef={field.ref}
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
        inputRef={field.ref}
        allowNew={allowNew}
        invalid={state.invalid}
        placeholder={placeholder}
        disabled={frame.disabled}
      />
    </FieldFrame>
  )
}
