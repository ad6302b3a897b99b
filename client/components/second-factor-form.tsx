import { Button, Stack, Text } from '@chakra-ui/react'
import { KeyRound } from 'lucide-react'
import { useEffect, useState } from 'react'
import { z } from 'zod'
import { refusal } from '#core/refusal.ts'
import { t } from '../i18n/t.ts'
import { errorText } from '../lib/errors.ts'
import { useZodForm } from '../lib/form.ts'
import { fetchPasskeys, isCancelled } from '../lib/passkeys.ts'
import { TextField } from './fields/text-fields.tsx'
import { InlineForm } from './inline-form.tsx'
import { Notice } from './notice.tsx'

const fields = z.object({ code: z.string().trim().min(1, refusal('second_factor.code_wrong')).max(40) })

type SecondFactorFormProps = {
  explanation?: string
  /** An app shows one-time passwords; without it only recovery codes are typed. */
  authenticator: boolean
  onCode: (code: string) => Promise<void>
  /** Absent where there is no passkey. */
  onPasskey?: () => Promise<void>
}

/** A one-time password, a recovery code or a passkey. */
export function SecondFactorForm({ explanation, authenticator, onCode, onPasskey }: SecondFactorFormProps) {
  const form = useZodForm({ schema: fields, values: { code: '' }, mode: 'onSubmit' })
  return (
    <Stack gap="4">
      {explanation && (
        <Text textStyle="sm" color="fg.muted">
          {explanation}
        </Text>
      )}
      {onPasskey && <PasskeyButton label={t('使用通行密钥')} run={onPasskey} />}
      <InlineForm
        form={form}
        onSubmit={({ code }) => onCode(code)}
        submitLabel={t('验证')}
        wide
        closes
        fieldOf={{ 'second_factor.code_wrong': 'code' }}
      >
        <TextField
          name="code"
          label={authenticator ? t('验证码') : t('恢复码')}
          help={
            authenticator ? t('身份验证器中的 6 位数字，或一个恢复码。') : t('没有通行密钥时，可以使用一个恢复码。')
          }
          autoComplete="one-time-code"
          autoFocus={!onPasskey}
          mono
        />
      </InlineForm>
    </Stack>
  )
}

/** Asks the device for a passkey; what went wrong stands below it. */
export function PasskeyButton({ label, run }: { label: string; run: () => Promise<void> }) {
  const [working, setWorking] = useState(false)
  const [failure, setFailure] = useState<unknown>()
  useEffect(fetchPasskeys, [])
  const press = async () => {
    setWorking(true)
    setFailure(undefined)
    try {
      await run()
    } catch (error) {
      setFailure(error)
    } finally {
      setWorking(false)
    }
  }
  return (
    <Stack gap="2">
      <Button size="lg" loading={working} onClick={() => void press()}>
        <KeyRound aria-hidden />
        {label}
      </Button>
      {failure !== undefined && (
        <Notice tone="bad" isAlert>
          {isCancelled(failure) ? t('没有完成，请重试。') : errorText(failure)}
        </Notice>
      )}
    </Stack>
  )
}
