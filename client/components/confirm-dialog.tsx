import { Box, Button, Dialog, Field, HStack, Input, Portal, Text } from '@chakra-ui/react'
import type { FormEvent } from 'react'
import { useRef, useState } from 'react'
import { t } from '../i18n/t.ts'
import { errorText } from '../lib/errors.ts'
import type { Question } from './confirm.tsx'
import { CopyButton } from './copy.tsx'
import { RequestId } from './request-id.tsx'
import { staysOpen } from './stays-open.ts'
import { WaitingFields } from './waiting-fields.tsx'

/** The dialog of `confirm`. */
export function ConfirmDialog({ question, onClose }: { question: Question; onClose: (confirmed: boolean) => void }) {
  const { title, body, confirmLabel, cancelLabel, danger = false, typeToConfirm, run, isNotice } = question
  const [typed, setTyped] = useState('')
  const [working, setWorking] = useState(false)
  const [failure, setFailure] = useState<unknown>()
  // Where a slip would cost something, the way back has the focus.
  const first = useRef<HTMLElement>(null)
  const focusFirst = (wanted: boolean) =>
    wanted ? (element: HTMLElement | null) => void (first.current = element) : undefined
  const name = useRef<HTMLParagraphElement>(null)
  const ready = typeToConfirm === undefined || typed.trim() === typeToConfirm

  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (!ready || working) return
    setWorking(true)
    try {
      await run?.()
      onClose(true)
    } catch (error) {
      setFailure(error)
      setWorking(false)
    }
  }

  return (
    <Dialog.Root
      {...staysOpen}
      open
      role="alertdialog"
      size="sm"
      placement="center"
      closeOnEscape={!working}
      closeOnInteractOutside={false}
      initialFocusEl={() => first.current}
      onOpenChange={({ open }) => !open && onClose(false)}
    >
      <Portal>
        <Dialog.Backdrop />
        <Dialog.Positioner px="4">
          <Dialog.Content>
            <form onSubmit={submit}>
              <Dialog.Header>
                <Dialog.Title overflowWrap="anywhere">{title}</Dialog.Title>
              </Dialog.Header>
              <Dialog.Body>
                <WaitingFields isSaving={working} gap="3">
                  {body && <Box color="fg.muted">{body}</Box>}
                  {typeToConfirm !== undefined && (
                    <Field.Root>
                      <Field.Label>{t('请输入以下名称以确认')}</Field.Label>
                      <HStack w="full" gap="2" layerStyle="frame" ps="3" pe="1" minH="8">
                        <Text ref={name} flex="1" minW="0" py="1" overflowWrap="anywhere" userSelect="all">
                          {typeToConfirm}
                        </Text>
                        <CopyButton
                          text={typeToConfirm}
                          label={t('复制 {name}', { name: typeToConfirm })}
                          select={() => name.current && window.getSelection()?.selectAllChildren(name.current)}
                        />
                      </HStack>
                      <Input
                        ref={focusFirst(true)}
                        value={typed}
                        autoComplete="off"
                        onChange={(event) => setTyped(event.target.value)}
                      />
                    </Field.Root>
                  )}
                  {failure !== undefined && (
                    <Box color="fg.error" role="alert" overflowWrap="anywhere">
                      {question.failed?.(errorText(failure)) ?? errorText(failure)}
                      <RequestId error={failure} />
                    </Box>
                  )}
                </WaitingFields>
              </Dialog.Body>
              <Dialog.Footer>
                {!isNotice && (
                  <Button
                    ref={focusFirst(danger && typeToConfirm === undefined)}
                    onClick={() => onClose(false)}
                    disabled={working}
                  >
                    {cancelLabel ?? t('取消')}
                  </Button>
                )}
                <Button
                  ref={focusFirst(!danger && typeToConfirm === undefined)}
                  type="submit"
                  variant="solid"
                  colorPalette={danger ? 'bad' : 'accent'}
                  disabled={!ready}
                  loading={working}
                >
                  {confirmLabel ?? t('确认')}
                </Button>
              </Dialog.Footer>
            </form>
          </Dialog.Content>
        </Dialog.Positioner>
      </Portal>
    </Dialog.Root>
  )
}
