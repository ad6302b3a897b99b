import { Box, Flex, Link as TextLink, Stack, Text } from '@chakra-ui/react'
import { Link } from 'wouter'
import { ratioToDollars } from '#core/pricing/prices.ts'
import type { RouterOutputs } from '#server/app-router.ts'
import { t } from '../../i18n/t.ts'
import { priceText } from '../../lib/format.ts'
import { useStatus } from '../../lib/status.ts'

type Item = RouterOutputs['public']['models']['pricing']['items'][number]

/** Enough to see what a call costs; the price list has the rest. */
const mostShown = 6

/** From all over the list, which is in the order of names: the first ones would be of one vendor. */
const spread = (items: readonly Item[]): Item[] => {
  const step = Math.max(1, items.length / mostShown)
  return items.filter((_, index) => Math.floor(index / step) !== Math.floor((index - 1) / step)).slice(0, mostShown)
}

/** What models cost whoever has no account yet, in dollars per million tokens. */
export function HomePrices({ items, ratio }: { items: readonly Item[]; ratio: number }) {
  const { quotaPerUnit } = useStatus()
  const byUsage = items.filter(({ price }) => price.modelPrice === null)
  return (
    <Stack gap="3">
      <Box as="ul" listStyleType="none" layerStyle="panel" textStyle="sm">
        {spread(byUsage.length > 0 ? byUsage : items).map(({ model, price }) => {
          const input = ratioToDollars(price.modelRatio ?? 0, quotaPerUnit) * ratio
          const text =
            price.modelPrice === null
              ? t('输入 {input}，输出 {output}', {
                  input: priceText(input),
                  output: priceText(input * (price.completionRatio ?? 1)),
                })
              : t('每次 {price}', { price: priceText(price.modelPrice * ratio) })
          return (
            <Flex
              as="li"
              key={model}
              justify="space-between"
              wrap="wrap"
              columnGap="4"
              px="4"
              py="2"
              borderTopWidth="1px"
              _first={{ borderTopWidth: '0' }}
            >
              <Box as="span" fontFamily="mono" overflowWrap="anywhere">
                {model}
              </Box>
              <Box as="span" color="fg.muted">
                {text}
              </Box>
            </Flex>
          )
        })}
      </Box>
      <Text textStyle="sm" color="fg.muted">
        {byUsage.length > 0 && `${t('单位为美元每百万 tokens。')} `}
        <TextLink asChild>
          <Link href="/pricing">{t('全部价格')}</Link>
        </TextLink>
      </Text>
    </Stack>
  )
}
