import { Box, Button, Flex, HStack, Skeleton, Stack, Text, chakra } from '@chakra-ui/react'
import { CheckCheck, Inbox } from 'lucide-react'
import { Link } from 'wouter'
import type { RouterOutputs } from '#server/app-router.ts'
import { Pager } from '../../components/data-table/pager.tsx'
import { notify } from '../../components/notify.ts'
import { Page as Frame } from '../../components/page.tsx'
import { PastEnd } from '../../components/data-table/past-end.tsx'
import { EmptyState, ErrorState, StaleNotice } from '../../components/states.tsx'
import { t } from '../../i18n/t.ts'
import { formatExactTime } from '../../lib/format.ts'
import { useNow } from '../../lib/now.ts'
import { keepsRows } from '../../lib/query.ts'
import { useTableState } from '../../lib/table-state.ts'
import { trpc } from '../../lib/trpc.ts'
import { unreadEveryMs } from '../../lib/unread.ts'
import { FormatTag } from './body.tsx'
import { inboxTime } from './inbox-time.ts'

type Message = RouterOutputs['user']['messages']['list']['items'][number]

const Row = chakra(Link, {
  base: {
    display: 'flex',
    gap: '3',
    px: '4',
    py: '3',
    alignItems: 'flex-start',
    borderTopWidth: '1px',
    _first: { borderTopWidth: '0' },
    _hover: { bg: 'bg.subtle' },
    focusVisibleRing: 'inside',
  },
})

export function InboxList() {
  const table = useTableState()
  const { page, pageSize } = table
  const list = trpc.user.messages.list.useQuery({ page, pageSize }, { ...keepsRows, refetchInterval: unreadEveryMs })
  const unread = trpc.user.messages.unreadCount.useQuery()
  const items = list.data?.items ?? []
  return (
    <Frame title={t('收件箱')} width="wide" extra={(unread.data ?? 0) > 0 && <MarkAll />}>
      {list.error && list.data && <StaleNotice error={list.error} onRetry={list.refetch} />}
      <Box layerStyle="panel" aria-busy={list.isFetching && list.data === undefined}>
        {list.error && !list.data ? (
          <ErrorState error={list.error} title={t('加载消息失败')} onRetry={() => void list.refetch()} />
        ) : list.data === undefined ? (
          <Waiting />
        ) : items.length === 0 && list.data.total > 0 ? (
          <PastEnd paging={table} total={list.data.total} />
        ) : items.length === 0 ? (
          <EmptyState icon={Inbox} title={t('还没有消息')} description={t('管理员发送的消息会显示在这里。')} />
        ) : (
          <Box role="list" aria-label={t('收件箱')}>
            {items.map((message) => (
              <Entry key={message.id} message={message} />
            ))}
          </Box>
        )}
      </Box>
      {items.length > 0 && <Pager paging={table} data={list.data} />}
    </Frame>
  )
}

function Waiting() {
  return (
    <Stack gap="4" p="4">
      {[0, 1, 2, 3].map((row) => (
        <Skeleton key={row} h="10" />
      ))}
    </Stack>
  )
}

function Entry({ message }: { message: Message }) {
  const now = useNow()
  const isUnread = message.readAt === null
  return (
    <div role="listitem">
      <Row href={`/app/inbox/${message.id}`}>
        <Box
          mt="1.5"
          w="2"
          h="2"
          borderRadius="full"
          flexShrink="0"
          bg={isUnread ? 'accent.solid' : 'transparent'}
          forcedColorAdjust="none"
          role={isUnread ? 'img' : undefined}
          aria-label={isUnread ? t('未读') : undefined}
        />
        <Stack gap="0.5" flex="1" minW="0">
          <Flex gap="3" justify="space-between" align="baseline">
            <HStack gap="2" minW="0">
              <Text fontWeight={isUnread ? 'semibold' : 'normal'} truncate>
                {message.title}
              </Text>
              <FormatTag format={message.format} />
            </HStack>
            <Text
              as="time"
              textStyle="xs"
              color="fg.muted"
              whiteSpace="nowrap"
              flexShrink="0"
              data-tip={formatExactTime(message.createdAt)}
            >
              {inboxTime(message.createdAt, now)}
            </Text>
          </Flex>
          <Text textStyle="sm" color="fg.muted" truncate>
            {message.preview}
          </Text>
        </Stack>
      </Row>
    </div>
  )
}

function MarkAll() {
  const utils = trpc.useUtils()
  const mark = trpc.user.messages.markAllRead.useMutation()
  const run = async () => {
    try {
      await mark.mutateAsync()
      await utils.user.messages.invalidate()
    } catch (error) {
      notify.error(error)
    }
  }
  return (
    <Button variant="outline" loading={mark.isPending} onClick={() => void run()}>
      <CheckCheck aria-hidden />
      {t('全部标为已读')}
    </Button>
  )
}
