import { Box, Button, Flex, HStack, Heading, Stack, Text } from '@chakra-ui/react'
import { useIsMutating } from '@tanstack/react-query'
import { Circle, CircleCheck } from 'lucide-react'
import { useEffect } from 'react'
import { Link, useLocation } from 'wouter'
import type { RouterOutputs } from '#server/app-router.ts'
import { notify } from '../components/notify.ts'
import { t } from '../i18n/t.ts'
import { useSession } from '../lib/session.ts'
import { trpc } from '../lib/trpc.ts'

type Steps = NonNullable<RouterOutputs['admin']['site']['firstSteps']>
type Step = { id: Exclude<keyof Steps, 'channelId' | 'tokenId'>; title: string; note: string; href: string }

const steps = ({ channelId, tokenId }: Steps): Step[] => [
  { id: 'channel', title: t('添加渠道'), note: t('填写上游的地址和密钥'), href: '/channel/add' },
  {
    id: 'test',
    title: t('测试渠道'),
    note: t('确认上游能够应答'),
    href: channelId ? `/admin/channels?test=${channelId}` : '/channel/add',
  },
  { id: 'price', title: t('设置价格'), note: t('未定价的模型用户无法使用'), href: '/admin/prices?show=missing' },
  { id: 'token', title: t('创建令牌'), note: t('程序凭令牌调用'), href: '/app/tokens?form=new' },
  {
    id: 'call',
    title: t('完成首次调用'),
    note: t('用令牌发出第一个请求'),
    href: tokenId ? `/app/tokens?use=${tokenId}` : '/app/tokens',
  },
]

/** Pages on which whoever set the site up lands. */
const landings = [
  '/app/tokens',
  '/app/dashboard',
  '/admin/channels',
  '/admin/prices',
  '/admin/settings',
  '/channel/add',
]

/** From an empty site to its first call; each step is ticked by what is really there. */
export function FirstSteps() {
  const { isRoot } = useSession()
  const [path] = useLocation()
  const wanted = isRoot && landings.includes(path)
  const state = trpc.admin.site.firstSteps.useQuery(undefined, {
    enabled: wanted,
    // Once there is nothing more to do nobody asks again.
    refetchInterval: (query) => (query.state.data ? 5000 : false),
  })
  // Whatever the reader has just done may have been a step.
  const utils = trpc.useUtils()
  const isSaving = useIsMutating() > 0
  useEffect(() => {
    if (!isSaving) return undefined
    return () => {
      const { firstSteps } = utils.admin.site
      if (firstSteps.getData()) void firstSteps.invalidate()
    }
  }, [isSaving, utils])
  if (!wanted || !state.data) return null
  return <Card done={state.data} />
}

function Card({ done }: { done: Steps }) {
  const utils = trpc.useUtils()
  const dismiss = trpc.admin.site.dismissFirstSteps.useMutation()
  const all = steps(done)
  const close = async () => {
    try {
      await dismiss.mutateAsync()
      utils.admin.site.firstSteps.setData(undefined, null)
    } catch (error) {
      notify.error(error)
    }
  }
  return (
    <Box px={{ base: '4', sm: '6' }} pt="4" flexShrink="0">
      <Stack as="section" aria-label={t('开始使用')} gap="3" layerStyle="panel" p="4">
        <HStack justify="space-between">
          <Heading as="h2" textStyle="md" fontWeight="semibold">
            {t('开始使用')}{' '}
            <Text as="span" color="fg.muted" fontWeight="normal" textStyle="sm">
              {all.filter(({ id }) => done[id]).length} / {all.length}
            </Text>
          </Heading>
          <Button size="xs" variant="ghost" loading={dismiss.isPending} onClick={() => void close()}>
            {t('不再显示')}
          </Button>
        </HStack>
        <Flex as="ol" gap="3" direction={{ base: 'column', lg: 'row' }} listStyleType="none">
          {all.map((step) => (
            <HStack
              as="li"
              key={step.id}
              flex="1"
              gap="2"
              align="flex-start"
              data-done={done[step.id] ? '' : undefined}
            >
              <Box color={done[step.id] ? 'good.fg' : 'fg.subtle'} mt="0.5" flexShrink="0">
                {done[step.id] ? (
                  <CircleCheck size={16} aria-label={t('已完成')} />
                ) : (
                  <Circle size={16} aria-label={t('未完成')} />
                )}
              </Box>
              <Stack gap="0" minW="0">
                <Text
                  asChild
                  textStyle="sm"
                  fontWeight="medium"
                  textDecoration={done[step.id] ? undefined : 'underline'}
                >
                  <Link href={step.href}>{step.title}</Link>
                </Text>
                <Text textStyle="xs" color="fg.muted">
                  {step.note}
                </Text>
              </Stack>
            </HStack>
          ))}
        </Flex>
      </Stack>
    </Box>
  )
}
