import { withoutTrailingSlashes } from '#core/trailing.ts'
import { Box, Button, Flex, HStack, Heading, Image, SimpleGrid, Stack, Text, chakra } from '@chakra-ui/react'
import { Link } from 'wouter'
import { CopyButton } from '../../components/copy.tsx'
import { useLanguage } from '../../i18n/language.ts'
import { t } from '../../i18n/t.ts'
import { useSession } from '../../lib/session.ts'
import { useStatus } from '../../lib/status.ts'
import { trpc } from '../../lib/trpc.ts'
import { useIsDark } from '../../theme/theme-mode.ts'
import { HomeCall } from './home-call.tsx'
import { HomePrices } from './home-prices.tsx'
import darkEn from './screenshots/dark-en.webp'
import darkZh from './screenshots/dark-zh.webp'
import lightEn from './screenshots/light-en.webp'
import lightZh from './screenshots/light-zh.webp'

const Term = chakra('dt', { base: { color: 'fg.muted', flex: { base: '1 0 100%', sm: '0 0 220px' } } })
const Value = chakra('dd', {
  base: { minW: '0', flex: '1', display: 'flex', alignItems: 'center', justifyContent: 'space-between', gap: '2' },
})

/** What a call names that is copied before there is a model to call. */
const usualModel = 'gpt-4o-mini'

/** Where nothing was written for it: what this is, where to begin, a call to copy, what it costs, and the addresses. */
export function DefaultHome() {
  const { serverAddress } = useStatus()
  const base = withoutTrailingSlashes(serverAddress || window.location.origin)
  const { data } = trpc.public.models.pricing.useQuery(undefined, { staleTime: 300_000 })
  const [group] = data?.groups ?? []
  const items = data?.items.filter(({ groups }) => group === undefined || groups.includes(group.name)) ?? []
  const model = items.some((item) => item.model === usualModel) ? usualModel : (items[0]?.model ?? usualModel)
  return (
    <Stack maxW="5xl" mx="auto" w="full" px={{ base: '4', sm: '6' }} py={{ base: '10', sm: '16' }} gap="12">
      <Stack gap="4">
        <Heading as="h1" textStyle={{ base: '4xl', sm: '5xl' }} fontWeight="semibold" letterSpacing="tight">
          {t('一个地址，调用所有模型')}
        </Heading>
        <Text color="fg.muted" textStyle="lg" maxW="prose" textWrap="pretty">
          {t('一个令牌就能使用各家的模型，沿用您熟悉的接口和工具。每次调用的用量、费用和耗时都清楚可查。')}
        </Text>
        <Ways />
      </Stack>
      <Screenshot />
      <SimpleGrid columns={{ base: 1, md: items.length > 0 ? 2 : 1 }} gap="8" minW="0">
        <Stack as="section" gap="3" minW="0">
          <Heading as="h2" textStyle="md" fontWeight="semibold">
            {t('三种格式，任选其一')}
          </Heading>
          <HomeCall base={base} model={model} />
        </Stack>
        {items.length > 0 && (
          <Stack as="section" gap="3" minW="0">
            <Heading as="h2" textStyle="md" fontWeight="semibold">
              {t('费用')}
            </Heading>
            <HomePrices items={items} ratio={group?.ratio ?? 1} />
          </Stack>
        )}
      </SimpleGrid>
      <Stack as="section" gap="3">
        <Heading as="h2" textStyle="md" fontWeight="semibold">
          {t('程序接口地址')}
        </Heading>
        <Box as="dl" layerStyle="panel" textStyle="sm">
          <Address name={t('OpenAI 兼容')} address={`${base}/v1`} />
          <Address name={t('Anthropic 兼容')} address={base} />
          <Address name={t('Gemini 兼容')} address={base} />
        </Box>
      </Stack>
    </Stack>
  )
}

const screenshots = { light: { zh: lightZh, en: lightEn }, dark: { zh: darkZh, en: darkEn } }

/** The console as it is, in the reader's own look and language. */
function Screenshot() {
  const theme = useIsDark() ? 'dark' : 'light'
  return (
    <Image
      src={screenshots[theme][useLanguage()]}
      alt={t('数据看板：各模型的消费、用量和首字用时')}
      w="full"
      aspectRatio={1440 / 900}
      layerStyle="frame"
    />
  )
}

function Ways() {
  const { user } = useSession()
  const { registerEnabled, selfUseModeEnabled } = useStatus()
  return (
    <HStack gap="2" wrap="wrap" pt="2">
      {user ? (
        <>
          <Button asChild variant="solid" size="lg">
            <Link href="/app/tokens">{t('进入控制台')}</Link>
          </Button>
          <Button asChild size="lg">
            <Link href="/playground">{t('操练场')}</Link>
          </Button>
        </>
      ) : (
        <>
          <Button asChild variant="solid" size="lg">
            <Link href="/login">{t('登录')}</Link>
          </Button>
          {registerEnabled && !selfUseModeEnabled && (
            <Button asChild size="lg">
              <Link href="/register">{t('注册')}</Link>
            </Button>
          )}
        </>
      )}
      <Button asChild size="lg" variant="ghost">
        <Link href="/pricing">{t('模型价格')}</Link>
      </Button>
    </HStack>
  )
}

function Address({ name, address }: { name: string; address: string }) {
  return (
    <Flex
      align="center"
      wrap="wrap"
      gap="1"
      ps="4"
      pe="2"
      py="1.5"
      borderTopWidth="1px"
      _first={{ borderTopWidth: '0' }}
    >
      <Term>{name}</Term>
      <Value>
        <Box as="span" minW="0" overflowWrap="anywhere" fontFamily="mono">
          {address}
        </Box>
        <CopyButton text={address} label={t('复制 {name}', { name })} />
      </Value>
    </Flex>
  )
}
