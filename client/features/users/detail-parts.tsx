import { Box, Button, HStack, Stack, Text } from '@chakra-ui/react'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { RouterOutputs } from '#server/app-router.ts'
import { actText } from '../../components/act-words.ts'
import { Code } from '../../components/cells/names.tsx'
import { Money } from '../../components/cells/numbers.tsx'
import { Time } from '../../components/cells/time.tsx'
import { UserLink } from '../../components/cells/user-link.tsx'
import { confirm } from '../../components/confirm.tsx'
import { Facts, Section } from '../../components/facts.tsx'
import { notify } from '../../components/notify.ts'
import { ErrorState } from '../../components/states.tsx'
import { Status } from '../../components/status.tsx'
import { tokenStateOf } from '../../components/token-state.ts'
import { t } from '../../i18n/t.ts'
import { deviceOf } from '../../lib/device.ts'
import { formatInteger } from '../../lib/format.ts'
import { trpc } from '../../lib/trpc.ts'
import { logText } from '../../lib/log-text.ts'
import { useNow } from '../../lib/now.ts'
import { linkedAccounts, isGone, roleText, statusOf } from './words.ts'

type Overview = RouterOutputs['admin']['users']['overview']
type PartProps = { user: Overview }

function Part({ title, extra, children }: { title: string; extra?: ReactNode; children: ReactNode }) {
  return (
    <Box layerStyle="panel" p="4" minW="0">
      <Section title={title} extra={extra}>
        {children}
      </Section>
    </Box>
  )
}

export function Profile({ user }: PartProps) {
  const { tone, words } = statusOf(user)
  const linked = linkedAccounts(user)
  return (
    <Part title={t('资料')}>
      <Facts
        facts={[
          { label: 'ID', value: user.id },
          { label: t('状态'), value: <Status tone={tone}>{words}</Status> },
          { label: t('角色'), value: roleText(user.role) },
          { label: t('分组'), value: user.group },
          { label: t('注册时间'), value: <Time value={user.createdAt} exact /> },
          { label: t('注销时间'), value: <Time value={user.deletedAt} exact />, hidden: !isGone(user) },
          {
            label: t('邀请人'),
            value: user.inviter && <UserLink id={user.inviter.id} name={user.inviter.username} />,
            hidden: user.inviter === null,
          },
          { label: t('邀请人数'), value: formatInteger(user.affCount) },
          ...linked.map(([label, value]) => ({ label, value: value || t('未绑定') })),
        ]}
      />
    </Part>
  )
}

/** Where the account is signed in; ending it all is one act. */
export function Sessions({ user }: PartProps) {
  const utils = trpc.useUtils()
  const end = trpc.admin.users.endSessions.useMutation()
  const endOne = trpc.admin.users.endSession.useMutation()
  const askOne = ({ id, userAgent }: Overview['sessions'][number]) =>
    void confirm({
      title: t('结束“{name}”在 {device} 上的登录？', { name: user.username, device: deviceText(userAgent) }),
      confirmLabel: t('结束会话'),
      danger: true,
      run: async () => {
        await endOne.mutateAsync({ id: user.id, session: id })
        await utils.admin.users.overview.invalidate()
      },
    })
  const ask = () =>
    void confirm({
      title: t('结束“{name}”的全部登录会话？', { name: user.username }),
      body: t('该用户在所有设备上立即退出登录，可以重新登录；令牌不受影响。'),
      confirmLabel: t('全部结束'),
      danger: true,
      run: async () => {
        const { count } = await end.mutateAsync({ id: user.id })
        await utils.admin.users.overview.invalidate()
        notify.success(t('已结束 {count} 个会话', { count }))
      },
    })
  return (
    <Part
      title={t('登录会话')}
      extra={
        user.sessions.length > 0 && (
          <Button size="xs" variant="outline" onClick={ask}>
            {t('全部结束')}
          </Button>
        )
      }
    >
      {user.sessions.length === 0 ? (
        <Nothing>{t('没有登录会话')}</Nothing>
      ) : (
        <Rows label={t('登录会话')}>
          {user.sessions.map((session) => (
            <Line key={session.id}>
              <Stack gap="0" minW="0">
                <Text truncate>
                  {deviceText(session.userAgent)} <Code>{session.clientIp}</Code>
                </Text>
                <Faint>
                  {t('登录于')} <Time value={session.createdAt} exact />
                </Faint>
                <Faint>
                  {t('最近活动')} <Time value={session.seenAt} />
                </Faint>
              </Stack>
              <Button size="xs" variant="ghost" flexShrink="0" onClick={() => askOne(session)}>
                {t('结束会话')}
              </Button>
            </Line>
          ))}
        </Rows>
      )}
    </Part>
  )
}

