import { Button, Flex, HStack, Skeleton, Stack, Text } from '@chakra-ui/react'
import { useState } from 'react'
import type { RouterOutputs } from '#server/app-router.ts'
import { Money } from '../../components/cells/numbers.tsx'
import { Time } from '../../components/cells/time.tsx'
import { CodeBlock } from '../../components/code-block.tsx'
import { confirm } from '../../components/confirm.tsx'
import { Facts } from '../../components/facts.tsx'
import { notify } from '../../components/notify.ts'
import { Sheet } from '../../components/sheet.tsx'
import { ErrorState } from '../../components/states.tsx'
import { t } from '../../i18n/t.ts'
import { trpc } from '../../lib/trpc.ts'
import { SectionFrame } from './section-frame.tsx'

type FailedCharge = RouterOutputs['admin']['failedCharges']['list']['items'][number]

/** Charges that the database refused. What they hold stays taken from the balance until somebody decides here. */
export function FailedCharges() {
  const charges = trpc.admin.failedCharges.list.useQuery()
  const [opened, setOpened] = useState<FailedCharge | null>(null)
  const { data } = charges
  return (
    <SectionFrame
      id="failed-charges"
      title={t('未入账的扣费')}
      help={t('数据库拒绝的扣费。处理之前，额度保持冻结。')}
      borderTopWidth="1px"
    >
      {data ? (
        <Stack gap="0">
          {data.total === 0 && <Text textStyle="sm">{t('没有未入账的扣费')}</Text>}
          <Stack as="ul" gap="0" listStyleType="none" aria-label={t('未入账的扣费')}>
            {data.items.map((charge) => (
              <Line
                key={charge.id}
                charge={charge}
                onOpen={() => setOpened(charge)}
                onChanged={() => charges.refetch()}
              />
            ))}
          </Stack>
          {data.total > data.items.length && (
            <Text textStyle="xs" color="fg.muted" pt="3">
              {t('共 {total} 笔，显示最早的 {shown} 笔', { total: data.total, shown: data.items.length })}
            </Text>
          )}
        </Stack>
      ) : charges.error ? (
        <ErrorState error={charges.error} onRetry={() => void charges.refetch()} />
      ) : (
        <Skeleton h="12" aria-hidden />
      )}
      <Sheet open={opened !== null} onClose={() => setOpened(null)} title={t('未入账的扣费')} description={opened?.id}>
        {opened && <Details charge={opened} />}
      </Sheet>
    </SectionFrame>
  )
}

type LineProps = { charge: FailedCharge; onOpen: () => void; onChanged: () => Promise<unknown> }

function Line({ charge, onOpen, onChanged }: LineProps) {
  const { id, username, userId, held, error, createdAt } = charge
  const book = trpc.admin.failedCharges.book.useMutation()
  const again = async () => {
    try {
      await book.mutateAsync({ id })
      notify.success(t('扣费已入账'))
    } catch (failure) {
      notify.error(failure, t('扣费没有入账'))
    }
    await onChanged()
  }
  const giveBack = async () => {
    const question = {
      title: t('退还请求“{id}”的额度？', { id }),
      body: t('这次调用将不再扣费，冻结的额度全部退还给用户。'),
      confirmLabel: t('退还'),
      danger: true,
      run: () => book.mutateAsync({ id, quota: 0 }),
    }
    if (await confirm(question)) await onChanged()
  }
  return (
    <Flex
      as="li"
      gap="4"
      py="3"
      align="flex-start"
      wrap={{ base: 'wrap', sm: 'nowrap' }}
      borderBottomWidth="1px"
      borderColor="border.muted"
      _first={{ pt: '0' }}
      _last={{ borderBottomWidth: '0' }}
    >
      <Stack gap="1" flex="1" minW={{ base: 'full', sm: '0' }} textStyle="sm">
        <HStack columnGap="2" rowGap="0" wrap="wrap">
          <Text fontWeight="medium">{username || `#${userId}`}</Text>
          <Money quota={held} digits={6} />
          <Text as="span" color="fg.muted" textStyle="xs">
            <Time value={createdAt} exact />
          </Text>
        </HStack>
        <Text color="fg.muted" overflowWrap="anywhere">
          {error}
        </Text>
      </Stack>
      <HStack gap="2" flexShrink="0">
        <Button size="xs" variant="ghost" aria-label={t('查看请求“{id}”的扣费', { id })} onClick={onOpen}>
          {t('详情')}
        </Button>
        <Button
          size="xs"
          variant="ghost"
          aria-label={t('退还请求“{id}”的额度', { id })}
          onClick={() => void giveBack()}
        >
          {t('退还')}
        </Button>
        <Button
          size="xs"
          loading={book.isPending}
          aria-label={t('将请求“{id}”的扣费重新入账', { id })}
          onClick={() => void again()}
        >
          {t('重新入账')}
        </Button>
      </HStack>
    </Flex>
  )
}

function Details({ charge }: { charge: FailedCharge }) {
  const details = trpc.admin.failedCharges.get.useQuery({ id: charge.id })
  return (
    <Stack gap="5">
      <Facts
        facts={[
          { label: t('请求 ID'), value: charge.id },
          { label: t('用户'), value: `${charge.username} #${charge.userId}` },
          { label: t('令牌'), value: `${charge.tokenName} #${charge.tokenId}`, hidden: charge.tokenId === 0 },
          { label: t('渠道'), value: `${charge.channelName} #${charge.channelId}`, hidden: charge.channelId === 0 },
          { label: t('金额'), value: <Money quota={charge.quota} digits={6} /> },
          { label: t('冻结额度'), value: <Money quota={charge.held} digits={6} /> },
          { label: t('时间'), value: <Time value={charge.createdAt} exact /> },
          { label: t('原因'), value: charge.error },
        ]}
      />
      {details.data ? (
        <CodeBlock code={details.data.charge} title="JSON" wrap />
      ) : details.error ? (
        <ErrorState error={details.error} onRetry={() => void details.refetch()} />
      ) : (
        <Skeleton h="40" aria-hidden />
      )}
    </Stack>
  )
}
