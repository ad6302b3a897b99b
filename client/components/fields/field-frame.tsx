import { Box, Field, Flex, Text } from '@chakra-ui/react'
import { createContext, type ReactNode, useContext, useEffect, useRef } from 'react'
import type { ControllerFieldState, ControllerRenderProps, FieldValues } from 'react-hook-form'
import { useController, useFormContext } from 'react-hook-form'
import { fieldMessage } from '../../lib/field-message.ts'

export type FieldProps = {
  /** The path in the form's values. */
  name: string
  label: string
  /** What the value does, in a sentence. */
  help?: ReactNode
  required?: boolean
  disabled?: boolean
  /** At the end of the label's line: a reset, a preset. */
  extra?: ReactNode
}

export type BoundField = { field: ControllerRenderProps<FieldValues, string>; state: ControllerFieldState }

/** As a field shows it: nothing is an empty text. */
export const valueOf = (value: unknown): string => (value === null || value === undefined ? '' : String(value))

/** The value, its change and its error, of the form around. */
export function useField(name: string): BoundField {
  const { control } = useFormContext<FieldValues>()
  const { field, fieldState } = useController({ control, name })
  return { field, state: fieldState }
}

/** A form whose fields are submitted together, and come and go together. */
export const SubmittedTogether = createContext(false)

/**
 * The same for a number. One that is none, in a field of such a form that goes, is forgotten: nobody sees it any more, so that it must
 * not keep the form from being sent.
 */
export function useNumberField(name: string): BoundField {
  const bound = useField(name)
  const { resetField } = useFormContext<FieldValues>()
  const isSubmittedTogether = useContext(SubmittedTogether)
  const isWrong = useRef(false)
  useEffect(() => {
    isWrong.current = isSubmittedTogether && (bound.state.invalid || Number.isNaN(bound.field.value))
  })
  useEffect(
    // A row of a list goes as a whole.
    () => () => void (isWrong.current && !name.includes('.') && resetField(name)),
    [name, resetField],
  )
  return bound
}

type FieldFrameProps = Omit<FieldProps, 'name'> & {
  state: ControllerFieldState
  /** The control itself says what is wrong, and better. */
  isReported?: boolean
  children: ReactNode
}

/** Label above, control, then the error or the help: the same place for every field. */
export function FieldFrame({
  label,
  help,
  required = false,
  disabled = false,
  extra,
  state,
  isReported = false,
  children,
}: FieldFrameProps) {
  const message = state.error?.message ?? state.error?.root?.message
  return (
    <Field.Root invalid={state.invalid} required={required} disabled={disabled}>
      <Flex w="full" justify="space-between" align="center" gap="2" minH="6">
        <Field.Label>
          {label}
          <Field.RequiredIndicator />
        </Field.Label>
        {extra && <Box flexShrink="0">{extra}</Box>}
      </Flex>
      {children}
      {state.invalid && !isReported ? (
        <Field.ErrorText>{fieldMessage(message ?? '')}</Field.ErrorText>
      ) : (
        help && (
          <Text textStyle="xs" color="fg.muted" as="div">
            <Field.HelperText>{help}</Field.HelperText>
          </Text>
        )
      )}
    </Field.Root>
  )
}
