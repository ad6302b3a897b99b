import { Badge, Button, HStack, Skeleton, Stack, Text } from '@chakra-ui/react'
import { useState } from 'react'
import { confirm } from '../../components/confirm.tsx'
import { Code } from '../../components/cells/names.tsx'
import { Section } from '../../components/facts.tsx'
import { notify } from '../../components/notify.ts'
import { ErrorState } from '../../components/states.tsx'
import { TelegramWidget } from '../../components/telegram-widget.tsx'
import { WeChatDialog } from '../../components/wechat-dialog.tsx'
import { t } from '../../i18n/t.ts'
import { errorText } from '../../lib/errors.ts'
import { trpc } from '../../lib/trpc.ts'
import { useLeaving } from '../../lib/use-leaving.ts'
import { rememberWayBack } from '../../lib/way-back.ts'
import type { RouterOutputs } from '#server/app-router.ts'

type Binding = RouterOutputs['user']['account']['bindings']['list'][number]

const nameOf = ({ provider, label }: Binding): string => (provider === 'wechat' ? t('微信') : label)

/** The accounts elsewhere by which the reader signs in here: to bind, and to take away again. */
export function Bindings() {
  const list = trpc.user.account.bindings.list.useQuery()
  if (list.data?.length === 0) return null
  return (
    <Section title={t('第三方账户')}>
      {list.data ? (
        <Stack gap="0" layerStyle="frame" divideY="1px">
          {list.data.map((binding) => (
            <BindingRow key={binding.provider} binding={binding} />
          ))}
        </Stack>
      ) : list.error ? (
        <ErrorState error={list.error} onRetry={() => void list.refetch()} />
      ) : (
        <Skeleton h="32" aria-busy />
      )}
    </Section>
  )
}

function BindingRow({ binding }: { binding: Binding }) {
  return (
    <HStack px="4" py="3" gap="4" justify="space-between" wrap="wrap" role="group" aria-label={nameOf(binding)}>
      <Stack gap="0.5" minW="0">
        <HStack gap="2">
          <Text textStyle="sm" fontWeight="medium">
            {nameOf(binding)}
          </Text>
          {!binding.enabled && <Badge>{t('管理员已停用')}</Badge>}
        </HStack>
        {binding.id === '' ? (
          <Text textStyle="xs" color="fg.muted">
            {t('未绑定')}
          </Text>
        ) : (
          <Code>{binding.id}</Code>
        )}
      </Stack>
      {binding.id !== '' ? <Unbind binding={binding} /> : <Bind binding={binding} />}
    </HStack>
  )
}

function Unbind({ binding }: { binding: Binding }) {
  const utils = trpc.useUtils()
  const unbind = trpc.user.account.bindings.unbind.useMutation()
  const name = nameOf(binding)
  const ask = async () => {
    const done = await confirm({
      title: t('解除绑定 {provider}？', { provider: name }),
      body: t('之后无法再用它登录当前账户。'),
      confirmLabel: t('解除绑定'),
      danger: true,
      run: () => unbind.mutateAsync({ provider: binding.provider }),
    })
    if (!done) return
    notify.success(t('{provider} 账户已解除绑定', { provider: binding.label }))
    await utils.user.account.invalidate()
  }
  return (
    <Stack gap="1" align="flex-end">
      <Button disabled={binding.isOnlyWay} onClick={() => void ask()}>
        {t('解除绑定')}
      </Button>
      {binding.isOnlyWay && (
        <Text textStyle="xs" color="fg.muted">
          {t('唯一的登录方式，请先设置密码')}
        </Text>
      )}
    </Stack>
  )
}

function Bind({ binding }: { binding: Binding }) {
  if (binding.provider === 'wechat') return <BindWeChat />
  if (binding.provider === 'telegram') return <TelegramWidget binds wayBack="/app/me" />
  return <BindOAuth provider={binding.provider} />
}

function BindOAuth({ provider }: { provider: 'github' | 'oidc' | 'linuxdo' }) {
  const start = trpc.user.account.bindings.start.useMutation()
  const [leaving, setLeaving] = useLeaving()
  const leave = async () => {
    setLeaving(true)
    try {
      const { address } = await start.mutateAsync({ provider })
      rememberWayBack(`${window.location.pathname}${window.location.search}`)
      window.location.assign(address)
    } catch (error) {
      setLeaving(false)
      notify.error(errorText(error))
    }
  }
  return (
    <Button loading={leaving} onClick={() => void leave()}>
      {t('绑定')}
    </Button>
  )
}

function BindWeChat() {
  const [open, setOpen] = useState(false)
  const bind = trpc.user.account.bindings.bindWeChat.useMutation()
  const utils = trpc.useUtils()
  return (
    <>
      <Button onClick={() => setOpen(true)}>{t('绑定')}</Button>
      {open && (
        <WeChatDialog
          onClose={() => setOpen(false)}
          onCode={async (code) => {
            await bind.mutateAsync({ code })
            setOpen(false)
            notify.success(t('微信账户绑定成功！'))
            await utils.user.account.invalidate()
          }}
          submitLabel={t('绑定')}
        />
      )}
    </>
  )
}
