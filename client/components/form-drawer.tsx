import { Box, Button, CloseButton, Drawer, Flex, HStack, Heading, Portal, Stack, Text, chakra } from '@chakra-ui/react'
import { ChevronRight } from 'lucide-react'
import type { FormEvent, ReactNode } from 'react'
import { useEffect, useRef, useState } from 'react'
import type { FieldValues, UseFormReturn } from 'react-hook-form'
import { FormProvider, useFormState } from 'react-hook-form'
import { t } from '../i18n/t.ts'
import { notify } from './notify.ts'
import { errorText, isUnauthenticated, refusalCode } from '../lib/errors.ts'
import { markRefusedFields, useFaultFocus } from '../lib/form.ts'
import { queryClient } from '../lib/query.ts'
import { useLeaveGuard } from '../lib/leave-guard.ts'
import { useOrigin } from '../lib/use-origin.ts'
import { useIsPhone } from '../lib/use-media.ts'
import { useWhileOpen } from '../lib/use-while-open.ts'
import { SubmittedTogether } from './fields/field-frame.tsx'
import { HeadingsBelow, useHeadingLevel } from './heading-level.ts'
import { Details, Summary } from './folded.tsx'
import { RequestId } from './request-id.tsx'
import { SignInAgain } from './sign-in-again.tsx'
import { staysOpen } from './stays-open.ts'
import { WaitingFields } from './waiting-fields.tsx'

const Form = chakra('form', { base: { display: 'flex', flexDirection: 'column', flex: '1', minH: '0' } })

type FormDrawerProps<Values extends FieldValues, Output> = {
  open: boolean
  onClose: () => void
  title: string
  description?: ReactNode
  /** From `useZodForm`. */
  form: UseFormReturn<Values, unknown, Output>
  /** Saves; what it throws is shown, fields marked, and the form stays as typed. The drawer closes itself afterwards. */
  onSubmit: (values: Output) => Promise<unknown>
  submitLabel?: string
  /** Left of the buttons below. */
  footer?: ReactNode
  /** The thing to edit is fetched, and nothing shown in its place. */
  loading?: boolean
  /** There is nothing to edit, which the content says; all that is left is to close. */
  unavailable?: boolean
  children: ReactNode
}

/** 600 px at the right, the whole screen on phones. Closing with unsaved changes asks. */
export function FormDrawer<Values extends FieldValues, Output>(props: FormDrawerProps<Values, Output>) {
  const { open, onClose, form, onSubmit } = props
  const shown = useWhileOpen(open, props)
  const { title, description, submitLabel, footer, loading = false, unavailable = false, children } = shown
  const { isDirty, isSubmitting, submitCount } = form.formState
  const phone = useIsPhone()
  const origin = useOrigin(open)
  const content = useRef<HTMLDivElement>(null)
  const element = useRef<HTMLFormElement>(null)
  useFaultFocus(element, submitCount)
  const guard = useLeaveGuard(open && isDirty, isSubmitting)
  const { submit, isSaving, failure, forget } = useSubmit(form, onSubmit, () => {
    guard.forget()
    void guard.close(onClose)
  })
  const { reset } = form
  useEffect(() => {
    forget()
    // What was typed and given up must not be there the next time.
    if (!open) reset(undefined, { keepDirtyValues: false })
  }, [open, forget, reset])
  const close = async () => {
    if (!isSubmitting) await guard.close(onClose)
  }
  return (
    <Drawer.Root
      {...staysOpen}
      open={open}
      onOpenChange={(details) => !details.open && void close()}
      placement="end"
      size={phone ? 'full' : 'md'}
      closeOnInteractOutside={!isDirty}
      initialFocusEl={() => (loading ? content.current : null)}
      finalFocusEl={origin}
    >
      <Portal>
        <Drawer.Backdrop />
        <Drawer.Positioner>
          <Drawer.Content ref={content} maxW={{ base: 'full', sm: '600px' }}>
            <Form ref={element} onSubmit={submit} noValidate>
              <Drawer.Header borderBottomWidth="1px" flex="none" py="3" minH="14" alignItems="center">
                <Stack gap="0.5" pe="8">
                  <Drawer.Title>{title}</Drawer.Title>
                  {description && <Drawer.Description textStyle="sm">{description}</Drawer.Description>}
                </Stack>
              </Drawer.Header>
              <Drawer.Body py="5" aria-busy={loading}>
                <FormProvider {...form}>
                  <HeadingsBelow value="h3">
                    <SubmittedTogether value={true}>
                      <WaitingFields isLoading={loading} isSaving={isSaving} gap="6">
                        {children}
                      </WaitingFields>
                    </SubmittedTogether>
                  </HeadingsBelow>
                </FormProvider>
              </Drawer.Body>
              {failure !== undefined && <Failure error={failure} />}
              <Drawer.Footer borderTopWidth="1px" py="3" justifyContent="space-between">
                <Box>{footer}</Box>
                <HStack gap="2">
                  <Button onClick={() => void close()} disabled={isSubmitting}>
                    {unavailable ? t('关闭') : t('取消')}
                  </Button>
                  {!unavailable && (
                    <Button type="submit" variant="solid" loading={isSubmitting} disabled={loading}>
                      {submitLabel ?? t('保存')}
                    </Button>
                  )}
                </HStack>
              </Drawer.Footer>
              <Drawer.CloseTrigger asChild>
                <CloseButton size="sm" aria-label={t('关闭')} />
              </Drawer.CloseTrigger>
            </Form>
          </Drawer.Content>
        </Drawer.Positioner>
      </Portal>
    </Drawer.Root>
  )
}

