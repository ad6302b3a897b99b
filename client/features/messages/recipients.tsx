import { HStack, NativeSelect, Stack, Text } from '@chakra-ui/react'
import { useState } from 'react'
import { Time } from '../../components/cells/time.tsx'
import { UserLink } from '../../components/cells/user-link.tsx'
import { PageSteps } from '../../components/page-steps.tsx'
import { ErrorState } from '../../components/states.tsx'
import { Status } from '../../components/status.tsx'
import { t } from '../../i18n/t.ts'
import { formatInteger } from '../../lib/format.ts'
import { keepsRows } from '../../lib/query.ts'
import { trpc } from '../../lib/trpc.ts'
import { readersPerPage as pageSize } from './page-sizes.ts'

/** Who has a message and who has read it; with the message as its key, for the rows of one stay while it is leafed through. */
export function RecipientTable({ id }: { id: number }) {
  const [page, setPage] = useState(1)
  const [read, setRead] = useState<'all' | 'read' | 'unread'>('all')
  const list = trpc.admin.messages.recipients.useQuery(
    { id, page, pageSize, read },
    { ...keepsRows, refetchInterval: 30_000 },
  )
  const total = list.data?.total ?? 0
  const pages = Math.max(1, Math.ceil(total / pageSize))
  if (list.error && !list.data) return <ErrorState error={list.error} onRetry={() => void list.refetch()} />
  return (
    <Stack gap="2" aria-busy={list.isFetching && list.data === undefined}>
      <NativeSelect.Root size="sm" w="44">
        <NativeSelect.Field
          aria-label={t('阅读状态')}
          value={read}
          onChange={(event) => {
            setRead(event.target.value as typeof read)
            setPage(1)
          }}
        >
          <option value="all">{t('全部收件人')}</option>
          <option value="read">{t('已读')}</option>
          <option value="unread">{t('未读')}</option>
        </NativeSelect.Field>
        <NativeSelect.Indicator />
      </NativeSelect.Root>
      <Stack gap="0" role="list" aria-label={t('收件人')} layerStyle="frame">
        {list.data?.items.map((recipient) => (
          <HStack
            key={recipient.userId}
            role="listitem"
            px="3"
            py="2"
            gap="3"
            justify="space-between"
            textStyle="sm"
            borderTopWidth="1px"
            _first={{ borderTopWidth: '0' }}
          >
            <Text as="span" truncate>
              <UserLink id={recipient.userId} name={recipient.username} tip={recipient.displayName} />
            </Text>
            {recipient.readAt ? (
              <Status tone="good">
                {t('已读')} <Time value={recipient.readAt} />
              </Status>
            ) : (
              <Status tone="neutral">{t('未读')}</Status>
            )}
          </HStack>
        ))}
        {list.data?.items.length === 0 && (
          <Text p="4" textStyle="sm" color="fg.muted" textAlign="center">
            {t('没有匹配的用户')}
          </Text>
        )}
      </Stack>
      <HStack justify="space-between" textStyle="sm">
        <Text color="fg.muted">{t('共 {total} 条', { total: formatInteger(total) })}</Text>
        <PageSteps page={page} pages={pages} onChange={setPage} />
      </HStack>
    </Stack>
  )
}
