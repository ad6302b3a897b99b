import { Box, Button, HStack, QrCode, Skeleton, Stack, Text } from '@chakra-ui/react'
import { useEffect, useState } from 'react'
import { z } from 'zod'
import { refusal } from '#core/refusal.ts'
import type { RouterOutputs } from '#server/app-router.ts'
import { CodeBlock } from '../../components/code-block.tsx'
import { confirm } from '../../components/confirm.tsx'
import { Section } from '../../components/facts.tsx'
import { TextField } from '../../components/fields/text-fields.tsx'
import { InlineForm } from '../../components/inline-form.tsx'
import { Notice } from '../../components/notice.tsx'
import { notify } from '../../components/notify.ts'
import { PlainDialog } from '../../components/plain-dialog.tsx'
import { ErrorState } from '../../components/states.tsx'
import { Status } from '../../components/status.tsx'
import { t } from '../../i18n/t.ts'
import { errorText } from '../../lib/errors.ts'
import { useZodForm } from '../../lib/form.ts'
import { trpc } from '../../lib/trpc.ts'
import { Passkeys } from './passkeys.tsx'
import { RecoveryCodes } from './recovery-codes.tsx'

type Factor = RouterOutputs['user']['secondFactor']['get']

/** A second proof beside the password: an app, passkeys, and codes for when both are lost. */
export function SecondFactor() {
  const factor = trpc.user.secondFactor.get.useQuery()
  const [codes, setCodes] = useState<string[]>()
  const utils = trpc.useUtils()
  const refresh = () => utils.user.secondFactor.invalidate()
  const changed = async (shown?: string[] | null) => {
    if (shown) setCodes(shown)
    await refresh()
  }
  return (
    <Section title={t('两步验证')}>
      <Text textStyle="sm" color="fg.muted" maxW="prose">
        {t('登录时除密码外再验证一次。查看密钥、修改密码等操作也会要求验证。')}
      </Text>
      {factor.data ? (
        <Stack gap="5">
          <Authenticator factor={factor.data} onChanged={changed} />
          <Passkeys onChanged={changed} />
          {(factor.data.authenticator || factor.data.passkeys > 0) && (
            <RecoveryCodeState factor={factor.data} onChanged={changed} />
          )}
        </Stack>
      ) : factor.error ? (
        <ErrorState error={factor.error} onRetry={() => void factor.refetch()} />
      ) : (
        <Skeleton h="20" />
      )}
      {codes && <RecoveryCodes codes={codes} onClose={() => setCodes(undefined)} />}
    </Section>
  )
}

type PartProps = { factor: Factor; onChanged: (codes?: string[] | null) => Promise<unknown> }

function Authenticator({ factor, onChanged }: PartProps) {
  const [open, setOpen] = useState(false)
  const disable = trpc.user.secondFactor.disableAuthenticator.useMutation()
  const remove = async () => {
    const removed = await confirm({
      title: t('停用身份验证器？'),
      body: t('之后登录不再要求它的验证码。'),
      confirmLabel: t('停用'),
      danger: true,
      run: () => disable.mutateAsync(),
    })
    if (!removed) return
    notify.success(t('身份验证器已停用'))
    await onChanged()
  }
  return (
    <HStack justify="space-between" align="flex-start" gap="4">
      <Stack gap="0.5" minW="0">
        <HStack columnGap="2" rowGap="0" wrap="wrap">
          <Text textStyle="sm" fontWeight="medium" whiteSpace="nowrap">
            {t('身份验证器')}
          </Text>
          <Box textStyle="xs">
            <Status tone={factor.authenticator ? 'good' : 'neutral'}>
              {factor.authenticator ? t('已启用') : t('未启用')}
            </Status>
          </Box>
        </HStack>
        <Text textStyle="xs" color="fg.muted">
          {t('手机应用每 30 秒生成一个 6 位验证码。')}
        </Text>
      </Stack>
      {factor.authenticator ? (
        <Button size="xs" onClick={() => void remove()}>
          {t('停用身份验证器')}
        </Button>
      ) : (
        <Button size="xs" onClick={() => setOpen(true)}>
          {t('启用身份验证器')}
        </Button>
      )}
      {open && <SetUp onClose={() => setOpen(false)} onEnabled={onChanged} />}
    </HStack>
  )
}

const fields = z.object({ code: z.string().trim().min(1, refusal('second_factor.code_wrong')).max(40) })

type SetUpProps = { onClose: () => void; onEnabled: PartProps['onChanged'] }

function SetUp({ onClose, onEnabled }: SetUpProps) {
  const start = trpc.user.secondFactor.setUpAuthenticator.useMutation()
  const enable = trpc.user.secondFactor.enableAuthenticator.useMutation()
  const form = useZodForm({ schema: fields, values: { code: '' }, mode: 'onSubmit' })
  const { mutate } = start
  useEffect(() => mutate(), [mutate])
  const save = async ({ code }: z.output<typeof fields>) => {
    const { recoveryCodes } = await enable.mutateAsync({ code })
    notify.success(t('身份验证器已启用'))
    onClose()
    await onEnabled(recoveryCodes)
  }
  return (
    <PlainDialog title={t('启用身份验证器')} onClose={onClose}>
      {start.error ? (
        <Notice tone="bad" isAlert>
          {errorText(start.error)}
        </Notice>
      ) : start.data ? (
        <InlineForm
          form={form}
          onSubmit={save}
          submitLabel={t('启用')}
          closes
          fieldOf={{ 'second_factor.code_wrong': 'code' }}
          extra={<Button onClick={onClose}>{t('取消')}</Button>}
        >
          <Text textStyle="sm">{t('用身份验证器应用扫描二维码，或手动输入密钥。')}</Text>
          <QrCode.Root value={start.data.uri} size="lg" alignSelf="center" role="img" aria-label={t('二维码')}>
            <QrCode.Frame bg="white" p="2">
              <QrCode.Pattern fill="black" />
            </QrCode.Frame>
          </QrCode.Root>
          <CodeBlock title={t('密钥')} code={start.data.secret} wrap="letters" />
          <TextField name="code" label={t('应用中显示的验证码')} autoComplete="one-time-code" mono autoFocus />
        </InlineForm>
      ) : (
        <Skeleton h="64" />
      )}
    </PlainDialog>
  )
}

function RecoveryCodeState({ factor, onChanged }: PartProps) {
  const replace = trpc.user.secondFactor.replaceRecoveryCodes.useMutation()
  const renew = async () => {
    let made: string[] | undefined
    await confirm({
      title: t('重新生成恢复码？'),
      body: t('之前的恢复码会立即失效。'),
      confirmLabel: t('生成'),
      run: async () => {
        made = (await replace.mutateAsync()).recoveryCodes
      },
    })
    if (made) await onChanged(made)
  }
  return (
    <HStack justify="space-between" align="flex-start" gap="4">
      <Stack gap="0.5">
        <Text textStyle="sm" fontWeight="medium">
          {t('恢复码')}
        </Text>
        <Text textStyle="xs" color="fg.muted">
          {t('还有 {count} 个未使用，每个只能用一次。', { count: factor.recoveryCodes })}
        </Text>
      </Stack>
      <Button size="xs" onClick={() => void renew()}>
        {t('重新生成恢复码')}
      </Button>
    </HStack>
  )
}
