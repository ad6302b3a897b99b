import { Center, Field, Image, Input, Text } from '@chakra-ui/react'
import { useState } from 'react'
import { t } from '../i18n/t.ts'
import { errorText } from '../lib/errors.ts'
import { useStatus } from '../lib/status.ts'
import { FormDialog } from './form-dialog.tsx'

type WeChatDialogProps = {
  onClose: () => void
  /** What it throws is said beside the code. */
  onCode: (code: string) => Promise<unknown>
  submitLabel: string
}

/** The account's image to scan, and a field for the code that it answers with; mounted while it is open. */
export function WeChatDialog({ onClose, onCode, submitLabel }: WeChatDialogProps) {
  const { wechatQrcode } = useStatus()
  const [code, setCode] = useState('')
  const [failure, setFailure] = useState('')
  const submit = async () => {
    try {
      await onCode(code.trim())
    } catch (error) {
      setFailure(errorText(error))
    }
  }
  return (
    <FormDialog
      title={t('微信扫码')}
      submitLabel={submitLabel}
      onSubmit={submit}
      onClose={onClose}
      disabled={code.trim() === ''}
    >
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
    </FormDialog>
  )
}
