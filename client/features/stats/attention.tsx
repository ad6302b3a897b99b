import { Badge, Box, Button, Flex, Stack, Text } from '@chakra-ui/react'
import { useState } from 'react'
import { Link } from 'wouter'
import { balanceText } from '#core/balance-text.ts'
import { Section } from '../../components/facts.tsx'
import { FailureNotice, StaleNotice } from '../../components/states.tsx'
import { t } from '../../i18n/t.ts'
import { formatDay, formatTime, priceText } from '../../lib/format.ts'
import { trpc } from '../../lib/trpc.ts'
import type { RouterOutputs } from '#server/app-router.ts'

type Item = RouterOutputs['admin']['attention']['list'][number]

const mostAtFirst = 5
const refreshMs = 60_000

const channelLink = (id: number): string => `/admin/channels?open=${id}`
const pricesLink = (model: string): string => `/admin/prices?q=${encodeURIComponent(model)}`

function retirementText({ model, retires, successor }: Extract<Item, { kind: 'model-retired' }>): string {
  const values = { model, date: formatDay(retires), successor }
  return retires.getTime() < Date.now()
    ? t('模型 {model} 已于 {date} 停用，建议改用 {successor}', values)
    : t('模型 {model} 于 {date} 停用，建议改用 {successor}', values)
}

/** What happened, and the page where it is fixed. */
function wordsOf(item: Item): { text: string; href: string; act: string } {
  switch (item.kind) {
    case 'channel-disabled':
      return {
        text: t('渠道 {channel} 已自动禁用：{reason}', {
          channel: item.channel,
          reason: item.reason || t('未说明原因'),
        }),
        href: channelLink(item.channelId),
        act: t('查看渠道'),
      }
    case 'circuit-open':
      return {
        text: t('渠道 {channel} 冷却至 {time}：{reason}', {
          channel: item.channel,
          time: formatTime(item.until),
          reason: item.reason || t('未说明原因'),
        }),
        href: channelLink(item.channelId),
        act: t('查看渠道'),
      }
    case 'model-unserved':
      return {
        text: t('模型 {model} 没有可用的渠道（分组 {groups}）', { model: item.model, groups: item.groups.join(', ') }),
        href: `/admin/channels?model=${encodeURIComponent(item.model)}`,
        act: t('查看渠道'),
      }
    case 'price-missing':
      return {
        text: t('模型 {model} 没有价格', { model: item.model }),
        href: pricesLink(item.model),
        act: t('设置价格'),
      }
    case 'balance-low':
      return {
        text: t('渠道 {channel} 的余额只剩 {balance}', {
          channel: item.channel,
          balance: balanceText(item.balance, item.currency),
        }),
        href: channelLink(item.channelId),
        act: t('查看渠道'),
      }
    case 'balance-off':
      return {
        text: t('渠道 {channel} 的上游余额减少 {reported}，本站计得 {counted}', {
          channel: item.channel,
          reported: priceText(item.reported),
          counted: priceText(item.counted),
        }),
        href: `/admin/prices?open=buying&channel=${item.channelId}`,
        act: t('查看进价'),
      }
    case 'proxy-unknown':
      return {
        text: t('反向代理 {address} 未写入 TRUST_PROXY，所有访客被视为同一个地址', { address: item.address }),
        href: '/admin/settings?q=ReverseProxyEnabled',
        act: t('查看设置'),
      }
    case 'model-retired':
      return {
        text: retirementText(item),
        href: pricesLink(item.model),
        act: t('查看模型'),
      }
    default:
      return {
        text: t('渠道 {channel} 有 {count} 个模型上游已不再提供', { channel: item.channel, count: item.missing }),
        href: channelLink(item.channelId),
        act: t('查看渠道'),
      }
  }
}

/** What stands in need of a hand, for administrators; nothing while all is well. */
export function AttentionList() {
  const { data, error, refetch } = trpc.admin.attention.list.useQuery(undefined, { refetchInterval: refreshMs })
  const [all, setAll] = useState(false)
  // That nothing was needed a while ago does not say that nothing is.
  if (error && !data?.length) {
    const title = t('无法确认是否有需要处理的事项')
    return <FailureNotice tone="warning" title={title} error={error} onRetry={() => void refetch()} />
  }
  if (!data || data.length === 0) return null
  const shown = all ? data : data.slice(0, mostAtFirst)
  return (
    <Section title={t('需要处理（{count}）', { count: data.length })}>
      {error && <StaleNotice error={error} onRetry={refetch} />}
      <Box as="ul" listStyleType="none" layerStyle="panel" aria-label={t('需要处理')}>
        {shown.map((item) => {
          const { text, href, act } = wordsOf(item)
          return (
            <Flex
              as="li"
              key={text}
              gap="3"
              px="3"
              py="2"
              align="center"
              wrap={{ base: 'wrap', sm: 'nowrap' }}
              borderTopWidth="1px"
              _first={{ borderTopWidth: '0' }}
              textStyle="sm"
            >
              <Badge colorPalette={item.severity} flexShrink="0">
                {item.severity === 'bad' ? t('严重') : t('注意')}
              </Badge>
              <Text flex={{ base: '1 1 70%', sm: '1' }} minW="0" overflowWrap="anywhere">
                {text}
              </Text>
              <Button asChild size="xs" flexShrink="0">
                <Link href={href}>{act}</Link>
              </Button>
            </Flex>
          )
        })}
      </Box>
      {data.length > mostAtFirst && (
        <Stack align="flex-start">
          <Button size="xs" variant="ghost" onClick={() => setAll(!all)}>
            {all ? t('收起') : t('全部显示')}
          </Button>
        </Stack>
      )}
    </Section>
  )
}

/** That nothing is shown must not be taken for all being well. */