const deviceText = (userAgent: string): string => deviceOf(userAgent).name || t('未知设备')

export function Tokens({ user }: PartProps) {
  const now = useNow()
  const rest = user.tokenCount - user.tokens.length
  return (
    <Part title={t('令牌')}>
      {user.tokens.length === 0 ? (
        <Nothing>{t('没有令牌')}</Nothing>
      ) : (
        <Rows label={t('令牌')}>
          {user.tokens.map((token) => {
            const { tone, words } = tokenStateOf(token, now)
            return (
              <Line key={token.id}>
                <Stack gap="0" minW="0">
                  <Text truncate>{token.name}</Text>
                  <Code>{`sk-${token.keyMask}`}</Code>
                </Stack>
                <Stack gap="0" align="flex-end" flexShrink="0">
                  <Status tone={tone}>{t(words)}</Status>
                  <Faint>
                    {t('已用')} <Money quota={token.usedQuota} />
                  </Faint>
                </Stack>
              </Line>
            )
          })}
        </Rows>
      )}
      {rest > 0 && <Faint>{t('另有 {count} 个', { count: formatInteger(rest) })}</Faint>}
    </Part>
  )
}

export function RecentLogs({ user }: PartProps) {
  const logs = trpc.admin.logs.list.useQuery({ userId: user.id, pageSize: 10 })
  const address = `/app/logs/api-usage?user=${encodeURIComponent(user.username)}&range=30d`
  return (
    <Part title={t('最近的日志')} extra={<More href={address} />}>
      {logs.error && !logs.data && <ErrorState error={logs.error} onRetry={() => void logs.refetch()} />}
      {logs.data?.items.length === 0 && <Nothing>{t('没有日志')}</Nothing>}
      <Rows label={t('最近的日志')}>
        {(logs.data?.items ?? []).map((log) => (
          <Line key={log.id}>
            <Text truncate>{log.modelName || logText(log.content)}</Text>
            <HStack gap="3" flexShrink="0">
              {log.modelName !== '' && <Money quota={log.quota} digits={6} />}
              <Faint>
                <Time value={log.createdAt} />
              </Faint>
            </HStack>
          </Line>
        ))}
      </Rows>
    </Part>
  )
}

export function Acts({ user }: PartProps) {
  const acts = trpc.admin.audit.list.useQuery({ targetType: 'user', targetId: String(user.id), pageSize: 10 })
  return (
    <Part title={t('操作记录')} extra={<More href={`/admin/audit?target=user&targetId=${user.id}`} />}>
      {acts.error && !acts.data && <ErrorState error={acts.error} onRetry={() => void acts.refetch()} />}
      {acts.data?.items.length === 0 && <Nothing>{t('没有操作记录')}</Nothing>}
      <Rows label={t('操作记录')}>
        {(acts.data?.items ?? []).map((act) => (
          <Line key={act.id}>
            <Stack gap="0" minW="0">
              <Text truncate>{actText(act.action)}</Text>
              {act.reason !== '' && <Faint>{act.reason}</Faint>}
            </Stack>
            <HStack gap="3" flexShrink="0">
              {act.actorId === 0 ? t('系统') : <UserLink id={act.actorId} name={act.actorName} />}
              <Faint>
                <Time value={act.createdAt} />
              </Faint>
            </HStack>
          </Line>
        ))}
      </Rows>
    </Part>
  )
}

function More({ href }: { href: string }) {
  return (
    <Button asChild size="xs" variant="ghost">
      <Link href={href}>{t('查看全部')}</Link>
    </Button>
  )
}

function Rows({ label, children }: { label: string; children: ReactNode }) {
  return (
    <Stack role="list" aria-label={label} gap="0" maxH="80" overflowY="auto">
      {children}
    </Stack>
  )
}

function Line({ children }: { children: ReactNode }) {
  return (
    <HStack
      role="listitem"
      justify="space-between"
      gap="3"
      py="1.5"
      textStyle="sm"
      borderTopWidth="1px"
      _first={{ borderTopWidth: '0' }}
    >
      {children}
    </HStack>
  )
}

function Faint({ children }: { children: ReactNode }) {
  return (
    <Text as="span" textStyle="xs" color="fg.muted">
      {children}
    </Text>
  )
}

function Nothing({ children }: { children: ReactNode }) {
  return (
    <Text textStyle="sm" color="fg.muted">
      {children}
    </Text>
  )
}
