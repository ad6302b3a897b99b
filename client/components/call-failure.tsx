import { Link as ChakraLink, Stack, Text } from '@chakra-ui/react'
import { Link } from 'wouter'
import { t } from '../i18n/t.ts'
import { errorText } from '../lib/errors.ts'
import { CallFailure, priceMissing } from '../lib/relay-call.ts'
import { useSession } from '../lib/session.ts'
import { RequestId } from './request-id.tsx'

/** Where an administrator gives models their prices. */
const pricesAddress = '/admin/prices?show=missing'

/** Why a call to the gateway failed, what to quote, and for administrators the way to a missing price. */
export function CallFailureText({ error }: { error: unknown }) {
  const { isRoot } = useSession()
  const isPrice = error instanceof CallFailure && error.code === priceMissing
  return (
    <Stack gap="0.5" minW="0">
      <Text overflowWrap="anywhere">{isPrice ? t('这个模型还没有设置价格，暂时无法调用。') : errorText(error)}</Text>
      {isPrice && isRoot && (
        <ChakraLink asChild alignSelf="flex-start">
          <Link href={pricesAddress}>{t('去设置价格')}</Link>
        </ChakraLink>
      )}
      <RequestId error={error} color="fg.muted" overflowWrap="anywhere" />
    </Stack>
  )
}
