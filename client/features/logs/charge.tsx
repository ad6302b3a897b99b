import { withoutNeedlessZeros } from '#core/pricing/decimal.ts'
import { Box, Flex, HStack, Stack, Text } from '@chakra-ui/react'
import { ShieldCheck } from 'lucide-react'
import type { Charge, ChargeStep } from '#core/pricing/charge.ts'
import { chargeReceipt } from '#core/pricing/charge.ts'
import type { Receipt } from '#core/pricing/receipt.ts'
import { Money } from '../../components/cells/numbers.tsx'
import { Notice } from '../../components/notice.tsx'
import { t } from '../../i18n/t.ts'
import { formatInteger, quotaText } from '../../lib/format.ts'
import { useSession } from '../../lib/session.ts'
import { useStatus } from '../../lib/status.ts'
import { formulas, perWords, ratioWords, stepWords, unitWords } from './charge-words.ts'

const shortPrice = (text: string): string => withoutNeedlessZeros(text, 2)

const recompute = (receipt: Receipt): Charge | undefined => {
  try {
    return chargeReceipt(receipt)
  } catch {
    return undefined
  }
}

/** How the charge came about, computed here with the gateway's own function from what the call's row keeps. */
export function ChargeProof({ receipt, quota }: { receipt: Receipt | 'unreadable'; quota: number }) {
  const charge = receipt === 'unreadable' ? undefined : recompute(receipt)
  if (receipt === 'unreadable' || charge === undefined) {
    return (
      <Notice tone="warning" title={t('无法重新计算费用')}>
        {t('这条记录的计费凭据无法读取，显示的是入账金额 {amount}。', { amount: quotaText(quota, 6) })}
      </Notice>
    )
  }
  return (
    <Stack gap="3">
      <Box layerStyle="frame" textStyle="sm">
        {charge.steps.map((step, index) => (
          <Step key={index} step={step} isFirst={index === 0} />
        ))}
        <Flex justify="space-between" gap="4" px="3" py="2" borderTopWidth="1px" fontWeight="medium">
          <Text>{t('合计')}</Text>
          <Money quota={charge.quota} digits={6} />
        </Flex>
      </Box>
      <Text textStyle="xs" color="fg.muted">
        {t(formulas[receipt.formula])}
      </Text>
      <Verdict charged={quota} computed={charge.quota} />
    </Stack>
  )
}

function Step({ step, isFirst }: { step: ChargeStep; isFirst: boolean }) {
  const { displayInCurrency } = useStatus()
  const isAdjustment = step.unit === 'quota'
  const ratios = step.ratios.map(({ name, value }) => `${t(ratioWords[name])} ${value}`).join(' × ')
  return (
    <Flex justify="space-between" gap="4" px="3" py="2" borderTopWidth={isFirst ? '0' : '1px'}>
      <Stack gap="0.5" minW="0">
        <Text>{t(stepWords[step.label])}</Text>
        {!isAdjustment && (
          <Text textStyle="xs" color="fg.muted" fontVariantNumeric="tabular-nums">
            {formatInteger(step.quantity)} {t(unitWords[step.unit])} × ${shortPrice(step.price)} {t(perWords[step.per])}
          </Text>
        )}
        {ratios && (
          <Text textStyle="xs" color="fg.subtle" fontVariantNumeric="tabular-nums">
            {ratios}
          </Text>
        )}
      </Stack>
      <Text fontVariantNumeric="tabular-nums" whiteSpace="nowrap">
        {displayInCurrency ? dollars(step.amount) : step.quota}
      </Text>
    </Flex>
  )
}

const dollars = (amount: string): string => (amount.startsWith('-') ? `-$${amount.slice(1)}` : `$${amount}`)

function Verdict({ charged, computed }: { charged: number; computed: number }) {
  const { isRoot } = useSession()
  const amounts = { charged: quotaText(charged, 6), computed: quotaText(computed, 6) }
  if (charged === computed) {
    return (
      <HStack gap="2" color="good.fg" textStyle="sm" data-verdict="equal" align="flex-start">
        <Box pt="0.5">
          <ShieldCheck size={15} aria-hidden />
        </Box>
        <Text>{t('已在您的浏览器中重新计算，与入账金额 {amount} 一致。', { amount: quotaText(charged, 6) })}</Text>
      </HStack>
    )
  }
  return (
    <Box data-verdict="different">
      <Notice tone="warning" title={t('重新计算的结果与入账金额不一致')}>
        {isRoot
          ? t('入账 {charged}，重新计算得 {computed}。', amounts)
          : t('入账 {charged}，重新计算得 {computed}。请带上请求 ID 联系管理员。', amounts)}
      </Notice>
    </Box>
  )
}
