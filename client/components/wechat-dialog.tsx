import { Button, Center, Dialog, Field, Image, Input, Portal, Stack, Text } from '@chakra-ui/react'
import type { FormEvent } from 'react'
import { useState } from 'react'
import { t } from '../i18n/t.ts'
import { errorText } from '../lib/errors.ts'
import { useStatus } from '../lib/status.ts'
import { staysOpen } from './stays-open.ts'

type WeChatDialogProps = {
  open: boolean
  onClose: () => void
  /** What it throws is said beside the code. */
  onCode: (code: string) => Promise<unknown>
  submitLabel: string
}

/** The account's image to scan, and a field for the code that it answers with. */
export function WeChatDialog({ open, onClose, onCode, submitLabel }: WeChatDialogProps) {
  return (
    <Dialog.Root
      {...staysOpen}
      open={open}
      onOpenChange={(details) => !details.open && onClose()}
      size="xs"
      placement="center"
      lazyMount
      unmountOnExit
    >
      <Portal>
        <Dialog.Backdrop />
        <Dialog.Positioner px="4">
          <Dialog.Content>
            <CodeForm onClose={onClose} onCode={onCode} submitLabel={submitLabel} />
          </Dialog.Content>
        </Dialog.Positioner>
      </Portal>
    </Dialog.Root>
  )
}

function CodeForm({ onClose, onCode, submitLabel }: Omit<WeChatDialogProps, 'open'>) {
  const { wechatQrcode } = useStatus()
  const [code, setCode] = useState('')
  const [failure, setFailure] = useState('')
  const [busy, setBusy] = useState(false)
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    try {
      await onCode(code.trim())
    } catch (error) {
      setFailure(errorText(error))
      setBusy(false)
    }
  }
  return (
    <form onSubmit={(event) => void submit(event)}>
      <Dialog.Header>
        <Dialog.Title>{t('微信扫码')}</Dialog.Title>
      </Dialog.Header>
      <Dialog.Body>
        <Stack gap="4">
          {wechatQrcode && (
            <Center>
              <Image src={wechatQrcode} alt={t('微信公众号二维码')} boxSize="48" objectFit="contain" />
            </Center>
          )}
          <Text textStyle="sm" color="fg.muted">
            {t('微信扫码关注公众号，输入「验证码」获取验证码（三分钟内有效）')}
          </Text>
          <Field.Root invalid={failure !== ''} required>
            <Field.Label>{t('验证码')}</Field.Label>
            <Input
              autoComplete="one-time-code"
              maxLength={100}
              value={code}
              onChange={(event) => setCode(event.target.value)}
            />
            <Field.ErrorText>{failure}</Field.ErrorText>
          </Field.Root>
        </Stack>
      </Dialog.Body>
      <Dialog.Footer>
        <Button onClick={onClose}>{t('取消')}</Button>
        <Button type="submit" variant="solid" loading={busy} disabled={code.trim() === ''}>
          {submitLabel}
        </Button>
      </Dialog.Footer>
    </form>
  )
}
