import { Skeleton, Stack } from '@chakra-ui/react'
import { t } from '../i18n/t.ts'

/** While a page's own code is fetched: the shape that every page begins with. */
export function PageLoading() {
  return (
    <Stack
      gap="4"
      px={{ base: '4', sm: '6' }}
      py={{ base: '4', sm: '5' }}
      aria-busy
      aria-label={t('加载中')}
      role="status"
    >
      <Skeleton h="7" w="40" />
      <Skeleton h="8" w="full" maxW="xl" />
      <Skeleton h="64" w="full" />
    </Stack>
  )
}
