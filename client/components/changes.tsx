import { Box, Stack, Text, chakra } from '@chakra-ui/react'
import { t } from '../i18n/t.ts'
import { quotaText } from '../lib/format.ts'

type Fields = Readonly<Record<string, unknown>>

const Name = chakra('dt', {
  base: { textStyle: 'xs', color: 'fg.muted', fontFamily: 'mono', overflowWrap: 'anywhere' },
})
const Line = chakra('div', {
  base: {
    display: 'flex',
    gap: '2',
    px: '2',
    py: '0.5',
    fontFamily: 'mono',
    textStyle: 'xs',
    whiteSpace: 'pre-wrap',
    overflowWrap: 'anywhere',
    maxH: '60',
    overflowY: 'auto',
  },
})

const isTable = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const asText = (value: unknown): string =>
  value === true
    ? t('（已设置，内容不显示）')
    : typeof value === 'string'
      ? value || t('（空）')
      : JSON.stringify(value, null, 2)

type Row = { name: string; before: unknown; after: unknown }

/** A table that changed is shown by its rows. */
function rowsOf(before: Fields, after: Fields, prefix = ''): Row[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((name) => {
    const [old, now] = [before[name], after[name]]
    const isNested = prefix === '' && (isTable(old) || old === undefined) && (isTable(now) || now === undefined)
    if (isNested) return rowsOf(isTable(old) ? old : {}, isTable(now) ? now : {}, `${name}.`)
    return [{ name: `${prefix}${name}`, before: old, after: now }]
  })
}

/** What an act changed: each field as it was and as it is. Switches stand as true and false. */
export function ChangeList({ before, after }: { before: Fields | null; after: Fields | null }) {
  const rows = rowsOf(before ?? {}, after ?? {})
  if (rows.length === 0) {
    return (
      <Text textStyle="sm" color="fg.muted">
        {t('没有记录字段变化')}
      </Text>
    )
  }
  return (
    <Stack as="dl" gap="3">
      {rows.map((row) => (
        <Box key={row.name}>
          <Name>{row.name}</Name>
          <Box as="dd" borderWidth="1px" borderRadius="l2" overflow="hidden" mt="1">
            {row.before !== undefined && <ChangeLine sign="-" row={row} value={row.before} />}
            {row.after !== undefined && <ChangeLine sign="+" row={row} value={row.after} />}
          </Box>
        </Box>
      ))}
    </Stack>
  )
}

/** A switch that was turned has both states; a lone true stands for a secret. */
const isSwitch = ({ before, after }: Row): boolean =>
  typeof before === 'boolean' && typeof after === 'boolean' && before !== after

/** What units of quota are worth, where money is shown. */
function moneyOf(name: string, value: unknown): string | undefined {
  if (typeof value !== 'number' || !/quota$/i.test(name)) return undefined
  const money = quotaText(value, 6)
  return money.includes('$') ? money : undefined
}

function ChangeLine({ sign, row, value }: { sign: '+' | '-'; row: Row; value: unknown }) {
  const isNew = sign === '+'
  const money = moneyOf(row.name, value)
  return (
    <Line bg={isNew ? 'good.subtle' : 'bad.subtle'} color={isNew ? 'good.fg' : 'bad.fg'}>
      <span aria-label={isNew ? t('改后') : t('改前')}>{sign}</span>
      <span>{isSwitch(row) ? String(value) : asText(value)}</span>
      {money !== undefined && <span>{`(${money})`}</span>}
    </Line>
  )
}
