import { withoutTrailingSlashes } from '#core/trailing.ts'
import { Box, Button, Flex, HStack, Heading, Stack, Text, chakra } from '@chakra-ui/react'
import { Link } from 'wouter'
import { CopyButton } from '../../components/copy.tsx'
import { t } from '../../i18n/t.ts'
import { useSession } from '../../lib/session.ts'
import { useStatus } from '../../lib/status.ts'

const Term = chakra('dt', { base: { color: 'fg.muted', flex: { base: '1 0 100%', sm: '0 0 220px' } } })
const Value = chakra('dd', {
  base: { minW: '0', flex: '1', display: 'flex', alignItems: 'center', justifyContent: 'space-between', gap: '2' },
})

/** Where nothing was written for it: what this is, where to begin, and the addresses that programs need. */
export function DefaultHome() {
  const { serverAddress } = useStatus()
  const base = withoutTrailingSlashes(serverAddress || window.location.origin)
  return (
    <Stack maxW="3xl" mx="auto" w="full" px={{ base: '4', sm: '6' }} py={{ base: '12', sm: '24' }} gap="12">
      <Stack gap="4">
        <Heading as="h1" textStyle={{ base: '4xl', sm: '5xl' }} fontWeight="semibold" letterSpacing="tight">
          {t('一个地址，调用所有模型')}
        </Heading>
        <Text color="fg.muted" textStyle="lg" maxW="prose">
          {t('一个令牌就能使用各家的模型，沿用您熟悉的接口和工具。每次调用的用量、费用和耗时都清楚可查。')}
        </Text>
        <Ways />
      </Stack>
      <Stack as="section" gap="3">
        <Heading as="h2" textStyle="md" fontWeight="semibold">
          {t('程序接口地址')}
        </Heading>
        <Box as="dl" borderWidth="1px" borderRadius="l3" bg="bg.panel" textStyle="sm">
          <Address name={t('OpenAI 兼容')} address={`${base}/v1`} />
          <Address name={t('Anthropic 兼容')} address={base} />
          <Address name={t('Gemini 兼容')} address={base} />
        </Box>
      </Stack>
    </Stack>
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
