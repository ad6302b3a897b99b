import { Box, Button, HStack, Skeleton, Stack, Text } from '@chakra-ui/react'
import { Monitor, Smartphone } from 'lucide-react'
import { Time } from '../../components/cells/time.tsx'
import { confirm } from '../../components/confirm.tsx'
import { Section } from '../../components/facts.tsx'
import { notify } from '../../components/notify.ts'
import { ErrorState } from '../../components/states.tsx'
import { Status } from '../../components/status.tsx'
import { t } from '../../i18n/t.ts'
import type { RouterOutputs } from '#server/app-router.ts'
import { trpc } from '../../lib/trpc.ts'
import { deviceOf } from '../../lib/device.ts'

type SignedIn = RouterOutputs['user']['sessions']['list'][number]

/** Where the account is signed in. */
export function Sessions() {
  const sessions = trpc.user.sessions.list.useQuery()
  const revokeOthers = trpc.user.sessions.revokeOthers.useMutation()
  const others = (sessions.data ?? []).filter((one) => !one.isCurrent)
  const endOthers = async () => {
    const ended = await confirm({
      title: t('退出其他所有会话？'),
      body: t('除了这个浏览器，其他登录都会立即退出。'),
      confirmLabel: t('全部退出'),
      danger: true,
      run: () => revokeOthers.mutateAsync(),
    })
    if (!ended) return
    notify.success(t('其他会话已退出'))
    await sessions.refetch()
  }
  return (
    <Section
      title={t('登录会话')}
      extra={
        others.length > 0 && (
          <Button size="xs" onClick={() => void endOthers()}>
            {t('退出其他会话')}
          </Button>
        )
      }
    >
      {sessions.data ? (
        <Stack gap="0" layerStyle="frame" overflow="hidden">
          {sessions.data.map((one) => (
            <Row key={one.id} session={one} onEnded={() => void sessions.refetch()} />
          ))}
        </Stack>
      ) : sessions.error ? (
        <ErrorState error={sessions.error} onRetry={() => void sessions.refetch()} />
      ) : (
        <Skeleton h="16" />
      )}
    </Section>
  )
}

function Row({ session, onEnded }: { session: SignedIn; onEnded: () => void }) {
  const revoke = trpc.user.sessions.revoke.useMutation()
  const { isPhone, name } = deviceOf(session.userAgent)
  const device = name || t('未知设备')
  const Icon = isPhone ? Smartphone : Monitor
  const end = async () => {
    const ended = await confirm({
      title: t('退出“{name}”上的登录？', { name: device }),
      confirmLabel: t('退出'),
      danger: true,
      run: () => revoke.mutateAsync({ id: session.id }),
    })
    if (ended) onEnded()
  }
  return (
    <HStack gap="3" px="3" py="2.5" borderBottomWidth="1px" _last={{ borderBottomWidth: '0' }} align="flex-start">
      <HStack h="5" color="fg.muted">
        <Icon size={16} aria-hidden />
      </HStack>
      <Stack gap="0.5" flex="1" minW="0">
        <HStack gap="2" wrap="wrap">
          <Text textStyle="sm" fontWeight="medium">
            {device}
          </Text>
          {session.isCurrent && (
            <Box textStyle="xs">
              <Status tone="good">{t('当前会话')}</Status>
            </Box>
          )}
        </HStack>
        <HStack gap="3" wrap="wrap" textStyle="xs" color="fg.muted" rowGap="0">
          <Text as="span" fontFamily="mono">
            {session.clientIp || '–'}
          </Text>
          <span>
            {t('登录于')} <Time value={session.createdAt} />
          </span>
          <span>
            {t('最近使用')} <Time value={session.seenAt} />
          </span>
        </HStack>
      </Stack>
      {!session.isCurrent && (
        <Button size="xs" aria-label={t('退出“{name}”上的登录', { name: device })} onClick={() => void end()}>
          {t('退出')}
        </Button>
      )}
    </HStack>
  )
}
