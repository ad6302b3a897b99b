import { Box, Button, HStack, Skeleton, Stack, Text } from '@chakra-ui/react'
import { ArrowLeft, SearchX } from 'lucide-react'
import { useEffect } from 'react'
import { Link } from 'wouter'
import { Time } from '../../components/cells/time.tsx'
import { Page as Frame } from '../../components/page.tsx'
import { EmptyState, ErrorState, StaleNotice } from '../../components/states.tsx'
import { t } from '../../i18n/t.ts'
import { trpc } from '../../lib/trpc.ts'
import { FormatTag, MessageBody } from './body.tsx'

/** Opening a message reads it. */
export function InboxMessage({ id }: { id: number }) {
  const utils = trpc.useUtils()
  const message = trpc.user.messages.get.useQuery({ id }, { enabled: id > 0, staleTime: 0 })
  const { mutate: markRead } = trpc.user.messages.markRead.useMutation({
    onSuccess: () => utils.user.messages.invalidate(),
  })
  const isMissing = id === 0 || message.error?.data?.domainCode === 'message.not_found'
  const isUnread = message.data !== undefined && message.data.readAt === null
  useEffect(() => {
    if (isUnread) markRead({ id })
  }, [isUnread, markRead, id])
  const { data } = message
  return (
    <Frame
      title={data?.title ?? t('消息')}
      width="form"
      extra={
        <Button asChild variant="ghost">
          <Link href="/app/inbox">
            <ArrowLeft aria-hidden />
            {t('返回收件箱')}
          </Link>
        </Button>
      }
    >
      {isMissing ? (
        <EmptyState
          icon={SearchX}
          title={t('消息不存在')}
          description={t('它可能已被删除，或地址有误。')}
          action={
            <Button asChild>
              <Link href="/app/inbox">{t('返回收件箱')}</Link>
            </Button>
          }
        />
      ) : message.error && !data ? (
        <ErrorState error={message.error} onRetry={() => void message.refetch()} />
      ) : data === undefined ? (
        <Stack gap="3" aria-busy>
          <Skeleton h="5" w="60" />
          <Skeleton h="40" />
        </Stack>
      ) : (
        <Stack gap="5">
          {message.error && <StaleNotice error={message.error} onRetry={message.refetch} />}
          <HStack gap="4" wrap="wrap" textStyle="sm" color="fg.muted">
            <FormatTag format={data.format} />
            <Text as="span">
              {t('发送时间')} <Time value={data.createdAt} exact />
            </Text>
            {data.readAt && (
              <Text as="span">
                {t('阅读时间')} <Time value={data.readAt} exact />
              </Text>
            )}
          </HStack>
          <Box as="article" layerStyle="panel" p={{ base: '4', sm: '6' }}>
            <MessageBody content={data.content} format={data.format} />
          </Box>
        </Stack>
      )}
    </Frame>
  )
}