function useSubmit<Values extends FieldValues, Output>(
  form: UseFormReturn<Values, unknown, Output>,
  onSubmit: (values: Output) => Promise<unknown>,
  onSaved: () => void,
) {
  const [failure, setFailure] = useState<unknown>()
  const forget = useRef(() => setFailure(undefined)).current
  const isUnderWay = useRef(false)
  // Not what the form calls submitting, which begins before its fields are validated: one that is wrong could not have the focus.
  const [isSaving, setSaving] = useState(false)
  const submit = (event: FormEvent) => {
    // A form may stand inside another page's form, through a portal: its submit is not theirs.
    event.stopPropagation()
    if (isUnderWay.current) {
      event.preventDefault()
      notify.warning(t('提交失败，请勿重复提交！'))
      return
    }
    isUnderWay.current = true
    const sent = form.handleSubmit(async (values) => {
      setFailure(undefined)
      setSaving(true)
      try {
        await onSubmit(values)
        onSaved()
      } catch (error) {
        markRefusedFields(form, error)
        setFailure(error)
        // What is opened again then is what stands there now.
        if (refusalCode(error) === 'input.changed_meanwhile') void queryClient.invalidateQueries()
      } finally {
        setSaving(false)
      }
    })(event)
    void sent.finally(() => (isUnderWay.current = false))
  }
  return { submit, isSaving, failure, forget }
}

function Failure({ error }: { error: unknown }) {
  return (
    <Box role="alert" px="6" py="2.5" bg="bad.subtle" color="bad.fg" textStyle="sm" flexShrink="0">
      <Text overflowWrap="anywhere">{t('没有保存：{reason}', { reason: errorText(error) })}</Text>
      <RequestId error={error} />
      {isUnauthenticated(error) && <SignInAgain />}
    </Box>
  )
}

type FormSectionProps = { title?: string; description?: ReactNode; children: ReactNode }

/** Fields that belong together. */
export function FormSection({ title, description, children }: FormSectionProps) {
  const level = useHeadingLevel()
  return (
    <Stack as="section" gap="4">
      {title && (
        <Stack gap="0.5">
          <Heading as={level} textStyle="md" fontWeight="semibold">
            {title}
          </Heading>
          {description && (
            <Text textStyle="sm" color="fg.muted">
              {description}
            </Text>
          )}
        </Stack>
      )}
      {children}
    </Stack>
  )
}

type FormAdvancedProps = { title?: string; children: ReactNode }

/** Folded: what most people never change. It opens when a field inside is refused. */
export function FormAdvanced({ title, children }: FormAdvancedProps) {
  const details = useRef<HTMLDetailsElement>(null)
  const { errors, submitCount } = useFormState()
  useEffect(() => {
    const element = details.current
    if (element?.querySelector('[aria-invalid=true]')) element.open = true
  }, [errors, submitCount])
  return (
    <Details ref={details}>
      <Summary display="flex" gap="1.5" fontWeight="medium">
        <ChevronRight size={15} aria-hidden />
        {title ?? t('高级设置')}
      </Summary>
      <Stack gap="4" pt="4">
        {children}
      </Stack>
    </Details>
  )
}

/** Two fields beside each other, one below the other on phones. */
export function FieldRow({ children }: { children: ReactNode }) {
  return (
    <Flex gap="4" direction={{ base: 'column', sm: 'row' }} align="flex-start">
      {children}
    </Flex>
  )
}
