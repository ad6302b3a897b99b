import { Button, HStack, Stack, chakra } from '@chakra-ui/react'
import type { FormEvent, ReactNode } from 'react'
import { useRef, useState } from 'react'
import type { FieldPath, FieldValues, UseFormReturn } from 'react-hook-form'
import { FormProvider } from 'react-hook-form'
import type { ErrorCode } from '#core/errors.ts'
import { errorText, refusalCode } from '../lib/errors.ts'
import { markRefusedFields, useFaultFocus } from '../lib/form.ts'
import { useLeaveGuard } from '../lib/leave-guard.ts'
import { Notice } from './notice.tsx'
import { RequestId } from './request-id.tsx'
import { WaitingFields } from './waiting-fields.tsx'

const Form = chakra('form')

type InlineFormProps<Values extends FieldValues, Output> = {
  /** From `useZodForm`. */
  form: UseFormReturn<Values, unknown, Output>
  /** What it throws is shown, fields marked, and the form stays as typed. */
  onSubmit: (values: Output) => Promise<unknown>
  submitLabel: string
  /** The field that a refusal stands beside, where the server cannot name one. */
  fieldOf?: Partial<Record<ErrorCode, FieldPath<Values>>>
  /** The one button of a page, as wide as its fields. */
  wide?: boolean
  /** Nothing can be sent yet, or any more. */
  disabled?: boolean
  /** Leaving with unsaved changes asks; not where there is nothing to keep, as at login. */
  guarded?: boolean
  /** It goes after its save, with the dialog that it stands in. */
  closes?: boolean
  /** What was not done when it fails; the reason follows. */
  failed?: string
  /** Beside the button. */
  extra?: ReactNode
  children: ReactNode
}

/** A form in the page itself: fields, what went wrong, and the button. */
export function InlineForm<Values extends FieldValues, Output>(props: InlineFormProps<Values, Output>) {
  const {
    form,
    onSubmit,
    submitLabel,
    fieldOf = {},
    wide = false,
    disabled = false,
    guarded = false,
    closes = false,
    failed,
    extra,
  } = props
  const { isDirty, isSubmitting, submitCount } = form.formState
  const element = useRef<HTMLFormElement>(null)
  useFaultFocus(element, submitCount)
  const [failure, setFailure] = useState<unknown>()
  const [isSaving, setSaving] = useState(false)
  useLeaveGuard(guarded && isDirty, isSubmitting)

  const markNamed = (error: unknown): boolean => {
    const field = fieldOf[(refusalCode(error) ?? '') as ErrorCode]
    if (field === undefined) return false
    form.setError(field, { type: 'server', message: errorText(error) }, { shouldFocus: true })
    return true
  }
  const submit = (event: FormEvent) =>
    void form.handleSubmit(async (values) => {
      setFailure(undefined)
      setSaving(true)
      try {
        await onSubmit(values)
      } catch (error) {
        if (!markNamed(error) && !markRefusedFields(form, error)) setFailure(error)
      } finally {
        setSaving(false)
      }
    })(event)

  return (
    <Form ref={element} onSubmit={submit} noValidate w="full">
      <FormProvider {...form}>
        <Stack gap="4">
          <WaitingFields isSaving={closes && isSaving} gap="4">
            {props.children}
          </WaitingFields>
          {failure !== undefined && <FormFailure error={failure} title={failed} />}
          <HStack gap="2" wrap="wrap">
            <Button
              type="submit"
              variant="solid"
              size={wide ? 'lg' : 'sm'}
              flex={wide ? '1' : undefined}
              loading={isSubmitting}
              disabled={disabled}
            >
              {submitLabel}
            </Button>
            {extra}
          </HStack>
        </Stack>
      </FormProvider>
    </Form>
  )
}

function FormFailure({ error, title }: { error: unknown; title: string | undefined }) {
  return (
    <Notice tone="bad" isAlert title={title}>
      {errorText(error)}
      <RequestId error={error} mt="0.5" />
    </Notice>
  )
}
