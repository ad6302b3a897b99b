import { HStack } from '@chakra-ui/react'
import { ChannelCell, Code, UserCell } from '../../components/cells/names.tsx'
import { Time } from '../../components/cells/time.tsx'
import { CopyButton } from '../../components/copy.tsx'
import { Facts, Section } from '../../components/facts.tsx'
import { t } from '../../i18n/t.ts'
import { useSession } from '../../lib/session.ts'
import { tokenNameOf } from './details.ts'
import type { LogRow } from './use-logs.ts'

const nameIn = ({ other }: LogRow, name: 'session' | 'agent' | 'parent_agent' | 'project'): string =>
  typeof other?.[name] === 'string' ? other[name] : ''

/** Who asked, when, with what, and the id to quote. */
export function LogOrigin({ log }: { log: LogRow }) {
  const { isAdmin } = useSession()
  return (
    <Section title={t('来源')}>
      <Facts
        facts={[
          { label: t('时间'), value: <Time value={log.createdAt} exact /> },
          {
            label: t('用户'),
            value: <UserCell user={{ id: log.userId, username: `${log.username} (#${log.userId})` }} />,
            hidden: !isAdmin || log.username === '',
          },
          { label: t('令牌'), value: tokenNameOf(log), hidden: log.tokenName === '' },
          { label: t('分组'), value: log.group, hidden: log.group === '' },
          {
            label: t('所用渠道'),
            value: <ChannelCell channel={{ id: log.channelId, name: log.channelName }} />,
            hidden: !isAdmin || log.channelId === 0,
          },
          { label: 'IP', value: <Code>{log.clientIp}</Code>, hidden: log.clientIp === '' },
          {
            label: t('请求 ID'),
            value: (
              <HStack gap="1">
                <Code>{log.requestId}</Code>
                <CopyButton size="2xs" text={log.requestId} label={t('复制请求 ID')} />
              </HStack>
            ),
            hidden: log.requestId === '',
          },
          { label: t('会话'), value: <Code>{nameIn(log, 'session')}</Code>, hidden: nameIn(log, 'session') === '' },
          { label: t('智能体'), value: <Code>{nameIn(log, 'agent')}</Code>, hidden: nameIn(log, 'agent') === '' },
          {
            label: t('上级智能体'),
            value: <Code>{nameIn(log, 'parent_agent')}</Code>,
            hidden: nameIn(log, 'parent_agent') === '',
          },
          { label: t('项目'), value: <Code>{nameIn(log, 'project')}</Code>, hidden: nameIn(log, 'project') === '' },
        ]}
      />
    </Section>
  )
}
